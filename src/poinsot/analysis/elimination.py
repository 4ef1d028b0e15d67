r"""Elimination of constraints from linear descriptor systems.

The pencil (E, A) splits the space of states into V, on which it is an ordinary differential
equation, and W, on which it is algebraic (Wong's sequences; Berger, Ilchmann, Trenn, Linear
Algebra Appl. 436, 2012):

.. math:: x = V \xi + W \eta, \qquad \dot\xi = F \xi + G u, \qquad N \dot\eta = \eta + H u

with N nilpotent. The eigenvalues of F are the finite ones of the pencil; W belongs to the infinite
ones.

Velocity constraints G v = 0 leave g(q) constant. Such constants follow from the structure alone:
if n^T (J - R) = 0, then n^T E x is one for any energy. V is the space on which they vanish, since
they are not modes of the system.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from poinsot.analysis.linear import AnyLinear, LinearPHSystem, labels, matrices, sparse
from poinsot.errors import SingularPencilError
from poinsot.ph.dependence import spanning_rows, unit_rows
from poinsot.ph.matrices import (
    Array,
    Matrix,
    Vector,
    add,
    dense,
    diagonal,
    is_sparse,
    largest,
    nonzero,
    scale_columns,
)
from poinsot.ph.null_space import null_space as sparse_null_space

#: Singular values below this part of the largest count as zero, in equilibrated matrices.
CUT = 1e-10
#: Round-off in the blocks of a mechanical system.
EXACT = 1e-12
#: Change of a constant, as a part of what changes at all, that is none.
MOVED = 1e-8
#: How often rows and columns are scaled by each other in turn.
SWEEPS = 10
#: Part of the largest mass that is none.
MASSLESS = 1e-25


@dataclass(frozen=True, eq=False)
class Elimination:
    """A descriptor system without constraints, x = V xi + W eta.

    Parameters
    ----------
    V : (n, r)
        Basis of the states that move.
    F, G : (r, r), (r, m)
        xi' = F xi + G u.
    C : (m, r)
        What outputs are of xi.
    feedthrough : tuple of (m, m)
        y = C xi + D_0 u + D_1 u' + ...; empty where there is none.
    infinite : int
        How many eigenvalues are infinite: the dimension of the rest.
    index : int
        How often algebraic equations have to be differentiated; 0: there are none.
    constants : int
        How many constants like g(q) are left out.
    repeated : int
        How many equations are redundant, and leave as many multipliers open.
    """

    V: Array
    F: Array
    G: Array
    C: Array
    feedthrough: tuple[Array, ...]
    infinite: int
    index: int
    constants: int
    repeated: int


def eliminate(linear: AnyLinear) -> Elimination:
    """Eliminate the constraints of a linear system; raises `SingularPencilError`.

    Those of a mechanical system by the null space of its constraints, which is the most accurate;
    any others by the pencil.
    """
    require_determined(linear)
    return _of_mechanism(linear) or _of_pencil(linear)


def require_determined(linear: AnyLinear) -> None:
    """Refuse a system with a state that no equation contains.

    Multipliers of repeated constraints are not determined either, but equations contain them.
    """
    known = np.zeros(linear.n, dtype=bool)
    for matrix in (linear.matrix_E, linear.matrix_A):
        known |= dense(abs(matrix).max(axis=0)).reshape(-1) > 0
    if not known.all():
        name = labels(linear.states)[int(np.argmin(known))]
        raise SingularPencilError(
            f"system '{linear.name}': the pencil (E, A) is singular: no equation contains "
            f"{int(np.sum(~known))} state(s), e.g. '{name}'; add the missing equation, mass or "
            "damping"
        )


def _of_mechanism(linear: AnyLinear) -> Elimination | None:
    r"""Eliminate constraints K z = 0 of velocities z = v + A_qq q, and K q = 0 of coordinates.

    With q = P q', z = P z' and range P = null K, q' and z' are free. None where a constraint is not
    one of positions too, or masses do not suffice.
    """
    k = None if linear.about is None else linear.about.freedoms
    if k is None or linear.about is None or linear.about.sizes.size != linear.n:
        return None
    E, A, B, C = linear.matrix_E, linear.matrix_A, dense(linear.matrix_B), dense(linear.matrix_C)
    whole: Any = sparse if is_sparse(E) and is_sparse(A) else dense
    E, A = whole(E), whole(A)
    q, v, lam = slice(0, k), slice(k, 2 * k), slice(2 * k, linear.n)
    K, X = A[lam, v], A[q, q]
    if nonzero(A[lam, lam]) or nonzero(A[q, lam]) or B[lam].any() or C[:, lam].any() or B[q].any():
        return None
    gaps = (
        largest(add(A[q, v], -1.0 * diagonal(np.ones(k)))),
        largest(add(A[v, lam], K.T)) / (largest(K) or 1.0),
    )
    if max(gaps) > EXACT:
        return None
    sizes = _by_mass(E[v, v].diagonal(), linear.about.sizes[q])
    P: Any = scale_columns(null_space_of(scale_columns(K, sizes)).T, sizes).T
    f = P.shape[1]
    moved = largest(add(A[lam, q], -1.0 * (K @ X)) @ P)
    M = dense(P.T @ E[v, v] @ P)
    if moved > 0:
        terms = largest(abs(A[lam, q]) @ abs(P)) + largest(abs(K) @ abs(X) @ abs(P))
        if moved > MOVED * terms:
            return None
    if _singular(M):
        return None
    rows = [A[v, q] @ P - A[v, v] @ X @ P, A[v, v] @ P + E[v, v] @ X @ P]
    found = np.linalg.solve(M, np.hstack([*(dense(P.T @ row) for row in rows), P.T @ B[v]]))
    # Velocities are measured by the largest rate, so that all entries of F are one.
    rate = float(np.sqrt(np.max(abs(found[:, :f]), initial=0.0))) or 1.0
    F = np.block([[np.zeros((f, f)), rate * np.eye(f)], [found[:, :f] / rate, found[:, f : 2 * f]]])
    V = np.zeros((linear.n, 2 * f))
    V[q, :f], V[v, :f], V[v, f:] = dense(P), -dense(X @ P), rate * dense(P)
    # What multipliers have to be for the rest of the equation of momentum.
    rest = np.hstack([dense(row) for row in rows]) - E[v, v] @ (P @ found[:, : 2 * f])
    rest[:, f:] *= rate
    G = np.vstack([np.zeros((f, linear.m)), found[:, 2 * f :] / rate])
    held = k - f
    if held:
        V[lam] = _multipliers(scale_columns(K, sizes), sizes[:, None] * rest)
    return Elimination(V, F, G, C @ V, (), 2 * held, 2 if held else 0, held, K.shape[0] - held)


def _multipliers(K: Matrix, forces: Array) -> Array:
    """Return the shortest lam with K^T lam = forces, rows of K brought to length one."""
    unit, lengths = unit_rows(K)
    if is_sparse(unit):
        from scipy.sparse.linalg import splu

        kept = spanning_rows(unit, CUT)
        found = np.zeros((K.shape[0], forces.shape[1]))
        rows = unit[kept]
        found[kept] = splu(sp.csc_array(rows @ rows.T)).solve(rows @ forces)
        return np.asarray(found / lengths[:, None])
    return np.asarray(np.linalg.lstsq(dense(unit).T, forces, rcond=CUT)[0] / lengths[:, None])


def _by_mass(mass: Vector, sizes: Vector) -> Vector:
    """Return displacements of one kinetic energy at one rate; without mass, as large as others."""
    heavy = mass > MASSLESS * np.max(mass, initial=0.0)
    if not heavy.any():
        return sizes
    found = 1 / np.sqrt(np.where(heavy, mass, 1.0))
    return np.where(heavy, found, sizes * np.median(found[heavy] / sizes[heavy]))


def _singular(M: Array) -> bool:
    if not M.size:
        return False
    scale = np.sqrt(abs(np.diagonal(M)))
    if not np.all(scale > 0):
        return True
    return float(np.linalg.cond(M / scale[:, None] / scale)) > 1 / CUT


def null_space_of(G: Matrix) -> Matrix:
    """Return an orthonormal basis of the null space of constraints, by QR; sparse if they are.

    Rows are brought to length one first: they are of different kinds.
    """
    if 0 in G.shape:
        return diagonal(np.ones(G.shape[1]))
    if is_sparse(G):
        return sparse_null_space(G, CUT)
    rows = dense(unit_rows(G)[0])
    Q, R, _ = scipy.linalg.qr(rows.T, pivoting=True, check_finite=False)
    sizes = abs(np.diagonal(R))
    rank = int(np.count_nonzero(sizes > CUT * max(float(sizes[0]), np.finfo(float).tiny)))
    return np.asarray(Q[:, rank:])


def _of_pencil(linear: AnyLinear) -> Elimination:
    """Eliminate constraints of any kind, by Wong's sequences."""
    E, A, B, C = matrices(linear)
    rows, columns = scales(linear)
    scale = rows[:, None] * columns
    E, A, B = scale * E, scale * A, rows[:, None] * B
    C = C * columns
    open_, repeated = _open(linear, E, A, B)
    L = rows[:, None] * dense(linear.conduction)
    constants = _constants(L / (np.max(abs(L), axis=0) + np.finfo(float).tiny), B)
    constants = _kept(constants, E, A)
    V, index = _slow(E, A, np.hstack([open_, E.T @ constants]))
    EV = E @ V
    _require_regular(linear, EV, V)
    W = _fast(E, A, open_)
    both = np.hstack([EV, A @ W])
    found = np.asarray(np.linalg.lstsq(both, np.hstack([A @ V, E @ W, B]), rcond=None)[0], float)
    r, f = V.shape[1], W.shape[1]
    F, N, H = found[:r, :r], found[r:, r : r + f], found[:, r + f :]
    # A zero among rates of this size, which alone it would not be.
    F = np.where(abs(F) > np.finfo(float).eps * np.max(abs(A), initial=0.0), F, 0.0)
    feedthrough = _feedthrough(C, C @ W, N, -H[r:])
    return Elimination(
        V=columns[:, None] * V,
        F=F,
        G=H[:r],
        C=C @ V,
        feedthrough=tuple(feedthrough),
        infinite=f,
        index=index,
        constants=int(np.linalg.matrix_rank(constants.T @ E, tol=CUT)) if constants.size else 0,
        repeated=repeated,
    )


