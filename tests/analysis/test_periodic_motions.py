"""Periodic motions by shooting, and Floquet multipliers, against closed forms."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import poinsot as ps
from poinsot import analysis, ph


def pendulum(angle):
    model = ps.Model(gravity=(0, 0, -9.81), name="pendulum")
    bar = model.add_body(
        "bar",
        ps.Box(mass=2.0, size=(0.1, 0.1, 1.0)),
        position=(0.5 * np.sin(angle), 0, -0.5 * np.cos(angle)),
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), -angle),
    )
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return model


def exact_period(angle):
    inertia = 2.0 * (1 + 0.01) / 12 + 2.0 * 0.25
    return 4 * ellipk(np.sin(angle / 2) ** 2) / np.sqrt(2.0 * 9.81 * 0.5 / inertia)


def oscillator(mass=2.0, damping=0.3, stiffness=5.0):
    return ph.linear(
        "oscillator",
        states=["q", "p"],
        E=np.eye(2),
        J=[[0, 1], [-1, 0]],
        R=np.diag([0, damping]),
        Q=np.diag([stiffness, 1 / mass]),
        B=[[0], [1]],
        ports=[ph.Port("force")],
    )


@pytest.mark.parametrize("coordinates", ["directors", "rotations"])
def test_the_period_of_a_large_swing_is_an_elliptic_integral(coordinates):
    """To the order of the scheme, and by extrapolation far beyond it."""
    exact = exact_period(2.5)
    coarse, fine = (
        analysis.periodic_motion(
            pendulum(2.5), period=0.95 * exact, steps=n, coordinates=coordinates
        )
        for n in (40, 80)
    )
    assert (coarse.period - exact) / (fine.period - exact) == pytest.approx(4, rel=1e-2)
    assert (4 * fine.period - coarse.period) / 3 == pytest.approx(exact, rel=3e-5)
    assert fine.trivial == 2
    assert fine.stable
    run = fine.simulate(3)
    assert run.position("bar")[-1] == pytest.approx(run.position("bar")[0], abs=1e-9)


def test_the_amplitude_follows_from_a_period_that_is_held():
    period = exact_period(2.0)
    motion = analysis.periodic_motion(pendulum(1.9), period=period, hold="period", steps=200)
    assert motion.period == period
    height = motion.simulate().position("bar")[:, 2].max()
    assert height == pytest.approx(-0.5 * np.cos(2.0), abs=1e-3)


def test_the_multipliers_of_a_driven_oscillator_are_those_of_its_free_decay():
    """exp(s T) of m s^2 + d s + k = 0; of the midpoint rule, Cayley factors instead."""
    rate, steps = 1.3, 100
    T = 2 * np.pi / rate
    motion = analysis.periodic_motion(
        oscillator(), period=T, inputs={"force": lambda t: np.cos(rate * t)}, steps=steps
    )
    s = np.roots([2.0, 0.3, 5.0])
    h = T / steps
    cayley = ((1 + h * s / 2) / (1 - h * s / 2)) ** steps
    assert sorted(motion.multipliers, key=np.imag) == pytest.approx(sorted(cayley, key=np.imag))
    assert abs(motion.multipliers) == pytest.approx(abs(np.exp(s * T)), rel=2e-3)
    assert motion.trivial == 0
    gain = 1 / (5.0 - 2.0 * rate**2 + 0.3j * rate)
    assert motion.x == pytest.approx([gain.real, (2.0j * rate * gain).real], rel=1e-2)
    assert np.real(motion.exponents) == pytest.approx([-0.075, -0.075], rel=2e-3)


def test_a_mass_on_a_spring_repeats_from_any_start():
    motion = analysis.periodic_motion(oscillator(damping=0.0), period=3.5, x0=[1.0, 0.5], steps=100)
    assert motion.period == pytest.approx(2 * np.pi * np.sqrt(2.0 / 5.0), rel=5e-4)
    assert motion.system.H(motion.x) == pytest.approx(5.0 / 2 + 0.5**2 / 4)
    assert motion.trivial == 2


def test_van_der_pol_runs_into_its_limit_cycle():
    """Period and multiplier of mu = 1, by SciPy's integration of the variational equations."""
    model = ps.Model(name="van der pol")
    cart = model.add_body("cart", ps.Box(mass=1.0, size=(1, 1, 1)), velocity=(2.0, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_force("spring", ps.JointSpring("rail", stiffness=1.0))
    model.add_port("law", ps.JointPort("rail", law=ps.Formula("(1 - x**2)*v", ("t", "x", "v"))))
    coarse, fine = (analysis.periodic_motion(model, period=6.3, steps=n) for n in (80, 160))

    def variation(t, y):
        x, v, *F = y
        slope = np.array([[0, 1], [-1 - 2 * x * v, 1 - x**2]]) @ np.reshape(F, (2, 2))
        return [v, -x + (1 - x**2) * v, *slope.reshape(-1)]

    period = 6.663286859323130  # [Andersen and Geer, SIAM J. Appl. Math. 42, 1982] and since
    start = [2.008619860874843, 0, 1, 0, 0, 1]
    end = solve_ivp(variation, (0, period), start, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    assert end[:2] == pytest.approx(start[:2], abs=1e-8)
    assert fine.trivial == 1
    assert (4 * fine.period - coarse.period) / 3 == pytest.approx(period, rel=1e-5)
    multiplier = (4 * fine.multipliers[0].real - coarse.multipliers[0].real) / 3
    assert multiplier == pytest.approx(np.linalg.det(end[2:].reshape(2, 2)), rel=2e-2)


def test_a_lagrangian_angle_may_go_round():
    (q,) = symbols = sympy.symbols("q:1")
    rotor = ps.LagrangianSystem.symbolic("rotor", q=symbols, M=[[1]], V=-sympy.cos(q))
    v0 = 3.0
    motion = analysis.periodic_motion(
        rotor, period=2.5, x0={"q": [0.0], "v": [v0]}, shift={"q": [2 * np.pi]}, steps=24
    )
    # q' = sqrt(v0^2 - 4 sin(q/2)^2)
    assert motion.period == pytest.approx(4 / v0 * ellipk(4 / v0**2), rel=2e-2)


def test_where_nothing_repeats_the_message_says_how_far_it_gets():
    model = ps.Model()
    cart = model.add_body("cart", ps.Box(mass=1.0, size=(1, 1, 1)), velocity=(2.0, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    with pytest.raises(ps.NoEquilibriumError, match="distance from the start"):
        analysis.periodic_motion(model, period=1.0, steps=8)
    with pytest.raises(ps.NoEquilibriumError, match="comes to rest"):
        analysis.periodic_motion(oscillator(), period=3.0, x0=[1.0, 0.0], steps=20)
    with pytest.raises(ps.InputError, match="hold is 'amplitude'"):
        analysis.periodic_motion(pendulum(1.0), period=1.0, hold="amplitude")
    with pytest.raises(ps.InputError, match="must be positive"):
        analysis.periodic_motion(pendulum(1.0), period=-1.0)


def geared(angle, ratio=5.0):
    """A pendulum with a flywheel behind a gear, and how much slower it swings."""
    model = pendulum(angle)
    wheel = model.add_body("wheel", ps.Cylinder(mass=1, radius=0.1, length=0.1), position=(0, 1, 0))
    model.add_joint("axle", ps.Revolute(model.ground, wheel, point=(0, 1, 0), axis=(0, 0, 1)))
    model.add_transmission("gear", ps.Gear("axle", "hinge", ratio=ratio))
    inertia = 2.0 * (1 + 0.01) / 12 + 2.0 * 0.25
    return model, np.sqrt(1 + ratio**2 * 0.005 / inertia)


def test_a_pendulum_with_a_flywheel_behind_a_gear_swings_as_one_of_more_inertia():
    (model, slower), errors = geared(1.2), []
    for steps in (50, 100):
        found = analysis.periodic_motion(model, period=2.0, steps=steps)
        errors.append(found.period - exact_period(1.2) * slower)
    assert abs(errors[1]) < 5e-3
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.2)
    turned = analysis.periodic_motion(model, period=2.0, steps=50, coordinates="quaternions")
    assert turned.period == pytest.approx(exact_period(1.2) * slower, rel=1e-2)


@pytest.mark.parametrize(("steps", "off"), [(50, 1.02), (100, 1.05), (40, 1.1), (40, 0.9)])
def test_a_wheel_that_has_made_whole_turns_more_is_not_where_it_was(steps, off):
    """After one and a half periods it has made almost two, and the pendulum is opposite."""
    model, slower = geared(1.2)
    period = exact_period(1.2) * slower
    found = analysis.periodic_motion(model, period=off * period, steps=steps)
    assert found.period == pytest.approx(period, rel=1e-2)


def test_steady_motions_refuse_transmissions_by_name():
    model = pendulum(0.3)
    wheel = model.add_body("wheel", ps.Cylinder(mass=1, radius=0.1, length=0.1), position=(0, 1, 0))
    model.add_joint("axle", ps.Revolute(model.ground, wheel, point=(0, 1, 0), axis=(0, 0, 1)))
    model.add_transmission("gear", ps.Gear("axle", "hinge", ratio=2))
    with pytest.raises(
        ps.InputError, match=r"steady motions are not available for models with .* \('gear'\)"
    ):
        analysis.steady_motion(model, axis=(0, 0, 1), rate=1.0)
