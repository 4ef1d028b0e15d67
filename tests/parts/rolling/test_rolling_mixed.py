"""Wheels, closed loops, springs and motors in one mechanism, in all coordinates and engines."""

import numpy as np
import pytest
from engines import assert_same, both, run
from numerics import observed_orders
from rolling_models import GRAVITY, slips
from scipy.integrate import solve_ivp

import poinsot as ps

COORDINATES = ("directors", "quaternions", "rotations")


def swing_on_a_wheel():
    """A wheel whose axle carries a four-bar linkage with a spring across it."""
    model = ps.Model(gravity=GRAVITY)
    radius = 0.2
    wheel = model.add_body(
        "wheel",
        ps.Cylinder(mass=1.5, radius=radius, length=0.05),
        position=(0, 0, radius),
        rotation=ps.Rotation.from_axis_angle((1, 0, 0), -np.pi / 2),
        angular_velocity=(0, 3, 0),
    )
    contact = ps.RollingDisc(model.ground, wheel, radius=radius, axis=(0, 1, 0))
    model.add_joint("contact", contact)
    corners = [(0, 0.1, radius), (0.1, 0.1, -0.1), (0.5, 0.1, -0.15), (0.5, 0.1, radius)]
    names = ("front", "coupler", "rear", "beam")
    bars = []
    for k, name in enumerate(names):
        a, b = np.array(corners[k]), np.array(corners[(k + 1) % 4])
        size = abs(b - a) + 0.04
        bars.append(model.add_body(name, ps.Box(mass=0.4, size=size), position=(a + b) / 2))
    for k in range(4):
        axis = (0, 1, 0)
        joint = ps.Revolute(bars[k - 1], bars[k], point=corners[k], axis=axis)
        model.add_joint(f"pin {k}", joint)
    model.add_joint("axle", ps.Revolute(wheel, bars[0], point=(0, 0.05, radius), axis=(0, 1, 0)))
    ends = {"point_a": corners[0], "point_b": corners[2]}
    spring = ps.Spring(bars[3], bars[1], stiffness=150, damping=0.3, **ends)
    model.add_force("spring", spring)
    model.add_force("dry", ps.JointFriction("pin 1", coulomb=0.05))
    model.add_force("air", ps.Drag(bars[3], quadratic=0.2))
    model.add_port("motor", ps.JointPort("axle", value=lambda t: 0.2 * np.sin(3 * t)))
    return model


def test_a_wheel_with_a_loop_and_a_spring_moves_alike_in_all_coordinates():
    model = swing_on_a_wheel()
    steps, gaps = (0.004, 0.002), []
    for h in steps:
        ends = [
            run(model, "compiled", h=h, t_end=0.5, coordinates=coordinates).position("rear")[-1]
            for coordinates in COORDINATES
        ]
        assert ends[1] == pytest.approx(ends[2], abs=1e-11)
        gaps.append(np.max(abs(ends[0] - ends[1])))
    assert observed_orders(steps, gaps) == pytest.approx(2.0, abs=0.1)
    assert gaps[-1] <= 1e-6


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_its_balance_is_exact_and_it_does_not_slip(coordinates):
    model = swing_on_a_wheel()
    result = run(model, "compiled", h=0.002, t_end=2.0, coordinates=coordinates)
    size = np.max(result.observation.energies["kinetic"])
    assert result.stats.balance_error_max <= 1e-12 * size
    assert result.stats.dissipation_min >= 0
    assert slips(result, model) <= 1e-12
    assert result.constraint_error.max() <= 1e-13


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_both_engines_agree(coordinates):
    options = {"h": 0.004, "t_end": 0.04, "coordinates": coordinates}
    assert_same(*both(swing_on_a_wheel(), **options), rtol=1e-8)


# -- assemblies --------------------------------------------------------------------------------


def robot(mass=2.0, inertia=0.3, ahead=0.15, track=0.4, wheel=(0.5, 0.1)):
    """A robot on two driven wheels and a frictionless ball, its centre `ahead` of the axle."""
    model = ps.Model(gravity=GRAVITY)
    wheel_mass, radius = wheel
    chassis = model.add_body(
        "chassis",
        ps.RigidBody(mass=mass, inertia=(0.2, 0.2, inertia)),
        position=(ahead, 0, radius),
        velocity=(0.3, 0, 0),
        angular_velocity=(0, 0, 0),
    )
    shape = ps.Cylinder(mass=wheel_mass, radius=radius, length=0.02)
    sides = {"left": (0, track / 2, radius), "right": (0, -track / 2, radius)}
    model.add_assembly("drive", ps.DifferentialDrive(chassis, shape, **sides))
    support = ps.PointOnPlane(model.ground, chassis, point=(0.3, 0, 0), normal=(0, 0, 1))
    model.add_joint("caster", support)
    return model


