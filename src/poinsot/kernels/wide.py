"""Matrices by rows of four numbers: what multiplies them from the left goes through all columns.

A row is three numbers and a zero, as many as a vector register holds; see `algebra`.
"""

from typing import TypeAlias

from poinsot.kernels.algebra import (
    Four,
    Mat,
    Vec,
    add_four,
    axpy_four,
    scale_four,
    sub_four,
    three,
    wide,
)
from poinsot.kernels.kernel import arithmetic

#: A matrix by rows, each followed by a zero.
Rows: TypeAlias = tuple[Four, Four, Four]


@arithmetic
def rows_of(A: Mat) -> Rows:
    """Return A by rows of four."""
    return wide(A[0]), wide(A[1]), wide(A[2])


@arithmetic
def as_matrix(A: Rows) -> Mat:
    """Return A by rows of three."""
    return three(A[0]), three(A[1]), three(A[2])


@arithmetic
def plus_rows(A: Rows, B: Rows) -> Rows:
    """Return A + B."""
    return add_four(A[0], B[0]), add_four(A[1], B[1]), add_four(A[2], B[2])


@arithmetic
def minus_rows(A: Rows, B: Rows) -> Rows:
    """Return A - B."""
    return sub_four(A[0], B[0]), sub_four(A[1], B[1]), sub_four(A[2], B[2])


@arithmetic
def scale_rows(s: float, A: Rows) -> Rows:
    """Return s A."""
    return scale_four(s, A[0]), scale_four(s, A[1]), scale_four(s, A[2])


@arithmetic
def axpy_rows(s: float, A: Rows, B: Rows) -> Rows:
    """Return s A + B."""
    return axpy_four(s, A[0], B[0]), axpy_four(s, A[1], B[1]), axpy_four(s, A[2], B[2])


@arithmetic
def combine_rows(a: Vec, B: Rows) -> Four:
    """Return the sum of a_i times row i of B."""
    return axpy_four(a[2], B[2], axpy_four(a[1], B[1], scale_four(a[0], B[0])))


@arithmetic
def multiply_rows(A: Mat, B: Rows) -> Rows:
    """Return A B."""
    return combine_rows(A[0], B), combine_rows(A[1], B), combine_rows(A[2], B)


@arithmetic
def skew_rows(a: Vec, B: Rows) -> Rows:
    """Return [a] B."""
    return (
        sub_four(scale_four(a[1], B[2]), scale_four(a[2], B[1])),
        sub_four(scale_four(a[2], B[0]), scale_four(a[0], B[2])),
        sub_four(scale_four(a[0], B[1]), scale_four(a[1], B[0])),
    )


@arithmetic
def outer_rows(a: Vec, b: Four) -> Rows:
    """Return a b^T."""
    return scale_four(a[0], b), scale_four(a[1], b), scale_four(a[2], b)
