"""What the discrete adjoint of a loss consists of, whichever engine goes through the steps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import Run
from poinsot.analysis.losses import Bound
from poinsot.analysis.variations import Direction
from poinsot.errors import NoDerivativeError
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.stages import EPS
from poinsot.ph.system import PHSystem

#: Of what is measured, this part of the largest is round-off.
ROUNDED = 64 * EPS


def alike(some: Array, others: Array) -> bool:
    """Tell whether measured numbers are the same but for round-off; a row for each state."""
    sizes = np.max(abs(others), axis=0, initial=0.0)
    return bool(np.all(abs(some - others) <= ROUNDED * sizes))


class Adjoint(ABC):
    """The gradient of a loss over a run.

    Parameters
    ----------
    run : Run
        What it is taken of.
    bound : Bound
        The loss, and the channels that it measures.
    """

    def __init__(self, run: Run, bound: Bound) -> None:
        self.run, self.bound = run, bound
        self.measured = run.measuring(bound.channels)

    @abstractmethod
    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""

    def judge(self, measured: Array) -> tuple[float, Array]:
        """Return the loss, and its derivatives by what is measured at all times."""
        value, slopes = self.bound.evaluate(self.run.times, measured)
        if not (np.isfinite(value) and np.all(np.isfinite(slopes))):
            raise NoDerivativeError(f"the loss is {value}, or its slopes are not finite")
        return value, slopes

    def by_parameters(self, x: Array, turned: Array, slopes: Array) -> Vector:
        """Return the derivative of the loss by parameters that change what is measured."""
        found = np.zeros(len(self.run.variations.numbers))
        some = np.any(slopes != 0, axis=1)
        if some.any():
            x, turned, slopes = x[some], turned[some], slopes[some]
            for k, direction in self._changing.items():
                rates = direction.of(lambda each: self.measured(each.system)(x, turned))
                found[k] = np.sum(slopes * rates)
        return found

    @property
    def directions(self) -> Mapping[int, Direction]:
        """The directions by place of those numbers that may change what is measured of a state."""
        return dict(enumerate(self.run.variations.directions))

    @cached_property
    def _changing(self) -> Mapping[int, Direction]:
        return {
            k: direction
            for k, direction in self.directions.items()
            if not all(self.measures_same(problem.system) for _, problem in direction.nearby)
        }

    def measures_same(self, system: PHSystem) -> bool:
        """Tell whether what is measured is the same of another system: seen at states anywhere."""
        x, turned, here = self._seen
        return alike(self.measured(system)(x, turned), here)

    @cached_property
    def _seen(self) -> tuple[Array, Array, Array]:
        """States anywhere with their angles, and what is measured of them."""
        run, random = self.run, np.random.default_rng(0)
        x = run.problem.x + run.linear.sizes * random.standard_normal((2, run.linear.sizes.size))
        turned = np.tile(run.problem.turned, (2, 1))
        return x, turned, self.measured(run.problem.system)(x, turned)

    def shaped(self, found: Vector, t: Vector, by_u: Array) -> dict[str, Array]:
        """Return the derivatives in the shapes of their parameters.

        Those by samples of inputs are gathered from those by inputs (steps, m) of steps with their
        middles at times t (steps,).
        """
        values, samples, by, first = self.run.variations.values, self.run.variations.samples, {}, 0
        for name, value in values.items():
            if name in samples:
                by[name] = samples[name].gathered(t, by_u)
                continue
            by[name] = found[first : first + value.size].reshape(value.shape)
            first += value.size
        return by
