"""Newton's method with exact tangents, for one time step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse
from poinsot.ph.stages import EPS, ROUND_OFF, STALLED, Evaluation, Newton, Tangent

#: Where residuals fall below this part of their terms, Newton's method was on its way.
NEARLY = 1e-6

#: A step of the line search is halved so many times at most.
HALVINGS = 10
#: Numbers without an inverse.
TINY = float(np.finfo(float).tiny)
#: What equations raise far from a solution: directors of a far too large turn, numbers too large.
OFF_RANGE = (np.linalg.LinAlgError, OverflowError)


class NewtonFailure(Exception):
    """No solution was found; says which equation is worst, how the iteration went, what to do.

    `by_size` tells whether a smaller step may help.
    """

    def __init__(
        self,
        reason: str,
        history: list[float],
        worst: str,
        advice: str | None = None,
        *,
        by_size: bool = True,
    ) -> None:
        super().__init__(reason)
        self.reason, self.history, self.worst = reason, history, worst
        self.advice = _usual_advice(history) if advice is None else advice
        self.by_size = by_size


def _usual_advice(history: list[float]) -> str:
    """Return what to do: a smaller step helps where residuals are large, or still fall."""
    if min(history, default=1.0) > NEARLY:
        return "try a smaller step"
    if history[-1] <= STALLED * min(history[:-1], default=0.0):
        return "allow more iterations, or try a smaller step"
    return (
        "residuals are small but fall no further, which a smaller step does not change; look "
        "for masses, stiffnesses or lengths that are many orders of magnitude apart"
    )


@dataclass(frozen=True)
class Solution:
    """The solution of one step, the number of iterations, and the relative residual reached."""

    x: Vector
    iterations: int
    residual: float


def solve(
    problem: Callable[[Vector], Evaluation], x: Vector, options: Newton, labels: Sequence[str]
) -> Solution:
    """Solve F(x) = 0 from a guess: plain Newton first, then with a line search.

    Raises NewtonFailure if neither finds a solution.
    """
    try:
        return _iterate(problem, x, options, labels, line_search=False)
    except NewtonFailure:
        return _iterate(problem, x, options, labels, line_search=True)


def _iterate(
    problem: Callable[[Vector], Evaluation],
    x: Vector,
    options: Newton,
    labels: Sequence[str],
    *,
    line_search: bool,
) -> Solution:
    here = problem(x)
    history: list[float] = []
    scales, equations, accepted, lagging = None, None, None, False
    for iteration in range(options.max_iterations + 1):
        if not here.finite:
            first = int(np.flatnonzero(~np.isfinite(here.F))[0])
            reason, advice = "the equations give NaN or infinity", "check the functions in them"
            raise NewtonFailure(reason, history, labels[first], advice, by_size=iteration > 0)
        rounded = here.sizes
        relative = here.relative(rounded)
        if equations is not None and not np.max(relative) <= STALLED * history[-1]:
            rounded = np.maximum(rounded, here.before_cancelling(x))
            rounded = np.maximum(rounded, equations.rounded(x))
            relative = here.relative(rounded)
        worst = int(np.argmax(relative))
        history.append(float(relative[worst]))
        solution = Solution(x, iteration, history[-1])
        if accepted is not None and history[-1] > 0.1 * accepted.residual:
            accepted = min(accepted, solution, key=lambda s: s.residual)
            if lagging or accepted.residual <= ROUND_OFF:
                return accepted
            # An equation whose terms vanish beside all others may be one iteration behind them.
            lagging = True
        if history[-1] <= 4 * EPS:
            return solution
        tolerance = np.maximum(options.atol + options.rtol * here.sizes, ROUND_OFF * rounded)
        if not lagging and np.all(abs(here.F) <= tolerance):
            accepted = solution  # and on, as long as it gains
        if iteration == options.max_iterations:
            break
        tangent = here.tangent()
        scales = row_and_column_scales(tangent.T, here.measures) if scales is None else scales
        equations = _Equations.of(tangent, scales)
        dx = None if equations is None else equations.solve(-here.F)
        if equations is None or dx is None:
            reason = "the tangent is singular: an undetermined state or a repeated constraint"
            advice = "determine this state, or leave one of the constraints out"
            raise NewtonFailure(reason, history, labels[worst], advice, by_size=iteration > 0)
        fraction = _search(problem, x, dx, equations) if line_search else 1.0
        if fraction is None:
            if accepted is not None:
                return accepted
            reason = "no progress, even with steps shortened a thousandfold"
            raise NewtonFailure(reason, history, labels[worst])
        x = x + fraction * dx
        try:
            here = problem(x)
        except OFF_RANGE:
            reason = "an iteration leads to where the equations have no value"
            raise NewtonFailure(reason, history, labels[worst], "try a smaller step") from None
    if accepted is not None:
        return accepted
    reason = f"no convergence in {options.max_iterations} iterations"
    raise NewtonFailure(reason, history, labels[worst])


def _search(
    problem: Callable[[Vector], Evaluation], x: Vector, dx: Vector, equations: "_Equations"
) -> float | None:
    """Return the first of 1, 1/2, 1/4, ... of a step after which the next one would be shorter.

    That is found with the same tangent [D04, sec. 3.3]. How far there is to go does not depend on
    the sizes of the equations, of which a light body's hardly show beside those of a heavy one.
    """
    length = np.linalg.norm(dx / equations.columns)
    for fraction in 0.5 ** np.arange(HALVINGS + 1):
        try:
            there = problem(x + fraction * dx)
        except OFF_RANGE:
            continue
        left = equations.solve(-there.F) if there.finite else None
        if left is None:
            continue
        if np.linalg.norm(left / equations.columns) <= (1 - fraction / 4) * length:
            return float(fraction)
    return None


def row_and_column_scales(T: Matrix, measures: Vector | None) -> tuple[Vector, Vector]:
    """Return by what rows and columns are multiplied, so that no unit decides about pivots.

    Unknowns are taken in their measures, and then the largest of each row is brought to one. Powers
    of two: nothing is rounded.
    """
    columns = np.ones(T.shape[1])
    if measures is not None:
        columns = np.where(measures > TINY, _power_of_two(measures, 1), 1.0)
    largest = (abs(T) * columns).max(axis=1)
    sizes: Vector = np.asarray(largest.toarray() if is_sparse(largest) else largest).reshape(-1)
    return np.where(sizes > TINY, _power_of_two(sizes, -1), 1.0), columns


def _power_of_two(sizes: Vector, sign: int) -> Vector:
    """Return the power of two next to each size, or to its inverse."""
    return np.asarray(np.ldexp(1.0, sign * np.frexp(sizes)[1]))


@dataclass(frozen=True)
class _Equations:
    """Linear equations (T + U V^T) dx = ..., by A = L U with rows exchanged.

    A is T with `rows` and `columns` multiplied by these.
    """

    D: Tangent
    A: Matrix
    lu: scipy.sparse.linalg.SuperLU | None
    rows: Vector
    columns: Vector

    @classmethod
    def of(cls, D: Tangent, scales: tuple[Vector, Vector]) -> Self | None:
        """Scale rows and columns, and factorise what is sparse; None if that is singular."""
        rows, columns = scales
        if not is_sparse(D.T):
            return cls(D, rows[:, None] * dense(D.T) * columns, None, rows, columns)
        A = sp.csc_array(sp.diags_array(rows) @ D.T @ sp.diags_array(columns))
        try:
            return cls(D, A, scipy.sparse.linalg.splu(A), rows, columns)
        except (RuntimeError, ValueError):
            return None

    def solve(self, right: Vector) -> Vector | None:
        """Return dx; None if the equations are singular."""
        rights = self.rows[:, None] * np.column_stack([right, self.D.U])
        solution: NDArray[np.float64]
        try:
            if self.lu is not None:
                solution = np.asarray(self.lu.solve(rights))
            else:
                solution = np.asarray(np.linalg.solve(dense(self.A), rights))
            solution = self.columns[:, None] * solution
            dx, TU = solution[:, 0], solution[:, 1:]
            if TU.shape[1]:  # Sherman-Morrison-Woodbury for the low-rank part
                core = np.eye(TU.shape[1]) + self.D.V.T @ TU
                dx = dx - TU @ np.linalg.solve(core, self.D.V.T @ dx)
        except (np.linalg.LinAlgError, RuntimeError, ValueError):
            return None
        return np.asarray(dx) if np.all(np.isfinite(dx)) else None

    def rounded(self, x: Vector) -> Vector:
        """Return the sizes of all that elimination adds up for x, |L| |U| |x|, in each equation."""
        y = abs(x) / self.columns
        if self.lu is None:
            order, L, U = scipy.linalg.lu(dense(self.A), p_indices=True)
            return np.asarray((abs(L) @ (abs(U) @ y))[order] / self.rows)
        y = y[np.argsort(self.lu.perm_c)]
        return np.asarray((abs(self.lu.L) @ (abs(self.lu.U) @ y))[self.lu.perm_r] / self.rows)
