"""Dense and sparse matrices with one interface, and their assembly from blocks."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError

#: An array of numbers; a `Vector` has one index.
Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]


class Matrix(Protocol):
    """What dense (`numpy.ndarray`) and sparse (`scipy.sparse.sparray`) matrices have in common."""

    @property
    def shape(self) -> Any: ...  # noqa: D102
    @property
    def T(self) -> Any: ...  # noqa: D102
    def __matmul__(self, other: Any, /) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __getitem__(self, index: Any, /) -> Any: ...


#: A block and the row and column where its upper left corner goes.
Placed: TypeAlias = tuple[int, int, Matrix]

#: Systems with at least this many states are assembled as sparse matrices.
SPARSE_FROM = 300


def large(size: int) -> bool:
    """Return whether a matrix of this size is kept sparse."""
    return size >= SPARSE_FROM


def is_sparse(a: object) -> TypeGuard[sp.csr_array]:
    """Tell a sparse matrix from a dense one."""
    return isinstance(a, sp.sparray)


def dense(a: Matrix) -> Array:
    """Return the matrix as a NumPy array."""
    return a.toarray() if is_sparse(a) else np.asarray(a)


def nonzero(a: Matrix) -> bool:
    """Return whether a matrix has an entry that is not zero."""
    return bool(a.count_nonzero() if is_sparse(a) else np.any(dense(a)))


def alike(M: Any, B: Matrix) -> Matrix:
    """Return M, sparse where B is: products of both then stay sparse."""
    return sp.csr_array(M) if is_sparse(B) else M


def as_matrix(a: ArrayLike | Matrix, shape: tuple[int, int], what: str) -> Matrix:
    """Check a user's matrix: its shape, and that every entry is finite."""
    matrix: Array | sp.csr_array
    if sp.issparse(a):
        matrix = sp.csr_array(a)
        entries = matrix.data
    else:
        try:
            matrix = np.array(a, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"{what}: not a matrix of numbers ({error})") from None
        if matrix.ndim < 2:
            matrix = matrix.reshape(-1, 1) if shape[1] == 1 else np.atleast_2d(matrix)
        entries = matrix
    if matrix.shape != shape:
        raise InputError(f"{what}: shape {matrix.shape}, expected {shape}")
    if not np.all(np.isfinite(entries)):
        raise InputError(f"{what}: contains NaN or infinity")
    return matrix


def largest(a: Matrix) -> float:
    """Return the largest absolute entry."""
    if 0 in a.shape:
        return 0.0
    return float(abs(a).max())


def balancing(K: Matrix, forces: Vector) -> Vector:
    """Return by which multipliers each row of K amounts to one of these forces at most; (m,)."""
    share = abs(K) * np.divide(1.0, forces, out=np.zeros(forces.size), where=forces > 0)
    largest = share.max(axis=1) if K.shape[0] else np.zeros(0)
    largest = dense(largest).reshape(-1)
    return np.divide(1.0, largest, out=np.zeros(largest.size), where=largest > 0)


def assemble(shape: tuple[int, int], placed: Sequence[Placed]) -> Matrix:
    """Add blocks into a matrix: sparse if it is large or any block is, else dense."""
    if not large(max(shape)) and not any(is_sparse(block) for _, _, block in placed):
        total = np.zeros(shape)
        for row, column, block in placed:
            rows, columns = block.shape
            total[row : row + rows, column : column + columns] += dense(block)
        return total
    rows_, columns_, values = [], [], []
    for row, column, block in placed:
        found: Any = sp.coo_array(block) if is_sparse(block) else dense(block)
        i, j = found.coords if is_sparse(block) else found.nonzero()
        rows_.append(i + row)
        columns_.append(j + column)
        values.append(found.data if is_sparse(block) else found[i, j])
    if not values:
        return sp.csr_array(shape)
    entries = (np.concatenate(values), (np.concatenate(rows_), np.concatenate(columns_)))
    return sp.csr_array(sp.coo_array(entries, shape=shape))


def each_times(rows: Array, weights: Vector) -> Vector:
    """Return rows @ weights, where a row gives the same bits among others and alone.

    That is not so with BLAS. Sparse matrices do the same for many weights.
    """
    return np.asarray((rows * weights).sum(axis=1))


def diagonal(d: Vector) -> Matrix:
    """Return a diagonal matrix, sparse if it is large."""
    return sp.diags_array(d, format="csr") if large(d.size) else np.diag(d)


def scale_columns(a: Matrix, weights: Vector) -> Matrix:
    """Return a @ diag(weights)."""
    if is_sparse(a):
        return sp.csr_array(a @ sp.diags_array(weights))
    return dense(a) * weights


def add(a: Matrix, b: Matrix | None) -> Matrix:
    """Return a + b, where None stands for zero and sparse stays sparse."""
    if b is None:
        return a
    if is_sparse(a) and not is_sparse(b):
        b = sp.csr_array(dense(b))
    elif is_sparse(b) and not is_sparse(a):
        a = sp.csr_array(dense(a))
    total: Matrix = a + b
    return total


def total(*terms: Matrix | None) -> Matrix:
    """Return a sum in which None stands for zero, and at least one term does not."""
    there = [term for term in terms if term is not None]
    result = there[0]
    for term in there[1:]:
        result = add(result, term)
    return result
