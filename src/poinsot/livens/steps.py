"""Time steps of Lagrangians: one residual for each form, solved for more or fewer unknowns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot.errors import InputError
from poinsot.integrate.newton import Evaluation, Tangent
from poinsot.integrate.schemes import Scheme
from poinsot.integrate.step import Stage, StepProblem, step_problem
from poinsot.livens.lagrangian import Chart, Interval, Push, Rule, Slopes, total
from poinsot.livens.systems import HamiltonianSystem, LagrangianForm, LivensSystem
from poinsot.ph.combining import combined, labels_of, spread_out
from poinsot.ph.gradients import Midpoint
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, dense, diagonal

#: Velocities that are off by so much, relative to momenta, are told to whoever asks for a reason.
ASTRAY = 1e-2


def rule_of(scheme: Scheme) -> Rule:
    """Return how a scheme takes derivatives."""
    if isinstance(scheme.gradient, Midpoint):
        return Rule.MIDPOINT
    return Rule.MEAN if scheme.mean_levers else Rule.DISCRETE


@dataclass(frozen=True, eq=False)
class _LagrangianStep(StepProblem):
    """What all of these steps share: rule, constraints, and what acts."""

    system: LagrangianForm

    @property
    def rule(self) -> Rule:
        """How derivatives are taken."""
        return rule_of(self.scheme)

    @property
    def q0(self) -> Vector:
        """Coordinates at the start of the step."""
        return self.system.q(self.x0)

    @property
    def p0(self) -> Vector:
        """Momenta at the start of the step."""
        return self.system.p(self.x0)

    @cached_property
    def T(self) -> Matrix | None:
        """What combines the constraints to independent ones, at the start of the step."""
        return self.system.lagrangian.independent(self.q0)

    @property
    def _m(self) -> int:
        """Number of independent constraints."""
        return self.system.lagrangian.m if self.T is None else int(self.T.shape[0])

    def spread(self, mu: Vector) -> Vector:
        """Return the multipliers of all constraints."""
        return spread_out(self.T, mu)

    @property
    def guessed_mu(self) -> Vector:
        """The multipliers of the step before, times h."""
        return np.asarray(combined(self.T, self.h * self.system.lam(self.x0)))

    def push(self, q1: Vector, mu: Vector) -> Push:
        """Return what acts over the step to q1."""
        interval = Interval(self.t, self.h, self.q0, q1, self.u)
        return self.system.lagrangian.push(self.rule, interval, mu)

    def pull(self, G: Matrix) -> Matrix:
        """Return what independent multipliers do: G^T T^T."""
        spread: Matrix = G.T if self.T is None else G.T @ self.T.T
        return spread

    def closure(self, q1: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return g(q1), below it A dq, their derivatives, and the size of their terms."""
        lagrangian = self.system.lagrangian
        g, G1 = lagrangian.g(q1), lagrangian.G(q1)
        slips = lagrangian.slips(self.rule, self.q0, q1)
        if slips is not None:
            G1 = assemble(G1.shape, [(0, 0, G1[: g.size]), (g.size, 0, slips[1])])
            g = np.concatenate([g, slips[0]])
        sizes = np.full(self._m, float((abs(G1) @ abs(q1)).max(initial=0.0)))
        return combined(self.T, g), combined(self.T, G1), sizes

    def names_of_constraints(self) -> Sequence[str]:
        """Return the name of every independent constraint."""
        return labels_of(self.T, self.system.lagrangian.names())

    def diagnose(self) -> str:
        """Return what the Lagrangian sees at the start of the step."""
        return self.system.lagrangian.diagnose(self.q0)

    def stage(self, q1: Vector, inner: Sequence[Vector], z: Sequence[Vector], mu: Vector) -> Stage:
        """Return the stage of a step that is solved; x = (q, *inner, lam) at its midpoint."""
        lam, push = self.system.lagrangian.smallest(self.q0, q1, mu / self.h), self.push(q1, mu)
        x = np.concatenate([(self.q0 + q1) / 2, *inner, lam])
        return Stage(x, np.concatenate([*z, lam]), push.u, push.y, push.lost)


