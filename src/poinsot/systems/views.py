"""Conversion of the states of a mechanism to directors, for all coordinates."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import POSITION, Unknowns
from poinsot.frames.parametrisations import Parametrisation
from poinsot.ph.matrices import each_times
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
        The constraints that these coordinates do not keep by themselves, on frames.
    parts : tuple of Unknowns
        What each part holds of the bodies.
    joints : int
        Where the multipliers of the joints begin in x.
    parametrisation : Parametrisation
        How the first part, (phi, theta) of every body, describes rotations.
    general : bool
        Whether time steps are those of any system: equations hold at the midpoints of states.
    """

    mechanism: Mechanism
    parts: tuple[Unknowns, ...]
    joints: int
    parametrisation: Parametrisation
    general: bool = field(default=False, kw_only=True)

    @property
    def bodies(self) -> Indices:
        """All bodies."""
        return np.arange(len(self.mechanism.inertia))

    @property
    def motion(self) -> int:
        """How many columns of x are those of motion, which come first."""
        return sum(part.n for part in self.parts)

    @property
    def stores(self) -> dict[str, Callable[[Array], Array]]:
        """Energies of bodies besides kinetic ones and gravity [J], by name."""
        return {}

    def lowered(self, x: Array) -> Array | float:
        """Return the energy of gravity besides that of frames [J]; (states,)."""
        return 0.0

    def deformation(self, x: Array, body: int) -> Array:
        """Return the elastic coordinates of a body, of all columns; (states, n). Rigid: none."""
        return np.zeros((len(x), 0))

    @property
    def freedoms(self) -> int:
        """How many degrees of freedom bodies have without joints."""
        return int(np.sum(np.where(self.parts[0].turns, 6, 3)))

    def sizes(self, lengths: Array) -> Array:
        """Return the sizes of coordinates: lengths [m] (bodies,) of positions, 1 for the rest."""
        unknowns = self.parts[0]
        sizes = np.ones((lengths.size, unknowns.width))
        sizes[:, :POSITION] = lengths[:, None]
        return unknowns.own(sizes.reshape(-1))

    def columns(self, bodies: Indices) -> Indices:
        """Return where the motion of these bodies is in x."""
        starts = np.cumsum([0, *(part.n for part in self.parts[:-1])])
        parts = zip(starts, self.parts, strict=True)
        return np.concatenate([first + part.columns(bodies) for first, part in parts])

    def split(self, x: Array, bodies: Indices) -> list[Array]:
        """Return the parts, with what bodies have that do not turn; (states, bodies, width)."""
        known = [part.only(bodies) for part in self.parts]
        pieces = np.split(x, np.cumsum([part.n for part in known[:-1]]), axis=1)
        return [
            part.full(piece[:, : part.n]).reshape(len(x), bodies.size, part.width)
            for part, piece in zip(known, pieces, strict=True)
        ]

    def directors(self, x: Array, bodies: Indices) -> Array:
        """Return (phi, d1, d2, d3); (states, bodies, 4, 3)."""
        zeta = self.split(x, bodies)[0]
        return blocks(zeta[:, :, :3], self.parametrisation.directors(zeta[:, :, 3:]))

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
        have the mean of both ends. In `general` steps both are what coordinates move by.
        """
        if self.general:
            return self._at_midpoints(means, ends, h, bodies)
        starts = 2 * means - ends
        q0, q1 = (self.directors(x, bodies) for x in (starts, ends))
        v0, v1 = (self.rates(x, bodies)[:, :, 0] for x in (starts, ends))
        moved = (q1 - q0) / h[:, None, None, None]
        moved[:, :, 0] = (v0 + v1) / 2
        return (q0 + q1) / 2, moved

    def _at_midpoints(
        self, means: Array, ends: Array, h: Array, bodies: Indices
    ) -> tuple[Array, Array]:
        """Return directors d(theta) at the mean of theta, and d' = (dd/dtheta) theta' there."""
        zeta, end = (self.split(x, bodies)[0] for x in (means, ends))
        moved = 2 * (end - zeta) / h[:, None, None]
        slopes = self.parametrisation.slopes(zeta[:, :, 3:])
        turned = np.einsum("tnka,tna->tnk", slopes, moved[:, :, 3:])
        return self.directors(means, bodies), blocks(moved[:, :, :3], turned)


@dataclass(frozen=True, eq=False)
class DirectorView(View):
    """States in directors, x = (q, v, multipliers)."""

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return v."""
        return self.split(x, bodies)[1].reshape(len(x), bodies.size, 4, 3)

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return m phi' and the sum of d_i x E_i d_i'."""
        d, v = self.directors(x, self.bodies), self.rates(x, self.bodies)
        p = self.mechanism.inertia[:, :, None] * v
        return p[:, :, 0], np.cross(d[:, :, 1:], p[:, :, 1:]).sum(axis=2)

    def kinetic(self, x: Array) -> Array:
        """Return v·M v / 2."""
        own = self.parts[0]
        return each_times(x[:, own.n : 2 * own.n] ** 2, own.own(self.mechanism.mass)) / 2

    def over_steps(
        self, means: Array, ends: Array, h: Array, bodies: Indices
    ) -> tuple[Array, Array]:
        """Return q and v in the middle, which are such means."""
        return self.directors(means, bodies), self.rates(means, bodies)


def blocks(phi: Array, turned: Array) -> Array:
    """Return vectors of the centre and of the directors; (states, bodies, 4, 3)."""
    return np.concatenate([phi, turned], axis=2).reshape(*phi.shape[:2], 4, 3)
