"""The time axis of a run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Clock:
    """Steps of length h [s] from `start` to `end`; the last one ends there, and may be shorter."""

    start: float
    end: float
    h: float
    steps: int

    def at(self, n: int) -> float:
        """Return the time after n steps [s]."""
        return self.end if n == self.steps else self.start + n * self.h

    def span(self, first: int, last: int) -> NDArray[np.float64]:
        """Return the times after `first`, ..., `last` steps [s]."""
        times = self.start + self.h * np.arange(first, last + 1, dtype=np.float64)
        if last == self.steps:
            times[-1] = self.end
        return times
