"""Elastic continua on meshes: mass, stiffness, stress and loads as matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu

from poinsot.elements.inertia import Pairs
from poinsot.elements.meshes import (
    VOIGT,
    boundary_basis,
    check_mesh,
    components,
    curved,
    displacement_basis,
    facets,
    rigid_motions,
    strains,
    values,
)
from poinsot.elements.products import pairs, scaled, square
from poinsot.elements.stress import StressField
from poinsot.errors import InputError
from poinsot.inputs import number, positive
from poinsot.ph.matrices import Array, Vector

#: Boundaries that are held, in all directions or in some: `"left"`, `{"bottom": "y"}`.
Held: TypeAlias = str | Sequence[str] | Mapping[str, str] | None
#: Rigid motions in the order of `ElasticMesh.rigid`, by the dimension of space.
_MOTIONS: Final = {
    1: ("move along x",),
    2: ("move along x", "move along y", "turn about z"),
    3: (*(f"move along {a}" for a in "xyz"), *(f"turn about {a}" for a in "xyz")),
}
#: Relative size of a rigid motion at what is held that counts as none.
_SINGULAR = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class ElasticMesh:
    r"""A linear elastic, isotropic body on a scikit-fem mesh.

    Displacement and velocity are continuous Lagrange fields. The stress is discontinuous, given by
    its values at Gauss points. With the strain :math:`B` there, the mixed method [BAPM21, eq. (29)]
    and the displacement method agree: :math:`K = D^\top C^{-1} D = \int B^\top \mathcal D B`.

    Parameters
    ----------
    mesh : skfem.Mesh
        Lines, triangles, quadrilaterals, tetrahedra or hexahedra [m], straight or curved.
    density : float
        Density [kg/m^3].
    youngs_modulus, poissons_ratio : float
        Young's modulus [Pa] and Poisson's ratio.
    held : str, sequence of str, mapping, or None
        Fixed boundaries of the mesh; as a mapping, with the fixed directions: `{"left": "xy",
        "bottom": "y"}`. None: the body is free.
    degree : {1, 2}
        Degree of the displacement polynomials; errors are of order degree + 1.
    plane : {"stress", "strain"}
        Plane stress or plane strain, for two-dimensional meshes.
    thickness : float
        Thickness of a plane body [m], or cross-section area of a bar [m^2].
    """

    mesh: Any
    density: float
    youngs_modulus: float
    poissons_ratio: float
    held: Held = None
    degree: int = 2
    plane: Literal["stress", "strain"] = "stress"
    thickness: float = 1.0
    #: Indices of the unknowns that are not fixed.
    free: NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no elastic body."""
        check_mesh(self.mesh)
        for name in ("density", "youngs_modulus", "thickness"):
            object.__setattr__(self, name, positive(getattr(self, name), f"elastic body: {name}"))
        nu = number(self.poissons_ratio, "elastic body: poissons_ratio")
        if not -1 < nu < 0.5:
            raise InputError(
                f"elastic body: poissons_ratio is {nu:g}; it must be above -1 and below 0.5"
            )
        if self.degree not in (1, 2):
            raise InputError(f"elastic body: degree is {self.degree!r}; it must be 1 or 2")
        if self.degree == 1 and curved(self.mesh):
            raise InputError("elastic body: the mesh has curved cells; use degree=2")
        if self.plane not in ("stress", "strain"):
            raise InputError(f"elastic body: plane is {self.plane!r}; give 'stress' or 'strain'")
        still = self._held_unknowns()
        object.__setattr__(self, "free", np.setdiff1d(np.arange(self.unknowns), still))
        if not self.free.size:
            raise InputError("elastic body: all unknowns are held; hold fewer boundaries")

    # -- unknowns --------------------------------------------------------------------------------

    @cached_property
    def basis(self) -> Any:
        """Displacement at the Gauss points, as a basis of scikit-fem."""
        return displacement_basis(self.mesh, self.degree)

    @property
    def dim(self) -> int:
        """Dimension of the mesh: 1, 2 or 3."""
        return int(self.mesh.dim())

    @property
    def unknowns(self) -> int:
        """Number n of displacement unknowns, including fixed ones."""
        return int(self.basis.N)

    @cached_property
    def directions(self) -> NDArray[np.intp]:
        """Direction of each unknown, 0 for x; (n,)."""
        return components(self.basis)

    @property
    def places(self) -> Array:
        """Position of each unknown [m]; (dim, n)."""
        return np.asarray(self.basis.doflocs)

    def _held_unknowns(self) -> NDArray[np.intp]:
        axes = "xyz"[: self.dim]
        held = self.held
        if held is None:
            return np.zeros(0, dtype=np.intp)
        if isinstance(held, str):
            held = (held,)
        by_name = held if isinstance(held, Mapping) else dict.fromkeys(held, axes)
        still = []
        for boundary, directions in by_name.items():
            wrong = set(directions) - set(axes)
            if wrong or not directions:
                raise InputError(
                    f"elastic body: '{boundary}' is held in {directions!r}; give directions from "
                    f"'{axes}'"
                )
            unknowns = self.unknowns_on(boundary)
            fixed = [axes.index(letter) for letter in directions]
            still.append(unknowns[np.isin(self.directions[unknowns], fixed)])
        return np.unique(np.concatenate(still)) if still else np.zeros(0, dtype=np.intp)

    def unknowns_on(self, boundary: str) -> NDArray[np.intp]:
        """Return the indices of the unknowns of a named boundary, including fixed ones."""
        found = facets(self.mesh, boundary)
        return np.unique(self.basis.get_dofs(facets=found).flatten()).astype(np.intp)

    def interpolate(self, function: Callable[[Array], ArrayLike]) -> Vector:
        """Return all unknowns of a vector field, a function of positions (dim, n) [m]; (n,)."""
        at_places = np.asarray(function(self.places), dtype=float)
        if at_places.shape != self.places.shape:
            raise InputError(
                f"the field has shape {at_places.shape}, expected {self.places.shape}, one vector "
                "for each position"
            )
        return np.asarray(at_places[self.directions, np.arange(self.unknowns)])

    def whole(self, free: ArrayLike) -> Vector:
        """Return all unknowns from the free ones; fixed ones are zero; (..., n)."""
        given = np.asarray(free, dtype=float)
        everything = np.zeros((*given.shape[:-1], self.unknowns))
        everything[..., self.free] = given
        return everything

    def on_nodes(self, free: ArrayLike) -> Array:
        """Return a vector field at the nodes of the mesh, from free unknowns; (..., dim, nodes)."""
        return np.asarray(self.whole(free)[..., self.basis.nodal_dofs])

    # -- inertia ---------------------------------------------------------------------------------

    @cached_property
    def _masses(self) -> tuple[Vector, tuple[sp.csr_array, ...]]:
        """Masses of points, and the components of displacement there; (points,), (points, n)."""
        order = 2 * self.degree + (not self.mesh.affine)
        basis = displacement_basis(self.mesh, self.degree, intorder=order)
        return self.density * self.thickness * basis.dx.ravel(), values(basis)

    @cached_property
    def M(self) -> sp.csr_array:
        """Consistent mass matrix of all unknowns; (n, n)."""
        masses, fields = self._masses
        return sum(
            (square(masses, N_a) for N_a in fields), sp.csr_array((self.unknowns, self.unknowns))
        )

    @property
    def rigid(self) -> Array:
        """Unknowns of rigid motions about the origin: translations, then small rotations.

        Shape (n, 1), (n, 3) or (n, 6), depending on the dimension; K @ rigid = 0.
        """
        return rigid_motions(self.places, self.directions)

    def pairs(self) -> Pairs:
        """Return M_ab for each pair of directions; see `MassIntegrals`."""
        return pairs(*self._masses)

    # -- elasticity ------------------------------------------------------------------------------

    @cached_property
    def compliance(self) -> Array:
        """Strain of unit stress [1/Pa], components in the order xx, yy, zz, yz, xz, xy."""
        E, nu = self.youngs_modulus, self.poissons_ratio
        S = np.zeros((6, 6))
        S[:3, :3] = ((1 + nu) * np.eye(3) - nu) / E
        S[3:, 3:] = np.eye(3) * 2 * (1 + nu) / E
        if self.dim == 1:
            return S[:1, :1]
        if self.dim == 2:
            inside = np.ix_((0, 1, 5), (0, 1, 5))
            return S[inside] if self.plane == "stress" else np.linalg.inv(np.linalg.inv(S)[inside])
        return S

    @cached_property
    def strain(self) -> sp.csr_array:
        """Strain at the Gauss points, all components of a point together, as a matrix of u."""
        return strains(self.basis)

    @property
    def _volumes(self) -> Vector:
        return np.asarray(self.thickness * self.basis.dx.ravel())

    @cached_property
    def stress(self) -> StressField:
        """Stress [Pa] at the Gauss points as a field of its own: C sigma = D u [BAPM21, eq. (29)].

        Components of a point together: xx; xx, yy, xy; or xx, yy, zz, yz, xz, xy. C has a block for
        each point.
        """
        weights = np.repeat(self._volumes, len(VOIGT[self.dim]))
        C, inverse = (
            sp.csr_array(sp.kron(sp.diags_array(at_points), material))
            for at_points, material in (
                (self._volumes, self.compliance),
                (1 / self._volumes, np.linalg.inv(self.compliance)),
            )
        )
        return StressField.of({"stress": weights.size}, C, scaled(weights, self.strain), inverse)

    def stress_of(self, free: ArrayLike) -> Vector:
        """Return the stress at the Gauss points for a displacement [Pa]; (stress,)."""
        return np.asarray(self.stress.recovery @ self.whole(free))

    @cached_property
    def K(self) -> sp.csr_array:
        """Stiffness matrix of all unknowns; (n, n)."""
        return self.stress.stiffness

    def require_support(self, what: str) -> None:
        """Raise `InputError` if the body can move rigidly [BAPM21, rem. 6]."""
        still = np.setdiff1d(np.arange(self.unknowns), self.free)
        places = self.places - self.places.mean(axis=1, keepdims=True)
        R = rigid_motions(places / abs(places).max(), self.directions)
        rows = np.vstack([np.zeros((R.shape[1], R.shape[1])), R[still]])
        _, size, motions = np.linalg.svd(rows, full_matrices=False)
        rank = int(np.sum(size > _SINGULAR * size[0]))
        if rank < R.shape[1]:
            free = _MOTIONS[self.dim][int(np.argmax(abs(motions[rank])))]
            raise InputError(
                f"{what}: the body can still {free} rigidly; hold more boundaries, for example "
                "held='left'"
            )

    def displacement(self, stress: ArrayLike) -> Vector:
        """Return the free unknowns of the displacement for a stress field.

        Solves K u = D^T sigma for one field or many; (..., stress) to (..., free). Raises
        `InputError` for an unsupported body, whose displacement is not unique.
        """
        self.require_support("displacement from stress")
        sigma = np.asarray(stress, dtype=float)
        load = (sigma.reshape(-1, sigma.shape[-1]) @ self.stress.D)[:, self.free]
        return np.asarray(self._solver.solve(load.T).T.reshape(*sigma.shape[:-1], -1))

    @cached_property
    def _solver(self) -> Any:
        return splu(sp.csc_array(self.K[self.free][:, self.free]))

    # -- loads -----------------------------------------------------------------------------------

    def surface(self, boundary: str) -> sp.csr_array:
        """Return the boundary mass, integrals of products of two fields over a boundary.

        Shape (n, unknowns on the boundary), in m^2, including the thickness.
        """
        basis = boundary_basis(self.mesh, self.degree, boundary)
        areas = self.thickness * basis.dx.ravel()
        total = sum(
            (square(areas, N_a) for N_a in values(basis)),
            sp.csr_array((self.unknowns, self.unknowns)),
        )
        return sp.csr_array(total[:, self.unknowns_on(boundary)])

    def volume(self) -> sp.csr_array:
        """Return integrals of products of two fields over the body; (n, n), in m^3."""
        return sp.csr_array(self.M / self.density)
