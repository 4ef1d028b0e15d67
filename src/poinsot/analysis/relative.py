r"""Steady motions of systems in generalised coordinates, along symmetries.

.. math:: \dot\zeta = \sum_i s_i\, \xi_i(\zeta) = Z(\zeta)\, w(\zeta)

The simplest symmetries are cyclic coordinates: angles on which nothing depends, with constant rates
s. Velocities follow from coordinates and rates, and their rates :math:`\dot w` from the motion, so
that a steady motion satisfies

.. math:: E\, \dot x = (J - R)\, z(x) - r + B u, \qquad g(\zeta) = 0, \qquad K w = 0

with :math:`x = (\zeta, w, \lambda)`. The same equations describe elastic bodies: all frames of a
mechanism rotate about an axis, with constant deformations.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poinsot.analysis.operating_point import slope
from poinsot.analysis.steady_frames import SteadyFrame, carried
from poinsot.errors import InputError
from poinsot.frames.places import frame_vectors
from poinsot.ph.derivatives import jacobian
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.systems.livens import LagrangianForm
from poinsot.systems.livens.systems import MomentumForm
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.floating import FloatingPlace
from poinsot.systems.statics.places import state_at

#: Part of a field that may lie outside of what velocities can do.
OUTSIDE = 1e-8


@dataclass(frozen=True, eq=False)
class Symmetry(ABC):
    """Motions that leave a system as it is, and how fast each of them goes on."""

    rates: Vector

    @abstractmethod
    def speeds(self, place: CoordinatePlace) -> Vector:
        """Return the velocities w of these motions at a place; (k,)."""

    @abstractmethod
    def accelerations(self, place: CoordinatePlace) -> Vector:
        """Return the rates of w along the motion; (k,)."""

    @abstractmethod
    def later(self, place: CoordinatePlace, time: float) -> Vector:
        """Return coordinates after a time [s]; (n,)."""


@dataclass(frozen=True, eq=False)
class Screw(Symmetry):
    """All frames turn about an axis through a point that moves, and some bodies spin besides.

    The first rate is that of the axis, the others are spins about axes (bodies, 3) of bodies.
    """

    axis: Vector
    point: Vector
    velocity: Vector
    axes: Array

    @property
    def frame(self) -> SteadyFrame:
        """How frames move."""
        Omega = self.rates[0] * self.axis
        start = self.velocity - np.cross(Omega, self.point)
        return SteadyFrame(start, Omega, self.rates[1:, None] * self.axes)

    def speeds(self, place: CoordinatePlace) -> Vector:
        """Return velocities of frames in their own axes; deformations stay."""
        rigid, q = self._frames(place)
        twists = np.einsum("bij,bkj->bki", q[:, 1:], self.frame.twists(q)).reshape(-1)
        return self._still(place, rigid.velocities.own(twists))

    def accelerations(self, place: CoordinatePlace) -> Vector:
        """Return -spin x v and -spin x Omega."""
        rigid, _ = self._frames(place)
        own = rigid.pairs(self.speeds(place)[: rigid.k])
        change = -np.cross(self.frame.spins[:, None], own).reshape(-1)
        return self._still(place, rigid.velocities.own(change))

    def later(self, place: CoordinatePlace, time: float) -> Vector:
        """Return coordinates of frames that moved along."""
        x = state_at(place.system, place, np.zeros(place.sizes.size))
        return place.system.parts(carried(place.system, self.frame, x, time))[0]

    @staticmethod
    def _frames(place: CoordinatePlace) -> tuple[Any, Array]:
        assert isinstance(place, FloatingPlace)
        bodies = place.system.bodies
        return bodies.rigid, frame_vectors(bodies.directors(place.zeta))

    @staticmethod
    def _still(place: CoordinatePlace, own: Vector) -> Vector:
        return np.append(own, np.zeros(place.sizes.size - own.size))


@dataclass(frozen=True, eq=False)
class Field:
    """A field zeta -> (n,) of the rates of coordinates, with its derivative if that is constant."""

    value: Callable[[Vector], Vector]
    slope: Array | None = None

    def derivative(self, zeta: Vector) -> Array:
        """Return the derivative by zeta; (n, n)."""
        if self.slope is not None:
            return self.slope
        return jacobian(self.value, zeta, float(np.max(abs(zeta), initial=1.0)))


@dataclass(frozen=True, eq=False)
class Fields(Symmetry):
    """Fields of coordinates, each with a rate of its own."""

    fields: tuple[Field, ...]

    def moves(self, zeta: Vector) -> tuple[Vector, Array]:
        """Return the rates of coordinates, and their derivative; (n,), (n, n)."""
        moves, slope = np.zeros(zeta.size), np.zeros((zeta.size, zeta.size))
        for rate, field in zip(self.rates, self.fields, strict=True):
            moves += rate * field.value(zeta)
            slope += rate * field.derivative(zeta)
        return moves, slope

    def speeds(self, place: CoordinatePlace) -> Vector:
        """Return w with Z w = zeta'."""
        return _back(place.system, place.zeta, self.moves(place.zeta)[0])

    def accelerations(self, place: CoordinatePlace) -> Vector:
        """Return the rates that velocities are taken along with."""
        return self._turned(place.system, place.zeta) @ self.speeds(place)

    def later(self, place: CoordinatePlace, time: float) -> Vector:
        """Return coordinates that moved along the fields."""
        from scipy.integrate import solve_ivp

        found = solve_ivp(
            lambda _, zeta: self.moves(zeta)[0], (0, time), place.zeta, rtol=1e-11, atol=1e-12
        )
        return np.asarray(found.y[:, -1])

    def _turned(self, system: MechanicalForm, zeta: Vector) -> Array:
        """Return what the rates of velocities are of these: w' = Z^-1 (Dxi Z w - DZ[xi] w)."""
        Z, (moves, slope) = dense(system.mechanics.Z(zeta)), self.moves(zeta)
        columns = [system.mechanics.Z_along(zeta, w) for w in np.eye(Z.shape[1])]
        bent = [np.zeros(zeta.size) if along is None else along @ moves for along in columns]
        return _back(system, zeta, slope @ Z - np.column_stack(bent))

    def derivative(self, system: MechanicalForm, x: Vector) -> tuple[Array, Vector]:
        """Return the derivative of the motion of all states by these, and the motion; (n, n), (n,).

        Velocities are taken along.
        """
        n = system.mechanics.n

        def lifted(both: Vector) -> Vector:
            zeta, w = np.split(both, [n])
            rates = np.append(self.moves(zeta)[0], self._turned(system, zeta) @ w)
            return np.asarray(_lift(system, zeta, w) @ rates)

        zeta, w = system.parts(x)[0], velocity_of(system, x)
        both, lift = np.append(zeta, w), _lift(system, zeta, w)
        slopes = np.zeros((system.n, both.size))
        slopes[:, :n] = jacobian(lambda q: lifted(np.append(q, w)), zeta)
        if isinstance(system, MomentumForm):
            slopes[:, n:] = jacobian(lambda v: lifted(np.append(zeta, v)), w)
        else:
            slopes[:, n:] = lift[:, n:] @ self._turned(system, zeta)
        return slopes @ np.linalg.pinv(lift), lifted(both)