def _feedthrough(C: Array, through: Array, N: Array, power: Array) -> tuple[Array, ...]:
    """Return C W N^k H for k = 0, 1, ... up to the last that does not vanish."""
    terms, last, size = list[Array](), 0, float(np.linalg.norm(C) * np.linalg.norm(power))
    for k in range(N.shape[0]):
        direct = through @ power
        terms.append(np.where(abs(direct) > CUT * size, direct, 0.0))
        if terms[-1].any():
            last = k + 1
        power = N @ power
        if float(np.linalg.norm(C) * np.linalg.norm(power)) <= CUT * size:
            break
    return tuple(terms[:last])


def scales(linear: AnyLinear) -> tuple[Vector, Vector]:
    """Return factors of rows and columns that bring the entries of E and A to size one.

    Units are taken out first: rows are divided by their masses, coordinates of a mechanical system
    are measured by its lengths, and velocities by the largest rate that its stiffness makes. States
    of other systems are measured by their energy. Factors are powers of two, which round nothing.
    """
    n, parts = linear.n, []
    for matrix in (linear.matrix_E, linear.matrix_A):
        found = sparse(matrix).tocoo()
        parts.append((*found.coords, abs(found.data)))
    mass, rows, columns = np.zeros(n), np.ones(n), np.ones(n)
    i, _, entries = parts[0]
    np.maximum.at(mass, i, entries)
    heavy = mass > MASSLESS * np.max(mass, initial=0.0)
    rows[heavy] /= mass[heavy]
    at = linear.about
    if at is not None and at.freedoms is not None and at.sizes.size == n:
        k, (i, j, entries) = at.freedoms, parts[1]
        columns[:k] = columns[k : 2 * k] = at.sizes[:k]
        rows[: 2 * k] /= columns[: 2 * k]
        pulls = (i >= k) & (i < 2 * k) & (j < k)
        pull = rows[i[pulls]] * entries[pulls] * columns[j[pulls]]
        rate = np.sqrt(np.max(pull, initial=0.0)) or 1.0
        columns[k : 2 * k] *= rate
        rows[k : 2 * k] /= rate
    elif isinstance(linear, LinearPHSystem):
        columns = _by_energy(linear)
        rows /= columns
    # Multipliers have no unit of their own: they are measured by what they do.
    i, j, entries = parts[1]
    push = np.zeros(n)
    np.maximum.at(push, j, rows[i] * entries * columns[j])
    free = np.asarray(linear.algebraic) & (push > 0)
    columns[free] /= push[free]
    for _ in range(SWEEPS):
        by_row, by_column = np.zeros(n), np.zeros(n)
        for i, j, entries in parts:
            sizes = rows[i] * entries * columns[j]
            sizes /= np.max(sizes, initial=0.0) or 1.0
            np.maximum.at(by_row, i, sizes)
            np.maximum.at(by_column, j, sizes)
        rows /= _roots(by_row)
        columns /= _roots(by_column)
    return np.exp2(np.round(np.log2(rows))), np.exp2(np.round(np.log2(columns)))


