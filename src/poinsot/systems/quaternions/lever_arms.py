r"""How forces on directors act on quaternions over a step: :math:`F = S^\top f`.

Discrete derivatives have :math:`S = D(q_m)`, which takes the energy right. The torque that f then
exerts has the lever arms of the directors at :math:`q_m`, and these are not the means of the two
ends, which the angular momentum of jointed bodies asks for. Mean lever arms put in the torque
:math:`\tau = \sum_i \bar d_i \times f_i` of the mean directors itself,
:math:`F = 2 E(q_m)^\top \tau / |q_m|^2`; its power is right if the quaternions travel by
:math:`\Delta q \tan(a/2) / (2 \tan(a/4))`, a the angle of the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.directions import Torque
from poinsot.frames.parametrisations import WORLD, director_slopes, world
from poinsot.frames.places import frame_vectors, slopes
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, dense, total
from poinsot.so3 import skew
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.bodies import QuaternionBodies

Array = NDArray[np.float64]

#: Directions that constraints hold by no more than this part of others are free.
RANK = 1e-10


@dataclass(frozen=True, eq=False)
class LeverArms:
    """A step from q0 to q1, with forces at the mean directors and S = D(q_m)."""

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
        return self.of.theta(self.q)

    @cached_property
    def d(self) -> Vector:
        """Directors where forces are evaluated: the means."""
        return (self.d0 + self.d1) / 2

    @property
    def dd(self) -> Matrix:
        """The derivative of d by q1: half of D(q1)."""
        half: Matrix = 0.5 * self.D1
        return half

    @cached_property
    def S(self) -> Matrix:
        """What turns rates of q into those of directors, D(q_m); shape (12 bodies, n)."""
        return self.of.D(self.q)

    def dpull(self, f: Vector, df: Sequence[Matrix]) -> Matrix:
        """Return the derivative of S^T f by q1, the terms df being that of f."""
        return total(0.5 * self.of.bend(self.q, f), *(self.S.T @ term for term in df))


@dataclass(frozen=True, eq=False)
class AtMidpoint(LeverArms):
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
class MeanLeverArms(LeverArms):
    """Forces at the mean directors, and the torques that they exert there."""

    @cached_property
    def _turn(self) -> Array:
        """What turns rates of quaternions into angular velocities: 2 E(q_m) / |q_m|^2."""
        square = np.sum(self.quat**2, axis=1)
        return np.asarray(2 * world(self.quat) / square[:, None, None])

    @cached_property
    def S(self) -> Matrix:
        """Rates of the mean directors: omega x d."""
        turned = -skew(frame_vectors(self.d)[:, 1:]) @ self._turn[:, None]
        return self.of.by(slopes(turned.reshape(-1, 9, 4)))

    def dpull(self, f: Vector, df: Sequence[Matrix]) -> Matrix:
        """Return S^T df, and how torque and turn change under f."""
        d, forces = (frame_vectors(a)[:, 1:] for a in (self.d, f))
        torque = np.cross(d, forces).sum(axis=1)
        quat, square = self.quat, np.sum(self.quat**2, axis=1)[:, None, None]
        # E(q)^T tau is linear in q, and q_m changes by half of q1.
        across = np.einsum("iab,ni->nba", WORLD, torque) / square
        pulled = np.einsum("nab,nb->na", across, quat)
        by_turn = across - 2 * np.einsum("na,nb->nab", pulled, quat) / square
        turning = director_slopes(self.of.theta(self.q1)).reshape(-1, 3, 3, 4)
        dtorque = -np.einsum("nkij,nkjb->nib", skew(forces), turning) / 2
        own = self.of.square(None, by_turn + np.swapaxes(self._turn, 1, 2) @ dtorque)
        return total(own, *(self.S.T @ term for term in df))


def turned_aside(of: QuaternionBodies, at: LeverArms, f: Vector, G: Matrix, least: float) -> Array:
    r"""Return the spins [rad/s] that an impulse f on directors adds by other than mean lever arms.

    The torque :math:`\sum_i (d_i(q_m) - \bar d_i) \times f_i` grows with the square of the angle of
    the step and with f, whatever the inertia of the body: a light one that passes large forces on
    is driven by it. Constraints, G by directors at the end of the step, take up what they can;
    spins up to `least` are not asked about. Shape (bodies,).
    """
    own = of.theta(at.S.T @ f - MeanLeverArms(of, at.q0, at.q1).S.T @ f)
    torque = np.einsum("nia,na->ni", world(at.quat), own) / 2
    d = frame_vectors(at.d1)[:, 1:]
    # By roots of masses, in principal axes: all of one kind.
    easy = np.zeros((of.count, 6))
    masses = np.hstack([np.repeat(of.mass[:, None], 3, axis=1), of.inertia])
    np.divide(1.0, np.sqrt(masses), out=easy, where=masses > 0)
    given = np.hstack([np.zeros_like(torque), np.einsum("nij,nj->ni", d, torque)]) * easy
    free = given
    if G.shape[0] and np.max(abs(given * easy), initial=0.0) > least:
        by_frames = dense(G).reshape(-1, of.count, 4, 3)
        turning = np.einsum("nij,mnj->mni", d, np.cross(d, by_frames[:, :, 1:]).sum(axis=2))
        A = (np.concatenate([by_frames[:, :, 0], turning], axis=2) * easy).reshape(
            len(by_frames), -1
        )
        sizes = np.linalg.norm(A, axis=1)
        A = (A[sizes > 0] / sizes[sizes > 0, None]).T
        held = A @ np.linalg.lstsq(A, given.ravel(), rcond=RANK)[0]
        free = given - held.reshape(given.shape)
    return np.asarray(np.linalg.norm((free * easy)[:, 3:], axis=1))


def lever_arms(rule: Rule, of: QuaternionBodies, q0: Vector, q1: Vector) -> LeverArms:
    """Return the lever arms of a rule."""
    kinds = {Rule.MIDPOINT: AtMidpoint, Rule.MEAN_LEVER_ARMS: MeanLeverArms}
    return kinds.get(rule, LeverArms)(of, q0, q1)


@dataclass(frozen=True, eq=False)
class PublishedTorques:
    r"""Torques put in as [KB24, eq. (128)] does: :math:`F = 2 E(q_m)^\top \tau`.

    Since the mean quaternion of a step is shorter than one, the torque that this exerts falls short
    by :math:`|q_m|^2`, and the output :math:`2 E(q_m) v_m` by as much. The ports of that kind have
    their bodies (ports,), and their inputs among all (ports, 3).
    """

    bodies: NDArray[np.intp]
    inputs: NDArray[np.intp]

    @classmethod
    def of(cls, mechanism: Mechanism) -> "PublishedTorques":
        """Return those of a mechanism."""
        found, first = [], 0
        for inlet in mechanism.inlets:
            line = inlet.direction
            if isinstance(line, Torque) and not line.reciprocal:
                found.append((line.bodies[0], *range(first, first + 3)))
            first += inlet.size
        table = np.array(found, dtype=np.intp).reshape(-1, 4)
        return cls(table[:, 0], table[:, 1:])

    def forces(self, quat: Array, u: Vector) -> tuple[Array, Array]:
        """Return the forces on quaternions (bodies, 4), and their derivative (bodies, 4, 4)."""
        total, slope = np.zeros(quat.shape), np.zeros((*quat.shape, 4))
        turned = 2 * np.einsum("pi,iab->pba", u[self.inputs], WORLD)
        np.add.at(slope, self.bodies, turned)
        np.add.at(total, self.bodies, np.einsum("pab,pb->pa", turned, quat[self.bodies]))
        return total, slope

    def outputs(self, quat: Array, rate: Array) -> Array:
        """Return 2 E(q) q' of every port; (ports, 3)."""
        E = world(quat[self.bodies])
        return np.asarray(2 * np.einsum("pia,pa->pi", E, rate[self.bodies]))
