"""Inputs over time: constants, tables and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Array

#: A function of time [s].
Signal: TypeAlias = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant input."""

    value: Array

    def __call__(self, t: float) -> Array:
        """Return the value."""
        return self.value

    def over(self, times: Array) -> Array:
        """Return the value at many times; shape (times, size)."""
        return np.tile(np.atleast_1d(self.value), (times.size, 1))


class Table:
    """A tabulated input: linear between its times, constant before the first and after the last.

    Parameters
    ----------
    times : (k,)
        Times [s], increasing.
    values : (k,) or (k, size)
        Values at these times, in the unit of the port.
    """

    def __init__(self, times: ArrayLike, values: ArrayLike) -> None:
        try:
            self.times = np.array(times, dtype=float)
            self.values = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                f"Table: times and values must be numbers, got {times!r}, {values!r}"
            ) from None
        shape = self.values.shape
        if self.times.ndim != 1 or len(shape) not in (1, 2) or shape[0] != self.times.size:
            raise InputError(
                f"Table: {self.times.shape} times and {shape} values; give one value for each time"
            )
        if not self.times.size or not np.all(np.isfinite(self.times)):
            raise InputError("Table: give at least one time, all of them finite")
        if np.any(np.diff(self.times) <= 0):
            later = int(np.argmax(np.diff(self.times) <= 0)) + 1
            raise InputError(
                f"Table: times must increase; {self.times[later]:g} s follows "
                f"{self.times[later - 1]:g} s"
            )
        if not np.all(np.isfinite(self.values)):
            raise InputError("Table: values must be finite")

    def __call__(self, t: float) -> Array:
        """Return the input at time t [s]; shape (size,)."""
        return self.over(np.array([t])).reshape(-1)

    def over(self, times: Array) -> Array:
        """Return the input at many times [s]; shape (times, size)."""
        columns = self.values.reshape(self.times.size, -1).T
        return np.column_stack([np.interp(times, self.times, column) for column in columns])


def as_signal(value: Signal | ArrayLike) -> Signal:
    """Return a signal for a function of time, a formula in t, or a constant.

    A vector may be given by several formulas and numbers.
    """
    if callable(value):
        return value
    if isinstance(value, str):
        return Formula(value)
    if isinstance(value, list | tuple) and any(isinstance(each, str) for each in value):
        return Formula([each if isinstance(each, str) else f"{each!r}" for each in value])
    try:
        constant = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"expected a signal (a function of time, a formula in t, or numbers), got {value!r}"
        ) from None
    return Constant(constant)