def _by_energy(linear: LinearPHSystem) -> Vector:
    """Return states of one energy; 1 where a state has none by itself."""
    energy = linear.bends
    stored = energy > MASSLESS * np.max(energy, initial=0.0)
    return np.where(stored, 1 / np.sqrt(np.where(stored, energy, 1.0)), 1.0)


def _roots(sizes: Vector) -> Vector:
    return np.sqrt(np.where(sizes > 0, sizes, 1.0))


def null_space(a: Array, cut: float = CUT, size: float = 0.0) -> Array:
    """Return an orthonormal basis of the null space; (n, k).

    Singular values are compared with the largest, or with the size that it has by nature.
    """
    if a.shape[0] == 0 or not np.any(a):
        return np.eye(a.shape[1])
    _, s, Vt = scipy.linalg.svd(a, check_finite=False)
    rank = int(np.count_nonzero(s > cut * max(float(s[0]), size)))
    return np.asarray(Vt[rank:].T)


def _open(linear: AnyLinear, E: Array, A: Array, B: Array) -> tuple[Array, int]:
    """Return multipliers that nothing determines, and how many equations are redundant."""
    open_ = null_space(np.vstack([E, A]))
    repeated = null_space(np.vstack([E.T, A.T]))
    if open_.shape[1] != repeated.shape[1]:
        raise SingularPencilError(
            f"system '{linear.name}': the pencil (E, A) is singular: {open_.shape[1]} states are "
            f"not determined and {repeated.shape[1]} equations are redundant"
            + _where(linear, open_ if open_.size else repeated)
        )
    if repeated.size and np.max(abs(repeated.T @ B), initial=0.0) > CUT * np.max(
        abs(B), initial=0.0
    ):
        raise SingularPencilError(
            f"system '{linear.name}': an input acts on redundant equations; remove the redundant "
            "constraints" + _where(linear, repeated)
        )
    return open_, repeated.shape[1]