@dataclass(frozen=True, eq=False)
class LivensStep(_LagrangianStep):
    r"""Livens' equations over a step, for the unknowns (q1, v1, p1, h lambda) [KB24, eq. (72)].

    .. math::

        q_1 - q_0 &= h\, v_m \\
        p_1 - p_0 &= h\, \bar\partial_q L - \bar\nabla g^\top h\lambda + h B u \\
        p_m &= \bar\partial_v L \\
        g(q_1) &= 0

    EML with discrete derivatives, MPL [KB24, eq. (132)] with those at the midpoint.
    """

    system: LivensSystem

    @property
    def v0(self) -> Vector:
        """Velocities at the start of the step."""
        return self.system.velocity(self.x0)

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.guessed_q1, self.v0, self.p0, self.guessed_mu])

    @property
    def guessed_q1(self) -> Vector:
        """Where the step may lead."""
        return self.system.lagrangian.forecast(self.h, self.q0, self.v0, self.p0)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        n = self.system.lagrangian.n
        return (*self.system.labels[: 3 * n], *self.names_of_constraints())

    def diagnose(self) -> str:
        """Return what the Lagrangian sees, and whether velocities have left their momenta.

        Each step has v1 = 2 v_m - v0: what v alternates by is remembered, and may grow.
        """
        momenta = self.system.lagrangian.momentum(self.q0, self.v0)
        gap, size = np.max(abs(self.p0 - momenta)), np.max(abs(self.p0))
        found = super().diagnose()
        if gap <= ASTRAY * size:
            return found
        return (
            f"{found}; velocities have left momenta by {gap / size:.0%} of these, as those of "
            "slender bodies do in Livens' form: try a scheme of Hamilton's form, 'emh-mean'"
        )

    def _split(self, w: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        n = self.system.lagrangian.n
        return w[:n], w[n : 2 * n], w[2 * n : 3 * n], self.spread(w[3 * n :])

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of kinematics, momentum, fibre derivative and constraints."""
        h, lagrangian = self.h, self.system.lagrangian
        q1, v1, p1, mu = self._split(w)
        v0, p0, v = self.v0, self.p0, (self.v0 + v1) / 2
        travel, dtravel = lagrangian.travel(self.rule, self.q0, q1 - self.q0)
        T = lagrangian.kinetic(self.rule, self.q0, v0, q1, v1)
        push, (g, G1, reach) = self.push(q1, mu), self.closure(q1)
        residual = np.concatenate(
            [travel - h * v, p1 - p0 - h * T.by_q - push.impulse, (p0 + p1) / 2 - T.by_s, g]
        )
        momenta = abs(p0) + abs(p1)
        sizes = np.concatenate(
            [
                _alike(abs(self.q0) + abs(q1) + h * abs(v)),
                _alike(momenta + h * abs(T.by_q) + push.sizes),
                _alike(momenta + abs(T.by_s)),
                reach,
            ]
        )
        efforts = np.concatenate([p1 / h, v, v1 - v0, w[3 * v.size :] / h])
        return Evaluation(residual, sizes, efforts, lambda: self._tangent(dtravel, T, push, G1))

    def _tangent(self, dtravel: Matrix | None, T: Slopes, push: Push, G1: Matrix) -> Tangent:
        n, h = self.system.lagrangian.n, self.h
        identity = diagonal(np.ones(n))
        placed: list[Placed] = [
            (0, 0, identity if dtravel is None else dtravel),
            (0, n, -h / 2 * identity),
            (n, 0, -h * T.qq - push.tangent),
            (n, n, -h * T.qs),
            (n, 2 * n, identity),
            (n, 3 * n, self.pull(push.G)),
            (2 * n, 0, -T.sq),
            (2 * n, n, -T.ss),
            (2 * n, 2 * n, 0.5 * identity),
            (3 * n, 0, G1),
        ]
        return _plain(3 * n + self._m, placed)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage."""
        q1, v1, p1, mu = self._split(w)
        return self._finished(q1, v1, p1, mu)

    def _finished(self, q1: Vector, v1: Vector, p1: Vector, mu: Vector) -> tuple[Vector, Stage]:
        self.system.lagrangian.watch(self.q0, q1)
        v, p = (self.v0 + v1) / 2, (self.p0 + p1) / 2
        force = -(p1 - self.p0) / self.h
        stage = self.stage(q1, [v, p], [force, np.zeros_like(v), v], mu)
        return np.concatenate([q1, v1, p1, self.system.lam(stage.x)]), stage


@dataclass(frozen=True, eq=False)
class ReducedStep(LivensStep):
    r"""The same for (q1 - q0, h lambda) alone: v1 and p1 are eliminated [KB24, eq. (101)-(103)].

    .. math:: v_1 = \tfrac2h (q_1 - q_0) - v_0, \qquad p_1 = 2\, \bar\partial_v L - p_0

    The increment is the unknown: a coordinate that has grown large would cost it digits.
    """

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.guessed_q1 - self.q0, self.guessed_mu])

    @property
    def labels(self) -> tuple[str, ...]:
        """The equations of momentum, and the constraints."""
        n = self.system.lagrangian.n
        return (*self.system.labels[2 * n : 3 * n], *self.names_of_constraints())

    def balance(self, dq: Vector, mu: Vector) -> tuple[Vector, Slopes, Push, Vector, Matrix | None]:
        """Return 2 p_m - 2 p0 - h dL/dq, what it is made of, v1, and the tangent of travel."""
        h, lagrangian, q1 = self.h, self.system.lagrangian, self.q0 + dq
        travel, dtravel = lagrangian.travel(self.rule, self.q0, dq)
        v1 = 2 / h * travel - self.v0
        T = lagrangian.kinetic(self.rule, self.q0, self.v0, q1, v1)
        push = self.push(q1, mu)
        return 2 * (T.by_s - self.p0) - h * T.by_q - push.impulse, T, push, v1, dtravel

    def dbalance(self, T: Slopes, push: Push, dtravel: Matrix | None) -> Matrix:
        """Return the derivative of the balance by q1, with dv1/dq1 = 2/h."""
        h = self.h
        by_v = 4 / h * T.ss - 2 * T.qs
        tangent: Matrix = 2 * T.sq - h * T.qq - push.tangent
        return total(tangent, by_v if dtravel is None else by_v @ dtravel)

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of momentum and constraints."""
        n, h = self.system.lagrangian.n, self.h
        dq, mu = w[:n], self.spread(w[n:])
        balance, T, push, v1, dtravel = self.balance(dq, mu)
        g, G1, reach = self.closure(self.q0 + dq)
        sizes = 2 * (abs(T.by_s) + abs(self.p0)) + h * abs(T.by_q) + push.sizes
        efforts = np.concatenate([(self.v0 + v1) / 2, w[n:] / h])

        def tangent() -> Tangent:
            by_q = self.dbalance(T, push, dtravel)
            return _plain(n + self._m, [(0, 0, by_q), (0, n, self.pull(push.G)), (n, 0, G1)])

        return Evaluation(
            np.concatenate([balance, g]), np.concatenate([_alike(sizes), reach]), efforts, tangent
        )

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage."""
        n = self.system.lagrangian.n
        return self._from(w[:n], self.spread(w[n:]))

    def _from(self, dq: Vector, mu: Vector) -> tuple[Vector, Stage]:
        _, T, push, v1, _ = self.balance(dq, mu)
        # By the balance, which is the same but for round-off: 2 T.by_s - p0 would gather that of
        # q1 - q0, and momenta and energy drift in long runs.
        return self._finished(self.q0 + dq, v1, self.p0 + self.h * T.by_q + push.impulse, mu)


