"""Numerical derivatives: a fallback where none is given, and an independent check where one is."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from poinsot.errors import MissingDerivativeWarning, printable
from poinsot.ph.matrices import Array

#: Sixth-order central difference: f' = sum_k c_k (f(x + k s) - f(x - k s)) / s.
COEFFICIENTS = (3 / 4, -3 / 20, 1 / 60)
#: Balances truncation s^6 against round-off eps / s.
RELATIVE_STEP = float(np.finfo(float).eps ** (1 / 7))
ROUGH_STEP = float(np.finfo(float).eps ** (1 / 3))


def jacobian(
    f: Callable[[Array], Array], x: Array, scale: float = 1.0, *, rough: bool = False
) -> Array:
    """Return df_i/dx_j by sixth-order central differences; about 1e-12 relative for smooth f.

    `scale` is the length over which f changes by much, where it is far from max(1, abs(x_j)).
    `rough` takes second order, a third of the work, and gives about 1e-10: enough for Newton.
    """
    coefficients, relative_step = ((0.5,), ROUGH_STEP) if rough else (COEFFICIENTS, RELATIVE_STEP)
    columns = []
    for j in range(x.size):
        step = scale * relative_step * max(1.0, abs(x[j]))
        shift = np.zeros(x.size)
        total: Array | float = 0.0
        for k, c in enumerate(coefficients, start=1):
            shift[j] = k * step
            total = total + c * (np.asarray(f(x + shift)) - np.asarray(f(x - shift)))
        columns.append(np.atleast_1d(total / step))
    return np.stack(columns, axis=1) if columns else np.zeros((np.atleast_1d(f(x)).size, 0))


def gradient(f: Callable[[Array], float], x: Array, scale: float = 1.0) -> Array:
    """Return df/dx_j of a scalar function by sixth-order central differences."""
    row: Array = jacobian(lambda x_: np.array([f(x_)]), x, scale)[0]
    return row


def warn_missing(what: str, missing: Sequence[str], *, stacklevel: int) -> None:
    """Say which derivatives are found by finite differences, to the caller so many levels up."""
    if missing:
        warnings.warn(
            f"{printable(what)}: {', '.join(missing)} not given, computed by finite differences; "
            "pass them for speed and accuracy",
            MissingDerivativeWarning,
            stacklevel=stacklevel + 1,
        )
