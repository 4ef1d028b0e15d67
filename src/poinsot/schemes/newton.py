"""Newton's method with exact tangents, for one time step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse
from poinsot.ph.stages import EPS, Evaluation, Newton, Tangent


class NewtonFailure(Exception):
    """No solution was found; says which equation is worst, how the iteration went, what to do."""

    def __init__(
        self, reason: str, history: list[float], worst: str, advice: str = "try a smaller step"
    ) -> None:
        super().__init__(reason)
        self.reason, self.history, self.worst, self.advice = reason, history, worst, advice


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
    floor = np.zeros_like(here.F)
    accepted: Solution | None = None
    for iteration in range(options.max_iterations + 1):
        if not here.finite:
            first = int(np.flatnonzero(~np.isfinite(here.F))[0])
            reason, advice = "the equations give NaN or infinity", "check the functions in them"
            raise NewtonFailure(reason, history, labels[first], advice)
        relative = here.relative(here.sizes)
        worst = int(np.argmax(relative))
        history.append(float(relative[worst]))
        solution = Solution(x, iteration, history[-1])
        if accepted is not None and history[-1] > 0.1 * accepted.residual:
            return min(accepted, solution, key=lambda s: s.residual)
        if history[-1] <= 4 * EPS:
            return solution
        if _is_small(here, floor, options):
            accepted = solution  # and on, as long as it gains
        if iteration == options.max_iterations:
            break
        tangent = here.tangent()
        weights = _row_weights(tangent.T)
        # Signs keep symmetric terms from cancelling.
        probe = here.sizes * _signs(here.F.size)
        solved = _linear_solve(tangent, np.column_stack([-here.F, probe]), weights)
        if solved is None:
            reason = "the tangent is singular: an undetermined state or a repeated constraint"
            advice = "start elsewhere, or change what is undetermined there"
            raise NewtonFailure(reason, history, labels[worst], advice)
        dx = solved[:, 0]
        if iteration == 0:
            floor = abs(tangent.T) @ abs(solved[:, 1])
        fraction = _search(problem, x, dx, here, weights) if line_search else 1.0
        if fraction is None:
            reason = "no progress, even with steps shortened a thousandfold"
            raise NewtonFailure(reason, history, labels[worst])
        x = x + fraction * dx
        here = problem(x)
    if accepted is not None:
        return accepted
    reason = f"no convergence in {options.max_iterations} iterations"
    raise NewtonFailure(reason, history, labels[worst])


def _is_small(here: Evaluation, floor: Vector, options: Newton) -> bool:
    """Tell whether every equation is solved, or what is left is round-off without energy."""
    F, efforts = abs(here.F), abs(here.efforts)
    if np.all(options.atol + options.rtol * here.sizes >= F):
        return True
    powerless = efforts @ F <= options.atol + options.rtol * (efforts @ here.sizes)
    tolerance = options.atol + options.rtol * np.maximum(here.sizes, floor)
    return bool(powerless and np.all(tolerance >= F))


@cache
def _signs(n: int) -> Vector:
    signs: Vector = np.random.default_rng(0).choice([-1.0, 1.0], n)
    return signs


def _search(
    problem: Callable[[Vector], Evaluation],
    x: Vector,
    dx: Vector,
    here: Evaluation,
    weights: Vector,
) -> float | None:
    """Return the first of 1, 1/2, 1/4, ... of a step that reduces the residual, if any does."""
    size = np.linalg.norm(weights * here.F)
    for fraction in 0.5 ** np.arange(11):
        there = problem(x + fraction * dx)
        if there.finite and np.linalg.norm(weights * there.F) < size:
            return float(fraction)
    return None


def _row_weights(T: Matrix) -> Vector:
    """Return what brings the rows of T to one size."""
    rows = abs(T).max(axis=1)
    largest: Vector = np.asarray(rows.toarray() if is_sparse(rows) else rows).reshape(-1)
    weights = np.ones_like(largest)
    weights[largest > 0] /= largest[largest > 0]
    return weights


def _linear_solve(
    D: Tangent, right: NDArray[np.float64], weights: Vector
) -> NDArray[np.float64] | None:
    """Solve (T + U V^T) X = right with weighted rows; None if singular."""
    k = right.shape[1]
    rights = weights[:, None] * np.column_stack([right, D.U])
    solution: NDArray[np.float64]
    try:
        if is_sparse(D.T):
            scaled = sp.csc_array(sp.diags_array(weights) @ D.T)
            solution = np.asarray(scipy.sparse.linalg.splu(scaled).solve(rights))
        else:
            solution = np.asarray(np.linalg.solve(weights[:, None] * dense(D.T), rights))
        X, TU = solution[:, :k], solution[:, k:]
        if TU.shape[1]:  # Sherman-Morrison-Woodbury for the low-rank part
            core = np.eye(TU.shape[1]) + D.V.T @ TU
            X = X - TU @ np.linalg.solve(core, D.V.T @ X)
    except (np.linalg.LinAlgError, RuntimeError, ValueError):
        return None
    return X if np.all(np.isfinite(X)) else None
