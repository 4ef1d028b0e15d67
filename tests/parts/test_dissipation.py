"""Friction in joints and drag on bodies, against closed forms and other solvers."""

import numpy as np
import pytest
from in_turn import in_turn
from numerics import observed_orders
from scipy.integrate import solve_ivp

import poinsot as ps

#: In directors, plain and stabilised, and in quaternions with either kind of lever arms.
SCHEMES = ("ph-mp", "ph-mp-ggl", "emh-mean", "eml")
GRAVITY = 9.81
STEPS = (0.04, 0.02, 0.01)


def ball(**drag):
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    body = model.add_body("ball", ps.Sphere(mass=2.0, radius=0.1))
    model.add_force("air", ps.Drag(body, **drag))
    return model


def spinning(**drag):
    model = ps.Model()
    shape = ps.RigidBody(mass=1.0, inertia=(0.3, 0.3, 0.3))
    body = model.add_body("ball", shape, angular_velocity=(0, 3, 4))
    model.add_force("air", ps.Drag(body, **drag))
    return model


def wheel(spin=1.0, **friction):
    model = ps.Model(name="wheel")
    shape = ps.RigidBody(mass=1.0, inertia=(1.5, 1.0, 2.0))
    disc = model.add_body("disc", shape, angular_velocity=(0, 0, spin))
    model.add_joint("hub", ps.Revolute(model.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_force("bearing", ps.JointFriction("hub", **friction))
    return model


def falling_speed(t, drag):
    if "viscous" in drag:
        final = 2.0 * GRAVITY / drag["viscous"]
        return final * (1 - np.exp(-GRAVITY * t / final))
    final = np.sqrt(2.0 * GRAVITY / drag["quadratic"])
    return final * np.tanh(GRAVITY * t / final)


def order(steps, errors):
    return observed_orders(steps, errors)[-1]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("drag", [{"viscous": 3.0}, {"quadratic": 0.8}])
def test_a_falling_ball_reaches_its_speed_as_the_closed_form_says(drag, scheme):
    errors = []
    for h in STEPS:
        result = ps.simulate(ball(**drag), scheme=scheme, h=h, t_end=2.0)
        errors.append(abs(result.velocity("ball")[:, 2] + falling_speed(result.time, drag)).max())
    assert errors[-1] < 1e-3
    assert order(STEPS, errors) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("drag", "slowed"),
    [
        ({"angular_viscous": 0.3}, lambda t: np.exp(-t)),
        ({"angular_quadratic": 0.06}, lambda t: 1 / (1 + t)),
    ],
)
def test_a_spinning_ball_slows_down_as_the_closed_form_says(drag, slowed, scheme):
    errors = []
    for h in STEPS:
        result = ps.simulate(spinning(**drag), scheme=scheme, h=h, t_end=1.0)
        exact = slowed(result.time)[:, None] * (0, 3, 4)
        errors.append(abs(result.angular_velocity("ball") - exact).max())
    assert errors[-1] < 2e-3
    assert order(STEPS, errors) == pytest.approx(2.0, abs=0.1)


def newton_euler(t, x, body, X, drag):
    """A free body with drag at a material point X; x = (position, R, v, Omega in body axes)."""
    R, v, Omega = x[3:12].reshape(3, 3), x[12:15], x[15:]
    omega, rho = R @ Omega, R @ X
    u = v + np.cross(omega, rho)
    force = -(drag["viscous"] + drag["quadratic"] * np.linalg.norm(u)) * u
    spin = drag["angular_viscous"] + drag["angular_quadratic"] * np.linalg.norm(omega)
    torque = R.T @ (np.cross(rho, force) - spin * omega)
    J = np.diag(body.inertia)
    dOmega = np.linalg.solve(J, torque - np.cross(Omega, J @ Omega))
    W = np.array([[0, -Omega[2], Omega[1]], [Omega[2], 0, -Omega[0]], [-Omega[1], Omega[0], 0]])
    return np.concatenate([v, (R @ W).reshape(-1), force / body.mass, dOmega])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_tumbling_body_with_drag_at_a_point_converges_to_newton_and_euler(scheme):
    shape, X = ps.RigidBody(mass=1.3, inertia=(0.5, 0.8, 1.1)), np.array([0.3, -0.2, 0.4])
    drag = {"viscous": 0.4, "quadratic": 0.3, "angular_viscous": 0.1, "angular_quadratic": 0.2}
    v, omega = np.array([1.0, 0.5, -2.0]), np.array([1.0, 2.0, -1.0])
    start = np.concatenate([np.zeros(3), np.eye(3).reshape(-1), v, omega])
    oracle = solve_ivp(
        newton_euler, (0, 1), start, "DOP853", args=(shape, X, drag), rtol=1e-12, atol=1e-12
    ).y[:, -1]
    errors = []
    for h in STEPS:
        model = ps.Model()
        body = model.add_body("body", shape, velocity=v, angular_velocity=omega)
        model.add_force("air", ps.Drag(body, point=X, **drag))
        result = ps.simulate(model, scheme=scheme, h=h, t_end=1.0)
        found = np.concatenate(
            [
                result.position("body")[-1],
                result.rotation("body")[-1].reshape(-1),
                result.velocity("body")[-1],
                result.rotation("body")[-1].T @ result.angular_velocity("body")[-1],
            ]
        )
        errors.append(abs(found - oracle).max())
    assert errors[-1] < 1e-3
    assert order(STEPS, errors) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_wheel_with_friction_of_all_kinds_converges_to_another_solver(scheme):
    law = {"coulomb": 0.5, "slip": 0.3, "viscous": 0.4, "quadratic": 0.2}

    def rate(t, y):
        dry = law["coulomb"] / np.hypot(y, law["slip"])
        return -(law["viscous"] + law["quadratic"] * abs(y) + dry) * y / 2.0

    oracle = solve_ivp(rate, (0, 4), [3.0], "DOP853", rtol=1e-12, atol=1e-12, dense_output=True)
    errors = []
    for h in STEPS:
        result = ps.simulate(wheel(3.0, **law), scheme=scheme, h=h, t_end=4.0)
        exact = oracle.sol(result.time)[0]
        errors.append(abs(result.angular_velocity("disc")[:, 2] - exact).max())
    assert errors[-1] < 3e-4
    assert order(STEPS, errors) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_dry_friction_slows_a_wheel_at_a_constant_rate_until_it_rests(scheme):
    """J omega' = -coulomb: at rest after J omega_0 / coulomb = 4 s, at J omega_0^2 / 2 coulomb."""
    result = ps.simulate(wheel(coulomb=0.5), scheme=scheme, h=0.01, t_end=6.0)
    omega, angle = result.angular_velocity("disc")[:, 2], result.joint("hub").coordinates["angle"]
    sliding, resting = result.time < 3.95, result.time > 4.05
    np.testing.assert_allclose(omega[sliding], 1 - 0.25 * result.time[sliding], atol=2e-4)
    np.testing.assert_allclose(angle[resting], 2.0, atol=1e-4)
    assert abs(omega[resting]).max() < 0.01 * 0.5 / (2 * 2.0)  # h coulomb / 2 J
    assert result.dissipated[-1] == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_load_below_dry_friction_makes_a_joint_creep(share, scheme):
    """0 = load - coulomb y / sqrt(y^2 + slip^2)."""
    model = wheel(spin=0.0, coulomb=5.0, slip=1e-3)
    model.add_port("motor", ps.JointPort("hub", value=5.0 * share))
    result = ps.simulate(model, scheme=scheme, h=0.02, t_end=2.0)
    angle = result.joint("hub").coordinates["angle"]
    creep = (angle[-1] - angle[50]) / (result.time[-1] - result.time[50])
    assert creep == pytest.approx(1e-3 * share / np.sqrt(1 - share**2), rel=1e-3)


# -- hard steps -------------------------------------------------------------------------------


def held_chain(slip, bars=3):
    """Bars on hinges with dry friction that first let go and then hold them."""
    model = ps.Model(gravity=(0, 0, -GRAVITY))
    last = model.ground
    for i in range(bars):
        bar = ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))
        body = model.add_body(f"bar{i}", bar, position=(i + 0.5, 0, 0))
        model.add_joint(f"hinge{i}", ps.Revolute(last, body, point=(i, 0, 0), axis=(0, 1, 0)))
        friction = ps.JointFriction(f"hinge{i}", coulomb=8.0, slip=slip)
        model.add_force(f"friction{i}", friction)
        last = body
    return model


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("scheme", "slip"), in_turn(SCHEMES, [1e-2, 1e-3, 1e-5]))
def test_large_steps_through_sticking_and_slipping_keep_the_balance(slip, scheme, engine):
    result = ps.simulate(held_chain(slip), scheme=scheme, h=0.05, t_end=1.0, engine=engine)
    assert result.stats.balance_error_max < 1e-11 * result.dissipated[-1]
    assert result.stats.dissipation_min >= 0


