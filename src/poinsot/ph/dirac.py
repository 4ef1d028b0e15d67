"""Numerical checks of structure: each property of a port-Hamiltonian system as a defect near zero.

A port-Hamiltonian system consists of a Dirac structure (power exchange), a Lagrangian submanifold
(energy storage) and a resistive relation (dissipation) [BHRS25, def. 7].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, StructureError
from poinsot.ph.derivatives import RELATIVE_STEP, gradient
from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse, large, largest
from poinsot.ph.relations import DiracStructure, LagrangianSubmanifold, ResistiveRelation
from poinsot.ph.system import PHSystem

#: Relative defect that a user's constant matrix may have.
TOLERANCE = 1e-12
#: More states than this are varied together, in so many random ways.
SINGLY, WAYS = 32, 8
#: Parts of the states' sizes that differences are taken over.
LENGTHS = (1.0, 1e-2, 1e-4, 1e-6)


def skew_defect(J: Matrix) -> float:
    """Return max|J + J^T| relative to max|J|."""
    return largest(J + J.T) / max(largest(J), np.finfo(float).tiny)


def symmetry_defect(R: Matrix) -> float:
    """Return max|R - R^T| relative to max|R|."""
    return largest(R - R.T) / max(largest(R), np.finfo(float).tiny)


def semidefinite_defect(R: Matrix) -> float:
    """Return how far the lowest eigenvalue of the symmetric part lies below zero, relative."""
    scale = largest(R)
    if scale == 0:
        return 0.0
    # Only rows with entries matter, and in a large system few of them have any.
    used = np.flatnonzero(np.asarray(abs(R).sum(axis=0) + abs(R).sum(axis=1)).reshape(-1))
    if is_sparse(R) and large(used.size) and _positive(R[used][:, used], scale):
        return 0.0
    core = dense(R[np.ix_(used, used)] if not is_sparse(R) else R[used][:, used])
    lowest = float(np.linalg.eigvalsh((core + core.T) / 2)[0])
    # eigvalsh itself is only accurate to a few eps times the norm.
    return max(0.0, -lowest / scale - 8 * used.size * np.finfo(float).eps)


def _positive(R: sp.csr_array, scale: float) -> bool:
    """Tell whether the pivots of R + R^T, shifted by round-off, are all positive: so is R then."""
    from scipy.sparse.linalg import splu

    shift = TOLERANCE * scale * sp.eye_array(R.shape[0])
    try:
        lu = splu(
            sp.csc_array(R + R.T + shift),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return False
    return bool(np.array_equal(lu.perm_r, lu.perm_c) and np.all(lu.U.diagonal() > 0))


def require_structure(
    name: str, J: Matrix | None, R: Matrix | None, EQ: Matrix | None = None
) -> None:
    """Refuse constant matrices that are no port-Hamiltonian system; None: not constant."""
    for what, matrix, measure in (
        ("J is not skew-symmetric (J + J^T = 0)", J, skew_defect),
        ("R is not symmetric", R, symmetry_defect),
        ("R is not positive semi-definite", R, semidefinite_defect),
        ("E^T Q is not symmetric, so Q x has no energy", EQ, symmetry_defect),
    ):
        defect = 0.0 if matrix is None else measure(matrix)
        if defect > TOLERANCE:
            raise StructureError(f"system '{name}': {what}; the relative defect is {defect:.3g}")


def dirac_structure(system: PHSystem, x: Vector) -> DiracStructure:
    """Return the Dirac structure of a system at a state [BHRS25, (7), prop. 2].

    Flows are (E x', z, -y), efforts (z, e_R, u) of storage, resistor and port, with

        E x' = J z - e_R + B u.

    Equations without derivatives restrict the efforts, and their multipliers are eliminated: with
    U0 = ker E^T, the rows U0^T (J z - e_R + B u) = 0 define the space as a kernel, of which an
    orthonormal basis (image representation) is returned.
    """
    E, J, B = (dense(a) for a in (system.E(x), system.J(x), system.B(x)))
    n, m = B.shape
    U, singular, _ = np.linalg.svd(E)
    rank = int(np.sum(singular > n * np.finfo(float).eps * max(singular, default=0.0)))
    U1, U0 = U[:, :rank], U[:, rank:]
    law = np.hstack([J, -np.eye(n), B])  # acts on (z, e_R, u)
    allowed = scipy.linalg.null_space(U0.T @ law) if rank < n else np.eye(2 * n + m)
    z, e_R, u = allowed[:n], allowed[n : 2 * n], allowed[2 * n :]
    F = np.vstack([U1.T @ (law @ allowed), z, -B.T @ z])
    efforts = np.vstack([U1.T @ z, e_R, u])
    basis = scipy.linalg.orth(np.vstack([F, efforts]))
    return DiracStructure(F=basis[: rank + n + m], E=basis[rank + n + m :])


def lagrangian_submanifold(system: PHSystem, x: Vector) -> LagrangianSubmanifold:
    """Return the tangent space of the stored energy at a state [BHRS25, def. 5].

    For constant E, that of (E x, z), including constraints and their multipliers (prop. 5).
    Otherwise {(a, d(grad H) a)}.
    """
    if system.dE(x, x) is None:
        S, P = map(dense, system.stored(x))
        return LagrangianSubmanifold(S, P)
    n, E, dz, z = system.n, dense(system.E(x)), dense(system.dz(x)), system.z(x)
    columns = [system.dE(x, unit) for unit in np.eye(n)]
    dE_z = np.array([np.zeros(n) if c is None else c.T @ z for c in columns])
    return LagrangianSubmanifold(np.eye(n), E.T @ dz + dE_z)


def lagrangian_defect(system: PHSystem, x: Vector) -> float:
    """Return the defect of the Lagrangian-submanifold property at a state [BHRS25, def. 5]."""
    return lagrangian_submanifold(system, x).defect


def resistive_relation(system: PHSystem, x: Vector, *, seed: int = 0) -> ResistiveRelation:
    """Return the relation between z and the dissipative effort R z + r(x, z) [BHRS25, def. 6]."""
    own, R = system.z(x)[None, :], system.R(x)

    def effort(z: Vector) -> Vector:
        r = system.r(x, z)
        return np.asarray(R @ z if r is None else R @ z + r)

    return ResistiveRelation(effort, system.n, own, seed)


def resistive_defect(system: PHSystem, x: Vector, *, seed: int = 0) -> float:
    """Return how negative the dissipated power z·(R z + r(x, z)) becomes [BHRS25, def. 6].

    Relative to the sizes of z and R z + r, for the effort of the state and random ones of many
    magnitudes.
    """
    return resistive_relation(system, x, seed=seed).defect


def gradient_defect(system: PHSystem, x: Vector) -> float:
    """Return max|d·(E^T z - grad H)|, relative, with grad H by finite differences of H alone.

    The directions d are those of the states, or some random ones for systems with many states or
    with structure that is correct except for the user's laws; their lengths are natural sizes of
    states.
    """
    H, n = system.H(x), system.n
    random = np.random.default_rng(0)
    parabola = system.by_construction and all(part.quadratic for part in system.storages)
    count, singly = (2, 2) if system.by_construction else (WAYS, SINGLY)
    # No two entries alike: what is wrong about one state cannot cancel what is about another.
    some = random.choice([-1.0, 1.0], (count, n)) * random.uniform(0.5, 1.0, (count, n))
    ways = np.eye(n) if n <= singly else some
    ways = ways * system.sizes(x)
    claimed = ways @ system.grad_H(x)
    if parabola:
        # One difference is exact for a parabola, whatever its length.
        ends = np.array([(system.H(x + way), system.H(x - way)) for way in ways])
        exact = (ends[:, 0] - ends[:, 1]) / 2
        return largest((claimed - exact)[None, :]) / max(largest(ends), np.finfo(float).tiny)
    # At an equilibrium without energy only its neighbourhood tells the scale of H.
    nearby = [abs(system.H(x + RELATIVE_STEP * way) - H) / RELATIVE_STEP for way in ways]
    slope = float(np.max(nearby, initial=np.finfo(float).tiny))
    defect = np.full(len(ways), np.inf)
    # Energies may change over less than the states are large.
    for length in LENGTHS:
        exact = gradient(lambda s: system.H(x + s @ ways), np.zeros(len(ways)), length)
        scale = max(largest(exact[None, :]), abs(H), slope)
        defect = np.fmin(defect, abs(claimed - exact) / scale)
        if np.max(defect, initial=0.0) < 1e-9:
            break
    return float(np.max(defect, initial=0.0))


def constraint_ranks(system: PHSystem, states: Iterable[ArrayLike]) -> NDArray[np.intp]:
    """Return the rank of the constraint matrix (rows of J without derivatives) at each state.

    Interconnection preserves the port-Hamiltonian structure if this rank is constant
    [BHRS25, eq. (13)].
    """
    ranks = []
    for values in states:
        x = system.state(values)
        rows = np.flatnonzero(np.asarray(abs(system.E(x)).sum(axis=1)).reshape(-1) == 0)
        J = dense(system.J(x))
        tolerance = 1e-12 * largest(J)
        ranks.append(np.linalg.matrix_rank(J[rows], tol=tolerance) if rows.size else 0)
    return np.array(ranks, dtype=np.intp)


def rank_defect(system: PHSystem, states: Sequence[ArrayLike]) -> int:
    """Return the variation of the constraint rank over the given states; 0 is constant."""
    if len(states) == 0:
        raise InputError(
            f"system '{system.name}': the constraint rank needs at least one state; give x"
        )
    ranks = constraint_ranks(system, states)
    return int(ranks.max() - ranks.min())


@dataclass(frozen=True)
class Defects:
    """Defects of the port-Hamiltonian structure at one state; all should be near zero.

    skew: J + J^T. symmetric, semidefinite: of R. gradient: E^T z - grad H, by an independent
    derivative. dirac, lagrangian, resistive: the three relations of [BHRS25, def. 7].
    """

    skew: float
    symmetric: float
    semidefinite: float
    gradient: float
    dirac: float
    lagrangian: float
    resistive: float

    @property
    def worst(self) -> tuple[str, float]:
        """Name and size of the largest defect; NaN counts as the largest."""
        sizes = [(f.name, float(getattr(self, f.name))) for f in fields(self)]
        return max(sizes, key=lambda item: np.inf if np.isnan(item[1]) else item[1])

    def holds(self, tolerance: float = 1e-8) -> bool:
        """Return whether every defect is at most `tolerance`."""
        return all(getattr(self, f.name) <= tolerance for f in fields(self))

    def __str__(self) -> str:
        """One defect a line."""
        return "\n".join(f"{f.name:<13}{getattr(self, f.name):.2e}" for f in fields(self))


def defects(system: PHSystem, x: Vector, *, seed: int = 0) -> Defects:
    """Prove the structure of a system at a state; see `Defects`."""
    J, R = system.J(x), system.R(x)
    return Defects(
        skew=skew_defect(J),
        symmetric=symmetry_defect(R),
        semidefinite=semidefinite_defect(R),
        gradient=gradient_defect(system, x),
        dirac=dirac_structure(system, x).defect,
        lagrangian=lagrangian_defect(system, x),
        resistive=resistive_defect(system, x, seed=seed),
    )
