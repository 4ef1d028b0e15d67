"""Four rows of a table side by side: what is done to one number is done to those of four rows.

Functions of `algebra` work on such numbers as they do on single ones. A vector register holds one
of them; in plain Python it is an array of four.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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

#: So many rows are side by side.
ABREAST = 4

#: A number of each of four rows.
Lane: TypeAlias = Any
#: Four rows of a table, or places of four parts.
Places4: TypeAlias = tuple[int, int, int, int]


def in_groups(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table (4 groups, columns) with the numbers of four rows side by side.

    (groups, 4 columns): nothing need be exchanged to read them.
    """
    count, columns = table.shape
    groups = table.reshape(count // ABREAST, ABREAST, columns).swapaxes(1, 2)
    return np.ascontiguousarray(groups).reshape(count // ABREAST, ABREAST * columns)


def apart_again(groups: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table `in_groups` with a row for each again."""
    count, columns = groups.shape[0], groups.shape[1] // ABREAST
    rows = groups.reshape(count, columns, ABREAST).swapaxes(1, 2)
    return np.ascontiguousarray(rows).reshape(ABREAST * count, columns)


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


def lane(a: Array, i: int, at: int) -> Lane:
    """Return the numbers that lie side by side in row i of an array, from column `at` on."""
    return np.array(a[i, at : at + ABREAST])


def put_lane(a: Array, i: int, at: int, x: Lane) -> None:
    """Store numbers side by side in row i of an array, from column `at` on."""
    a[i, at : at + ABREAST] = x


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
def beside(a: Array, group: int, at: int, count: int) -> tuple[Lane, ...]:
    """Return columns of a table `in_groups`."""
    return tuple(lane(a, group, ABREAST * (at + c)) for c in range(count))


@arithmetic
def put_beside(a: Array, group: int, at: int, columns: tuple[Lane, ...]) -> None:
    """Store columns in a table `in_groups`."""
    for c, x in enumerate(columns):
        put_lane(a, group, ABREAST * (at + c), x)


@arithmetic
def put_across(a: Array, rows: Places4, at: int, columns: tuple[Lane, ...]) -> None:
    """Store columns, four times as many as wanted, in four rows, from column `at` on."""
    for c in range(0, len(columns), ABREAST):
        x, y, z, w = columns[c : c + ABREAST]
        for row, own in zip(rows, apart(x, y, z, w), strict=True):
            put_four(a, row, at + c, own)


@arithmetic
def gather_across(a: Array, rows: Places4, at: int, columns: tuple[Lane, ...]) -> None:
    """Add columns, four times as many as wanted, to four rows, one after the other."""
    for c in range(0, len(columns), ABREAST):
        x, y, z, w = columns[c : c + ABREAST]
        for row, own in zip(rows, apart(x, y, z, w), strict=True):
            put_four(a, row, at + c, add_four(four(a, row, at + c), own))


@arithmetic
def places_of(places: Array, rows: Places4, at: int) -> Places4:
    """Return a column of places of four rows."""
    a, b, c, d = rows
    return places[a, at], places[b, at], places[c, at], places[d, at]


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
def put_lanes(a: Array, rows: Places4, b: Vec) -> None:
    """Store vectors in the first four columns of four rows, followed by a zero."""
    put_across(a, rows, 0, (*b, 0.0))


@arithmetic
def put_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Store matrices in four tiles."""
    zero = 0.0
    first, second, third = ((B[0][c], B[1][c], B[2][c], zero) for c in range(3))
    put_across(tiles, places, 0, first + second + third)


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


@arithmetic
def last_of(a: Lane) -> float:
    """Return the number of the last row."""
    return three(apart(a, a, a, a)[3])[0]
