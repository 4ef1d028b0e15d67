"""What controllers in continuous time measure at the beginning of every step, many at once."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis.gradients.run import Run
from poinsot.analysis.variations import Direction
from poinsot.ph.matrices import Array, Vector
from poinsot.run.problem import Problem


class Read(NamedTuple):
    """Slopes of inputs by states at the beginning of steps (steps, inputs, states): which ones."""

    slopes: Array
    inputs: NDArray[np.intp]
    states: NDArray[np.intp]


class Readings:
    """Inputs that are measured at the beginning of the step that they are for.

    Parameters
    ----------
    run : Run
        A run all of whose controllers are in continuous time.
    """

    def __init__(self, run: Run) -> None:
        assert run.held is not None
        self.run, self.inputs = run, run.held.columns
        self._known: list[int] | None = None

    @classmethod
    def of(cls, run: Run) -> "Readings | None":
        """Return those of a run; None if it has others."""
        return cls(run) if run.held is not None and all(run.problem.sampled.following) else None

    def measured(self, problem: Problem, x: Array, turned: Array) -> Array:
        """Return the inputs of steps that begin at states (steps, n)."""
        return np.hstack(self.run.held_of(problem).measured(x, turned))

    def read(self, x: Array, turned: Array) -> Read:
        """Return how they change with these states."""
        assert self.run.held is not None
        sizes = self.run.linear.sizes
        found = [each.slopes(x, turned, sizes) for each in self.run.held.measures]
        states = np.unique(np.concatenate([own for _, own in found]))
        slopes = np.zeros((len(x), self.inputs.size, states.size))
        first = 0
        for part, own in found:
            rows = np.arange(first, first + part.shape[1])
            slopes[:, rows[:, None], np.searchsorted(states, own)] = part
            first += rows.size
        return Read(slopes, self.inputs, states)

    def by_parameters(
        self, directions: Mapping[int, Direction], by_u: Array, x: Array, turned: Array, count: int
    ) -> Vector:
        """Return what parameters that change what is measured add to the gradient."""
        found, of_inputs = np.zeros(count), by_u[:, self.inputs]
        for k in self._changing(directions):
            rates = directions[k].of(lambda each: self.measured(each, x, turned))
            found[k] = np.sum(of_inputs * rates)
        return found

    def _changing(self, directions: Mapping[int, Direction]) -> list[int]:
        """Return which of them change what is measured."""
        if self._known is None:
            self._known = [
                k
                for k, direction in directions.items()
                if not all(self._same(problem) for _, problem in direction.nearby)
            ]
        return self._known

    def _same(self, problem: Problem) -> bool:
        """Tell whether the same is measured in another problem: seen at states anywhere."""
        x, turned, here = self._seen
        return np.array_equal(self.measured(problem, x, turned), here)

    @cached_property
    def _seen(self) -> tuple[Array, Array, Array]:
        """States anywhere with their angles, and what is measured of them."""
        problem, random = self.run.problem, np.random.default_rng(0)
        shifts = random.standard_normal((2, problem.system.n))
        x, turned = problem.x + self.run.linear.sizes * shifts, np.tile(problem.turned, (2, 1))
        return x, turned, self.measured(problem, x, turned)
