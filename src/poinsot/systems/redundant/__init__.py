"""Rigid mechanical systems in redundant coordinates, velocities of their own kind [BHRS25]."""

from poinsot.systems.redundant.relations import Relations
from poinsot.systems.redundant.system import RedundantSystem

__all__ = ["RedundantSystem", "Relations"]
