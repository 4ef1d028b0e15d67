"""A random tree of bars: every bar hangs on the end of an earlier one.

Most of the time a bar continues one of the last few bars, which makes long branches, else it starts
a new branch anywhere. Half of the joints are spherical, half revolute about a random axis. The
whole tree starts to turn about the vertical at 1 rad/s.
"""

import numpy as np

from benchmarks.mechanism import (
    GROUND,
    Array,
    Body,
    Joint,
    Mechanism,
    box_inertia,
    frame_along,
    spun,
)

MASS = 1.0  # kg
SIZE = (1.0, 0.1, 0.1)  # m
SEED = 1804  # Poinsot's Mémoire appeared that year


def random_tree(count: int) -> Mechanism:
    """Return a tree of bars; the first one hangs on a spherical joint at the origin."""
    random = np.random.default_rng(SEED)

    def direction() -> Array:
        vector = random.normal(size=3)
        return vector / np.linalg.norm(vector)

    bars: list[Body] = []
    joints: list[Joint] = []
    ends = [np.zeros(3)]
    names = [GROUND]
    for i in range(count):
        oldest = 0 if random.random() < 0.3 else max(0, i - 5)
        parent = int(random.integers(oldest, i)) + 1 if i else 0
        along = direction()
        start, end = ends[parent], ends[parent] + SIZE[0] * along
        bars.append(
            Body(
                name=f"bar{i}",
                mass=MASS,
                inertia=box_inertia(MASS, SIZE),
                position=(start + end) / 2,
                rotation=frame_along(along),
            )
        )
        ends.append(end)
        names.append(f"bar{i}")
        kind = "spherical" if i == 0 or random.random() < 0.5 else "revolute"
        axis = direction() if kind == "revolute" else np.zeros(3)
        joints.append(Joint(f"joint{i}", kind, names[parent], f"bar{i}", start, axis=axis))
    return Mechanism(f"tree-{count}", spun(bars, (0.0, 0.0, 1.0)), tuple(joints))
