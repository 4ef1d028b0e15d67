"""Campbell diagrams: eigenfrequencies over the speed of a steady motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.analysis.eigenmodes import modes
from poinsot.errors import InputError
from poinsot.inputs import count as checked_count
from poinsot.inputs import numbers
from poinsot.ph.matrices import Array

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Campbell:
    """Eigenvalues over speed; each column follows one mode, even where frequencies cross.

    Attributes
    ----------
    speeds : (speeds,)
        Speeds, usually in rad/s.
    eigenvalues : (speeds, modes)
        Eigenvalues of oscillations [1/s]; NaN where a mode does not oscillate.
    """

    speeds: Array
    eigenvalues: Complex

    @property
    def frequencies(self) -> Array:
        """Damped eigenfrequencies, imaginary parts of the eigenvalues [rad/s]; (speeds, modes)."""
        return np.asarray(self.eigenvalues.imag)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios -Re(s) / abs(s) of the eigenvalues s; (speeds, modes)."""
        return np.asarray(-self.eigenvalues.real / abs(self.eigenvalues)) + 0.0

    def critical_speeds(self, order: float = 1.0) -> Array:
        """Return the speeds at which a frequency is a given multiple of the speed."""
        found = []
        for line in self.frequencies.T:
            gap = line - order * self.speeds
            for k in np.flatnonzero(gap[:-1] * gap[1:] < 0):
                share = gap[k] / (gap[k] - gap[k + 1])
                found.append(self.speeds[k] + share * (self.speeds[k + 1] - self.speeds[k]))
            found += list(self.speeds[(gap == 0) & (self.speeds != 0)])
        return np.sort(np.array(found, dtype=float))


def campbell(
    motion: Callable[[float], Any],
    speeds: ArrayLike,
    *,
    system: Any = None,
    count: int | None = None,
    coordinates: str | None = None,
) -> Campbell:
    """Return the eigenvalues of a rotor, or of any steady motion, over its speed.

    Parameters
    ----------
    motion : callable
        speed -> the model or system that starts in steady motion at this speed; or, with `system`,
        its state in steady motion, as in `linearise`.
    speeds : (speeds,)
        Speeds, ascending or descending.
    system : Model or PHSystem
        The system, if it is the same for all speeds.
    count : int
        Number of modes, slowest first. Default: all.
    coordinates : str
        See `linearise`.
    """
    if not callable(motion):
        raise InputError(f"campbell: motion is {motion!r}; give a function of the speed")
    if count is not None:
        checked_count(count, "campbell: count", 1)
    given = np.atleast_1d(numbers(speeds, "campbell: speeds")).reshape(-1)
    if not given.size or not np.isfinite(given).all():
        raise InputError(f"campbell: speeds: expected finite numbers [rad/s], got {speeds!r}")
    lines = []
    for speed in given:
        there = motion(float(speed))
        if system is None:
            found = modes(there, coordinates=coordinates)
        else:
            found = modes(system, at=there, coordinates=coordinates)
        lines.append(found.eigenvalues[found.eigenvalues.imag > 0])
    return Campbell(given, _followed(lines)[:, :count])


def _followed(lines: list[Complex]) -> Complex:
    """Return eigenvalues with one mode per column, by extrapolation from the last two speeds."""
    from scipy.optimize import linear_sum_assignment

    width = max((line.size for line in lines), default=0)
    table = np.full((len(lines), width), complex(np.nan, np.nan))
    for k, line in enumerate(lines):
        if k == 0:
            table[0, : line.size] = line[np.argsort(line.imag)]
            continue
        guess = table[k - 1]
        if k > 1:
            ahead = 2 * table[k - 1] - table[k - 2]
            guess = np.where(np.isnan(ahead), guess, ahead)
        cost = abs(guess[:, None] - line)
        # A mode that was not there goes to a column that is free.
        cost = np.where(np.isnan(cost), 1e3 * np.max(abs(line), initial=1.0), cost)
        columns, order = linear_sum_assignment(cost)
        table[k, columns] = line[order]
    return table