@pytest.mark.parametrize(("scheme", "engine"), in_turn(SCHEMES, ["compiled", "reference"]))
def test_a_slip_that_is_lost_in_round_off_is_solved_or_refused(scheme, engine):
    """Rates of bodies that move at 1 m/s are known to 1e-16 m/s: forces to 1e-8 of dry friction."""
    try:
        result = ps.simulate(held_chain(1e-8), scheme=scheme, h=0.05, t_end=0.5, engine=engine)
    except ps.SimulationError as error:
        result = error.result
    assert result.stats.balance_error_max < 1e-8 * max(result.dissipated[-1], 1.0)
    assert np.all(np.diff(result.dissipated) >= 0)


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("friction", "message"),
    [
        ({"coulomb": -1.0}, r"JointFriction: coulomb is -1.0; it must be a finite number >= 0"),
        ({"viscous": np.nan}, r"JointFriction: viscous is nan"),
        ({"quadratic": "much"}, r"JointFriction: quadratic: expected a number, got 'much'"),
        (
            {"coulomb": 1.0, "slip": 0.0},
            r"slip is 0.0; it must be positive.*leave it out \(0.001\)",
        ),
        ({}, r"force 'bearing': give coulomb, viscous or quadratic friction"),
        ({"freedom": "turn", "coulomb": 1.0}, r"joint 'hub' has no coordinate 'turn'"),
    ],
)
def test_friction_that_cannot_be_is_refused(friction, message):
    with pytest.raises(ps.InputError, match=message):
        wheel(**friction)


@pytest.mark.parametrize(
    ("drag", "message"),
    [
        ({"viscous": -1.0}, r"Drag: viscous is -1.0; it must be a finite number >= 0"),
        ({"angular_quadratic": np.inf}, r"Drag: angular_quadratic is inf"),
        ({"viscous": 1.0, "point": (0, 0)}, r"Drag: point: expected three finite numbers"),
        ({}, r"force 'air': give viscous or quadratic drag, or angular_viscous"),
    ],
)
def test_drag_that_cannot_be_is_refused(drag, message):
    with pytest.raises(ps.InputError, match=message):
        ball(**drag)


def test_drag_is_on_a_body_that_moves():
    model = ps.Model()
    with pytest.raises(ps.InputError, match="Drag: body"):
        ps.Drag(model.ground, viscous=1.0)
