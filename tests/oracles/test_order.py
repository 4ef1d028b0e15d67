"""Second order against solvers that share nothing with ours: SciPy's DOP853, SUNDIALS' IDA."""

from functools import cache

import numpy as np
import pytest
from numerics import observed_orders
from parts import cartesian_pendulum, nonlinear, polar_particle, polar_rhs
from schemes import GENERAL
from scipy.integrate import solve_ivp
from sksundae.ida import IDA

import poinsot as ps
from poinsot import ph

T_END = 0.5
STEPS = [0.05, 0.025]


def exact(rhs, x0, times=(T_END,)):
    solution = solve_ivp(
        rhs, (0, max(times)), x0, method="DOP853", rtol=1e-13, atol=1e-14, t_eval=times
    )
    assert solution.success
    return solution.y.T


def assert_order_two(errors, order=2, steps=STEPS):
    assert errors[-1] < 1e-3
    assert errors[-1] > 1e-10  # far above the accuracy of the oracle
    assert observed_orders(steps, errors)[-1] == pytest.approx(order, abs=0.1)


def runs(system, scheme, x0, steps=STEPS):
    return [ps.simulate(system, h=h, t_end=T_END, x0=x0, scheme=scheme) for h in steps]


def errors_at_the_end(results, reference, names):
    ends = [np.hstack([result[name][-1] for name in names]) for result in results]
    return [np.abs(end - reference).max() for end in ends]


SLOPES = {
    "quartic": lambda q, p: (p, q**3),
    "coupled": lambda q, p: (p / (1 + q**2), -q * p**2 / (1 + q**2) ** 2 + q),
}
CASES = {
    "conservative": (0.0, 0.0, lambda t: 0.0),
    "with input": (0.0, 0.0, lambda t: np.cos(3 * t)),
    "with dissipation": (0.4, 0.6, lambda t: 0.0),
    "with both": (0.4, 0.6, lambda t: np.cos(3 * t)),
}


#: Every two of energy, case and scheme meet.
PAIRS = [
    (list(SLOPES)[(i + j) % 2], case, scheme)
    for i, case in enumerate(CASES)
    for j, scheme in enumerate(GENERAL)
]


@pytest.mark.parametrize(("kind", "case", "scheme"), PAIRS)
def test_schemes_converge_with_their_order(kind, case, scheme):
    d, friction, force = CASES[case]

    def rhs(t, x):
        velocity, slope = SLOPES[kind](*x)
        return [velocity, -slope - d * velocity - friction * velocity**3 + force(t)]

    system = ph.feed(nonlinear(kind, d, friction), "body.force", force)
    x0 = [1.2, 0.5]
    found = runs(system, scheme, x0)
    errors = errors_at_the_end(found, exact(rhs, x0)[0], ["body.q", "body.p"])
    assert_order_two(errors, ps.SCHEMES[scheme].order)


@pytest.mark.parametrize("scheme", [s for s in GENERAL if not ps.SCHEMES[s].constant_E])
def test_schemes_keep_their_order_when_E_depends_on_the_state(scheme):
    system = ph.feed(polar_particle(0.2), "torque", np.sin)
    x0 = [1.3, 0.4, -0.5, 0.8]
    reference = exact(polar_rhs(0.2, np.sin), x0)[0]
    errors = errors_at_the_end(runs(system, scheme, x0), reference, ["q", "v"])
    assert_order_two(errors, ps.SCHEMES[scheme].order)


@pytest.mark.parametrize("scheme", GENERAL)
def test_schemes_keep_their_order_under_a_constraint(scheme):
    # The same pendulum by its angle: x = sin(a), y = -cos(a); tension from Newton's second law.
    d, g = 0.3, 9.81

    def rhs(t, x):
        a, w = x
        return [w, -g * np.sin(a) - d * w + np.cos(2 * t) * np.cos(a)]

    a0, w0 = 0.6, 0.9
    system = ph.feed(cartesian_pendulum(d), "push", lambda t: np.cos(2 * t))
    x0 = {
        "q": [np.sin(a0), -np.cos(a0)],
        "v": [w0 * np.cos(a0), w0 * np.sin(a0)],
    }
    a, w = exact(rhs, [a0, w0])[0]
    reference = [np.sin(a), -np.cos(a), w * np.cos(a), w * np.sin(a)]
    results = runs(system, scheme, x0, [0.025, 0.0125])
    assert_order_two(errors_at_the_end(results, reference, ["q", "v"]))


