"""What a run asks of an engine: many steps at a time, and to go back to where it was."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext

from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Block, Clock, Memory, Totals

#: Steps of a block should take about so long [s]: progress is shown and Ctrl-C heard in between.
PAUSE = 0.1


class Engine(ABC):
    """Takes the steps of a run.

    Parameters
    ----------
    name : str
        What results call it.
    first_block : int
        How many steps it takes at once before it is known how long they take.
    stopped : str
        Why it is to take no more steps; empty as long as it is.
    """

    name: str
    first_block: int = 1
    stopped: str = ""

    @property
    @abstractmethod
    def x(self) -> Vector:
        """The state that it has reached, as far as it knows it."""

    @abstractmethod
    def advance(
        self, clock: Clock, first: int, steps: int, save_every: int, totals: Totals
    ) -> Block:
        """Take steps from number `first` on: at least one, and no more than so many.

        Totals are carried on. What stops it is raised when there is nothing left to return.
        """

    @abstractmethod
    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state, with angles counted over turns [rad]."""

    @abstractmethod
    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on, besides totals."""

    @abstractmethod
    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called, here or in another process with the same system."""

    def undisturbed(self) -> AbstractContextManager[list[int]]:
        """Return in what context steps are taken; it yields the interrupts that came meanwhile."""
        return nullcontext([])
