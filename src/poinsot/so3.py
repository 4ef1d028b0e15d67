"""Rotations: skew matrices, exponential, Cayley map, quaternions (scalar first), Euler angles.

R_WB maps body components to world components, a_W = R_WB a_B; its columns are the directors
d1, d2, d3. Angles in rad. Functions work on the last axes of an array: (..., 3), (..., 4) or
(..., 3, 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.inputs import numbers

Array: TypeAlias = NDArray[np.float64]

#: Up to this defect, matrices are made orthogonal and quaternions normalised; beyond, refused.
TOLERANCE = 1e-6
#: Below this defect a matrix is orthogonal to round-off, and its entries stay as they are.
ROUND_OFF = 16 * float(np.finfo(float).eps)
IDENTITY = np.eye(3)


def skew(a: ArrayLike) -> Array:
    """Return the matrix of the cross product, skew(a) b = a × b; (..., 3) to (..., 3, 3)."""
    a = np.asarray(a, dtype=float)
    S = np.zeros((*a.shape, 3))
    S[..., 2, 1], S[..., 0, 2], S[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    S[..., 1, 2], S[..., 2, 0], S[..., 0, 1] = -a[..., 0], -a[..., 1], -a[..., 2]
    return S


def axial(A: ArrayLike) -> Array:
    """Return a with skew(a) = (A - A^T)/2; inverse of `skew`; (..., 3, 3) to (..., 3)."""
    A = np.asarray(A, dtype=float)
    rows = (A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1])
    a: Array = np.stack(rows, axis=-1) / 2
    return a


def exp(theta: ArrayLike) -> Array:
    r"""Return the rotation about the axis theta by the angle \|theta\| [rad] (Rodrigues).

    .. math:: R = I + \frac{\sin t}{t} S + \frac{1 - \cos t}{t^2} S^2, \quad S = skew(\theta)

    (..., 3) to (..., 3, 3).
    """
    theta = np.asarray(theta, dtype=float)
    t = np.linalg.norm(theta, axis=-1)[..., None, None]
    S = skew(theta)
    # np.sinc(x) = sin(pi x)/(pi x) is smooth at 0, and 1 - cos t = 2 sin^2(t/2) does not cancel.
    R: Array = np.eye(3) + np.sinc(t / np.pi) * S + np.sinc(t / (2 * np.pi)) ** 2 / 2 * (S @ S)
    return R


def log(R: ArrayLike) -> Array:
    r"""Return the rotation vector theta with exp(theta) = R and \|theta\| <= pi [rad].

    For half turns, where both signs are valid, the largest component is positive. (..., 3, 3) to
    (..., 3).
    """
    quat = matrix_to_quat(R)
    w, v = quat[..., :1], quat[..., 1:]
    s = np.linalg.norm(v, axis=-1, keepdims=True)
    ratio = np.divide(2 * np.arctan2(s, w), s, out=np.full_like(s, 2.0), where=s > 0)
    theta: Array = ratio * v
    return theta


def cayley(w: ArrayLike) -> Array:
    r"""Return the Cayley image of w, the rotation about w by the angle 2 atan(\|w\|/2).

    .. math:: R = (I - W/2)^{-1} (I + W/2) = I + \frac{W + W^2/2}{1 + |w|^2/4}, \quad W = skew(w)

    It agrees with exp(w) to second order; a midpoint step h rotates a body by cayley(h omega).
    (..., 3) to (..., 3, 3).
    """
    w = np.asarray(w, dtype=float)
    W = skew(w)
    R: Array = np.eye(3) + (W + W @ W / 2) / (1 + np.sum(w * w, axis=-1) / 4)[..., None, None]
    return R


def quat_to_matrix(quat: ArrayLike) -> Array:
    """Return the rotation of a unit quaternion (w, x, y, z), scalar first; (..., 4) to (..., 3, 3).

    R = I + 2 w S + 2 S^2 with S = skew(x, y, z). The norm is not checked, see `as_unit_quaternion`.
    """
    quat = np.asarray(quat, dtype=float)
    S = skew(quat[..., 1:])
    R: Array = np.eye(3) + 2 * quat[..., :1, None] * S + 2 * (S @ S)
    return R


def matrix_to_quat(R: ArrayLike) -> Array:
    """Return the unit quaternion (w, x, y, z), scalar first, w >= 0; (..., 3, 3) to (..., 4).

    The entries of R give K = 4 q q^T; its row with the largest diagonal entry is used, to avoid
    cancellation. For half turns (w = 0) the largest component is positive.
    """
    R = np.asarray(R, dtype=float)
    a = 2 * axial(R)
    r1, r2, r3 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1 + r1 + r2 + r3
    K[..., 1:, 1:] = R + np.swapaxes(R, -1, -2)
    K[..., 1, 1], K[..., 2, 2], K[..., 3, 3] = 1 + r1 - r2 - r3, 1 - r1 + r2 - r3, 1 - r1 - r2 + r3
    K[..., 0, 1:] = K[..., 1:, 0] = a
    largest = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(K, largest[..., None, None], axis=-2)[..., 0, :]
    quat: Array = row / np.linalg.norm(row, axis=-1, keepdims=True)
    quat *= np.where(quat[..., :1] < 0, -1.0, 1.0)
    return quat


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the product of two quaternions, scalar first: R(a b) = R(a) R(b); (..., 4)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    (aw, ax, ay, az), (bw, bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    w = aw * bw - (ax * bx + ay * by + az * bz)
    x = aw * bx + bw * ax + (ay * bz - az * by)
    y = aw * by + bw * ay + (az * bx - ax * bz)
    z = aw * bz + bw * az + (ax * by - ay * bx)
    return np.stack([w, x, y, z], axis=-1)


def quat_conjugate(quat: ArrayLike) -> Array:
    """Return (w, -x, -y, -z), the inverse rotation for a unit quaternion; (..., 4)."""
    conjugate: Array = np.asarray(quat, dtype=float) * np.array([1.0, -1.0, -1.0, -1.0])
    return conjugate


def quat_left(a: ArrayLike) -> Array:
    r"""Return the matrix of multiplication from the left, Q_l(a) b = a b; (..., 4) to (..., 4, 4).

    .. math:: Q_l(a) = \begin{bmatrix} a & G(a)^\top \end{bmatrix}
              = a_0 I + \begin{bmatrix} 0 & -v^\top \\ v & \widehat v \end{bmatrix},
              \quad a = (a_0, v)

    [KB24, eq. (33a)]
    """
    a = np.asarray(a, dtype=float)
    return np.concatenate([a[..., :, None], np.swapaxes(quat_body(a), -1, -2)], axis=-1)


def quat_right(b: ArrayLike) -> Array:
    r"""Return the matrix of multiplication from the right, Q_r(b) a = a b; (..., 4) to (..., 4, 4).

    .. math:: Q_r(b) = \begin{bmatrix} b & E(b)^\top \end{bmatrix}
              = b_0 I + \begin{bmatrix} 0 & -v^\top \\ v & -\widehat v \end{bmatrix},
              \quad b = (b_0, v)

    [KB24, eq. (33b)]
    """
    b = np.asarray(b, dtype=float)
    return np.concatenate([b[..., :, None], np.swapaxes(quat_world(b), -1, -2)], axis=-1)


def quat_body(a: ArrayLike) -> Array:
    r"""Return G(a), with Omega = 2 G(q) q' in body axes [rad/s]; (..., 4) to (..., 3, 4).

    .. math:: G(a) = \begin{bmatrix} -v & a_0 I - \widehat v \end{bmatrix}, \quad a = (a_0, v)

    [KB24, eqs. (35a), (43)]. Inversely, q' = G(q)^T Omega / 2, and R(q) = E(q) G(q)^T
    [KB24, eqs. (44), (50)].
    """
    return _vector_part(a, -1.0)


def quat_world(b: ArrayLike) -> Array:
    r"""Return E(b), with omega = 2 E(q) q' in world axes [rad/s]; (..., 4) to (..., 3, 4).

    .. math:: E(b) = \begin{bmatrix} -v & b_0 I + \widehat v \end{bmatrix}, \quad b = (b_0, v)

    [KB24, eqs. (35b), (43)]. Inversely, q' = E(q)^T omega / 2 [KB24, eq. (44)].
    """
    return _vector_part(b, 1.0)


def _vector_part(a: ArrayLike, sign: float) -> Array:
    a = np.asarray(a, dtype=float)
    square = a[..., :1, None] * IDENTITY + sign * skew(a[..., 1:])
    return np.concatenate([-a[..., 1:, None], square], axis=-1)


def quat_exp(theta: ArrayLike) -> Array:
    r"""Return the unit quaternion of a rotation vector theta [rad]; (..., 3) to (..., 4).

    .. math:: \exp_{S^3}(0, \theta/2)
              = \Bigl(\cos\frac{|\theta|}{2},\ \sin\frac{|\theta|}{2}\,\frac{\theta}{|\theta|}\Bigr)

    [KB24, eq. (40)]; R(quat_exp(theta)) = exp(theta).
    """
    theta = np.asarray(theta, dtype=float)
    t = np.linalg.norm(theta, axis=-1, keepdims=True)
    return np.concatenate([np.cos(t / 2), np.sinc(t / (2 * np.pi)) / 2 * theta], axis=-1)


def as_unit_quaternion(value: ArrayLike, *, name: str = "quaternion") -> Array:
    """Return a quaternion (w, x, y, z), scalar first, normalised; (4,).

    Raises `InputError`, which begins with the given name, if the norm is off by more than 1e-6.
    """
    quat = _numbers(value, name)
    if quat.shape != (4,):
        raise InputError(
            f"{name}: a quaternion has four numbers (w, x, y, z), got shape {quat.shape}"
        )
    norm = float(np.linalg.norm(quat))
    if abs(norm - 1) > TOLERANCE:
        raise InputError(
            f"{name}: the quaternion {_text(quat)} has norm {norm:.9g}, not 1; divide it by its "
            "norm (the order is scalar first: w, x, y, z)"
        )
    return quat if abs(norm - 1) <= ROUND_OFF else quat / norm


def euler_to_matrix(sequence: str, angles: ArrayLike) -> Array:
    """Return the rotation by Euler angles [rad] about a sequence of axes; (3, 3).

    Upper case is about moving axes (intrinsic), "ZXZ": R = Rz(a1) Rx(a2) Rz(a3). Lower case is
    about fixed axes (extrinsic), "xyz": R = Rz(a3) Ry(a2) Rx(a1). One to three angles.
    """
    _check_sequence(sequence, lengths=(1, 2, 3))
    values = np.atleast_1d(_numbers(angles, f"Euler angles '{sequence}'"))
    if values.shape != (len(sequence),):
        raise InputError(
            f"Euler angles '{sequence}': {len(sequence)} angles needed, got shape {values.shape}"
        )
    R = np.eye(3)
    for letter, angle in zip(sequence, values, strict=True):
        turn = exp(angle * np.eye(3)["xyz".index(letter.lower())])
        R = R @ turn if sequence.isupper() else turn @ R
    return R


def matrix_to_euler(sequence: str, R: ArrayLike) -> Array:
    """Return the three Euler angles [rad] of a rotation about a sequence of axes; (..., 3).

    Upper case: moving axes (intrinsic). Lower case: fixed axes (extrinsic). At a gimbal lock the
    angles are not unique: SciPy warns and sets one to zero.
    """
    _check_sequence(sequence, lengths=(3,))
    # Imported here, for it would make up a good part of the start of the package.
    from scipy.spatial.transform import Rotation as ScipyRotation

    rotation = ScipyRotation.from_matrix(np.asarray(R, dtype=float))
    return np.asarray(rotation.as_euler(cast(Any, sequence)))


def nearest_rotation(A: ArrayLike) -> Array:
    r"""Return the rotation R that minimises \|R - A\| (Frobenius); (..., 3, 3).

    From the singular values A = U S V^T, R = U diag(1, 1, det(U V^T)) V^T.
    """
    A = _numbers(A, "nearest rotation")
    if A.shape[-2:] != (3, 3):
        raise InputError(f"nearest rotation: expected a 3x3 matrix, got shape {A.shape}")
    U, sigma, Vt = np.linalg.svd(A)
    sign = np.sign(np.linalg.det(U @ Vt))
    # The turn in the plane of the two weakest directions is determined by sigma_2 ± sigma_3.
    if np.any(sigma[..., 1] + sign * sigma[..., 2] <= ROUND_OFF * sigma[..., 0]):
        raise InputError(
            "nearest rotation: the matrix is too close to singular, or to a reflection, to have a "
            f"unique nearest rotation (singular values {_text(sigma)}); check its columns"
        )
    U[..., :, 2] *= sign[..., None]
    R: Array = U @ Vt
    return R


@dataclass(frozen=True, eq=False)
class Rotation:
    """A rotation R_WB, which maps body components to world components.

    `Rotation(R_AB) @ Rotation(R_BC)` is the rotation R_AC. Made from a matrix, or by one of the
    `from_...` methods.

    Parameters
    ----------
    matrix : (3, 3)
        Orthogonal matrix with determinant 1, stored read-only; its columns are the directors.
    """

    R_WB: ArrayLike

    # A matrix times a rotation is a mistake, which NumPy would turn into an array of objects.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        """Check the matrix and keep a read-only copy."""
        R = _checked_matrix(_numbers(self.R_WB, "rotation"), "rotation")
        R.setflags(write=False)
        object.__setattr__(self, "R_WB", R)

    @classmethod
    def identity(cls) -> Self:
        """Return the identity."""
        return cls(np.eye(3))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Return the rotation of an orthogonal 3x3 matrix with determinant 1."""
        return cls(matrix)

    @classmethod
    def nearest(cls, matrix: ArrayLike) -> Self:
        """Return the rotation nearest to a 3x3 matrix, see `nearest_rotation`."""
        return cls(nearest_rotation(matrix))

    @classmethod
    def from_quaternion(cls, quat: ArrayLike) -> Self:
        """Return the rotation of a unit quaternion (w, x, y, z), scalar first."""
        return cls(quat_to_matrix(as_unit_quaternion(quat)))

    @classmethod
    def from_axis_angle(cls, axis: ArrayLike, angle: float) -> Self:
        """Return the rotation by an angle [rad] about an axis of any nonzero length."""
        direction = _vector(axis, "axis")
        length = float(np.linalg.norm(direction))
        if length == 0:
            raise InputError("axis: (0, 0, 0) has no direction; give the axis to turn about")
        turn = _numbers(angle, "angle")
        if turn.shape != ():
            raise InputError(f"angle: expected one number [rad], got shape {turn.shape}")
        return cls(exp(turn * (direction / length)))

    @classmethod
    def from_rotation_vector(cls, theta: ArrayLike) -> Self:
        r"""Return the rotation about theta by the angle \|theta\| [rad]."""
        return cls(exp(_vector(theta, "rotation vector")))

    @classmethod
    def from_euler(cls, sequence: str, angles: ArrayLike) -> Self:
        """Return the rotation by Euler angles [rad]: "ZXZ" moving axes, "zxz" fixed axes."""
        return cls(euler_to_matrix(sequence, angles))

    @classmethod
    def from_directors(cls, d1: ArrayLike, d2: ArrayLike, d3: ArrayLike) -> Self:
        """Return the rotation whose columns are the directors: body axes in world components."""
        columns = [_vector(d, name) for d, name in ((d1, "d1"), (d2, "d2"), (d3, "d3"))]
        return cls(np.stack(columns, axis=1))

    @property
    def matrix(self) -> Array:
        """R_WB; (3, 3), read-only."""
        return np.asarray(self.R_WB)

    @property
    def quaternion(self) -> Array:
        """Unit quaternion (w, x, y, z), scalar first, w >= 0; (4,)."""
        return matrix_to_quat(self.matrix)

    @property
    def rotation_vector(self) -> Array:
        """Axis times angle [rad], with an angle of at most pi; (3,)."""
        return log(self.matrix)

    @property
    def directors(self) -> tuple[Array, Array, Array]:
        """The directors d1, d2, d3, columns of R_WB; each (3,)."""
        d1, d2, d3 = self.matrix.T
        return d1, d2, d3

    @property
    def inverse(self) -> Self:
        """The inverse rotation, R_BW = R_WB^T."""
        return type(self)(self.matrix.T)

    def euler(self, sequence: str) -> Array:
        """Return three Euler angles [rad] for a sequence of axes, see `matrix_to_euler`."""
        return matrix_to_euler(sequence, self.matrix)

    def apply(self, a_B: ArrayLike) -> Array:
        """Return a_W = R_WB a_B for one or many vectors; (..., 3)."""
        a_W: Array = np.asarray(a_B, dtype=float) @ self.matrix.T
        return a_W

    def __matmul__(self, other: Rotation) -> Rotation:
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation(self.matrix @ other.matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rotation) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        # Adding 0.0 turns -0.0 into 0.0, for the two are equal.
        return hash((self.matrix + 0.0).tobytes())


