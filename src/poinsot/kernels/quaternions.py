"""Quaternions as a number and a vector, in kernels; scalar first."""

from math import sqrt
from typing import TypeAlias

from poinsot.kernels.algebra import Array, Mat, Vec, add, axpy, cross, dot, scale, sub
from poinsot.kernels.kernel import arithmetic

Quat: TypeAlias = tuple[float, Vec]


@arithmetic
def product(a: Quat, b: Quat) -> Quat:
    """Return a b."""
    return a[0] * b[0] - dot(a[1], b[1]), axpy(a[0], b[1], axpy(b[0], a[1], cross(a[1], b[1])))


@arithmetic
def conjugate(a: Quat) -> Quat:
    """Return conj(a)."""
    return a[0], scale(-1.0, a[1])


@arithmetic
def inner(a: Quat, b: Quat) -> Vec:
    """Return the vector part of conj(a) b, which is G(a) b."""
    return axpy(a[0], b[1], sub(scale(-b[0], a[1]), cross(a[1], b[1])))


@arithmetic
def outer_part(a: Quat, b: Quat) -> Vec:
    """Return the vector part of a conj(b), which is E(b) a."""
    return axpy(b[0], a[1], sub(scale(-a[0], b[1]), cross(a[1], b[1])))


@arithmetic
def times_vector(a: Quat, b: Vec) -> Quat:
    """Return a (0, b), which is G(a)^T b."""
    return -dot(a[1], b), axpy(a[0], b, cross(a[1], b))


@arithmetic
def plus_quat(a: Quat, b: Quat) -> Quat:
    """Return a + b."""
    return a[0] + b[0], add(a[1], b[1])


@arithmetic
def scale_quat(s: float, a: Quat) -> Quat:
    """Return s a."""
    return s * a[0], scale(s, a[1])


@arithmetic
def dot_quat(a: Quat, b: Quat) -> float:
    """Return a·b."""
    return a[0] * b[0] + dot(a[1], b[1])


@arithmetic
def unit_quat(a: Quat) -> Quat:
    """Return a over its norm."""
    return scale_quat(1.0 / sqrt(dot_quat(a, a)), a)


@arithmetic
def directors_of(a: Quat) -> Mat:
    """Return the columns of the rotation of a unit quaternion, as rows."""
    w, (x, y, z) = a
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


@arithmetic
def quat_at(a: Array, i: int, at: int) -> Quat:
    """Return four numbers of row i of an array, from column `at` on."""
    return a[i, at], (a[i, at + 1], a[i, at + 2], a[i, at + 3])


@arithmetic
def put_quat(a: Array, i: int, at: int, b: Quat) -> None:
    """Store b in row i of an array, from column `at` on."""
    a[i, at] = b[0]
    a[i, at + 1], a[i, at + 2], a[i, at + 3] = b[1]
