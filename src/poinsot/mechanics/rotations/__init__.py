"""Mechanisms with velocities in body axes; rotations by matrices, quaternions or Euler angles."""

from poinsot.mechanics.rotations.parametrisations import PARAMETRISATIONS
from poinsot.mechanics.rotations.system import RotationSystem, rotation_system

__all__ = ["PARAMETRISATIONS", "RotationSystem", "rotation_system"]
