"""The discrete adjoint in the reference engine, by the stage equations of any system."""

from collections.abc import Sequence

import numpy as np

from poinsot.analysis.gradients.adjoint import Adjoint
from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import Taken
from poinsot.analysis.variations import Direction
from poinsot.ph.matrices import Vector


class Backward(Adjoint):
    """The discrete adjoint of a loss, step by step."""

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, variations = self.run, self.run.variations
        value, slopes = self.judge(run.look(self.measured(run.problem.system)))
        directions = variations.directions
        lam, found = np.zeros(run.problem.system.n), np.zeros(len(directions))
        nu = np.zeros(0 if run.held is None else run.held.start[0].size)
        times, du = list[float](), list[Vector]()
        for first, last in reversed(run.segments()):
            steps, x, turned = run.segment(first, last)
            start = 0 if first == 0 else 1
            measure, sizes = self.measured(run.problem.system), run.linear.sizes
            g = measure.back(slopes[first + start : last + 1], x[start:], turned[start:], sizes)
            found += self.by_parameters(x[start:], turned[start:], slopes[first + start : last + 1])
            for n, step in zip(reversed(range(first, last)), reversed(steps), strict=True):
                lam = lam + g[n + 1 - first - start]
                for taken in reversed(step):
                    lam, nu, added, by_u = self._back(lam, nu, taken, directions)
                    found += added
                    if by_u is not None:
                        times.append(taken.equations.t)
                        du.append(by_u)
            if first == 0:
                lam = lam + g[0]
        found += np.array([lam @ direction.dx0 for direction in directions])
        if run.held is not None:
            found += run.by_start(directions, nu)
        return Gradient(value, self.shaped(found, np.array(times), np.array(du)), "reference")

    def _back(
        self, lam: Vector, nu: Vector, taken: Taken, directions: Sequence[Direction]
    ) -> tuple[Vector, Vector, Vector, Vector | None]:
        """Return the gradient by the start of a step, and by what is held before it.

        Then what parameters add to it, and the gradient by inputs.
        """
        run = self.run
        before, mu = run.linear_step(taken).backward(lam)
        dF, dM = run.by(directions, taken)
        added = lam @ dM - mu @ dF
        if run.held is None and not run.variations.samples:
            return before, nu, added, None
        by_F, by_M = run.by_inputs(taken)
        by_u = lam @ by_M - mu @ by_F
        if run.held is not None and taken.memory is not None:
            held, x, turned, sizes = run.held, taken.equations.x0, taken.turned, run.linear.sizes
            nu = nu.copy()
            np.add.at(nu, held.places, by_u[held.columns])
            at = taken.memory, taken.number, taken.t, x, turned
            added = added + nu @ run.by_samples(directions, *at)
            nu, by_x = held.back(nu, *at, sizes)
            before = before + by_x
        return before, nu, added, by_u