def _back(system: MechanicalForm, zeta: Vector, moves: Array) -> Array:
    """Return velocities that change coordinates so."""
    return np.asarray(np.linalg.lstsq(dense(system.mechanics.Z(zeta)), moves)[0])


def velocity_of(system: MechanicalForm, x: Vector) -> Vector:
    """Return w of a state; (k,)."""
    return system.velocity(x) if isinstance(system, LagrangianForm) else system.parts(x)[1]


def _lift(system: MechanicalForm, zeta: Vector, w: Vector) -> Array:
    """Return what states change by with coordinates and velocities; (states, n + k)."""
    n, k, at = zeta.size, w.size, system.momentum_row
    lift = np.zeros((system.n, n + k))
    lift[:n, :n] = np.eye(n)
    if not isinstance(system, MomentumForm):
        lift[at : at + k, n:] = np.eye(k)
        return lift
    lift[n:at, n:] = np.eye(k)[: at - n]
    T = system.lagrangian.ddT(zeta, w)
    lift[at : at + k] = np.hstack([dense(T.qs).T, dense(T.ss)])
    return lift


@dataclass(frozen=True, eq=False)
class Relative:
    """A place that moves by a symmetry: what is in balance there, and its derivatives."""

    place: CoordinatePlace
    symmetry: Symmetry

    @property
    def _system(self) -> MechanicalForm:
        return self.place.system

    @cached_property
    def moving(self) -> tuple[Vector, Vector]:
        """The state, multipliers zero, and its rate; (n,) each."""
        w = self.symmetry.speeds(self.place)
        x = state_at(self._system, self.place, w)
        moves = self._system.mechanics.Z(self.place.zeta) @ w
        rates = np.append(moves, self.symmetry.accelerations(self.place))
        return x, _lift(self._system, self.place.zeta, w) @ rates

    @cached_property
    def inputs(self) -> Vector:
        """Inputs, with those filled in that laws give; (m,)."""
        system, (x, _) = self._system, self.moving
        return system.feedback(self.place.t, x, system.z(x), self.place.u)

    @cached_property
    def equations(self) -> tuple[Vector, Vector, Array]:
        """Forces without those of joints, the sizes of their terms, and K; (k,), (k,), (m, k)."""
        system, (x, rate) = self._system, self.moving
        inertial = system.E(x) @ rate
        left = self._momentum(inertial - system.flow(x, system.z(x), self.inputs))
        w, G = velocity_of(system, x), system.gyration(x)
        terms = self.place.forces()[1] + abs(self._momentum(inertial))
        terms = terms if G is None else terms + abs(G) @ abs(w)
        return np.asarray(left), np.asarray(terms), dense(self.place.rows())

    def _momentum(self, rows: Any) -> Any:
        at = self._system.momentum_row
        return rows[at : at + self._system.mechanics.k]

    def residual(self, lam: Vector) -> Vector:
        """Return what is left over: forces, gaps of joints, and velocities that do not suit."""
        F, _, K = self.equations
        w = velocity_of(self._system, self.moving[0])
        return np.concatenate([F + K.T @ lam, self.place.g(self.place.zeta), K @ w])

    def sizes(self, lam: Vector) -> Vector:
        """Return the sizes of the terms in every row of the residual."""
        place, (_, terms, K), D = self.place, self.equations, self.place.sizes
        _, group = np.unique(list(place.groups), return_inverse=True)
        largest = np.zeros(group.max(initial=-1) + 1)
        np.maximum.at(largest, group, D * (terms + abs(K).T @ abs(lam)))
        forces = largest[group] / D
        gaps = np.linalg.norm(K * D, axis=1)[: place.g(place.zeta).size]
        speed = float(np.max(abs(velocity_of(self._system, self.moving[0])) / D, initial=0.0))
        rows = abs(K) @ (D * (speed or 1.0))
        found = np.concatenate([forces, gaps, rows])
        return np.where(found > 0, found, 1.0)

    def jacobian(self, lam: Vector, rates: list[int]) -> Array:
        """Return the derivative by motions, by the rates that are looked for, and by lam."""
        system, (x, rate), (_, _, K) = self._system, self.moving, self.equations
        k, n, D = system.mechanics.k, system.n, self.place.sizes

        def state(y: Vector) -> Vector:
            there = self._beside(y[:k] * D, rates, y[k:])
            return np.concatenate([*there.moving, velocity_of(system, there.moving[0])])

        y = np.zeros(k + len(rates))
        scales = np.append(D, np.ones(len(rates)))
        slopes = jacobian(state, y, rough=True) / scales
        dx, drate = slopes[:n], slopes[n : 2 * n]
        full = x.copy()
        full[n - lam.size :] = lam
        A, dE = slope(system, full, system.z(full), self.inputs), system.dE(x, rate)
        A = -dense(A) if dE is None else dense(dE) - dense(A)
        zeta, w = system.parts(x)[0], velocity_of(system, x)
        bent, gaps = dense(system.mechanics.slope(zeta, w)), self.place.g(zeta).size
        forces = self._momentum(A @ dx + dense(system.E(x)) @ drate)
        closing = np.zeros((gaps, k + len(rates)))
        closing[:, :k] = K[:gaps]
        speeds = bent @ dx[: zeta.size] + K @ slopes[2 * n :]
        behind = np.zeros((gaps + K.shape[0], lam.size))
        return np.hstack([np.vstack([forces, closing, speeds]), np.vstack([K.T, behind])])

    @property
    def pace(self) -> float:
        """How fast the motion is, in sizes of what moves a second [1/s]."""
        speeds = velocity_of(self._system, self.moving[0])
        return float(np.max(abs(speeds) / self.place.sizes, initial=0.0))

    def later(self, time: float) -> "Relative":
        """Return where the motion leads to in a time [s]."""
        return Relative(self.place.at(self.symmetry.later(self.place, time)), self.symmetry)

    def _beside(self, w: Vector, rates: list[int], change: Vector) -> "Relative":
        """Return the same after a small motion, angles as they are counted here."""
        changed = self.symmetry.rates.copy()
        changed[rates] += change
        place = replace(self.place, zeta=self.place.step(w))
        return Relative(place, replace(self.symmetry, rates=changed))

    def after(self, w: Vector | None, rates: list[int], change: Vector) -> "Relative":
        """Return the same after a motion w (k,), if any, and changes of rates."""
        zeta = self.place.zeta if w is None else self.place.step(w)
        beside = self._beside(np.zeros(self.place.sizes.size), rates, change)
        return Relative(self.place.at(zeta), beside.symmetry)


def require_possible(place: CoordinatePlace, name: str, moves: Vector) -> None:
    """Refuse a field that no velocities lead along."""
    Z = dense(place.system.mechanics.Z(place.zeta))
    w = np.linalg.lstsq(Z, moves)[0]
    if np.linalg.norm(Z @ w - moves) > OUTSIDE * np.linalg.norm(moves):
        raise InputError(
            f"steady_motion: system '{place.system.name}' cannot move along '{name}': no "
            "velocities give this rate of its coordinates; check the field"
        )