def assert_mean_multiplier_has_order_two(results, name, reference):
    """A multiplier may alternate around its value, by O(h); the mean of two steps does not."""
    errors = []
    for result in results:
        lam, inner = result[name][1:], result.time[1:-1]
        errors.append(np.abs((lam[1:] + lam[:-1]) / 2 - reference(inner)).max())
    assert_order_two(errors, steps=[result.h for result in results])


@pytest.mark.parametrize("scheme", GENERAL)
def test_the_tension_of_a_pendulum_is_newtons(scheme):
    def tension(t):
        a, w = exact(lambda t, x: [x[1], -9.81 * np.sin(x[0])], [0.6, 0.9], t).T
        return w**2 + 9.81 * np.cos(a)

    c, s = np.cos(0.6), np.sin(0.6)
    x0 = {"q": [s, -c], "v": [0.9 * c, 0.9 * s]}
    found = runs(cartesian_pendulum(), scheme, x0, [0.0125, 0.00625])
    assert_mean_multiplier_has_order_two(found, "lam", tension)


RATIO = 0.6


def geared():
    """Two quartic oscillators tied by a gear: v_b = RATIO v_a."""
    a, b = nonlinear("quartic", 0.2, name="a"), nonlinear("quartic", 0.0, 0.3, name="b")
    system = ph.interconnect(a, b, connections=ph.Transformer("a.force", "b.force", RATIO))
    return system, {"a.q": 0.9, "a.p": 0.5, "b.q": 0.2, "b.p": RATIO * 0.5}


def geared_reference(times):
    """IDA on the same gear, the tie differentiated once so that it is of index 1."""

    def residual(t, x, dx, F):
        qa, pa, qb, pb, lam = x
        F[0] = dx[0] - pa
        F[1] = dx[1] + qa**3 + 0.2 * pa + RATIO * lam
        F[2] = dx[2] - pb
        F[3] = dx[3] + qb**3 + 0.3 * pb**3 - lam
        F[4] = RATIO * dx[1] - dx[3]

    qa, pa, qb, pb = 0.9, 0.5, 0.2, RATIO * 0.5
    fa, fb = -(qa**3) - 0.2 * pa, -(qb**3) - 0.3 * pb**3
    lam = (RATIO * fa - fb) / (1 + RATIO**2)
    x0 = np.array([qa, pa, qb, pb, lam])
    dx0 = np.array([pa, fa - RATIO * lam, pb, fb + lam, 0.0])
    solver = IDA(residual, rtol=1e-12, atol=1e-13, algebraic_idx=[4], max_num_steps=100_000)
    solution = solver.solve(np.array([0.0, *times]), x0, dx0)
    assert solution.success
    return solution.y[1:]


@cache
def geared_runs(scheme):
    system, x0 = geared()
    return runs(system, scheme, x0)


@pytest.mark.parametrize("scheme", GENERAL)
def test_schemes_converge_to_the_solution_of_ida_for_a_gear(scheme):
    reference = geared_reference([T_END / 2, T_END])[-1]
    names = ["a.q", "a.p", "b.q", "b.p"]
    assert_order_two(errors_at_the_end(geared_runs(scheme), reference[:4], names))


@pytest.mark.parametrize("scheme", GENERAL)
def test_the_force_in_a_gear_converges_to_that_of_ida(scheme):
    assert_mean_multiplier_has_order_two(
        geared_runs(scheme), "lambda(a.force, b.force)", lambda t: geared_reference(t)[:, 4]
    )
