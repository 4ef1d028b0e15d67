"""Vectors as tuples of three numbers, matrices as tuples of three rows: they stay in registers."""

from typing import Any, TypeAlias

from poinsot.kernels.kernel import arithmetic

Vec: TypeAlias = tuple[float, float, float]
Mat: TypeAlias = tuple[Vec, Vec, Vec]
#: Three numbers and a zero: as many as a vector register holds.
Four: TypeAlias = tuple[float, float, float, float]
#: A matrix by its columns, each followed by a zero.
Columns: TypeAlias = tuple[Four, Four, Four]
#: An array in memory, whatever its shape; kernels say it in their docstrings.
Array: TypeAlias = Any


@arithmetic
def add(a: Vec, b: Vec) -> Vec:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@arithmetic
def sub(a: Vec, b: Vec) -> Vec:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@arithmetic
def scale(s: float, a: Vec) -> Vec:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@arithmetic
def each(a: Vec, b: Vec) -> Vec:
    """Return the products of entries of a and b."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@arithmetic
def axpy(s: float, a: Vec, b: Vec) -> Vec:
    """Return s a + b."""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@arithmetic
def dot(a: Vec, b: Vec) -> float:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@arithmetic
def cross(a: Vec, b: Vec) -> Vec:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@arithmetic
def size(a: Vec) -> float:
    """Return the largest entry of a, without sign."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@arithmetic
def largest(A: Mat) -> float:
    """Return the largest entry of A, without sign."""
    return max(size(A[0]), size(A[1]), size(A[2]))


@arithmetic
def combine(w: Vec, D: Mat) -> Vec:
    """Return the sum of w_i times row i of D: a vector given in director axes."""
    return (
        w[0] * D[0][0] + w[1] * D[1][0] + w[2] * D[2][0],
        w[0] * D[0][1] + w[1] * D[1][1] + w[2] * D[2][1],
        w[0] * D[0][2] + w[1] * D[1][2] + w[2] * D[2][2],
    )


@arithmetic
def apply(A: Mat, b: Vec) -> Vec:
    """Return A b."""
    return dot(A[0], b), dot(A[1], b), dot(A[2], b)


