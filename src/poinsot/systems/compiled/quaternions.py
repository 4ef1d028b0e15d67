"""Simulate mechanisms in quaternions in the compiled engine."""

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.parametrisations import BODY, WORLD
from poinsot.kernels import tables
from poinsot.ph.matrices import Vector
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.so3 import quat_multiply
from poinsot.systems.compiled.machine import Turning
from poinsot.systems.compiled.runner import MechanismRunner
from poinsot.systems.livens.lagrangian import Interval
from poinsot.systems.quaternions.systems import QuaternionForm, QuaternionSystem

Array = NDArray[np.float64]

#: Auxiliary nodes of a body by condensation.
AUXILIARY = {"full": tables.FULL, "reduced": tables.REDUCED, "null-space": tables.SHORTEST}


class QuaternionRunner(MechanismRunner):
    """A mechanism in quaternions, in Livens' form or in Hamilton's."""

    columns, width = 27, 39
    form = "quaternions"
    system: QuaternionForm
    turning: Turning

    def __init__(
        self, system: QuaternionForm, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.scheme, lagrangian = scheme, system.lagrangian
        self.livens = isinstance(system, QuaternionSystem)
        self.turning = Turning(
            unknowns=lagrangian.unknowns,
            form=tables.LIVENS if self.livens else tables.HAMILTON,
            mean=scheme.mean_lever_arms,
            auxiliary=AUXILIARY[scheme.condensation] if self.livens else tables.SHORTEST,
            first=system.n - lagrangian.held.m,
        )
        super().__init__(system, scheme, x, h, options)

    def _fill(self, x: Vector) -> Array:
        lagrangian, state = self.system.lagrangian, self.state[:-1]
        quat = lagrangian.theta(self.system.q(x))
        velocity, rate = lagrangian.rates(self.system.velocity(x))
        _, push = lagrangian.rates(self.system.p(x))
        state[:, : tables.VELOCITY] = self.system.directors(x).reshape(len(state), -1)
        state[:, tables.VELOCITY : tables.SLIP] = np.hstack([velocity, quat])
        state[:, tables.SLIP] = np.sum(quat * rate, axis=1)
        state[:, tables.SHARE] = np.sum(quat * push, axis=1)
        state[:, tables.SPIN : tables.SHARE] = 2 * np.einsum("iab,na,nb->ni", BODY, quat, rate)
        state[:, tables.MOMENTUM :] = np.einsum("iab,na,nb->ni", BODY, quat, push) / 2
        if self.livens and self.scheme.condensation == "full":
            # Velocity and momentum as they are now, seen from the body.
            stage = self.carried.stage[:-1]
            inner = state[:, tables.SPIN : tables.SHARE] / 2, 2 * state[:, tables.MOMENTUM :]
            stage[:, tables.AUXILIARY : tables.AUXILIARY + 6] = np.hstack(inner)
        spin = 2 * np.einsum("iab,na,nb->ni", WORLD, quat, rate)
        return np.hstack([velocity, spin])

    def _motion(self) -> Vector:
        state, mass = self.state[:-1], self.system.lagrangian.mass[:, None]
        velocity, quat = np.split(state[:, tables.VELOCITY : tables.SLIP], [3], axis=1)
        vector = self.system.lagrangian.vector
        q = vector(state[:, :3], quat)
        rate = np.hstack([state[:, tables.SLIP, None], state[:, tables.SPIN : tables.SHARE] / 2])
        push = np.hstack([state[:, tables.SHARE, None], 2 * state[:, tables.MOMENTUM :]])
        v = vector(velocity, quat_multiply(quat, rate))
        p = vector(mass * velocity, quat_multiply(quat, push))
        return np.concatenate((q, v, p) if self.livens else (q, p))

    @property
    def recovered(self) -> frozenset[str]:
        """The multipliers of unit quaternions, and those of joints where some repeat others."""
        layout, turns = self.system.layout, self.system.mechanism.unknowns.turns
        return frozenset({f"{name}.unit" for name in layout.among(turns)} | layout.undetermined)

    def _multipliers(
        self, h: float, end: Vector, middle: Vector, u: Vector, turned: Vector
    ) -> Vector:
        """Return the smallest of joints; those of units balance what is left along quaternions.

        p1 - p0 = h dT/dq + impulse, in Hamilton's form with the other sign.
        """
        start = 2 * middle - end
        system, rule = self.system.near(turned), self.scheme.rule
        lagrangian = system.lagrangian
        q0, q1, p0, p1 = system.q(start), system.q(end), system.p(start), system.p(end)
        mu = lagrangian.smallest(q0, q1, h * system.lam(end))
        mu[: lagrangian.units] = 0.0
        if self.livens:
            v0, v1 = system.velocity(start), system.velocity(end)
            change = h * lagrangian.kinetic(rule, q0, v0, q1, v1).by_q
        else:
            change = -h * lagrangian.cokinetic(rule, q0, p0, q1, p1).by_q
        impulse = lagrangian.push(rule, Interval(0.0, h, q0, q1, u), mu).impulse
        left = p1 - p0 - change - impulse
        mu[: lagrangian.units] = lagrangian.chart(q0).multipliers(q1, left)
        return np.asarray(mu / h)
