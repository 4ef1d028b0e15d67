"""Flexible bodies from matrices of a finite-element program, or from a mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Self, cast

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.flexibility import Flexibility
from poinsot.bodies.meshes import Triangles
from poinsot.bodies.shapes import FROM_DENSITY, Elasticity
from poinsot.bodies.skin import Skin
from poinsot.elements.continua import ElasticMesh
from poinsot.elements.definite import TOLERANCE, require_definite, symmetric, symmetric_sparse
from poinsot.elements.inertia import MassIntegrals, Pairs
from poinsot.elements.meshes import surface
from poinsot.elements.reduction import FreeBody, mean_axes
from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import count, numbers, require_name, vector3
from poinsot.ph.matrices import Array, Vector
from poinsot.so3 import axial, skew

#: Dimensions of the arrays of a file: k unknowns, 6 + k velocities, and interfaces.
DIMENSIONS = {
    "M": ("velocity", "velocity_"),
    "K": ("unknown", "unknown_"),
    "damping": ("unknown", "unknown_"),
    "interface_names": ("interface",),
    "interface_position": ("interface", "axis"),
    "interface_modes": ("interface", "motion", "unknown"),
    "moments": ("axis", "axis_", "unknown"),
    "pairs": ("axis", "axis_", "unknown", "unknown_"),
    "surface_points": ("surface_point", "axis"),
    "surface_triangles": ("triangle", "corner"),
    "surface_modes": ("surface_point", "axis", "unknown"),
}


@dataclass(frozen=True, eq=False)
class Interface:
    """A point of a flexible body at which joints and loads attach.

    Parameters
    ----------
    position : (3,)
        Position in the frame of the undeformed body [m].
    modes : (6, k)
        Displacement and small rotation per unit of each of the k elastic coordinates.
    """

    position: Vector
    modes: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class FlexibleBody(Elasticity):
    r"""A flexible body given by its mass and stiffness matrices in a floating frame.

    .. math:: T = \tfrac12 (v, \Omega, \dot\eta)^\top M (v, \Omega, \dot\eta), \qquad
        V = \tfrac12 \eta^\top K \eta

    v and Omega are the velocities of the frame in its own axes. The k elastic coordinates
    :math:`\eta` are amplitudes of shapes that contain no rigid motion [BAPM21, eqs. (10), (36),
    rem. 6].
    In a model, `position` is the origin of the frame, and interfaces are addressed by name, such as
    `arm.hub`.

    Parameters
    ----------
    M : (6 + k, 6 + k)
        Mass matrix of the undeformed body. The first block is that of a rigid body,
        [[m, -skew(s)], [skew(s), J]], about the origin of the frame.
    K : (k, k)
        Stiffness matrix.
    interfaces : mapping
        Name -> `Interface`, or a pair of position (3,) and modes (6, k).
    damping : (k, k), optional
        Damping matrix, symmetric and positive semi-definite.
    integrals : MassIntegrals, optional
        Dependence of the mass matrix on the deformation. Default: the mass matrix is constant.
    surface : Skin, optional
        Surface to draw. Default: a box with the inertia of the body.
    """

    mass: float = FROM_DENSITY
    M: Array
    K: Array
    interfaces: Mapping[str, Interface]
    damping: Array | None = None
    integrals: MassIntegrals | None = None
    surface: Skin | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` unless the matrices are those of a body."""
        if self.mass is not FROM_DENSITY:
            raise InputError("FlexibleBody: mass follows from M; leave it out")
        K = symmetric(self.K, "K")
        M = symmetric(self.M, "M", 6 + K.shape[0])
        _check_rigid(M)
        require_definite(
            M,
            "M is not positive definite: the deformation contains a rigid motion, or a shape has "
            "no mass; leave out rigid modes",
        )
        require_definite(
            K,
            "K is not positive definite: a shape has no stiffness, like a rigid motion; leave it "
            "out",
        )
        _keep(self, "M", M)
        _keep(self, "K", K)
        if self.damping is not None:
            damping = symmetric(self.damping, "damping", K.shape[0])
            if np.linalg.eigvalsh(damping)[0] < -TOLERANCE * abs(damping).max():
                raise InputError("damping is not positive semi-definite: it would create energy")
            _keep(self, "damping", damping)
        if self.integrals is not None and self.integrals.S.shape[1] != K.shape[0]:
            raise InputError(
                f"integrals belong to {self.integrals.S.shape[1]} unknowns, K to {K.shape[0]}"
            )
        if self.surface is not None and self.surface.modes.shape[2] != len(K):
            raise InputError(
                f"surface belongs to {self.surface.modes.shape[2]} unknowns, K to {len(K)}"
            )
        given = self.interfaces
        if not isinstance(given, Mapping) or not given:
            raise InputError("interfaces: give at least one, e.g. {'hub': (position, modes)}")
        _keep(self, "interfaces", {n: _interface(n, i, len(K)) for n, i in given.items()})
        _keep(self, "mass", float(M[0, 0]))
        super().__post_init__()

    # -- what it is ------------------------------------------------------------------------------

    @property
    def unknowns(self) -> int:
        """Number of elastic coordinates, k."""
        return len(self.K)

    @property
    def first_moment(self) -> Vector:
        """First moment of mass (m times the centre of mass) in the frame [kg m]; (3,)."""
        return np.asarray(axial(self.M[3:6, :3]))

    @property
    def inertia(self) -> Array:
        """Inertia tensor about the origin of the frame [kg m^2]; (3, 3)."""
        return self.M[3:6, 3:6]

    @property
    def frequencies(self) -> Vector:
        """Natural frequencies of the free body without rigid motions [rad/s], ascending; (k,)."""
        K = np.zeros_like(self.M)
        K[6:, 6:] = self.K
        return np.sqrt(scipy.linalg.eigh(K, self.M, eigvals_only=True)[6:])

    # -- in a model ------------------------------------------------------------------------------

    @property
    def places(self) -> list[str]:
        """Names of the interfaces."""
        return list(self.interfaces)

    def off(self, X: Array) -> Array:
        """Return the distance of a point X of the frame from each interface [m]; (interfaces,)."""
        return np.asarray(np.linalg.norm(self.flexibility.points - X, axis=1))

    @property
    def euler_B(self) -> Array:
        """Diagonal of the Euler tensor of the undeformed body in its frame [kg m^2]; (3, 3)."""
        E = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        return np.diag(np.maximum(np.diag(E), 0.0))

    @cached_property
    def flexibility(self) -> Flexibility:
        """Inertia, stiffness and modes in the floating frame."""
        k, of = self.unknowns, self.integrals
        moments: Array = np.zeros((3, 3, k))
        pairs: Pairs = np.zeros((3, 3, k, k))
        if of is not None:
            moments, pairs = of.moments, of.dense().pairs
        modes = np.array([interface.modes for interface in self.interfaces.values()])
        number = np.arange(-(-k // 3) * 3)
        return Flexibility(
            integrals=MassIntegrals.of_mass_matrix(self.M, moments, pairs),
            K=self.K,
            D=np.zeros((k, k)) if self.damping is None else self.damping,
            points=np.array([interface.position for interface in self.interfaces.values()]),
            Y=modes[:, :3],
            Theta=modes[:, 3:],
            groups=np.where(number < k, number, -1).reshape(-1, 3),
            deformed=of is not None,
        )

    # -- where it comes from ---------------------------------------------------------------------

    @classmethod
    def from_matrices(
        cls,
        M: Any,
        K: Any,
        *,
        nodes: ArrayLike,
        interfaces: Mapping[str, Sequence[int]],
        modes: int = 10,
        frame: str = "centre of mass",
        triangles: ArrayLike | None = None,
    ) -> Self:
        """Reduce the finite-element matrices of a free body by the Craig-Bampton method.

        Parameters
        ----------
        M, K : (3 * nodes, 3 * nodes)
            Mass and stiffness matrices, dense or sparse; unknowns are x, y, z of the first node,
            and so on.
        nodes : (nodes, 3)
            Positions of the nodes [m].
        interfaces : mapping
            Name -> indices of at least three nodes. Each interface moves as a rigid body.
        modes : int
            Number of fixed-interface normal modes to keep, in addition to the constraint modes of
            the interfaces.
        frame : str
            `"centre of mass"`: the frame follows the mean motion, and the elastic coordinates are
            modes of the free body. The name of an interface: the frame is fixed to it, and the
            elastic coordinates are the motions of the other interfaces, six each, and modal
            amplitudes.
        triangles : (m, 3), optional
            Indices of the nodes of each triangle of the surface to draw, counterclockwise seen from
            outside.
        """
        places = numbers(nodes, "nodes")
        if places.ndim != 2 or places.shape[1] != 3:
            raise InputError(f"nodes has shape {places.shape}; give (nodes, 3)")
        n = places.size
        matrices = [symmetric_sparse(A, what, n) for A, what in ((M, "M"), (K, "K"))]
        sets = {}
        for name, chosen in _named(interfaces).items():
            found = np.unique(np.asarray(chosen, dtype=np.intp))
            if not found.size or found[0] < 0 or found[-1] >= len(places):
                raise InputError(
                    f"interface '{name}': its nodes are numbers from 0 to {n // 3 - 1}"
                )
            sets[name] = (3 * found[:, None] + np.arange(3)).ravel()
        free = FreeBody(
            M=matrices[0],
            K=matrices[1],
            places=np.repeat(places, 3, axis=0).T,
            directions=np.tile(np.arange(3), len(places)),
            interfaces=sets,
        )
        drawn = None
        if triangles is not None:
            drawn = _Outside(Triangles(places, np.asarray(triangles)), np.arange(n).reshape(-1, 3))
        return cls._reduced(free, _pairs(matrices[0]), modes, frame, drawn)

    @classmethod
    def from_mesh(
        cls,
        mesh: Any,
        *,
        density: float,
        youngs_modulus: float,
        poissons_ratio: float = 0.3,
        interfaces: Sequence[str],
        modes: int = 10,
        frame: str = "centre of mass",
        degree: int = 2,
    ) -> Self:
        """Make a flexible body from a three-dimensional scikit-fem mesh.

        Parameters
        ----------
        mesh : skfem.Mesh
            Tetrahedra or hexahedra [m].
        interfaces : sequence of str
            Names of boundaries of the mesh; each moves as a rigid body.
        density, youngs_modulus, poissons_ratio, degree
            Material and elements; see `poinsot.flexible.ElasticMesh`.
        modes, frame
            See `from_matrices`.
        """
        body = ElasticMesh(
            mesh=mesh,
            density=density,
            youngs_modulus=youngs_modulus,
            poissons_ratio=poissons_ratio,
            degree=degree,
        )
        if body.dim != 3:
            raise InputError(
                "a flexible body needs a three-dimensional mesh of tetrahedra or hexahedra"
            )
        names = (interfaces,) if isinstance(interfaces, str) else interfaces
        free = FreeBody(
            M=body.M,
            K=body.K,
            places=body.places,
            directions=body.directions,
            interfaces={name: body.unknowns_on(name) for name in names},
        )
        drawn = _Outside(Triangles(mesh.p.T, surface(mesh)), body.basis.nodal_dofs.T)
        return cls._reduced(free, body.pairs(), modes, frame, drawn)

    @classmethod
    def _reduced(
        cls,
        free: FreeBody,
        pairs: Pairs | None,
        modes: int,
        frame: str,
        drawn: _Outside | None,
    ) -> Self:
        """Return the reduced body with the requested frame."""
        T = free.craig_bampton(count(modes, "modes", 0))
        names = list(free.interfaces)
        if frame == "centre of mass":
            origin = free.centre_of_mass
            T = mean_axes(T, free.rigid(origin), free.M, free.K)
        elif frame in names:
            origin, k = free.place(frame), names.index(frame)
            T = np.delete(T, slice(6 * k, 6 * k + 6), axis=1)
        else:
            known = ["centre of mass", *names]
            raise InputError(f"frame is {frame!r}; {did_you_mean(str(frame), known)}")
        if T.shape[1] == 0:
            raise InputError(
                "no elastic coordinates are left; increase modes, or give another interface"
            )
        R = free.rigid(origin)
        both = np.column_stack([R, T])
        M, K = both.T @ (free.M @ both), T.T @ (free.K @ T)
        integrals = None
        if pairs is not None:
            integrals = MassIntegrals.of_pairs(pairs, free.positions(origin), R).of(T)
        interfaces = {}
        for name, unknowns in free.interfaces.items():
            about = free.rigid(free.place(name))[unknowns]
            motion = np.asarray(np.linalg.lstsq(about, T[unknowns], rcond=None)[0], dtype=float)
            interfaces[name] = Interface(free.place(name) - origin, motion)
        return cls(
            M=(M + M.T) / 2,
            K=(K + K.T) / 2,
            interfaces=interfaces,
            integrals=integrals,
            surface=None if drawn is None else drawn.skin(origin, T),
        )

    # -- files -----------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file that `load` reads: netCDF for the suffix `.nc`, otherwise `.npz`."""
        arrays: dict[str, Any] = {"M": self.M, "K": self.K}
        arrays["interface_names"] = np.array(list(self.interfaces))
        for part in ("position", "modes"):
            arrays[f"interface_{part}"] = np.array(
                [getattr(interface, part) for interface in self.interfaces.values()]
            )
        if self.damping is not None:
            arrays["damping"] = self.damping
        if self.integrals is not None:
            arrays["moments"] = self.integrals.moments
            arrays["pairs"] = np.array(self.integrals.pairs)
        if self.surface is not None:
            arrays["surface_points"] = self.surface.mesh.vertices
            arrays["surface_triangles"] = self.surface.mesh.faces
            arrays["surface_modes"] = self.surface.modes
        if _is_netcdf(path):
            import xarray

            variables = {name: (DIMENSIONS[name], array) for name, array in arrays.items()}
            xarray.Dataset(variables).to_netcdf(path, engine="h5netcdf")
        else:
            np.savez(path, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a body from an `.npz` file, or from netCDF if the suffix is `.nc`.

        Required arrays are `M` (6 + k, 6 + k), `K` (k, k), `interface_names` (i,),
        `interface_position` (i, 3) and `interface_modes` (i, 6, k). Optional are `damping` (k, k),
        for a mass matrix that depends on the deformation `moments` (3, 3, k) and `pairs` (3, 3, k,
        k) of `MassIntegrals`, and for the surface to draw `surface_points` (n, 3),
        `surface_triangles` (m, 3) and `surface_modes` (n, 3, k) of `Skin`.
        """
        arrays = _arrays(path)
        needed = ("M", "K", "interface_names", "interface_position", "interface_modes")
        missing = [name for name in needed if name not in arrays]
        if missing:
            raise InputError(f"'{path}': there is no array {', '.join(map(repr, missing))}")
        parts = (arrays[name] for name in needed[2:])
        interfaces = {str(name): (place, shape) for name, place, shape in zip(*parts, strict=True)}
        M = symmetric(arrays["M"], "M")
        integrals = None
        if "pairs" in arrays:
            integrals = MassIntegrals.of_mass_matrix(M, arrays["moments"], arrays["pairs"])
        skin = None
        if "surface_points" in arrays:
            mesh = Triangles(arrays["surface_points"], arrays["surface_triangles"])
            skin = Skin(mesh, arrays["surface_modes"])
        return cls(
            M=M,
            K=arrays["K"],
            interfaces=cast(Mapping[str, Interface], interfaces),
            damping=arrays.get("damping"),
            integrals=integrals,
            surface=skin,
        )


@dataclass(frozen=True, eq=False)
class _Outside:
    """The outside of a mesh; its nodes move by `unknowns` (nodes, 3) of all."""

    mesh: Triangles
    unknowns: NDArray[np.intp]

    def skin(self, origin: Vector, T: Array) -> Skin:
        """Return the surface from a point, moved by shapes T (n, k)."""
        used, own = np.unique(self.mesh.faces, return_inverse=True)
        mesh = Triangles(self.mesh.vertices[used] - origin, own.reshape(-1, 3))
        return Skin(mesh, T[self.unknowns[used]])


def _is_netcdf(path: str | PathLike[str]) -> bool:
    return str(path).endswith(".nc")


def _arrays(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the arrays of a file."""
    kind = "a netCDF" if _is_netcdf(path) else "an .npz"
    try:
        if _is_netcdf(path):
            import xarray

            with xarray.open_dataset(path) as dataset:
                return {str(name): array.to_numpy() for name, array in dataset.variables.items()}
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except FileNotFoundError:
        raise InputError(f"there is no file '{path}'") from None
    except (OSError, ValueError, TypeError):
        raise InputError(f"'{path}' is not {kind} file; write one by `FlexibleBody.save`") from None


def _keep(body: FlexibleBody, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    object.__setattr__(body, name, value)


def _check_rigid(M: Array) -> None:
    """Refuse a first block that is not the mass matrix of a rigid body."""
    m, s = M[0, 0], axial(M[3:6, :3])
    size = max(abs(M[3:6, :3]).max(), np.sqrt(abs(m * M[3:6, 3:6]).max()))
    if abs(M[:3, :3] - m * np.eye(3)).max() > TOLERANCE * abs(m):
        raise InputError("M: its first three rows and columns must be the mass times the identity")
    if abs(M[3:6, :3] - skew(s)).max() > TOLERANCE * size:
        raise InputError(
            "M: rows 4 to 6 and columns 1 to 3 must be skew(s), where s is m times the centre of "
            "mass"
        )


def _interface(name: Any, given: Any, k: int) -> Interface:
    """Return an interface, checked."""
    require_name(name, "an interface")
    pair = (given.position, given.modes) if isinstance(given, Interface) else given
    try:
        position, shape = pair
    except (TypeError, ValueError):
        raise InputError(f"interface '{name}': give position and modes, got {given!r}") from None
    modes = numbers(shape, f"interface '{name}': modes")
    if modes.shape != (6, k) or not np.all(np.isfinite(modes)):
        raise InputError(
            f"interface '{name}': modes has shape {modes.shape}; give finite numbers, (6, {k})"
        )
    return Interface(vector3(position, f"interface '{name}': position"), modes)


def _named(interfaces: Any) -> Mapping[str, Sequence[int]]:
    if not isinstance(interfaces, Mapping):
        raise InputError("interfaces: give names and nodes, e.g. {'hub': [0, 1, 2, 3]}")
    return interfaces


def _pairs(M: sp.csr_array) -> Pairs | None:
    """Return M_ab if all directions have the same mass matrix, and none is coupled; else None."""
    m = sp.csr_array(M[0::3, 0::3])
    size = abs(m).max()
    for a in range(3):
        for b in range(3):
            expected = m if a == b else 0 * m
            if abs(M[a::3, b::3] - expected).max() > TOLERANCE * size:
                return None

    def placed(a: int, b: int) -> sp.csr_array:
        unit = np.zeros((3, 3))
        unit[a, b] = 1
        return sp.csr_array(sp.kron(m, unit))

    return tuple(tuple(placed(a, b) for b in range(3)) for a in range(3))
