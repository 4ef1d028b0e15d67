"""Runs a mechanism in quaternions in the compiled engine."""

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels import tables
from poinsot.ph.matrices import Vector
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.result.history import Saved
from poinsot.so3 import quat_multiply
from poinsot.systems.compiled.machine import Tables, Turning
from poinsot.systems.compiled.runner import MechanismRunner
from poinsot.systems.layout import Layout
from poinsot.systems.livens.lagrangian import Interval
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.products import BODY, WORLD
from poinsot.systems.quaternions.systems import QuaternionForm, QuaternionSystem

Array = NDArray[np.float64]

#: Spare nodes of a body by condensation.
AUXILIARY = {"full": tables.FULL, "reduced": tables.REDUCED, "null-space": tables.SHORTEST}


class QuaternionRunner(MechanismRunner):
    """A mechanism in quaternions, in Livens' form or in Hamilton's."""

    columns, width = 27, 39
    system: QuaternionForm

    def __init__(
        self, system: QuaternionForm, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.scheme, lagrangian = scheme, system.lagrangian
        self.livens = isinstance(system, QuaternionSystem)
        self.turning = Turning(
            inertia=lagrangian.inertia,
            unknowns=lagrangian.unknowns,
            form=tables.LIVENS if self.livens else tables.HAMILTON,
            mean=scheme.mean_levers,
            auxiliary=AUXILIARY[scheme.condensation] if self.livens else tables.SHORTEST,
            first=system.n - lagrangian.held.m,
        )
        super().__init__(system, x, h, options)

    @property
    def form(self) -> str:
        """Rotations by quaternions."""
        return "quaternions"

    @property
    def mechanism(self) -> Mechanism:
        """The same in directors."""
        return self.system.lagrangian.mechanism

    @property
    def layout(self) -> Layout:
        """That of the system."""
        return self.system.lagrangian.layout

    def tables(self, *, decoupled: bool = False) -> Tables:
        """Return the mechanism on its way to a machine."""
        return Tables(
            self.mechanism, self.layout, self.parts, decoupled=decoupled, turning=self.turning
        )

    def _directors(self, x: Vector) -> Vector:
        return self.system.lagrangian.directors(self.system.q(x))

    def _with_arms(self, stage: Array) -> Array:
        stage[:, tables.ARMS :] = np.eye(3).reshape(-1)
        return stage

    def _fill(self, x: Vector) -> Array:
        lagrangian, state = self.system.lagrangian, self.state[:-1]
        _, quat = lagrangian.blocks(self.system.q(x))
        velocity, rate = lagrangian.rates(self.system.velocity(x))
        _, push = lagrangian.rates(self.system.p(x))
        state[:, : tables.VELOCITY] = self._directors(x).reshape(-1, 12)
        state[:, tables.VELOCITY : tables.SLIP] = np.hstack([velocity, quat])
        state[:, tables.SLIP], state[:, tables.SHARE] = _along(quat, rate), _along(quat, push)
        state[:, tables.SPIN : tables.SHARE] = 2 * np.einsum("iab,na,nb->ni", BODY, quat, rate)
        state[:, tables.MOMENTUM :] = np.einsum("iab,na,nb->ni", BODY, quat, push) / 2
        if self.turning.auxiliary == tables.FULL:
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
        units = {f"{name}.unit" for name in self.layout.among(self.mechanism.unknowns.turns)}
        return frozenset(units | {j.name for j in self.layout.joints if not j.complete})

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with all multipliers: units balance what is left along quaternions.

        p1 - p0 = h dT/dq + impulse, in Hamilton's form with the other sign.
        """
        x, stage = np.array(saved.x), np.array(saved.stage_x)
        u = np.hstack([np.zeros((len(x), 0)), *saved.u])
        for k, (end, middle) in enumerate(zip(x, stage, strict=True)):
            h = 2 * float(saved.time[k] - saved.stage_time[k])
            lam = self._multipliers(h, 2 * middle - end, end, u[k])
            end[-lam.size :] = middle[-lam.size :] = lam
        return x, stage

    def _multipliers(self, h: float, start: Vector, end: Vector, u: Vector) -> Vector:
        system, lagrangian, rule = self.system, self.system.lagrangian, self.scheme.rule
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


def _along(quat: Array, a: Array) -> Array:
    return np.asarray(np.sum(quat * a, axis=1))
