"""What a kind of system shows besides its states: bodies, joints, momenta."""

from functools import singledispatch

import numpy as np

from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result import Observation


@singledispatch
def observe(
    system: PHSystem, x: Vector, stage_time: Vector, stage_x: Vector, turned: Vector
) -> Observation:
    """Return what there is to see in saved states (times, n) and midpoint states (steps, n).

    `turned` (times, angles) are the angles of `angles`, followed over every step.
    """
    return Observation()


@singledispatch
def angles(system: PHSystem, x: Vector) -> Vector:
    """Return the angles [rad] to be followed over turns, each in (-pi, pi]; none by default."""
    return np.zeros(0)
