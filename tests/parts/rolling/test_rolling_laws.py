"""What rolling keeps: energy, heights, and points at rest; what it exerts."""

import numpy as np
import pytest
from engines import run
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from rolling_models import GRAVITY, MODELS, ball, coin, sleigh, slips

import poinsot as ps

SCHEMES = ("ph-mp", "emh-mean")


@pytest.mark.parametrize(
    ("name", "scheme"), in_turn(MODELS, [*SCHEMES, "eml", "null-eml"], times=2)
)
def test_energy_heights_and_contacts_at_rest_are_exact(name, scheme):
    model, _ = MODELS[name]()
    result = ps.simulate(model, h=0.02, t_end=0.4, scheme=scheme, engine="reference")
    assert np.max(abs(result.energy - result.energy[0])) <= 1e-12 * abs(result.energy[0])
    assert result.constraint_error.max() <= 1e-14
    assert slips(result, model) <= 1e-12
    assert result.velocity_constraint_error_mid.max() <= 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", MODELS)
def test_a_hundred_thousand_steps_keep_the_balance(name, scheme):
    model, _ = MODELS[name]()
    result = run(model, "compiled", h=0.0002, t_end=20.0, scheme=scheme, save_every=1000)
    size = np.max(result.observation.energies["kinetic"])
    assert result.stats.balance_error_max <= 1e-11 * size
    assert result.constraint_error.max() <= 1e-13 * (1 + np.max(abs(result.position("body"))))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_contact_force_is_what_changes_the_momentum(scheme):
    model, _ = coin(offset=(0.02, 0.01, -0.015))
    h = 0.01
    result = ps.simulate(model, h=h, t_end=0.2, scheme=scheme, engine="reference")
    mass = model.bodies["body"].mass
    force = np.diff(mass * result.velocity("body"), axis=0) / h - mass * GRAVITY
    assert result.reaction("contact").force == pytest.approx(force, abs=1e-10)
    assert result.reaction("contact").force_a == pytest.approx(-force, abs=1e-10)


@pytest.mark.parametrize("build", [coin, ball, sleigh])
def test_a_contact_acts_at_the_point_that_touches(build):
    """Seen from there, its force has no torque; that of a disc is given about the centre."""
    model, _ = build()
    result = ps.simulate(model, h=0.001, t_end=0.1, engine="reference")
    reaction = result.reaction("contact")
    if build is coin:
        a = (result.rotation("body")[1:] + result.rotation("body")[:-1])[:, :, 1] / 2
        down = a[:, 2:] * a - (0, 0, 1)
        rho = 0.1 * down / np.linalg.norm(down, axis=1)[:, None]
        assert reaction.torque == pytest.approx(np.cross(rho, reaction.force), abs=1e-6)
    else:
        assert reaction.torque == pytest.approx(0.0, abs=1e-12)


@given(
    tilt=st.floats(-1.2, 1.2),
    spin=st.floats(8, 20),
    turn=st.floats(-3, 3),
    offset=st.tuples(*[st.floats(-0.03, 0.03)] * 3),
    h=st.sampled_from([0.001, 0.005, 0.01]),
)
@settings(max_examples=8, deadline=None)
def test_any_coin_keeps_its_energy_and_both_engines_agree(tilt, spin, turn, offset, h):
    model, _ = coin(tilt, spin, turn, offset)
    one, other = (run(model, engine, h=h, t_end=20 * h) for engine in ("compiled", "reference"))
    assert np.max(abs(other.energy - other.energy[0])) <= 1e-12 * max(1, abs(other.energy[0]))
    assert one.position("body") == pytest.approx(other.position("body"), abs=1e-11)
    assert one.reaction("contact").force == pytest.approx(other.reaction("contact").force, abs=1e-7)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    ("turn", "coordinates"), in_turn([0.0, 0.01, 1.0], ["directors", "quaternions", "rotations"])
)
def test_a_coin_that_falls_on_its_side_ends_the_run(turn, coordinates, engine):
    model, _ = coin(tilt=0.75, spin=0.0, turn=turn)
    with pytest.raises(
        ps.SimulationError, match="joint 'contact': the disc falls on its side"
    ) as e:
        ps.simulate(model, h=0.005, t_end=1.0, coordinates=coordinates, engine=engine)
    assert e.value.result.time[-1] > 0.1
    assert e.value.result.position("body")[:, 2].min() > 0


