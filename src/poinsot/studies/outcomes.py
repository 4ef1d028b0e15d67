"""What is known of some runs of a study when they are done."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: How a run ended; runs that are not done yet are pending.
PENDING, DONE, WARNED, FAILED = range(4)
ENDED = (DONE, WARNED, FAILED)
STATUS = ("pending", "done", "warned", "failed")


@dataclass(eq=False)
class Outcomes:
    """Some runs that have ended.

    Parameters
    ----------
    runs : (k,)
        Their numbers.
    table : (k, samples, width)
        What was measured; nan where a run did not come to.
    time : (k, samples)
        When [s].
    status : (k,)
        How they ended.
    balance_error : (k,)
        Their largest |balance error| of all steps [J].
    iterations : (k,)
        Newton iterations of all steps.
    message : list of str
        Why they are not `done`.
    """

    runs: NDArray[np.intp]
    table: Array
    time: Array
    status: NDArray[np.int8]
    balance_error: Array
    iterations: NDArray[np.int64]
    message: list[str] = field(default_factory=list)

    @classmethod
    def empty(cls, runs: NDArray[np.intp], samples: int, width: int) -> "Outcomes":
        """Return room for runs, none of which has ended."""
        count = len(runs)
        return cls(
            runs,
            np.full((count, samples, width), np.nan),
            np.full((count, samples), np.nan),
            np.zeros(count, dtype=np.int8),
            np.full(count, np.nan),
            np.zeros(count, dtype=np.int64),
            [""] * count,
        )

    def clear(self, k: int) -> None:
        """Forget what was written of a run that is taken again."""
        self.table[k], self.time[k], self.balance_error[k] = np.nan, np.nan, np.nan
        self.status[k], self.iterations[k], self.message[k] = PENDING, 0, ""
