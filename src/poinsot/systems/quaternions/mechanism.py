r"""A mechanism in unit quaternions: q = (phi, quat) of every body that turns, phi of others.

Points and directions of a body are affine in its directors, and these are quadratic in the
quaternion: :math:`\Delta d = D(q_m)\, \Delta q`. So whatever is a discrete derivative in directors
becomes one in quaternions by the chain rule,

.. math:: \bar\nabla_q f = D(q_m)^\top\, \bar\nabla_d f(d_0, d_1),

and joints, springs, loads and ports are those of the mechanism in directors, at the mean directors
of a step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InconsistentStartError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, assemble, total
from poinsot.ph.stages import largest_of_kind
from poinsot.systems.by_directors import ByDirectors
from poinsot.systems.livens.lagrangian import Chart, Interval, Push
from poinsot.systems.mechanical import Losses
from poinsot.systems.quaternions.bodies import QuaternionBodies
from poinsot.systems.quaternions.charts import TurnChart
from poinsot.systems.quaternions.lever_arms import (
    LeverArms,
    PublishedTorques,
    lever_arms,
    turned_aside,
)

Array = NDArray[np.float64]

#: Departure of a quaternion's norm from one that a start may have.
UNIT = 1e-8


@dataclass(frozen=True, eq=False)
class QuaternionMechanism(QuaternionBodies):
    """Bodies in unit quaternions with all that acts on them: joints, springs, loads and ports."""

    @property
    def m(self) -> int:
        """Number of constraints: of quaternions, of the joints, then of contacts."""
        return self.units + self.held.m

    # -- constraints --------------------------------------------------------------------------

    def g(self, q: Vector) -> Vector:
        """Return (quat·quat - 1) / 2 of every quaternion [KB24, eq. (30)], then the joints."""
        quat = self.theta(q)[self.unknowns.turns]
        return np.concatenate([(np.sum(quat**2, axis=1) - 1) / 2, self.joints(self.directors(q))])

    def gap_sizes(self, q: Vector) -> Vector:
        """Return 1 for quaternions, and what gaps of joints are measured by."""
        return np.append(np.ones(self.units), self.held.gap_sizes(self.directors(q)))

    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of positions and of quaternions to the largest of these."""
        return largest_of_kind(sizes, self.unknowns.translate)

    def measures(self, q: Vector) -> Vector:
        """Return what numbers like q are measured by: positions by the extent."""
        return np.where(self.unknowns.translate, self.length(q), 1.0)

    def _units(self, quat: Array) -> Matrix:
        """Return the derivatives of the unit constraints at quaternions (bodies, 4)."""
        units = self.by(np.pad(quat, ((0, 0), (3, 0)))[:, None])
        return units if self.unknowns.every else units[self.unknowns.turns]

    def _of_bodies(self, units: Vector) -> Vector:
        """Return multipliers of unit constraints body by body, none where there is none."""
        every = np.zeros(self.count)
        every[self.unknowns.turns] = units
        return every

    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian of the constraints."""
        return self._stack(self._units(self.theta(q)), ByDirectors.K(self, q))

    def _stack(self, units: Matrix, joints: Matrix) -> Matrix:
        if self.m == self.units:
            return units
        return assemble((self.m, self.n), [(0, 0, units), (self.units, 0, joints)])

    def curvature(self, q: Vector, lam: Vector) -> Matrix:
        """Return the derivative of G^T lam by q."""
        units = self._of_bodies(lam[: self.units])
        unit = self.square(None, units[:, None, None] * np.eye(4))
        return total(unit, super().curvature(q, lam[self.units :]))

    def slope(self, q: Vector, v: Vector) -> Matrix:
        """Return the derivative of G v by q."""
        return self._stack(self._units(self.rates(v)[1]), super().slope(q, v))

    def remembering(self) -> "QuaternionMechanism":
        """Return the same for one run of Newton's method."""
        mechanism = self.mechanism.remembering()
        return self if mechanism is self.mechanism else replace(self, mechanism=mechanism)

    def near(self, angles: Mapping[str, float]) -> "QuaternionMechanism":
        """Return the same near angles of joints [rad] counted over turns, by name."""
        mechanism = self.mechanism.near(angles)
        return self if mechanism is self.mechanism else replace(self, mechanism=mechanism)

    # -- a step -----------------------------------------------------------------------------

    def push(self, rule: Rule, step: Interval, mu: Vector) -> Push:
        """Return what acts over a step, by the lever arms of the rule."""
        h, inner, at = step.h, mu[self.units :], lever_arms(rule, self, step.q0, step.q1)
        mechanism = self.held.since(at.d0)
        rate = (at.d1 - at.d0) / h
        u = mechanism.feedback(step.t, at.d, rate, step.u)
        through_directors = u.copy()
        through_directors[self._torques.inputs] = 0.0
        dV, ddV = self._potential(rule, at)
        B, damping, G = mechanism.B(at.d), mechanism.damping(at.d, rate), mechanism.G(at.d)
        losses, pull = mechanism.losses(at.d, rate, inner / h), G
        if losses is not None:
            damping, pull = damping + losses.force, G + losses.by_lam.T
        force = h * (B @ through_directors - dV - damping) - G.T @ inner
        forces = abs(h) * (abs(B) @ abs(u) + abs(dV) + abs(damping)) + abs(G).T @ abs(inner)
        by_d, by_rate = mechanism.dloads(step.t, at.d, rate, through_directors)
        dforce = [*(h * slope @ at.dd for slope in by_d), *(slope @ at.D1 for slope in by_rate)]
        if inner.size:
            dforce.append(-mechanism.curvature(at.d, inner) @ at.dd)
        if losses is not None:
            dforce += [-h * losses.by_zeta @ at.dd, -losses.by_w @ at.D1]
        if ddV is not None:
            dforce.append(-h * ddV)
        turning, dturning = self._torques.forces(at.quat, u)
        y, outer = mechanism.y(at.d, rate, inner / h), self._of_bodies(mu[: self.units])
        if self._torques.bodies.size:
            moved = self.travel(rule, step.q0, step.q1 - step.q0)[0] / h
            y[self._torques.inputs] = self._torques.outputs(at.quat, self.rates(moved)[1])
        # The unit constraints pull along q_m.
        turning = h * turning - outer[:, None] * at.quat
        dturning = h * dturning - outer[:, None, None] * np.eye(4)
        units = self._units(at.quat)
        return Push(
            impulse=at.S.T @ force + self.vector(np.zeros_like(turning[:, :3]), turning),
            tangent=at.dpull(force, dforce) + self.square(None, dturning / 2),
            G=self._stack(units, pull @ at.S),
            sizes=abs(at.S).T @ forces + abs(units).T @ abs(mu[: self.units]),
            inner=lambda: abs(h) * (abs(at.S).T @ mechanism.inner(step.t, at.d, rate, u)),
            u=u,
            y=y,
            lost=float(damping @ rate),
        )

    def astray(self, rule: Rule, step: Interval, mu: Vector, least: float) -> Array:
        """Return the spins that lever arms add to bodies over a step; see `turned_aside`."""
        at = lever_arms(rule, self, step.q0, step.q1)
        mechanism = self.held.since(at.d0)
        force = -step.h * self._potential(rule, at)[0] - mechanism.G(at.d).T @ mu[self.units :]
        return turned_aside(self, at, force, mechanism.G(at.d1), least)

    def closure(self, rule: Rule, step: Interval) -> tuple[Vector, Matrix]:
        """Return g(q1), below it how far contacts slip and drives are off, and the derivatives."""
        g, G1, k = self.g(step.q1), self.G(step.q1), self.joints.m
        if not self.held.below:
            return g, G1
        at = lever_arms(rule, self, step.q0, step.q1)
        moved, held = at.d1 - at.d0, self.held.since(at.d0)
        A, slope, N = held.G(at.d)[k:], held.slope(at.d, moved)[k:], held.imposed
        below: Matrix = A @ at.D1 + slope @ at.dd
        rows = assemble(G1.shape, [(0, 0, G1[: g.size]), (g.size, 0, below)])
        imposed = 0.0 if N is None else step.h * (N[k:] @ step.u)
        return np.concatenate([g, A @ moved - imposed]), rows

    def asked(self, u: Vector, t: float, h: float, q: Vector) -> Vector:
        """Return the inputs of a step, as they are asked of drives."""
        return self.held.asked(u, t, h, self.directors(q)) if self.held.drives else u

    @property
    def imposed(self) -> Matrix | None:
        """What inputs of drives add to the constraints, those of quaternions first."""
        N = self.held.imposed
        return None if N is None else assemble((self.m, N.shape[1]), [(self.units, 0, N)])

    def losses(self, zeta: Vector, w: Vector, lam: Vector) -> Losses | None:
        """Return friction in proportion to constraint forces; those of quaternions do nothing."""
        losses = super().losses(zeta, w, lam[self.units :])
        if losses is None:
            return None
        by_lam = assemble((self.n, self.m), [(0, self.units, losses.by_lam)])
        return losses._replace(by_lam=by_lam)

    @cached_property
    def _torques(self) -> PublishedTorques:
        return PublishedTorques.of(self.mechanism)

    def _potential(self, rule: Rule, at: LeverArms) -> tuple[Vector, Matrix | None]:
        """Return the derivative of V over a step in directors, and its own by q1."""
        if rule is not Rule.MIDPOINT:
            gradient, tangent = self.held.discrete_dV(at.d0, at.d1)
            return gradient, None if tangent is None else tangent @ at.D1
        hessian = self.held.ddV(at.d)
        return self.held.dV(at.d), None if hessian is None else hessian @ at.dd

    def chart(self, q0: Vector) -> Chart:
        """Return positions and incremental rotation vectors."""
        return TurnChart(self, q0)

    # -- repeated constraints -----------------------------------------------------------------

    def independent(self, q: Vector) -> Matrix | None:
        """Return what combines the constraints to independent ones; see `Mechanism`."""
        inner = self.held.independent(self.directors(q))
        if inner is None:
            return None
        units = np.eye(self.units)
        shape = (inner.shape[0] + self.units, self.m)
        return assemble(shape, [(0, 0, units), (self.units, self.units, inner)])

    def smallest(self, q0: Vector, q1: Vector, lam: Vector) -> Vector:
        """Return the smallest multipliers of joints that move bodies like `lam` does."""
        if not self.mechanism.redundant:
            return lam
        d = (self.directors(q0) + self.directors(q1)) / 2
        inner = self.held.smallest(d, lam[self.units :])
        return np.concatenate([lam[: self.units], inner])

    # -- names and checks ---------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return the name of every constraint."""
        units = [f"{name}.unit" for name in self.layout.among(self.unknowns.turns)]
        joints = [
            state.name if state.size == 1 else f"{state.name}[{k}]"
            for state in self.layout.multipliers
            for k in range(state.size)
        ]
        return (*units, *joints)

    def watch(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step in which a turn cannot be followed, or a contact comes to an end."""
        f0, f1 = self.directors(q0), self.directors(q1)
        self.layout.require_turns(f0, f1)
        self.mechanism.require_followed(f0, self.directors((q0 + q1) / 2))
        self.layout.require_contact(f0, f1)

    def check(self, q: Vector, v: Vector) -> None:
        """Refuse quaternions that are not unit."""
        quat = self.theta(q)
        norms = np.linalg.norm(quat, axis=1)
        k = int(np.argmax(abs(norms - 1)))
        if not abs(norms[k] - 1) <= UNIT:
            raise InconsistentStartError(
                f"body '{self.layout.bodies[k]}': its quaternion {np.round(quat[k], 6).tolist()} "
                f"has norm {norms[k]:.9g}, not 1; divide it by its norm (scalar first: w, x, y, z)"
            )