@dataclass(frozen=True, eq=False)
class NullSpaceStep(ReducedStep):
    """The same for as few numbers as there are freedoms without joints [KB24, eq. (104)-(105)].

    A discrete null-space matrix P takes the multipliers of the inner constraints out of the balance
    of momentum, and a chart keeps these constraints by itself.
    """

    @cached_property
    def chart(self) -> Chart:
        """The chart at the start of the step."""
        return self.system.lagrangian.chart(self.q0)

    @cached_property
    def T(self) -> Matrix:
        """Take the independent ones of the constraints that the chart leaves."""
        kept = np.delete(np.eye(self.system.lagrangian.m), self.chart.satisfied, axis=0)
        T = self.system.lagrangian.independent(self.q0)
        if T is None:
            return kept
        rows = np.any(dense(T)[:, np.any(kept, axis=0)], axis=1)
        return dense(T)[rows]

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.chart.guess(self.guessed_q1), self.guessed_mu])

    @property
    def labels(self) -> tuple[str, ...]:
        """The projected equations of momentum, and the constraints that are left."""
        return (*self.chart.labels(), *["joint"] * self._m)

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of the projected momentum and the constraints that are left."""
        size, h = w.size - self._m, self.h
        (q1, N), mu = self.chart.at(w[:size]), self.spread(w[size:])
        balance, T, push, v1, dtravel = self.balance(q1 - self.q0, mu)
        projected, P, dP = self.chart.project(q1, balance)
        g, G1, reach = self.closure(q1)
        sizes = 2 * (abs(T.by_s) + abs(self.p0)) + h * abs(T.by_q) + push.sizes
        efforts = np.concatenate([N.T @ (self.v0 + v1) / 2, w[size:] / h])

        def tangent() -> Tangent:
            by_q = P @ self.dbalance(T, push, dtravel) + dP
            placed: list[Placed] = [(0, 0, by_q @ N)]
            if self._m:
                placed += [(0, size, P @ self.pull(push.G)), (size, 0, G1 @ N)]
            return _plain(w.size, placed)

        return Evaluation(
            np.concatenate([projected, g]),
            np.concatenate([_alike(abs(P) @ sizes), reach]),
            efforts,
            tangent,
        )

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage; inner multipliers balance what is left."""
        size = w.size - self._m
        (q1, _), mu = self.chart.at(w[:size]), self.spread(w[size:])
        balance = self.balance(q1 - self.q0, mu)[0]
        mu = mu.copy()
        mu[self.chart.satisfied] = self.chart.multipliers(q1, balance)
        return self._from(q1 - self.q0, mu)


