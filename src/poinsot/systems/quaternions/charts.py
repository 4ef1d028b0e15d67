r"""Quaternions near a given one by incremental rotation vectors, three numbers each.

.. math:: q_1 = \exp(\tfrac12 \vartheta) \circ q_0
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.parametrisations import BODY, body, world
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Vector
from poinsot.ph.stages import largest_of_kind
from poinsot.so3 import quat_multiply, skew
from poinsot.systems.livens.lagrangian import Chart
from poinsot.systems.quaternions.bodies import QuaternionBodies

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TurnChart(Chart):
    """Positions and incremental rotation vectors of bodies [KB24, eq. (105)]."""

    of: QuaternionBodies
    q0: Vector

    @property
    def satisfied(self) -> slice:  # type: ignore[override]
        """The unit constraints."""
        return slice(0, self.of.units)

    @cached_property
    def _turns(self) -> Unknowns:
        """Positions and rotation vectors."""
        return replace(self.of.unknowns, rest=np.zeros(6))

    def _mean(self, q1: Vector) -> Array:
        """Return the mean quaternions of a step."""
        return self.of.theta((self.q0 + q1) / 2)

    def guess(self, q1: Vector) -> Vector:
        """Return positions, and four tangents of a quarter of the turn."""
        quat0, (phi, quat1) = self.of.theta(self.q0), self.of.blocks(q1)
        turn = 4 * np.einsum("nia,na->ni", world(quat0), quat1)
        turn /= 1 + np.sum(quat0 * quat1, axis=1, keepdims=True)
        return self._turns.own(np.hstack([phi, turn]).reshape(-1))

    def labels(self) -> tuple[str, ...]:
        """Return the name of every projected equation."""
        sizes = zip(self.of.layout.bodies, self._turns.sizes.tolist(), strict=True)
        return tuple(f"{name}.p[{k}]" for name, size in sizes for k in range(size))

    def at(self, w: Vector) -> tuple[Vector, Matrix]:
        """Return q1 - q0, and its derivative: half of E(q1)^T times the tangent map of exp."""
        rows = self._turns.full(w).reshape(-1, 6)
        theta = rows[:, 3:]
        angle = np.linalg.norm(theta, axis=1, keepdims=True)
        # sin(a/2)/a by numpy's sinc, which is sin(pi x)/(pi x).
        turn = np.hstack([np.cos(angle / 2), np.sinc(angle / (2 * np.pi)) / 2 * theta])
        quat = quat_multiply(turn, self.of.theta(self.q0))
        q1 = self.of.vector(rows[:, :3], quat)
        slopes = np.zeros((len(rows), 7, 6))
        slopes[:, :3, :3] = np.eye(3)
        slopes[:, 3:, 3:] = np.swapaxes(world(quat), 1, 2) / 2 @ tangent_map(theta)
        return q1 - self.q0, self.of.unknowns.on(self._turns.by(spread(slopes)))

    def project(self, q1: Vector, r: Vector) -> tuple[Vector, Matrix, Matrix | None]:
        """Return P r with P = diag(I, G(q_m)) [KB24, eq. (104)], P, and the derivative by q1."""
        quat, rest = self._mean(q1), self.of.rates(r)[1]
        P, dP = np.zeros((2, len(quat), 6, 7))
        P[:, :3, :3], P[:, 3:, 3:] = np.eye(3), body(quat)
        # G(q) r = -G(r) q
        dP[:, 3:, 3:] = np.einsum("iab,nb->nia", BODY, rest) / 2
        matrix, slope = (self._turns.on(self.of.by(blocks)) for blocks in (P, dP))
        return np.asarray(matrix @ r), matrix, slope

    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of forces and of torques to the largest of these."""
        return largest_of_kind(sizes, self._turns.translate)

    @property
    def measures(self) -> Vector:
        """The extent for positions, and one for rotation vectors."""
        return np.where(self._turns.translate, self.of.length(self.q0), 1.0)

    def multipliers(self, q1: Vector, r: Vector) -> Vector:
        """Return the multipliers of the unit constraints, times h, that balance r along q_m."""
        quat, rest = self._mean(q1), self.of.rates(r)[1]
        found = -np.sum(quat * rest, axis=1) / np.sum(quat**2, axis=1)
        return np.asarray(found[self.of.unknowns.turns])


def tangent_map(theta: Array) -> Array:
    """Return what turns a change of a rotation vector into a turn in world axes; (..., 3, 3)."""
    square = np.sum(theta**2, axis=-1)[..., None, None]
    angle, S = np.sqrt(square), skew(theta)
    small = angle < 1e-2
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 1 / 2 - square / 24, (1 - np.cos(safe)) / safe**2)
    second = np.where(small, 1 / 6 - square / 120, (safe - np.sin(safe)) / safe**3)
    return np.asarray(np.eye(3) + first * S + second * (S @ S))
