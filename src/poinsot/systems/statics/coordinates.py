"""Places of mechanical systems in generalised coordinates: Lagrangians and redundant systems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.systems.livens import LagrangianForm
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.mechanical import MechanicalForm, Mechanics
from poinsot.systems.redundant import RedundantSystem
from poinsot.systems.redundant.laws import Laws
from poinsot.systems.statics.rest import Place

#: How far coordinates go, in their sizes, in one step of the integration of a motion.
STRIDE = 0.05
#: Gap of a constraint, as a part of its terms, that is closed; and how often it is tried.
CLOSED, CLOSINGS = 1e-13, 30


@dataclass(frozen=True, eq=False)
class CoordinatePlace(Place):
    """Coordinates zeta (n,) of a system, with its constraints on them, time and inputs."""

    system: MechanicalForm
    g: Callable[[Vector], Vector]
    zeta: Vector
    t: float
    u: Vector

    @classmethod
    def of(cls, system: MechanicalForm, x: Vector, t: float) -> Self:
        """Return where a system is at a state."""
        nothing = np.zeros(0)
        g: Callable[[Vector], Vector] = lambda zeta: nothing  # noqa: E731
        if isinstance(system, LagrangianForm):
            g = system.lagrangian.g
        elif isinstance(system, RedundantSystem):
            g = system.laws.c
        return cls(system, g, system.parts(x)[0], t, system.u(t))

    @property
    def _mechanics(self) -> Mechanics:
        return self.system.mechanics

    # -- motions ------------------------------------------------------------------------------

    @cached_property
    def names(self) -> list[str]:
        """The coordinate that each motion moves most."""
        most = np.argmax(abs(self._Z) / self._lengths[:, None], axis=0)
        return [self.system.labels[k] for k in most]

    @property
    def coordinates(self) -> Sequence[str]:
        """Names of the coordinates; (n,)."""
        mechanics = self._mechanics
        if isinstance(mechanics, GeneralLagrangian | Laws):
            return mechanics.coordinates
        return self.system.labels[: mechanics.n]

    @property
    def groups(self) -> list[str]:
        """One for all: a force along a coordinate may vanish with the coordinate."""
        return [self.system.name] * self._mechanics.k

    @property
    def turning(self) -> NDArray[np.bool_]:
        """None are known to turn."""
        return np.zeros(self._mechanics.k, dtype=bool)

    @cached_property
    def _Z(self) -> Array:
        return dense(self._mechanics.Z(self.zeta))

    @cached_property
    def _lengths(self) -> Vector:
        x = np.zeros(self.system.n)
        x[: self._mechanics.n] = self.zeta
        return self.system.coordinate_sizes(x)

    @cached_property
    def sizes(self) -> Vector:
        """Motions by which a coordinate moves by its size."""
        most = np.max(abs(self._Z) / self._lengths[:, None], axis=0)
        return np.asarray(np.divide(1.0, most, out=np.ones(most.size), where=most > 0))

    def at(self, zeta: Vector) -> Self:
        """Return the place of other coordinates."""
        return replace(self, zeta=zeta)

    def step(self, w: Vector) -> Vector:
        """Return coordinates after unit time at velocities w, whatever constraints say."""
        steps = max(1, ceil(np.max(abs(w) / self.sizes, initial=0.0) / STRIDE))
        zeta, Z = self.zeta, self._mechanics.Z
        for _ in range(min(steps, 200)):
            a = Z(zeta) @ w / steps
            b = Z(zeta + a / 2) @ w / steps
            c = Z(zeta + b / 2) @ w / steps
            zeta = zeta + (a + 2 * b + 2 * c + Z(zeta + c) @ w / steps) / 6
        return zeta

    @property
    def light(self) -> Vector:
        """How far each motion goes to close constraints, compared with others; (k,)."""
        return self.sizes

    def gaps(self) -> Vector:
        """Return by how much constraints are open, those of the first rows of K."""
        return self.g(self.zeta)

    def moved(self, w: Vector) -> Self | None:
        """Return the place after unit time at velocities w, constraints closed."""
        there = self.at(self.step(w))
        for _ in range(CLOSINGS):
            if not np.all(np.isfinite(there.zeta)):
                return None
            gap = there.gaps()
            K = dense(there.rows())[: gap.size]
            if np.all(abs(gap) <= CLOSED * np.linalg.norm(K * self.sizes, axis=1)):
                return there
            closing = shortest_solution(K * self.light, -gap)
            there = self.at(there.step(self.light * closing))
        return None

    def difference(self, zeta: Vector) -> Vector:
        """Return the motion that leads from here to other coordinates nearby; (k,)."""
        return np.asarray(np.linalg.lstsq(self._Z, zeta - self.zeta)[0])

    def nearest(self) -> Self | None:
        """Return the nearest place with constraints closed; None: they stay open."""
        return self.moved(np.zeros(self._mechanics.k))

    @property
    def angles(self) -> dict[str, float]:
        """Angles of joints, counted over turns [rad], by name."""
        return {}

    # -- what acts ----------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> Vector:
        """Inputs, with those filled in that depend on the place; (inputs,)."""
        none = np.zeros(self._mechanics.k)
        return self._mechanics.feedback(self.t, self.zeta, none, self.u)

    def forces(self) -> tuple[Vector, Vector]:
        """Return Z^T grad V - B u, and the sizes of its terms."""
        dV, push = self._mechanics.dV(self.zeta), self._mechanics.B(self.zeta) @ self.inputs
        return np.asarray(self._Z.T @ dV - push), np.asarray(abs(self._Z.T) @ abs(dV) + abs(push))

    def rows(self) -> Matrix:
        """Return K."""
        return self._mechanics.K(self.zeta)

    def stiffness(self, lam: Vector) -> tuple[Array, Array]:
        """Return the derivative of Z^T grad V + K^T lam - B u along motions."""
        of, zeta, Z = self._mechanics, self.zeta, self._Z
        ddV, dB = of.ddV(zeta), of.dB(zeta, self.inputs)
        bent = of.Z_back(zeta, of.dV(zeta))
        terms = [np.zeros((of.k, of.n)) if bent is None else dense(bent)]
        terms += [] if ddV is None else [Z.T @ dense(ddV)]
        terms += [] if dB is None else [-dense(dB)]
        terms += [dense(of.curvature(zeta, lam))] if of.m else []
        return np.sum(terms, axis=0) @ Z, np.sum(np.abs(terms), axis=0) @ abs(Z)

    def smallest(self, lam: Vector) -> Vector:
        """Return the multipliers to show, of those that act alike."""
        return lam

    def masses(self) -> Array:
        """Return the mass matrix."""
        if isinstance(self.system, LagrangianForm):
            return dense(self.system.lagrangian.M(self.zeta))
        if isinstance(self.system, RedundantSystem):
            return dense(self.system.laws.M)
        return np.eye(self._mechanics.k)

    def work(self, there: Self, w: Vector) -> float:
        """Return what the energy grows by, less the work of inputs at the mean of both ends."""
        stored = self._mechanics.V(there.zeta) - self._mechanics.V(self.zeta)
        push = (self._mechanics.B(at.zeta) @ at.inputs for at in (self, there))
        return float(stored - sum(push) @ w / 2)
