"""Minimal coordinates of the consistent states near a state."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from poinsot.errors import InputError
from poinsot.frames.places import frame_vectors
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.start import consistent_state
from poinsot.ph.system import PHSystem, zero_columns
from poinsot.so3 import log
from poinsot.systems.form import MechanismForm
from poinsot.systems.livens import LagrangianForm
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.frames import Framed, FramePlace
from poinsot.systems.statics.places import place_of, require_undriven, state_at
from poinsot.systems.statics.rest import Rest

#: Singular values that count as zero.
CUT = 1e-9


class Chart(ABC):
    """Numbers y of the states near a base: y = 0 is the base itself."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers there are."""

    @abstractmethod
    def state(self, y: Vector) -> Vector:
        """Return a consistent state, with these numbers to first order; (n,)."""

    @abstractmethod
    def numbers(self, x: Vector) -> Vector:
        """Return the numbers of a state; (size,)."""

    @abstractmethod
    def change(self, x: Vector) -> Vector:
        """Return all that is different in a state, in sizes.

        Far away it says more than numbers do: where a gear turns one body by a whole turn more,
        what the turns of both are along the free motion may vanish.
        """


@dataclass(frozen=True, eq=False)
class PlainChart(Chart):
    """States of any system: those parts of a change that equations do not forbid."""

    system: PHSystem
    base: Vector
    t: float

    @cached_property
    def _sizes(self) -> Vector:
        return self.system.sizes(self.base)

    @cached_property
    def _stored(self) -> np.ndarray:
        return np.flatnonzero(~zero_columns(self.system.E(self.base)))

    @cached_property
    def _free(self) -> Array:
        """A basis of the changes of stored states, in sizes, that algebraic equations leave."""
        system, x = self.system, self.base
        z, E = system.z(x), dense(system.E(x))
        dflow = system.dflow(x, z, system.u(self.t))
        A = dense(system.dflow_dz(x, z)) @ dense(system.dz(x))
        A = A if dflow is None else A + dense(dflow)
        rows = scipy.linalg.null_space(E.T, rcond=CUT).T @ A * self._sizes
        others = np.setdiff1d(np.arange(system.n), self._stored)
        # What the states without a derivative cannot make up for is forbidden.
        left = scipy.linalg.null_space(rows[:, others].T, rcond=CUT).T if others.size else rows
        held = left @ rows[:, self._stored] if others.size else rows[:, self._stored]
        if not held.size:
            return np.eye(self._stored.size)
        return np.asarray(scipy.linalg.null_space(held, rcond=CUT))

    @property
    def size(self) -> int:
        """Freedoms of the stored states."""
        return int(self._free.shape[1])

    def state(self, y: Vector) -> Vector:
        """Return the base with a change, made consistent."""
        x = self.base.copy()
        x[self._stored] += self._sizes[self._stored] * (self._free @ y)
        if self._stored.size == self.system.n:
            return x
        return consistent_state(self.system, x, self.t)

    def numbers(self, x: Vector) -> Vector:
        """Return the change of stored states along the basis."""
        return np.asarray(self._free.T @ self.change(x))

    def change(self, x: Vector) -> Vector:
        """Return the change of stored states."""
        return np.asarray(((x - self.base) / self._sizes)[self._stored])


@dataclass(frozen=True, eq=False)
class MovingChart(Chart):
    """States of a mechanical system: free motions, and velocities along them.

    Velocities are measured by a pace [1/s], sizes of motions per second.
    """

    system: MechanicalForm
    place: FramePlace | CoordinatePlace
    base: Vector
    pace: float

    @cached_property
    def _free(self) -> Array:
        """An orthonormal basis of free motions, in their sizes."""
        return np.linalg.qr(Rest(self.place).free)[0]

    @property
    def size(self) -> int:
        """Two for each degree of freedom."""
        return 2 * int(self._free.shape[1])

    @cached_property
    def _speeds(self) -> Vector:
        return self.velocities(self.base)

    @abstractmethod
    def velocities(self, x: Vector) -> Vector:
        """Return the velocities of a state; (k,)."""

    @abstractmethod
    def difference(self, x: Vector) -> Vector:
        """Return the motion that leads from the base to a state; (k,)."""

    def state(self, y: Vector) -> Vector:
        """Return the state after a motion, with velocities that suit constraints there."""
        along, faster = np.split(y, 2)
        D = self.place.sizes
        place = self.place.moved(D * (self._free @ along)) if along.any() else self.place
        if place is None:
            raise InputError(
                f"system '{self.system.name}': its constraints cannot be satisfied near the start, "
                "which is a singular position; start elsewhere"
            )
        wish = self._speeds / D + self.pace * (self._free @ faster)
        P = Rest(place).free
        # Along free motions there, in sizes of the base.
        there = P * (place.sizes / D)[:, None]
        speeds = D * (there @ np.linalg.lstsq(there, wish, rcond=None)[0])
        return state_at(self.system, place, speeds)

    def numbers(self, x: Vector) -> Vector:
        """Return motion and change of velocities along free motions."""
        return np.concatenate([self._free.T @ part for part in np.split(self.change(x), 2)])

    def change(self, x: Vector) -> Vector:
        """Return the whole motion and change of velocities."""
        D = self.place.sizes
        faster = (self.velocities(x) - self._speeds) / D / self.pace
        return np.concatenate([self.difference(x) / D, faster])


@dataclass(frozen=True, eq=False)
class FrameChart(MovingChart):
    """States of a mechanism."""

    system: Framed
    place: FramePlace

    def velocities(self, x: Vector) -> Vector:
        """Return twists in world axes."""
        view = self.system.view
        d = frame_vectors(self.system.directors(x))[:, 1:]
        rates = view.rates(x[None], view.bodies)[0]
        omega = np.cross(d, rates[:, 1:]).sum(axis=1) / 2
        return self.place.twists.own(np.stack([rates[:, 0], omega], axis=1).reshape(-1))

    def difference(self, x: Vector) -> Vector:
        """Return displacements, and turns as rotation vectors."""
        here, there = frame_vectors(self.place.f), frame_vectors(self.system.directors(x))
        R = np.swapaxes(there[:, 1:], 1, 2) @ here[:, 1:]
        moved = np.stack([there[:, 0] - here[:, 0], log(R)], axis=1)
        return self.place.twists.own(moved.reshape(-1))


@dataclass(frozen=True, eq=False)
class CoordinateChart(MovingChart):
    """States of a Lagrangian, of a redundant system, or with elastic bodies."""

    place: CoordinatePlace

    def velocities(self, x: Vector) -> Vector:
        """Return w."""
        if isinstance(self.system, LagrangianForm):
            return self.system.velocity(x)
        return self.system.parts(x)[1]

    def difference(self, x: Vector) -> Vector:
        """Return the motion that changes coordinates so."""
        return self.place.difference(self.system.parts(x)[0])


def chart_at(system: PHSystem, x: Vector, t: float, time: float) -> Chart:
    """Return the chart at a state; `time` [s] is one in which the system moves by its size."""
    if isinstance(system, MechanicalForm):
        require_undriven(system)
        place = place_of(system, x, t)
        if isinstance(place, CoordinatePlace):
            return CoordinateChart(system, place, x, 1 / time)
        assert isinstance(system, MechanismForm | QuaternionForm)
        return FrameChart(system, place, x, 1 / time)
    return PlainChart(system, x, t)
