"""Motions of joint coordinates: positions, velocities, and the forces that they need."""