def test_a_robot_on_two_wheels_moves_as_its_reduced_equations_say():
    """[BHRS25, sec. 7.1] without the constraint, the wheels' inertia added."""
    mass, inertia, ahead, track, (wheel_mass, radius) = 2.0, 0.3, 0.15, 0.4, (0.5, 0.1)
    J_roll, J_turn = wheel_mass * radius**2 / 2, wheel_mass * (radius**2 / 4 + 0.02**2 / 12)
    m_v = mass + 2 * wheel_mass + 2 * J_roll / radius**2
    arm = track / 2
    I = inertia + mass * ahead**2 + 2 * (wheel_mass + J_roll / radius**2) * arm**2 + 2 * J_turn

    def left(t):
        return 0.05 + 0.03 * np.sin(2 * t)

    def right(t):
        return 0.06 * np.cos(t)

    def rate(t, y):
        _, _, phi, v, omega = y
        push, turn = (left(t) + right(t)) / radius, (right(t) - left(t)) / radius * arm
        return [
            v * np.cos(phi),
            v * np.sin(phi),
            omega,
            (push + mass * ahead * omega**2) / m_v,
            (turn - mass * ahead * omega * v) / I,
        ]

    start = [0, 0, 0, 0.3, 0]
    exact = solve_ivp(rate, (0, 2), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    model = robot(mass, inertia, ahead, track, (wheel_mass, radius))
    steps, errors = (0.02, 0.01), []
    inputs = {"drive.left.motor": left, "drive.right.motor": right}
    for h in steps:
        result = run(model, "compiled", h=h, t_end=2.0, inputs=inputs)
        heading = result.rotation("chassis")[-1][:, 0]
        axle = result.position("chassis")[-1] - ahead * heading
        found = [*axle[:2], np.arctan2(heading[1], heading[0])]
        errors.append(np.max(abs(np.array(found) - exact[:3])))
    assert observed_orders(steps, errors) == pytest.approx(2.0, abs=0.1)
    assert result.stats.balance_error_max <= 1e-13


def test_a_steered_wheel_leads_the_frame_on_a_circle():
    """The rear wheel's circle has the radius base / tan(angle)."""
    radius, base, angle, speed = 0.1, 0.8, 0.3, 1.0
    turn = speed * np.tan(angle) / base
    model = ps.Model(gravity=GRAVITY)
    frame = model.add_body(
        "frame",
        ps.Box(mass=3, size=(base, 0.1, 0.1)),
        position=(base / 2, 0, radius),
        velocity=(speed, turn * base / 2, 0),
        angular_velocity=(0, 0, turn),
    )
    plane = ps.Planar(model.ground, frame, point=(base / 2, 0, radius), normal=(0, 0, 1))
    model.add_joint("plane", plane)
    shape = ps.Cylinder(mass=0.4, radius=radius, length=0.02)
    steered = {"steering": (0, 0, 1), "fork": ps.Sphere(mass=0.2, radius=0.05)}
    axle = (-np.sin(angle), np.cos(angle), 0)
    front = ps.Wheel(frame, shape, (base, 0, radius), axle=axle, **steered)
    model.add_assembly("front", front)
    model.add_assembly("rear", ps.Wheel(frame, shape, (0, 0, radius)))
    model.add_force("lock", ps.JointSpring("front.steering", stiffness=200.0))
    assert set(model.joints) == {
        *("plane", "front.steering", "front.axle", "front.contact", "rear.axle", "rear.contact")
    }
    result = run(model, "compiled", h=0.002, t_end=2 * np.pi / turn)
    circle = base / np.tan(angle)
    assert np.ptp(result.position("rear")[:, :2], axis=0) == pytest.approx(2 * circle, rel=2e-3)
    assert result.position("rear")[-1] == pytest.approx([0, 0, radius], abs=0.05)
    assert slips(result, model) <= 1e-12
