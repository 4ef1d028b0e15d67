"""Momentum maps of symmetries that M, V and g have [KB24, prop. 2.6], beside the energy."""

from functools import cache

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from lagrangians import euler_lagrange, run
from numerics import jacobian, observed_orders

import poinsot as ps
from poinsot.ph.gradients import Rule
from poinsot.systems.livens.invariants import recognise
from poinsot.systems.livens.smooth import chord

x, y, z, s = sympy.symbols("x y z s")
Q = [x, y, z]
RR = x**2 + y**2 + z**2
START = {"q": [1.1, 0.0, 0.0], "v": [0.2, 1.0, 0.5]}

POTENTIALS = {
    "written as a square": (75 * (RR - 1) ** 2, None),
    "expanded": (sympy.expand(75 * (RR - 1) ** 2), None),
    "named": (75 * (s - 1) ** 2, {s: RR}),
    "root": (75 * (sympy.sqrt(RR) - 1) ** 2 - 3 / sympy.sqrt(RR), None),
}


def particle(V, invariants=None):
    return ps.LagrangianSystem.symbolic(
        "particle", q=Q, M=2 * sympy.eye(3), V=V, invariants=invariants
    )


@cache
def central(name):
    return particle(*POTENTIALS[name])


def angular_momentum(result):
    return np.cross(result["q"], result["p"])


def departure(values):
    return abs(values - values[0]).max()


@pytest.mark.parametrize("scheme", ["eml", "reml", "emh"])
@pytest.mark.parametrize("name", POTENTIALS)
def test_a_central_force_keeps_energy_and_angular_momentum(name, scheme):
    result = run(central(name), START, scheme, 0.05, 2.5)
    assert result.stats.balance_error_max < 1e-12
    assert departure(angular_momentum(result)) < 1e-13


def test_without_invariants_it_does_not():
    """[KB24, eq. (71)] by itself, where the potential hides its symmetry."""
    with pytest.warns(ps.MissingDerivativeWarning):
        system = ps.LagrangianSystem.from_functions(
            "hidden", n=3, M=2 * np.eye(3), V=lambda q: 75 * (q @ q - 1) ** 2
        )
    assert departure(angular_momentum(run(system, START, "eml", 0.05, 1.0))) > 1e-3


def test_functions_of_invariants_move_like_expressions():
    """Gravity leaves the rotation about its own axis."""
    system = ps.LagrangianSystem.from_functions(
        "functions",
        n=3,
        M=2 * np.eye(3),
        V=lambda w: 75 * (w[0] - 1) ** 2 + 19.62 * w[1],
        dV=lambda w: np.array([150 * (w[0] - 1), 19.62]),
        ddV=lambda w: np.diag([150.0, 0.0]),
        invariants=[np.eye(3), [0, 0, 1]],
    )
    same = particle(75 * (RR - 1) ** 2 + 19.62 * s, {s: z})
    first, second = (run(system, START, "eml", 0.05, 1.0) for system in (system, same))
    np.testing.assert_allclose(first["q"], second["q"], rtol=0, atol=1e-11)
    assert departure(angular_momentum(first)[:, 2]) < 1e-13
    assert departure(angular_momentum(first)[:, 0]) > 0.1


def test_the_order_is_two_against_dop853():
    system = central("root")
    exact = euler_lagrange(system, START, 0.5)[0]
    steps = 0.02, 0.01
    errors = [np.linalg.norm(run(system, START, "eml", h, 0.5)["q"][-1] - exact) for h in steps]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)


def test_masses_and_constraints_keep_their_symmetries():
    """A mass that depends on the radius, a sphere that is not written as a quadratic form."""
    system = ps.LagrangianSystem.symbolic(
        "heavy", q=Q, M=sympy.exp(RR / 4) * sympy.eye(3), V=RR**2, g=[sympy.sqrt(RR) - 1]
    )
    start = {"q": [1.0, 0.0, 0.0], "v": [0.0, 1.0, 0.5]}
    result = run(system, start, "eml", 0.1, 3.0)
    assert departure(angular_momentum(result)) < 1e-13
    assert result.stats.balance_error_max < 1e-13
    assert result.constraint_error.max() < 1e-14


