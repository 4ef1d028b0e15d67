"""A run: the time loop, what it records, and the file that it may be written to."""

from poinsot.run.simulate import simulate

__all__ = ["simulate"]
