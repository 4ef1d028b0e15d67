r"""Bodies in unit quaternions: q = (phi, quat) of every body that turns; their inertia.

.. math:: T = \tfrac12\, m\, \dot\phi \cdot \dot\phi + \tfrac12\, \Omega \cdot J\, \Omega, \qquad
          \Omega = 2\, G(q)\, \dot q
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.parametrisations import BODY, WHOLE, Quaternions
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector
from poinsot.so3 import quat_multiply
from poinsot.systems.by_directors import ByDirectors
from poinsot.systems.layout import Layout
from poinsot.systems.livens.lagrangian import Lagrangian, Slopes
from poinsot.systems.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spin:
    r"""The rotational energy of many bodies: Lambda (k, 4, 4) and W (bodies, k), diagonal.

    .. math:: T = \tfrac12\, y \cdot W y, \qquad y_i = \Lambda_{iab}\, q_a s_b

    With s = v, y is the angular velocity in body axes and W the inertia; with s = p, y is
    :math:`Q_l(q)^\top p` and W the inverse of the augmented inertia. The discrete derivatives take
    the mean of y at both ends, and keep energy and angular momentum of a free body
    [KB24, eq. (87)-(88)].
    """

    Lambda: Array
    W: Array

    def value(self, q: Array, s: Array) -> Array:
        """Return y; (bodies, 4) to (bodies, k)."""
        return np.asarray(np.einsum("iab,na,nb->ni", self.Lambda, q, s))

    def by_q(self, s: Array) -> Array:
        """Return dy/dq; (bodies, k, 4)."""
        return np.asarray(np.einsum("iab,nb->nia", self.Lambda, s))

    def by_s(self, q: Array) -> Array:
        """Return dy/ds; (bodies, k, 4)."""
        return np.asarray(np.einsum("iab,na->nib", self.Lambda, q))

    def slopes(
        self, rule: Rule, q0: Array, s0: Array, q1: Array, s1: Array
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Return the derivatives by q and s, then theirs by q1 and s1: qq, qs, sq, ss."""
        q, s = (q0 + q1) / 2, (s0 + s1) / 2
        if rule is Rule.MIDPOINT:
            y, end_q, end_s = self.value(q, s), q, s
        else:
            y, end_q, end_s = (self.value(q0, s0) + self.value(q1, s1)) / 2, q1, s1
        w = self.W * y
        by_q, by_s = self.by_q(s), self.by_s(q)
        # Half of the derivative of (dy/dq)^T w by s.
        mixed = np.einsum("iab,ni->nab", self.Lambda, w) / 2
        # W dy, y being a mean.
        dq = self.W[:, :, None] * self.by_q(end_s) / 2
        ds = self.W[:, :, None] * self.by_s(end_q) / 2
        return (
            np.einsum("nia,ni->na", by_q, w),
            np.einsum("nia,ni->na", by_s, w),
            np.einsum("nia,nib->nab", by_q, dq),
            np.einsum("nia,nib->nab", by_q, ds) + mixed,
            np.einsum("nia,nib->nab", by_s, dq) + np.swapaxes(mixed, 1, 2),
            np.einsum("nia,nib->nab", by_s, ds),
        )


