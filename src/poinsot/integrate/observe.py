"""What a kind of system shows besides its states: bodies, joints, momenta."""

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from poinsot.integrate.history import History
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result import Observation


@singledispatch
def observe(system: PHSystem, history: History) -> Observation:
    """Return what there is to see in the saved states; what takes time, when it is asked for."""
    return Observation()


@singledispatch
def angles(system: PHSystem, x: Vector) -> Vector:
    """Return the angles [rad] to be followed over turns, each in (-pi, pi]; none by default."""
    return np.zeros(0)


@singledispatch
def surveyor(system: PHSystem) -> Callable[[History], Observation]:
    """Return what does the same as `observe`, for those who want to see everything."""
    return lambda history: observe(system, history)
