"""Interface of a compiled engine: many steps per call, with their balances."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Vector
from poinsot.result.history import Saved

#: What an engine carries from step to step: arrays by name.
Memory: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Clock:
    """Steps of length h [s] from `start` to `end`; the last one ends there, and may be shorter.

    Each of the `whole` steps is taken in substeps, so many `fractions` of it. Substeps are counted
    over the whole run, of which `before` were taken before `start`.
    """

    start: float
    end: float
    h: float
    whole: int
    fractions: tuple[float, ...] = (1.0,)
    before: int = 0

    @property
    def steps(self) -> int:
        """How many substeps are done at the end."""
        return self.before + self.whole * len(self.fractions)

    def at(self, n: int) -> float:
        """Return the time after n substeps [s]."""
        return float(self.span(n, n)[0])

    def span(self, first: int, last: int) -> Array:
        """Return the times after `first`, ..., `last` substeps [s]."""
        number = np.arange(first, last + 1) - self.before
        step, inside = np.divmod(number, len(self.fractions))
        times = self._whole(step)
        if len(self.fractions) > 1:
            passed = np.concatenate([[0.0], np.cumsum(self.fractions[:-1])])
            times += passed[inside] * (self._whole(step + 1) - times)
        return times

    def _whole(self, n: Array) -> Array:
        """Return the times after n steps [s]."""
        return np.where(n == self.whole, self.end, self.start + self.h * n)


@dataclass(frozen=True, eq=False)
class Block:
    """A run of consecutive steps, computed at once.

    Parameters
    ----------
    steps : int
        How many they are, saved or not.
    reached : float
        Time at the end of the last one [s].
    newton_iterations, residual_max, balance_error_max, dissipation_min
        Sum of iterations; largest residual; largest |balance error| [J]; smallest power lost [W].
    seconds : float
        How long the steps themselves took, without what comes before and after them.
    saved : Saved
        Those steps that are due for saving.
    pending : Saved
        The last step, if it is not due: a run may end here.
    single_steps : int
        How many of them the reference engine took, since the compiled one found no solution.
    split_steps, pieces : int
        How many of them were taken in smaller ones, and how many these were.
    smallest : float
        Size of the smallest of these [s].
    """

    steps: int
    reached: float
    newton_iterations: int
    residual_max: float
    balance_error_max: float
    dissipation_min: float
    seconds: float
    saved: Saved
    pending: Saved | None = None
    single_steps: int = 0
    split_steps: int = 0
    pieces: int = 0
    smallest: float = np.inf


@dataclass(eq=False)
class Totals:
    """Sums over every step so far, saved or not; whoever takes steps carries them on.

    `energy0` [J] is the energy at the start, with what events have added since, `lost` [J] what was
    dissipated, `supplied` [J] what was put in through each port, `turn` [rad] the angles of the
    last state counted over turns.
    """

    energy0: float
    lost: float
    supplied: Vector
    turn: Vector

    def copy(self) -> "Totals":
        """Return sums that do not change with these."""
        return Totals(self.energy0, self.lost, self.supplied.copy(), self.turn.copy())


def counted(angle: Vector, about: Vector) -> Vector:
    """Return angles [rad] with those whole turns that bring them nearest to others."""
    return np.asarray(angle + 2 * np.pi * np.round((about - angle) / (2 * np.pi)))


@dataclass(frozen=True, eq=False)
class Controls:
    """Sampled controllers as a compiled engine knows them.

    Parameters
    ----------
    table : Sampling
        Their tables, see `kernels.sampling`.
    columns : (outputs,)
        Which inputs of the system they set.
    states : (k,)
        Which of their channels are states; the tables say which entry of x each is.
    multipliers : (terms,)
        Places in x of those of which reactions consist.
    calls_python : bool
        Whether some laws are Python functions.
    """

    table: Any
    columns: NDArray[np.intp]
    states: NDArray[np.intp]
    multipliers: NDArray[np.intp]
    calls_python: bool


class Runner(ABC):
    """A system in a compiled engine, with the state it has reached."""

    @property
    @abstractmethod
    def x(self) -> Vector:
        """The state, as far as the engine knows it."""

    @abstractmethod
    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state, with angles followed over turns [rad]."""

    @abstractmethod
    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on."""

    @abstractmethod
    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called, here or in another process with the same system."""

    @property
    def beside(self) -> Vector:
        """The states of networks at the ports of a host, one after the other."""
        return np.zeros(0)

    def put_beside(self, states: Vector) -> None:
        """Go on with other states of networks."""
        assert not states.size

    def control(self, controls: Controls) -> bool:
        """Let controllers set inputs; tell whether the engine can do that."""
        return False

    @property
    @abstractmethod
    def calls_python(self) -> bool:
        """Whether some laws are Python functions, which may take any time."""

    @property
    @abstractmethod
    def recovered(self) -> frozenset[str]:
        """Names of the states that the engine leaves out, and `recover` finds."""

    @abstractmethod
    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x of saved steps with all states."""

    @property
    @abstractmethod
    def form(self) -> str:
        """The form of the equations, by the name of its machine code."""

    @abstractmethod
    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on with inputs u (steps, m), as many as can be solved.

        Fewer than asked for: trying again may help. None: it does not.
        """
