"""What a kind of system shows besides its states: bodies, joints, momenta."""

from functools import singledispatch

from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result import Observation


@singledispatch
def observe(system: PHSystem, x: Vector, stage_time: Vector, stage_x: Vector) -> Observation:
    """Return what there is to see in saved states (times, n) and midpoint states (steps, n)."""
    return Observation()
