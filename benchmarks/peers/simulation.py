"""What every code under test must do: run a number of steps from the start, and be timed.

Times are those that the processor spent on this process. On an idle machine they are what a clock
shows; on a busy one, a long run is not charged for the others while a short one slips through.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from benchmarks.mechanism import Array


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: time of its time loop [s] and centres of mass at its end (bodies, 3)."""

    seconds: float
    positions: Array


class Simulation(Protocol):
    """A model ready to run; every run begins at the start of the mechanism.

    `note` says how the model was built, where that is a choice.
    """

    note: str

    def run(self, steps: int) -> Run:
        """Take so many steps."""
        ...


def spent(call: Callable[[], object]) -> float:
    """Return the time that a call takes [s]."""
    start = time.process_time()
    call()
    return time.process_time() - start


def time_of_steps(seconds: Callable[[int], float], steps: int) -> float:
    """Return the time of the steps alone [s], from the difference of a long and a short run.

    What a run does once, however long it is, drops out. `seconds` makes a run with so many steps
    and returns what it took; the last run is the long one, whose end may be looked at.
    """
    if steps == 1:
        return seconds(1)
    few = max(1, steps // 10)
    short = min(seconds(few) for _ in range(3))
    return (seconds(steps) - short) * steps / (steps - few)


class StoppedError(RuntimeError):
    """A code could not finish its run."""
