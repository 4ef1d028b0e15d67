"""Vectors as tuples of three numbers, matrices as tuples of three rows: they stay in registers."""

from typing import Any, TypeAlias

from poinsot.kernels.kernel import inline

Vec: TypeAlias = tuple[float, float, float]
Mat: TypeAlias = tuple[Vec, Vec, Vec]
#: An array in memory, whatever its shape; kernels say it in their docstrings.
Array: TypeAlias = Any


@inline
def add(a: Vec, b: Vec) -> Vec:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def sub(a: Vec, b: Vec) -> Vec:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def scale(s: float, a: Vec) -> Vec:
    """Return s a."""
    return s * a[0], s * a[1], s * a[2]


@inline
def axpy(s: float, a: Vec, b: Vec) -> Vec:
    """Return s a + b."""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@inline
def dot(a: Vec, b: Vec) -> float:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a: Vec, b: Vec) -> Vec:
    """Return a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@inline
def size(a: Vec) -> float:
    """Return the largest entry of a, without sign."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@inline
def combine(w: Vec, D: Mat) -> Vec:
    """Return the sum of w_i times row i of D: a vector given in director axes."""
    return (
        w[0] * D[0][0] + w[1] * D[1][0] + w[2] * D[2][0],
        w[0] * D[0][1] + w[1] * D[1][1] + w[2] * D[2][1],
        w[0] * D[0][2] + w[1] * D[1][2] + w[2] * D[2][2],
    )


@inline
def apply(A: Mat, b: Vec) -> Vec:
    """Return A b."""
    return dot(A[0], b), dot(A[1], b), dot(A[2], b)


@inline
def plus(A: Mat, B: Mat) -> Mat:
    """Return A + B."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


@inline
def minus(A: Mat, B: Mat) -> Mat:
    """Return A - B."""
    return sub(A[0], B[0]), sub(A[1], B[1]), sub(A[2], B[2])


@inline
def times(s: float, A: Mat) -> Mat:
    """Return s A."""
    return scale(s, A[0]), scale(s, A[1]), scale(s, A[2])


@inline
def multiply(A: Mat, B: Mat) -> Mat:
    """Return A B."""
    return combine(A[0], B), combine(A[1], B), combine(A[2], B)


@inline
def less(C: Mat, A: Mat, B: Mat) -> Mat:
    """Return C - A B, each product fused with its difference."""
    return _less(C[0], A[0], B), _less(C[1], A[1], B), _less(C[2], A[2], B)


@inline
def _less(c: Vec, a: Vec, B: Mat) -> Vec:
    return (
        c[0] - a[0] * B[0][0] - a[1] * B[1][0] - a[2] * B[2][0],
        c[1] - a[0] * B[0][1] - a[1] * B[1][1] - a[2] * B[2][1],
        c[2] - a[0] * B[0][2] - a[1] * B[1][2] - a[2] * B[2][2],
    )


@inline
def outer(a: Vec, b: Vec) -> Mat:
    """Return a b^T."""
    return scale(a[0], b), scale(a[1], b), scale(a[2], b)


@inline
def skew(a: Vec) -> Mat:
    """Return [a], with [a] b = a x b."""
    return (0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0)


@inline
def skew_times(a: Vec, B: Mat) -> Mat:
    """Return [a] B."""
    return (
        sub(scale(a[1], B[2]), scale(a[2], B[1])),
        sub(scale(a[2], B[0]), scale(a[0], B[2])),
        sub(scale(a[0], B[1]), scale(a[1], B[0])),
    )


@inline
def times_skew(A: Mat, b: Vec) -> Mat:
    """Return A [b]: every row of A crossed with b."""
    return cross(A[0], b), cross(A[1], b), cross(A[2], b)


@inline
def transposed(A: Mat) -> Mat:
    """Return A^T."""
    return (
        (A[0][0], A[1][0], A[2][0]),
        (A[0][1], A[1][1], A[2][1]),
        (A[0][2], A[1][2], A[2][2]),
    )


@inline
def trace(A: Mat) -> float:
    """Return tr A."""
    return A[0][0] + A[1][1] + A[2][2]


@inline
def axial(A: Mat) -> Vec:
    """Return the sum of a x b where A is the sum of a b^T."""
    return A[1][2] - A[2][1], A[2][0] - A[0][2], A[0][1] - A[1][0]


@inline
def inverse(A: Mat) -> Mat:
    """Return A^-1 by cofactors."""
    x, y, z = cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])
    d = 1.0 / dot(A[0], x)
    return (
        (d * x[0], d * y[0], d * z[0]),
        (d * x[1], d * y[1], d * z[1]),
        (d * x[2], d * y[2], d * z[2]),
    )


@inline
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


@inline
def vector(a: Array, i: int, at: int) -> Vec:
    """Return three numbers of row i of an array, from column `at` on."""
    return a[i, at], a[i, at + 1], a[i, at + 2]


@inline
def put(a: Array, i: int, at: int, b: Vec) -> None:
    """Store b in row i of an array, from column `at` on."""
    a[i, at], a[i, at + 1], a[i, at + 2] = b[0], b[1], b[2]


@inline
def gather(a: Array, i: int, at: int, b: Vec) -> None:
    """Add b to row i of an array, from column `at` on."""
    a[i, at] += b[0]
    a[i, at + 1] += b[1]
    a[i, at + 2] += b[2]


@inline
def matrix(a: Array, i: int, at: int) -> Mat:
    """Return nine numbers of row i of an array, from column `at` on."""
    return vector(a, i, at), vector(a, i, at + 3), vector(a, i, at + 6)


@inline
def put_matrix(a: Array, i: int, at: int, B: Mat) -> None:
    """Store B in row i of an array, from column `at` on."""
    put(a, i, at, B[0])
    put(a, i, at + 3, B[1])
    put(a, i, at + 6, B[2])


@inline
def gather_matrix(a: Array, i: int, at: int, B: Mat) -> None:
    """Add B to row i of an array, from column `at` on."""
    gather(a, i, at, B[0])
    gather(a, i, at + 3, B[1])
    gather(a, i, at + 6, B[2])


@inline
def put_column(tiles: Array, place: int, slot: int, a: Vec) -> None:
    """Store a in a column of a tile."""
    tiles[place, slot] = a[0]
    tiles[place, 3 + slot] = a[1]
    tiles[place, 6 + slot] = a[2]


@inline
def put_row(tiles: Array, place: int, slot: int, a: Vec) -> None:
    """Store a in a row of a tile."""
    tiles[place, 3 * slot] = a[0]
    tiles[place, 3 * slot + 1] = a[1]
    tiles[place, 3 * slot + 2] = a[2]
