"""Least-squares fits of simulated motions, with residuals and Jacobian from the same simulation."""

from collections.abc import Callable
from typing import Any

from scipy.optimize import least_squares

from poinsot.result import Array


def fitted(
    motion: Callable[[Array], tuple[Array, Array]], start: Array, **options: Any
) -> tuple[Any, int]:
    """Return SciPy's least-squares solution, and the number of simulations.

    Parameters
    ----------
    motion : callable
        Parameters -> residuals (n,) and Jacobian (n, parameters); called once for each point.
    start : (parameters,)
        Initial guess.
    options
        Options of `scipy.optimize.least_squares`.
    """
    seen: dict[tuple[float, ...], tuple[Array, Array]] = {}

    def once(p: Array) -> tuple[Array, Array]:
        key = tuple(p.tolist())
        if key not in seen:
            seen[key] = motion(p)
        return seen[key]

    def residuals(p: Array) -> Array:
        return once(p)[0]

    def jacobian(p: Array) -> Array:
        return once(p)[1]

    return least_squares(residuals, start, jacobian, **options), len(seen)
