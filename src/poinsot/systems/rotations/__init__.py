"""Mechanisms with velocities in body axes; rotations by matrices, quaternions or Euler angles."""
