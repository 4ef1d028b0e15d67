"""What the discrete adjoint of a loss consists of, whichever engine goes through the steps."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import Run
from poinsot.analysis.losses import Bound
from poinsot.errors import NoDerivativeError
from poinsot.ph.matrices import Array, Vector


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
        directions = self.run.variations.directions
        found, some = np.zeros(len(directions)), np.any(slopes != 0, axis=1)
        if some.any():
            x, turned, slopes = x[some], turned[some], slopes[some]
            for k in np.flatnonzero(self._changing):
                rates = directions[k].of(lambda each: self.measured(each)(x, turned))
                found[k] = np.sum(slopes * rates)
        return found

    @cached_property
    def _changing(self) -> Array:
        """Tell which parameters change what is measured of a state: seen at states anywhere."""
        run, random = self.run, np.random.default_rng(0)
        x = run.problem.x + run.linear.sizes * random.standard_normal((2, run.linear.sizes.size))
        turned = np.tile(run.problem.turned, (2, 1))
        here = self.measured(run.problem)(x, turned)
        return np.array(
            [
                any(
                    not np.array_equal(self.measured(problem)(x, turned), here)
                    for _, problem in direction.nearby
                )
                for direction in run.variations.directions
            ],
            dtype=bool,
        )

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