def _where(linear: AnyLinear, vectors: Array) -> str:
    if not vectors.size:
        return ""
    k = int(np.argmax(np.max(abs(vectors), axis=1)))
    return f", e.g. '{labels(linear.states)[k]}'"


def _constants(L: Array, B: Array) -> Array:
    """Return n with n^T (J - R) = 0 and n^T B = 0; (n, k)."""
    found = null_space(L.T)
    if not found.size or not B.size:
        return found
    return np.asarray(found @ null_space(B.T @ found, CUT, float(np.linalg.norm(B))))


def _kept(constants: Array, E: Array, A: Array) -> Array:
    """Return the combinations of constants that stay zero where all of them are.

    In motion only those do that derive from positions: constraints on velocities alone do not.
    """
    algebraic, size = null_space(E.T).T @ A, float(np.linalg.norm(A, 2))
    while constants.shape[1]:
        held = null_space(np.vstack([algebraic, constants.T @ E]))
        inside = null_space((constants.T @ A @ held).T, MOVED, size)
        if inside.shape[1] == constants.shape[1]:
            break
        constants = constants @ inside
    return constants


def _slow(E: Array, A: Array, normal: Array) -> tuple[Array, int]:
    """Return V, what stays of the states normal to some when equations are differentiated."""
    V, index, size = null_space(normal.T), 0, float(np.linalg.norm(A, 2))
    while True:
        inside = null_space(null_space((E @ V).T).T @ A @ V, CUT, size)
        if inside.shape[1] == V.shape[1]:
            return V, index
        V, index = V @ inside, index + 1


def _fast(E: Array, A: Array, open_: Array) -> Array:
    """Return W, states without derivatives and those that follow from them."""
    W = np.zeros((E.shape[0], 0))
    while True:
        reached = null_space((A @ W).T) if W.size else np.eye(E.shape[0])
        wider = null_space(np.vstack([reached.T @ E, open_.T]), CUT, 1.0)
        if wider.shape[1] == W.shape[1]:
            return W
        W = wider


def _require_regular(linear: AnyLinear, EV: Array, V: Array) -> None:
    """Refuse a pencil that leaves a state free."""
    free = null_space(EV, CUT, 1.0) if EV.size else np.zeros((0, 0))
    if free.shape[1]:
        raise SingularPencilError(
            f"system '{linear.name}': the pencil (E, A) is singular: its equations leave "
            f"{free.shape[1]} state(s) free{_where(linear, V @ free)}; add the missing constraint "
            "or mass"
        )
