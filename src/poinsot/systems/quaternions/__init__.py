"""Mechanisms with rotations by unit quaternions, scalar first."""
