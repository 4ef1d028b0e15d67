"""A chain of N bars, straight and level at the start, turning about the vertical.

The bars are 1 m x 0.1 m x 0.1 m and weigh 1 kg. All joints are spherical, or revolute about axes
that alternate between vertical and level, so that the motion is spatial either way. The whole chain
turns at 1 rad/s, or slower where it is long: its tip moves at 16 m/s at most.
"""

import numpy as np

from benchmarks.mechanism import GROUND, Body, Joint, Mechanism, box_inertia, spun

MASS = 1.0  # kg
SIZE = (1.0, 0.1, 0.1)  # m
TIP_SPEED = 16.0  # m/s


def chain(count: int, kind: str = "spherical") -> Mechanism:
    """Return a chain of bars on spherical or revolute joints, hung on the ground at the origin."""
    inertia, axes = box_inertia(MASS, SIZE), (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    bars = [Body(f"bar{i}", MASS, inertia, np.array([i + 0.5, 0.0, 0.0])) for i in range(count)]
    names = [GROUND, *(bar.name for bar in bars)]
    joints = [
        Joint(
            name=f"joint{i}",
            kind=kind,
            a=names[i],
            b=names[i + 1],
            point=np.array([float(i), 0.0, 0.0]),
            axis=axes[i % 2],
        )
        for i in range(count)
    ]
    omega = (0.0, 0.0, min(1.0, TIP_SPEED / count))
    return Mechanism(f"chain-{kind}-{count}", spun(bars, omega), tuple(joints))
