"""Linear equations of any rank, dense or sparse: shortest solutions and independent rows."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from poinsot.ph.dependence import dependent_rows, divided_rows, row_lengths, spanning_rows
from poinsot.ph.matrices import Array, Matrix, Vector, dense, is_sparse

#: Singular values below this part of the largest count as zero, and so do new parts of rows.
CUT = 1e-11
#: Relative defect up to which a solution is taken as it is.
ACCURATE = 1e-10
#: Shifts that make singular equations of unit length regular: one that round-off cannot undo, and
#: one below the square of any singular value.
SHIFTS = 1e-14, 1e-20
#: How often a solution is refined, as long as that halves its defect.
REFINEMENTS = 8
#: An estimate this many times above a tolerance is above it beyond doubt.
CLEARLY = 1e3


def shortest_solution(A: Matrix, b: Array, *, width: int = 1) -> Array:
    """Return the shortest of all x that solve A x = b, (m,) or (m, k); shape (n,) or (n, k).

    If none does, the least-squares solution with all rows brought to one length, because equations
    of different kinds have no common unit; that of a sparse matrix is a rough one. For `width` see
    `dependent_rows`.
    """
    lengths = row_lengths(A)
    used = np.flatnonzero(lengths)
    A, b = divided_rows(A[used], lengths[used]), (b[used].T / lengths[used]).T
    if not is_sparse(A):
        return np.asarray(np.linalg.lstsq(dense(A), b, rcond=CUT)[0])
    if b.ndim == 1:
        return _shortest_of_sparse(A, b, width)
    found = np.zeros((A.shape[1], b.shape[1]))
    for k in np.flatnonzero(b.any(axis=0)):
        found[:, k] = _shortest_of_sparse(A, b[:, k], width)
    return found


def _shortest_of_sparse(A: sp.csr_array, b: Vector, width: int) -> Vector:
    """Return the shortest solution with rows of length one."""
    attempts = []
    for shift in SHIFTS:
        x, defect = _by_multipliers(A, b, shift)
        if defect <= ACCURATE:
            return x
        attempts.append(x)
    rows = spanning_rows(A, CUT, width=width)
    attempts.append(_by_multipliers(A[rows], b[rows], 0.0)[0])
    return min(attempts, key=lambda x: float(np.linalg.norm(A @ x - b)))


def independent(A: Matrix, tolerance: float, *, width: int = 1) -> bool:
    """Return whether no row depends on the rows before it; see `dependent_rows`."""
    if not is_sparse(A):
        return not dependent_rows(A, tolerance).any()
    lengths = row_lengths(A)
    if not lengths.all():
        return False
    rows = divided_rows(A, lengths)
    # What is new in a row of length one is at least the smallest singular value.
    return is_sparse(rows) and (
        smallest_singular_value(rows) > CLEARLY * tolerance
        or spanning_rows(rows, tolerance, width=width).size == lengths.size
    )


def coefficients(A: Matrix, b: Array) -> Array | None:
    """Return c with A^T c = b, as nearly as can be: what makes b, (n,) or (n, k), of the rows of A.

    None if the rows of A are dependent.
    """
    if not is_sparse(A):
        found, _, rank, _ = np.linalg.lstsq(dense(A).T, b, rcond=CUT)
        return np.asarray(found) if rank == A.shape[0] else None
    try:
        lu = scipy.sparse.linalg.splu(_saddle(A, 0.0))
    except RuntimeError:  # exactly singular
        return None
    return np.asarray(
        lu.solve(np.concatenate([b, np.zeros((A.shape[0], *b.shape[1:]))]))[b.shape[0] :]
    )


def smallest_singular_value(A: Matrix) -> float:
    """Return the smallest of m singular values; of a sparse matrix roughly, 0 if it cannot be told.

    Inverse iteration: y from A A^T y = y before, of length one. It comes near from above, and fast
    for values that are far below all others.
    """
    m, n = A.shape
    if not is_sparse(A):
        return float(np.linalg.svd(dense(A), compute_uv=False)[-1]) if 0 < m <= n else 0.0
    y = np.random.default_rng(0).standard_normal(m)
    lu = scipy.sparse.linalg.splu(_saddle(A, SHIFTS[0]))
    for _ in range(10):
        y = lu.solve(np.concatenate([np.zeros(n), y / np.linalg.norm(y)]))[n:]
    size = float(np.linalg.norm(y))
    return size**-0.5 if 0 < size < np.inf else 0.0


def _saddle(A: sp.csr_array, shift: float) -> sp.csc_array:
    """Return K = [I, A^T; A, -shift I], as sparse as A, which A A^T need not be."""
    m, n = A.shape
    upper = sp.hstack([sp.eye_array(n), A.T])
    lower = sp.hstack([A, -shift * sp.eye_array(m)])
    return sp.csc_array(sp.vstack([upper, lower]))


def _by_multipliers(A: sp.csr_array, b: Vector, shift: float) -> tuple[Vector, float]:
    """Return x from x + A^T mu = 0, A x = b, and its defect: zero if it is right.

    Both equations together say that x is a solution and that none is shorter, even where mu is not
    unique: a small defect proves x, whatever the rank of A. The shift keeps dependent rows from
    making K singular, and refinement takes its influence back.
    """
    m, n = A.shape
    K, right = _saddle(A, 0.0), np.concatenate([np.zeros(n), b])
    solution, least = np.zeros(n + m), np.inf
    try:
        lu = scipy.sparse.linalg.splu(_saddle(A, shift))
    except RuntimeError:  # exactly singular
        return solution[:n], least
    for _ in range(1 + REFINEMENTS):
        refined = solution + lu.solve(right - K @ solution)
        defect = _defect(right - K @ refined, refined[:n], b)
        if not defect < least / 2:
            break
        solution, least = refined, defect
    return solution[:n], least


def _defect(residual: Vector, x: Vector, b: Vector) -> float:
    """Return how far A x is from b, or |x|^2 above its minimum, relative; infinite for nonsense.

    The part of x that is no A^T mu is orthogonal to the others, and could be left out.
    """
    excess, gap = residual[: x.size], residual[x.size :]
    tiny = np.finfo(float).tiny
    with np.errstate(all="ignore"):
        longer = (excess @ excess) / (x @ x + tiny)
        missed = np.max(abs(gap), initial=0.0) / (np.max(abs(b), initial=0.0) + tiny)
    defect = float(np.max([longer, missed]))
    return defect if np.isfinite(defect) else np.inf
