r"""Parametrisations of rotations: matrices, unit quaternions and Euler angles.

.. math:: d = d(\theta), \qquad \dot\theta = Z(\theta)\, \Omega

with the directors d, the columns of R one after the other, and the angular velocity
:math:`\Omega` in body axes. All work on the last axes: (..., size).

Bilinear and quadratic maps of quaternions (scalar first) are constant arrays. With G and E of
[KB24, eq. (35)], :math:`G(a)\, b = -G(b)\, a` is the vector part of :math:`\bar a \circ b` and
:math:`E(a)\, b` that of :math:`b \circ \bar a`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.frames import euler
from poinsot.so3 import cayley, matrix_to_quat, quat_body, quat_multiply, quat_world, skew

Array = NDArray[np.float64]

#: Departure of a matrix from orthonormal, or of a quaternion from unit, that a start may have.
DEPARTURE = 1e-8


@dataclass(frozen=True)
class Parametrisation(ABC):
    """How the rotation of a body is described, by `size` numbers theta."""

    name: ClassVar[str]
    size: ClassVar[int]

    @abstractmethod
    def directors(self, theta: Array, /) -> Array:
        """Return the columns of R, one after the other; (..., 9)."""

    @abstractmethod
    def slopes(self, theta: Array, /) -> Array:
        """Return the derivative of the directors; (..., 9, size)."""

    @abstractmethod
    def bends(self, theta: Array, /) -> Array:
        """Return the second derivative of the directors; (..., 9, size, size)."""

    @abstractmethod
    def Z(self, theta: Array, /) -> Array:
        """Return the kinematic matrix, theta' = Z Omega; (..., size, 3)."""

    @abstractmethod
    def dZ(self, theta: Array, /) -> Array:
        """Return its derivative; (..., size, 3, size)."""

    @abstractmethod
    def of(self, R: Array, /) -> Array:
        """Return theta of rotation matrices (..., 3, 3)."""

    @abstractmethod
    def after(self, theta: Array, turn: Array, /) -> Array:
        """Return theta after the Cayley map of a turn in body axes, R cayley(turn); (..., 3)."""

    @abstractmethod
    def excess(self, theta: Array, /) -> Array:
        """Return by how much theta fails to be a rotation; (...)."""

    def wrong(self, theta: Array) -> tuple[int, str] | None:
        """Return the first body that cannot start from theta (bodies, size), and why."""
        excess = self.excess(theta)
        k = int(np.argmax(excess))
        if excess[k] <= DEPARTURE:
            return None
        return k, f"its {self.name} is off by {excess[k]:.3g}; {self.remedy}"

    #: What to do about theta that is no rotation.
    remedy: ClassVar[str] = ""


@dataclass(frozen=True)
class Matrices(Parametrisation):
    """The rotation matrix, nine numbers: R_1, R_2, R_3, its columns [BHRS25, eq. (11)]."""

    name = "rotation matrix"
    size = 9
    remedy = "give the three columns of a rotation matrix, or use Rotation.nearest(matrix)"

    def directors(self, theta: Array) -> Array:
        """Return theta itself."""
        return theta

    def slopes(self, theta: Array) -> Array:
        """Return the identity."""
        return np.broadcast_to(np.eye(9), (*theta.shape, 9))

    def bends(self, theta: Array) -> Array:
        """Return zero."""
        return np.broadcast_to(0.0, (*theta.shape, 9, 9))

    def Z(self, theta: Array) -> Array:
        """Return Z_rot [BHRS25, eq. (11)]: R' = R skew(Omega)."""
        return np.asarray(np.einsum("akb,...b->...ak", TURNING, theta))

    def dZ(self, theta: Array) -> Array:
        """Return the constant derivative."""
        return np.broadcast_to(TURNING, (*theta.shape[:-1], 9, 3, 9))

    def of(self, R: Array) -> Array:
        """Return the columns."""
        return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9)

    def after(self, theta: Array, turn: Array) -> Array:
        """Return R cayley(turn), less what round-off has done to it: R (3 - R^T R) / 2."""
        R = euler.matrix_of(theta) @ cayley(turn)
        square = np.swapaxes(R, -1, -2) @ R
        return self.of(R @ (3 * np.eye(3) - square) / 2)

    def excess(self, theta: Array) -> Array:
        """Return max|R^T R - I|, and 2 more for a reflection."""
        R = euler.matrix_of(theta)
        defect = abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
        return np.asarray(defect + 2 * (np.linalg.det(R) < 0))


#: Z_rot[a, k] = TURNING[a, k, b] theta_b: the columns of R skew(Omega).
TURNING: Array = np.einsum("kji,ab->iakjb", skew(np.eye(3)), np.eye(3)).reshape(9, 3, 9)