@dataclass(frozen=True, eq=False)
class HamiltonianStep(_LagrangianStep):
    r"""Hamilton's equations over a step, for the unknowns (q1, p1, h lambda).

    .. math::

        q_1 - q_0 = h\, \bar\partial_p H, \qquad
        p_1 - p_0 = -h\, \bar\partial_q H - \bar\nabla g^\top h\lambda + h B u, \qquad g(q_1) = 0

    EMH [KB24, eq. (146)] with discrete derivatives, MPH [KB24, eq. (133)] with those at the
    midpoint.
    """

    system: HamiltonianSystem

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        v0 = self.system.velocity(self.x0)
        q1 = self.system.lagrangian.forecast(self.h, self.q0, v0, self.p0)
        return np.concatenate([q1, self.p0, self.guessed_mu])

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        n = self.system.lagrangian.n
        return (*self.system.labels[: 2 * n], *self.names_of_constraints())

    def _split(self, w: Vector) -> tuple[Vector, Vector, Vector]:
        n = self.system.lagrangian.n
        return w[:n], w[n : 2 * n], self.spread(w[2 * n :])

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of kinematics, momentum and constraints."""
        h, lagrangian = self.h, self.system.lagrangian
        q1, p1, mu = self._split(w)
        travel, dtravel = lagrangian.travel(self.rule, self.q0, q1 - self.q0)
        T = lagrangian.cokinetic(self.rule, self.q0, self.p0, q1, p1)
        push, (g, G1, reach) = self.push(q1, mu), self.closure(q1)
        residual = np.concatenate(
            [travel - h * T.by_s, p1 - self.p0 + h * T.by_q - push.impulse, g]
        )
        sizes = np.concatenate(
            [
                _alike(abs(self.q0) + abs(q1) + h * abs(T.by_s)),
                _alike(abs(self.p0) + abs(p1) + h * abs(T.by_q) + push.sizes),
                reach,
            ]
        )
        efforts = np.concatenate([p1 / h, T.by_s, w[2 * q1.size :] / h])
        return Evaluation(residual, sizes, efforts, lambda: self._tangent(dtravel, T, push, G1))

    def _tangent(self, dtravel: Matrix | None, T: Slopes, push: Push, G1: Matrix) -> Tangent:
        n, h = self.system.lagrangian.n, self.h
        identity = diagonal(np.ones(n))
        placed: list[Placed] = [
            (0, 0, (identity if dtravel is None else dtravel) - h * T.sq),
            (0, n, -h * T.ss),
            (n, 0, h * T.qq - push.tangent),
            (n, n, identity + h * T.qs),
            (n, 2 * n, self.pull(push.G)),
            (2 * n, 0, G1),
        ]
        return _plain(2 * n + self._m, placed)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage."""
        q1, p1, mu = self._split(w)
        lagrangian = self.system.lagrangian
        lagrangian.watch(self.q0, q1)
        T = lagrangian.cokinetic(self.rule, self.q0, self.p0, q1, p1)
        force = -(p1 - self.p0) / self.h
        stage = self.stage(q1, [(self.p0 + p1) / 2], [force, T.by_s], mu)
        return np.concatenate([q1, p1, self.system.lam(stage.x)]), stage


def _alike(sizes: Vector) -> Vector:
    """Return the largest size, as often as there are some."""
    return np.full_like(sizes, sizes.max(initial=0.0))


def _plain(size: int, placed: list[Placed]) -> Tangent:
    none = np.zeros((size, 0))
    return Tangent(assemble((size, size), placed), none, none)


#: How many unknowns of Livens' equations are left.
CONDENSATIONS = {"full": LivensStep, "reduced": ReducedStep, "null-space": NullSpaceStep}


@step_problem.register
def _livens(
    system: LivensSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    return CONDENSATIONS[scheme.condensation](scheme, t, x0, u, h, system)


@step_problem.register
def _hamiltonian(
    system: HamiltonianSystem, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
) -> StepProblem:
    if scheme.condensation != "full":
        raise InputError(f"scheme '{scheme.name}': Hamilton's equations are solved in full only")
    return HamiltonianStep(scheme, t, x0, u, h, system)
