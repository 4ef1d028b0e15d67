"""Elastic bodies over a time step: changes of momenta and their derivatives."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.attached import Carried
from poinsot.bodies.flexible import Elastic
from poinsot.ph.matrices import Vector
from poinsot.so3 import skew
from poinsot.systems.floating.bodies import Place

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ElasticStep:
    """An elastic body over a step by w = (V, omega, v_f), its equations without forces on frames.

    `at` is where its velocities are among those of all bodies; `pull` is the gradient of the
    potential of gravity for a mass of one [m/s^2]. R is the mean of the rotations at both ends; u0
    and w0 are at the start, w0 in body axes.
    """

    body: Elastic
    at: Place
    pull: Vector
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
        at: Place,
        pull: Vector,
        h: float,
        R0: Array,
        u0: Vector,
        w0: Vector,
        w: Vector,
    ) -> "ElasticStep":
        """Return the step of a body from u0, with w0 in body axes."""
        a = h / 2 * w[3:6]
        R = (np.eye(3) + skew(a) + np.outer(a, a)) @ R0 / (1 + a @ a)
        carried = Carried.of(body.data, h, R0, R, u0, w)
        return cls(body, at, pull, h, R0, R, u0, w0, w, carried)

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

    def residual(self) -> tuple[Vector, Vector]:
        """Return the equations of momentum, and the sizes of their terms; (6 + n,)."""
        pull, data, h, V, v_f = self.pull, self.body.data, self.h, self.w[:3], self.w[6:]
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
                abs(p1[3:6]) + abs(p0[3:6]) + abs(h * turned),
                abs(p1[6:]) + abs(p0[6:]) + abs(h) * (abs(elastic) + abs(damping) + abs(push)),
            ]
        )
        if not data.deformed:
            sums += self._gyroscopic()[0]
        sizes[6:] = sizes[6:].max(initial=0.0)
        return sums, sizes

    def _weight(self) -> tuple[Vector, Array]:
        """Return the mean of R (s + S u) at both ends, and (1 + [a]) R0 S."""
        data, a = self.body.data, self.h / 2 * self.w[3:6]
        s0, s1 = data.integrals.s(self.u0), data.integrals.s(self.u1)
        arm = (self.R0 @ s0 + self.R1 @ s1) / 2
        return np.asarray(arm), np.asarray((np.eye(3) + skew(a)) @ self.R0 @ data.S)

    def _gyroscopic(self) -> tuple[Vector, Array]:
        """Return gyroscopic forces beyond those of momenta, times -h, and their derivative.

        J of [BAPM21, eq. (34)] at mean velocities, less the part of p_t and p_r, is skew. Torques
        go to world axes by the mean R: R^T omega = R0^T omega = R1^T omega, so that their power is
        that in body axes, and a step is symmetric in time.
        """
        data, h = self.body.data, self.h
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
        Q[3:6, 3:6] = self.R.T
        pushed = -h * Q.T @ force
        by_own = -h * Q.T @ slope @ self._mean_by_w()
        # Q^T has (1 + [a]) R0 and R in it, which turn.
        by_own[:3, 3:6] -= h * h / 2 * -skew(self.R0 @ force[:3])
        by_own[3:6, 3:6] += h * h / 2 * self.R @ self.R0.T @ skew(self.R @ force[3:6])
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

    def tangent(self) -> Array:
        """Return the derivative of the residual by w; (6 + n, 6 + n)."""
        pull, data, h, V = self.pull, self.body.data, self.h, self.w[:3]
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
        s1 = data.integrals.s(u1)
        arm_by_w = np.zeros((3, 6 + n))
        arm_by_w[:, 3:6] = -h / 2 * C @ skew(R @ s1)
        arm_by_w[:, 6:] = h / 2 * R1 @ data.S
        dL = dL - h * turned - h * skew(pull) @ arm_by_w
        df[:, 3:6] += h * h / 2 * (R0 @ data.S).T @ skew(pull)
        total = np.vstack([dP, dL, df])
        return total if data.deformed else total + self._gyroscopic()[1]
