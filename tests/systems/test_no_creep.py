"""What rounding does to a long run is a random walk around what is conserved, and a short one.

Errors of 1e-16 in each step add up to 1e-13 in a million if they have no sign, and to 1e-10 if they
have one.
"""

import numpy as np
import pytest

import poinsot as ps

STEPS = 500_000
BOX = ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))


def top(speed=100.0, tilt=0.3):
    """A heavy top that spins about its axis."""
    model = ps.Model(gravity=(0, 0, -9.81))
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    body = ps.RigidBody(mass=1.0, inertia=(0.02, 0.02, 0.01))
    lean, w = ps.Rotation.from_axis_angle((0, 1, 0), tilt), speed * axis
    top = model.add_body("top", body, position=0.3 * axis, rotation=lean, angular_velocity=w)
    model.add_joint("tip", ps.Spherical(model.ground, top, point=(0, 0, 0)))
    return model


def tumbling():
    model = ps.Model(gravity=(0, 0, 0))
    body = ps.RigidBody(mass=1.0, inertia=(0.02, 0.03, 0.015))
    model.add_body("body", body, angular_velocity=(100.0, 10.0, 20.0))
    return model


def double_pendulum():
    model = ps.Model(gravity=(0, 0, -9.81))
    upper = model.add_body("upper", BOX, position=(0.5, 0, 0))
    lower = model.add_body("lower", BOX, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("B", ps.Revolute(upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    return model


def rolling_disc(lean=0.2, radius=0.3):
    """A coin that rolls in a circle, leaning."""
    model = ps.Model(gravity=(0, 0, -9.81))
    axis = np.array([0, np.cos(lean), -np.sin(lean)])
    disc = model.add_body(
        "disc",
        ps.RigidBody(mass=1.0, inertia=np.diag([0.02, 0.04, 0.02])),
        position=(0, 0, radius * np.cos(lean)),
        rotation=ps.Rotation.from_axis_angle((1, 0, 0), -lean),
        angular_velocity=10.0 * axis + np.array([0, 0, 1.0]),
    )
    model.add_joint("rim", ps.RollingDisc(model.ground, disc, radius=radius, axis=axis))
    return model


def run(model, h, **options):
    return ps.simulate(
        model, h=h, t_end=STEPS * h, save_every=STEPS // 20, progress=False, **options
    )


@pytest.mark.parametrize(
    ("build", "h", "scale"),
    [
        (top, 1e-3, 52.8),
        (tumbling, 1e-3, 112.0),
        (double_pendulum, 1e-2, 30.0),
        (rolling_disc, 1e-3, 8.0),
    ],
)
def test_energy_does_not_creep(build, h, scale):
    result = run(build(), h)
    assert np.ptp(result.energy) < 2e-13 * scale


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_a_body_in_uniform_motion_keeps_its_angular_momentum_about_the_origin(scheme):
    model = ps.Model(gravity=(0, 0, 0))
    ball = ps.Sphere(mass=1.0, radius=0.1)
    model.add_body("ball", ball, position=(0, 1, 0), velocity=(1.1, 2.3, 3.7))
    result = run(model, 1e-3, scheme=scheme)
    L = result.angular_momentum
    reached = np.linalg.norm(result.position("ball")[-1]) * np.linalg.norm((1.1, 2.3, 3.7))
    np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), rtol=0, atol=1e-15 * reached)
