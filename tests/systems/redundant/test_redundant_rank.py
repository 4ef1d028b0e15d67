"""Constraints of constant rank that depend on each other [BHRS25, eq. (13)] are combined."""

import numpy as np
import pytest
import sympy
from numerics import jacobian
from redundant_systems import GRAVITY, body, body_start, run

import poinsot as ps
from poinsot.schemes.step import stage_equations

x, y, z, vx, vy, vz = sympy.symbols("x y z vx vy vz")
SQUARE = x**2 + y**2


def pendulum(c, A=None):
    """A point mass on a rod in a plane of space, held by these constraints."""
    return ps.RedundantSystem.symbolic(
        "pendulum",
        zeta=[x, y, z],
        w=[vx, vy, vz],
        M=0.5 * sympy.eye(3),
        V=[0.5 * GRAVITY * y, 0.3 * x**4],
        c=c,
        **({} if A is None else {"A": A}),
    )


START = {
    "zeta": [np.sin(0.8), -np.cos(0.8), 0.0],
    "w": [2 * np.cos(0.8), 2 * np.sin(0.8), 0.0],
}
ONCE = [(SQUARE - 1) / 2, z]
REPEATED = {
    "the same row": ([*ONCE, (SQUARE - 1) / 2], None),
    "in other words": ([*ONCE, sympy.sqrt(SQUARE) - 1 + 3 * z], None),
    "on velocities": (ONCE, [[2 * x, 2 * y, 1]]),
    "more than velocities": ([*ONCE, z * x, z + SQUARE - 1], [[0, 0, x], [x, y, 0]]),
}


#: The midpoint rule keeps quadratic constraints only.
RUNS = [(name, "ph-dg") for name in REPEATED]
RUNS += [(name, "ph-mp") for name in REPEATED if name != "in other words"]


@pytest.mark.parametrize(("name", "scheme"), RUNS)
def test_repeated_constraints_change_nothing(name, scheme):
    more = pendulum(*REPEATED[name])
    plain, repeated = (
        run(s, START, scheme=scheme, h=0.02, t_end=0.4) for s in (pendulum(ONCE), more)
    )
    for state in ("zeta", "w"):
        np.testing.assert_allclose(repeated[state], plain[state], rtol=0, atol=1e-11)
    assert repeated.constraint_error.max() < 1e-13
    if scheme == "ph-dg":
        assert repeated.stats.balance_error_max < 1e-12
    pulls = []
    for system, result in ((pendulum(ONCE), plain), (more, repeated)):
        there = [name for name in ("lam", "mu") if name in result.states]
        lam = np.concatenate([np.atleast_1d(result[name][-1]) for name in there])
        middle = (result["zeta"][-1] + result["zeta"][-2]) / 2
        pulls.append(lam @ system.laws.K(middle))
    np.testing.assert_allclose(pulls[1], pulls[0], rtol=0, atol=1e-3 * abs(pulls[0]).max())


@pytest.mark.parametrize("attitude", ["matrix", "quaternion"])
def test_orthonormality_may_be_among_the_constraints(attitude):
    """R^T R = I and |q| = 1 hold by themselves, c' Z = 0 [BHRS25, sec. 5]."""
    free = body(attitude)
    angles = free.laws.coordinates[3:]
    symbols = sympy.symbols(list(free.laws.coordinates))
    own = sympy.Matrix(symbols[3:])
    if len(angles) == 9:
        R = own.reshape(3, 3).T
        gaps = R.T * R - sympy.eye(3)
        c = [gaps[i, j] for i in range(3) for j in range(i, 3)]
    else:
        c = [own.dot(own) - 1]
    constrained = with_constraints(free, symbols, c)
    start = body_start(attitude)
    runs = [run(system, start, h=0.02, t_end=0.5) for system in (free, constrained)]
    for state in ("zeta", "w"):
        np.testing.assert_allclose(runs[1][state], runs[0][state], rtol=0, atol=1e-11)
    assert runs[1].constraint_error.max() < 1e-13
    assert abs(runs[1]["lam"]).max() < 1e-9


def with_constraints(free, symbols, c):
    """The same body with constraints, from its functions."""
    laws = free.laws
    values = sympy.lambdify([symbols], list(c))
    slopes = sympy.lambdify([symbols], sympy.Matrix(c).jacobian(symbols).tolist())
    bends = np.array([sympy.hessian(row, symbols) for row in c], dtype=float)
    return ps.RedundantSystem.from_functions(
        "constrained",
        n_zeta=laws.n,
        n_w=laws.k,
        n_c=len(c),
        M=laws.M,
        V=laws.V,
        dV=laws.dV,
        ddV=laws.ddV,
        Z=laws.Z.value,
        dZ=laws.Z.jacobian,
        G=laws.G.value,
        dG=laws.G.jacobian,
        c=values,
        dc=slopes,
        ddc=bends,
    )


@pytest.mark.parametrize("name", REPEATED)
def test_the_tangent_of_combined_constraints_is_exact(name):
    system, random = pendulum(*REPEATED[name]), np.random.default_rng(3)
    x0 = system.state(START)
    problem = stage_equations(system, ps.SCHEMES["ph-dg"], 0.0, x0, np.zeros(0), 0.1)
    w = problem.guess + 0.1 * random.standard_normal(problem.guess.size)
    assert problem.guess.size == 6 + 2
    expected = jacobian(lambda a: problem.evaluate(a).F, w)
    np.testing.assert_allclose(problem.evaluate(w).tangent().T, expected, rtol=0, atol=1e-7)


def test_ports_may_be_joined_in_more_entries_than_are_free():
    """Two sliders on one line, each with its place in the plane: b is zero on both anyway."""

    def slider(name, mass):
        a, b, va, vb = sympy.symbols("a b va vb")
        return ps.RedundantSystem.symbolic(
            name,
            zeta=[a, b],
            w=[va, vb],
            M=mass * sympy.eye(2),
            V=3 * a**4,
            c=[b],
            B=sympy.eye(2),
            ports=[ps.ph.Port(f"{name} end", 2)],
        )

    both = slider("left", 1.0).joined(slider("right", 2.0), {"left end": "right end"})
    start = {"zeta": [0.5, 0.0, 0.5, 0.0], "w": [0.3, 0.0, 0.3, 0.0]}
    result = run(both, start, h=0.02, t_end=1.0)
    assert result.stats.balance_error_max < 1e-13
    np.testing.assert_allclose(result["zeta"][:, 0], result["zeta"][:, 2], rtol=0, atol=1e-13)
