"""Linear dependence of the rows of a matrix on earlier rows, dense or sparse."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Matrix, Vector, dense, is_sparse


def dependent_rows(A: Matrix, tolerance: float, *, width: int = 1) -> NDArray[np.bool_]:
    """Return which rows depend on the rows before them; shape (m,).

    A row is dependent if the part of it that is orthogonal to all earlier rows is at most
    `tolerance` times its length. In a sparse matrix, columns are taken in blocks of `width`: a
    hint for speed, with no influence on the answer.
    """
    if is_sparse(A):
        return _by_fronts(sp.csr_array(A), tolerance, width)
    return _by_projection(dense(A), tolerance)


def spanning_rows(A: sp.csr_array, tolerance: float, *, width: int = 1) -> NDArray[np.intp]:
    """Return some rows that span all others and are independent, in ascending order.

    The order in which they are looked for keeps neighbours together, whatever that of A is.
    """
    rows, _ = groups_of_rows(A, width)
    return np.sort(rows[~dependent_rows(A[rows], tolerance, width=width)])


def groups_of_rows(A: sp.csr_array, width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the rows that keeps neighbours together, and where groups start in it.

    Rows of a group have entries in the same blocks of columns; the last start is their number.
    """
    blocks = _blocks(A, width)
    starts = _starts(blocks)
    pattern = blocks[starts[:-1]]
    # Reverse Cuthill-McKee on groups and blocks as one graph: a tree is taken from its leaves on.
    graph = sp.block_array([[None, pattern], [pattern.T, None]], format="csr")
    order = scipy.sparse.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True)
    groups = order[order < starts.size - 1]
    rows = np.concatenate([np.arange(0), *(np.arange(*starts[k : k + 2]) for k in groups)])
    return rows, np.append(0, np.cumsum(np.diff(starts)[groups]))


def row_lengths(A: Matrix) -> Vector:
    """Return the length of every row."""
    squares: Vector = np.asarray((A * A).sum(axis=1)).reshape(-1)
    return np.sqrt(squares)


def divided_rows(A: Matrix, sizes: Vector) -> Matrix:
    """Return A with every row divided by its size."""
    if is_sparse(A):
        return sp.csr_array(sp.diags_array(1 / sizes) @ A)
    return dense(A) / sizes[:, None]


def unit_rows(A: Matrix) -> tuple[Matrix, Vector]:
    """Return the rows of A brought to length one, and their lengths; 1 for rows of zeros."""
    lengths = row_lengths(A)
    lengths[lengths == 0] = 1.0
    return divided_rows(A, lengths), lengths


def _by_projection(A: Array, tolerance: float) -> NDArray[np.bool_]:
    """Gram and Schmidt, twice: build an orthonormal basis of the rows."""
    basis, rank = np.empty((min(A.shape), A.shape[1])), 0
    dependent = np.ones(A.shape[0], dtype=bool)
    for k, row in enumerate(A):
        known = basis[:rank]
        new = row - known.T @ (known @ row)
        new = new - known.T @ (known @ new)
        size = float(np.linalg.norm(new))
        if rank < basis.shape[0] and size > tolerance * float(np.linalg.norm(row)):
            dependent[k] = False
            basis[rank] = new / size
            rank += 1
    return dependent


