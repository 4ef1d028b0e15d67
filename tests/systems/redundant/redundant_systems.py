"""Systems in redundant coordinates that the tests share."""

from functools import cache

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from sympy import cos, sin

import poinsot as ps

symbolic = ps.RedundantSystem.symbolic
MASS, GRAVITY = 1.3, 9.81
ARM = np.array([0.1, -0.05, 0.2])
INERTIA = np.array([[0.12, 0.01, 0.0], [0.01, 0.2, -0.02], [0.0, -0.02, 0.25]])


def skew(a):
    return sympy.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation_of(quat):
    e, v = quat[0], sympy.Matrix(quat[1:])
    return (e**2 - v.dot(v)) * sympy.eye(3) + 2 * v * v.T + 2 * e * skew(v)


def gyroscopic(Gamma):
    """Minus what turns momenta with the body: p' = p x Omega, L' = p x v + L x Omega."""
    p, L = skew(Gamma[:3]), skew(Gamma[3:])
    return -sympy.Matrix(sympy.BlockMatrix([[sympy.zeros(3), p], [p, L]]))


@cache
def body(attitude, gravity=True):
    """A rigid body about a point that is not its centre of mass, velocities in body axes."""
    w = sympy.symbols("v1:4 O1:4")
    r = sympy.symbols("r1:4")
    S = np.array(skew(ARM).tolist(), dtype=float)
    M = np.block([[MASS * np.eye(3), -MASS * S], [MASS * S, INERTIA - MASS * S @ S]])
    if attitude == "matrix":
        angles = sympy.symbols("R:9")
        R = sympy.Matrix(3, 3, angles).T  # column by column
        columns = [R[:, i] for i in range(3)]
        none = sympy.zeros(3, 1)
        turning = sympy.Matrix.vstack(
            sympy.Matrix.hstack(none, -columns[2], columns[1]),
            sympy.Matrix.hstack(columns[2], none, -columns[0]),
            sympy.Matrix.hstack(-columns[1], columns[0], none),
        )
    else:
        angles = sympy.symbols("e:4")
        R = rotation_of(angles)
        e, v = angles[0], sympy.Matrix(angles[1:])
        turning = sympy.Matrix.vstack(-v.T, e * sympy.eye(3) + skew(v)) / 2
    rows = len(angles)
    Z = sympy.Matrix.vstack(
        sympy.Matrix.hstack(R, sympy.zeros(3)), sympy.Matrix.hstack(sympy.zeros(rows, 3), turning)
    )
    height = r[2] + (R * sympy.Matrix(ARM))[2]
    return symbolic(
        f"body-{attitude}",
        zeta=[*r, *angles],
        w=w,
        M=M,
        V=MASS * GRAVITY * height if gravity else 0,
        Z=Z,
        G=gyroscopic,
    )


def body_start(attitude):
    rotation = ps.Rotation.from_axis_angle((1.0, 2.0, -1.0), 0.7)
    attitudes = {
        "matrix": rotation.matrix.T.reshape(-1),
        "quaternion": rotation.quaternion,
    }
    return {
        "zeta": [0.1, 0.2, 0.3, *attitudes[attitude]],
        "w": [0.5, -0.4, 1.0, 1.5, -2.0, 3.0],
    }


@cache
def skate(axes="body", slope=0.4):
    """A knife edge on an incline; velocities in body axes, or those of the coordinates."""
    x, y, phi, vx, vy, omega = sympy.symbols("x y phi vx vy omega")
    turn = sympy.Matrix([[cos(phi), -sin(phi), 0], [sin(phi), cos(phi), 0], [0, 0, 1]])
    in_body = axes == "body"
    return symbolic(
        f"skate-{axes}",
        zeta=[x, y, phi],
        w=[vx, vy, omega],
        M=sympy.diag(2, 2, 0.3),
        V=-2 * GRAVITY * np.sin(slope) * x,
        Z=turn if in_body else None,
        G=(lambda p: sympy.Matrix([[0, 0, -p[1]], [0, 0, p[0]], [p[1], -p[0], 0]]))
        if in_body
        else None,
        A=[[0, 1, 0]] if in_body else [[-sin(phi), cos(phi), 0]],
    )


SKATE_START = {"zeta": [0, 0, 0.3], "w": [0.8, 0.0, 1.7]}
SKATE_START_WORLD = {"zeta": [0, 0, 0.3], "w": [0.8 * np.cos(0.3), 0.8 * np.sin(0.3), 1.7]}


