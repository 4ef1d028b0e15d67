"""Stage equations of mechanisms with velocities in body axes: the midpoint rule on rotations."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames import twists
from poinsot.frames.euler import GimbalLock, lock_report
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Vector
from poinsot.ph.stages import Stage
from poinsot.so3 import skew
from poinsot.systems.rotations.bodies import SIX, RotationBodies
from poinsot.systems.steps import MechanismStages, Middle

if TYPE_CHECKING:
    from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RotationStages(MechanismStages):
    r"""The midpoint rule on rotations, for the unknowns (V, omega, h lambda): six a body.

    Velocity V and angular velocity omega over the step are in world axes, and
    :math:`R_1 = \mathrm{cay}(h \omega) R_0`, so that
    :math:`d_1 - d_0 = h\, \omega \times \bar d` with the mean directors
    :math:`\bar d = (d_0 + d_1) / 2`.

    .. math::

        \phi_1 - \phi_0 &= h V, & V &= (R_0 v_0 + R_1 v_1) / 2, &
        m (R_1 v_1 - R_0 v_0) &= h f \\
        & & R_0^\top \omega &= (\Omega_0 + \Omega_1) / 2, &
        R_1 J \Omega_1 - R_0 J \Omega_0 &= h \tau

    with the forces of directors, :math:`f = f_\phi` and :math:`\tau = \sum_i \bar d_i \times f_i`.
    """

    system: "RotationSystem"

    @cached_property
    def q0(self) -> Vector:
        """Directors at the start."""
        return self.system.directors(self.x0)

    @property
    def frames(self) -> RotationBodies:
        """The rigid bodies."""
        return self.system.bodies

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Twists at the start, and the multipliers of the step before."""
        twists = self.frames.velocities.own(self._twists0.reshape(-1))
        return twists, self.system.parts(self.x0)[2]

    @property
    def translate(self) -> NDArray[np.bool_]:
        """V, not omega."""
        return self.frames.velocities.translate

    @cached_property
    def _R0(self) -> Array:
        return np.swapaxes(frame_vectors(self.q0)[:, 1:], 1, 2)

    @cached_property
    def _w0(self) -> Array:
        """Velocities at the start, in body axes; (bodies, 2, 3)."""
        return self._pairs(self.system.parts(self.x0)[1])

    def _pairs(self, w: Vector) -> Array:
        """Return velocities and angular velocities of frames; (bodies, 2, 3)."""
        return self.frames.pairs(w[: self.frames.k])

    @cached_property
    def _twists0(self) -> Array:
        """The same in world axes."""
        return np.asarray(np.einsum("nij,nkj->nki", self._R0, self._w0))

    def _Omega1(self, w: Vector) -> Array:
        """Return the angular velocity at the end, in body axes; (bodies, 3)."""
        omega = self._pairs(w)[:, 1]
        return np.asarray(2 * np.einsum("nji,nj->ni", self._R0, omega) - self._w0[:, 1])

    def middle(self, w: Vector) -> Middle:
        """Return where a step by these twists leads."""
        own = self.frames.velocities
        return self.moved(self._pairs(w), own.by, own.by)

    def moved(
        self, t: Array, by: Callable[[Matrix], Matrix], slope: Callable[[Matrix], Matrix]
    ) -> Middle:
        """Return where twists t of all frames lead.

        By `by` what velocities make of twists acts on a matrix from the right, by `slope` the
        derivative of twists by velocities.
        """
        h, q0 = self.h, self.q0
        C, blocks0 = turns(h, t), q0.reshape(-1, 4, 3)
        blocks = np.empty_like(blocks0)
        blocks[:, 0] = blocks0[:, 0] + h / 2 * t[:, 0]
        blocks[:, 1:] = np.einsum("nij,nkj->nki", C, blocks0[:, 1:])
        q = blocks.reshape(-1)
        # A change of omega turns a vector d at the midpoint by (h/2) C (d omega x d).
        dq = np.zeros((len(C), 4, 3, 2, 3))
        dq[:, 0, :, 0] = h / 2 * np.eye(3)
        dq[:, 1:, :, 1] = -h / 2 * C[:, None] @ skew(blocks[:, 1:])
        S = by(spread(twists.velocity_blocks(blocks)))
        dq_dw = slope(spread(dq.reshape(-1, 12, SIX)))
        return Middle(h, q0, q, 2 * q - q0, twists.velocities(q, t.reshape(-1)), S, dq_dw)

    def inertia(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return 2 m (V - v0) and R1 J Omega1 - R0 J Omega0 of every body; (k,)."""
        bodies, v0 = self.frames, self._twists0[:, 0]
        V = self._pairs(w)[:, 0]
        Pi0, Pi1 = bodies.inertia * self._w0[:, 1], bodies.inertia * self._Omega1(w)
        L0, L1 = np.einsum("nij,nj->ni", self._R0, Pi0), np.einsum("nij,nj->ni", _R1(at), Pi1)
        mass = 2 * bodies.mass[:, None]
        terms = np.hstack([mass * (V - v0), L1 - L0])
        sizes = np.hstack([mass * (abs(V) + abs(v0)), abs(Pi1) + abs(Pi0)])
        own = bodies.velocities.own
        return own(terms.reshape(-1)), own(sizes.reshape(-1))

    def dinertia(self, w: Vector, at: Middle, force: Vector) -> Matrix:
        """Return the derivative of the inertia, and of the lever arms of the forces."""
        t = self._pairs(w)
        blocks = self.momenta_by_twists(w, at) + self.arms_by_twists(t, at, force)
        return self.frames.velocities.square(spread(blocks))

    def momenta_by_twists(self, w: Vector, at: Middle) -> Array:
        """Return the derivative of what momenta gain, by twists; (bodies, 6, 6)."""
        bodies, h, C = self.frames, self.h, turns(self.h, self._pairs(w))
        d, Pi1 = at.q.reshape(-1, 4, 3)[:, 1:], bodies.inertia * self._Omega1(w)
        blocks = np.zeros((bodies.count, SIX, SIX))
        blocks[:, :3, :3] = 2 * bodies.mass[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = 2 * (_R1(at) * bodies.inertia[:, None]) @ np.swapaxes(self._R0, 1, 2)
        blocks[:, 3:, 3:] -= h * C @ skew(np.einsum("nki,nk->ni", d, Pi1))
        return blocks

    def arms_by_twists(self, t: Array, at: Middle, force: Vector) -> Array:
        """Return the derivative of torques of forces on directors, by twists; (bodies, 6, 6).

        d_i x f_i changes by -f_i x (d d_i), and d d_i = -(h/2) C [d_i] d omega.
        """
        d, forces = at.q.reshape(-1, 4, 3)[:, 1:], force.reshape(-1, 4, 3)[:, 1:]
        blocks = np.zeros((len(t), SIX, SIX))
        C = turns(self.h, t)
        blocks[:, 3:, 3:] = self.h / 2 * np.einsum("nkij,njl,nklm->nim", skew(forces), C, skew(d))
        return blocks

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the end of the step, and the means of both ends."""
        system, held = self.system, self.held
        zeta0, w0, _ = system.parts(self.x0)
        t, mu = self.split(w)
        at = self.middle(t)
        lam = held.smallest(at.q, mu / self.h)
        zeta1, w1 = self.ends(t, at)
        u = held.feedback(self.t, at.q, at.rate, self.given)
        y, lost = held.y(at.q, at.rate, lam), held.lost(at.q, at.rate, lam)
        x_mid = np.concatenate([(zeta0 + zeta1) / 2, (w0 + w1) / 2, lam])
        x1 = np.concatenate([zeta1, w1, lam])
        return x1, Stage(x_mid, system.z(x_mid), u, y, lost)

    def ends(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return coordinates and velocities of rigid bodies at the end of the step."""
        bodies, Omega1 = self.frames, self._Omega1(w)
        rows = bodies.rows(self.system.parts(self.x0)[0][: bodies.n]).copy()
        rows[:, :3] = at.q1.reshape(-1, 4, 3)[:, 0]
        rows[:, 3:] = self._turned(rows[:, 3:], (self._w0[:, 1] + Omega1) / 2)
        zeta1 = bodies.unknowns.own(rows.reshape(-1))
        velocity1 = 2 * self._pairs(w)[:, 0] - self._twists0[:, 0]
        v1 = np.einsum("nji,nj->ni", bodies.rotations(zeta1), velocity1)
        return zeta1, bodies.velocities.own(np.hstack([v1, Omega1]).reshape(-1))

    def _turned(self, theta: Array, W: Array) -> Array:
        """Return what describes rotations after a step with angular velocity W in body axes."""
        try:
            return self.frames.parametrisation.after(theta, self.h * W)
        except GimbalLock as lock:
            body = self.system.layout.bodies[lock.body]
            when = f"at t = {self.t + (lock.fraction - 0.5) * self.h:.6g} s"
            raise InputError(f"body '{body}': {lock_report(lock.beta, when)}") from None


def turns(h: float, t: Array) -> Array:
    """Return what turns directors at the start into mean ones, by twists t; (bodies, 3, 3).

    (1 - [a])^-1 = (1 + [a] + a a^T) / (1 + a·a) with a = h omega / 2.
    """
    a = h / 2 * t[:, 1]
    with np.errstate(over="ignore", invalid="ignore"):  # an iteration may go far astray
        turn = np.eye(3) + skew(a) + a[:, :, None] * a[:, None, :]
        return np.asarray(turn / (1 + np.sum(a * a, axis=1))[:, None, None])


def _R1(at: Middle) -> Array:
    """Return the rotations at the end; (bodies, 3, 3)."""
    return np.swapaxes(at.q1.reshape(-1, 4, 3)[:, 1:], 1, 2)
