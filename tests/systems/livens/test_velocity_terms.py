"""Lagrangians with terms linear in v, and any L(q, v) [LKB26, eqs. (6)-(13)]."""

from functools import cache

import numpy as np
import pytest
import sympy
from lagrangians import run
from numerics import jacobian, observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.ph.gradients import Rule

x, y, z = Q = sympy.symbols("x y z")
RATES = sympy.symbols("vx vy vz")
SPEED = sum(rate**2 for rate in RATES)
#: Mass [kg], charge [C], magnetic field along z [T], electric field along x [V/m].
m, charge, field, electric = 2.0, 1.5, 3.0, 0.4
A = [-charge * field * y / 2, charge * field * x / 2, 0]
START = {"q": (0.1, 0.2, 0.3), "v": (1.0, 0.5, -0.2)}
SCHEMES = ("eml", "reml", "emh", "mpl", "mph", "ph-dg", "ph-mp")


def linear(a):
    return sum(term * rate for term, rate in zip(a, RATES, strict=True))


@cache
def particle():
    """A charge in a uniform magnetic and electric field."""
    return ps.LagrangianSystem.symbolic(
        "charge", q=Q, M=m * sympy.eye(3), V=-charge * electric * x, a=A
    )


def cyclotron(t):
    """Return where the charge of `particle` is: a circle that drifts across both fields."""
    omega, drift = charge * field / m, -1j * electric / field
    q, v = START["q"], START["v"]
    turning = v[0] + 1j * v[1] - drift
    place = q[0] + 1j * q[1] + drift * t + turning * (1 - np.exp(-1j * omega * t)) / (1j * omega)
    return np.array([place.real, place.imag, q[2] + v[2] * t])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_charge_in_a_magnetic_field_is_on_its_cycloid(scheme):
    steps, exact = (0.04, 0.02), cyclotron(1.0)
    runs = [run(particle(), START, scheme, h, 1.0) for h in steps]
    errors = [np.linalg.norm(result["q"][-1] - exact) for result in runs]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.05)
    assert runs[0].stats.balance_error_max < 1e-13


@cache
def bottle():
    """A charge in a magnetic bottle, whose field is not uniform: a is of degree three."""
    a = [-y * (1 + z**2), x * (1 + z**2), 0]
    return ps.LagrangianSystem.symbolic("bottle", q=Q, M=sympy.eye(3), a=a)


def lorentz(t):
    """Return q by DOP853 on Newton's equations with the force v x B."""

    def rates(_, state):
        q, v = state[:3], state[3:]
        # The curl of a.
        B = np.array([-2 * q[0] * q[2], -2 * q[1] * q[2], 2 * (1 + q[2] ** 2)])
        return np.concatenate([v, np.cross(v, B)])

    start = np.concatenate([START["q"], START["v"]])
    return solve_ivp(rates, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]


@pytest.mark.parametrize("scheme", ["eml", "emh", "mph", "ph-dg"])
def test_a_charge_in_a_magnetic_bottle_moves_by_lorentz_force(scheme):
    steps, exact = (0.04, 0.02), lorentz(1.0)
    runs = [run(bottle(), START, scheme, h, 1.0) for h in steps]
    errors = [np.linalg.norm(result["q"][-1] - exact) for result in runs]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)
    if scheme != "mph":
        assert runs[0].stats.balance_error_max < 1e-13
    speeds = np.linalg.norm(runs[0]["v"], axis=1) if scheme == "ph-dg" else np.ones(1)
    assert np.ptp(speeds) < 1e-13  # a magnetic field does no work


def test_the_whole_lagrangian_is_split_where_it_is_quadratic():
    L = m * SPEED / 2 + linear(A) + charge * electric * x
    same = ps.LagrangianSystem.symbolic("charge", q=Q, v=RATES, L=L)
    for scheme in ("eml", "emh", "ph-dg"):
        first, second = (run(s, START, scheme, 0.05, 0.5) for s in (particle(), same))
        np.testing.assert_array_equal(first["q"], second["q"])


LIGHT = 3.0


@cache
def fast():
    """A charge near the speed of light, in a magnetic field and a potential well."""
    gamma = sympy.sqrt(1 - SPEED / LIGHT**2)
    well = (x**2 + y**2 + z**2) ** 2
    return ps.LagrangianSystem.symbolic(
        "fast", q=Q, v=RATES, L=-m * LIGHT**2 * gamma + linear(A) - well
    )


FAST_START = {"q": START["q"], "v": (2.0, 1.5, -0.2)}


def relativistic(t):
    """Return q by DOP853 on Newton's equations for the momentum gamma m v."""

    def rates(_, state):
        q, momentum = state[:3], state[3:]
        v = momentum / np.sqrt(m**2 + momentum @ momentum / LIGHT**2)
        force = charge * np.cross(v, [0, 0, field]) - 4 * (q @ q) * q
        return np.concatenate([v, force])

    v = np.array(FAST_START["v"])
    momentum = m * v / np.sqrt(1 - v @ v / LIGHT**2)
    start = np.concatenate([FAST_START["q"], momentum])
    return solve_ivp(rates, (0, t), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]