def skate_exact(t, slope=0.4, phi0=0.3, v0=0.8, omega=1.7):
    """Position and speed by quadrature of the resolved equations."""
    a = GRAVITY * np.sin(slope)

    def rate(_, s):
        return [s[3] * np.cos(s[2]), s[3] * np.sin(s[2]), omega, a * np.cos(s[2])]

    return exact(rate, [0, 0, phi0, v0], t)


@cache
def pendulum(kind="quadratic"):
    """A point mass on a rod, with drag and a push; `kind` is that of its constraint."""
    x, y, vx, vy = sympy.symbols("x y vx vy")
    square = x**2 + y**2
    return symbolic(
        "pendulum",
        zeta=[x, y],
        w=[vx, vy],
        M=[[0.5, 0], [0, 0.5]],
        V=[0.5 * GRAVITY * y, 0.3 * x**4],
        c=[(square - 1) / 2 if kind == "quadratic" else sympy.sqrt(square) - 1],
        B=[[y], [-x]],
        ports=[ps.ph.Port("torque")],
        dissipation=[0.2 * sympy.sqrt(0.01 + vx**2 + vy**2) * v for v in (vx, vy)],
    )


PENDULUM_START = {"zeta": [np.sin(0.8), -np.cos(0.8)], "w": [2 * np.cos(0.8), 2 * np.sin(0.8)]}


@cache
def massless_node():
    """A mass on two springs in series; the node between them has a damper and no mass."""
    a, b, va, vb = sympy.symbols("a b va vb")
    return symbolic(
        "node",
        zeta=[a, b],
        w=[va, vb],
        M=[[0, 0], [0, 1.5]],
        V=[2 * a**2, 3 * (b - a) ** 2 + (b - a) ** 4],
        dissipation=[0.7 * va, 0],
    )


def node_rate(_, s):
    a, b, vb = s
    pull = 6 * (b - a) + 4 * (b - a) ** 3
    return [(pull - 4 * a) / 0.7, vb, -pull / 1.5]


NODE_START = {"zeta": [0.3, 1.0], "w": [node_rate(0, [0.3, 1.0, 0.5])[0], 0.5]}


@cache
def modules():
    """Masses on springs with a mass matrix that is singular along no axis [KB24, sec. 5.1]."""
    x1, q2, x2 = sympy.symbols("x1 q2 x2")
    return symbolic(
        "modules",
        zeta=[x1, q2, x2],
        w=sympy.symbols("w1:4"),
        M=[[2, 0, 0], [0, 1, 1], [0, 1, 1]],
        V=[(x1**2 + x1**4) / 2, 3 * (x2**2 + x2**4) / 2],
        c=[((q2 - x1) ** 2 - 1.21) / 2],
    )


MODULES_START = {"zeta": [0.0, 1.1, 0.0], "w": [1.0, 1.0, -1.0]}

#: Every system with a consistent start.
CASES = {
    "matrix": (lambda: body("matrix"), body_start("matrix")),
    "quaternion": (lambda: body("quaternion"), body_start("quaternion")),
    "skate": (skate, SKATE_START),
    "skate in world axes": (lambda: skate("world"), SKATE_START_WORLD),
    "pendulum": (pendulum, PENDULUM_START),
    "pendulum, root": (lambda: pendulum("root"), PENDULUM_START),
    "massless node": (massless_node, NODE_START),
    "singular mass": (modules, MODULES_START),
}


def consistent(case, seed=0):
    """A state with random multipliers on which all constraints hold."""
    make, start = CASES[case]
    system, random = make(), np.random.default_rng(seed)
    x = system.state(start)
    zeta, w, _, _ = system.split(x)
    K = system.laws.K(zeta)
    w = w + random.standard_normal(w.size)
    x[system.laws.n : system.places[1]] = w - np.linalg.pinv(K) @ K @ w
    x[system.places[1] :] = random.standard_normal(system.n - system.places[1])
    return system, x


def run(system, x0, *, h=0.01, t_end=0.5, scheme="ph-dg", **options):
    return ps.simulate(
        system, x0=x0, h=h, t_end=t_end, scheme=scheme, engine="reference", **options
    )


def exact(rate, start, t):
    return solve_ivp(rate, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
