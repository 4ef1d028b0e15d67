r"""A mechanism in unit quaternions: q = (phi, quat) of every body, seven numbers.

Points and directions of a body are affine in its directors, and these are quadratic in the
quaternion: :math:`\Delta d = D(q_m)\, \Delta q`. So whatever is a discrete derivative in directors
becomes one in quaternions by the chain rule,

.. math:: \bar\nabla_q f = D(q_m)^\top\, \bar\nabla_d f(d_0, d_1),

and joints, springs, loads and ports are those of the mechanism in directors, at the mean directors
of a step.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InconsistentStartError
from poinsot.livens.lagrangian import (
    Chart,
    Hessian,
    Interval,
    Lagrangian,
    Push,
    Rule,
    Slopes,
    total,
)
from poinsot.mechanics.bodies import RIGIDITY
from poinsot.mechanics.forms import WIDTH, Forms
from poinsot.mechanics.layout import Layout
from poinsot.mechanics.mechanism import Mechanism
from poinsot.mechanics.quaternions.charts import TurnChart
from poinsot.mechanics.quaternions.kinetics import Spin
from poinsot.mechanics.quaternions.levers import Levers, levers
from poinsot.mechanics.quaternions.products import BODY, CURVE, WHOLE, director_slopes, directors
from poinsot.mechanics.quaternions.spread import spread
from poinsot.mechanics.quaternions.torques import PublishedTorques
from poinsot.ph.matrices import Matrix, Vector, assemble
from poinsot.so3 import quat_multiply

Array = NDArray[np.float64]

#: Coordinates of a body, and where its quaternion is among them.
SEVEN = 7
QUAT = slice(3, 7)
#: Least moment of inertia, as a part of the greatest one of the body. That of a thin rod about its
#: axis is none, while Newton's method divides by it.
THIN = 1e-5
#: Departure of a quaternion's norm from one that a start may have.
UNIT = 1e-8


@dataclass(frozen=True, eq=False)
class QuaternionMechanism(Lagrangian):
    """Bodies in unit quaternions.

    Parameters
    ----------
    mechanism : Mechanism
        The same in directors.
    layout : Layout
        Names.
    """

    mechanism: Mechanism
    layout: Layout

    # -- sizes and places ---------------------------------------------------------------------

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return self.mechanism.n // WIDTH

    @property
    def n(self) -> int:  # type: ignore[override]
        """Number of coordinates."""
        return SEVEN * self.bodies

    @property
    def m(self) -> int:  # type: ignore[override]
        """Number of constraints: one of each body, then those of the joints."""
        return self.bodies + self.joints.m

    @cached_property
    def joints(self) -> Forms:
        """The constraints of the joints, in directors."""
        forms = self.mechanism.constraints
        return Forms(forms.forms[RIGIDITY * self.bodies :], forms.bodies)

    @cached_property
    def mass(self) -> Array:
        """Mass of every body [kg]; (bodies,)."""
        return self.mechanism.mass.reshape(-1, 4, 3)[:, 0, 0]

    @cached_property
    def inertia(self) -> Array:
        """Principal moments of inertia [kg m^2], none below `THIN`; (bodies, 3)."""
        euler = self.mechanism.mass.reshape(-1, 4, 3)[:, 1:, 0]
        moments = euler.sum(axis=1, keepdims=True) - euler
        return np.asarray(np.maximum(moments, THIN * moments.max(axis=1, keepdims=True)))

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
        rows = q.reshape(-1, SEVEN)
        return rows[:, :3], rows[:, QUAT]

    def directors(self, q: Vector) -> Vector:
        """Return the coordinates in directors; shape (12 bodies,)."""
        phi, quat = self.blocks(q)
        return np.hstack([phi, directors(quat)]).reshape(-1)

    def D(self, q: Vector) -> Matrix:
        """Return the derivative of the directors; shape (12 bodies, 7 bodies)."""
        slopes = self._turning(q)
        slopes[:, :3, :3] = np.eye(3)
        return spread(slopes)

    def dD(self, v: Vector) -> Matrix:
        """Return the derivative of D(q) v by q, which does not depend on q."""
        return spread(self._turning(v))

    def _turning(self, q: Vector) -> Array:
        slopes = np.zeros((self.bodies, WIDTH, SEVEN))
        slopes[:, 3:, QUAT] = director_slopes(self.blocks(q)[1])
        return slopes

    def bend(self, f: Vector) -> Matrix:
        """Return the derivative of D(q)^T f by q, which does not depend on q."""
        blocks = np.zeros((self.bodies, SEVEN, SEVEN))
        forces = f.reshape(-1, WIDTH)[:, 3:]
        blocks[:, QUAT, QUAT] = np.einsum("nk,kab->nab", forces, CURVE)
        return spread(blocks)

    # -- energies -----------------------------------------------------------------------------

    def T(self, q: Vector, v: Vector) -> float:
        """Return the kinetic energy [J]."""
        _, quat = self.blocks(q)
        velocity, rate = self.blocks(v)
        return float(self.mass @ np.sum(velocity**2, axis=1)) / 2 + self._spin.energy(quat, rate)

    def M(self, q: Vector) -> Matrix:
        """Return diag(m, 4 G^T J G) of every body, singular [KB24, eq. (46)]."""
        by_v = self._spin.by_s(self.blocks(q)[1])
        return self._blocks(self.mass, np.einsum("nia,ni,nib->nab", by_v, self.inertia, by_v))

    def _blocks(self, translation: Array | None, rotation: Array) -> Matrix:
        blocks = np.zeros((self.bodies, SEVEN, SEVEN))
        if translation is not None:
            blocks[:, [0, 1, 2], [0, 1, 2]] = translation[:, None]
        blocks[:, QUAT, QUAT] = rotation
        return spread(blocks)

    def momentum(self, q: Vector, v: Vector) -> Vector:
        """Return (m v, 4 G^T J G quat')."""
        (velocity, rate), spin = self.blocks(v), self._spin
        by_s = spin.by_s(self.blocks(q)[1])
        turning = np.einsum("nia,ni,nib,nb->na", by_s, spin.W, by_s, rate)
        return np.hstack([self.mass[:, None] * velocity, turning]).reshape(-1)

    def dT(self, q: Vector, v: Vector) -> Vector:
        """Return the derivative of T by q."""
        return self.kinetic(Rule.MIDPOINT, q, v, q, v).by_q

    def ddT(self, q: Vector, v: Vector) -> Hessian:
        """Return the second derivatives of T."""
        T = self.kinetic(Rule.MIDPOINT, q, v, q, v)
        return Hessian(2 * T.qq, 2 * T.qs, 2 * T.ss)

    def V(self, q: Vector) -> float:
        """Return the potential energy [J]."""
        return self.mechanism.V(self.directors(q))

    def dV(self, q: Vector) -> Vector:
        """Return the gradient of V."""
        return np.asarray(self.D(q).T @ self.mechanism.dV(self.directors(q)))

    def ddV(self, q: Vector) -> Matrix:
        """Return the Hessian of V."""
        d, D = self.directors(q), self.D(q)
        inner = self.mechanism.ddV(d)
        return total(self.bend(self.mechanism.dV(d)), None if inner is None else D.T @ inner @ D)

    # -- constraints, ports, dampers ----------------------------------------------------------

    def g(self, q: Vector) -> Vector:
        """Return (quat·quat - 1) / 2 of every body [KB24, eq. (30)], then the joints."""
        _, quat = self.blocks(q)
        return np.concatenate([(np.sum(quat**2, axis=1) - 1) / 2, self.joints(self.directors(q))])

    def _units(self, quat: Array) -> Matrix:
        rows = np.zeros((self.bodies, 1, SEVEN))
        rows[:, 0, QUAT] = quat
        return spread(rows)

    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian of the constraints."""
        return self._stack(
            self._units(self.blocks(q)[1]), self.joints.G(self.directors(q)) @ self.D(q)
        )

    def _stack(self, units: Matrix, joints: Matrix) -> Matrix:
        if not self.joints.m:
            return units
        return assemble((self.m, self.n), [(0, 0, units), (self.bodies, 0, joints)])

    def curvature(self, q: Vector, lam: Vector) -> Matrix:
        """Return the derivative of G^T lam by q."""
        d, D, units = self.directors(q), self.D(q), lam[: self.bodies]
        unit = self._blocks(None, units[:, None, None] * np.eye(4))
        pull = self.joints.G(d).T @ lam[self.bodies :]
        curved = D.T @ self.joints.curvature(lam[self.bodies :]) @ D
        return total(unit, self.bend(np.asarray(pull)), curved)

    def slope(self, q: Vector, v: Vector) -> Matrix:
        """Return the derivative of G v by q."""
        d, D, (_, rate) = self.directors(q), self.D(q), self.blocks(v)
        joints = self.joints.slope(np.asarray(D @ v)) @ D + self.joints.G(d) @ self.dD(v)
        return self._stack(self._units(rate), joints)

    def B(self, q: Vector) -> Matrix:
        """Return the port matrix."""
        B: Matrix = self.D(q).T @ self.mechanism.B(self.directors(q))
        return B

    def dB(self, q: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of B u by q."""
        d, D = self.directors(q), self.D(q)
        inner = self.mechanism.dB(d, u)
        if inner is None:
            return None
        return total(D.T @ inner @ D, self.bend(np.asarray(self.mechanism.B(d) @ u)))

    def dy(self, q: Vector, v: Vector) -> Matrix | None:
        """Return the derivative of B^T v by q."""
        d, D = self.directors(q), self.D(q)
        inner = self.mechanism.dy(d, np.asarray(D @ v))
        if inner is None:
            return None
        return total(inner @ D, self.mechanism.B(d).T @ self.dD(v))

    def damping(self, q: Vector, v: Vector) -> Vector | None:
        """Return the damping force."""
        if not self.mechanism.dampers:
            return None
        D = self.D(q)
        return np.asarray(D.T @ self.mechanism.damping(self.directors(q), np.asarray(D @ v)))

    def ddamping(self, q: Vector, v: Vector) -> tuple[Matrix, Matrix] | None:
        """Return the derivatives of the damping force."""
        d, D = self.directors(q), self.D(q)
        rate = np.asarray(D @ v)
        slopes = self.mechanism.ddamping(d, rate)
        if slopes is None:
            return None
        by_q = D.T @ (slopes[0] @ D + slopes[1] @ self.dD(v))
        return by_q + self.bend(self.mechanism.damping(d, rate)), D.T @ slopes[1] @ D

    def feedback(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in."""
        return self.mechanism.feedback(t, self.directors(q), np.asarray(self.D(q) @ v), u)

    # -- Hamiltonian --------------------------------------------------------------------------

    def velocity(self, q: Vector, p: Vector) -> Vector:
        """Return v of p by the augmented mass."""
        return self.cokinetic(Rule.DISCRETE, q, p, q, p).by_s

    def co_T(self, q: Vector, p: Vector) -> float:
        """Return T of q and p [J]."""
        (_, quat), (push, turning) = self.blocks(q), self.blocks(p)
        translation = float(np.sum(push**2 / self.mass[:, None])) / 2
        return translation + self._co_spin.energy(quat, turning)

    def co_dT(self, q: Vector, p: Vector) -> Vector:
        """Return its derivative by q."""
        return self.cokinetic(Rule.DISCRETE, q, p, q, p).by_q

    def co_ddT(self, q: Vector, p: Vector) -> Hessian:
        """Return its second derivatives."""
        T = self.cokinetic(Rule.DISCRETE, q, p, q, p)
        return Hessian(2 * T.qq, 2 * T.qs, 2 * T.ss)

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
        (u0, r0), (u1, r1) = self.blocks(s0), self.blocks(s1)
        by_q, by_s, qq, qs, sq, ss = spin.slopes(rule, quat0, r0, quat1, r1)
        if rule is Rule.MIDPOINT and spin is self._co_spin:
            # The inverse of the mass where the quaternion is not unit, for kinematics alone: so it
            # is in the results of [KB24].
            longer, dlonger = _stretching((quat0 + quat1) / 2)
            sq = longer[:, None, None] * sq + np.einsum("na,nb->nab", by_s, dlonger)
            by_s, ss = longer[:, None] * by_s, longer[:, None, None] * ss
        if rule is Rule.MEAN:
            # By the inverse of the factor of travel, so that angular momentum stays.
            short, dshort = shortening(quat0, quat1)
            qq = short[:, None, None] * qq + np.einsum("na,nb->nab", by_q, dshort)
            by_q, qs = short[:, None] * by_q, short[:, None, None] * qs
        nothing = np.zeros((self.bodies, 3))
        return Slopes(
            np.hstack([nothing, by_q]).reshape(-1),
            np.hstack([mass[:, None] * (u0 + u1) / 2, by_s]).reshape(-1),
            self._blocks(None, qq),
            self._blocks(None, qs),
            self._blocks(None, sq),
            self._blocks(mass / 2, ss),
        )

    def travel(self, rule: Rule, q0: Vector, dq: Vector) -> tuple[Vector, Matrix | None]:
        """Return dq, that of quaternions over `shortening` if levers are mean ones."""
        if rule is not Rule.MEAN:
            return dq, None
        (_, quat0), (_, change) = self.blocks(q0), self.blocks(dq)
        short, dshort = shortening(quat0, quat0 + change)
        dquat = change / short[:, None]
        slope = (np.eye(4) - np.einsum("na,nb->nab", dquat, dshort)) / short[:, None, None]
        travel = dq.reshape(-1, SEVEN).copy()
        travel[:, QUAT] = dquat
        return travel.reshape(-1), self._blocks(np.ones(self.bodies), slope)

    def push(self, rule: Rule, step: Interval, mu: Vector) -> Push:
        """Return what acts over a step, by the levers of the rule."""
        mechanism, h, inner = self.mechanism, step.h, mu[self.bodies :]
        at = levers(rule, self, step.q0, step.q1)
        rate = (at.d1 - at.d0) / h
        u = mechanism.feedback(step.t, at.d, rate, step.u)
        through_directors = u.copy()
        through_directors[self._torques.inputs] = 0.0
        dV, ddV = self._potential(rule, at)
        B, damping, G = mechanism.B(at.d), mechanism.damping(at.d, rate), self.joints.G(at.d)
        force = h * (B @ through_directors - dV - damping) - G.T @ inner
        forces = h * (abs(B) @ abs(u) + abs(dV) + abs(damping)) + abs(G).T @ abs(inner)
        dforce = self._dforce(step, at, rate, through_directors, inner, ddV)
        turning, dturning = self._torques.forces(at.quat, u)
        y, outer = np.asarray(B.T @ rate), mu[: self.bodies]
        if self._torques.bodies.size:
            moved = self.travel(rule, step.q0, step.q1 - step.q0)[0] / h
            y[self._torques.inputs] = self._torques.outputs(at.quat, self.blocks(moved)[1])
        # The unit constraints pull along q_m.
        turning = h * turning - outer[:, None] * at.quat
        dturning = h * dturning - outer[:, None, None] * np.eye(4)
        units = self._units(at.quat)
        return Push(
            impulse=at.pull(force)
            + np.hstack([np.zeros_like(turning[:, :3]), turning]).reshape(-1),
            tangent=at.dpull(force, dforce) + self._blocks(None, dturning / 2),
            G=self._stack(units, G @ at.S),
            sizes=abs(at.S).T @ forces + abs(units).T @ abs(outer),
            u=u,
            y=y,
            lost=float(damping @ rate),
        )

    @cached_property
    def _torques(self) -> PublishedTorques:
        return PublishedTorques.of(self.mechanism)

    def _potential(self, rule: Rule, at: Levers) -> tuple[Vector, Matrix | None]:
        """Return the derivative of V over a step in directors, and its own by q1."""
        if rule is not Rule.MIDPOINT:
            gradient, tangent = self.mechanism.discrete_dV(at.d0, at.d1)
            return gradient, None if tangent is None else tangent @ at.D1
        hessian = self.mechanism.ddV(at.d)
        return self.mechanism.dV(at.d), None if hessian is None else hessian @ at.dd

    def _dforce(
        self,
        step: Interval,
        at: Levers,
        rate: Vector,
        u: Vector,
        mu: Vector,
        potential: Matrix | None,
    ) -> Matrix | None:
        """Return the derivative of the impulse in directors by q1; None: it is zero."""
        mechanism, h = self.mechanism, step.h
        by_d: list[Matrix] = []
        by_rate: list[Matrix] = []
        if mu.size:
            by_d.append(-self.joints.curvature(mu))
        dB, slopes = mechanism.dB(at.d, u), mechanism.ddamping(at.d, rate)
        gains = mechanism.dfeedback(step.t, at.d, rate)
        if dB is not None:
            by_d.append(h * dB)
        if gains is not None:
            by_d.append(h * gains[0])
            by_rate.append(gains[1])
        if slopes is not None:
            by_d.append(-h * slopes[0])
            by_rate.append(-1.0 * slopes[1])
        terms = [slope @ at.dd for slope in by_d] + [slope @ at.D1 for slope in by_rate]
        if potential is not None:
            terms.append(-h * potential)
        return total(*terms) if terms else None

    def forecast(self, h: float, q0: Vector, v0: Vector, p0: Vector) -> Vector:
        """Return where bodies get that go on with the angular velocity of their momentum.

        That of v0 is no measure: what it has along the quaternion may be large [KB24, remark 4.8].
        """
        (phi, quat), (velocity, _) = self.blocks(q0), self.blocks(v0)
        # Omega = J^-1 G(q) p / 2, in body axes; a quarter of the turn has its tangent.
        Omega = np.einsum("iab,na,nb->ni", BODY, quat, self.blocks(p0)[1]) / (2 * self.inertia)
        turn = h / 4 * Omega
        square = np.sum(turn**2, axis=1, keepdims=True)
        half = np.hstack([1 - square, 2 * turn]) / (1 + square)
        return np.hstack([phi + h * velocity, quat_multiply(quat, half)]).reshape(-1)

    def chart(self, q0: Vector) -> Chart:
        """Return positions and incremental rotation vectors."""
        return TurnChart(q0, self.bodies, self.layout.bodies)

    # -- repeated constraints -----------------------------------------------------------------

    @cached_property
    def _looped(self) -> NDArray[np.intp]:
        """Rows of joints in loops with repeated constraints."""
        return self.mechanism.looped - RIGIDITY * self.bodies

    def independent(self, q: Vector) -> Matrix | None:
        """Return what combines the constraints to independent ones; see `Mechanism`."""
        combination = self.mechanism.independent(self.directors(q))
        if combination is None:
            return None
        # In directors, rigidity has six rows a body that come first; here one.
        rigid = RIGIDITY * self.bodies
        inner = combination[rigid:, rigid:]
        units = np.eye(self.bodies)
        shape = (inner.shape[0] + self.bodies, self.m)
        return assemble(shape, [(0, 0, units), (self.bodies, self.bodies, inner)])

    def smallest(self, q: Vector, lam: Vector) -> Vector:
        """Return the smallest multipliers of joints that move bodies like `lam` does."""
        if not self.mechanism.redundant:
            return lam
        whole = np.concatenate([np.zeros(RIGIDITY * self.bodies), lam[self.bodies :]])
        smaller = self.mechanism.smallest(self.turned(q), whole)
        return np.concatenate([lam[: self.bodies], smaller[RIGIDITY * self.bodies :]])

    def turned(self, q: Vector) -> Vector:
        """Return the directors of the unit quaternions that those of q are nearest to."""
        phi, quat = self.blocks(q)
        unit = quat / np.linalg.norm(quat, axis=1, keepdims=True)
        return np.hstack([phi, directors(unit)]).reshape(-1)

    # -- names and checks ---------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return the name of every constraint."""
        units = [f"{name}.unit" for name in self.layout.bodies]
        joints = [
            name if size == 1 else f"{name}[{k}]"
            for name, size in self.layout.joint_sizes.items()
            for k in range(size)
        ]
        return (*units, *joints)

    def check(self, q: Vector, v: Vector) -> None:
        """Refuse quaternions that are not unit."""
        _, quat = self.blocks(q)
        norms = np.linalg.norm(quat, axis=1)
        k = int(np.argmax(abs(norms - 1)))
        if not abs(norms[k] - 1) <= UNIT:
            raise InconsistentStartError(
                f"body '{self.layout.bodies[k]}': its quaternion {np.round(quat[k], 6).tolist()} "
                f"has norm {norms[k]:.9g}, not 1; divide it by its norm (scalar first: w, x, y, z)"
            )


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
