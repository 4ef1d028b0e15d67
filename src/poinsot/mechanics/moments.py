"""Masses and principal moments of inertia of the bodies of a mechanism."""

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.mechanism import Mechanism

Array = NDArray[np.float64]

#: Least moment of inertia, as a part of the greatest one of the body. That of a thin rod about its
#: axis is none, while Newton's method divides by it.
THIN = 1e-5


def masses(mechanism: Mechanism) -> Array:
    """Return the mass of every body [kg]; (bodies,)."""
    return mechanism.mass.reshape(-1, 4, 3)[:, 0, 0]


def moments(mechanism: Mechanism) -> Array:
    """Return principal moments of inertia [kg m^2], none below `THIN`; (bodies, 3)."""
    euler = mechanism.mass.reshape(-1, 4, 3)[:, 1:, 0]
    inertia = euler.sum(axis=1, keepdims=True) - euler
    return np.asarray(np.maximum(inertia, THIN * inertia.max(axis=1, keepdims=True)))