# -- sparse: A^T = Q R by fronts -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows of Q^T A^T on the way to R; `at` are the rows of A where it has entries: its columns.

    To turn the rows of a piece changes no length of a row of A, and no angle between two.
    """

    at: NDArray[np.intp]
    values: Array

    @classmethod
    def turned(cls, at: NDArray[np.intp], values: Array) -> "_Piece":
        """Return the piece, turned so that it has no more rows than columns."""
        if values.shape[0] > values.shape[1]:
            values = np.asarray(np.linalg.qr(values, mode="r"))
        return cls(at, values)


def _by_fronts(A: sp.csr_array, tolerance: float, width: int) -> NDArray[np.bool_]:
    """Turn A^T to a staircase R by Householder's reflections: a row without a step is dependent.

    The multifrontal method, with the rows of A in their own order: all pieces with entries in a
    group of rows are merged to one front, the front is reflected until only its top rows have
    entries there, and what is below them is a new piece, of later rows only. What is left of a
    column of A^T at its turn is what is new in that row of A, as in `_by_projection`. Fronts are
    small, and the work is linear, where neighbours are near each other in the order of rows.
    """
    starts = _starts(_blocks(A, width))
    group = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    small = tolerance * row_lengths(A)
    waiting: dict[int, list[_Piece]] = {}
    for piece in _columns(A, group, starts, width):
        waiting.setdefault(int(group[piece.at[0]]), []).append(piece)
    dependent = np.ones(A.shape[0], dtype=bool)
    for k, (first, last) in enumerate(pairwise(starts)):
        if k not in waiting:
            continue
        front, count = _merged(waiting.pop(k)), last - first
        steps, left = _reflected(front.values, small[first:last])
        dependent[first:last][steps] = False
        if front.at.size > count:
            rest = _Piece.turned(front.at[count:], left)
            waiting.setdefault(int(group[rest.at[0]]), []).append(rest)
    return dependent


def _blocks(A: sp.csr_array, width: int) -> sp.csr_array:
    """Return in which blocks of columns every row has entries."""
    shape = (A.shape[0], -(-A.shape[1] // width))
    blocks = sp.csr_array((np.ones(A.nnz), A.indices // width, A.indptr.copy()), shape=shape)
    blocks.sum_duplicates()
    return blocks


def _starts(blocks: sp.csr_array) -> NDArray[np.intp]:
    """Return where groups of rows start, closed by the number of rows.

    Rows one after the other with entries in the same blocks of columns are a group.
    """
    keys = [blocks.indices[i:j].tobytes() for i, j in pairwise(blocks.indptr)]
    changes = [k for k, (a, b) in enumerate(pairwise(keys), start=1) if a != b]
    return np.array([0, *changes, len(keys)])


def _columns(
    A: sp.csr_array, group: NDArray[np.intp], starts: NDArray[np.intp], width: int
) -> Iterator[_Piece]:
    """Yield the blocks of columns of A that have entries, as pieces over whole groups of rows."""
    columns = sp.csc_array(A)
    bounds = np.append(columns.indptr[:-1:width], columns.nnz)
    places = np.repeat(np.arange(A.shape[1]) % width, np.diff(columns.indptr))
    for begin, end in pairwise(bounds):
        if begin < end:
            rows = columns.indices[begin:end]
            at = np.concatenate([np.arange(*starts[k : k + 2]) for k in np.unique(group[rows])])
            values = np.zeros((width, at.size))
            values[places[begin:end], np.searchsorted(at, rows)] = columns.data[begin:end]
            yield _Piece.turned(at, values)


def _merged(pieces: list[_Piece]) -> _Piece:
    """Return the rows of all pieces as one piece; its values may be overwritten."""
    if len(pieces) == 1:
        return pieces[0]
    at = np.unique(np.concatenate([piece.at for piece in pieces]))
    values = np.zeros((sum(piece.values.shape[0] for piece in pieces), at.size))
    row = 0
    for piece in pieces:
        end = row + piece.values.shape[0]
        values[row:end, np.searchsorted(at, piece.at)] = piece.values
        row = end
    return _Piece(at, values)


def _reflected(front: Array, small: Array) -> tuple[list[int], Array]:
    """Bring the first columns to a staircase; return those with a step, and what is left below.

    H_1 ... H_p = I - V S^-1 V^T with S the upper triangle of V^T V, its diagonal halved.
    """
    panel, rest = front[:, : small.size], front[:, small.size :]
    steps: list[int] = []
    V = np.zeros((front.shape[0], small.size))
    for column in range(small.size):
        p = len(steps)
        new = panel[p:, column]
        size = float(np.sqrt(new @ new))
        if size > small[column]:
            v = new.copy()
            v[0] += np.copysign(size, v[0])
            v /= np.sqrt(size * abs(v[0]))  # v·v = 2
            panel[p:, column:] -= np.outer(v, v @ panel[p:, column:])
            V[p:, p] = v
            steps.append(column)
    p = len(steps)
    V = V[:, :p]
    S = np.triu(V.T @ V, 1) + np.eye(p)
    return steps, rest[p:] - V[p:] @ np.linalg.solve(S.T, V.T @ rest)
