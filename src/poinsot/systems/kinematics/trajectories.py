"""Prescribed coordinates over time with both derivatives: formulas, tables, functions."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from poinsot.errors import InputError
from poinsot.ph.derivatives import slope_by
from poinsot.ph.formulas import Formula, Slope
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.motions import Prescribed
from poinsot.ph.signals import Constant, Signal, Table

#: Sixth-order central difference: f'' = (c_0 f(x) + sum_k c_k (f(x + k s) + f(x - k s))) / s^2.
SECOND = (-49 / 18, 3 / 2, -3 / 20, 1 / 90)
#: The longest step of differences is this part of the motion; others are shorter by a factor each.
LONGEST, SHORTER, LENGTHS = 1 / 16, 1 / 2, 12
#: A table of a motion has so many points at least.
POINTS = 4


class Trajectory(Prescribed):
    """A coordinate chi(t) [rad or m] with its rate and its acceleration."""

    holds = True

    @abstractmethod
    def at(self, t: float) -> tuple[float, float, float]:
        """Return chi, its rate and its acceleration at time t [s]."""

    def over(self, times: Array) -> Array:
        """Return the rate at many times; (times, 1)."""
        return np.array([[self.at(t)[1]] for t in times.tolist()])

    def mean(self, times: Array) -> Array:
        """Return differences of the coordinate; (steps, 1)."""
        return np.diff(self.positions(times))[:, None] / np.diff(times)[:, None]

    def positions(self, times: Array) -> Array:
        """Return the coordinate; (times,)."""
        return np.array([self.at(t)[0] for t in times.tolist()])


@dataclass(frozen=True, eq=False)
class Held(Trajectory):
    """A coordinate that stays where it is."""

    value: float

    def at(self, t: float) -> tuple[float, float, float]:
        """Return the value."""
        return self.value, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class ByFormula(Trajectory):
    """A formula of t and its derivatives, which are exact."""

    formula: Formula
    rate: Slope
    acceleration: Slope

    @classmethod
    def of(cls, formula: Formula) -> "ByFormula":
        """Return a formula with its derivatives."""
        rate = formula.slope()
        return cls(formula, rate, rate.slope())

    def at(self, t: float) -> tuple[float, float, float]:
        """Return the formula and its derivatives."""
        return float(np.asarray(self.formula(t))), self.rate(t), self.acceleration(t)


@dataclass(frozen=True, eq=False)
class ByTable(Trajectory):
    """A cubic spline through the points of a table, constant rates beyond its ends."""

    spline: CubicSpline

    def at(self, t: float) -> tuple[float, float, float]:
        """Return the spline and its derivatives."""
        first, last = float(self.spline.x[0]), float(self.spline.x[-1])
        inside = min(max(t, first), last)
        chi, rate, bend = (float(self.spline(inside, k)) for k in range(3))
        return chi + rate * (t - inside), rate, bend if t == inside else 0.0


@dataclass(frozen=True, eq=False)
class ByFunctions(Trajectory):
    """Functions of time for chi, its rate and its acceleration."""

    functions: tuple[Signal, Signal, Signal]

    def at(self, t: float) -> tuple[float, float, float]:
        """Return what the functions give."""
        chi, rate, bend = (_number(f, t) for f in self.functions)
        return chi, rate, bend


@dataclass(frozen=True, eq=False)
class ByDifferences(Trajectory):
    """A function of time; derivatives by central differences, over steps that suit each other.

    Of many lengths of a step that is taken with which the next one differs least: longer ones
    have a larger remainder, and shorter ones more round-off. `span` [s] is how long the motion is.
    """

    function: Signal
    span: float

    def at(self, t: float) -> tuple[float, float, float]:
        """Return the function and its differences."""
        steps = self.span * LONGEST * SHORTER ** np.arange(LENGTHS)
        rates = [slope_by(self._value, t, step) for step in steps.tolist()]
        bends = [self._second(t, step) for step in steps.tolist()]
        return self._value(t), _steadiest(rates), _steadiest(bends)

    def _value(self, t: float) -> float:
        return _number(self.function, t)

    def _second(self, t: float, step: float) -> float:
        beside = [self._value(t + k * step) + self._value(t - k * step) for k in (1, 2, 3)]
        sums = zip(SECOND, [self._value(t), *beside], strict=True)
        return sum(c * each for c, each in sums) / step**2


def _steadiest(values: Sequence[float]) -> float:
    """Return the one of several values that differs least from the next."""
    return values[1 + int(np.argmin(abs(np.diff(values))))]


def _number(function: Callable[[float], Any], t: float) -> float:
    """Return what a function gives, one finite number."""
    found: Vector = np.asarray(function(t), dtype=float).reshape(-1)
    if found.size != 1 or not np.isfinite(found[0]):
        raise InputError(f"its motion is {found.tolist()} at t = {t:g} s, expected one number")
    return float(found[0])


def trajectory(value: Any, span: float, what: str) -> Trajectory:
    """Return the trajectory of a number, a formula, a table or functions; span [s] is its length.

    `what` it belongs to, for messages.
    """
    if isinstance(value, str):
        value = Formula(value)
    if isinstance(value, Trajectory):
        return value
    if isinstance(value, Constant):
        value = value.value
    if isinstance(value, Formula):
        if not value.is_of(1):
            raise InputError(f"{what}: expected one formula of t, got {value!r}")
        return ByFormula.of(value)
    if isinstance(value, Table):
        if value.values.size != value.times.size or value.times.size < POINTS:
            raise InputError(
                f"{what}: expected a table of one number at each time, for at least {POINTS} times"
            )
        return ByTable(CubicSpline(value.times, value.values.reshape(-1)))
    if isinstance(value, tuple | list) and len(value) == 3 and all(map(callable, value)):
        return ByFunctions((value[0], value[1], value[2]))
    if callable(value):
        return ByDifferences(value, span)
    try:
        number = np.asarray(value, dtype=float).reshape(())
    except (TypeError, ValueError):
        raise InputError(
            f"{what}: expected a number, a formula in t, a Table, a function of time, or three "
            f"functions for coordinate, rate and acceleration, got {value!r}"
        ) from None
    if not np.isfinite(number):
        raise InputError(f"{what}: {value!r} is not finite")
    return Held(float(number))
