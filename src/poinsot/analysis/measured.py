"""Channels as functions of states, and their derivatives by finite differences."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.linear_steps import COEFFICIENTS, STEP
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import counted
from poinsot.systems.measuring import Measurement

#: So many numbers of states are measured at once.
AT_ONCE = 2**20


class Measured:
    """Channels of states, with angles that follow from these.

    Parameters
    ----------
    measure : Measurement
        What is measured.
    """

    def __init__(self, measure: Measurement) -> None:
        self.measure = measure
        self.size = sum(channel.size for channel in measure.channels)
        self.known: NDArray[np.intp] | None = None
        #: Of each angle that is measured, its place among all, and what computes it.
        self.angles: list[tuple[int, Callable[[Array], Array]]] = []
        for channel in measure.channels:
            if channel.kind == "coordinate" and channel.unit == "rad":
                self.angles.append(measure.angle(channel))

    def __call__(self, x: Array, turned: Array) -> Array:
        """Return what is measured at states (k, n), whose angles are near these (k, angles)."""
        if self.angles:
            turned = turned.copy()
            for k, angle in self.angles:
                turned[:, k] = counted(angle(x), turned[:, k])
        return self.measure.over(x, turned)

    def back(self, slopes: Array, x: Array, turned: Array, sizes: Vector) -> Array:
        """Return what derivatives by what is measured are by the states; (k, n)."""
        found, some = np.zeros_like(x), np.any(slopes != 0, axis=1)
        if not some.any():
            return found
        x, turned, slopes = x[some], turned[some], slopes[some]
        own = self._columns(x[0], turned[0], sizes)
        if not own.size:
            return found
        parts = []
        for rows, seen, weights in self._near(x, turned, sizes, own):
            change = np.einsum("twc,tc->tw", seen, slopes[rows]) * weights
            parts.append(change.reshape(len(change), -1, own.size).sum(axis=1))
        found[np.ix_(some, own)] = np.concatenate(parts) / (STEP * sizes[own])
        return found

    def _near(
        self, x: Array, turned: Array, sizes: Vector, own: NDArray[np.intp]
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield what is seen around states, some of them at once, and the weights of it.

        Around each, its components `own` differ one after the other; (states, ways, size).
        """
        shifts = np.zeros((own.size, sizes.size))
        shifts[np.arange(own.size), own] = STEP * sizes[own]
        ways = np.concatenate([sign * k * shifts for k in (1, 2) for sign in (1, -1)])
        weights = np.concatenate(
            [np.tile(sign * c, own.size) for c in COEFFICIENTS for sign in (1, -1)]
        )
        together = max(1, AT_ONCE // (len(ways) * sizes.size))
        for first in range(0, len(x), together):
            rows = slice(first, first + together)
            there = (x[rows, None] + ways).reshape(-1, sizes.size)
            angles = np.repeat(turned[rows], len(ways), axis=0)
            yield rows, self(there, angles).reshape(-1, len(ways), self.size), weights

    def _columns(self, x: Vector, turned: Vector, sizes: Vector) -> NDArray[np.intp]:
        """Return the states that channels depend on, as seen from one that is nowhere special.

        Many change together, and sets of them that make a difference are divided.
        """
        if self.known is None:
            count, random = sizes.size, np.random.default_rng(0)
            about = x + 0.1 * sizes * random.standard_normal(count)
            changes = 0.1 * sizes * random.uniform(0.5, 1, count)
            here, found = self(about[None], turned[None]), [np.zeros(0, dtype=np.intp)]
            sets = [np.arange(count)]
            while sets:
                there = np.tile(about, (len(sets), 1))
                for row, own in zip(there, sets, strict=True):
                    row[own] += changes[own]
                differ = np.any(self(there, np.tile(turned, (len(sets), 1))) != here, axis=1)
                some = [own for own, other in zip(sets, differ, strict=True) if other]
                found += [own for own in some if own.size == 1]
                sets = [half for own in some if own.size > 1 for half in np.array_split(own, 2)]
            self.known = np.sort(np.concatenate(found))
        return self.known

    def forward(self, dx: Array, x: Array, turned: Array, sizes: Vector) -> Array:
        """Return the derivatives of what is measured by columns of dx (k, n, columns)."""
        count = dx.shape[2]
        slopes = np.zeros((len(x), self.size, count))
        # Differences go as far as they do for a state of its size.
        way = np.max(abs(dx) / sizes[:, None], axis=1)
        way = STEP / np.where(way > 0, way, 1.0)
        shift = np.swapaxes(way[:, None] * dx, 1, 2)
        together = max(1, AT_ONCE // max(1, count * sizes.size))
        for first in range(0, len(x), together):
            rows = slice(first, first + together)
            angles = np.repeat(turned[rows], count, axis=0)
            for k, c in enumerate(COEFFICIENTS, start=1):
                seen = [
                    self((x[rows, None] + sign * shift[rows]).reshape(-1, sizes.size), angles)
                    for sign in (k, -k)
                ]
                change = (seen[0] - seen[1]).reshape(-1, count, self.size)
                slopes[rows] += c * np.swapaxes(change, 1, 2) / way[rows, None]
        return slopes
