"""Stage equations of mechanisms, for fewer unknowns than the whole state.

The trajectories in directors are those of the general equations for the same system, up to
round-off, with fewer equations for Newton's method.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import DRIFT, REST
from poinsot.frames.forms import GROUND
from poinsot.frames.places import frame_vectors
from poinsot.ph.linear_steps import differences
from poinsot.ph.matrices import Array, Matrix, Placed, Vector, dense, diagonal, total
from poinsot.ph.stages import (
    ConstrainedStages,
    Evaluation,
    Slopes,
    Stage,
    Tangent,
    in_proportion,
    in_rows,
    largest_of_kind,
    over,
)
from poinsot.systems.form import MechanismForm
from poinsot.systems.mechanical import Losses
from poinsot.systems.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Middle:
    """A step by velocities w: directors at its start, middle and end, and their rate.

    S turns velocities into rates of directors, (12 bodies, size of w); None: they are these rates.
    `dq` is the derivative of the directors in the middle by w; None: h/2.
    """

    h: float
    q0: Vector
    q: Vector
    q1: Vector
    rate: Vector
    S: Matrix | None = None
    dq: Matrix | None = None

    def reach(self, w: Vector) -> Vector:
        """Return the sizes of the rates."""
        return np.asarray(abs(w) if self.S is None else abs(self.S) @ abs(w))

    def back(self, A: Any) -> Any:
        """Return S^T A: what acts on velocities like A, a vector or a matrix, on directors."""
        return A if self.S is None else self.S.T @ A

    def sizes(self, forces: Vector) -> Vector:
        """Return the sizes of S^T forces."""
        return np.asarray(forces if self.S is None else abs(self.S).T @ forces)

    def by_q(self, A: Matrix) -> Matrix:
        """Return A dq, by way of the directors in the middle."""
        change: Matrix = self.h / 2 * A if self.dq is None else A @ self.dq
        return change

    def by_rate(self, A: Matrix) -> Matrix:
        """Return A times the derivative of the rate (q1 - q0) / h = 2 (q - q0) / h."""
        return A if self.dq is None else 2 / self.h * (A @ self.dq)


class _Terms(NamedTuple):
    """What the equations of a step consist of, see `MechanismStages`."""

    v: Vector
    mu: Vector
    at: Middle
    u: Vector
    G: Matrix
    B: Matrix
    dV: Vector
    ddV: Matrix | None
    damping: Vector
    losses: Losses | None
    pull: Matrix
    force: Vector
    closure: Vector


@dataclass(frozen=True, eq=False)
class MechanismStages(ConstrainedStages):
    """The midpoint rule of a mechanism, for velocities w over the step and h lambda.

        p1(w) - p0 + S^T [h (dV - B u + r) + G^T h lambda] = 0,    G S w = N u,

    G and B at mean directors, S what turns w into their rates; dV is the discrete gradient of the
    potential. Every constraint is one on velocities here, whether it has a position equation or
    not [BHRS25, eq. (10)]; N u are the rates of drives. What round-off left of g(q0) is taken back
    little by little, or it would grow with the number of steps.
    """

    system: MechanismForm

    @cached_property
    def held(self) -> Mechanism:
        """The mechanism with the constraints that have multipliers, over this step."""
        return self.system.held.since(self.q0)

    @cached_property
    def given(self) -> Vector:
        """The inputs, as they are asked of drives."""
        return self.held.asked(self.u, self.t - self.h / 2, self.h, self.q0)

    @property
    @abstractmethod
    def q0(self) -> Vector:
        """Directors at the start."""

    @property
    @abstractmethod
    def start(self) -> tuple[Vector, Vector]:
        """Velocities at the start, and the multipliers of the step before."""

    @property
    @abstractmethod
    def translate(self) -> NDArray[np.bool_]:
        """Which velocities of w are those of positions."""

    @abstractmethod
    def middle(self, w: Vector) -> Middle:
        """Return where a step by these velocities leads."""

    @abstractmethod
    def inertia(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return p1 - p0, and the sizes of its terms."""

    @abstractmethod
    def dinertia(self, w: Vector, at: Middle, force: Vector) -> Matrix:
        """Return the derivative of the inertia, and of what S^T force has of S, by w."""

    def combination(self) -> Matrix | None:
        """Return what combines the constraints to independent ones, at the start of the step."""
        return self.held.independent(self.q0)

    @cached_property
    def _gap(self) -> Vector:
        return self.held.gap(self.q0)

    @cached_property
    def _length(self) -> float:
        return self.held.length(self.q0)

    @cached_property
    def _measures(self) -> Vector:
        """What directors are measured by."""
        return self.held.measures(self.q0)

    def _measures_of_unknowns(self, G: Matrix) -> Vector:
        """Return those of velocities by the step, and how hard these are to stop by multipliers."""
        w, reach = np.where(self.translate, self._length, 1.0), abs(G) @ self._measures
        inertia = float(self.held.masses.max(initial=0.0)) * self._length**2
        return np.concatenate([w, over(inertia, self.sizes_of(reach))]) / abs(self.h)

    def _loads(
        self, at: Middle, u: Vector, mu: Vector, losses: Losses | None
    ) -> tuple[list[Matrix], list[Matrix]]:
        """Return the derivatives of what acts over the step by directors, and by their rates.

        Potentials are left out, since they depend on both ends.
        """
        loads, rates = self.held.dloads(self.t, at.q, at.rate, u)
        by_q = [self.held.curvature(at.q, mu), *(-self.h * slope for slope in loads)]
        by_rate = [-self.h * slope for slope in rates]
        if losses is not None:
            by_q.append(self.h * losses.by_zeta)
            by_rate.append(self.h * losses.by_w)
        return by_q, by_rate

    @property
    def guess(self) -> Vector:
        """Start from the velocities and multipliers of the step before."""
        w, lam = self.start
        return np.concatenate([w, self.h * self.combined(lam)])

    @property
    def labels(self) -> tuple[str, ...]:
        """Momentum equations and constraints."""
        labels, (w, lam) = self.system.labels, self.start
        split = len(labels) - lam.size
        return (*labels[split - w.size : split], *self.combined_labels(labels[split:]))

    def split(self, w: Vector) -> tuple[Vector, Vector]:
        """Return the velocities, and the multipliers of all constraints times h."""
        size = self.start[0].size
        return w[:size], self.spread(w[size:])

    def _terms(self, w: Vector) -> "_Terms":
        """Return what the equations consist of."""
        held, h, (v, mu) = self.held, self.h, self.split(w)
        at = self.middle(v)
        u = held.feedback(self.t, at.q, at.rate, self.given)
        G, B, N = held.G(at.q), held.B(at.q), held.imposed
        dV, ddV = held.discrete_dV(at.q0, at.q1)
        damping, losses, pull = held.damping(at.q, at.rate), held.losses(at.q, at.rate, mu / h), G
        if losses is not None:
            damping, pull = damping + losses.force, G + losses.by_lam.T
        force = h * (dV - B @ u + damping) + G.T @ mu
        rates = DRIFT / h * self._gap if N is None else DRIFT / h * self._gap - N @ u
        closure = self.combined(G @ at.rate + rates)
        return _Terms(v, mu, at, u, G, B, dV, ddV, damping, losses, pull, force, closure)

    def residual(self, w: Vector) -> Vector:
        """Return the residual of momentum and constraints alone."""
        terms = self._terms(w)
        inertia, _ = self.inertia(terms.v, terms.at)
        return np.concatenate([inertia + terms.at.back(terms.force), terms.closure])

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual of momentum and constraints."""
        held, h, terms = self.held, self.h, self._terms(w)
        v, mu, at, u, G, B, dV, ddV, damping, losses, pull, force, closure = terms
        inertia, momenta = self.inertia(v, at)
        forces = abs(h) * (abs(dV) + abs(B) @ abs(u) + abs(damping)) + abs(G).T @ abs(mu)
        sizes = largest_of_kind(momenta + at.sizes(forces), self.translate)
        rate = at.reach(v) + abs(at.q) * REST / abs(h)
        reach = self.sizes_of(in_proportion(G, self._measures, rate))

        def tangent() -> Tangent:
            by_q, by_rate = self._loads(at, u, mu, losses)
            if ddV is not None:
                by_q.append(2 * h * ddV)
            closing = at.by_q(held.slope(at.q, at.rate)) + at.by_rate(G)
            placed: list[Placed] = [
                (0, 0, self.dinertia(v, at, force)),
                *((0, 0, at.by_q(at.back(slope))) for slope in by_q),
                *((0, 0, at.by_rate(at.back(slope))) for slope in by_rate),
                (0, v.size, at.back(self.pull(pull))),
                (v.size, 0, self.combined(closing)),
            ]
            return Tangent.of(v.size + closure.size, placed)

        def inner() -> Vector:
            forces = held.inner(self.t, at.q, at.rate, u)
            return in_rows(w.size, 0, abs(h) * at.sizes(forces))

        return Evaluation(
            F=np.concatenate([inertia + at.back(force), closure]),
            sizes=np.concatenate([sizes, reach]),
            tangent=tangent,
            inner=inner,
            measures=self._measures_of_unknowns(G),
        )


@dataclass(frozen=True, eq=False)
class DirectorStages(MechanismStages):
    """PH-MP for the unknowns (v_mid, h lambda) [LKB26, eq. (50)].

    With q1 = q0 + h v_mid and one multiplier vector per step,

        2 M (v_mid - v0) + h (dV - B u) + G^T h lambda = 0,    G v_mid = 0 .
    """

    @property
    def q0(self) -> Vector:
        """Coordinates at the start."""
        return self.system.parts(self.x0)[0]

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Velocities at the start, and the multipliers of the step before."""
        _, v, lam = self.system.parts(self.x0)
        return v, lam

    @property
    def translate(self) -> NDArray[np.bool_]:
        """Those of phi."""
        return self.held.unknowns.translate

    def middle(self, w: Vector) -> Middle:
        """Return q0 + h/2 v and q0 + h v."""
        return Middle(self.h, self.q0, self.q0 + self.h / 2 * w, self.q0 + self.h * w, w)

    def inertia(self, w: Vector, at: Middle) -> tuple[Vector, Vector]:
        """Return 2 M (v - v0)."""
        mass, v0 = self.held.mass, self.start[0]
        return 2 * mass * (w - v0), 2 * mass * (abs(w) + abs(v0))

    def dinertia(self, w: Vector, at: Middle, force: Vector) -> Matrix:
        """Return 2 M."""
        return diagonal(2 * self.held.mass)

    @property
    def ends_by_parameters(self) -> bool:
        """The end follows from x0 and the unknowns alone."""
        return False

    def guess_of(self, x1: Vector) -> Vector:
        """Return the velocity that leads to x1, and its multipliers."""
        q1, _, lam = self.system.parts(x1)
        return np.concatenate([(q1 - self.q0) / self.h, self.h * self.combined(lam)])

    def slopes(self, w: Vector) -> Slopes:
        """Return exact derivatives; those by the start of what drives move are by differences."""
        held, h, (v, mu) = self.held, self.h, self.split(w)
        at, n = self.middle(v), v.size
        u = held.feedback(self.t, at.q, at.rate, self.given)
        by_q, _ = self._loads(at, u, mu, None)
        # Discrete gradients are symmetric: the derivative by one end is that by the other one.
        for start, end in ((at.q0, at.q1), (at.q1, at.q0)):
            ddV = held.discrete_dV(start, end)[1]
            if ddV is not None:
                by_q.append(h * ddV)
        gap = np.where(np.arange(held.m) < held.positions, DRIFT / h, 0.0)
        closing = dense(held.slope(at.q, at.rate)) + gap[:, None] * dense(held.G(self.q0))
        F_x = np.zeros((w.size, self.x0.size))
        F_x[:n, :n] = dense(total(*by_q))
        F_x[n:, :n] = self.combined(closing)
        F_x[range(n), range(n, 2 * n)] = -2 * held.mass
        if held.drives:
            driven = {body for each in held.drives for body in each.bodies} - {GROUND}
            columns = np.zeros(self.x0.size, dtype=bool)
            columns[held.unknowns.columns(np.array(sorted(driven), dtype=np.intp))] = True
            F_x[:, columns] = differences(
                lambda x: self.from_start(x).residual(w),
                self.x0,
                np.append(self._measures, np.ones(self.x0.size - n)),
                columns,
            )[:, columns]
        M_w, M_x = np.zeros((self.x0.size, w.size)), np.zeros((self.x0.size, self.x0.size))
        one = np.eye(n)
        M_w[:n, :n], M_w[n : 2 * n, :n] = h * one, 2 * one
        M_x[:n, :n], M_x[n : 2 * n, n : 2 * n] = one, -one
        M_w[self.x0.size - held.m :, n:] = dense(self.pull(np.eye(held.m))) / h
        light, by_d, by_rates = dmassless(held, at.q1, 2 * v - self.start[0])
        if light.size:
            for M in (M_w, M_x):
                M[n + light] = by_d @ M[:n] + by_rates @ M[n : 2 * n]
        return Slopes(self.evaluate(w).tangent().whole, F_x, M_w, M_x)

    def output_slopes(self, w: Vector) -> tuple[Array, Array] | None:
        """Return those of y = B^T v; of drives, whose outputs are reactions, they are unknown."""
        if self.held.drives:
            return None
        at, n = self.middle(self.split(w)[0]), self.held.n
        B, dy = dense(self.held.B(at.q)), self.held.dy(at.q, at.rate)
        by_w, by_x = np.zeros((B.shape[1], w.size)), np.zeros((B.shape[1], self.x0.size))
        by_w[:, :n] = B.T
        if dy is not None:
            by_w[:, :n] += self.h / 2 * dense(dy)
            by_x[:, :n] = dense(dy)
        return by_w, by_x

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1 = q0 + h v_mid, v1 = 2 v_mid - v0 and the multipliers."""
        mechanism, (v, mu) = self.held, self.split(w)
        at = self.middle(v)
        lam = mechanism.smallest(at.q, mu / self.h)
        v1 = massless_from_others(mechanism, at.q1, 2 * v - self.start[0])
        dV, _ = mechanism.discrete_dV(at.q0, at.q1)
        x_mid, z = np.concatenate([at.q, v, lam]), np.concatenate([dV, v, lam])
        u, lost = mechanism.feedback(self.t, at.q, v, self.given), mechanism.lost(at.q, v, lam)
        return np.concatenate([at.q1, v1, lam]), Stage(x_mid, z, u, self.system.y(x_mid, z), lost)


def massless_from_others(mechanism: Mechanism, q: Vector, v: Vector) -> Vector:
    """Give a director without mass the velocity that follows from d_k = d_i x d_j."""
    own = mechanism.unknowns
    light = (mechanism.inertia[:, 1:] == 0) & own.turns[:, None]
    if not light.any():
        return v
    d, rates = frame_vectors(own.full(q))[:, 1:], frame_vectors(own.rates.full(v)).copy()
    for body, k in zip(*np.nonzero(light), strict=True):
        i, j = (k + 1) % 3, (k + 2) % 3
        v_i, v_j = rates[body, 1 + i], rates[body, 1 + j]
        rates[body, 1 + k] = np.cross(v_i, d[body, j]) + np.cross(d[body, i], v_j)
    return own.own(rates.reshape(-1))


def dmassless(mechanism: Mechanism, q: Vector, v: Vector) -> tuple[NDArray[np.intp], Array, Array]:
    """Return which velocities follow from others, and their derivatives by q and v.

    They are linear in both, so that differences over one are exact.
    """
    light = np.flatnonzero(mechanism.massless)
    if not light.size:
        return light, np.zeros((0, q.size)), np.zeros((0, q.size))

    def found(q: Vector, v: Vector) -> Vector:
        return massless_from_others(mechanism, q, v)[light]

    unit = np.eye(q.size)
    by_q = [(found(q + each, v) - found(q - each, v)) / 2 for each in unit]
    by_v = [(found(q, v + each) - found(q, v - each)) / 2 for each in unit]
    return light, np.array(by_q).T, np.array(by_v).T
