"""Velocities in body axes against solutions from outside: Newton-Euler equations, a gyroscope."""

from itertools import pairwise

import numpy as np
import pytest
from numerics import observed_orders
from scipy.integrate import solve_ivp
from test_mechanisms_order import loaded

import poinsot as ps

END = 0.16
STEPS = (16, 32)
TIMES = np.linspace(0, END, 9)


@pytest.mark.parametrize("kind", ["Spherical", "Revolute", "Prismatic", "PointOnPlane"])
def test_motion_in_body_axes_converges_with_order_two(kind):
    plan, model, _, times, states = loaded(kind)
    exact = states[[int(np.argmin(abs(times - t))) for t in TIMES]]
    found = []
    for steps in STEPS:
        run = {"h": END / steps, "t_end": END, "engine": "reference"}
        result, worst = ps.simulate(model, coordinates="rotations", **run), []
        for i, name in enumerate(plan.bodies):
            body, every = result.body(name), slice(None, None, steps // 8)
            q = np.hstack([body.position, body.rotation.reshape(-1, 9)])[every]
            pairs = (
                (q, exact[:, i, :12]),
                (body.velocity[every], exact[:, i, 12:15]),
                (body.angular_velocity[every], exact[:, i, 15:]),
            )
            worst.append([abs(a - b).max() for a, b in pairs])
        found.append(np.max(worst, axis=0))
    assert found[0].min() > 1e-7  # well above what the reference itself is worth
    for column in np.transpose(found):
        (order,) = observed_orders([END / steps for steps in STEPS], column)
        assert order == pytest.approx(2.0, abs=0.1), found


# -- a gyroscope in a gimbal [BHRS25, sec. 7.2] ----------------------------------------------------

RADIUS, WIDTH = 0.1, 0.02
INERTIA = np.array([6 * RADIUS**2, 3 * RADIUS**2 + WIDTH**2, 3 * RADIUS**2 + WIDTH**2]) / 12
START, SPIN = np.array([0.0, 0.1, 0.0]), np.array([100.0, 0.0, 0.0])
#: Angles (alpha, beta, gamma) and angular velocity in body axes at t = 0.1 s, in 80 bits.
ANGLES = [1.0000149277544e01, 1.0014378774681e-01, 1.4937508447040e-03]
OMEGA = [1.0000000000000e02, -1.5855737982789e-02, -2.3542016089465e-02]


def torque(t):
    """On the second axis [N m]."""
    return 0.05 * np.sin(3 * t)


def equations(t, x):
    """[BHRS25, eqs. (16a), (16b)], the middle row of (16a) as in (18)."""
    (a, b, _), (x_, y_, z_) = x[:3], x[3:]
    angles = [
        x_ + np.tan(b) * (np.sin(a) * y_ + np.cos(a) * z_),
        np.cos(a) * y_ - np.sin(a) * z_,
        (np.sin(a) * y_ + np.cos(a) * z_) / np.cos(b),
    ]
    load = torque(t) * np.array([0, np.cos(a), -np.sin(a)])
    return [*angles, *((np.cross(INERTIA * x[3:], x[3:]) + load) / INERTIA)]


def gyroscope():
    model = ps.Model(name="gyroscope")
    R = ps.Rotation.from_euler("xyz", START)
    spin = R.apply(SPIN)
    shape = ps.RigidBody(mass=1, inertia=INERTIA)
    disk = model.add_body("disk", shape, rotation=R, angular_velocity=spin)

    def about_the_second_axis(t, motion):
        x, y, _ = motion.rotation[:, 0]
        return torque(t) * np.array([-y, x, 0]) / np.hypot(x, y)

    model.add_port("motor", ps.TorquePort(disk, law=about_the_second_axis))
    return model


def test_euler_angles_of_a_gyroscope_are_those_of_its_own_equations():
    """Both DOP853 and published digits; steps of three sizes are extrapolated to none."""
    options = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}
    outside = solve_ivp(equations, (0, 0.1), [*START, *SPIN], **options).y[:, -1]
    np.testing.assert_allclose(outside, [*ANGLES, *OMEGA], rtol=0, atol=1e-9)
    ends = []
    for h in (2e-3, 1e-3, 5e-4):
        run = {"h": h, "t_end": 0.1, "engine": "reference"}
        result = ps.simulate(gyroscope(), coordinates="rotations-euler", **run)
        ends.append(np.concatenate([result["disk.zeta"][-1, 3:], result["disk.w"][-1, 3:]]))
    once = [(4 * fine - rough) / 3 for rough, fine in pairwise(ends)]
    twice = (16 * once[1] - once[0]) / 15
    np.testing.assert_allclose(twice, outside, rtol=0, atol=2e-6)
    (order,) = observed_orders([2e-3, 1e-3], [abs(end - outside).max() for end in ends[:2]])
    assert order == pytest.approx(2.0, abs=0.1)
