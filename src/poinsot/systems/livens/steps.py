"""Stage equations of Lagrangians: one residual per form, solved for more or fewer unknowns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Placed, Vector, dense, diagonal, total
from poinsot.ph.stages import (
    ROUND_OFF,
    ConstrainedStages,
    Evaluation,
    Stage,
    Tangent,
    in_proportion,
    in_rows,
    largest_of_each,
    over,
)
from poinsot.systems.livens.lagrangian import Chart, Increments, Interval, Push, Slopes

if TYPE_CHECKING:
    from poinsot.systems.livens.systems import HamiltonianSystem, LivensSystem, MomentumForm

#: Above this part of the terms of a balance, its residual is not round-off of momenta alone.
CLEAN = 100 * ROUND_OFF


@dataclass(frozen=True, eq=False)
class _LagrangianStages(ConstrainedStages):
    """What all of these steps share: rule, constraints, and what acts."""

    system: "MomentumForm"

    @property
    def rule(self) -> Rule:
        """How derivatives are taken."""
        return self.scheme.rule

    @property
    def q0(self) -> Vector:
        """Coordinates at the start of the step."""
        return self.system.q(self.x0)

    @property
    def p0(self) -> Vector:
        """Momenta at the start of the step."""
        return self.system.p(self.x0)

    @property
    def v0(self) -> Vector:
        """Velocities at the start of the step."""
        return self.system.velocity(self.x0)

    def combination(self) -> Matrix | None:
        """Return what combines the constraints to independent ones, at the start of the step."""
        return self.system.lagrangian.independent(self.q0)

    @property
    def guessed_q1(self) -> Vector:
        """Where the step may lead."""
        return self.system.lagrangian.forecast(self.h, self.q0, self.v0, self.p0)

    @property
    def guessed_mu(self) -> Vector:
        """The multipliers of the step before, times h."""
        return np.asarray(self.combined(self.h * self.system.lam(self.x0)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the system's own equations."""
        return (*self.system.labels[: -self.system.lagrangian.m or None], *self.constraint_labels)

    @property
    def constraint_labels(self) -> Sequence[str]:
        """The name of every independent constraint."""
        return self.combined_labels(self.system.lagrangian.names())

    def push(self, q1: Vector, mu: Vector) -> Push:
        """Return what acts over the step to q1."""
        return self.system.lagrangian.push(self.rule, self.interval(q1), mu)

    def interval(self, q1: Vector) -> Interval:
        """Return the step to q1."""
        return Interval(self.t, self.h, self.q0, q1, self.given)

    @cached_property
    def measures(self) -> Vector:
        """What coordinates are measured by."""
        return self.system.lagrangian.measures(self.q0)

    @cached_property
    def inertia(self) -> Vector:
        """Mass times the square of that: the largest one of each body."""
        n, sizes = self.q0.size, [state.size for state in self.system.states]
        blocks = sizes[: int(np.searchsorted(np.cumsum(sizes), n)) + 1]
        return largest_of_each(self.system.lagrangian.masses(self.q0) * self.measures**2, blocks)

    def measures_of_mu(self, reach: Vector) -> Vector:
        """Return how hard coordinates are to stop by multipliers times h, with what these close."""
        return over(float(self.inertia.max(initial=0.0)), reach) / abs(self.h)

    def measures_of_unknowns(self, reach: Vector) -> Vector:
        """Return what coordinates, velocities, momenta and multipliers are measured by."""
        q, h = self.measures, abs(self.h)
        return np.concatenate([q, q / h, self.inertia / (q * h), self.measures_of_mu(reach)])

    @cached_property
    def given(self) -> Vector:
        """The inputs, as they are asked of drives."""
        return self.system.lagrangian.asked(self.u, self.t - self.h / 2, self.h, self.q0)

    def closure(self, q1: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return what the constraints leave at the end, its derivative, the size of its terms."""
        lagrangian = self.system.lagrangian
        g, G1 = lagrangian.closure(self.rule, self.interval(q1))
        gaps = lagrangian.gap_sizes(q1)
        below = in_proportion(G1[gaps.size :], self.measures, abs(q1))
        return self.combined(g), self.combined(G1), self.sizes_of(np.append(gaps, below))

    def stage(self, q1: Vector, inner: Sequence[Vector], z: Sequence[Vector], mu: Vector) -> Stage:
        """Return the stage of a step that is solved; x = (q, *inner, lam) at its midpoint."""
        lam, push = self.system.lagrangian.smallest(self.q0, q1, mu / self.h), self.push(q1, mu)
        x = np.concatenate([(self.q0 + q1) / 2, *inner, lam])
        return Stage(x, np.concatenate([*z, lam]), push.u, push.y, push.lost)


@dataclass(frozen=True, eq=False)
class LivensStages(_LagrangianStages):
    r"""Livens' equations over a step, for the unknowns (q1, v1, p1, h lambda) [KB24, eq. (72)].

    .. math::

        q_1 - q_0 &= h\, v_m \\
        p_1 - p_0 &= h\, \bar\partial_q L - \bar\nabla g^\top h\lambda + h B u \\
        p_m &= \bar\partial_v L \\
        g(q_1) &= 0

    EML with discrete derivatives, MPL [KB24, eq. (132)] with those at the midpoint.
    """

    system: "LivensSystem"

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.guessed_q1, self.v0, self.p0, self.guessed_mu])

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
                lagrangian.alike(abs(self.q0) + abs(q1) + abs(h * v)),
                lagrangian.alike(momenta + abs(h * T.by_q) + push.sizes),
                lagrangian.alike(momenta + abs(T.by_s)),
                reach,
            ]
        )
        return Evaluation(
            residual,
            sizes,
            tangent=lambda: self._tangent(dtravel, T, push, G1),
            inner=lambda: in_rows(w.size, v.size, push.inner()),
            measures=self.measures_of_unknowns(reach),
        )

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
        return Tangent.of(3 * n + G1.shape[0], placed)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage."""
        return self._finished(*self._split(w))

    def _finished(self, q1: Vector, v1: Vector, p1: Vector, mu: Vector) -> tuple[Vector, Stage]:
        v, p = (self.v0 + v1) / 2, (self.p0 + p1) / 2
        force = -(p1 - self.p0) / self.h
        stage = self.stage(q1, [v, p], [force, np.zeros_like(v), v], mu)
        return np.concatenate([q1, v1, p1, self.system.lam(stage.x)]), stage


@dataclass(frozen=True, eq=False)
class CondensedStages(LivensStages):
    r"""The same for fewer unknowns: v1 and p1 are eliminated [KB24, eq. (101)-(103)].

    .. math:: v_1 = \tfrac2h (q_1 - q_0) - v_0, \qquad p_1 = 2\, \bar\partial_v L - p_0

    What is left are (q1 - q0, h lambda). A null-space scheme goes on to as few numbers as there are
    freedoms without joints [KB24, eq. (104)-(105)]: a discrete null-space matrix P takes the
    multipliers of the inner constraints out of the balance of momentum, and a chart keeps these
    constraints by itself.
    """

    @cached_property
    def chart(self) -> Chart:
        """The numbers that increments of q are made of."""
        lagrangian, n = self.system.lagrangian, self.system.lagrangian.n
        if self.scheme.condensation == "null-space":
            return lagrangian.chart(self.q0)
        return Increments(lagrangian, self.q0, self.system.labels[2 * n : 3 * n])

    def measures_of_unknowns(self, reach: Vector) -> Vector:
        """Return what increments and multipliers are measured by."""
        return np.concatenate([self.chart.measures, self.measures_of_mu(reach)])

    def combination(self) -> Matrix | None:
        """Return what combines the constraints that the chart leaves to independent ones."""
        T, m = super().combination(), self.system.lagrangian.m
        left = np.delete(np.arange(m), self.chart.satisfied)
        if left.size == m:
            return T
        if T is None:
            return np.asarray(np.eye(m)[left])
        return dense(T)[np.any(dense(T)[:, left], axis=1)]

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.chart.guess(self.guessed_q1), self.guessed_mu])

    @property
    def labels(self) -> tuple[str, ...]:
        """The projected equations of momentum, and the constraints that are left."""
        return (*self.chart.labels(), *self.constraint_labels)

    def _parts(self, w: Vector) -> tuple[Vector, Matrix, Vector]:
        """Return q1 - q0, its derivative, and the multipliers times h."""
        size = w.size - self.guessed_mu.size
        return *self.chart.at(w[:size]), self.spread(w[size:])

    def balance(self, dq: Vector, mu: Vector) -> tuple[Vector, Slopes, Push, Vector, Matrix | None]:
        """Return 2 p_m - 2 p0 - h dL/dq, what it is made of, v1, and the tangent of travel."""
        h, lagrangian, q1 = self.h, self.system.lagrangian, self.q0 + dq
        travel, dtravel = lagrangian.travel(self.rule, self.q0, dq)
        v1 = 2 / h * travel - self.v0
        T = lagrangian.kinetic(self.rule, self.q0, self.v0, q1, v1)
        push = self.push(q1, mu)
        return 2 * (T.by_s - self.p0) - h * T.by_q - push.impulse, T, push, v1, dtravel

    def terms(self, T: Slopes, push: Push) -> Vector:
        """Return the sizes of the terms of the balance."""
        return 2 * (abs(T.by_s) + abs(self.p0)) + abs(self.h * T.by_q) + push.sizes

    def dbalance(self, T: Slopes, push: Push, dtravel: Matrix | None) -> Matrix:
        """Return the derivative of the balance by q1, with dv1/dq1 = 2/h."""
        h = self.h
        by_v = 4 / h * T.ss - 2 * T.qs
        tangent: Matrix = 2 * T.sq - h * T.qq - push.tangent
        return total(tangent, by_v if dtravel is None else by_v @ dtravel)

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of the projected momentum and the constraints that are left."""
        dq, N, mu = self._parts(w)
        balance, T, push, _, dtravel = self.balance(dq, mu)
        projected, P, dP = self.chart.project(self.q0 + dq, balance)
        g, G1, reach = self.closure(self.q0 + dq)
        size = projected.size

        def tangent() -> Tangent:
            by_q = total(P @ self.dbalance(T, push, dtravel), dP)
            placed: list[Placed] = [(0, 0, by_q @ N)]
            if g.size:
                placed += [(0, size, P @ self.pull(push.G)), (size, 0, G1 @ N)]
            return Tangent.of(w.size, placed)

        return Evaluation(
            np.concatenate([projected, g]),
            np.concatenate([self.chart.alike(abs(P) @ self.terms(T, push)), reach]),
            tangent,
            inner=lambda: in_rows(w.size, 0, abs(P) @ push.inner()),
            measures=self.measures_of_unknowns(reach),
        )

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage; inner multipliers balance what is left."""
        dq, _, mu = self._parts(w)
        balance, T, push, _, _ = self.balance(dq, mu)
        projected, P, _ = self.chart.project(self.q0 + dq, balance)
        solved = np.all(abs(projected) <= CLEAN * self.chart.alike(abs(P) @ self.terms(T, push)))
        mu = mu.copy()
        mu[self.chart.satisfied] = self.chart.multipliers(self.q0 + dq, balance)
        left, T, push, v1, _ = self.balance(dq, mu)
        # By the balance, which is the same but for round-off: 2 T.by_s - p0 would gather that of
        # q1 - q0, and momenta and energy drift in long runs. Where forces are rounded by more than
        # momenta, as those of stiff springs, it is the other way round.
        p1 = self.p0 + self.h * T.by_q + push.impulse + (0.0 if solved else left)
        return self._finished(self.q0 + dq, v1, p1, mu)


