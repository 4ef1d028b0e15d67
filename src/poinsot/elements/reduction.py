"""Craig-Bampton reduction of a free elastic body with rigid interfaces, and its frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh, splu

from poinsot.elements.meshes import rigid_motions
from poinsot.errors import InputError
from poinsot.ph.matrices import Array, Vector

#: Part of the strain energy of a random motion that a rigid one may have.
_RIGID = 1e-8
_MOTIONS = ("along x", "along y", "along z", "about x", "about y", "about z")
#: Interfaces with a smaller second extent, relative to the first, have nodes on a line.
_LINE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeBody:
    """Mass and stiffness of a body that nothing holds; unknowns are displacements at places.

    Parameters
    ----------
    M, K : (n, n)
        Sparse.
    places : (3, n)
        Where each unknown is [m].
    directions : (n,)
        Its direction, 0 for x.
    interfaces : dict of (m,)
        Numbers of the unknowns of each interface, in which it is rigid.
    """

    M: sp.csr_array
    K: sp.csr_array
    places: Array
    directions: NDArray[np.intp]
    interfaces: Mapping[str, NDArray[np.intp]]

    def __post_init__(self) -> None:
        """Refuse a body that is held or in pieces, interfaces that share nodes or cannot turn."""
        if not self.interfaces:
            raise InputError("interfaces: give at least one, where joints and loads can act")
        R = self.rigid(self.centre_of_mass)
        sample = np.random.default_rng(0).normal(size=R.shape) * abs(R).max(axis=0)
        energy, usual = (np.sum(motion * (self.K @ motion), axis=0) for motion in (R, sample))
        strained = np.flatnonzero(abs(energy) > _RIGID * usual)
        if strained.size:
            raise InputError(
                f"K: a rigid motion {_MOTIONS[strained[0]]} has strain energy; give the stiffness "
                "matrix of the unsupported body"
            )
        _, part = connected_components(self.K, directed=False)
        held = np.unique(part[np.concatenate(list(self.interfaces.values()))])
        loose = np.flatnonzero(~np.isin(part, held))
        if loose.size:
            place = ", ".join(f"{x:.6g}" for x in self.places[:, loose[0]])
            raise InputError(
                f"K: what is at ({place}) is not connected to any interface; remove it, or connect "
                "it"
            )
        seen: dict[int, str] = {}
        for name, unknowns in self.interfaces.items():
            for unknown in unknowns.tolist():
                if unknown in seen:
                    raise InputError(
                        f"interfaces '{seen[unknown]}' and '{name}' share a node; give each node "
                        "to one interface"
                    )
                seen[unknown] = name
            places = self.places[:, unknowns] - self.place(name)[:, None]
            extents = np.linalg.svd(places, compute_uv=False)
            if unknowns.size < 9 or extents[1] <= _LINE * extents[0]:
                raise InputError(
                    f"interface '{name}': its nodes lie on a line and cannot transmit a torque "
                    "about it; give at least three that do not"
                )

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        x = (self.directions == 0).astype(float)
        return float(x @ (self.M @ x))

    @property
    def centre_of_mass(self) -> Vector:
        """Centre of mass [m]; (3,)."""
        moments = self.rigid(np.zeros(3))[:, :3].T @ (self.M @ self.positions(np.zeros(3)))
        return np.asarray(moments / self.mass)

    def place(self, interface: str) -> Vector:
        """Return the reference point of an interface, the mean of its nodes [m]; (3,)."""
        return np.asarray(self.places[:, self.interfaces[interface]].mean(axis=1))

    def rigid(self, origin: Vector) -> Array:
        """Return the unknowns of rigid motions (v, Omega) of a frame at a point; (n, 6)."""
        return rigid_motions(self.places - origin[:, None], self.directions)

    def positions(self, origin: Vector) -> Vector:
        """Return the unknowns of the field x, from a point; (n,)."""
        k = np.arange(self.directions.size)
        return np.asarray((self.places - origin[:, None])[self.directions, k])

    def craig_bampton(self, modes: int) -> Array:
        """Return static shapes of unit motions of the interfaces, six for each, and modes.

        The modes are the slowest ones with all interfaces held. Shape (n, 6 * interfaces + modes).
        """
        n = self.M.shape[0]
        moved = np.zeros((n, 6 * len(self.interfaces)))
        for k, (name, unknowns) in enumerate(self.interfaces.items()):
            moved[unknowns, 6 * k : 6 * k + 6] = self.rigid(self.place(name))[unknowns]
        held = np.concatenate(list(self.interfaces.values()))
        inner = np.setdiff1d(np.arange(n), held)
        if modes > inner.size:
            raise InputError(f"modes is {modes}; the body has only {inner.size} unknowns")
        return craig_bampton(self.M, self.K, moved, sp.eye_array(n, format="csc")[:, inner], modes)


def craig_bampton(M: Any, K: Any, moved: Array, inner: Any, modes: int) -> Array:
    """Return static shapes of motions of the interface, and slowest modes with it held.

    `moved` (n, m) are displacements that move the interface, `inner` (n, k) a basis of those that
    do not (Craig and Bampton, AIAA Journal 6, 1968). Shape (n, m + modes).
    """
    if inner.shape[1] == 0:
        return moved
    K_ii, M_ii = (sp.csc_array(inner.T @ (A @ inner)) for A in (K, M))
    load = np.asarray(inner.T @ (K @ moved))
    static = moved - inner @ splu(K_ii, permc_spec="MMD_AT_PLUS_A").solve(load)
    return np.hstack([static, inner @ _slowest(K_ii, M_ii, modes)])


def _slowest(K: Any, M: Any, modes: int) -> Array:
    """Return the slowest modes of a body that is held, of unit mass; (n, modes)."""
    n = K.shape[0]
    if modes == 0:
        return np.zeros((n, 0))
    if modes > n // 2 or n < 100:
        last = (0, modes - 1)
        return np.asarray(scipy.linalg.eigh(K.toarray(), M.toarray(), subset_by_index=last)[1])
    # A start of its own: the same body has the same modes in every run.
    start = np.random.default_rng(0).normal(size=n)
    return np.asarray(eigsh(K, modes, M, sigma=0, v0=start)[1])


def mean_axes(T: Array, R: Array, M: Any, K: Any) -> Array:
    """Return the shapes in the span of T that have no momentum, R the rigid motions in it.

    They are modes of the free body, of unit mass, and the frame follows the mean motion;
    (n, k - 6).
    """
    small = [T.T @ (A @ T) for A in (K, M)]
    _, V = scipy.linalg.eigh(*((A + A.T) / 2 for A in small))
    shapes, momentum = T @ V[:, 6:], M @ R
    # Once more: eigenvectors are orthogonal only to the round-off of the fastest of them.
    return np.asarray(shapes - R @ np.linalg.solve(R.T @ momentum, momentum.T @ shapes))
