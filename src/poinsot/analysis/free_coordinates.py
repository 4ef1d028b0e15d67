"""Minimal coordinates of the tangent space of a system."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from poinsot.analysis.linear import is_identity
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.matrices import Matrix, Placed, Vector, add, assemble, dense, diagonal, is_sparse
from poinsot.ph.system import PHSystem, State, slices
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.livens.systems import LivensSystem
from poinsot.systems.mechanical import MechanicalForm

#: How much faster than most a state may move by nature.
QUICK = 1e3


@dataclass(frozen=True, eq=False)
class FreeCoordinates:
    """Free coordinates xi of the tangent space, dx = T dxi, and the equations that are left.

    `left` takes them out of all: E and A become left E T and left A T. `efforts` makes costates of
    the new coordinates of z, which is left^T of these, so that J becomes left J left^T. `sizes` are
    those of xi, and `mechanical` is the number of coordinates, and of velocities after them, if the
    system is a mechanical one. `own` tells that xi are the system's own states. `gyration` is the
    gyroscopic matrix (k, k) that belongs to xi where the system has another one, which makes the
    same forces.
    """

    T: Matrix
    left: Matrix
    efforts: Matrix
    states: tuple[State, ...]
    sizes: Vector
    mechanical: int | None = None
    own: bool = False
    gyration: Matrix | None = None

    def free(self, A: Matrix) -> Matrix:
        """Return left A T."""
        return A if self.own else self.left @ A @ self.T


def free_coordinates(system: PHSystem, x: Vector) -> FreeCoordinates:
    """Return free coordinates of a system near a state."""
    if isinstance(system, Interconnection):
        return _joined(system, x)
    if isinstance(system, LivensSystem):
        return _without_momenta(system, x)
    whole, sizes = diagonal(np.ones(system.n)), system.sizes(x)
    if not isinstance(system, MechanicalForm):
        return FreeCoordinates(whole, whole, whole, system.states, sizes, own=True)
    n, k, w = system.mechanics.n, system.mechanics.k, system.momentum_row
    Z = system.mechanics.Z(system.parts(x)[0])
    if n < k or is_identity(Z):
        mechanical = None if n < k or system.stabilised else n
        return FreeCoordinates(whole, whole, whole, system.states, sizes, mechanical, own=True)
    one = diagonal(np.ones(system.n - n))
    back, size = _left_inverse(Z), system.n - n + k
    T = assemble((system.n, size), [(0, 0, Z), (n, k, one)])
    left = assemble((size, system.n), [(0, 0, back), (k, n, one)])
    ends = slices(system.states)
    coordinates = [s for s in system.states if ends[s.name].start < n]
    velocities = [s for s in system.states if w <= ends[s.name].start < w + k]
    rest = [s for s in system.states if ends[s.name].start >= n]
    # What is the rate of a coordinate moves this, anything else displacements of its own.
    moved = [
        q
        if q.size == v.size and is_identity(Z[ends[q.name], _columns(ends[v.name], w)])
        else State(f"{v.name[:-1]}s", v.size)
        for q, v in zip(coordinates, velocities, strict=True)
    ]
    sizes = np.concatenate([abs(back) @ sizes[:n], sizes[n:]])
    found = FreeCoordinates(T, left, T.T, (*moved, *rest), sizes, k)
    return _by_momenta(system, x, found) if isinstance(system, FloatingSystem) else found


def _by_momenta(system: FloatingSystem, x: Vector, by: FreeCoordinates) -> FreeCoordinates:
    """Return the same with changes of momenta M(u) w, divided by M(u), in the place of velocities.

    Where elastic bodies move, momenta change with u: dw + M^-1 D ds has the mass M(u) alone. Its
    gyroscopic matrix is that of the momenta of frames, [[0, p], [p, L]]; that of [BAPM21, eq. (12)]
    makes the same forces, but its derivative is that of no energy.
    """
    zeta, w, _ = system.parts(x)
    if not w.any():
        return by
    k, size, rigid = w.size, by.T.shape[1], system.rigid
    M = dense(system.bodies.mass_matrix(zeta))
    G = assemble((k, k), [(0, 0, rigid.G((M @ w)[: rigid.k]))])
    D = dense(system.bodies.dM(zeta, w)) @ dense(by.T)[: zeta.size, :k]
    share = np.linalg.solve(M, D)
    one = diagonal(np.ones(size))
    T = add(one, assemble((size, size), [(k, 0, -share)]))
    left = add(one, assemble((size, size), [(k, 0, D)]))
    efforts = add(one, assemble((size, size), [(0, k, -D.T)]))
    moved = {"T": by.T @ T, "left": left @ by.left, "efforts": efforts @ by.efforts}
    return replace(by, **moved, gyration=G)


def _columns(at: slice, w: int) -> slice:
    return slice(at.start - w, at.stop - w)


def _joined(system: Interconnection, x: Vector) -> FreeCoordinates:
    """Return those of all parts, and the multipliers of the connections."""
    parts = [
        free_coordinates(part, x[span])
        for part, span in zip(system.parts, system.spans, strict=True)
    ]
    links, sizes = system.n - system.inner, system.sizes(x)
    new = sum(part.T.shape[1] for part in parts) + links
    placed: dict[str, list[Placed]] = {"T": [], "left": [], "efforts": []}
    column = 0
    for part, span in zip(parts, system.spans, strict=True):
        placed["T"].append((span.start, column, part.T))
        placed["left"].append((column, span.start, part.left))
        placed["efforts"].append((column, span.start, part.efforts))
        column += part.T.shape[1]
    one, last = diagonal(np.ones(links)), system.inner
    placed["T"].append((last, column, one))
    placed["left"].append((column, last, one))
    placed["efforts"].append((column, last, one))
    own = sum(len(part.states) for part in system.parts)
    return FreeCoordinates(
        T=assemble((system.n, new), placed["T"]),
        left=assemble((new, system.n), placed["left"]),
        efforts=assemble((new, system.n), placed["efforts"]),
        states=(*(s for part in parts for s in part.states), *system.states[own:]),
        sizes=np.concatenate([*(part.sizes for part in parts), sizes[last:]]),
    )


def _left_inverse(Z: Matrix) -> Matrix:
    """Return (Z^T Z)^-1 Z^T."""
    if is_sparse(Z):
        from scipy.sparse.linalg import spsolve

        return sp.csr_array(spsolve(sp.csc_array(Z.T @ Z), sp.csc_array(Z.T)))
    return np.linalg.pinv(dense(Z))


def _without_momenta(system: LivensSystem, x: Vector) -> FreeCoordinates:
    """Return coordinates (q, v, multipliers): momenta follow from p = dL/dv.

    From the row of momenta that of coordinates is taken as often as p changes with q, so that
    E = diag(I, M, 0).
    """
    n, m = system.mechanics.n, system.mechanics.m
    H = system.lagrangian.ddT(system.q(x), system.velocity(x))
    one, D, both, lam = diagonal(np.ones(n)), H.qs.T, diagonal(np.ones(2 * n)), diagonal(np.ones(m))
    new, behind = 2 * n + m, (2 * n, 3 * n, lam)
    T = [(0, 0, both), (2 * n, 0, D), (2 * n, n, H.ss), (3 * n, 2 * n, lam)]
    left = [(0, 0, one), (n, 0, -1.0 * D), (n, 2 * n, one), behind]
    efforts = [(0, 0, one), (0, 2 * n, H.qs), (n, 2 * n, one), behind]
    gone = {state.name for state in system.momenta}
    sizes = np.delete(system.sizes(x), np.arange(2 * n, 3 * n))
    # What has nearly no mass moves as the others do, over the same part of its size in a time.
    ways, speeds = sizes[:n], sizes[n : 2 * n]
    speeds[:] = np.minimum(speeds, QUICK * np.median(speeds / ways) * ways)
    return FreeCoordinates(
        T=assemble((system.n, new), T),
        left=assemble((new, system.n), left),
        efforts=assemble((new, system.n), efforts),
        states=tuple(s for s in system.states if s.name not in gone),
        sizes=sizes,
        mechanical=n,
    )
