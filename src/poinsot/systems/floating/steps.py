"""Stage equations of mechanisms with elastic bodies: energy, momenta and joints exact."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.attached import Carried
from poinsot.bodies.flexible import Elastic
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import spread, velocity_blocks
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, dense, total
from poinsot.ph.stages import Stage
from poinsot.so3 import skew
from poinsot.systems.rotations.bodies import SIX
from poinsot.systems.rotations.steps import RotationStages
from poinsot.systems.steps import Middle

if TYPE_CHECKING:
    from poinsot.systems.floating.system import FloatingSystem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FloatingStages(RotationStages):
    r"""The midpoint rule with elastic bodies, for (V, omega) of all frames, v_f, and h lambda.

    Rigid bodies are those of `RotationStages`. The floating frame of an elastic body moves by h V
    and turns by cay(h omega), with the mean :math:`\bar R` of its rotations at both ends, and

    .. math::

        V &= \bar R\, (v_0 + v_1) / 2, &
        R_0^\top \omega &= (\Omega_0 + \Omega_1) / 2, & u_1 - u_0 &= h v_f = h (v_{f0} + v_{f1}) / 2 \\
        \Delta (R\, p_t) &= h f, & \Delta (R\, p_r) &= h (\bar P \times V + \tau), &
        \Delta p_f &= h \left(\tfrac12 w_0 \cdot M'(\bar u) w_1 - \bar\nabla V + f_f\right)

    with the momenta :math:`p = M(u) w` of both ends and :math:`\bar P` the mean of R p_t. Since M is
    quadratic in u, that keeps the energy; linear and angular momentum stay because the equations
    are those of world axes. With momenta that do not depend on u, the gyroscopic forces of
    [BAPM21, sec. 4.3] take the place of w_0·M' w_1.
    """

    system: "FloatingSystem"

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Twists and elastic velocities at the start, and the multipliers of the step before."""
        bodies, (_, w0, lam) = self.system.bodies, self.system.parts(self.x0)
        twists = bodies.rigid.velocities.own(self._twists0.reshape(-1)).copy()
        split = bodies.rigid.k
        return np.concatenate([twists, w0[split:]]), lam

    def combination(self) -> Matrix | None:
        """Return what takes independent constraints out of all, at the start of the step."""
        return self.system.redundancy.independent(self.system.parts(self.x0)[0])

    @cached_property
    def translate(self) -> NDArray[np.bool_]:
        """V, not omega; elastic velocities are weighed as rotations."""
        translate = np.zeros(self.system.bodies.k, dtype=bool)
        of_frames = self.system.bodies.rigid.velocities.translate
        translate[: of_frames.size] = of_frames
        return translate

    @cached_property
    def _R0(self) -> Array:
        zeta = self.system.parts(self.x0)[0]
        return np.swapaxes(frame_vectors(self.system.bodies.directors(zeta))[:, 1:], 1, 2)

    @cached_property
    def _w0(self) -> Array:
        """Velocities of frames at the start, in body axes, of carried ones zero; (frames, 2, 3)."""
        rigid = self.system.bodies.rigid
        return rigid.pairs(self.system.parts(self.x0)[1][: rigid.k])

    @cached_property
    def _u0(self) -> list[Vector]:
        return self.system.bodies.deformations(self.system.parts(self.x0)[0])

    def _frames(self, w: Vector) -> Array:
        """Return twists of frames, those of carried ones zero; (frames, 2, 3)."""
        rigid = self.system.bodies.rigid
        return rigid.pairs(w[: rigid.k])

    def _means(self, a: Array) -> Array:
        """Return (1 - [a])^-1 of half turns a (..., 3)."""
        turn = np.eye(3) + skew(a) + a[..., :, None] * a[..., None, :]
        return np.asarray(turn / (1 + np.sum(a * a, axis=-1))[..., None, None])

    def _each(self, w: Vector) -> "Iterator[Step]":
        """Return the step of every elastic body."""
        bodies, (_, w0, _) = self.system.bodies, self.system.parts(self.x0)
        for (body, rigid, elastic), u0 in zip(bodies.each(), self._u0, strict=True):
            own0, own = bodies.of(w0, rigid, elastic), bodies.of(w, rigid, elastic)
            yield Step.of(body, rigid, elastic, self.h, self._R0[body.frame], u0, own0, own)

    def middle(self, w: Vector) -> Middle:
        """Return where a step by these velocities leads, all frames included."""
        h, q0, bodies = self.h, self.q0, self.system.bodies
        t, frames = self._frames(w).copy(), bodies.count
        split, unit = bodies.rigid.k, np.eye(bodies.rigid.k)
        L: list[Placed] = [(0, 0, _spread(bodies.rigid.velocities.F.toarray() @ unit))]
        slope = list(L)
        for step in self._each(w):
            carried, first = step.carried, step.body.first
            t[first : first + len(carried.twists)] = carried.twists
            for matrix, own in ((carried.L, L), (carried.slope, slope)):
                rows = matrix.reshape(-1, matrix.shape[-1])
                own.append((SIX * first, step.rigid.start, rows[:, :6]))
                own.append((SIX * first, step.elastic.start, rows[:, 6:]))
        shape = SIX * frames, bodies.k
        to_frames, by_w = assemble(shape, L), assemble(shape, slope)
        C, blocks0 = self._means(h / 2 * t[:, 1]), q0.reshape(-1, 4, 3)
        blocks = np.empty_like(blocks0)
        blocks[:, 0] = blocks0[:, 0] + h / 2 * t[:, 0]
        blocks[:, 1:] = np.einsum("nij,nkj->nki", C, blocks0[:, 1:])
        dq = np.zeros((frames, 4, 3, 2, 3))
        dq[:, 0, :, 0] = h / 2 * np.eye(3)
        dq[:, 1:, :, 1] = -h / 2 * C[:, None] @ skew(blocks[:, 1:])
        S = spread(velocity_blocks(blocks)) @ to_frames
        q = blocks.reshape(-1)
        rate = np.asarray(spread(velocity_blocks(blocks)) @ t.reshape(-1))
        assert split <= bodies.k
        return Middle(h, q0, q, 2 * q - q0, rate, S, spread(dq.reshape(-1, 12, SIX)) @ by_w)

    @property
    def _rigid(self) -> NDArray[np.bool_]:
        """Which frames are those of rigid bodies."""
        of = self.system.mechanism
        rigid = ~of.unknowns.carried
        rigid[[body.frame for body in of.elastic]] = False
        return np.asarray(rigid)

    def inertia(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return what momenta gain beyond what elastic, inertial and damping forces give; (k,)."""
        bodies, rigid, of = self.system.bodies, self.system.bodies.rigid, self._rigid[:, None]
        t, R1 = self._frames(w), _ends(at)
        Omega1 = 2 * np.einsum("nji,nj->ni", self._R0, t[:, 1]) - self._w0[:, 1]
        Pi0, Pi1 = rigid.inertia * self._w0[:, 1], rigid.inertia * Omega1
        L0, L1 = np.einsum("nij,nj->ni", self._R0, Pi0), np.einsum("nij,nj->ni", R1, Pi1)
        mass, v0 = 2 * rigid.mass[:, None], self._twists0[:, 0]
        terms = np.where(of, np.hstack([mass * (t[:, 0] - v0), L1 - L0]), 0.0)
        sizes = np.where(of, np.hstack([mass * (abs(t[:, 0]) + abs(v0)), abs(Pi1) + abs(Pi0)]), 0.0)
        gained, large = np.zeros(bodies.k), np.zeros(bodies.k)
        gained[: rigid.k] = rigid.velocities.own(terms.reshape(-1))
        large[: rigid.k] = rigid.velocities.own(sizes.reshape(-1))
        for step in self._each(w):
            change, size = step.residual(self._pull(step))
            gained[step.rigid], gained[step.elastic] = change[:6], change[6:]
            large[step.rigid], large[step.elastic] = size[:6], size[6:]
        return gained, large

    def _pull(self, step: "Step") -> Vector:
        return self.system.bodies.pull(step.body)

    def dinertia(self, w: Vector, at: Middle, force: Vector) -> Matrix:
        """Return the derivative of the inertia, and of what S^T force has of S."""
        bodies, rigid, h = self.system.bodies, self.system.bodies.rigid, self.h
        t, of = self._frames(w), self._rigid
        C, R1 = self._means(h / 2 * t[:, 1]), _ends(at)
        d = at.q.reshape(-1, 4, 3)[:, 1:]
        Omega1 = 2 * np.einsum("nji,nj->ni", self._R0, t[:, 1]) - self._w0[:, 1]
        Pi1 = rigid.inertia * Omega1
        blocks = np.zeros((bodies.count, SIX, SIX))
        blocks[:, :3, :3] = 2 * rigid.mass[:, None, None] * np.eye(3)
        blocks[:, 3:, 3:] = 2 * (R1 * rigid.inertia[:, None]) @ np.swapaxes(self._R0, 1, 2)
        blocks[:, 3:, 3:] -= h * C @ skew(np.einsum("nki,nk->ni", d, Pi1))
        blocks[~of] = 0.0
        placed: list[Placed] = [(0, 0, rigid.velocities.square(spread(blocks)))]
        # Forces on frames: their arms turn with the twists of these, and twists follow velocities.
        forces = force.reshape(-1, 4, 3)[:, 1:]
        carried: list[Placed] = []
        to_frames: list[Placed] = [(0, 0, rigid.velocities.F)]
        by_w: list[Placed] = [(0, 0, rigid.velocities.F)]
        twist = self._all_twists(w)
        C = self._means(h / 2 * twist[:, 1])
        arms = np.zeros((bodies.count, SIX, SIX))
        arms[:, 3:, 3:] = h / 2 * np.einsum("nkij,njl,nklm->nim", skew(forces), C, skew(d))
        wrench = np.zeros((bodies.count, 2, 3))
        wrench[:, 0] = force.reshape(-1, 4, 3)[:, 0]
        wrench[:, 1] = np.cross(d, forces).sum(axis=1)
        for step in self._each(w):
            first, own = step.body.first, len(step.carried.twists)
            for matrix, blocks_of in ((step.carried.L, to_frames), (step.carried.slope, by_w)):
                rows = matrix.reshape(-1, matrix.shape[-1])
                blocks_of.append((SIX * first, step.rigid.start, rows[:, :6]))
                blocks_of.append((SIX * first, step.elastic.start, rows[:, 6:]))
            levers = step.carried.lever_by_w(wrench[first : first + own])
            own_terms = step.tangent(self._pull(step)) + levers
            carried += bodies.placed(step.rigid, step.elastic, own_terms)
        shape = SIX * bodies.count, bodies.k
        L, slope = assemble(shape, to_frames), assemble(shape, by_w)
        return total(
            assemble((bodies.k, bodies.k), [*placed, *carried]), L.T @ spread(arms) @ slope
        )

    def _all_twists(self, w: Vector) -> Array:
        t = self._frames(w).copy()
        for step in self._each(w):
            first = step.body.first
            t[first : first + len(step.carried.twists)] = step.carried.twists
        return t

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the end of the step, and the means of both ends."""
        system, bodies, held = self.system, self.system.bodies, self.held
        rigid = bodies.rigid
        zeta0, w0, _ = system.parts(self.x0)
        v, mu = self.split(w)
        at, t = self.middle(v), self._frames(v)
        lam = system.redundancy.smallest(held.G(at.q) @ at.S, mu / self.h)
        rows = rigid.rows(zeta0[: rigid.n]).copy()
        rows[:, :3] = at.q1.reshape(-1, 4, 3)[:, 0]
        turning = np.einsum("nji,nj->ni", self._R0, t[:, 1])
        rows[:, 3:] = self._turned(rows[:, 3:], turning)
        zeta1 = zeta0.copy()
        zeta1[: rigid.n] = rigid.unknowns.own(rows.reshape(-1))
        velocity1 = 2 * t[:, 0] - self._twists0[:, 0]
        R1 = rigid.rotations(zeta1[: rigid.n])
        v1 = np.einsum("nji,nj->ni", R1, velocity1)
        w1 = w0.copy()
        ends = np.hstack([v1, 2 * turning - self._w0[:, 1]])
        w1[: rigid.k] = rigid.velocities.own(ends.reshape(-1))
        lost = float(held.damping(at.q, at.rate) @ at.rate)
        for step in self._each(v):
            w1[step.rigid], w1[step.elastic] = step.w1[:6], step.w1[6:]
            zeta1[bodies._coordinates(step.elastic)] = step.u1
            lost += step.lost
        u = held.feedback(self.t, at.q, at.rate, self.given)
        y = held.y(at.q, at.rate, lam)
        x_mid = np.concatenate([(zeta0 + zeta1) / 2, (w0 + w1) / 2, lam])
        return np.concatenate([zeta1, w1, lam]), Stage(x_mid, system.z(x_mid), u, y, lost)


@dataclass(frozen=True, eq=False)
class Step:
    """An elastic body over a step by (V, omega, v_f): see `FloatingStages`."""

    body: Elastic
    rigid: slice
    elastic: slice
    h: float
    R0: Array
    R: Array
    u0: Vector
    w0: Vector
    w: Vector
    carried: Carried

    @classmethod
    def of(
        cls,
        body: Elastic,
        rigid: slice,
        elastic: slice,
        h: float,
        R0: Array,
        u0: Vector,
        w0: Vector,
        w: Vector,
    ) -> "Step":
        """Return the step of a body from u0, with w0 in body axes."""
        a = h / 2 * w[3:6]
        R = (np.eye(3) + skew(a) + np.outer(a, a)) @ R0 / (1 + a @ a)
        carried = Carried.of(body.data, h, R0, R, u0, w)
        return cls(body, rigid, elastic, h, R0, R, u0, w0, w, carried)

    @property
    def R1(self) -> Array:
        """The rotation at the end."""
        return np.asarray(2 * self.R - self.R0)

    @property
    def u1(self) -> Vector:
        """The elastic coordinates at the end."""
        return np.asarray(self.u0 + self.h * self.w[6:])

    @cached_property
    def w1(self) -> Vector:
        """Velocities at the end, in body axes."""
        a = self.h / 2 * self.w[3:6]
        v = self.R0.T @ (self.w[:3] - np.cross(a, self.w[:3]))
        mean = np.concatenate([v, self.R0.T @ self.w[3:6], self.w[6:]])
        return np.asarray(2 * mean - self.w0)

    @property
    def lost(self) -> float:
        """Power dissipated [W]."""
        return float(self.w[6:] @ self.body.data.D @ self.w[6:])

    def residual(self, pull: Vector) -> tuple[Vector, Vector]:
        """Return the equations of momentum without forces on frames, and the sizes of terms.

        `pull` is the gradient of the potential of gravity for a mass of one.
        """
        data, h, V, v_f = self.body.data, self.h, self.w[:3], self.w[6:]
        p0, p1 = data.momenta(self.u0, self.w0), data.momenta(self.u1, self.w1)
        P0, P1 = self.R0 @ p0[:3], self.R1 @ p1[:3]
        turned = np.cross((P0 + P1) / 2, V)
        mid = (self.u0 + self.u1) / 2
        elastic, _ = data.discrete(self.u0, self.u1)
        push, damping = data.push(mid, self.w0, self.w1), data.D @ v_f
        arm, lift = self._weight()
        sums = np.concatenate(
            [
                P1 - P0,
                self.R1 @ p1[3:6] - self.R0 @ p0[3:6] - h * turned + h * np.cross(arm, pull),
                p1[6:] - p0[6:] + h * (elastic + damping - push + lift.T @ pull),
            ]
        )
        sizes = np.concatenate(
            [
                abs(P1) + abs(P0),
                abs(p1[3:6]) + abs(p0[3:6]) + h * abs(turned),
                abs(p1[6:]) + abs(p0[6:]) + h * (abs(elastic) + abs(damping) + abs(push)),
            ]
        )
        if not data.deformed:
            sums += self._gyroscopic()[0]
        sizes[6:] = sizes[6:].max(initial=0.0)
        return sums, sizes

    def _weight(self) -> tuple[Vector, Array]:
        """Return the mean of R (s + S u) at both ends, and (1 + [a]) R0 S."""
        data, a = self.body.data, self.h / 2 * self.w[3:6]
        s0, s1 = data.static + data.S @ self.u0, data.static + data.S @ self.u1
        arm = (self.R0 @ s0 + self.R1 @ s1) / 2
        return np.asarray(arm), np.asarray((np.eye(3) + skew(a)) @ self.R0 @ data.S)

    def _gyroscopic(self) -> tuple[Vector, Array]:
        """Return gyroscopic forces beyond those of momenta, times -h, and their derivative.

        J of [BAPM21, eq. (34)] at mean velocities, less the part of p_t and p_r, is skew; on
        velocities in world axes it acts by (V, omega, v_f) -> ((1 - [a]) V, omega, v_f) R0.
        """
        data, h, a = self.body.data, self.h, self.h / 2 * self.w[3:6]
        mean, mid = (self.w0 + self.w1) / 2, (self.u0 + self.u1) / 2
        J, by_w = data.gyration(mid, mean), data.gyration_by_w(mid, mean)
        p, M = data.momenta(mid, mean), data.mass_matrix(mid)
        own = np.zeros_like(J)
        own[:3, 3:6] = own[3:6, :3] = skew(p[:3])
        own[3:6, 3:6] = skew(p[3:6])
        own_by_w = np.zeros_like(by_w)
        own_by_w[:3] = -skew(mean[3:6]) @ M[:3]
        own_by_w[3:6] = -skew(mean[:3]) @ M[:3] - skew(mean[3:6]) @ M[3:6]
        force, slope = (J - own) @ mean, J - own + by_w - own_by_w
        Q = self._to_body()
        pushed = -h * Q.T @ force
        by_own = -h * Q.T @ slope @ self._mean_by_w()
        # Q^T has (1 + [a]) R0 in it, which turns.
        by_own[:3, 3:6] -= h * h / 2 * -skew(self.R0 @ force[:3])
        assert a.shape == (3,)
        return pushed, by_own

    def _to_body(self) -> Array:
        """Return what makes mean velocities in body axes; (6 + n, 6 + n)."""
        Q, a = np.eye(self.w.size), self.h / 2 * self.w[3:6]
        Q[:3, :3] = self.R0.T @ (np.eye(3) - skew(a))
        Q[3:6, 3:6] = self.R0.T
        return Q

    def _mean_by_w(self) -> Array:
        """Return the derivative of mean velocities in body axes by w."""
        slope = self._to_body()
        slope[:3, 3:6] = self.h / 2 * self.R0.T @ skew(self.w[:3])
        return slope

    def tangent(self, pull: Vector) -> Array:
        """Return the derivative of the residual by w; (6 + n, 6 + n)."""
        data, h, V = self.body.data, self.h, self.w[:3]
        R0, R, R1, u1, w1 = self.R0, self.R, self.R1, self.u1, self.w1
        C, n = R @ R0.T, data.n
        p0, p1 = data.momenta(self.u0, self.w0), data.momenta(u1, w1)
        dw1 = 2 * self._mean_by_w()
        dp = data.mass_matrix(u1) @ dw1
        dp[:, 6:] += h * data.momenta_by_u(u1, w1)
        dP = R1 @ dp[:3]
        dP[:, 3:6] -= h * C @ skew(R @ p1[:3])
        dL = R1 @ dp[3:6]
        dL[:, 3:6] -= h * C @ skew(R @ p1[3:6])
        mean = (R0 @ p0[:3] + R1 @ p1[:3]) / 2
        turned = -skew(V) @ dP / 2
        turned[:, :3] += skew(mean)
        mid = (self.u0 + u1) / 2
        _, stiff = data.discrete(self.u0, u1)
        df = dp[6:] - h * data.push_by_w(mid, self.w0) @ dw1
        df[:, 6:] += h * (h * stiff + data.D - h / 2 * data.push_by_u(self.w0, w1))
        # Gravity: the arm is that of a force on the mean of R (s + S u).
        s1 = data.static + data.S @ u1
        arm_by_w = np.zeros((3, 6 + n))
        arm_by_w[:, 3:6] = -h / 2 * C @ skew(R @ s1)
        arm_by_w[:, 6:] = h / 2 * R1 @ data.S
        dL = dL - h * turned - h * skew(pull) @ arm_by_w
        df[:, 3:6] += h * h / 2 * (R0 @ data.S).T @ skew(pull)
        total = np.vstack([dP, dL, df])
        return total if data.deformed else total + self._gyroscopic()[1]


def _ends(at: Middle) -> Array:
    """Return the rotations at the end; (frames, 3, 3)."""
    return np.swapaxes(at.q1.reshape(-1, 4, 3)[:, 1:], 1, 2)


def _spread(a: Matrix) -> Matrix:
    return dense(a)