#: A 3x3 matrix, a scalar-first quaternion, a `Rotation`, or None for the identity.
RotationLike: TypeAlias = Rotation | ArrayLike | None


def as_rotation_matrix(value: RotationLike, *, name: str = "rotation") -> Array:
    """Return the rotation matrix (3, 3) for any description of a rotation.

    None is the identity, a 3x3 array is the matrix R_WB, four numbers are a unit quaternion (w, x,
    y, z), scalar first. Defects up to 1e-6 are corrected, larger ones raise `InputError`, whose
    message begins with the given name.
    """
    if value is None:
        return np.eye(3)
    if isinstance(value, Rotation):
        return value.matrix.copy()
    numbers = _numbers(value, name)
    if numbers.shape == (4,):
        numbers = quat_to_matrix(as_unit_quaternion(numbers, name=name))
    return _checked_matrix(numbers, name)


def _checked_matrix(R: Array, name: str) -> Array:
    """Return a rotation matrix, orthogonal to round-off; raise `InputError` otherwise."""
    if R.shape != (3, 3):
        hint = ""
        if R.shape == (3,):
            hint = "; three numbers may be meant as Rotation.from_rotation_vector or from_euler"
        raise InputError(
            f"{name}: expected a 3x3 matrix, a quaternion (w, x, y, z), a Rotation or None, "
            f"got shape {R.shape}{hint}"
        )
    defect = float(abs(R.T @ R - IDENTITY).max())
    if defect > TOLERANCE:
        raise InputError(
            f"{name}: the matrix is not orthogonal, max|R^T R - I| = {defect:.3g}; "
            "correct it, or use Rotation.nearest(matrix)"
        )
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    if a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0:
        raise InputError(
            f"{name}: the matrix has determinant -1, it is a reflection (a left-handed frame); "
            "reverse one of its columns"
        )
    return R if defect <= ROUND_OFF else nearest_rotation(R)


def _check_sequence(sequence: str, *, lengths: Sequence[int]) -> None:
    """Raise `InputError` unless a sequence of axes has the form "XYZ" or "xyz"."""
    one_case = set(sequence) <= set("xyz") or set(sequence) <= set("XYZ")
    repeated = any(a == b for a, b in pairwise(sequence))
    if not one_case or repeated or len(sequence) not in lengths:
        count = "three" if lengths == (3,) else "one to three"
        raise InputError(
            f"Euler angles: '{sequence}' is not a sequence of axes; give {count} letters, none "
            "twice in a row, 'ZXZ' for moving axes (intrinsic) or 'zxz' for fixed axes (extrinsic)"
        )


def _vector(value: ArrayLike, name: str) -> Array:
    """Return three finite numbers."""
    vector = _numbers(value, name)
    if vector.shape != (3,):
        raise InputError(f"{name}: expected three numbers, got shape {vector.shape}")
    return vector


def _numbers(value: Any, name: str) -> Array:
    """Return a copy as an array of finite numbers."""
    array = numbers(value, name)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: {_text(array)} contains NaN or infinity")
    return array


def _text(array: Array) -> str:
    """Return an array as one line of text for a message."""
    return " ".join(np.array2string(array, precision=6, separator=", ").split())
