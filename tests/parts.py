"""Small port-Hamiltonian systems with known equations, shared by the tests."""

from functools import cache

import numpy as np
import sympy as sp

from poinsot import ph

FORCE = {"effort": "N", "flow": "m/s"}

#: Non-quadratic energies of (q, p): a polynomial, a periodic and two one-sided ones, and one whose
#: q and p cannot be separated.
ENERGIES = {
    "quartic": lambda q, p: q**4 / 4 + p**2 / 2,
    "cosine": lambda q, p: p**2 / 2 - sp.cos(q),
    "exponential": lambda q, p: sp.exp(q) - q + p**2 / 2,
    "logarithm": lambda q, p: q - sp.log(2 + q) + p**2 / 2,
    "coupled": lambda q, p: p**2 / (2 * (1 + q**2)) + q**2 / 2,
}


def mass(name="mass", m=2.0):
    """A free mass: p' = u, y = v."""
    return ph.linear(
        name,
        states=[ph.State(f"{name}.p", unit="kg m/s")],
        J=[[0]],
        Q=[[1 / m]],
        B=[[1]],
        ports=[ph.Port(f"{name}.force", **FORCE)],
    )


def spring(name="spring", k=3.0):
    """A linear spring: q' = u, y = k q; its input is the flow."""
    return ph.linear(
        name,
        states=[ph.State(f"{name}.q", unit="m")],
        J=[[0]],
        Q=[[k]],
        B=[[1]],
        ports=[ph.Port(f"{name}.end", input="flow", **FORCE)],
    )


def oscillator(name="oscillator", m=2.0, k=3.0, d=0.0):
    """Mass and spring, a damper if d > 0: q' = p/m, p' = -k q - d p/m + u, y = p/m."""
    return ph.linear(
        name,
        states=[f"{name}.q", f"{name}.p"],
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, d]],
        Q=np.diag([k, 1 / m]),
        B=[[0], [1]],
        ports=[ph.Port(f"{name}.force", **FORCE)],
    )


@cache
def nonlinear(kind, d=0.0, friction=0.0, name="body"):
    """One of ENERGIES with linear (d) and cubic (friction) damping, driven at p."""
    q, p = sp.symbols("q p")
    return ph.symbolic(
        name,
        states={f"{name}.q": q, f"{name}.p": p},
        H=ENERGIES[kind](q, p),
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, d]],
        B=[[0], [1]],
        r=(lambda z: [0, friction * z[1] ** 3]) if friction else None,
        ports=[ph.Port(f"{name}.force", **FORCE)],
    )


@cache
def polar_particle(d=0.0):
    """A particle on a spring in polar coordinates, [LKB26, eq. (19)]: E = diag(I, M(q))."""
    radius, angle, v, w = sp.symbols("radius angle v w")
    mass_ = 2
    M = sp.diag(mass_, mass_ * radius**2)
    gyration = 2 * mass_ * radius * w  # the entries of M' - 2 C
    kinetic = mass_ * (v**2 + radius**2 * w**2) / 2
    potential = 3 * (radius - 1) ** 2 / 2 + sp.cos(angle) / 5
    E = sp.diag(1, 1, M)
    J = sp.Matrix([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, gyration], [0, -1, -gyration, 0]])
    z = [sp.diff(kinetic + potential, radius), sp.diff(potential, angle), v, w]
    return ph.symbolic(
        "particle",
        states={"q": [radius, angle], "v": [v, w]},
        H=kinetic + potential,
        E=E,
        J=J,
        R=sp.diag(0, 0, d, d),
        z=z,
        B=[[0], [0], [0], [1]],
        ports=[ph.Port("torque")],
    )


def polar_rhs(d, torque):
    """Newton's equations of `polar_particle`, derived by hand."""

    def rhs(t, x):
        radius, angle, v, w = x
        radial = (2 * radius * w**2 - 3 * (radius - 1) - d * v) / 2
        turning = (np.sin(angle) / 5 + torque(t) - d * w - 4 * radius * v * w) / (2 * radius**2)
        return [v, w, radial, turning]

    return rhs


