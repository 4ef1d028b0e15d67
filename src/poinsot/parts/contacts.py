r"""Contacts without slip: constraints on velocities of a body that leave all positions reachable.

A contact acts on one body with forces along e_k and torques t_k about the centre of mass, and
constrains the velocities

.. math:: A v = e_k \cdot v + t_k \cdot \omega = 0 .

Both are polynomials of the director coordinates. They are generalised directions: a contact is to
its multipliers as a port to its input, without power [BHRS25, eq. (7)].
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.directions import Direction, Torque
from poinsot.frames.places import frame_vectors, of_frame
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble
from poinsot.so3 import skew

Array = NDArray[np.float64]
Vector3 = tuple[float, float, float]

#: Sine of the angle between axis and normal below which a disc is said to fall, and to lie.
FALLING, LYING = 0.1, 1e-3


@dataclass(frozen=True, eq=False)
class Contact(Direction):
    """A contact of one body at X, the point or centre of the contact, in director axes [m]."""

    X: Vector3

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """What each row forbids."""

    @abstractmethod
    def wrench(self, q: Array) -> tuple[Array, Array]:
        """Return e and t of coordinates q (..., 12); shapes (..., rows, 3)."""

    @abstractmethod
    def dwrench(self, q: Vector) -> tuple[Array, Array]:
        """Return their derivatives by q; shapes (rows, 3, 12)."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def trouble(self, q: Vector) -> str:
        """Return what is the matter with the contact, if there is something."""
        return ""

    def ended(self, q: Vector) -> bool:
        """Return whether the contact has come to an end."""
        return False

    # -- as a direction -----------------------------------------------------------------------

    @property
    def _torque(self) -> Torque:
        return Torque(self.bodies)

    def B(self, q: Vector) -> Array:
        """Return A^T: forces at the centre of mass, and torques; shape (12, rows)."""
        e, t = self.wrench(q)
        B = self._torque.B(q) @ t.T
        B[:3] = e.T
        return B

    def dB(self, q: Vector, u: Vector) -> Array:
        """Return the derivative of A^T u."""
        (_, t), (de, dt) = self.wrench(q), self.dwrench(q)
        total = self._torque.dB(q, u @ t) + self._torque.B(q) @ np.tensordot(u, dt, 1)
        total[:3] += np.tensordot(u, de, 1)
        return np.asarray(total)

    def dy(self, q: Vector, v: Vector) -> Array:
        """Return the derivative of A v."""
        (_, t), (de, dt) = self.wrench(q), self.dwrench(q)
        omega = self._torque.B(q).T @ v
        return np.asarray(v[:3] @ de + omega @ dt + t @ self._torque.dy(q, v))

    # -- many states at once: one row each ----------------------------------------------------

    def rates(self, q: Array, v: Array) -> Array:
        """Return A v of many states of the body; (states, 12) to (states, rows)."""
        e, t = self.wrench(q)
        d, rate = (frame_vectors(part)[:, 0, 1:] for part in (q, v))
        # By reciprocal directors, the rows of the inverse of their columns: as `Torque` has it.
        omega = np.cross(np.swapaxes(np.linalg.inv(d), 1, 2), rate).sum(axis=1) / 2
        return np.asarray(np.einsum("tki,ti->tk", e, v[:, :3]) + np.einsum("tki,ti->tk", t, omega))

    def pulls(self, q: Array, mu: Array) -> tuple[Array, Array]:
        """Return the forces and torques of many multipliers (states, rows); (states, 3) each."""
        e, t = self.wrench(q)
        return np.einsum("tki,tk->ti", e, mu), np.einsum("tki,tk->ti", t, mu)


def _vector(q: Array, X: Vector3) -> Array:
    """Return a body-fixed vector; (..., 12) to (..., 3)."""
    return np.asarray(np.einsum("i,...ij->...j", X, frame_vectors(q)[..., 0, 1:, :]))


def _slope(X: Vector3, moves: float = 0.0) -> Array:
    """Return the derivative of a body-fixed vector, or of a point that moves; (3, 12)."""
    return np.asarray(np.kron([moves, *X], np.eye(3)), dtype=float)


def _dcross(a: Array, b: Array, da: Array, db: Array) -> Array:
    """Return the derivative of a x b."""
    return np.asarray(skew(a) @ db - skew(b) @ da)


@dataclass(frozen=True, eq=False)
class Blade(Contact):
    """A point that does not move along a body-fixed direction n: e = n, t = X x n."""

    n: Vector3

    @property
    def labels(self) -> tuple[str, ...]:
        """Sideways."""
        return ("sideways",)

    def wrench(self, q: Array) -> tuple[Array, Array]:
        """Return n and X x n."""
        X, n = _vector(q, self.X), _vector(q, self.n)
        return n[..., None, :], np.cross(X, n)[..., None, :]

    def dwrench(self, q: Vector) -> tuple[Array, Array]:
        """Return their derivatives."""
        X, n, dX, dn = _vector(q, self.X), _vector(q, self.n), _slope(self.X), _slope(self.n)
        return dn[None], _dcross(X, n, dX, dn)[None]


