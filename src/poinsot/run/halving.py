r"""Steps that cannot be solved are taken in smaller ones, and in larger ones where these succeed.

A step of size h is taken whole, or in pairs of pieces of the same size h / 2^k. Every piece is a
step of the scheme and keeps what this keeps. Pairs, because a step of the midpoint rule under
constraints turns what velocities are off across the constraints, a, round:

.. math:: a_1 = -a_0 + c\, h^2

A pair leaves a as it was, however small it is, while the sums of pieces whose sizes alternate one
by one would grow from step to step.
"""

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import LargeStepError
from poinsot.ph.newton import NEARLY, NewtonFailure

#: After failures, so many pairs must succeed at most before a larger size is tried again.
PATIENCE = 32


@dataclass
class Halving:
    """The size of the pieces in which the next step is taken.

    Places within a step are counted in its smallest pieces, `whole` of them.

    Parameters
    ----------
    most : int
        How many times a step is halved at most.
    level : int
        Pieces are of size h / 2^level.
    succeeded : int
        How many pairs in a row have succeeded at this level.
    patience : int
        So many must, before larger ones are tried.
    tries : int
        1 while larger ones are tried, which have not succeeded yet.
    """

    most: int
    level: int = 0
    succeeded: int = 0
    patience: int = 1
    tries: int = 0

    @property
    def whole(self) -> int:
        """The size of a step."""
        return 1 << self.most

    def next(self, place: int) -> list[int]:
        """Return where the next piece or pair of pieces begins and ends, from that place on."""
        size = self.whole >> self.level
        return [place, place + size] if self.level == 0 else [place, place + size, place + 2 * size]

    def failed(self) -> bool:
        """Go over to smaller pieces; tell whether there are any."""
        if self.tries:
            self.patience = min(2 * self.patience, PATIENCE)
        if self.level == self.most:
            return False
        self.level, self.succeeded, self.tries = self.level + 1, 0, 0
        return True

    def reached(self, place: int, *, alone: bool = True) -> None:
        """Go over to larger pieces if it is time to, and a pair of them may begin at that place.

        A whole step may only follow if it stands `alone`: beside one that was split, it would be no
        half of a pair.
        """
        if self.tries:
            self.patience, self.tries = 1, 0
        self.succeeded += 1
        if self.level == 0 or self.succeeded < self.patience or (self.level == 1 and not alone):
            return
        pair = self.whole >> max(self.level - 2, 0)
        if place % pair == 0:
            self.level, self.succeeded, self.tries = self.level - 1, 0, 1

    def given_up(self, failure: NewtonFailure | LargeStepError) -> Exception:
        """Return what is said of a step that fails as a whole, and in the smallest pieces too."""
        if self.most == 0:
            return failure
        also = f"also in steps of h/{self.whole}"
        if isinstance(failure, LargeStepError):
            return type(failure)(f"{failure}; {also}")
        reason, advice = f"{failure.reason}, {also}", failure.advice
        if min(failure.history, default=1.0) > NEARLY:
            advice = (
                "check laws for jumps and undefined values here, and look for masses, stiffnesses "
                "or lengths that are many orders of magnitude apart"
            )
        return NewtonFailure(reason, failure.history, failure.worst, advice)

    def memory(self) -> NDArray[np.int64]:
        """Return everything that the next steps depend on."""
        return np.array(astuple(self)[1:], dtype=np.int64)

    def restore(self, memory: NDArray[np.int64]) -> None:
        """Go back to where `memory` was called."""
        self.level, self.succeeded, self.patience, self.tries = map(int, memory)
