"""Generalised directions of forces, torques and motors, and their conjugate velocities.

A direction is a port matrix B(q) on the coordinates of its bodies: the generalised force is B u,
the conjugate velocity y = B^T v, the power u·y.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.charts import Chart
from poinsot.frames.forms import Vector3, components, point
from poinsot.frames.places import WIDTH
from poinsot.frames.stacks import Forms, stack
from poinsot.ph.matrices import Vector, dense
from poinsot.so3 import skew


@dataclass(frozen=True, eq=False)
class Direction(ABC):
    """A generalised direction on a few bodies; q and v are those bodies' coordinates only."""

    bodies: tuple[int, ...]
    #: Whether the compiled engine knows it.
    compiled: ClassVar[bool] = True

    @abstractmethod
    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the port matrix; shape (12 bodies, size)."""

    @abstractmethod
    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative of B(q) u with respect to q."""

    @abstractmethod
    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivative of B(q)^T v with respect to q; shape (size, 12 bodies)."""


@dataclass(frozen=True, eq=False)
class Along(Direction):
    """Along quadratic forms: B = G(q)^T. A force at a point (its three components) is one."""

    forms: Forms

    @property
    def material(self) -> NDArray[np.float64]:
        """The point whose three components the forms are, in director axes."""
        return self.forms.vectors.weights[self.forms.terms.a[0], 0, 1:]

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return G^T."""
        return dense(self.forms.G(q)).T

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the curvature weighted by u."""
        return dense(self.forms.curvature(u))

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the slope along v."""
        return dense(self.forms.slope(v))


@dataclass(frozen=True, eq=False)
class Generalised(Direction):
    """All generalised forces of one frame: B = I."""

    size: ClassVar[int] = WIDTH

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the identity."""
        return np.eye(WIDTH)

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return 0."""
        return np.zeros((WIDTH, WIDTH))

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return 0."""
        return np.zeros((WIDTH, WIDTH))


@dataclass(frozen=True, eq=False)
class Charted(Direction):
    """Along one coordinate chi(s(q)), a length or an angle: B = G^T dchi/ds."""

    forms: Forms
    chart: Chart

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the gradient of chi as a column."""
        return (dense(self.forms.G(q)).T @ self.chart.slope(self.forms(q)))[:, None]

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return u times the Hessian of chi."""
        s, G = self.forms(q), dense(self.forms.G(q))
        curvature = dense(self.forms.curvature(self.chart.slope(s)))
        return float(u[0]) * (curvature + G.T @ self.chart.bend(s) @ G)

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the Hessian of chi times v, as a row."""
        return (self.dB(q, np.ones(1)) @ v)[None, :]


@dataclass(frozen=True, eq=False)
class Torque(Direction):
    """A torque in world axes on one body.

    With the reciprocal directors d^i (d^i·d_j = delta_ij), f_i = tau x d^i / 2 puts in exactly tau:
    sum d_i x f_i = tau also at the midpoint, where directors are not orthonormal, and y is exactly
    the angular velocity of the step. `reciprocal=False` takes the directors themselves, as
    [LKB26, eq. (32)] does: the torque put in then falls short by a term of order h^2.
    """

    reciprocal: bool = True

    def _d(self, q: Vector) -> NDArray[np.float64]:
        """Return the vectors that tau is crossed with, as columns."""
        D = q[3:].reshape(3, 3).T
        return np.asarray(np.linalg.inv(D).T, dtype=float) if self.reciprocal else D

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return (0; -skew(d^i)/2)."""
        total = np.zeros((WIDTH, 3))
        for i, d in enumerate(self._d(q).T):
            total[3 + 3 * i : 6 + 3 * i] = -skew(d) / 2
        return total

    def _dd(self, q: Vector) -> NDArray[np.float64]:
        """Return the derivative of the stacked d^i with respect to the stacked d_j; (9, 9)."""
        if not self.reciprocal:
            return np.eye(9)
        d = self._d(q)
        # d(D^-T) = -D^-T dD^T D^-T: d^i changes by -sum_j d^j (d^i·delta d_j).
        return -np.asarray(np.einsum("aj,bi->iajb", d, d)).reshape(9, 9)

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative of u x d^i / 2."""
        total = np.zeros((WIDTH, WIDTH))
        total[3:, 3:] = np.kron(np.eye(3), skew(u) / 2) @ self._dd(q)
        return total

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivative of sum d^i x v_i / 2."""
        total = np.zeros((3, WIDTH))
        total[:, 3:] = np.hstack([-skew(w) / 2 for w in v[3:].reshape(3, 3)]) @ self._dd(q)
        return total


@dataclass(frozen=True, eq=False)
class RelativeTorque(Direction):
    """Equal and opposite torques in world axes on two bodies, or one and the ground.

    `signs` are those of the torques; y is the relative angular velocity.
    """

    signs: tuple[float, ...] = (-1.0, 1.0)
    compiled = False

    def _on_each(self, q: Vector) -> list[tuple[int, float, Vector, Torque]]:
        """Return place, sign, coordinates of every body, and the torque on it."""
        frames = enumerate(zip(self.signs, q.reshape(-1, WIDTH), strict=True))
        return [(WIDTH * k, sign, own, Torque((0,))) for k, (sign, own) in frames]

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the torques of all bodies, one below the other."""
        return np.vstack([sign * torque.B(own) for _, sign, own, torque in self._on_each(q)])

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative of the torque on every body by its own directors."""
        total = np.zeros((q.size, q.size))
        for k, sign, own, torque in self._on_each(q):
            total[k : k + WIDTH, k : k + WIDTH] = sign * torque.dB(own, u)
        return total

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivatives of the angular velocities of all bodies."""
        terms = [
            sign * torque.dy(own, v[k : k + WIDTH]) for k, sign, own, torque in self._on_each(q)
        ]
        return np.hstack(terms)