@dataclass(frozen=True, eq=False)
class HamiltonianStages(_LagrangianStages):
    r"""Hamilton's equations over a step, for the unknowns (q1, p1, h lambda).

    .. math::

        q_1 - q_0 = h\, \bar\partial_p H, \qquad
        p_1 - p_0 = -h\, \bar\partial_q H - \bar\nabla g^\top h\lambda + h B u, \qquad g(q_1) = 0

    EMH [KB24, eq. (146)] with discrete derivatives, MPH [KB24, eq. (133)] with those at the
    midpoint.
    """

    system: "HamiltonianSystem"

    def measures_of_unknowns(self, reach: Vector) -> Vector:
        """Return what coordinates, momenta and multipliers are measured by."""
        q = self.measures
        p = self.inertia / (q * abs(self.h))
        return np.concatenate([q, p, self.measures_of_mu(reach)])

    @property
    def guess(self) -> Vector:
        """Go on as before."""
        return np.concatenate([self.guessed_q1, self.p0, self.guessed_mu])

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
                lagrangian.alike(abs(self.q0) + abs(q1) + abs(h * T.by_s)),
                lagrangian.alike(abs(self.p0) + abs(p1) + abs(h * T.by_q) + push.sizes),
                reach,
            ]
        )
        return Evaluation(
            residual,
            sizes,
            tangent=lambda: self._tangent(dtravel, T, push, G1),
            inner=lambda: in_rows(w.size, q1.size, push.inner()),
            measures=self.measures_of_unknowns(reach),
        )

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
        return Tangent.of(2 * n + G1.shape[0], placed)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end, and the stage."""
        q1, p1, mu = self._split(w)
        T = self.system.lagrangian.cokinetic(self.rule, self.q0, self.p0, q1, p1)
        force = -(p1 - self.p0) / self.h
        stage = self.stage(q1, [(self.p0 + p1) / 2], [force, T.by_s], mu)
        return np.concatenate([q1, p1, self.system.lam(stage.x)]), stage
