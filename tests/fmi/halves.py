"""A pendulum split in two: a bar on a hinge, and another one behind an elastic coupling."""

import numpy as np

import poinsot as ps

STIFFNESS = 40.0  # N m/rad
BAR = ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))
DISC = ps.Cylinder(mass=0.1, radius=0.1, length=0.02)
SHORT = ps.Box(mass=1.0, size=(0.5, 0.1, 0.1))


def first():
    """Return the half that takes a torque and shows its rate."""
    model = ps.Model(gravity=(0, 0, -9.81), name="first half")
    bar = model.add_body("bar", BAR, position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("shaft", ps.JointPort("hinge"))
    model.add_sensor("angle", "hinge")
    return model


def second():
    """Return the half that takes a rate and shows the torque that this needs."""
    model = ps.Model(gravity=(0, 0, -9.81), name="second half")
    add_second(model, model.ground)
    model.add_joint(
        "hinge",
        ps.Revolute(model.ground, model.bodies["disc"], point=(0, 0, 0), axis=(0, 1, 0)),
    )
    model.add_port("shaft", ps.Drive("hinge", rate=0.0))
    return model


def add_second(model, ground):
    turned = ps.Rotation.from_axis_angle((1, 0, 0), np.pi / 2)
    disc = model.add_body("disc", DISC, rotation=turned)
    other = model.add_body("other", SHORT, position=(0.25, 0, 0))
    model.add_joint("bearing", ps.Revolute(ground, other, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("coupling", ps.Revolute(disc, other, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_force("spring", ps.JointSpring("coupling", stiffness=STIFFNESS))
