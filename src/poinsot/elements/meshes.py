"""Scikit-fem meshes as spaces of displacements: bases, fields at points, and checks."""

from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.matrices import Array

#: Lagrange elements of degree 1 and 2 by the cell of the mesh, as scikit-fem names them.
_ELEMENTS: Final = {
    "RefLine": ("ElementLineP1", "ElementLineP2"),
    "RefTri": ("ElementTriP1", "ElementTriP2"),
    "RefQuad": ("ElementQuad1", "ElementQuad2"),
    "RefTet": ("ElementTetP1", "ElementTetP2"),
    "RefHex": ("ElementHex1", "ElementHex2"),
}
#: Pairs of directions of the components of a symmetric tensor, by the dimension of space.
VOIGT: Final = {
    1: ((0, 0),),
    2: ((0, 0), (1, 1), (0, 1)),
    3: ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)),
}
#: A cell whose volume is so small a part of that of a box around it is flat.
_FLAT = 1e-12


def check_mesh(mesh: Any) -> None:
    """Refuse what is no mesh of scikit-fem, flat cells, and cells that are folded over."""
    import skfem

    if not isinstance(mesh, skfem.Mesh):
        raise InputError(f"expected a scikit-fem mesh, such as skfem.MeshTri(), got {mesh!r}")
    if _cell(mesh) not in _ELEMENTS:
        raise InputError(
            f"no elements for a mesh of {type(mesh).__name__}; use lines, triangles, "
            "quadrilaterals, tetrahedra or hexahedra"
        )
    corners = mesh.p[:, mesh.t]
    with np.errstate(all="ignore"):  # scikit-fem divides by the volumes that are looked at here
        points = displacement_basis(mesh, 1).X
        det = np.reshape(mesh.mapping().detDF(points), (mesh.t.shape[1], -1))
    box = np.ptp(corners, axis=1).max(axis=0) ** mesh.dim()
    low, high = det.min(axis=1), det.max(axis=1)
    flat = np.flatnonzero(~(np.minimum(abs(low), abs(high)) > _FLAT * box))
    if flat.size:
        raise InputError(f"mesh: cell {flat[0]} has no volume; {_where(corners, flat[0])}")
    folded = np.flatnonzero(low * high < 0)
    if folded.size:
        raise InputError(f"mesh: cell {folded[0]} is inverted; {_where(corners, folded[0])}")
    _check_neighbours(mesh, corners)


def _check_neighbours(mesh: Any, corners: Array) -> None:
    """Refuse two cells that lie on the same side of the facet between them."""
    inside = np.flatnonzero(mesh.f2t[1] >= 0)
    points = mesh.p[:, mesh.facets[: mesh.dim(), inside]]
    start, middles = points[:, 0], corners.mean(axis=1)
    edges = [points[:, k] - start for k in range(1, mesh.dim())]
    one, other = (
        np.linalg.det(np.array([*edges, middles[:, mesh.f2t[side, inside]] - start]).T)
        for side in (0, 1)
    )
    overlapping = np.flatnonzero(one * other >= 0)
    if overlapping.size:
        cells = mesh.f2t[:, inside[overlapping[0]]]
        raise InputError(
            f"mesh: cells {cells[0]} and {cells[1]} are on the same side of their common facet: "
            f"one is inverted; {_where(corners, cells[1])}"
        )


def _where(corners: Array, cell: int) -> str:
    """Return where a cell is, and what to do."""
    place = ", ".join(f"{x:.6g}" for x in corners[:, :, cell].mean(axis=1))
    return f"move the nodes around ({place})"


def _cell(mesh: Any) -> str:
    return str(mesh.refdom.__name__)


def curved(mesh: Any) -> bool:
    """Return whether cells of a mesh may be curved."""
    return str(mesh.elem.__name__) != _ELEMENTS[_cell(mesh)][0]


def displacement_basis(mesh: Any, degree: int, *, intorder: int | None = None) -> Any:
    """Return scikit-fem's basis of Lagrange vector fields of a degree.

    Without an order of integration, at the points at which stress is taken: Gauss points at which
    a discontinuous polynomial field has its values, one degree below displacements on simplices
    and of their degree on quadrilaterals and hexahedra. They integrate products of two such
    fields exactly, if cells are not curved.
    """
    import skfem

    element = skfem.ElementVector(getattr(skfem, _ELEMENTS[_cell(mesh)][degree - 1])())
    if intorder is not None:
        return skfem.Basis(mesh, element, intorder=intorder)
    if _cell(mesh) in ("RefQuad", "RefHex"):
        return skfem.Basis(mesh, element, intorder=2 * degree + 1)
    if degree > 1:
        return skfem.Basis(mesh, element, intorder=2)
    dim = mesh.dim()
    middle = np.full((dim, 1), 1 / (dim + 1))
    volume = np.array([1 / (1, 1, 2, 6)[dim]])
    return skfem.Basis(mesh, element, quadrature=(middle, volume))


