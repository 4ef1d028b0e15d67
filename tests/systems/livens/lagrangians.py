"""Lagrangians for the tests, and their Euler-Lagrange equations solved without the package."""

from functools import cache

import numpy as np
import sympy
from numerics import jacobian
from scipy.integrate import solve_ivp

import poinsot as ps

r, theta, phi = sympy.symbols("r theta phi")
x, y = sympy.symbols("x y")

#: Schemes of [KB24] that run on any Lagrangian, and those that need the inverse of M.
LIVENS = ("eml", "reml", "mpl")
HAMILTON = ("emh", "mph")
ALL = LIVENS + HAMILTON
EXACT = ("eml", "reml", "emh")


@cache
def spherical(**options):
    """A mass on a stiff spring in spherical coordinates, with gravity."""
    return ps.LagrangianSystem.symbolic(
        "spherical",
        q=[r, theta, phi],
        M=sympy.diag(1, r**2, r**2 * sympy.sin(theta) ** 2),
        V=[20 * (r**2 - 1) ** 2, -2 * r * sympy.cos(theta)],
        **options,
    )


SPHERICAL_START = {"q": (1.05, 1.2, 0.0), "v": (0.1, 1.0, 0.8)}


@cache
def double_pendulum(**options):
    """A coupled, configuration-dependent mass matrix."""
    c = sympy.cos(x - y)
    return ps.LagrangianSystem.symbolic(
        "double-pendulum",
        q=[x, y],
        M=[[2, c], [c, 1]],
        V=-2 * sympy.cos(x) - sympy.cos(y),
        **options,
    )


DOUBLE_START = {"q": (1.0, 0.5), "v": (0.3, -0.2)}


@cache
def bead():
    """A bead on the curve y = x^3 - x, in x and y: a constraint that is not quadratic."""
    return ps.LagrangianSystem.symbolic(
        "bead",
        q=[x, y],
        M=[[1, 0], [0, 1]],
        V=2 * y + x**4,
        g=[y - x**3 + x],
        B=[[1], [x]],
        ports=[ps.ph.Port("push", 1)],
    )


BEAD_START = {"q": (0.9, 0.9**3 - 0.9), "v": (-1.0, -(3 * 0.81 - 1))}


@cache
def masses():
    """Two masses in redundant coordinates, M singular [KB24, sec. 5.1]."""
    x1, q2, x2 = sympy.symbols("x1 q2 x2")
    return ps.LagrangianSystem.symbolic(
        "masses",
        q=[x1, q2, x2],
        M=[[2, 0, 0], [0, 1, 1], [0, 1, 1]],
        V=[(x1**2 + x1**4) / 2, 3 * (x2**2 + x2**4) / 2],
        g=[((q2 - x1) ** 2 - sympy.Rational(121, 100)) / 2],
    )


MASSES_START = {"q": (0.0, 1.1, 0.0), "v": (1.0, 1.0, -1.0)}

CASES = {
    "spherical": (spherical, SPHERICAL_START),
    "double-pendulum": (double_pendulum, DOUBLE_START),
    "bead": (bead, BEAD_START),
    "masses": (masses, MASSES_START),
}
REGULAR = ("spherical", "double-pendulum", "bead")


def euler_lagrange(system, start, t, force=None):
    """Return (q, v) at t by DOP853 on the equations of the first kind, index reduced.

    (M G^T; G 0) (v'; lam) = (f; -G' v) with derivatives of the bare functions by differences.
    """
    law = system.lagrangian
    n, m = law.n, law.m

    def rates(time, state):
        q, v = state[:n], state[n:]
        M, G = law.M(q), law.G(q)
        Mv = jacobian(lambda a: law.M(a) @ v, q)
        T_q = jacobian(lambda a: np.array([v @ law.M(a) @ v / 2]), q)[0]
        V_q = jacobian(lambda a: np.array([law.V(a)]), q)[0]
        f = T_q - V_q - Mv @ v
        if force is not None:
            f = f + law.B(q) @ np.atleast_1d(force(time))
        matrix = np.block([[M, G.T], [G, np.zeros((m, m))]])
        curved = -jacobian(lambda a: law.G(a) @ v, q) @ v if m else np.zeros(0)
        return np.concatenate([v, np.linalg.solve(matrix, np.concatenate([f, curved]))[:n]])

    x0 = np.concatenate([start["q"], start["v"]])
    solution = solve_ivp(rates, (0, t), x0, method="DOP853", rtol=1e-12, atol=1e-12)
    return solution.y[:n, -1], solution.y[n:, -1]


def run(system, start, scheme, h, t_end, **options):
    """Simulate with the reference engine."""
    return ps.simulate(
        system, scheme=scheme, h=h, t_end=t_end, x0=start, engine="reference", **options
    )


def states(system, start, seed=0, count=4):
    """Yield random (q, v) near a start that satisfy g = 0 and G v = 0."""
    law, random = system.lagrangian, np.random.default_rng(seed)
    for _ in range(count):
        q = np.array(start["q"]) + 0.2 * random.standard_normal(law.n)
        for _ in range(30):
            if law.m:
                q = q - np.linalg.pinv(law.G(q)) @ law.g(q)
        v = random.standard_normal(law.n)
        if law.m:
            v = v - np.linalg.pinv(law.G(q)) @ (law.G(q) @ v)
        yield q, v
