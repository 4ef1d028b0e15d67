"""Newton's method with exact tangents, for one time step."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Newton:
    """When to stop iterating.

    A step is accepted when `abs(F[i]) <= atol + rtol * s[i]` for every equation, with s the size
    of the terms in it; iteration then goes on as long as it still gains, down to round-off, because
    the energy balance is only as good as the equations.

    Parameters
    ----------
    atol, rtol : float
        Absolute and relative tolerance of the residual.
    max_iterations : int
        Give up after so many.
    """

    atol: float = 0.0
    rtol: float = 1e-10
    max_iterations: int = 25

    def __post_init__(self) -> None:
        """Refuse tolerances that cannot be met."""
        if self.atol < 0 or self.rtol < EPS or self.max_iterations < 1:
            raise InputError(
                f"Newton: atol = {self.atol}, rtol = {self.rtol}, max_iterations = "
                f"{self.max_iterations}; need atol >= 0, rtol >= {EPS:.1g}, max_iterations >= 1"
            )


@dataclass(frozen=True)
class Tangent:
    """dF/dx = T + U V^T; U and V have few columns, and T may be sparse."""

    T: Matrix
    U: NDArray[np.float64]
    V: NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """The residual F at a point, the size of the terms that F is the sum of, and the tangent."""

    F: Vector
    sizes: Vector
    tangent: Callable[[], Tangent]

    @property
    def finite(self) -> bool:
        """Whether no entry is NaN or infinite."""
        return bool(np.all(np.isfinite(self.F)))

    @property
    def relative(self) -> Vector:
        """The residual over the size of its terms."""
        nothing = np.where(self.F == 0, 0.0, np.inf)
        return np.divide(abs(self.F), self.sizes, out=nothing, where=self.sizes > 0)


class NewtonFailure(Exception):
    """No solution was found; says which equation is worst and how the iteration went."""

    def __init__(self, reason: str, history: list[float], worst: int) -> None:
        super().__init__(reason)
        self.reason, self.history, self.worst = reason, history, worst


@dataclass(frozen=True)
class Solution:
    """The solution of one step, the number of iterations, and the relative residual reached."""

    x: Vector
    iterations: int
    residual: float


def solve(problem: Callable[[Vector], Evaluation], x: Vector, options: Newton) -> Solution:
    """Solve F(x) = 0 from a guess: plain Newton first, then with a line search.

    Raises NewtonFailure if neither finds a solution.
    """
    try:
        return _iterate(problem, x, options, line_search=False)
    except NewtonFailure:
        return _iterate(problem, x, options, line_search=True)


def _iterate(
    problem: Callable[[Vector], Evaluation], x: Vector, options: Newton, *, line_search: bool
) -> Solution:
    here = problem(x)
    history: list[float] = []
    best: Solution | None = None
    for iteration in range(options.max_iterations + 1):
        if not here.finite:
            first = int(np.flatnonzero(~np.isfinite(here.F))[0])
            raise NewtonFailure("the equations give NaN or infinity", history, first)
        relative = here.relative
        worst = int(np.argmax(relative))
        history.append(float(relative[worst]))
        if best is not None and history[-1] > 0.25 * best.residual:
            return min(best, Solution(x, iteration, history[-1]), key=lambda s: s.residual)
        if np.all(abs(here.F) <= options.atol + options.rtol * here.sizes):
            best = Solution(x, iteration, history[-1])
            if history[-1] <= EPS:
                return best
        if iteration == options.max_iterations:
            break
        tangent = here.tangent()
        weights = _row_weights(tangent.T)
        dx = _linear_solve(tangent, -here.F, weights)
        if dx is None:
            reason = "the tangent is singular: an undetermined state or a repeated constraint"
            raise NewtonFailure(reason, history, worst)
        fraction = _search(problem, x, dx, here, weights) if line_search else 1.0
        if fraction is None:
            reason = "no progress, even with steps shortened a thousandfold"
            raise NewtonFailure(reason, history, worst)
        x = x + fraction * dx
        here = problem(x)
    if best is not None:
        return best
    reason = f"no convergence in {options.max_iterations} iterations"
    raise NewtonFailure(reason, history, worst)


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


def _linear_solve(D: Tangent, right: Vector, weights: Vector) -> Vector | None:
    """Solve (T + U V^T) dx = right with weighted rows; None if singular."""
    rights = weights[:, None] * np.column_stack([right, D.U])
    try:
        if is_sparse(D.T):
            scaled = sp.csc_array(sp.diags_array(weights) @ D.T)
            solution = scipy.sparse.linalg.splu(scaled).solve(rights)
        else:
            solution = np.linalg.solve(weights[:, None] * dense(D.T), rights)
    except (np.linalg.LinAlgError, RuntimeError, ValueError):
        return None
    dx: Vector = np.asarray(solution[:, 0])
    TU = solution[:, 1:]
    if D.U.shape[1]:  # Sherman-Morrison-Woodbury for the low-rank part
        core = np.eye(D.U.shape[1]) + D.V.T @ TU
        try:
            dx = np.asarray(dx - TU @ np.linalg.solve(core, D.V.T @ dx), dtype=float)
        except np.linalg.LinAlgError:
            return None
    return dx if np.all(np.isfinite(dx)) else None