def boundary_basis(mesh: Any, degree: int, boundary: str) -> Any:
    """Return the basis of displacements on a named boundary."""
    import skfem

    element = skfem.ElementVector(getattr(skfem, _ELEMENTS[_cell(mesh)][degree - 1])())
    return skfem.FacetBasis(mesh, element, facets=facets(mesh, boundary), intorder=2 * degree)


def facets(mesh: Any, boundary: str) -> NDArray[np.intp]:
    """Return the facets of a named boundary."""
    known = mesh.boundaries or {}
    if not isinstance(boundary, str) or boundary not in known:
        hint = did_you_mean(str(boundary), known)
        raise InputError(
            f"the mesh has no boundary {boundary!r}; {hint}"
            + ("" if known else "; name one by mesh.with_boundaries({'left': lambda x: x[0] == 0})")
        )
    found = np.asarray(known[boundary], dtype=np.intp)
    if not found.size:
        raise InputError(
            f"the boundary '{boundary}' of the mesh has no facets; check its definition"
        )
    return found


def surface(mesh: Any) -> NDArray[np.intp]:
    """Return the triangles of the outside of a mesh in space, as numbers of its nodes; (m, 3).

    Corners are counterclockwise seen from outside; sides of hexahedra are two triangles each.
    """
    outside = mesh.boundary_facets()
    nodes = mesh.facets[:, outside].T
    corners = mesh.p.T[nodes]
    middle = corners.mean(axis=1, keepdims=True)
    outward = middle[:, 0] - mesh.p[:, mesh.t[:, mesh.f2t[0, outside]]].mean(axis=1).T
    # Corners of a side come in any order: they are sorted by their angles about its middle.
    arm = corners - middle
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal *= np.sign(np.sum(normal * outward, axis=1, keepdims=True))
    aside = np.cross(normal, arm[:, 0])
    angle = np.arctan2(
        np.einsum("fci,fi->fc", arm, aside) / np.linalg.norm(normal, axis=1, keepdims=True),
        np.einsum("fci,fi->fc", arm, arm[:, 0]),
    )
    around = np.take_along_axis(nodes, np.argsort(angle, axis=1), axis=1)
    fans = [around[:, [0, k, k + 1]] for k in range(1, around.shape[1] - 1)]
    return np.concatenate(fans)


def components(basis: Any) -> NDArray[np.intp]:
    """Return the direction, 0 for x, of each unknown of a basis."""
    direction = np.zeros(basis.N, dtype=np.intp)
    for local, unknowns in enumerate(basis.element_dofs):
        direction[unknowns] = local % basis.mesh.dim()
    return direction


def rigid_motions(places: Array, directions: NDArray[np.intp]) -> Array:
    """Return the unknowns of translations, then of small rotations about the origin.

    Each unknown has a place (dim, n) [m] and a direction (n,); shape (n, 1), (n, 3) or (n, 6).
    """
    dim, n = places.shape
    motions = list(np.eye(dim)[:, directions])
    for a, b in {1: (), 2: ((0, 1),), 3: ((1, 2), (2, 0), (0, 1))}[dim]:
        turned = np.zeros_like(places)
        turned[a], turned[b] = -places[b], places[a]
        motions.append(turned[directions, np.arange(n)])
    return np.column_stack(motions)


def values(basis: Any) -> tuple[sp.csr_array, ...]:
    """Return the components of the field at the points of a basis; each (points, unknowns)."""
    dim = basis.mesh.dim()
    entries: list[list[tuple[int, int, Array]]] = [[] for _ in range(dim)]
    for local, (field,) in enumerate(basis.basis):
        entries[local % dim].append((local, 0, np.asarray(field)[local % dim]))
    return tuple(_gathered(basis, found, 1) for found in entries)


def strains(basis: Any) -> sp.csr_array:
    """Return strain at the points of a basis, all components of a point together.

    Components in the order of `VOIGT`, shears doubled; (points * components, unknowns).
    """
    dim = basis.mesh.dim()
    entries = []
    for local, (field,) in enumerate(basis.basis):
        a = local % dim
        for k, pair in enumerate(VOIGT[dim]):
            if a in pair:
                b = pair[1] if a == pair[0] else pair[0]
                entries.append((local, k, field.grad[a, b]))
    return _gathered(basis, entries, len(VOIGT[dim]))


def _gathered(basis: Any, entries: list[tuple[int, int, Array]], rows: int) -> sp.csr_array:
    """Return a matrix with so many rows for each point.

    Entries: number of the local unknown, row of the point, values (cells, points of a cell).
    """
    shape = basis.dx.shape
    points = np.arange(basis.dx.size)
    data = np.concatenate([np.broadcast_to(value, shape).ravel() for _, _, value in entries])
    i = np.concatenate([rows * points + row for _, row, _ in entries])
    j = np.concatenate([np.repeat(basis.element_dofs[local], shape[1]) for local, _, _ in entries])
    matrix = sp.csr_array(sp.coo_array((data, (i, j)), shape=(rows * points.size, basis.N)))
    matrix.eliminate_zeros()
    return matrix
