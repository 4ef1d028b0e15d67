"""Mechanisms with rotations by unit quaternions, scalar first."""

from poinsot.mechanics.quaternions import observe
from poinsot.mechanics.quaternions.systems import (
    QuaternionForm,
    QuaternionHamiltonian,
    QuaternionSystem,
    quaternion_system,
)

__all__ = [
    "QuaternionForm",
    "QuaternionHamiltonian",
    "QuaternionSystem",
    "observe",
    "quaternion_system",
]