@pytest.mark.parametrize("scheme", ["eml", "reml", "mpl", "ph-dg"])
def test_a_lagrangian_that_is_not_quadratic_in_v_moves_as_newton_says(scheme):
    steps, exact = (0.05, 0.025), relativistic(0.5)
    runs = [run(fast(), FAST_START, scheme, h, 0.5) for h in steps]
    errors = [np.linalg.norm(result["q"][-1] - exact) for result in runs]
    np.testing.assert_allclose(observed_orders(steps, errors), 2.0, atol=0.1)
    if scheme != "mpl":
        assert runs[0].stats.balance_error_max < 1e-12
    if scheme in ("eml", "reml"):
        momenta = np.cross(runs[0]["q"], runs[0]["p"])[:, 2]
        assert np.ptp(momenta) < 1e-13


def test_constraints_and_ports_go_with_any_lagrangian():
    """A fast bead on a circle, pushed along it: the energy grows by the work."""
    vx, vy = RATES[:2]
    bead = ps.LagrangianSystem.symbolic(
        "bead",
        q=[x, y],
        v=[vx, vy],
        L=(vx**2 + vy**2) / 2 + (vx**2 + vy**2) ** 2 / 8 - y,
        g=[x**2 + y**2 - 1],
        B=[[-y], [x]],
        ports=[ps.ph.Port("push", 1)],
    )
    start = {"q": [1.0, 0.0], "v": [0.0, 1.0]}
    for scheme in ("eml", "ph-dg"):
        result = run(bead, start, scheme, 0.05, 1.0, inputs={"push": np.cos})
        assert result.constraint_error.max() < 1e-13 if scheme == "eml" else True
        assert result.stats.balance_error_max < 1e-12
        assert abs(result.energy[-1] - result.energy[0]) > 0.1
    np.testing.assert_allclose(
        bead.total_energy(result["q"], result["v"]), result.energy, rtol=0, atol=1e-12
    )


def test_lagrangians_of_first_order_need_no_mass():
    """L = (x y' - y x')/2 - H(x, y): Hamilton's equations of one freedom, no mass at all."""
    system = ps.LagrangianSystem.symbolic(
        "first", q=[x, y], M=[[0, 0], [0, 0]], a=[-y / 2, x / 2], V=(x**2 + y**2) ** 2 / 4
    )
    result = run(system, {"q": [1.0, 0.0], "v": [0.0, 1.0]}, "eml", 0.02, 2.0)
    np.testing.assert_allclose(result["q"][-1], [np.cos(2), np.sin(2)], atol=1e-4)
    np.testing.assert_allclose(np.sum(result["q"] ** 2, axis=1), 1.0, atol=1e-14)


@pytest.mark.parametrize("make", [particle, bottle, fast])
def test_all_forms_are_port_hamiltonian(make):
    own, random = make(), np.random.default_rng(2)
    forms = [own.livens(), own.port_hamiltonian()]
    forms += [] if make is fast else [own.hamiltonian()]
    for form in forms:
        state = form.state({"q": random.uniform(-1, 1, 3), "v": random.uniform(-1, 1, 3)})
        assert form.defects(state).holds(1e-10)


@pytest.mark.parametrize("rule", [Rule.MIDPOINT, Rule.DISCRETE])
def test_derivatives_of_a_step_have_exact_tangents_and_directionality(rule):
    law, random = fast().lagrangian, np.random.default_rng(3)
    q0, v0, q1, v1 = random.uniform(-1, 1, (4, 3))
    T = law.kinetic(rule, q0, v0, q1, v1)
    for tangent, f, at in (
        (T.qq, lambda b: law.kinetic(rule, q0, v0, b, v1).by_q, q1),
        (T.qs, lambda b: law.kinetic(rule, q0, v0, q1, b).by_q, v1),
        (T.sq, lambda b: law.kinetic(rule, q0, v0, b, v1).by_s, q1),
        (T.ss, lambda b: law.kinetic(rule, q0, v0, q1, b).by_s, v1),
    ):
        np.testing.assert_allclose(tangent, jacobian(f, at), rtol=0, atol=1e-6)
    if rule is Rule.DISCRETE:
        change = T.by_q @ (q1 - q0) + T.by_s @ (v1 - v0)
        assert change == pytest.approx(law.T(q1, v1) - law.T(q0, v0), abs=1e-12)


def test_what_is_no_lagrangian_is_refused():
    def made(**options):
        return ps.LagrangianSystem.symbolic("L", q=Q, **options)

    for options, message in (
        ({}, "give the mass matrix M, or v and L"),
        ({"v": RATES, "L": SPEED, "M": sympy.eye(3)}, "leave out M, V, a and invariants"),
        ({"v": RATES[:2], "L": SPEED}, "a separate symbol for each of the 3 velocities"),
        ({"v": RATES, "L": sympy.sqrt(SPEED)}, "infinite at v = 0"),
        ({"M": sympy.eye(3), "a": [x, y]}, "a has shape"),
    ):
        with pytest.raises(ps.InputError, match=message):
            made(**options)
    with pytest.raises(ps.InputError, match="L is not quadratic in v"):
        run(fast(), FAST_START, "emh", 0.1, 0.2)
    with pytest.raises(ps.InputError, match="L is nan at the start"):
        run(fast(), {"q": (0, 0, 0), "v": (9, 0, 0)}, "eml", 0.1, 0.2)