@dataclass(frozen=True, eq=False)
class QuaternionBodies(Lagrangian, ByDirectors):
    """Bodies in unit quaternions, and how they move by themselves.

    Parameters
    ----------
    mechanism : Mechanism
        The same in directors.
    layout : Layout
        Names.
    """

    mechanism: Mechanism
    layout: Layout
    parametrisation = Quaternions()

    # -- sizes and places ---------------------------------------------------------------------

    @cached_property
    def units(self) -> int:
        """Number of quaternions."""
        return int(self.unknowns.turns.sum())

    @cached_property
    def _spin(self) -> Spin:
        """T(q, v) = Omega·J Omega / 2 with Omega = 2 G(q) v [KB24, eq. (45)]."""
        return Spin(2 * BODY, self.inertia)

    @cached_property
    def _co_spin(self) -> Spin:
        """T(q, p) with the augmented inertia (tr J / 2, J) [KB24, eq. (138)-(139)]."""
        return Spin(WHOLE, self.augmented)

    @cached_property
    def augmented(self) -> Array:
        """The inverse of 4 diag(tr J / 2, J); (bodies, 4)."""
        J4 = np.hstack([self.inertia.sum(axis=1, keepdims=True) / 2, self.inertia])
        return 1 / (4 * J4)

    def blocks(self, q: Vector) -> tuple[Array, Array]:
        """Return positions (bodies, 3) and quaternions (bodies, 4)."""
        rows = self.rows(q)
        return rows[:, :3], rows[:, 3:]

    def rates(self, v: Vector) -> tuple[Array, Array]:
        """Return their velocities, or momenta."""
        rows = self.unknowns.rates.full(v).reshape(self.count, -1)
        return rows[:, :3], rows[:, 3:]

    def vector(self, translation: Array, rotation: Array) -> Vector:
        """Return what there is of positions (bodies, 3) and quaternions (bodies, 4) in order."""
        return self.unknowns.own(np.hstack([translation, rotation]).reshape(-1))

    # -- energies -----------------------------------------------------------------------------

    def M(self, q: Vector) -> Matrix:
        """Return diag(m, 4 G^T J G) of every body, singular [KB24, eq. (46)]."""
        by_v = self._spin.by_s(self.blocks(q)[1])
        return self.square(self.mass, np.einsum("nia,ni,nib->nab", by_v, self.inertia, by_v))

    def momentum(self, q: Vector, v: Vector) -> Vector:
        """Return (m v, 4 G^T J G quat')."""
        (velocity, rate), spin = self.rates(v), self._spin
        by_s = spin.by_s(self.blocks(q)[1])
        turning = np.einsum("nia,ni,nib,nb->na", by_s, spin.W, by_s, rate)
        return self.vector(self.mass[:, None] * velocity, turning)

    # -- Hamiltonian --------------------------------------------------------------------------

    def velocity(self, q: Vector, p: Vector) -> Vector:
        """Return v of p by the augmented mass."""
        return self.cokinetic(Rule.DISCRETE, q, p, q, p).by_s

    def co_dT(self, q: Vector, p: Vector) -> Vector:
        """Return the derivative of T of q and p by q."""
        return self.cokinetic(Rule.DISCRETE, q, p, q, p).by_q

    # -- steps --------------------------------------------------------------------------------

    def kinetic(self, rule: Rule, q0: Vector, v0: Vector, q1: Vector, v1: Vector) -> Slopes:
        """Return the derivatives of T(q, v) over a step [KB24, eq. (87)]."""
        return self._slopes(self._spin, self.mass, rule, q0, v0, q1, v1)

    def cokinetic(self, rule: Rule, q0: Vector, p0: Vector, q1: Vector, p1: Vector) -> Slopes:
        """Return the derivatives of T(q, p) over a step [KB24, eq. (146)]."""
        return self._slopes(self._co_spin, 1 / self.mass, rule, q0, p0, q1, p1)

    def _slopes(
        self, spin: Spin, mass: Array, rule: Rule, q0: Vector, s0: Vector, q1: Vector, s1: Vector
    ) -> Slopes:
        (_, quat0), (_, quat1) = self.blocks(q0), self.blocks(q1)
        (u0, r0), (u1, r1) = self.rates(s0), self.rates(s1)
        by_q, by_s, qq, qs, sq, ss = spin.slopes(rule, quat0, r0, quat1, r1)
        if rule is Rule.MIDPOINT and spin is self._co_spin:
            # The inverse of the mass where the quaternion is not unit, for kinematics alone: so it
            # is in the results of [KB24].
            longer, dlonger = _stretching((quat0 + quat1) / 2)
            sq = longer[:, None, None] * sq + np.einsum("na,nb->nab", by_s, dlonger)
            by_s, ss = longer[:, None] * by_s, longer[:, None, None] * ss
        if rule is Rule.MEAN_LEVER_ARMS:
            # By the inverse of the factor of travel, so that angular momentum stays.
            short, dshort = shortening(quat0, quat1)
            qq = short[:, None, None] * qq + np.einsum("na,nb->nab", by_q, dshort)
            by_q, qs = short[:, None] * by_q, short[:, None, None] * qs
        nothing = np.zeros((self.count, 3))
        return Slopes(
            self.vector(nothing, by_q),
            self.vector(mass[:, None] * (u0 + u1) / 2, by_s),
            self.square(None, qq),
            self.square(None, qs),
            self.square(None, sq),
            self.square(mass / 2, ss),
        )

    def travel(self, rule: Rule, q0: Vector, dq: Vector) -> tuple[Vector, Matrix | None]:
        """Return dq, that of quaternions over `shortening` if lever arms are mean ones."""
        if rule is not Rule.MEAN_LEVER_ARMS:
            return dq, None
        (_, quat0), (moved, change) = self.blocks(q0), self.rates(dq)
        short, dshort = shortening(quat0, quat0 + change)
        dquat = change / short[:, None]
        slope = (np.eye(4) - np.einsum("na,nb->nab", dquat, dshort)) / short[:, None, None]
        return self.vector(moved, dquat), self.square(np.ones(self.count), slope)

    def forecast(self, h: float, q0: Vector, v0: Vector, p0: Vector) -> Vector:
        """Return where bodies get that go on with the angular velocity of their momentum.

        That of v0 is no measure: what it has along the quaternion may be large [KB24, remark 4.8].
        """
        (phi, quat), (velocity, _) = self.blocks(q0), self.rates(v0)
        # Omega = J^-1 G(q) p / 2, in body axes; a quarter of the turn has its tangent.
        Omega = np.einsum("iab,na,nb->ni", BODY, quat, self.rates(p0)[1]) / (2 * self.inertia)
        turn = h / 4 * Omega
        square = np.sum(turn**2, axis=1, keepdims=True)
        half = np.hstack([1 - square, 2 * turn]) / (1 + square)
        return self.vector(phi + h * velocity, quat_multiply(quat, half))


def shortening(quat0: Array, quat1: Array) -> tuple[Array, Array]:
    r"""Return 4 tan(a/4) / (2 tan(a/2)), a the angle of a step, and its derivative by quat1.

    It is :math:`2c / (1 + c)` with :math:`c = q_0 \cdot q_1 = \cos(a/2)`; (bodies,), (bodies, 4).
    """
    c = np.einsum("na,na->n", quat0, quat1)
    return 2 * c / (1 + c), 2 * quat0 / (1 + c)[:, None] ** 2


def _stretching(quat: Array) -> tuple[Array, Array]:
    """Return |q|^-4 of mean quaternions, and its derivative by those at the end of the step."""
    square = np.sum(quat**2, axis=1)
    return square**-2, -2 * quat * square[:, None] ** -3
