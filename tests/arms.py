"""Arms and linkages on hinges, whose kinematics are known in closed form."""

from itertools import pairwise

import numpy as np

import poinsot as ps

G = 9.81
LENGTHS, MASSES, WIDTH = (0.8, 0.6), (3.0, 2.0), 0.05


def two_link_arm(**parts):
    """Two bars in the plane xz, straight along x at the start; angles turn upwards."""
    model = ps.Model(gravity=(0, 0, -G), name="arm")
    parent, at = model.ground, 0.0
    for name, link, length, mass in zip(
        ("shoulder", "elbow"), ("upper", "lower"), LENGTHS, MASSES, strict=True
    ):
        box = ps.Box(mass=mass, size=(length, WIDTH, WIDTH))
        body = model.add_body(link, box, position=(at + length / 2, 0, 0))
        model.add_joint(name, ps.Revolute(parent, body, point=(at, 0, 0), axis=(0, -1, 0)))
        parent, at = body, at + length
    model.add_marker("tip", parent, position=(at, 0, 0))
    for name, part in parts.items():
        model.add_port(name, part)
    return model


def two_link_torques(q, rate, acceleration):
    """The torques of any textbook."""
    (l1, _), (m1, m2) = LENGTHS, MASSES
    I1, I2 = (m * (length**2 + WIDTH**2) / 12 for m, length in zip(MASSES, LENGTHS, strict=True))
    a, b = (length / 2 for length in LENGTHS)
    (q1, q2), (w1, w2), (e1, e2) = q, rate, acceleration
    M11 = I1 + I2 + m1 * a**2 + m2 * (l1**2 + b**2 + 2 * l1 * b * np.cos(q2))
    M12, M22 = I2 + m2 * (b**2 + l1 * b * np.cos(q2)), I2 + m2 * b**2
    c, far = m2 * l1 * b * np.sin(q2), G * m2 * b * np.cos(q1 + q2)
    near = G * (m1 * a + m2 * l1) * np.cos(q1)
    first = M11 * e1 + M12 * e2 - c * (2 * w1 * w2 + w2**2) + near + far
    return np.array([first, M12 * e1 + M22 * e2 + c * w1**2 + far])


def four_bar(masses=(1.0, 2.0, 1.5), **forces):
    """A four-bar on hinges along y, three of whose constraints repeat others."""
    points = np.array([(0, 0, 0), (0, 0, 0.3), (0.9, 0, 0.6), (1.0, 0, 0)], dtype=float)
    model = ps.Model(gravity=(0, 0, -G), name="four-bar")
    bars = []
    for k, mass in enumerate(masses):
        along = points[k + 1] - points[k]
        turn = ps.Rotation.from_axis_angle((0, 1, 0), -np.arctan2(along[2], along[0]))
        box = ps.Box(mass=mass, size=(np.linalg.norm(along), 0.02, 0.02))
        middle = (points[k] + points[k + 1]) / 2
        bars.append(model.add_body(f"bar {k}", box, position=middle, rotation=turn))
    for k, (a, b) in enumerate(pairwise([model.ground, *bars, model.ground])):
        model.add_joint(f"hinge {k}", ps.Revolute(a, b, point=points[k], axis=(0, 1, 0)))
    model.add_marker("coupler", bars[1], position=(0.5, 0.1, 0.8))
    for name, force in forces.items():
        model.add_force(name, force)
    return model