#: (G(a) b)_i = BODY[i, k, l] a_k b_l: twice that is the angular velocity in body axes.
BODY: Array = np.stack(list(quat_body(np.eye(4))), axis=1)
#: (E(a) b)_i = WORLD[i, k, l] a_k b_l: twice that is the angular velocity in world axes.
WORLD: Array = np.stack(list(quat_world(np.eye(4))), axis=1)
#: Q_l(a)^T b = (a·b, G(a) b) [KB24, eq. (145)].
WHOLE: Array = np.concatenate([np.eye(4)[None], BODY])
#: Directors, three components each: d_k = CURVE[k, a, b] q_a q_b / 2, from R = E(q) G(q)^T
#: [KB24, eq. (50)]; quadratic in q, unit or not.
CURVE: Array = np.einsum("cak,dbk->dcab", WORLD, BODY).reshape(9, 4, 4)
CURVE = CURVE + np.swapaxes(CURVE, 1, 2)


def directors(quat: Array) -> Array:
    """Return the columns of R(q), one after the other; (..., 4) to (..., 9)."""
    return np.asarray(np.einsum("kab,...a,...b->...k", CURVE, quat, quat) / 2)


def directors_of_many(quat: Array) -> Array:
    """Return the same up to round-off, faster from some tens of quaternions on."""
    w, x, y, z = np.ascontiguousarray(np.moveaxis(quat, -1, 0))
    d1 = w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)
    d2 = 2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)
    d3 = 2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z
    return np.stack([*d1, *d2, *d3], axis=-1)


def director_slopes(quat: Array) -> Array:
    """Return the derivative of the directors; (..., 4) to (..., 9, 4)."""
    return np.asarray(np.einsum("kab,...b->...ka", CURVE, quat))


def world(quat: Array) -> Array:
    """Return E(q); (..., 4) to (..., 3, 4)."""
    return np.asarray(np.einsum("iab,...a->...ib", WORLD, quat))


def body(quat: Array) -> Array:
    """Return G(q); (..., 4) to (..., 3, 4)."""
    return np.asarray(np.einsum("iab,...a->...ib", BODY, quat))


@dataclass(frozen=True)
class Quaternions(Parametrisation):
    """The unit quaternion, four numbers, scalar first: q' = q (0, Omega) / 2."""

    name = "quaternion"
    size = 4
    remedy = "divide it by its norm (scalar first: w, x, y, z)"

    directors = staticmethod(directors)
    slopes = staticmethod(director_slopes)
    of = staticmethod(matrix_to_quat)

    def bends(self, theta: Array) -> Array:
        """Return the constant second derivative."""
        return np.broadcast_to(CURVE, (*theta.shape[:-1], 9, 4, 4))

    def Z(self, theta: Array) -> Array:
        """Return G(q)^T / 2, with G of [KB24, eq. (35)]."""
        return np.swapaxes(body(theta), -1, -2) / 2

    def dZ(self, theta: Array) -> Array:
        """Return the constant derivative."""
        return np.broadcast_to(np.einsum("kba->akb", BODY) / 2, (*theta.shape[:-1], 4, 3, 4))

    def after(self, theta: Array, turn: Array) -> Array:
        """Return q (1, turn/2) over its norm."""
        quat = quat_multiply(theta, np.concatenate([np.ones_like(turn[..., :1]), turn / 2], -1))
        return np.asarray(quat / np.linalg.norm(quat, axis=-1, keepdims=True))

    def excess(self, theta: Array) -> Array:
        """Return the departure of the norm from one."""
        return np.asarray(abs(np.linalg.norm(theta, axis=-1) - 1))


@dataclass(frozen=True)
class EulerAngles(Parametrisation):
    """Three angles [rad], R = Rz(gamma) Ry(beta) Rx(alpha) [BHRS25, sec. 5, eq. (16a)]."""

    name = "set of Euler angles"
    size = 3

    directors = staticmethod(euler.directors)
    slopes = staticmethod(euler.slopes)
    bends = staticmethod(euler.bends)
    Z = staticmethod(euler.Z)
    dZ = staticmethod(euler.dZ)
    of = staticmethod(euler.angles_of)
    after = staticmethod(euler.follow)

    def excess(self, theta: Array) -> Array:
        """Return zero: any angles are a rotation."""
        return np.zeros(theta.shape[:-1])

    def wrong(self, theta: Array) -> tuple[int, str] | None:
        """Return the body whose beta is not clearly between -pi/2 and pi/2."""
        beta = theta[:, 1]
        k = int(np.argmax(abs(beta)))
        if abs(beta[k]) < np.pi / 2 - euler.LOCK:
            return None
        if abs(beta[k]) <= np.pi / 2 + euler.LOCK:
            return k, euler.lock_report(float(beta[k]))
        return k, (
            f"beta = {beta[k]:.6g} rad is not between -pi/2 and pi/2; (alpha + pi, pi - beta, "
            "gamma + pi) is the same rotation"
        )


#: What rotations of bodies with velocities in body axes are described by.
PARAMETRISATIONS: dict[str, Parametrisation] = {
    "rotations": Matrices(),
    "rotations-quaternion": Quaternions(),
    "rotations-euler": EulerAngles(),
}
