"""A cubic lattice of bars on spherical joints, hanging from the ground: many loops, much fill-in.

The knots are the points of an n x n x n grid; a bar runs along every edge, and one more hangs every
knot of the top layer on the ground. At a knot, all bars are joined to the first of them. A straight
line of bars has one free end at least, so that it carries no stress of its own: the joints are
independent. Shear is free, and the lattice starts to turn about the vertical at 1 rad/s.
"""

from itertools import product

import numpy as np

from benchmarks.mechanism import GROUND, Array, Body, Joint, Mechanism, box_inertia, frame_along

MASS = 1.0  # kg
SIZE = (1.0, 0.05, 0.05)  # m
SPIN = np.array([0.0, 0.0, 1.0])  # rad/s

Knot = tuple[int, int, int]


def lattice(n: int) -> Mechanism:
    """Return the lattice of n^3 knots, its vertical axis through the origin, its top at z = 0."""
    plan = list(product(range(n), repeat=2))
    # From the top downwards, and level bars last: every bar finds something to hang on.
    edges: list[tuple[Knot, Knot]] = [
        *(((i, j, k + 1), (i, j, k)) for k in reversed(range(n)) for i, j in plan),
        *(((i, j, k), (i + 1, j, k)) for i, j in plan for k in range(n) if i + 1 < n),
        *(((i, j, k), (i, j + 1, k)) for i, j in plan for k in range(n) if j + 1 < n),
    ]
    origin = np.array([(n - 1) / 2, (n - 1) / 2, n])
    bars: list[Body] = []
    joints: list[Joint] = []
    first: dict[Knot, str] = {(i, j, n): GROUND for i, j in plan}
    for edge in edges:
        name = "bar{}{}{}-{}{}{}".format(*edge[0], *edge[1])
        start, end = (np.array(knot) - origin for knot in edge)
        bars.append(_bar(name, start, end))
        for knot, point in zip(edge, (start, end), strict=True):
            if knot in first:
                label = "{}@{}{}{}".format(name, *knot)
                joints.append(Joint(label, "spherical", first[knot], name, point))
            first.setdefault(knot, name)
    return Mechanism(f"lattice-{n}", tuple(bars), tuple(joints))


def _bar(name: str, start: Array, end: Array) -> Body:
    """Return a bar whose ends move with the turning lattice; those at z = 0 are on the ground."""
    speeds = [np.cross(SPIN, point) if point[2] < 0 else np.zeros(3) for point in (start, end)]
    along = (end - start) / SIZE[0]
    return Body(
        name=name,
        mass=MASS,
        inertia=box_inertia(MASS, SIZE),
        position=(start + end) / 2,
        rotation=frame_along(along),
        velocity=(speeds[0] + speeds[1]) / 2,
        angular_velocity=np.cross(along, speeds[1] - speeds[0]) / SIZE[0],
    )
