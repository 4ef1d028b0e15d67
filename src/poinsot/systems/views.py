"""How the states of a mechanism become directors, whatever its coordinates are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.forms import WIDTH
from poinsot.systems.mechanism import Mechanism

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View(ABC):
    """Reads states x = (one part after the other, each of all bodies, then multipliers).

    Arrays x (states, columns) hold some bodies only, in the columns that `columns` gives; what is
    read of them has shape (states, bodies, ...).

    Parameters
    ----------
    mechanism : Mechanism
        The constraints that these coordinates do not keep by themselves, in directors.
    widths : tuple of int
        How many numbers of a body each part has.
    joints : int
        Where the multipliers of the joints begin in x.
    """

    mechanism: Mechanism
    widths: tuple[int, ...]
    joints: int

    @property
    def bodies(self) -> Indices:
        """All bodies."""
        return np.arange(self.mechanism.n // WIDTH)

    def columns(self, bodies: Indices) -> Indices:
        """Return where the motion of these bodies is in x."""
        starts = self.bodies.size * np.cumsum([0, *self.widths[:-1]])
        parts = zip(starts, self.widths, strict=True)
        places = [first + width * bodies[:, None] + np.arange(width) for first, width in parts]
        return np.concatenate([place.reshape(-1) for place in places])

    def split(self, x: Array, bodies: Indices) -> list[Array]:
        """Return the parts; (states, bodies, width) each."""
        ends = bodies.size * np.cumsum(self.widths[:-1])
        parts = zip(np.split(x, ends, axis=1), self.widths, strict=True)
        return [part.reshape(len(x), bodies.size, width) for part, width in parts]

    @abstractmethod
    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return (phi, d1, d2, d3); (states, bodies, 4, 3)."""

    @abstractmethod
    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return their velocities; (states, bodies, 4, 3)."""

    @abstractmethod
    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return linear and angular momentum of all bodies, the latter about their centres."""

    @abstractmethod
    def kinetic(self, x: Array) -> Array:
        """Return the kinetic energy of all bodies [J]; (states,)."""

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return by how much coordinates and velocities are none of a rigid body; (states, ...)."""
        none = np.zeros((len(x), 0))
        return none, none

    def over_steps(
        self, means: Array, ends: Array, h: Array, bodies: Indices
    ) -> tuple[Array, Array]:
        """Return mean directors over steps, on which joints act, and the velocities there.

        What directors move by over the step is their velocity; positions, which may be far away,
        have the mean of both ends.
        """
        starts = 2 * means - ends
        q0, q1 = (self.directors(x, bodies) for x in (starts, ends))
        v0, v1 = (self.rates(x, bodies)[:, :, 0] for x in (starts, ends))
        moved = (q1 - q0) / h[:, None, None, None]
        moved[:, :, 0] = (v0 + v1) / 2
        return (q0 + q1) / 2, moved


@dataclass(frozen=True, eq=False)
class DirectorView(View):
    """States in directors, x = (q, v, multipliers)."""

    @classmethod
    def of(cls, mechanism: Mechanism) -> "DirectorView":
        """Return the view of a mechanism."""
        return cls(mechanism, (WIDTH, WIDTH), 2 * mechanism.n + mechanism.rigid)

    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return q."""
        return self.split(x, bodies)[0].reshape(len(x), bodies.size, 4, 3)

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return v."""
        return self.split(x, bodies)[1].reshape(len(x), bodies.size, 4, 3)

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return m phi' and the sum of d_i x E_i d_i'."""
        d, v = self.directors(x, self.bodies), self.rates(x, self.bodies)
        p = self.mechanism.mass.reshape(-1, 4, 3) * v
        return p[:, :, 0], np.cross(d[:, :, 1:], p[:, :, 1:]).sum(axis=2)

    def kinetic(self, x: Array) -> Array:
        """Return v·M v / 2."""
        return np.asarray(x[:, self.mechanism.n :] ** 2 @ self.mechanism.mass / 2)

    def over_steps(
        self, means: Array, ends: Array, h: Array, bodies: Indices
    ) -> tuple[Array, Array]:
        """Return q and v in the middle, which are such means."""
        return self.directors(means, bodies), self.rates(means, bodies)