@dataclass(frozen=True, eq=False)
class Ball(Contact):
    """A sphere on a plane: its lowest point X - r N is at rest along both directions e_k.

    `arm` = -r N [m], `along` two directions of the plane; world axes.
    """

    arm: Vector3
    along: tuple[Vector3, Vector3]

    @property
    def labels(self) -> tuple[str, ...]:
        """Both directions."""
        return "slip 1", "slip 2"

    def wrench(self, q: Array) -> tuple[Array, Array]:
        """Return e_k and (X - r N) x e_k."""
        rho = _vector(q, self.X) + np.array(self.arm)
        e = np.broadcast_to(np.array(self.along), (*rho.shape[:-1], 2, 3))
        return e, np.cross(rho[..., None, :], e)

    def dwrench(self, q: Vector) -> tuple[Array, Array]:
        """Return their derivatives."""
        dX = _slope(self.X)
        return np.zeros((2, *dX.shape)), np.array([-skew(np.array(e)) @ dX for e in self.along])


@dataclass(frozen=True, eq=False)
class Disc(Contact):
    r"""A disc on a plane: its lowest point is at rest, with the axis a, |a| = 1, and height h.

    The radius times the sine of the angle between axis and normal N is the height of the centre
    above the plane. So the velocity of the lowest point, times that sine, is

    .. math::

        (a \times N) \cdot v_C - h\, a \cdot \omega  \quad\text{(forwards)}, \qquad
        (a - (a \cdot N) N) \cdot v_C + h\, (a \times N) \cdot \omega  \quad\text{(sideways)} .

    `base` is a point of the plane [m], world axes; `rows` 1 leaves out the second row.
    """

    a: Vector3
    N: Vector3
    base: Vector3
    rows: int = 2

    @property
    def labels(self) -> tuple[str, ...]:
        """Both directions, or only one."""
        return ("forwards", "sideways")[: self.rows]

    def trouble(self, q: Vector) -> str:
        """Tell that the disc is about to lie on the plane, where its rim touches everywhere."""
        if self._tilt(q) > FALLING:
            return ""
        degrees = np.degrees(np.arcsin(self._tilt(q)))
        return f"the disc falls on its side, its axis {degrees:.2g} degrees from the normal"

    def ended(self, q: Vector) -> bool:
        """Return whether the disc lies on the plane, or has gone through it."""
        return bool(self._tilt(q) < LYING or self._height(q) <= 0)

    def _tilt(self, q: Vector) -> float:
        """Return the sine of the angle between axis and normal."""
        return float(np.linalg.norm(np.cross(_vector(q, self.a), self.N)))

    def _height(self, q: Array) -> Array:
        return np.asarray((q[..., :3] + _vector(q, self.X) - np.array(self.base)) @ self.N)

    def wrench(self, q: Array) -> tuple[Array, Array]:
        """Return a x N and a - (a·N) N, and their torques."""
        X, a, h, N = _vector(q, self.X), _vector(q, self.a), self._height(q), np.array(self.N)
        forwards = np.cross(a, N)
        e = np.stack([forwards, a - (a @ N)[..., None] * N], axis=-2)
        roll = h[..., None, None] * np.stack([-a, forwards], axis=-2)
        t = roll + np.cross(X[..., None, :], e)
        return e[..., : self.rows, :], t[..., : self.rows, :]

    def dwrench(self, q: Vector) -> tuple[Array, Array]:
        """Return their derivatives."""
        X, a, h, N = _vector(q, self.X), _vector(q, self.a), self._height(q), np.array(self.N)
        dX, da, dh = _slope(self.X), _slope(self.a), N @ _slope(self.X, 1.0)
        forwards, dforwards = np.cross(a, N), -skew(N) @ da
        e = forwards, a - (a @ N) * N
        de = dforwards, da - np.outer(N, N) @ da
        roll = -np.outer(a, dh) - h * da, np.outer(forwards, dh) + h * dforwards
        dt = [roll[k] + _dcross(X, e[k], dX, de[k]) for k in range(self.rows)]
        return np.array(de[: self.rows]), np.array(dt)


def contact_matrix(contacts: Sequence[Contact], q: Vector) -> Matrix:
    """Return A v with respect to the twists, rows (e, t) of every contact; (slips, 6 bodies)."""
    placed, row = list[Placed](), 0
    for contact in contacts:
        (body,) = contact.bodies
        placed.append((row, 6 * body, np.hstack(contact.wrench(of_frame(q, body)))))
        row += contact.size
    return assemble((row, 6 * len(frame_vectors(q))), placed)
