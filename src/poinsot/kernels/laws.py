"""Laws that kernels cannot know: functions of Python, called by their address.

A law reads numbers at `given` and writes numbers to `found`: its values, after them their slopes
if they are wanted; or nothing but its energy. One that fails writes NaN, so that the step fails and
is taken again by the reference engine, which says what is wrong.
"""

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import isnan, nan
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel

#: What a law is asked for.
VALUES, SLOPES, ENERGY = 0, 1, 2

#: (numbers, what is wanted) -> as many numbers as that has.
Answer: TypeAlias = Callable[[list[float], int], Sequence[float]]

_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Law:
    """A Python function with an address; it lives as long as this object.

    It is given so many numbers, and answers with `values` of them, with `slopes` more, or with its
    energy alone. The places of its numbers are looked up once: kernels do not change them.
    """

    def __init__(self, function: Answer, given: int, values: int, slopes: int = 0) -> None:
        self.function: object = function
        self.sizes = given, max(1, values + slopes)
        counts = values, values + slopes, 1
        numbers, room = ctypes.c_double * given, ctypes.c_double * self.sizes[1]
        source_known, target_known = 0, 0
        source, target = numbers(), room()

        def call(source_at: int, target_at: int, wanted: int) -> None:
            nonlocal source_known, target_known, source, target
            if source_at != source_known or target_at != target_known:
                source, target = numbers.from_address(source_at), room.from_address(target_at)
                source_known, target_known = source_at, target_at
            try:
                target[: counts[wanted]] = function(source[:], wanted)  # type: ignore[call-overload]
            except BaseException:  # a law may raise KeyboardInterrupt, which must not get lost
                target[:] = [nan] * len(target)

        self._call = _SIGNATURE(call)

    @property
    def address(self) -> int:
        """Where the function is."""
        return int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)


class Remembering(ABC):
    """A law whose answers depend on what it was asked before: it can go back to a moment."""

    @property
    @abstractmethod
    def memory(self) -> NDArray[np.float64]:
        """A copy of all that its next answers depend on, always as many numbers."""

    @abstractmethod
    def restore(self, memory: NDArray[np.float64]) -> None:
        """Go back to where `memory` was taken."""


class KeepingSlopes(Remembering):
    """A law that keeps its slopes, so many, from step to step.

    The first number that it is given, the time of a step or where it begins, tells steps apart.
    Asked for slopes in another step it has the old ones ready: Newton's method converges with them
    almost as fast. Where it does not, it asks again in the same step, and they are found anew.
    """

    def __init__(
        self,
        value: Callable[[list[float]], list[float]],
        value_and_slope: Callable[[list[float]], tuple[list[float], list[float]]],
        slopes: int,
    ) -> None:
        self.value, self.value_and_slope, self.slopes = value, value_and_slope, slopes
        self._asked_at: float | None = None
        self._kept: list[float] = []

    def __call__(self, given: list[float], wanted: int) -> Sequence[float]:
        """Return the values, with slopes if they are wanted."""
        if wanted != SLOPES:
            return self.value(given)
        if self._asked_at is None or given[0] == self._asked_at:
            found, self._kept = self.value_and_slope(given)
        else:
            found = self.value(given)
        self._asked_at = given[0]
        return found + self._kept

    @property
    def memory(self) -> NDArray[np.float64]:
        """In which step slopes were asked for last, and these; NaN if they never were."""
        if self._asked_at is None:
            return np.full(1 + self.slopes, nan)
        return np.array([self._asked_at, *self._kept])

    def restore(self, memory: NDArray[np.float64]) -> None:
        """Go back to where `memory` was taken."""
        asked_at, *self._kept = memory.tolist()
        self._asked_at = None if isnan(asked_at) else asked_at


class Called(Protocol):
    """What kernels call by an address; it lives as long as this object."""

    @property
    def address(self) -> int:
        """Where it is."""
        ...

    @property
    def sizes(self) -> tuple[int, int]:
        """How many numbers it is given, and finds."""
        ...


def call_at(address: int, given: int, found: int, wanted: int) -> None:
    """Call the function at an address with pointers to `given` and `found`, and a number."""
    _SIGNATURE(int(address))(given, found, wanted)


@kernel
def call_law(address: int, given: Array, found: Array, slopes: bool) -> None:
    """Call the law at an address on contiguous arrays, with its slopes if they are wanted."""
    call_at(address, given.ctypes.data, found.ctypes.data, SLOPES if slopes else VALUES)


@kernel
def law_energy(address: int, given: Array, found: Array) -> float:
    """Return the energy of the law at an address."""
    call_at(address, given.ctypes.data, found.ctypes.data, ENERGY)
    return float(found[0])
