"""Derivatives in quaternions are derivatives, at states and steps that satisfy nothing."""

import loads
import numpy as np
import pytest
from in_turn import in_turn
from mechanisms import random_state
from schemes import QUATERNIONS

import poinsot as ps
from poinsot.ph.derivatives import jacobian
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import dense, is_sparse
from poinsot.systems.livens.lagrangian import Interval
from poinsot.systems.quaternions.charts import tangent_map

H = 0.1
FORMS = ["livens", "hamiltonian"]
RULES = [Rule.MIDPOINT, Rule.DISCRETE, Rule.MEAN_LEVER_ARMS]
#: Models, and how exactly what is in them is differentiated.
MODELS = {
    "exact laws": (lambda: loads.linear(4), 1e-8),
    "free bodies": (lambda: loads.linear(3, bodies=1, ground=False), 1e-8),
    "laws by differences": (lambda: loads.loaded(6), 1e-5),
    "sparse matrices": (lambda: loads.linear(5, bodies=44), 1e-8),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    build, tolerance = MODELS[request.param]
    return build().compile("quaternions"), tolerance


def check(tangent, f, x, tolerance, seed=0):
    """Compare a derivative with differences along a few directions."""
    random = np.random.default_rng(seed)
    for _ in range(2):
        a = random.standard_normal(x.size)
        along = jacobian(lambda s, a=a: f(x + s[0] * a), np.zeros(1), 0.1)[:, 0]
        exact = dense(tangent) @ a
        scale = 1 + np.abs(along).max()
        np.testing.assert_allclose(exact, along, atol=tolerance * scale, rtol=0)


def interval(system, seed=0):
    """A step between two configurations that have nothing to do with each other."""
    random, q0 = np.random.default_rng(seed), system.q(system.start)
    q1 = q0 + 0.3 * random.standard_normal(q0.size)
    return Interval(0.4, H, q0, q1, random.standard_normal(system.m))


@pytest.mark.parametrize("rule", RULES)
def test_the_tangent_of_what_acts_over_a_step_is_its_derivative(case, rule):
    system, tolerance = case
    lagrangian, step = system.lagrangian, interval(system)
    mu = np.random.default_rng(1).standard_normal(lagrangian.m)

    def impulse(q1):
        return lagrangian.push(rule, Interval(step.t, H, step.q0, q1, step.u), mu).impulse

    push = lagrangian.push(rule, step, mu)
    assert is_sparse(push.tangent) == (len(system.layout.bodies) == 44)
    check(push.tangent, impulse, step.q1, tolerance)
    without = lagrangian.push(rule, step, np.zeros_like(mu)).impulse
    np.testing.assert_allclose(push.impulse - without, -push.G.T @ mu, atol=1e-11)


@pytest.mark.parametrize("energy", ["kinetic", "cokinetic"])
@pytest.mark.parametrize("rule", RULES)
def test_slopes_of_kinetic_energies_have_exact_derivatives(case, rule, energy):
    system, _ = case
    step, random = interval(system), np.random.default_rng(2)
    slopes = getattr(system.lagrangian, energy)
    s0, s1 = random.standard_normal((2, step.q0.size))
    T = slopes(rule, step.q0, s0, step.q1, s1)
    for kind in ("q", "s"):
        by_q, by_s = getattr(T, f"{kind}q"), getattr(T, f"{kind}s")

        def of_q(q1, kind=kind):
            return getattr(slopes(rule, step.q0, s0, q1, s1), f"by_{kind}")

        def of_s(s, kind=kind):
            return getattr(slopes(rule, step.q0, s0, step.q1, s), f"by_{kind}")

        check(by_q, of_q, step.q1, 1e-9)
        check(by_s, of_s, s1, 1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_travel_has_an_exact_derivative(case, rule):
    system, _ = case
    step, lagrangian = interval(system), system.lagrangian
    _, slope = lagrangian.travel(rule, step.q0, step.q1 - step.q0)
    slope = np.eye(lagrangian.n) if slope is None else slope
    check(slope, lambda q1: lagrangian.travel(rule, step.q0, q1 - step.q0)[0], step.q1, 1e-10)


def test_charts_have_exact_derivatives(case):
    system, _ = case
    step, random = interval(system), np.random.default_rng(3)
    chart = system.lagrangian.chart(step.q0)
    w = random.standard_normal(6 * len(system.layout.bodies))
    check(chart.at(w)[1], lambda w: chart.at(w)[0], w, 1e-10)
    r = random.standard_normal(step.q0.size)
    projected, P, dP = chart.project(step.q1, r)
    np.testing.assert_allclose(projected, P @ r, atol=1e-13)
    check(P, lambda r: chart.project(step.q1, r)[0], r, 1e-10)
    check(dP, lambda q1: chart.project(q1, r)[0], step.q1, 1e-10)


@pytest.mark.parametrize("angle", [0.0, 1e-8, 0.0099, 0.0101, 1.0, 3.0])
def test_the_tangent_map_of_rotations_is_exact_for_all_angles(angle):
    """Close to zero it is a series, which joins the formula without a step."""
    theta = angle * np.array([0.36, -0.48, 0.8])

    def turned(theta):
        return ps.Rotation.from_axis_angle(theta, np.linalg.norm(theta)).matrix

    T = tangent_map(theta)
    if angle == 0.0:
        np.testing.assert_array_equal(T, np.eye(3))
        return
    for a in np.eye(3):
        dR = jacobian(lambda s, a=a: turned(theta + s[0] * a).ravel(), np.zeros(1), angle)
        W = dR.reshape(3, 3) @ turned(theta).T
        turn = np.array([W[2, 1], W[0, 2], W[1, 0]])
        np.testing.assert_allclose(T @ a, turn, atol=1e-9 if angle > 1e-4 else 1e-4)


@pytest.mark.parametrize(
    ("scheme", "case"), in_turn(QUATERNIONS, MODELS, times=2), indirect=["case"]
)
def test_the_newton_matrix_of_a_step_is_exact_away_from_its_solution(case, scheme):
    system, tolerance = case
    method = ps.SCHEMES[scheme]
    system = system.in_form(method.formulation)
    random = np.random.default_rng(4)
    x0, u = random_state(system, 5), random.standard_normal(system.m)
    problem = stage_equations(system, method, 0.4, x0, u, H)
    w = problem.guess + 0.2 * random.standard_normal(problem.guess.size)
    tangent = problem.evaluate(w).tangent()
    assert tangent.U.size == tangent.V.size == 0
    assert len(problem.labels) == w.size
    check(tangent.T, lambda w: problem.evaluate(w).F, w, tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_all_tangents_of_the_system_are_derivatives(case, form):
    system, tolerance = case
    system, random = system.in_form(form), np.random.default_rng(6)
    x = random_state(system, 7)
    z, u = random.standard_normal(system.n), random.standard_normal(system.m)
    check(system.dz(x), system.z, x, tolerance)
    check(system.dflow(x, z, u), lambda x: system.flow(x, z, u), x, tolerance)
    check(system.dflow_dz(x, z), lambda z: system.flow(x, z, u), z, tolerance)
    check(system.dr_dz(x, z), lambda z: system.r(x, z), z, tolerance)
    check(system.dy(x, z), lambda x: system.y(x, z), x, tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "sparse matrices"])
def test_the_system_is_port_hamiltonian(name, form):
    """At any state in Hamilton's form; in Livens' form where p = dL/dv, for so it says."""
    system = MODELS[name][0]().compile("quaternions").in_form(form)
    x = random_state(system, 8)
    if form == "livens":
        n = system.lagrangian.n
        x[2 * n : 3 * n] = system.lagrangian.momentum(system.q(x), system.velocity(x))
    defects = system.defects(x)
    assert defects.holds(1e-6), str(defects)
    assert max(defects.skew, defects.semidefinite, defects.resistive) < 1e-14
    assert defects.dirac < 1e-10
