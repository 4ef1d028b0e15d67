r"""Triangle meshes, and rigid bodies with the mass properties of the volume that they enclose.

Integrals over the volume of a closed surface are sums over tetrahedra on its triangles:

.. math:: V = \tfrac16 \sum \det(a, b, c), \qquad
          \int x x^\top dV = \sum \frac{\det(a, b, c)}{120}
          \bigl(a a^\top + b b^\top + c c^\top + (a + b + c)(a + b + c)^\top\bigr) .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.shapes import Solid
from poinsot.errors import InputError, optional

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Triangles:
    """A triangle mesh: `vertices` (n, 3) [m], and `faces` (m, 3) as indices of vertices."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.intp]

    def __post_init__(self) -> None:
        """Check shapes and indices."""
        vertices, faces = np.array(self.vertices, dtype=float), np.array(self.faces, dtype=np.intp)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.all(np.isfinite(vertices)):
            raise InputError(
                f"mesh: vertices must be finite numbers of shape (n, 3), got shape {vertices.shape}"
            )
        if faces.ndim != 2 or faces.shape[1] != 3 or not faces.size:
            raise InputError(
                f"mesh: faces must be indices of shape (m, 3), got shape {faces.shape}"
            )
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise InputError(
                f"mesh: faces must be indices of vertices, from 0 to {len(vertices) - 1} only"
            )
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    def at_most(self, count: int) -> Triangles:
        """Return a coarser mesh with at most `count` triangles, by merging nearby vertices."""
        found, cells = self.merged(0.0), 256.0
        size = float(np.ptp(self.vertices, axis=0).max())
        while len(found.faces) > count and size > 0 and cells > 1:
            found = min(found, self.merged(size / cells), key=lambda mesh: len(mesh.faces))
            cells /= 1.25
        return found

    def merged(self, size: float) -> Triangles:
        """Return the mesh with the vertices in each grid cell merged.

        `size` is the edge length of the cells [m]; 0 merges vertices that coincide.
        """
        keys = np.round(self.vertices / size) if size else self.vertices
        _, first, own = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        faces = own.reshape(-1)[self.faces]
        a, b, c = faces.T
        whole = faces[(a != b) & (b != c) & (c != a)]
        faces = np.unique(whole, axis=0) if size else whole
        return Triangles(self.vertices[first], faces) if len(faces) else self


def load_mesh(path: str | Path, scale: ArrayLike = 1.0) -> tuple[Triangles, str | None]:
    """Return the mesh of a file and its colour, if it has one; needs `poinsot[robots]`."""
    trimesh = optional("trimesh", "robots")
    if not Path(path).is_file():
        raise InputError(f"mesh '{path}': there is no such file")
    try:
        mesh: Any = trimesh.load(path, force="mesh", process=False)
    except ImportError as error:
        raise InputError(f"mesh '{path}': {error}") from None
    except Exception as error:  # whatever a parser of somebody else's files raises
        raise InputError(f"mesh '{path}' cannot be read: {type(error).__name__}: {error}") from None
    if not len(getattr(mesh, "faces", ())):
        raise InputError(f"mesh '{path}': it contains no triangles")
    colour = getattr(mesh.visual, "main_color", None) if mesh.visual.kind else None
    text = None if colour is None else "#" + "".join(f"{int(part):02x}" for part in colour[:3])
    return Triangles(mesh.vertices * np.asarray(scale, dtype=float), mesh.faces), text


@dataclass(frozen=True, kw_only=True)
class Mesh(Solid):
    """A homogeneous rigid body with the volume of a closed mesh, given by `mass` or `density`.

    The position of the body in a model is that of its centre of mass; its axes are those of the
    mesh. `origin` is the origin of the mesh relative to the centre of mass [m].

    Parameters
    ----------
    surface : Triangles
        Closed surface with outward normals; `Mesh.load` reads one from a file.
    mass, density : float
        Mass [kg] or density [kg/m^3]; give exactly one.
    """

    surface: Triangles

    def _check_sizes(self) -> None:
        """Raise `InputError` if the surface is not closed or encloses no volume."""
        if not isinstance(self.surface, Triangles):
            raise InputError(f"Mesh: surface: expected Triangles, got {self.surface!r}")
        open_edges = _open_edges(self.surface.merged(0.0).faces)
        if open_edges:
            raise InputError(
                f"Mesh: the surface is not closed, or its triangles do not all face outwards: "
                f"{open_edges} of its edges have no opposite edge; repair the mesh, or use a "
                "RigidBody with this mesh as a Look"
            )
        if not self.volume > 0:
            raise InputError(
                "Mesh: the surface encloses no volume; give a closed mesh with a thickness"
            )

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        scale: ArrayLike = 1.0,
        mass: float | None = None,
        density: float | None = None,
    ) -> Mesh:
        """Read a mesh file (STL, OBJ, glTF, ...) as a rigid body; needs `poinsot[robots]`.

        `scale` is one factor, or one for each axis, such as 1e-3 for a file in millimetres.
        """
        given = {"mass": mass, "density": density}
        known = {label: value for label, value in given.items() if value is not None}
        return cls(surface=load_mesh(path, scale)[0], **known)

    @cached_property
    def _tetrahedra(self) -> tuple[Array, Array]:
        """Six times the volumes of tetrahedra from the mean vertex, and their corners (m, 3, 3)."""
        corners = self.surface.vertices[self.surface.faces] - self._middle
        return np.linalg.det(corners), corners

    @property
    def _middle(self) -> Array:
        return np.asarray(self.surface.vertices.mean(axis=0))

    @property
    def volume(self) -> float:
        """Enclosed volume [m^3]."""
        return abs(float(self._tetrahedra[0].sum())) / 6

    @property
    def origin(self) -> Array:
        """Origin of the mesh relative to the centre of mass [m]; (3,)."""
        sixfold, corners = self._tetrahedra
        centre = np.einsum("m,mij->j", sixfold, corners) / (4 * sixfold.sum())
        return np.asarray(-(self._middle + centre))

    @property
    def second_moments(self) -> tuple[float, float, float]:
        """Mean squares of x, y, z about the centre of mass [m^2]."""
        x, y, z = (np.diag(self.euler_B) / self.mass).tolist()
        return x, y, z

    @cached_property
    def _mean_products(self) -> Array:
        sixfold, corners = self._tetrahedra
        sums = corners.sum(axis=1)
        products = np.einsum("m,mki,mkj->ij", sixfold, corners, corners)
        products += np.einsum("m,mi,mj->ij", sixfold, sums, sums)
        centre = -self.origin - self._middle
        means = products / (20 * sixfold.sum()) - np.outer(centre, centre)
        return np.asarray((means + means.T) / 2)

    @property
    def euler_B(self) -> Array:
        """Euler tensor about the centre of mass [kg m^2]; (3, 3)."""
        return np.asarray(self.mass * self._mean_products)


def _open_edges(faces: NDArray[np.intp]) -> int:
    """Return the number of directed edges without an opposite edge."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = int(edges.max()) + 1
    along, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    keys, times = np.unique(along, return_counts=True)
    there = dict(zip(keys.tolist(), times.tolist(), strict=True))
    keys, times = np.unique(back, return_counts=True)
    pairs = zip(keys.tolist(), times.tolist(), strict=True)
    return sum(abs(times - there.get(key, 0)) for key, times in pairs)
