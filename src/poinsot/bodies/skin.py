"""Surfaces of flexible bodies: what is drawn of them, and how it moves with their deformation."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from poinsot.bodies.meshes import Triangles
from poinsot.errors import InputError
from poinsot.inputs import numbers
from poinsot.ph.matrices import Array


@dataclass(frozen=True, eq=False)
class Skin:
    r"""The surface of a flexible body: its points are at :math:`x + \phi\, \eta` in its frame.

    Parameters
    ----------
    mesh : Triangles
        The surface without deformation; corners are counterclockwise seen from outside.
    modes : (n, 3, k)
        Displacements of its n vertices as multiples of the k unknowns of the deformation.
    """

    mesh: Triangles
    modes: Array

    def __post_init__(self) -> None:
        """Refuse modes of other points."""
        modes, n = numbers(self.modes, "surface: modes"), len(self.mesh.vertices)
        if modes.ndim != 3 or modes.shape[:2] != (n, 3) or not np.all(np.isfinite(modes)):
            raise InputError(
                f"surface: modes have shape {modes.shape}; give finite numbers, ({n}, 3, k)"
            )
        object.__setattr__(self, "modes", modes)

    def at_most(self, count: int) -> "Skin":
        """Return a coarser surface of at most so many triangles, on some of the points."""
        coarse = self.mesh.at_most(count)
        _, kept = cKDTree(self.mesh.vertices).query(coarse.vertices)
        return Skin(coarse, self.modes[kept])