@dataclass(frozen=True, eq=False)
class PublishedForce(Direction):
    """A force at a material point in world axes, as [LKB26, eq. (32)] puts it in.

    It acts as one at the centre of mass, and by the torque r x F with the directors themselves; y
    is the velocity of the point where these are orthonormal.
    """

    X: Vector3 = (0.0, 0.0, 0.0)
    compiled = False

    @cached_property
    def _torque(self) -> Torque:
        return Torque(self.bodies, reciprocal=False)

    def _arm(self, q: Vector) -> Vector:
        return np.asarray(np.array(self.X) @ q[3:].reshape(3, 3))

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return (I; -[d_i] [r] / 2)."""
        total = np.array(self._torque.B(q) @ skew(self._arm(q)), dtype=float)
        total[:3] += np.eye(3)
        return total

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative by the directors, which r consists of, too."""
        total = np.array(self._torque.dB(q, np.cross(self._arm(q), u)), dtype=float)
        total[:, 3:] += self._torque.B(q) @ np.kron(np.array(self.X)[None], -skew(u))
        return total

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivative of v - r x omega."""
        total = -skew(self._arm(q)) @ self._torque.dy(q, v)
        total[:, 3:] += np.kron(np.array(self.X)[None], skew(self._torque.B(q).T @ v))
        return total


@dataclass(frozen=True, eq=False)
class Wrench(Direction):
    """A force and a torque on one body, u = (F, tau), three inputs each."""

    force: Direction
    torque: Direction
    size: ClassVar[int] = 6
    compiled = False

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return both port matrices side by side."""
        return np.hstack([self.force.B(q), self.torque.B(q)])

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivatives of both."""
        return np.asarray(self.force.dB(q, u[:3]) + self.torque.dB(q, u[3:]))

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivatives of both outputs."""
        return np.vstack([self.force.dy(q, v), self.torque.dy(q, v)])


class InBodyAxes(Direction):
    """What is given in body axes: B = B_W(q) R_WB, with B_W of the same in world axes."""

    #: Columns: body axes in director axes.
    axes: tuple[Vector3, ...]

    @property
    @abstractmethod
    def world(self) -> Direction:
        """The same, given in world axes."""

    def _D(self, q: Vector) -> NDArray[np.float64]:
        return np.asarray(q[3:].reshape(3, 3).T @ np.array(self.axes, dtype=float))

    def B(self, q: Vector) -> NDArray[np.float64]:
        """Return the world's matrix times the directors."""
        return np.asarray(self.world.B(q) @ self._D(q))

    def dB(self, q: Vector, u: Vector) -> NDArray[np.float64]:
        """Return the derivative of both factors."""
        total = np.array(self.world.dB(q, self._D(q) @ u), dtype=float)
        a = np.array(self.axes, dtype=float) @ u
        total[:, 3:] += self.world.B(q) @ np.kron(a[None, :], np.eye(3))
        return total

    def dy(self, q: Vector, v: Vector) -> NDArray[np.float64]:
        """Return the derivative of D^T times the velocity in world axes."""
        total = np.array(self._D(q).T @ self.world.dy(q, v), dtype=float)
        y = self.world.B(q).T @ v
        total[:, 3:] += np.kron(np.array(self.axes, dtype=float).T, y[None, :])
        return total


@dataclass(frozen=True, eq=False)
class BodyForce(InBodyAxes):
    """A force given in body axes at a material point: f = R_WB u."""

    X: Vector3 = (0.0, 0.0, 0.0)
    axes: tuple[Vector3, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

    @cached_property
    def world(self) -> Along:
        """A force at the point."""
        return Along(self.bodies, stack(components(point(0, self.X)), 1))


@dataclass(frozen=True, eq=False)
class BodyTorque(InBodyAxes):
    """A torque given in body axes on one body: tau = R_WB u, put in exactly."""

    axes: tuple[Vector3, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

    @property
    def world(self) -> Torque:
        """A torque."""
        return Torque(self.bodies)
