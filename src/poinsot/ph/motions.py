"""Prescribed motions of drives: rates whose sums are positions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from poinsot.errors import InputError, failure
from poinsot.ph.derivatives import RELATIVE_STEP, slope_by
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Array
from poinsot.ph.signals import Constant, Signal, Table

#: Gauss' nodes in a step of length 1 and their weights: exact for rates of fifth order.
NODES = (np.array([-1.0, 0.0, 1.0]) * np.sqrt(0.6) + 1) / 2
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


class Prescribed(ABC):
    """The rate of a prescribed coordinate, a signal whose mean over each step is exact."""

    @abstractmethod
    def over(self, times: Array) -> Array:
        """Return the rate at many times [s]; shape (times, 1)."""

    @abstractmethod
    def mean(self, times: Array) -> Array:
        """Return the mean rate of every step between times [s]; shape (steps, 1)."""

    #: Whether the coordinate itself is prescribed, and not its rate alone.
    holds: bool
    #: Whether it never moves, as in a transmission, which nothing is put into.
    still: bool = False

    @abstractmethod
    def positions(self, times: Array) -> Array:
        """Return the coordinate at times [s], zero if only its rate is prescribed; (times,)."""

    def __call__(self, t: float) -> Array:
        """Return the rate at time t [s]; shape (1,)."""
        return self.over(np.array([t])).reshape(-1)


@dataclass(frozen=True, eq=False)
class ByPosition(Prescribed):
    """A prescribed coordinate theta(t); its mean rate is (theta(t1) - theta(t0)) / (t1 - t0).

    `rate` is its derivative at an instant, which only a start asks for; differences if None.
    """

    coordinate: Signal
    rate: Signal | None = None
    holds = True

    @property
    def still(self) -> bool:  # type: ignore[override]
        """Whether coordinate and rate are constant."""
        return isinstance(self.coordinate, Constant) and isinstance(self.rate, Constant)

    def over(self, times: Array) -> Array:
        """Return the derivative of the coordinate."""
        if self.rate is not None:
            return _values(self.rate, times)
        if isinstance(self.coordinate, Formula) and self.coordinate.is_of(1):
            slope = self.coordinate.slope()
            return np.array([[slope(t)] for t in times.tolist()])
        if isinstance(self.coordinate, Table):
            return _slopes(self.coordinate, times)
        steps = RELATIVE_STEP * np.maximum(1.0, abs(times))
        slopes = [slope_by(self._at, t, s) for t, s in zip(times.tolist(), steps, strict=True)]
        return np.array(slopes).reshape(-1, 1)

    def mean(self, times: Array) -> Array:
        """Return differences of the coordinate."""
        return np.diff(_values(self.coordinate, times), axis=0) / np.diff(times)[:, None]

    def positions(self, times: Array) -> Array:
        """Return the coordinate."""
        return _values(self.coordinate, times)[:, 0]

    def _at(self, t: float) -> float:
        return float(self.positions(np.array([t]))[0])


@dataclass(frozen=True, eq=False)
class ByRate(Prescribed):
    """A prescribed rate; its mean over a step by Gauss' rule of three nodes."""

    rate: Signal
    holds = False

    def over(self, times: Array) -> Array:
        """Return the rate."""
        return _values(self.rate, times)

    def mean(self, times: Array) -> Array:
        """Return its mean over every step."""
        if isinstance(self.rate, Constant):
            return _values(self.rate, times[1:])
        inside = times[:-1, None] + np.diff(times)[:, None] * NODES
        values = _values(self.rate, inside.reshape(-1)).reshape(inside.shape)
        return (values @ WEIGHTS)[:, None]

    def positions(self, times: Array) -> Array:
        """Return zeros."""
        return np.zeros(times.size)


def _values(signal: Signal, times: Array) -> Array:
    """Return a signal of one number at many times; shape (times, 1)."""
    if isinstance(signal, Constant | Table | Formula):
        values = signal.over(times)
    else:
        values = np.array([_value(signal, t) for t in times.tolist()])
    if values.size != times.size:
        raise InputError(
            f"a prescribed motion must be one number at each time; at t = {times[0]:g} s it is "
            f"{values[0].tolist()}"
        )
    return values.reshape(-1, 1)


def _value(signal: Signal, t: float) -> Array:
    """Return what a function gives at time t [s] as numbers."""
    try:
        return np.atleast_1d(np.asarray(signal(t), dtype=float))
    except Exception as error:
        said = f"a prescribed motion {failure(error)}, at t = {t:g} s"
        raise InputError(said) from error


def _slopes(table: Table, times: Array) -> Array:
    """Return the slopes of a table, those that follow at its own times; shape (times, 1)."""
    slopes = np.diff(table.values.reshape(-1)) / np.diff(table.times)
    slopes = np.concatenate([[0.0], slopes, [0.0]])
    return slopes[np.searchsorted(table.times, times, side="right")][:, None]