@arithmetic
def plus(A: Mat, B: Mat) -> Mat:
    """Return A + B."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


@arithmetic
def minus(A: Mat, B: Mat) -> Mat:
    """Return A - B."""
    return sub(A[0], B[0]), sub(A[1], B[1]), sub(A[2], B[2])


@arithmetic
def times(s: float, A: Mat) -> Mat:
    """Return s A."""
    return scale(s, A[0]), scale(s, A[1]), scale(s, A[2])


@arithmetic
def multiply(A: Mat, B: Mat) -> Mat:
    """Return A B."""
    return combine(A[0], B), combine(A[1], B), combine(A[2], B)


@arithmetic
def outer(a: Vec, b: Vec) -> Mat:
    """Return a b^T."""
    return scale(a[0], b), scale(a[1], b), scale(a[2], b)


@arithmetic
def skew(a: Vec) -> Mat:
    """Return [a], with [a] b = a x b."""
    return (0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0)


@arithmetic
def skew_times(a: Vec, B: Mat) -> Mat:
    """Return [a] B."""
    return (
        sub(scale(a[1], B[2]), scale(a[2], B[1])),
        sub(scale(a[2], B[0]), scale(a[0], B[2])),
        sub(scale(a[0], B[1]), scale(a[1], B[0])),
    )


@arithmetic
def times_skew(A: Mat, b: Vec) -> Mat:
    """Return A [b]: every row of A crossed with b."""
    return cross(A[0], b), cross(A[1], b), cross(A[2], b)


@arithmetic
def transposed(A: Mat) -> Mat:
    """Return A^T."""
    return (
        (A[0][0], A[1][0], A[2][0]),
        (A[0][1], A[1][1], A[2][1]),
        (A[0][2], A[1][2], A[2][2]),
    )


@arithmetic
def trace(A: Mat) -> float:
    """Return tr A."""
    return A[0][0] + A[1][1] + A[2][2]


@arithmetic
def axial(A: Mat) -> Vec:
    """Return the sum of a x b where A is the sum of a b^T."""
    return A[1][2] - A[2][1], A[2][0] - A[0][2], A[0][1] - A[1][0]


@arithmetic
def adjugate(A: Mat) -> tuple[Mat, float]:
    """Return the cofactors of A, transposed, and its determinant: A^-1 is their quotient."""
    x, y, z = cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])
    return transposed((x, y, z)), dot(A[0], x)


@arithmetic
def inverse_by_rows(A: Mat) -> Mat:
    """Return A^-1 by elimination, for a matrix that is definite but hardly so.

    Where two of three directions are almost lost, cofactors cancel; elimination does not.
    """
    p = 1.0 / A[0][0]
    l1, l2 = A[1][0] * p, A[2][0] * p
    a, b = A[1][1] - l1 * A[0][1], A[1][2] - l1 * A[0][2]
    c, d = A[2][1] - l2 * A[0][1], A[2][2] - l2 * A[0][2]
    q = 1.0 / a
    l3 = c * q
    r = 1.0 / (d - l3 * b)
    # The columns of the inverse, from the last row up.
    z = r * (l3 * l1 - l2), -r * l3, r
    y = -q * (l1 + b * z[0]), q * (1.0 - b * z[1]), -q * b * z[2]
    x = (
        p * (1.0 - A[0][1] * y[0] - A[0][2] * z[0]),
        -p * (A[0][1] * y[1] + A[0][2] * z[1]),
        -p * (A[0][1] * y[2] + A[0][2] * z[2]),
    )
    return x, y, z


@arithmetic
def vector(a: Array, i: int, at: int) -> Vec:
    """Return three numbers of row i of an array, from column `at` on."""
    return a[i, at], a[i, at + 1], a[i, at + 2]


@arithmetic
def put(a: Array, i: int, at: int, b: Vec) -> None:
    """Store b in row i of an array, from column `at` on."""
    a[i, at], a[i, at + 1], a[i, at + 2] = b[0], b[1], b[2]


@arithmetic
def gather(a: Array, i: int, at: int, b: Vec) -> None:
    """Add b to row i of an array, from column `at` on."""
    a[i, at] += b[0]
    a[i, at + 1] += b[1]
    a[i, at + 2] += b[2]


@arithmetic
def matrix(a: Array, i: int, at: int) -> Mat:
    """Return nine numbers of row i of an array, from column `at` on."""
    return vector(a, i, at), vector(a, i, at + 3), vector(a, i, at + 6)


@arithmetic
def put_matrix(a: Array, i: int, at: int, B: Mat) -> None:
    """Store B in row i of an array, from column `at` on."""
    put(a, i, at, B[0])
    put(a, i, at + 3, B[1])
    put(a, i, at + 6, B[2])


# -- four numbers ----------------------------------------------------------------------------------
#
# These are vector instructions in machine code, see `intrinsics`.


def wide(a: Vec) -> Four:
    """Return a and a zero."""
    return a[0], a[1], a[2], 0.0


def three(a: Four) -> Vec:
    """Return the first three."""
    return a[0], a[1], a[2]


def four(a: Array, i: int, at: int) -> Four:
    """Return four numbers of row i of an array, from column `at` on."""
    return a[i, at], a[i, at + 1], a[i, at + 2], a[i, at + 3]


def put_four(a: Array, i: int, at: int, b: Four) -> None:
    """Store b in row i of an array, from column `at` on."""
    a[i, at], a[i, at + 1], a[i, at + 2], a[i, at + 3] = b[0], b[1], b[2], b[3]


def add_four(a: Four, b: Four) -> Four:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def sub_four(a: Four, b: Four) -> Four:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]


def scale_four(s: float, a: Four) -> Four:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2], s * a[3]


def axpy_four(s: float, a: Four, b: Four) -> Four:
    """Return s a + b."""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2], s * a[3] + b[3]


def less_four(a: Four, s: float, b: Four) -> Four:
    """Return a - s b."""
    return a[0] - s * b[0], a[1] - s * b[1], a[2] - s * b[2], a[3] - s * b[3]


def times_four(a: Four, b: Four) -> Four:
    """Return the products of entries of a and b."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]


