"""The history of a mechanism in other coordinates, read in directors."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.integrate.history import Columns, History, Indices
from poinsot.mechanics.bodies import RIGIDITY
from poinsot.mechanics.forms import WIDTH

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class View(ABC):
    """What makes directors of states x = (coordinates, ..., multipliers), joints' ones last.

    `coordinates` and `motion` are how many columns there are of coordinates, and before all
    multipliers; `n` in all, of `bodies` bodies and joints with `joints` multipliers.
    """

    bodies: int
    joints: int
    coordinates: int
    motion: int
    n: int

    @abstractmethod
    def directors(self, q: Array) -> Array:
        """Return director coordinates of many states; (states, 12 bodies)."""

    @abstractmethod
    def rates(self, x: Array) -> Array:
        """Return their velocities, of states without multipliers; (states, 12 bodies)."""


@dataclass(frozen=True, eq=False)
class InDirectors(History):
    """A history read as (q, v, lambda) in directors; multipliers of rigidity are zero.

    At midpoints the directors are the means of both ends, on which joints act, and their velocities
    what they move by over the step.
    """

    view: View | None = None
    inner: History | None = None

    @classmethod
    def of(cls, view: View, history: History) -> "InDirectors":
        """Return the same history in directors."""
        known = {field.name: getattr(history, field.name) for field in fields(history)}
        return cls(**known, view=view, inner=history)

    @property
    def _known(self) -> tuple[View, History]:
        assert self.view is not None
        assert self.inner is not None
        return self.view, self.inner

    @cached_property
    def start(self) -> Array:
        """The state in which the run began, in directors."""
        view, inner = self._known
        return np.asarray(self._translated(inner.start[None, : view.motion])[0])

    @cached_property
    def _places(self) -> Indices:
        view, _ = self._known
        return np.full(self._first_joint + view.joints, -1, dtype=np.intp)

    @property
    def _first_joint(self) -> int:
        """Where multipliers of joints begin, in directors."""
        view, _ = self._known
        return (2 * WIDTH + RIGIDITY) * view.bodies

    def rows(self, name: str, start: int, stop: int, columns: Columns) -> Array:
        """Return some columns, in directors; multipliers are read only if they are wanted."""
        view, inner = self._known
        wanted = np.arange(self._places.size)[columns]
        motion = inner.rows(name, start, stop, slice(0, view.motion))
        translated = self._translated(motion)
        if name == "stage_x":
            ends = inner.rows("x", start, stop, slice(0, view.motion))
            half = self.table.rows("time", start, stop) - self.table.rows("stage_time", start, stop)
            translated[:, : 2 * WIDTH * view.bodies] = self._over_steps(motion, ends, half)
        if np.all(wanted < self._first_joint):
            return np.asarray(translated[:, wanted])
        joints = inner.rows(name, start, stop, slice(view.n - view.joints, None))
        return np.asarray(np.hstack([translated, joints])[:, wanted])

    def _translated(self, x: Array) -> Array:
        """Return rows without multipliers of joints in directors."""
        view, _ = self._known
        rigidity = np.zeros((len(x), RIGIDITY * view.bodies))
        return np.hstack([view.directors(x[:, : view.coordinates]), view.rates(x), rigidity])

    def _over_steps(self, means: Array, ends: Array, half: Array) -> Array:
        """Return mean directors over steps, and the velocities that they have there.

        What directors move by over the step is their velocity; positions, which may be far away,
        have the mean of both ends.
        """
        view, _ = self._known
        starts = 2 * means - ends
        shape = (len(means), view.bodies, 4, 3)
        q0, q1 = (view.directors(x[:, : view.coordinates]).reshape(shape) for x in (starts, ends))
        moved = (q1 - q0) / (2 * half[:, None, None, None])
        velocities = (view.rates(starts) + view.rates(ends)).reshape(shape) / 2
        moved[:, :, 0] = velocities[:, :, 0]
        flat = (len(means), WIDTH * view.bodies)
        return np.hstack([((q0 + q1) / 2).reshape(flat), moved.reshape(flat)])