@pytest.mark.parametrize("scheme", ["eml", "emh"])
def test_two_angles_keep_the_momentum_of_both(scheme):
    """M and V depend on a difference of angles: a linear invariant."""
    system = ps.LagrangianSystem.symbolic(
        "angles",
        q=[x, y],
        M=[[2, sympy.cos(x - y)], [sympy.cos(x - y), 1]],
        V=-3 * sympy.cos(x - y),
    )
    result = run(system, {"q": [1.0, 0.5], "v": [0.3, -2.0]}, scheme, 0.05, 3.0)
    assert departure(result["p"].sum(axis=1)) < 1e-13
    assert result.stats.balance_error_max < 1e-13


def two_bodies(seed):
    """Two particles that attract each other by a random law, and turn about each other."""
    random = np.random.default_rng(seed)
    q = sympy.symbols("a0:3 b0:3")
    a, b = sympy.Matrix(q[:3]), sympy.Matrix(q[3:])
    gap, sizes = (a - b).dot(a - b), (a.dot(a), b.dot(b), a.dot(b))
    c = [sympy.Float(round(value, 3)) for value in random.uniform(0.2, 1.0, 4)]
    V = c[0] * gap**2 + c[1] * sympy.log(1 + gap)
    if seed % 2:
        V = V + c[2] * sizes[0] * sizes[1] + c[3] * sympy.sin(sizes[2])
    m = random.uniform(0.5, 2.0, 2).tolist()
    M = sympy.diag(*(3 * [m[0]] + 3 * [m[1]]))
    start = {"q": random.uniform(-1, 1, 6), "v": random.uniform(-1, 1, 6)}
    return ps.LagrangianSystem.symbolic("two", q=q, M=M, V=V), start


@settings(max_examples=2)
@given(st.integers(0, 2**31))
def test_random_pairs_keep_all_their_momenta(seed):
    system, start = two_bodies(seed)
    result = run(system, start, "eml", 0.05, 1.0)
    q, p = result["q"].reshape(-1, 2, 3), result["p"].reshape(-1, 2, 3)
    assert departure(np.cross(q, p).sum(axis=1)) < 1e-12
    assert result.stats.balance_error_max < 1e-12
    if not seed % 2:
        assert departure(p.sum(axis=1)) < 1e-12


@settings(max_examples=2)
@given(st.integers(0, 2**31))
def test_the_discrete_derivative_keeps_the_difference_and_has_an_exact_tangent(seed):
    (V,), random = two_bodies(seed)[0].lagrangian.potentials, np.random.default_rng(seed)
    q0, q1, one = random.uniform(-1, 1, 6), random.uniform(-1, 1, 6), np.ones(1)
    step = chord(Rule.DISCRETE, V, q0, q1)
    assert step.jacobian[0] @ (q1 - q0) == pytest.approx((V(q1) - V(q0))[0], abs=1e-12)
    slopes = jacobian(lambda q: chord(Rule.DISCRETE, V, q0, q).jacobian[0], q1)
    np.testing.assert_allclose(step.tangent(one), slopes, rtol=0, atol=1e-6)
    np.testing.assert_allclose(V.jacobian(q0), jacobian(V.value, q0), rtol=0, atol=1e-7)
    curvature = jacobian(lambda q: V.jacobian(q)[0], q0)
    np.testing.assert_allclose(V.curvature(q0, one), curvature, rtol=0, atol=1e-6)


def test_what_has_no_symmetry_is_left_as_it_is():
    for V in (x**4 + y**4, (x**2 + y**2) ** 2 + (x - y) ** 4, sympy.cos(x) * y):
        assert recognise([x, y], [V], {}) is None
    found = recognise(Q, [sympy.Piecewise((RR**2, RR < 1), (RR, True)) + z], {})
    assert len(found.forms) == 2


def test_invariants_are_quadratic_and_named():
    for given_, message in (
        ({s: RR**2}, "is not quadratic"),
        ({x: RR}, "'x' is a coordinate"),
        ([RR], "give a mapping"),
    ):
        with pytest.raises(ps.InputError, match=message):
            particle(RR, given_)
    with pytest.raises(ps.InputError, match=r"invariants\[1\] has shape"):
        ps.LagrangianSystem.from_functions(
            "f", n=3, M=np.eye(3), V=lambda w: w[0], invariants=[np.eye(3), [1, 2]]
        )
