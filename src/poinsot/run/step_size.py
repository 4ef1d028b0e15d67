"""The size of the next steps, from what the last ones were off."""

from dataclasses import dataclass
from math import inf

import numpy as np

#: The shortest segment has so many steps, the longest one so many times as many.
STEPS, LONGEST = 4, 32
#: A new size is this part of what would just do, and so many times the last one, at least and most.
SAFETY, LEAST, MOST = 0.9, 0.1, 5.0
#: So many times the last one where steps have no solution.
UNSOLVED = 0.25
#: Steps keep their size unless it should change by more than that.
STEADY = 0.8, 1.25
#: By h ~ now^(-a/p) before^(b/p) do the last error and the one before it count.
NOW, BEFORE = 0.7, 0.4
#: Where segments were refused so many times, a law jumps, until so many in a row are accepted.
REFUSED, CALM = 3, 32
#: An error that vanishes says no more than this part of what is allowed.
NOTHING = 1e-6


@dataclass
class StepSize:
    """A proportional-integral control of the size of steps.

    Parameters
    ----------
    h, largest : float
        Size of the next steps, and of the largest that there may be [s].
    order : int
        Order p of the scheme: errors by length of a segment grow like h^p.
    units : int
        How long the next segment may be, in shortest ones.
    before : float
        Error of the segment before, as a part of what was allowed.
    refused : int
        How many times the next segment was refused.
    trouble : int
        How many times segments were refused since steps were of their `usual` size [s].
    calm : int
        How many segments were accepted since then, one after the other.
    """

    h: float
    largest: float
    order: int
    units: int = 1
    before: float = 1.0
    refused: int = 0
    trouble: int = 0
    usual: float = 0.0
    calm: int = 0

    @property
    def jumps(self) -> bool:
        """Whether steps seem to be where a law jumps, which no size of them resolves."""
        return self.trouble >= REFUSED

    def accept(self, ratio: float) -> None:
        """Choose the next size after an error that was this part of what is allowed."""
        ratio = max(ratio, NOTHING)
        factor = SAFETY * ratio ** (-NOW / self.order) * self.before ** (BEFORE / self.order)
        factor = float(np.clip(factor, LEAST, 1.0 if self.refused else MOST))
        factor = min(factor, self.largest / self.h)
        steady = STEADY[0] <= factor <= STEADY[1]
        self.units = min(2 * self.units, LONGEST) if steady else max(self.units // 2, 1)
        self.h *= 1.0 if steady and self.h <= self.largest else factor
        self.before, self.refused, self.calm = ratio, 0, self.calm + 1
        if self.h >= self.usual / 2 or self.calm > CALM:
            self.trouble = 0

    def refuse(self, ratio: float) -> None:
        """Choose a smaller size after an error that was larger than allowed; inf: no solution."""
        if self.trouble == 0:
            self.usual = self.h
        self.trouble, self.calm = self.trouble + 1, 0
        enough = UNSOLVED if ratio == inf else SAFETY * ratio ** (-1 / self.order)
        self.h *= float(np.clip(enough, LEAST, 0.5))
        self.units, self.refused = 1, self.refused + 1