@cache
def cartesian_pendulum(d=0.0):
    """A pendulum of length 1 in redundant coordinates, [LKB26, eq. (19)], with its tension."""
    x, y, vx, vy, lam = sp.symbols("x y vx vy lam")
    J = sp.Matrix(
        [
            [0, 0, 1, 0, 0],
            [0, 0, 0, 1, 0],
            [-1, 0, 0, 0, -x],
            [0, -1, 0, 0, -y],
            [0, 0, x, y, 0],
        ]
    )
    return ph.symbolic(
        "pendulum",
        states={"q": [x, y], "v": [vx, vy], "lam": lam},
        H=(vx**2 + vy**2) / 2 + sp.Rational(981, 100) * y,
        E=sp.diag(1, 1, 1, 1, 0),
        J=J,
        R=sp.diag(0, 0, d, d, 0),
        B=[[0], [0], [1], [0], [0]],
        ports=[ph.Port("push", **FORCE)],
    )


def coupled_functions(*, derivatives):
    """p^2/(2(1+q^2)) + q^4/4 with state-dependent J, R, B, E and r, as Python functions.

    x = (q, p); E = diag(1, 2 + sin q), z = (H_q, H_p/(2 + sin q)).
    """

    def H(x):
        q, p = x
        return p**2 / (2 * (1 + q**2)) + q**4 / 4

    def grad(x):
        q, p = x
        return np.array([-q * p**2 / (1 + q**2) ** 2 + q**3, p / (1 + q**2)])

    def hessian(x):
        q, p = x
        s = 1 + q**2
        return np.array(
            [
                [-(p**2) / s**2 + 4 * q**2 * p**2 / s**3 + 3 * q**2, -2 * q * p / s**2],
                [-2 * q * p / s**2, 1 / s],
            ]
        )

    def z(x):
        return grad(x) / np.array([1, 2 + np.sin(x[0])])

    def dz(x):
        m = 2 + np.sin(x[0])
        matrix = hessian(x) / np.array([[1], [m]])
        matrix[1, 0] -= grad(x)[1] * np.cos(x[0]) / m**2
        return matrix

    def J(x):
        return (1 + x[0] ** 2) * np.array([[0, 1], [-1, 0]])

    def R(x):
        return np.diag([0, np.exp(x[1])])

    def B(x):
        return np.array([[np.sin(x[0]), 0], [x[0] * x[1], 1]])

    def r(x, z_):
        return np.array([0, (1 + x[0] ** 2) * z_[1] ** 3])

    given = {
        "dz": dz,
        "dE": lambda x, a: np.array([[0, 0], [np.cos(x[0]) * a[1], 0]]),
        "dJ": lambda x, a: np.array([[2 * x[0] * a[1], 0], [-2 * x[0] * a[0], 0]]),
        "dR": lambda x, a: np.array([[0, 0], [0, np.exp(x[1]) * a[1]]]),
        "dB": lambda x, a: np.array([[np.cos(x[0]) * a[0], 0], [x[1] * a[0], x[0] * a[0]]]),
        "dr_dx": lambda x, z_: np.array([[0, 0], [2 * x[0] * z_[1] ** 3, 0]]),
        "dr_dz": lambda x, z_: np.array([[0, 0], [0, 3 * (1 + x[0] ** 2) * z_[1] ** 2]]),
    }
    return ph.from_functions(
        "functions",
        states=["q", "p"],
        H=H,
        J=J,
        R=R,
        B=B,
        E=lambda x: np.diag([1, 2 + np.sin(x[0])]),
        z=z,
        r=r,
        ports=[ph.Port("one"), ph.Port("two")],
        **(given if derivatives else {}),
    )


@cache
def rotating_body(name, kind="quadratic"):
    """An angle and a planar momentum; its port is the velocity of a point, in body axes."""
    angle, spin, px, py = sp.symbols("angle spin px py")
    potential = {"quadratic": 2 * angle**2, "cosine": -2 * sp.cos(angle)}[kind]
    return ph.symbolic(
        name,
        states={f"{name}.angle": angle, f"{name}.spin": spin, f"{name}.p": [px, py]},
        H=potential + spin**2 / 2 + (px**2 + py**2) / 4,
        J=[[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, spin], [0, 0, -spin, 0]],
        B=[[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]],
        ports=[ph.Port(f"{name}.point", 2, **FORCE), ph.Port(f"{name}.torque")],
    )


def rotation(xa, xb):
    """The relative rotation of two `rotating_body`, [BAPM21, eq. (40)]."""
    angle = xb[0] - xa[0]
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def rotation_tangent(xa, xb):
    angle = xb[0] - xa[0]
    c, s = np.cos(angle), np.sin(angle)
    tensor = np.zeros((2, 2, xa.size + xb.size))
    tensor[:, :, xa.size] = [[-s, -c], [c, -s]]
    tensor[:, :, 0] = -tensor[:, :, xa.size]
    return tensor
