"""Angles of joints over more than half a turn."""

import numpy as np
import pytest

import poinsot as ps


def wheel(**force):
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), angular_velocity=(0, 0, 5))
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    if force:
        model.add_force("coil", ps.JointSpring("pin", **force))
    return model


def test_a_periodic_potential_goes_round_and_round():
    model = wheel(potential=lambda a: 0.3 * (1 - np.cos(a)), dpotential=lambda a: 0.3 * np.sin(a))
    result = ps.simulate(model, h=0.01, t_end=5)
    assert result.joint("pin").coordinates["angle"][-1] > 4 * np.pi
    assert result.stats.balance_error_max < 1e-12


@pytest.mark.parametrize("save_every", [1, 10, 50])
def test_angles_are_followed_over_steps_that_are_not_saved(save_every):
    result = ps.simulate(wheel(), h=0.01, t_end=5, save_every=save_every)
    per_step = 2 * np.arctan(5 * 0.01 / 2)  # Cayley's turn of a midpoint step
    assert result.joint("pin").coordinates["angle"][-1] == pytest.approx(500 * per_step, rel=1e-9)


def test_the_relative_rotation_of_a_ball_joint_is_that_of_the_bodies():
    model = ps.Model()
    a = model.add_body("a", ps.Box(mass=2, size=(1, 1, 2)), angular_velocity=(1, 2, 0.5))
    b = model.add_body("b", ps.Box(mass=1, size=(2, 1, 1)), position=(2, 0, 0))
    model.add_joint("pin", ps.Spherical(a, b, point=(1, 0, 0)))
    result = ps.simulate(model, h=0.01, t_end=1)
    assert abs(result.joint("pin").rotation[0]).max() == 0
    turn = ps.Rotation.from_rotation_vector(result.joint("pin").rotation[-1]).matrix
    R_a, R_b = result.rotation("a")[-1], result.rotation("b")[-1]  # both identity at the start
    np.testing.assert_allclose(R_a @ turn, R_b, atol=1e-12)


def test_the_relative_rotation_of_a_hinge_is_its_angle_about_its_axis():
    result = ps.simulate(wheel(), h=0.01, t_end=0.5)
    pin = result.joint("pin")
    expected = np.outer(pin.coordinates["angle"], (0, 0, 1))
    np.testing.assert_allclose(pin.rotation, expected, atol=1e-12)


@pytest.mark.parametrize(("engine", "every"), [("reference", 6), ("compiled", 2)])
def test_an_angle_of_round_off_has_not_passed_half_a_turn(engine, every):
    """The energies of such angles differ by more than any part of themselves."""
    for k in range(1, 60, every):
        model = ps.Model()
        quat = np.array([1, 0.1 * k, 0.2, 0.3])
        disc = model.add_body(
            "disc",
            ps.Cylinder(mass=1, radius=0.1, length=0.05),
            rotation=ps.Rotation.from_quaternion(quat / np.linalg.norm(quat)),
            angular_velocity=(0, 3e-16 * k, 0),
        )
        model.add_joint("pin", ps.Revolute(model.ground, disc, point=(0, 0, 0), axis=(0, 1, 0)))
        model.add_force("coil", ps.JointSpring("pin", stiffness=5))
        result = ps.simulate(model, h=0.01, t_end=0.1, engine=engine)
        assert abs(result.joint("pin").coordinates["angle"]).max() < 1e-14
