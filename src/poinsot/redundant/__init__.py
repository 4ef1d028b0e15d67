"""Rigid mechanical systems in redundant coordinates, velocities of their own kind [BHRS25]."""

from poinsot.redundant.relations import Relations
from poinsot.redundant.system import RedundantSystem

__all__ = ["RedundantSystem", "Relations"]
