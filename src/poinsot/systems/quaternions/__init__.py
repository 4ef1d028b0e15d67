"""Mechanisms with rotations by unit quaternions, scalar first."""

from poinsot.systems.quaternions.systems import (
    QuaternionForm,
    QuaternionHamiltonian,
    QuaternionSystem,
    quaternion_system,
)

__all__ = ["QuaternionForm", "QuaternionHamiltonian", "QuaternionSystem", "quaternion_system"]
