"""Numerical derivatives: used where none are given, and for checks of given ones."""

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from poinsot.errors import MissingDerivativeWarning, printable
from poinsot.ph.matrices import Array

#: Sixth-order central difference: f' = sum_k c_k (f(x + k s) - f(x - k s)) / s.
COEFFICIENTS = (3 / 4, -3 / 20, 1 / 60)
#: Balances truncation s^6 against round-off eps / s.
RELATIVE_STEP = float(np.finfo(float).eps ** (1 / 7))
ROUGH_STEP = float(np.finfo(float).eps ** (1 / 3))
SINGLE_STEP = float(np.finfo(float).eps ** (1 / 2))
SECOND_STEP = float(np.finfo(float).eps ** (1 / 3))


def jacobian(
    f: Callable[[Array], Array], x: Array, scale: float | Array = 1.0, *, rough: bool = False
) -> Array:
    """Return df_i/dx_j by sixth-order central differences; about 1e-12 relative for smooth f.

    `scale` is what f changes by much over, where x_j itself is smaller. `rough` takes second order,
    a third of the work, and gives about 1e-10: enough for Newton.
    """
    coefficients, relative_step = ((0.5,), ROUGH_STEP) if rough else (COEFFICIENTS, RELATIVE_STEP)
    columns = []
    for j, step in enumerate(relative_step * np.maximum(scale, abs(x))):
        shift = np.zeros(x.size)
        total: Array | float = 0.0
        for k, c in enumerate(coefficients, start=1):
            shift[j] = k * step
            total = total + c * (np.asarray(f(x + shift)) - np.asarray(f(x - shift)))
        columns.append(np.atleast_1d(total / step))
    return np.stack(columns, axis=1) if columns else np.zeros((np.atleast_1d(f(x)).size, 0))


def single_differences(
    f: Callable[[list[float]], Sequence[float]],
    x: Sequence[float],
    value: Sequence[float],
    columns: Iterable[int],
) -> list[list[float]]:
    """Return df/dx_j for some columns j, where the value f(x) is known.

    One evaluation a column, on plain numbers, and about 1e-8: enough for Newton.
    """
    slopes = []
    for j in columns:
        shifted = list(x)
        shifted[j] += SINGLE_STEP * max(1.0, abs(x[j]))
        step = shifted[j] - x[j]
        slopes.append([(b - a) / step for a, b in zip(value, f(shifted), strict=True)])
    return slopes


def slope_by(f: Callable[[float], float], x: float, step: float) -> float:
    """Return df/dx of a function of one number by sixth-order central differences."""
    total = 0.0
    for k in (1, 2, 3):
        total += COEFFICIENTS[k - 1] * (f(x + k * step) - f(x - k * step))
    return total / step


def odd_part(one: float, two: float, three: float) -> tuple[float, float, float]:
    """Return c1, c3, c5 of the odd polynomial c1 x + c3 x^3 + c5 x^5 with values at 1, 2, 3."""
    c5 = ((three - 3 * one) - 4 * (two - 2 * one)) / 120
    c3 = (two - 2 * one) / 6 - 5 * c5
    return one - c3 - c5, c3, c5


def mean_by_values(
    f: Callable[[float], float], start: float, width: float, step: float
) -> tuple[float, float]:
    """Return the mean of df/dx over an interval, and its derivative by the interval's end.

    They are those of the polynomial through seven values of f that are a step apart, about the
    middle; the interval is to be no wider than two steps.
    """
    middle, a = start + width / 2, width / (2 * step)
    values = [f(middle + k * step) for k in (-3, -2, -1, 0, 1, 2, 3)]
    one, two, three = values[4] - values[2], values[5] - values[1], values[6] - values[0]
    c1, c3, c5 = odd_part(one / 2, two / 2, three / 2)
    mean = (c1 + a * a * (c3 + a * a * c5)) / step
    bend = (values[4] - 2 * values[3] + values[2]) / step**2
    return mean, bend / 2 + a * (c3 + 2 * a * a * c5) / step**2


def hessian(f: Callable[[Array], float], x: Array, scale: float | Array = 1.0) -> Array:
    """Return d^2f/dx_i dx_j by differences of f; about 1e-5: enough for Newton."""
    steps = SECOND_STEP * np.maximum(scale, abs(x))
    unit, here = np.diag(steps), f(x)
    there = [f(x + shift) for shift in unit]
    found = np.empty((x.size, x.size))
    for i in range(x.size):
        for j in range(i + 1):
            both = f(x + unit[i] + unit[j])
            found[i, j] = found[j, i] = (both - there[i] - there[j] + here) / (steps[i] * steps[j])
    return found


def gradient(
    f: Callable[[Array], float], x: Array, scale: float | Array = 1.0, *, rough: bool = False
) -> Array:
    """Return df/dx_j of a scalar function by central differences, as `jacobian` does."""
    coefficients, relative_step = ((0.5,), ROUGH_STEP) if rough else (COEFFICIENTS, RELATIVE_STEP)
    steps = relative_step * np.maximum(scale, abs(x))
    total, shifts = np.zeros(x.size), np.diag(steps)
    for k, c in enumerate(coefficients, start=1):
        above, below = ([f(a) for a in x + sign * k * shifts] for sign in (1, -1))
        total += c * (np.array(above) - np.array(below))
    return total / steps


def warn_missing(what: str, missing: Sequence[str], *, stacklevel: int) -> None:
    """Say which derivatives are found by finite differences, to the caller so many levels up."""
    if missing:
        warnings.warn(
            f"{printable(what)}: {', '.join(missing)} not given and computed by finite "
            "differences; give them for speed and accuracy",
            MissingDerivativeWarning,
            stacklevel=stacklevel + 1,
        )
