"""Mechanisms at rest and in balance, where whole equations vanish, run like any other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poinsot as ps
from poinsot import KinematicPair, free_body, ph

H = 0.01
seeds = st.integers(0, 1000)
units = st.tuples(st.integers(-39, 39), st.integers(-26, 26))


def axis(random):
    a = random.standard_normal(3)
    return a / np.linalg.norm(a)


def balanced(seed, *, gravity, powers=(0, 0), bob=True):
    """A disc hinged at its own centre, by whatever axis, with a bob below it and a motor."""
    random, (kilogram, metre) = np.random.default_rng(seed), (2.0**power for power in powers)
    quat = random.standard_normal(4)
    turned = ps.Rotation.from_quaternion(quat / np.linalg.norm(quat))
    model = ps.Model(gravity=(0, 0, -gravity * metre))
    shape = ps.Cylinder(mass=kilogram, radius=0.2 * metre, length=0.05 * metre)
    disc = model.add_body("disc", shape, rotation=turned)
    across = np.array([*axis(random)[:2], 0.0]) if bob else axis(random)
    model.add_joint("hinge", ps.Revolute(model.ground, disc, point=(0, 0, 0), axis=across))
    if bob:
        ball = ps.Sphere(mass=0.3 * kilogram, radius=0.05 * metre)
        hanging = model.add_body("bob", ball, position=(0, 0, -0.2 * metre))
        model.add_joint("fix", ps.Weld(disc, hanging))
    model.add_port("motor", ps.JointPort("hinge"))
    return model


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
@given(seed=seeds, gravity=st.sampled_from([0.0, 9.81]), powers=units, bob=st.booleans())
@settings(max_examples=4, deadline=None)
def test_a_hinge_that_is_held_at_the_centre_of_a_body_stays_at_rest(
    coordinates, seed, gravity, powers, bob
):
    system = balanced(seed, gravity=gravity, powers=powers, bob=bob).compile(coordinates)
    held = ph.feed(ph.swap(system, "motor"), "motor", 0.0)
    result = ps.simulate(held, h=H, t_end=5 * H)
    kilogram, metre = (2.0**power for power in powers)
    assert result.stats.residual_max <= 1e-13
    assert abs(result.port("motor").y).max() <= 1e-12 * kilogram * metre**2 * max(gravity, 1.0)


def moving_torque(seed, t):
    """What moves the hinge of `balanced` by 2 sin(3 t) rad/s, by Newton and Euler."""
    random = np.random.default_rng(seed)
    quat, a = random.standard_normal(4), np.array([*axis(random)[:2], 0.0])
    n = ps.Rotation.from_quaternion(quat / np.linalg.norm(quat)).matrix.T @ a / np.linalg.norm(a)
    across, along = 0.2**2 / 4 + 0.05**2 / 12, 0.2**2 / 2
    inertia = n @ np.diag([across, across, along]) @ n
    inertia += 0.3 * (0.2**2 + 0.4 * 0.05**2)
    angle, acceleration = 2 / 3 * (1 - np.cos(3 * t)), 6 * np.cos(3 * t)
    return inertia * acceleration + 0.3 * 9.81 * 0.2 * np.sin(angle)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_a_hinge_that_is_moved_follows_in_three_iterations(coordinates):
    system = balanced(0, gravity=9.81).compile(coordinates)
    moved = ph.feed(ph.swap(system, "motor"), "motor", lambda t: 2 * np.sin(3 * t))
    result = ps.simulate(moved, h=H, t_end=10 * H, scheme="ph-dg")
    assert result.stats.newton_iterations <= 4 * result.stats.steps
    assert np.max(result.velocity_constraint_error_mid) < 1e-13
    # Livens' form knows velocities in the middle of steps only, and energies so.
    assert coordinates == "quaternions" or not result.warnings
    torque = moving_torque(0, result.port("motor").time)
    np.testing.assert_allclose(abs(result.port("motor").y[:, 0]), torque, rtol=1e-3)
    u = 2 * np.sin(3 * result.port("motor").time)
    np.testing.assert_allclose(result.port("motor").u[:, 0], u, rtol=0, atol=1e-15)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@given(seed=seeds, gravity=st.sampled_from([0.0, 9.81]), powers=units, bob=st.booleans())
@settings(max_examples=6, deadline=None)
def test_a_mechanism_in_balance_stays_at_rest(engine, seed, gravity, powers, bob):
    model = balanced(seed, gravity=gravity, powers=powers, bob=bob)
    result = ps.simulate(model, h=H, t_end=5 * H, engine=engine)
    assert result.stats.single_steps == 0
    assert abs(result.angular_velocity("disc")).max() <= 1e-12 / H


@given(
    seed=seeds,
    gravity=st.sampled_from([0.0, 9.81]),
    spin=st.sampled_from([0.0, 2.0]),
    kind=st.sampled_from([ps.Revolute, ps.Spherical]),
)
@settings(max_examples=6, deadline=None)
def test_bodies_joined_at_their_centres_move_as_in_one_model(seed, gravity, spin, kind):
    random = np.random.default_rng(seed)
    model = ps.Model(gravity=(0, 0, -gravity))
    a, n = random.uniform(-1, 1, 3), axis(random)
    one = model.add_body("one", ps.Box(mass=1, size=(0.3, 0.2, 0.1)), position=a)
    shape, omega = ps.Cylinder(mass=2, radius=0.3, length=0.1), spin * n
    other = model.add_body("other", shape, position=a, angular_velocity=omega)
    where = {"point": a, "axis": n} if kind is ps.Revolute else {"point": a}
    model.add_joint("J", kind(one, other, **where))
    known = ps.simulate(model, scheme="ph-mp", h=H, t_end=5 * H)
    system = ph.interconnect(
        *(free_body(body, gravity=model.gravity) for body in model.bodies.values()),
        connections=KinematicPair(model.joints["J"], "one.wrench", "other.wrench"),
    )
    x0 = {f"{b}.{s}": known[f"{b}.{s}"][0] for b in model.bodies for s in "qv"}
    joined = ps.simulate(system, scheme="ph-mp", h=H, t_end=5 * H, x0=x0)
    for name in x0:
        np.testing.assert_allclose(joined[name], known[name], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("scheme", ["eml", "emh"])
def test_an_equation_without_terms_does_not_end_the_iteration_of_all_others(scheme):
    """Two wheels on one axis: momenta along it are 1e-25 kg m/s, and converge last."""
    model = ps.Model()
    one = model.add_body("one", ps.Box(mass=2, size=(0.3, 0.2, 0.1)), angular_velocity=(0, 0, 9))
    other = model.add_body(
        "other",
        ps.Box(mass=1, size=(0.2, 0.4, 0.1)),
        position=(0, 0, 0.5),
        angular_velocity=(0, 0, -7),
    )
    model.add_joint("lower", ps.Revolute(model.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_joint("upper", ps.Revolute(one, other, point=(0, 0, 0.5), axis=(0, 0, 1)))
    result = ps.simulate(
        model, h=0.02, t_end=0.6, coordinates="quaternions", scheme=scheme, engine="reference"
    )
    assert result.stats.balance_error_max < 1e-14
    assert result.stats.residual_max < 1e-14
