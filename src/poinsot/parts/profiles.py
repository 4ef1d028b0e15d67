"""Profiles of cams, f(chi), with two derivatives.

A table is interpolated by a cubic spline. Over a step a cam has the mean slope (f(chi1) - f(chi0))
/ dchi, so that the follower ends on the profile.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import floor, tau
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import CubicSpline

from poinsot.errors import InputError
from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import call_at
from poinsot.kernels.tables import Addresses, Index2, Real1, Real2
from poinsot.ph.formulas import Formula
from poinsot.ph.signals import Table

#: An increment of a coordinate below this is so small that the mean slope is that in its middle.
SMALL = 1e-6
#: Two ends of a table that are as close as this, as a part of its values, are the same.
CLOSED = 1e-9
#: Value, slope and second derivative.
Values: TypeAlias = tuple[float, float, float]


class Profile(ABC):
    """A function of one coordinate, smooth enough to have two derivatives."""

    @abstractmethod
    def __call__(self, chi: float) -> float:
        """Return f."""

    @abstractmethod
    def slope(self, chi: float) -> float:
        """Return df/dchi."""

    @abstractmethod
    def bend(self, chi: float) -> float:
        """Return d^2f/dchi^2."""

    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return the mean slope over an increment, and its derivative by the end of it."""
        if abs(dchi) < SMALL:
            middle = chi + dchi / 2
            return self.slope(middle), self.bend(middle) / 2
        end = chi + dchi
        mean = (self(end) - self(chi)) / dchi
        return mean, (self.slope(end) - mean) / dchi


@dataclass(frozen=True, eq=False)
class ByFormula(Profile):
    """A formula of the cam's coordinate."""

    formula: Formula
    _slope: Callable[[float], float]
    _bend: Callable[[float], float]

    @classmethod
    def of(cls, formula: Formula) -> "ByFormula":
        """Return a formula with its derivatives."""
        slope = formula.slope()
        return cls(formula, slope, slope.slope())

    def __call__(self, chi: float) -> float:
        """Return f."""
        return float(np.asarray(self.formula(chi)).reshape(()))

    def slope(self, chi: float) -> float:
        """Return df/dchi."""
        return self._slope(chi)

    def bend(self, chi: float) -> float:
        """Return d^2f/dchi^2."""
        return self._bend(chi)


@dataclass(frozen=True, eq=False)
class Spline(Profile):
    """A cubic spline: knots and coefficients c0 + c1 x + c2 x^2 + c3 x^3 beyond each; (k, 5).

    It repeats itself with a `period`; without one (0) it goes on straight beyond both ends.
    """

    rows: Real2
    period: float

    @classmethod
    def of(cls, table: Table, *, turns: bool) -> "Spline":
        """Return a spline of a table; one of a whole turn of a cam that `turns` repeats itself."""
        x, y = table.times, table.values.reshape(-1)
        whole = turns and abs(x[-1] - x[0] - tau) <= CLOSED * tau
        closed = whole and abs(y[-1] - y[0]) <= CLOSED * (np.ptp(y) or 1.0)
        if closed:
            x, y = np.append(x[:-1], x[0] + tau), np.append(y[:-1], y[0])
        spline = CubicSpline(x, y, bc_type="periodic" if closed else "natural")
        inside = np.column_stack([x[:-1], spline.c[::-1].T])
        if closed:
            return cls(np.ascontiguousarray(inside), tau)
        before = [x[0], y[0], float(spline(x[0], 1)), 0.0, 0.0]
        after = [x[-1], y[-1], float(spline(x[-1], 1)), 0.0, 0.0]
        return cls(np.vstack([before, inside, after]), 0.0)

    def at(self, chi: float) -> Values:
        """Return f and both derivatives."""
        return spline_at(self.rows, 0, len(self.rows), self.period, chi)

    def __call__(self, chi: float) -> float:
        """Return f."""
        return self.at(chi)[0]

    def slope(self, chi: float) -> float:
        """Return df/dchi."""
        return self.at(chi)[1]

    def bend(self, chi: float) -> float:
        """Return d^2f/dchi^2."""
        return self.at(chi)[2]


def profile_of(value: Formula | Table, what: str, *, turns: bool) -> Profile:
    """Return the profile of a formula or a table."""
    if isinstance(value, Formula):
        return ByFormula.of(value)
    if value.times.size < 3:
        raise InputError(f"{what}: the table of a profile needs at least three points")
    return Spline.of(value, turns=turns)


# -- in the compiled engine ------------------------------------------------------------------------

#: Columns: the first row of a spline and the one after its last, both 0 if there is none.
FIRST_ROW, LAST_ROW = 0, 1


class Profiles(NamedTuple):
    """Profiles of terms: rows of all splines, their `places` and periods; or laws, 0 for none."""

    rows: Real2
    places: Index2
    periods: Real1
    laws: Addresses


@inline
def spline_at(rows: Array, first: int, last: int, period: float, chi: float) -> Values:
    """Return a spline and both derivatives, by the rows from `first` to before `last`."""
    if period > 0.0:
        chi = chi - period * floor((chi - rows[first, 0]) / period)
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if rows[middle, 0] <= chi:
            low = middle
        else:
            high = middle
    x, c1, c2, c3 = chi - rows[low, 0], rows[low, 2], rows[low, 3], rows[low, 4]
    return (
        rows[low, 1] + x * (c1 + x * (c2 + x * c3)),
        c1 + x * (2.0 * c2 + x * 3.0 * c3),
        2.0 * c2 + x * 6.0 * c3,
    )


@kernel
def profile_at(profiles: Profiles, k: int, chi: float, given: Array, found: Array) -> Values:
    """Return f and both derivatives of term k, which is its coordinate where it has no profile."""
    first, last = profiles.places[k, FIRST_ROW], profiles.places[k, LAST_ROW]
    if last > first:
        return spline_at(profiles.rows, first, last, profiles.periods[k], chi)
    if profiles.laws[k] != 0:
        given[0] = chi
        call_at(profiles.laws[k], given.ctypes.data, found.ctypes.data, 0)
        return found[0], found[1], found[2]
    return chi, 1.0, 0.0


@kernel
def profile_mean(
    profiles: Profiles, k: int, chi: float, dchi: float, given: Array, found: Array
) -> tuple[float, float]:
    """Return the mean slope of term k over an increment, and its derivative by the end of it."""
    if profiles.laws[k] == 0 and profiles.places[k, LAST_ROW] == 0:
        return 1.0, 0.0
    if abs(dchi) < SMALL:
        _, slope, bend = profile_at(profiles, k, chi + 0.5 * dchi, given, found)
        return slope, 0.5 * bend
    start, _, _ = profile_at(profiles, k, chi, given, found)
    end, slope, _ = profile_at(profiles, k, chi + dchi, given, found)
    mean = (end - start) / dchi
    return mean, (slope - mean) / dchi
