"""The time step of mechanisms with velocities in body axes: the midpoint rule on rotations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.integrate.newton import Evaluation, Tangent
from poinsot.integrate.schemes import Scheme
from poinsot.integrate.step import Stage, StepProblem, step_problem
from poinsot.mechanics import twists
from poinsot.mechanics.jointed import independent, smallest
from poinsot.mechanics.rotations.bodies import SIX
from poinsot.mechanics.rotations.euler import GimbalLock, lock_report
from poinsot.mechanics.rotations.system import RotationSystem
from poinsot.mechanics.spread import spread
from poinsot.mechanics.stepping import DRIFT, REST
from poinsot.ph.combining import combined, labels_of, spread_out
from poinsot.ph.gradients import Midpoint
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble
from poinsot.so3 import skew

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Middle:
    """A step by twists t = (V, omega): directors at its start, middle and end, and their rate."""

    q0: Vector
    q: Vector
    q1: Vector
    rate: Vector
    #: What turns twists into rates of directors, (12 bodies, 6 bodies), and the derivative of q.
    S: Matrix
    dq: Matrix
    #: What turns directors at the start into mean ones; (bodies, 3, 3).
    C: Array
    #: Angular velocity and angular momentum at the end, in body axes; (bodies, 3).
    Omega1: Array
    Pi1: Array


@dataclass(frozen=True, eq=False)
class RotationStep(StepProblem):
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

    with the forces of directors, :math:`f = f_\phi` and :math:`\tau = \sum_i \bar d_i \times f_i`,
    and joints and contacts as in `MidpointStep`: one multiplier vector per step, repeated
    constraints combined to independent ones.
    """

    system: RotationSystem

    @cached_property
    def T(self) -> Matrix | None:
        """What combines the constraints to independent ones, at the start of the step."""
        return independent(self.system.mechanism, self._q0)

    @cached_property
    def _q0(self) -> Vector:
        return self.system.bodies.directors(self.system.split(self.x0)[0])

    @cached_property
    def _R0(self) -> Array:
        return self.system.bodies.rotations(self.system.split(self.x0)[0])

    @cached_property
    def _w0(self) -> Array:
        """Velocities at the start, in body axes; (bodies, 2, 3)."""
        return self.system.split(self.x0)[1].reshape(-1, 2, 3)

    @cached_property
    def _twists0(self) -> Array:
        """The same in world axes."""
        return np.asarray(np.einsum("nij,nkj->nki", self._R0, self._w0))

    @cached_property
    def _gap(self) -> Vector:
        """What round-off has left of c; what rolls has no place to get back to."""
        gap = self.system.joints(self._q0)
        return np.concatenate([gap, np.zeros(self.system.mechanism.slips)])

    @property
    def guess(self) -> Vector:
        """Start from the velocities and multipliers of the step before."""
        lam = self.system.split(self.x0)[2]
        return np.concatenate([self._twists0.reshape(-1), self.h * combined(self.T, lam)])

    @property
    def labels(self) -> tuple[str, ...]:
        """Momentum equations and constraints."""
        n, k = self.system.bodies.n, self.system.bodies.k
        labels = self.system.labels
        return (*labels[n : n + k], *labels_of(self.T, labels[n + k :]))

    def diagnose(self) -> str:
        """Return what is the matter with contacts at the start of the step."""
        return self.system.layout.diagnose(self._q0)

    def _middle(self, t: Vector) -> _Middle:
        """Return where a step by these twists leads."""
        h, q0, J = self.h, self._q0, self.system.bodies.inertia
        V, omega = np.swapaxes(t.reshape(-1, 2, 3), 0, 1)
        a, blocks0 = h / 2 * omega, q0.reshape(-1, 4, 3)
        C: Array = np.linalg.inv(np.eye(3) - skew(a)).astype(float)
        blocks = np.empty_like(blocks0)
        blocks[:, 0] = blocks0[:, 0] + h / 2 * V
        blocks[:, 1:] = np.einsum("nij,nkj->nki", C, blocks0[:, 1:])
        q = blocks.reshape(-1)
        # A change of omega turns a vector d at the midpoint by (h/2) C (d omega x d).
        dq = np.zeros((len(C), 4, 3, 2, 3))
        dq[:, 0, :, 0] = h / 2 * np.eye(3)
        dq[:, 1:, :, 1] = -h / 2 * C[:, None] @ skew(blocks[:, 1:])
        Omega1 = 2 * np.einsum("nji,nj->ni", self._R0, omega) - self._w0[:, 1]
        return _Middle(
            q0=q0,
            q=q,
            q1=2 * q - q0,
            rate=twists.velocities(q, t),
            S=spread(twists.velocity_blocks(blocks)),
            dq=spread(dq.reshape(-1, 12, SIX)),
            C=C,
            Omega1=Omega1,
            Pi1=J * Omega1,
        )

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of momentum and constraints."""
        system, mechanism, h = self.system, self.system.mechanism, self.h
        t, mu = w[: system.bodies.k], spread_out(self.T, w[system.bodies.k :])
        at = self._middle(t)
        u = mechanism.feedback(self.t, at.q, at.rate, self.u)
        G, B = system.held.G(at.q), mechanism.B(at.q)
        dV, ddV = mechanism.discrete_dV(at.q0, at.q1)
        damping = mechanism.damping(at.q, at.rate)
        force = h * (dV - B @ u + damping) + G.T @ mu
        closure = combined(self.T, G @ at.rate + DRIFT / h * self._gap)
        residual = np.concatenate([self._inertia(t, at) + at.S.T @ force, closure])
        forces = h * (abs(dV) + abs(B) @ abs(u) + abs(damping)) + abs(G).T @ abs(mu)
        sizes = _by_kind(self._momenta(t, at) + abs(at.S).T @ forces)
        reach = abs(G) @ (abs(at.S) @ abs(t) + abs(at.q) * REST / h)
        sizes = np.concatenate([sizes, np.full(closure.size, reach.max(initial=0.0))])
        return Evaluation(residual, sizes, w, lambda: self._tangent(at, t, mu, u, G, force, ddV))

    def _inertia(self, t: Vector, at: _Middle) -> Vector:
        """Return 2 m (V - v0) and R1 J Omega1 - R0 J Omega0 of every body; (6 bodies,)."""
        bodies, V = self.system.bodies, t.reshape(-1, 2, 3)[:, 0]
        R1 = np.swapaxes(at.q1.reshape(-1, 4, 3)[:, 1:], 1, 2)
        L0 = np.einsum("nij,nj->ni", self._R0, bodies.inertia * self._w0[:, 1])
        L1 = np.einsum("nij,nj->ni", R1, at.Pi1)
        linear = 2 * bodies.mass[:, None] * (V - self._twists0[:, 0])
        return np.hstack([linear, L1 - L0]).reshape(-1)

    def _momenta(self, t: Vector, at: _Middle) -> Vector:
        """Return the sizes of the terms of `_inertia`."""
        bodies, V = self.system.bodies, t.reshape(-1, 2, 3)[:, 0]
        linear = 2 * bodies.mass[:, None] * (abs(V) + abs(self._twists0[:, 0]))
        angular = abs(at.Pi1) + bodies.inertia * abs(self._w0[:, 1])
        return np.hstack([linear, angular]).reshape(-1)

    def _tangent(
        self,
        at: _Middle,
        t: Vector,
        mu: Vector,
        u: Vector,
        G: Matrix,
        force: Vector,
        ddV: Matrix | None,
    ) -> Tangent:
        system, mechanism, h, k = self.system, self.system.mechanism, self.h, t.size
        by_q: list[Matrix] = [system.held.curvature(at.q, mu)]
        by_rate: list[Matrix] = []
        dB, slopes = mechanism.dB(at.q, u), mechanism.ddamping(at.q, at.rate)
        gains = mechanism.dfeedback(self.t, at.q, at.rate)
        if ddV is not None:
            by_q.append(2 * h * ddV)
        if dB is not None:
            by_q.append(-h * dB)
        if gains is not None:
            by_q.append(-h * gains[0])
            by_rate.append(-h * gains[1])
        if slopes is not None:
            by_q.append(h * slopes[0])
            by_rate.append(h * slopes[1])
        # rate = (q1 - q0) / h = 2 (q - q0) / h
        drate = 2 / h * at.dq
        placed: list[Placed] = [(0, 0, self._dinertia(at, force))]
        placed += [(0, 0, at.S.T @ slope @ at.dq) for slope in by_q]
        placed += [(0, 0, at.S.T @ slope @ drate) for slope in by_rate]
        closing = system.held.slope(at.q, at.rate) @ at.dq + G @ drate
        placed.append((0, k, combined(self.T, G @ at.S).T))
        placed.append((k, 0, combined(self.T, closing)))
        size = k + placed[-1][2].shape[0]
        none = np.zeros((size, 0))
        return Tangent(assemble((size, size), placed), none, none)

    def _dinertia(self, at: _Middle, force: Vector) -> Matrix:
        """Return the derivative of the inertia, and of the lever arms of the forces, by t."""
        bodies, h = self.system.bodies, self.h
        d = at.q.reshape(-1, 4, 3)[:, 1:]
        R1 = np.swapaxes(at.q1.reshape(-1, 4, 3)[:, 1:], 1, 2)
        blocks = np.zeros((bodies.count, SIX, SIX))
        blocks[:, :3, :3] = 2 * bodies.mass[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = 2 * (R1 * bodies.inertia[:, None]) @ np.swapaxes(self._R0, 1, 2)
        blocks[:, 3:, 3:] -= h * at.C @ skew(np.einsum("nki,nk->ni", d, at.Pi1))
        # d_i x f_i changes by -f_i x (d d_i), and d d_i = -(h/2) C [d_i] d omega.
        forces = force.reshape(-1, 4, 3)[:, 1:]
        blocks[:, 3:, 3:] += h / 2 * np.einsum("nkij,njl,nklm->nim", skew(forces), at.C, skew(d))
        return spread(blocks)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the end of the step, and the means of both ends."""
        system, bodies = self.system, self.system.bodies
        zeta0, w0, _ = system.split(self.x0)
        t, mu = w[: bodies.k], spread_out(self.T, w[bodies.k :])
        at = self._middle(t)
        system.mechanism.require_continuous(at.q0, at.q1)
        system.layout.require_contact(at.q0, at.q1)
        lam = smallest(system.mechanism, at.q, mu / self.h)
        rows = zeta0.reshape(-1, bodies.width).copy()
        rows[:, :3] = at.q1.reshape(-1, 4, 3)[:, 0]
        rows[:, 3:] = self._turned(rows[:, 3:], (self._w0[:, 1] + at.Omega1) / 2)
        zeta1 = rows.reshape(-1)
        velocity1 = 2 * t.reshape(-1, 2, 3)[:, 0] - self._twists0[:, 0]
        v1 = np.einsum("nji,nj->ni", bodies.rotations(zeta1), velocity1)
        w1 = np.hstack([v1, at.Omega1]).reshape(-1)
        u = system.mechanism.feedback(self.t, at.q, at.rate, self.u)
        y = np.asarray(system.mechanism.B(at.q).T @ at.rate)
        lost = float(system.mechanism.damping(at.q, at.rate) @ at.rate)
        x_mid = np.concatenate([(zeta0 + zeta1) / 2, (w0 + w1) / 2, lam])
        x1 = np.concatenate([zeta1, w1, lam])
        return x1, Stage(x_mid, system.z(x_mid), u, y, lost)

    def _turned(self, theta: Array, W: Array) -> Array:
        """Return what describes rotations after a step with angular velocity W in body axes."""
        try:
            return self.system.bodies.parametrisation.after(theta, self.h * W)
        except GimbalLock as lock:
            body = self.system.layout.bodies[lock.body]
            when = f"at t = {self.t + (lock.fraction - 0.5) * self.h:.6g} s"
            raise InputError(f"body '{body}': {lock_report(lock.beta, when)}") from None


def _by_kind(sizes: Vector) -> Vector:
    """Raise sizes to the largest of their kind, translation or rotation, over all bodies."""
    blocks = sizes.reshape(-1, 2, 3)
    return np.tile(np.repeat(blocks.max(axis=(0, 2)), 3), len(blocks))


@step_problem.register
def _step(
    system: RotationSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    if not isinstance(scheme.gradient, Midpoint) or scheme.stabilised:
        raise InputError(
            f"scheme '{scheme.name}' does not run system '{system.name}', whose velocities are in "
            "body axes; use 'ph-mp'"
        )
    return RotationStep(scheme, t, x0, u, h, system)
