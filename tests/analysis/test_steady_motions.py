"""Steady motions: tops, governors, wheels and coins against closed forms and their own runs."""

import numpy as np
import pytest

import poinsot as ps
from poinsot import analysis

G = 9.81
COORDINATES = ("directors", "quaternions", "rotations", "rotations-quaternion")


def top(tilt, mass=1.0, arm=0.2, across=0.02, along=0.008):
    model = ps.Model(gravity=(0, 0, -G), name="top")
    body = model.add_body(
        "top",
        ps.RigidBody(mass=mass, inertia=(across, across, along)),
        position=(arm * np.sin(tilt), 0, arm * np.cos(tilt)),
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), tilt),
    )
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


def governor(angle, length=0.5, scale=1.0):
    """Two balls on hinges of a shaft that turns about z."""
    model = ps.Model(gravity=(0, 0, -G * scale), name="governor")
    shape = ps.Cylinder(mass=2.0, radius=0.05 * scale, length=0.3 * scale)
    shaft = model.add_body("shaft", shape)
    model.add_joint("bearing", ps.Revolute(model.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    for name, side in (("left", -1), ("right", 1)):
        position = scale * length * np.array((side * np.sin(angle), 0, -np.cos(angle)))
        ball = model.add_body(name, ps.Sphere(mass=1.0, radius=0.01 * scale), position=position)
        hinge = ps.Revolute(shaft, ball, point=(0, 0, 0), axis=(0, 1, 0))
        model.add_joint(f"{name} hinge", hinge)
    return model


def coin(tilt, radius=0.1, path=0.5):
    """A coin whose axis leads outwards, its centre at a distance from the z axis."""
    model = ps.Model(gravity=(0, 0, -G), name="coin")
    axis = np.array((np.cos(tilt), 0, np.sin(tilt)))
    body = model.add_body(
        "coin",
        ps.Cylinder(mass=1.0, radius=radius, length=0.01),
        position=(path, 0, radius * np.cos(tilt)),
        rotation=np.column_stack([(0, 1, 0), np.cross(axis, (0, 1, 0)), axis]),
    )
    contact = ps.RollingDisc(
        model.ground, body, radius=radius, axis=axis, point=(0, 0, 0), normal=(0, 0, 1)
    )
    model.add_joint("contact", contact)
    return model


def left_over(motion):
    """E x' - flow, relative to its largest term."""
    system, x = motion.system, motion.x
    z = system.z(x)
    change = system.E(x) @ motion.x_rate
    flow = system.flow(x, z, system.feedback(0.0, x, z, system.u(0.0)))
    return np.max(abs(change - flow)) / np.max(abs(change))


def follow(motion, **options):
    return ps.simulate(motion.system, x0=motion.x, angles=motion.angles, **options)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("guess", [1.0, 100.0])
def test_a_top_precesses_at_one_of_two_rates(guess, coordinates):
    """I3 (s + W cos) W - I1 W^2 cos = m g l, with moments about the tip."""
    tilt, spin, I1, I3 = 0.4, 150.0, 0.02 + 0.2**2, 0.008
    motion = analysis.steady_motion(
        top(tilt), rate=None, spins={"top": spin}, guess=guess, coordinates=coordinates
    )
    rates = np.roots([(I3 - I1) * np.cos(tilt), I3 * spin, -G * 0.2])
    expected = rates[np.argmin(abs(rates - guess))]
    assert motion.rate == pytest.approx(expected, rel=1e-12)
    assert left_over(motion) < 1e-12


def test_a_precessing_top_keeps_its_tilt_but_for_the_error_of_the_scheme():
    motion = analysis.steady_motion(top(0.4), rate=None, spins={"top": 150.0})
    errors = []
    for h in (2e-4, 1e-4):
        run = follow(motion, h=h, t_end=0.2, save_every=10)
        errors.append(np.max(abs(run.position("top")[:, 2] - motion.position("top")[2])))
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_a_sleeping_top_stands_at_any_spin():
    for spin in (1.0, 300.0):
        motion = analysis.steady_motion(top(0.0), spins={"top": spin})
        assert motion.position("top") == pytest.approx((0, 0, 0.2), abs=1e-12)
        assert motion.residual < 1e-12
        assert motion.reaction("tip").force == pytest.approx((0, 0, G), abs=1e-10)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_governor_rises_to_the_angle_of_its_speed(coordinates):
    """cos(angle) = g / (rate^2 l)."""
    rate = 8.0
    motion = analysis.steady_motion(governor(0.3), rate=rate, coordinates=coordinates)
    position = motion.position("right")
    assert -position[2] / np.linalg.norm(position) == pytest.approx(G / (rate**2 * 0.5), rel=1e-12)
    force = motion.reaction("right hinge").force
    assert force == pytest.approx((-(rate**2) * position[0], 0, G), abs=1e-10)
    assert left_over(motion) < 1e-12


def test_a_governor_that_turns_slowly_hangs_down():
    motion = analysis.steady_motion(governor(0.3), rate=3.0)
    assert motion.position("right") == pytest.approx((0, 0, -0.5), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e4])
def test_the_units_of_a_governor_do_not_matter(scale):
    motion = analysis.steady_motion(governor(0.3, scale=scale), rate=8.0)
    assert motion.position("right")[2] / scale == pytest.approx(-G / 64, rel=1e-10)


def test_the_speed_of_a_governor_is_found_for_its_angle():
    motion = analysis.steady_motion(governor(1.2), rate=None, guess=3.0)
    assert motion.rate == pytest.approx(np.sqrt(G / (0.5 * np.cos(1.2))), rel=1e-12)


@pytest.mark.parametrize("coordinates", ["directors", "rotations"])
def test_a_governor_stays_steady_in_a_run(coordinates):
    motion = analysis.steady_motion(governor(0.3), rate=8.0, coordinates=coordinates)
    run = follow(motion, h=1e-3, t_end=1.0)
    assert np.ptp(run.joint("right hinge").coordinates["angle"]) < 1e-11
    assert np.ptp(run.position("left")[:, 2]) < 1e-11


def test_a_driven_governor_needs_the_torque_of_its_damper():
    model = governor(0.3)
    model.add_force("damper", ps.JointSpring("bearing", damping=0.7))
    model.add_port("motor", ps.JointPort("bearing"))
    motion = analysis.steady_motion(model, rate=8.0, inputs={"motor": 0.7 * 8.0})
    assert motion.position("right")[2] == pytest.approx(-G / 64, rel=1e-10)
    with pytest.raises(ps.NoEquilibriumError):
        analysis.steady_motion(model, rate=8.0, inputs={"motor": 5.0}, stable=False)


def test_a_wheel_rolls_straight_at_the_spin_of_its_speed():
    motion = analysis.steady_motion(coin(0.0), velocity=(0, 2.0, 0), spins={"coin": None})
    assert motion.spins["coin"] == pytest.approx((-20.0, 0, 0), abs=1e-12)
    run = follow(motion, h=0.01, t_end=1.0)
    assert run.position("coin")[-1] == pytest.approx((0.5, 2.0, 0.1), abs=1e-9)


def test_a_coin_rolls_in_a_circle_at_the_rate_of_its_tilt():
    """Angular momentum about the contact, whose rate is the moment of the weight."""
    tilt, radius, path = 0.3, 0.1, 0.5
    motion = analysis.steady_motion(coin(tilt), rate=None, spins={"coin": None}, guess=3.0)
    axis, ahead = np.array((np.cos(tilt), 0, np.sin(tilt))), np.array((0, 1.0, 0))
    J = 0.01**2 / 12 + radius**2 / 4, 0.01**2 / 12 + radius**2 / 4, radius**2 / 2
    up = np.cross(axis, ahead)
    inertia = J[0] * (np.outer(ahead, ahead) + np.outer(up, up)) + J[2] * np.outer(axis, axis)
    Omega = motion.rate * np.array((0, 0, 1.0))
    omega = Omega + motion.spins["coin"]
    centre = np.array((path, 0, radius * np.cos(tilt)))
    arm = centre - (centre + radius * np.sign(up[2]) * -up)
    v = np.cross(Omega, centre)
    assert np.cross(omega, arm) == pytest.approx(v, abs=1e-12)  # it does not slip
    turning = np.cross(Omega, inertia @ omega) + np.cross(arm, np.cross(Omega, v))
    assert turning == pytest.approx(np.cross(arm, (0, 0, -G)), abs=1e-10)
    again = analysis.steady_motion(
        coin(0.31), rate=motion.rate, spins={"coin": float(motion.spins["coin"] @ axis)}
    )
    assert again.residual < 1e-12


def test_a_free_body_spins_steadily_about_principal_axes_only():
    model = ps.Model()
    model.add_body("body", ps.RigidBody(mass=1.0, inertia=(1.0, 2.0, 2.5)))
    for axis in np.eye(3):
        motion = analysis.steady_motion(model, axis=axis, rate=3.0)
        assert motion.rotation("body") == pytest.approx(np.eye(3), abs=1e-12)
    motion = analysis.steady_motion(model, axis=(1, 0.3, 0.4), rate=3.0)
    turned = abs(motion.rotation("body").T @ motion.axis)
    assert sorted(turned) == pytest.approx([0, 0, 1], abs=1e-9)


def test_bodies_without_an_axis_of_symmetry_cannot_spin():
    model = ps.Model()
    model.add_body("brick", ps.Box(mass=1.0, size=(1, 2, 3)))
    model.add_body("ball", ps.Sphere(mass=1.0, radius=1.0))
    with pytest.raises(ps.InputError, match="'brick' has no axis of symmetry"):
        analysis.steady_motion(model, spins={"brick": 3.0})
    with pytest.raises(ps.InputError, match="'ball' has many axes"):
        analysis.steady_motion(model, spins={"ball": 3.0})
    assert analysis.steady_motion(model, spins={"ball": (1, 2, 2)}).residual == 0
    with pytest.raises(ps.InputError, match="no body 'bal'"):
        analysis.steady_motion(model, spins={"bal": 1.0})
