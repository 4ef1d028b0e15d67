"""Mechanisms with velocities in body axes; rotations by matrices, quaternions or Euler angles."""

from poinsot.frames.parametrisations import PARAMETRISATIONS
from poinsot.systems.rotations.system import RotationSystem, rotation_system

__all__ = ["PARAMETRISATIONS", "RotationSystem", "rotation_system"]
