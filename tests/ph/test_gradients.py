"""Discrete gradients: directionality, consistency, digits, and tangents [KB24, sec. 4.1]."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics import EPS, gonzalez, jacobian
from parts import cartesian_pendulum, coupled_functions, nonlinear, polar_particle

import poinsot as ps
from poinsot import ph
from poinsot.ph.gradients import Step

BLOCKS = ((0, 1), (2,))
points = st.lists(st.integers(-20, 20).map(lambda i: i / 10), min_size=3, max_size=3).map(np.array)


def smooth(x):
    return np.cos(x[0] * x[1]) + x[2] ** 4 / 4 + np.exp(x[0] / 2) * x[2]


def grad_smooth(x):
    s, e = np.sin(x[0] * x[1]), np.exp(x[0] / 2)
    return np.array([-s * x[1] + e * x[2] / 2, -s * x[0], x[2] ** 3 + e])


def polynomial(x):
    return x[0] ** 4 * x[1] ** 2 + x[1] * x[2] ** 3 - x[0] * x[2]


def grad_polynomial(x):
    a, b, c = x
    return np.array([4 * a**3 * b**2 - c, 2 * a**4 * b + c**3, 3 * b * c**2 - a])


Q = np.array([[2, 0.5, -1], [0.5, 1, 0.2], [-1, 0.2, 3]])


def quadratic(x):
    return x @ Q @ x / 2


def grad_quadratic(x):
    return Q @ x


CASES = {
    "gonzalez": (ph.Gonzalez(), smooth, grad_smooth),
    "partitioned": (ph.Partitioned(BLOCKS), smooth, grad_smooth),
    "mean value": (ph.MeanValue(), polynomial, grad_polynomial),
    "midpoint": (ph.Midpoint(), quadratic, grad_quadratic),
}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=40)
@given(x0=points, x1=points)
def test_discrete_gradients_are_directional(case, x0, x1):
    gradient, H, grad = CASES[case]
    change = gradient(H, grad, x0, x1) @ (x1 - x0)
    scale = abs(H(x0)) + abs(H(x1)) + np.abs(grad((x0 + x1) / 2)) @ np.abs(x1 - x0) + 1
    assert change == pytest.approx(H(x1) - H(x0), abs=2e-14 * scale)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=20)
@given(x=points)
def test_discrete_gradients_are_consistent(case, x):
    gradient, H, grad = CASES[case]
    assert np.allclose(gradient(H, grad, x, x), grad(x), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=20)
@given(x=points, direction=points)
def test_discrete_gradients_approximate_the_midpoint_gradient_to_second_order(case, x, direction):
    gradient, H, grad = CASES[case]
    errors = [
        np.linalg.norm(gradient(H, grad, x - s * direction, x + s * direction) - grad(x))
        for s in (1e-2, 5e-3)
    ]
    assert errors[1] <= 0.26 * errors[0] + 1e-10


@settings(max_examples=30)
@given(x0=points, x1=points)
def test_gonzalez_is_equation_71(x0, x1):
    ours = ph.Gonzalez()(smooth, grad_smooth, x0, x1)
    theirs = gonzalez(smooth, grad_smooth, x0, x1)
    assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@settings(max_examples=30)
@given(x0=points, x1=points)
def test_partitioned_is_equations_129_to_131(x0, x1):
    q0, q1, v0, v1 = x0[:2], x1[:2], x0[2:], x1[2:]

    def along_q(v):
        return gonzalez(
            lambda q: smooth(np.concatenate([q, v])),
            lambda q: grad_smooth(np.concatenate([q, v]))[:2],
            q0,
            q1,
        )

    def along_v(q):
        return gonzalez(
            lambda v: smooth(np.concatenate([q, v])),
            lambda v: grad_smooth(np.concatenate([q, v]))[2:],
            v0,
            v1,
        )

    theirs = np.concatenate([along_q(v0) + along_q(v1), along_v(q0) + along_v(q1)]) / 2
    ours = ph.Partitioned(BLOCKS)(smooth, grad_smooth, x0, x1)
    assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def mp_gonzalez(H, grad, x0, dx):
    """Equation (71) with 50 digits."""
    with mpmath.workdps(50):
        a = [mpmath.mpf(float(v)) for v in x0]
        b = [mpmath.mpf(float(v)) for v in x0 + dx]
        d = [q - p for p, q in zip(a, b, strict=True)]
        mid = [(p + q) / 2 for p, q in zip(a, b, strict=True)]
        g = grad(mid)
        square = sum(v**2 for v in d)
        alpha = (H(b) - H(a) - sum(u * v for u, v in zip(g, d, strict=True))) / square
        return np.array([float(u + alpha * v) for u, v in zip(g, d, strict=True)])


ENERGIES = {
    "quartic": (
        lambda x, lib: x[0] ** 4 / 4 + x[0] * x[1] ** 3,
        lambda x, lib: [x[0] ** 3 + x[1] ** 3, 3 * x[0] * x[1] ** 2],
        [0.7, -0.4],
    ),
    "cosine": (
        lambda x, lib: x[1] ** 2 / 2 - lib.cos(x[0]),
        lambda x, lib: [lib.sin(x[0]), x[1]],
        [0.7, -0.4],
    ),
    "exponential": (
        lambda x, lib: lib.exp(x[0] + x[1] ** 2),
        lambda x, lib: [lib.exp(x[0] + x[1] ** 2), 2 * x[1] * lib.exp(x[0] + x[1] ** 2)],
        [0.3, 0.2],
    ),
    # Near its minimum this energy is a difference of numbers much larger than itself.
    "shallow pendulum": (
        lambda x, lib: (1 - lib.cos(x[0])) + x[1] ** 2 / 2,
        lambda x, lib: [lib.sin(x[0]), x[1]],
        [1e-5, 1e-5],
    ),
}


@pytest.mark.parametrize("gradient", [ph.Gonzalez(), ph.Partitioned(((0, 1),))], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kind", ENERGIES)
def test_gonzalez_loses_no_digits_as_the_step_vanishes(kind, offset, gradient):
    H, grad, start = ENERGIES[kind]
    x0 = np.array(start)
    for exponent in np.arange(0, 14.5, 0.5):
        dx = 10.0**-exponent * np.array([0.8, -0.6])
        if kind == "shallow pendulum" and exponent < 5:
            continue
        dx = (x0 + dx) - x0  # the step that the numbers really take
        ours = gradient(lambda x: H(x, np) + offset, lambda x: np.array(grad(x, np)), x0, x0 + dx)
        exact = mp_gonzalez(lambda x: H(x, mpmath), lambda x: grad(x, mpmath), x0, dx)
        size = np.linalg.norm(exact)
        # An energy known to eps |H| fixes its slope to eps |H|/|dx|, and no better.
        inherent = 64 * EPS * abs(H(x0, np) + offset) / np.linalg.norm(dx)
        error = np.linalg.norm(ours - exact)
        bound = 1e-13 * size + (inherent if exponent < 3 else 0.0)
        assert error <= bound, f"|dx| = 1e-{exponent}"


SYSTEMS = {
    "coupled": lambda: nonlinear("coupled"),
    "state-dependent E": lambda: polar_particle(),
    "constraint": lambda: cartesian_pendulum(),
    "functions": lambda: coupled_functions(derivatives=True),
}
GRADIENTS = {
    "midpoint": ph.Midpoint(),
    "gonzalez": ph.Gonzalez(),
    "partitioned": ph.Partitioned(),
    "mean value": ph.MeanValue(),
}


@pytest.mark.parametrize("gradient", GRADIENTS)
@pytest.mark.parametrize("kind", SYSTEMS)
@pytest.mark.parametrize("length", [1.0, 1e-2])
def test_the_tangent_of_a_discrete_costate_is_its_derivative(kind, gradient, length):
    system, rule = SYSTEMS[kind](), GRADIENTS[gradient]
    if gradient == "mean value" and kind in ("state-dependent E", "functions"):
        with pytest.raises(ps.InputError, match="E depends on the state"):
            rule.costate(Step(system, np.ones(system.n), 1.1 * np.ones(system.n)))
        return
    random = np.random.default_rng(3)
    x0 = random.uniform(0.5, 1.0, system.n)
    x1 = x0 + length * random.uniform(0.2, 0.5, system.n)
    costate = rule.costate(Step(system, x0, x1))
    tangent = costate.dz + costate.U @ costate.V.T
    # Differences must stay well inside the step itself.
    expected = jacobian(lambda x: rule.costate(Step(system, x0, x)).z, x1, step=0.05 * length)
    assert np.allclose(tangent, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("gradient", ["gonzalez", "partitioned"])
@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_discrete_costate_pairs_with_the_midpoint_flow_to_the_energy_difference(kind, gradient):
    system = SYSTEMS[kind]()
    random = np.random.default_rng(5)
    x0, x1 = random.uniform(0.4, 1.2, (2, system.n))
    step = Step(system, x0, x1)
    z = GRADIENTS[gradient].costate(step).z
    paired = z @ (system.E(step.mid) @ step.dx)
    assert paired == pytest.approx(system.H(x1) - system.H(x0), abs=1e-13)
    if kind == "constraint":  # a multiplier has one value in a step, that of its end
        assert z[-1] == x1[-1]


def test_partitioned_refuses_an_E_that_couples_its_blocks():
    system = ph.linear("a", states=["x", "y"], J=np.zeros((2, 2)), Q=np.eye(2), E=[[1, 1], [1, 2]])
    with pytest.raises(ps.InputError, match="E couples two of its blocks; merge them"):
        ph.Partitioned().costate(Step(system, np.zeros(2), np.ones(2)))


@pytest.mark.parametrize("blocks", [((0, 1),), ((0, 1), (1, 2)), ((0,), (1,), (3,))])
def test_partitioned_blocks_must_contain_every_state_once(blocks):
    with pytest.raises(ps.InputError, match="each state exactly once"):
        ph.Partitioned(blocks)(smooth, grad_smooth, np.zeros(3), np.ones(3))


def test_a_discrete_gradient_needs_two_points_of_one_space():
    with pytest.raises(ps.InputError, match=r"\(3,\) and \(2,\)"):
        ph.Gonzalez()(smooth, grad_smooth, np.zeros(3), np.ones(2))
