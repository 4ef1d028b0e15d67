"""Null spaces of sparse matrices, by QR with preserved sparsity."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.ph.dependence import groups_of_rows, unit_rows
from poinsot.ph.matrices import Array, is_sparse


@dataclass(frozen=True, eq=False)
class _Front:
    """Orthonormal vectors, and what rows of A are along them.

    Parameters
    ----------
    at : (rows,)
        Rows of A that are not zero along some of the vectors, in ascending order.
    values : (vectors, rows)
        Those rows, along each of the vectors.
    support : (columns,)
        Columns of A where the vectors have entries.
    vectors : (vectors, columns)
        The vectors there.
    """

    at: NDArray[np.intp]
    values: Array
    support: NDArray[np.intp]
    vectors: Array

    @classmethod
    def merged(cls, fronts: "list[_Front]") -> "_Front":
        """Return the vectors of all of them; no two fronts have a column in common."""
        if len(fronts) == 1:
            return fronts[0]
        at = np.unique(np.concatenate([front.at for front in fronts]))
        total = sum(len(front.vectors) for front in fronts)
        support = np.concatenate([front.support for front in fronts])
        values, vectors = np.zeros((total, at.size)), np.zeros((total, support.size))
        row = column = 0
        for front in fronts:
            rows, columns = front.vectors.shape
            values[row : row + rows, np.searchsorted(at, front.at)] = front.values
            vectors[row : row + rows, column : column + columns] = front.vectors
            row, column = row + rows, column + columns
        return cls(at, values, support, vectors)

    def split(self, first: int, small: float) -> "tuple[_Front, _Front]":
        """Turn the vectors by QR on the first rows; return those seen there, and the others."""
        Q, R, _ = scipy.linalg.qr(self.values[:, :first], pivoting=True, check_finite=False)
        rank = int(np.count_nonzero(abs(np.diagonal(R)) > small))
        values, vectors = Q.T @ self.values, Q.T @ self.vectors
        values[rank:, :first] = 0.0
        seen = _Front(self.at, values[:rank], self.support, vectors[:rank])
        return seen, _Front(self.at[first:], values[rank:, first:], self.support, vectors[rank:])


def null_space(A: sp.csr_array, tolerance: float, *, width: int = 1) -> sp.csr_array:
    """Return an orthonormal basis P of the null space of A, A P = 0; shape (n, k), sparse.

    Multifrontal QR of A^T that keeps its Q: vectors that rows of A see are merged, row group by
    row group, and turned until as few as possible see the group; the others go on. A vector that no
    further row sees belongs to the null space, and has entries only where the fronts before it had.
    Rows are brought to length one first; what is less than `tolerance` is zero. For `width` see
    `dependent_rows`.
    """
    order, starts = groups_of_rows(A, width)
    A = _unit(A[order])
    group = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    waiting: dict[int, list[_Front]] = {}
    found = list[_Front]()

    def put(front: _Front) -> None:
        if not len(front.vectors):
            return
        if not front.at.size:
            found.append(front)
            return
        waiting.setdefault(int(group[front.at[0]]), []).append(front)

    columns, n = sp.csc_array(A), A.shape[1]
    for begin in range(0, n, width):
        own = np.arange(begin, min(begin + width, n))
        entries = slice(columns.indptr[own[0]], columns.indptr[own[-1] + 1])
        rows = columns.indices[entries]
        touched = np.unique(group[rows])
        at = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in touched] or [own[:0]])
        values = np.zeros((own.size, at.size))
        places = np.repeat(np.arange(own.size), np.diff(columns.indptr[own[0] : own[-1] + 2]))
        values[places, np.searchsorted(at, rows)] = columns.data[entries]
        put(_Front(at, values, own, np.eye(own.size)))
    for k, (first, last) in enumerate(pairwise(starts)):
        if k not in waiting:
            continue
        rest = _Front.merged(waiting.pop(k)).split(last - first, tolerance)[1]
        if 0 < rest.at.size < len(rest.vectors):
            # More vectors than rows are left: those that no later row sees go no further.
            rest, done = rest.split(rest.at.size, tolerance)
            put(done)
        put(rest)
    return _together(found, n)


def _unit(A: sp.csr_array) -> sp.csr_array:
    rows, _ = unit_rows(A)
    assert is_sparse(rows)
    return rows


def _together(found: list[_Front], n: int) -> sp.csr_array:
    """Return the vectors of fronts as columns."""
    rows, columns, values, count = [np.arange(0)], [np.arange(0)], [np.zeros(0)], 0
    for front in found:
        i, j = np.nonzero(front.vectors)
        rows.append(front.support[j])
        columns.append(i + count)
        values.append(front.vectors[i, j])
        count += len(front.vectors)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(sp.coo_array(entries, shape=(n, count)))
