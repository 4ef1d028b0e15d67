r"""How forces on directors act on quaternions over a step: :math:`F = S^\top f`.

Discrete derivatives have :math:`S = D(q_m)`, which takes the energy right. The torque that f then
exerts has the lever arms of the directors at :math:`q_m`, and these are not the means of the two
ends, which the angular momentum of jointed bodies asks for. Mean levers put in the torque
:math:`\tau = \sum_i \bar d_i \times f_i` of the mean directors itself,
:math:`F = 2 E(q_m)^\top \tau / |q_m|^2`; its power is right if the quaternions travel by
:math:`\Delta q \tan(a/2) / (2 \tan(a/4))`, a the angle of the step.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.forms import WIDTH
from poinsot.frames.twists import spread
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, total
from poinsot.so3 import skew
from poinsot.systems.quaternions.bodies import QuaternionBodies
from poinsot.systems.quaternions.products import WORLD, director_slopes, world

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Levers(ABC):
    """The directors of a step from q0 to q1: d0, d1, and d where forces are evaluated."""

    of: QuaternionBodies
    q0: Vector
    q1: Vector

    @cached_property
    def d0(self) -> Vector:
        """Directors at the start."""
        return self.of.directors(self.q0)

    @cached_property
    def d1(self) -> Vector:
        """Directors at the end."""
        return self.of.directors(self.q1)

    @cached_property
    def D1(self) -> Matrix:
        """The derivative of d1 by q1."""
        return self.of.D(self.q1)

    @property
    def q(self) -> Vector:
        """The midpoint of q."""
        return (self.q0 + self.q1) / 2

    @property
    def quat(self) -> Array:
        """The quaternions there; (bodies, 4)."""
        return self.of.blocks(self.q)[1]

    @property
    @abstractmethod
    def d(self) -> Vector:
        """Directors where forces are evaluated."""

    @property
    @abstractmethod
    def dd(self) -> Matrix:
        """The derivative of d by q1."""

    @property
    @abstractmethod
    def S(self) -> Matrix:
        """What turns rates of q into those of directors; shape (12 bodies, 7 bodies)."""

    def pull(self, f: Vector) -> Vector:
        """Return S^T f."""
        return np.asarray(self.S.T @ f)

    @abstractmethod
    def dpull(self, f: Vector, df: Matrix | None) -> Matrix:
        """Return the derivative of S^T f by q1, df being that of f."""


@dataclass(frozen=True, eq=False)
class AtMean(Levers):
    """Forces at the mean directors, S = D(q_m): discrete derivatives."""

    @cached_property
    def d(self) -> Vector:
        """The mean directors."""
        return (self.d0 + self.d1) / 2

    @property
    def dd(self) -> Matrix:
        """Half of D(q1)."""
        half: Matrix = 0.5 * self.D1
        return half

    @cached_property
    def S(self) -> Matrix:
        """D(q_m)."""
        return self.of.D(self.q)

    def dpull(self, f: Vector, df: Matrix | None) -> Matrix:
        """Return S^T df + half of the derivative of D^T f."""
        return total(0.5 * self.of.bend(self.q, f), None if df is None else self.S.T @ df)


@dataclass(frozen=True, eq=False)
class AtMidpoint(AtMean):
    """Forces at the directors of q_m: the midpoint rule."""

    @cached_property
    def d(self) -> Vector:
        """The directors of q_m, which are shorter than one."""
        return self.of.directors(self.q)

    @property
    def dd(self) -> Matrix:
        """Half of D(q_m)."""
        half: Matrix = 0.5 * self.S
        return half


@dataclass(frozen=True, eq=False)
class MeanLevers(AtMean):
    """Forces at the mean directors, and the torques that they exert there."""

    @cached_property
    def _turn(self) -> Array:
        """What turns rates of quaternions into angular velocities: 2 E(q_m) / |q_m|^2."""
        square = np.sum(self.quat**2, axis=1)
        return np.asarray(2 * world(self.quat) / square[:, None, None])

    @cached_property
    def S(self) -> Matrix:
        """Rates of the mean directors: omega x d."""
        blocks = np.zeros((self.of.bodies, WIDTH, 7))
        blocks[:, :3, :3] = np.eye(3)
        d = self.d.reshape(-1, 4, 3)[:, 1:]
        turned = -skew(d) @ self._turn[:, None]
        blocks[:, 3:, 3:] = turned.reshape(-1, 9, 4)
        return spread(blocks)

    def dpull(self, f: Vector, df: Matrix | None) -> Matrix:
        """Return S^T df, and how torque and turn change under f."""
        forces = f.reshape(-1, 4, 3)[:, 1:]
        d = self.d.reshape(-1, 4, 3)[:, 1:]
        torque = np.cross(d, forces).sum(axis=1)
        quat, square = self.quat, np.sum(self.quat**2, axis=1)[:, None, None]
        # E(q)^T tau is linear in q, and q_m changes by half of q1.
        across = np.einsum("iab,ni->nba", WORLD, torque) / square
        pulled = np.einsum("nab,nb->na", across, quat)
        by_turn = across - 2 * np.einsum("na,nb->nab", pulled, quat) / square
        slopes = director_slopes(self.of.blocks(self.q1)[1]).reshape(-1, 3, 3, 4)
        by_torque = -np.einsum("nkij,nkjb->nib", skew(forces), slopes)
        dtorque = by_torque / 2
        blocks = np.zeros((self.of.bodies, 7, 7))
        blocks[:, 3:, 3:] = by_turn + np.swapaxes(self._turn, 1, 2) @ dtorque
        return total(spread(blocks), None if df is None else self.S.T @ df)


def levers(rule: Rule, of: QuaternionBodies, q0: Vector, q1: Vector) -> Levers:
    """Return the levers of a rule."""
    kind = {Rule.MIDPOINT: AtMidpoint, Rule.DISCRETE: AtMean, Rule.MEAN_LEVERS: MeanLevers}[rule]
    return kind(of, q0, q1)