def add_squares(a: Four, b: Four) -> Four:
    """Return a plus the squares of b."""
    return a[0] + b[0] * b[0], a[1] + b[1] * b[1], a[2] + b[2] * b[2], a[3] + b[3] * b[3]


@arithmetic
def apply_columns(A: Columns, b: Vec) -> Four:
    """Return A b."""
    return axpy_four(b[2], A[2], axpy_four(b[1], A[1], scale_four(b[0], A[0])))


@arithmetic
def more(c: Four, A: Columns, b: Vec) -> Four:
    """Return c + A b."""
    return axpy_four(b[2], A[2], axpy_four(b[1], A[1], axpy_four(b[0], A[0], c)))


@arithmetic
def less(c: Four, A: Columns, b: Vec) -> Four:
    """Return c - A b."""
    return less_four(less_four(less_four(c, b[0], A[0]), b[1], A[1]), b[2], A[2])


# -- tiles -----------------------------------------------------------------------------------------
#
# A tile is a row of an array (tiles, 12): a matrix by columns, each followed by a zero. Products of
# tiles then go through whole vector registers.


@arithmetic
def put_column(tiles: Array, i: int, k: int, a: Vec) -> None:
    """Store a in column k of tile i."""
    put(tiles, i, 4 * k, a)


@arithmetic
def put_row(tiles: Array, i: int, k: int, a: Vec) -> None:
    """Store a in row k of tile i."""
    tiles[i, k], tiles[i, 4 + k], tiles[i, 8 + k] = a[0], a[1], a[2]


@arithmetic
def add_column(tiles: Array, i: int, k: int, a: Vec) -> None:
    """Add a to column k of tile i."""
    gather(tiles, i, 4 * k, a)


@arithmetic
def add_row(tiles: Array, i: int, k: int, a: Vec) -> None:
    """Add a to row k of tile i."""
    tiles[i, k] += a[0]
    tiles[i, 4 + k] += a[1]
    tiles[i, 8 + k] += a[2]


@arithmetic
def tile(tiles: Array, i: int) -> Mat:
    """Return tile i."""
    return transposed(tile_columns(tiles, i))


@arithmetic
def tile_columns(tiles: Array, i: int) -> Mat:
    """Return the columns of tile i."""
    return vector(tiles, i, 0), vector(tiles, i, 4), vector(tiles, i, 8)


@arithmetic
def put_tile(tiles: Array, i: int, B: Mat) -> None:
    """Store B in tile i."""
    C = transposed(B)
    put_columns(tiles, i, (wide(C[0]), wide(C[1]), wide(C[2])))


@arithmetic
def add_tile(tiles: Array, i: int, B: Mat) -> None:
    """Add B to tile i."""
    C = transposed(B)
    put_four(tiles, i, 0, add_four(four(tiles, i, 0), wide(C[0])))
    put_four(tiles, i, 4, add_four(four(tiles, i, 4), wide(C[1])))
    put_four(tiles, i, 8, add_four(four(tiles, i, 8), wide(C[2])))


@arithmetic
def columns(tiles: Array, i: int) -> Columns:
    """Return the columns of tile i."""
    return columns_at(tiles, i, 0)


@arithmetic
def columns_at(a: Array, i: int, at: int) -> Columns:
    """Return a matrix by its columns from row i of an array, from column `at` on."""
    return four(a, i, at), four(a, i, at + 4), four(a, i, at + 8)


@arithmetic
def put_columns(tiles: Array, i: int, A: Columns) -> None:
    """Store columns in tile i."""
    put_four(tiles, i, 0, A[0])
    put_four(tiles, i, 4, A[1])
    put_four(tiles, i, 8, A[2])
