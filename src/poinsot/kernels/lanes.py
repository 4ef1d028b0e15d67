"""Four rows of a table side by side: what is done to one number is done to those of four rows.

Functions of `algebra` work on such numbers as they do on single ones. A vector register holds one
of them; in plain Python it is an array of four.
"""

from typing import Any, TypeAlias

import numpy as np

from poinsot.kernels.algebra import (
    Array,
    Four,
    Mat,
    Vec,
    add_four,
    four,
    put_four,
    sub_four,
    three,
)
from poinsot.kernels.kernel import arithmetic

#: A number of each of four rows.
Lane: TypeAlias = Any
#: Four rows of a table, or places of four parts.
Places4: TypeAlias = tuple[int, int, int, int]

# -- single instructions in machine code, see `intrinsics` -----------------------------------------


def side_by_side(a: Four, b: Four, c: Four, d: Four) -> tuple[Lane, Lane, Lane, Lane]:
    """Return the first numbers of all, the second ones, and so on."""
    x, y, z, w = np.array([a, b, c, d]).T
    return x, y, z, w


def apart(x: Lane, y: Lane, z: Lane, w: Lane) -> tuple[Four, Four, Four, Four]:
    """Return the four numbers of each row."""
    a, b, c, d = np.stack(np.broadcast_arrays(x, y, z, w), axis=1).tolist()
    return a, b, c, d


def larger(a: Lane, b: Lane) -> Lane:
    """Return the larger number in each row."""
    return np.maximum(a, b)


# -- reading and writing ---------------------------------------------------------------------------


@arithmetic
def across(a: Array, rows: Places4, at: int, count: int) -> tuple[Lane, ...]:
    """Return 4 `count` columns of four rows, from column `at` on."""
    i, j, k, m = rows
    found: list[Lane] = []
    for c in range(count):
        n = at + 4 * c
        found += side_by_side(four(a, i, n), four(a, j, n), four(a, k, n), four(a, m, n))
    return tuple(found)


@arithmetic
def vector_of(columns: tuple[Lane, ...], at: int) -> Vec:
    """Return a vector from some columns."""
    return columns[at], columns[at + 1], columns[at + 2]


@arithmetic
def matrix_of(columns: tuple[Lane, ...], at: int) -> Mat:
    """Return a matrix from some columns."""
    return vector_of(columns, at), vector_of(columns, at + 3), vector_of(columns, at + 6)


@arithmetic
def gather_lanes(a: Array, rows: Places4, b: Vec) -> None:
    """Add vectors to the first four columns of four rows, one after the other."""
    for row, own in zip(rows, apart(b[0], b[1], b[2], 0.0), strict=True):
        put_four(a, row, 0, add_four(four(a, row, 0), own))


@arithmetic
def add_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Add matrices to four tiles, one after the other."""
    for c in range(3):
        for i, own in zip(places, apart(B[0][c], B[1][c], B[2][c], 0.0), strict=True):
            put_four(tiles, i, 4 * c, add_four(four(tiles, i, 4 * c), own))


@arithmetic
def subtract_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Subtract matrices from four tiles, one after the other."""
    for c in range(3):
        for i, own in zip(places, apart(B[0][c], B[1][c], B[2][c], 0.0), strict=True):
            put_four(tiles, i, 4 * c, sub_four(four(tiles, i, 4 * c), own))


# -- sizes and sums --------------------------------------------------------------------------------


@arithmetic
def size_of(a: Vec) -> Lane:
    """Return the largest entry of a, without sign, in each row."""
    return larger(larger(abs(a[0]), abs(a[1])), abs(a[2]))


@arithmetic
def largest_of(A: Mat) -> Lane:
    """Return the largest entry of A, without sign, in each row."""
    return larger(larger(size_of(A[0]), size_of(A[1])), size_of(A[2]))


@arithmetic
def greatest(a: Lane) -> float:
    """Return the largest number of all rows."""
    first, second, third, fourth = (three(row)[0] for row in apart(a, a, a, a))
    return max(max(first, second), max(third, fourth))


@arithmetic
def total(a: Lane) -> float:
    """Return the sum over all rows."""
    first, second, third, fourth = (three(row)[0] for row in apart(a, a, a, a))
    return (first + second) + (third + fourth)