@pytest.mark.parametrize("coordinates", ["directors", "rotations", "rotations-quaternion"])
def test_a_run_goes_on_from_where_it_ended(coordinates):
    """Only velocities are made consistent: positions are those of the run."""
    model, _ = coin()
    system = model.compile(coordinates)
    first = ps.simulate(system, h=0.005, t_end=0.1, engine="reference")
    last = np.concatenate([first[state.name][-1].reshape(-1) for state in system.states])
    x0 = ps.ph.consistent_state(system, last)
    second = ps.simulate(system, h=0.005, t_end=0.02, x0=x0, engine="reference")
    assert second.position("body")[0] == pytest.approx(first.position("body")[-1], abs=1e-15)
    assert second.constraint_error.max() <= 1e-14
    assert second.energy[0] == pytest.approx(first.energy[-1], rel=1e-3)


# -- closed forms ------------------------------------------------------------------------------


def test_a_sphere_rolls_down_an_incline_with_five_sevenths_of_what_pulls_it():
    slope, radius = 0.3, 0.2
    normal, down = np.array([np.sin(slope), 0, np.cos(slope)]), (np.cos(slope), 0, -np.sin(slope))
    model = ps.Model(gravity=GRAVITY)
    sphere = model.add_body("sphere", ps.Sphere(mass=3, radius=radius), position=radius * normal)
    contact = ps.RollingSphere(model.ground, sphere, radius=radius, normal=normal)
    model.add_joint("contact", contact)
    result = ps.simulate(model, h=0.01, t_end=1.0, engine="reference")
    acceleration = 5 / 7 * 9.81 * np.sin(slope) * np.array(down)
    assert result.velocity("sphere")[-1] == pytest.approx(acceleration, abs=1e-7)
    friction = -2 / 7 * 3 * 9.81 * np.sin(slope) * np.array(down)
    pressure = 3 * 9.81 * np.cos(slope) * normal
    forces = result.reaction("contact").force[-2:].mean(axis=0)
    assert forces == pytest.approx(friction + pressure, abs=1e-6)


def test_chaplygins_sleigh_ends_up_going_straight():
    """v = a k tanh(k' t + c) and omega = k sech(k' t + c), k' = m a^2 k / (J + m a^2)."""
    model, _ = sleigh(velocity=(0, 0, 0), spin=1.5, ahead=0.3)
    mass, inertia, a, spin = 2.0, 0.25, 0.3, 1.5
    about_edge = inertia + mass * a**2
    rate = spin * np.sqrt(mass * a**2 / about_edge)
    result = run(model, "compiled", h=0.002, t_end=4.0)
    t = result.time
    assert result.angular_velocity("body")[:, 2] == pytest.approx(
        spin / np.cosh(rate * t), abs=5e-6
    )
    speed = a * spin * np.sqrt(about_edge / (mass * a**2)) * np.tanh(rate * t)
    heading = result.rotation("body")[:, :, 0]
    edge = result.velocity("body") - np.cross(result.angular_velocity("body"), a * heading)
    assert np.sum(edge * heading, axis=1) == pytest.approx(speed, abs=5e-6)


def test_a_tilted_coin_circles_where_its_weight_and_its_spin_balance():
    """W^2 c (J_t s + (J_a + m r^2) R / r) = m g r s for a turn W of the centre on a circle R.

    With the tilt's sine s and cosine c; from the moments about the centre, the spin about the axis
    being -W R / r by rolling.
    """
    radius, mass, tilt, circle = 0.1, 1.0, 0.5, 0.4
    J_a, J_t = mass * radius**2 / 2, mass * radius**2 / 4
    s, c = np.sin(tilt), np.cos(tilt)
    inertia = J_t * s + (J_a + mass * radius**2) * circle / radius
    turn = np.sqrt(mass * 9.81 * radius * s / (c * inertia))
    R = ps.Rotation.from_axis_angle((1, 0, 0), tilt).matrix
    axis = R @ (0, 1, 0)
    model = ps.Model(gravity=GRAVITY)
    body = model.add_body(
        "coin",
        ps.RigidBody(mass=mass, inertia=(J_t, J_a, J_t)),
        position=(0, 0, radius * c),
        rotation=R,
        angular_velocity=turn * np.array([0, 0, 1]) - turn * (circle / radius + s) * axis,
    )
    model.add_joint("contact", ps.RollingDisc(model.ground, body, radius=radius, axis=axis))
    result = run(model, "compiled", h=0.0005, t_end=2 * np.pi / turn)
    assert np.ptp(result.position("coin")[:, 2]) <= 1e-6
    assert np.ptp(result.position("coin")[:, :2], axis=0) == pytest.approx(2 * circle, abs=1e-5)
    assert np.linalg.norm(result.velocity("coin"), axis=1) == pytest.approx(turn * circle, abs=1e-6)
