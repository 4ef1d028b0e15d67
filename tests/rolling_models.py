"""Bodies that roll or slide on a plane, as models and as Newton and Euler see them."""

import numpy as np
from rolling_newton_euler import OnPlane, disc_arm

import poinsot as ps

GRAVITY = np.array([0, 0, -9.81])
UP = np.array([0.0, 0, 1])


def coin(tilt=0.4, spin=8.0, turn=1.0, offset=(0, 0, 0)):
    """A tilted coin; `offset` is the centre of mass in its own axes."""
    radius, mass, offset = 0.1, 0.5, np.array(offset, dtype=float)
    inertia = np.diag([1.3e-3, 2.5e-3, 1.2e-3])
    R = ps.Rotation.from_axis_angle((1, 0, 0), tilt).matrix
    centre, axis = np.array([0, 0, radius * np.cos(tilt)]), R @ (0, 1, 0)
    model = ps.Model(gravity=GRAVITY)
    omega = spin * axis + turn * UP
    body = model.add_body(
        "body",
        ps.RigidBody(mass=mass, inertia=inertia),
        position=centre + R @ offset,
        rotation=R,
        angular_velocity=omega,
    )
    contact = ps.RollingDisc(model.ground, body, radius=radius, centre=centre, axis=axis)
    model.add_joint("contact", contact)
    rim = disc_arm(np.array([0, 1.0, 0]), radius, UP)
    return model, OnPlane(mass, inertia, GRAVITY, lambda R: rim(R) - R @ offset)


def ball(offset=(0.01, 0.02, -0.005), spin=(3, 5, 2)):
    """A ball whose centre of mass is not its centre, on an inclined plane through the origin."""
    radius, mass, offset = 0.1, 0.7, np.array(offset, dtype=float)
    inertia = np.diag([2.0e-3, 2.5e-3, 3.0e-3])
    normal = np.array([0.2, 0.1, 1]) / np.linalg.norm([0.2, 0.1, 1])
    centre = radius * normal + np.cross(normal, (1, 0, 0))
    model = ps.Model(gravity=GRAVITY)
    body = model.add_body(
        "body",
        ps.RigidBody(mass=mass, inertia=inertia),
        position=centre + offset,
        angular_velocity=spin,
    )
    plane = {"normal": normal, "centre": centre}
    model.add_joint("contact", ps.RollingSphere(model.ground, body, radius=radius, **plane))
    return model, OnPlane(mass, inertia, GRAVITY, lambda R: -radius * normal - R @ offset)


def sleigh(velocity=(2, 0, 0), spin=1.5, ahead=0.3):
    """Chaplygin's sleigh in the plane z = 0: the edge is `ahead` metres behind the centre."""
    mass, inertia = 2.0, np.diag([0.1, 0.2, 0.25])
    model = ps.Model()
    edge = np.array([-ahead, 0, 0])
    omega = np.array([0, 0, spin])
    body = model.add_body(
        "body",
        ps.RigidBody(mass=mass, inertia=inertia),
        position=(0, 0, 0),
        velocity=velocity - np.cross(omega, edge),
        angular_velocity=omega,
    )
    model.add_joint("plane", ps.Planar(model.ground, body, point=(0, 0, 0), normal=UP))
    model.add_joint("contact", ps.KnifeEdge(model.ground, body, point=edge, along=(1, 0, 0)))

    def directions(R):
        return (R @ (0, 1, 0))[None]

    return model, OnPlane(mass, inertia, np.zeros(3), lambda R: R @ edge, directions)


MODELS = {
    "coin": coin,
    "eccentric coin": lambda: coin(offset=(0.004, 0.003, -0.005)),
    "ball": ball,
    "sleigh": sleigh,
}


def slips(result, model):
    """Return e·v + t·omega of every contact over every step, from what the result shows."""
    h, worst = result.h, 0.0
    for joint in model.joints.values():
        contact = joint.contact()
        if contact is not None:
            body = joint.b
            R = result.rotation(body.name) @ body.principal.R_BP
            q = np.concatenate(
                [result.position(body.name), np.swapaxes(R, 1, 2).reshape(-1, 9)], axis=1
            )
            middle, moved = (q[1:] + q[:-1]) / 2, np.diff(q, axis=0) / h
            rates = [contact.B(m).T @ v for m, v in zip(middle, moved, strict=True)]
            worst = max(worst, float(np.max(np.abs(rates))))
    return worst
