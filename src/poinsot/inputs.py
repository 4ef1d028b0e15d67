"""Checks of user input: numbers, vectors, names and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import hypot, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError


def numbers(value: Any, what: str) -> NDArray[np.float64]:
    """Return numbers as a new array of any shape."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: expected numbers, got {value!r}") from None


def vector3(value: Any, what: str) -> NDArray[np.float64]:
    """Return three finite numbers as a new array; shape (3,)."""
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: expected three numbers, got {value!r}") from None
    if vector.shape != (3,) or not all(map(isfinite, vector.tolist())):
        raise InputError(f"{what}: expected three finite numbers, got {value!r}")
    vector.flags.writeable = False
    return vector


def unit3(value: Any, what: str) -> NDArray[np.float64]:
    """Return a direction as a unit vector; shape (3,)."""
    vector = vector3(value, what)
    length = hypot(*vector.tolist())
    if length == 0:
        raise InputError(f"{what}: the vector is zero; give a direction")
    unit: NDArray[np.float64] = vector / length
    return unit


def number(value: Any, what: str, *, minimum: float = -np.inf) -> float:
    """Return a finite number, at least `minimum`."""
    if isinstance(value, bool | str) or not np.isscalar(value) or not np.isreal(value):
        raise InputError(f"{what}: expected a number, got {value!r}")
    try:
        converted = float(value)  # type: ignore[arg-type]
    except OverflowError:
        converted = np.inf
    if not np.isfinite(converted) or converted < minimum:
        wanted = "a finite number" if minimum == -np.inf else f"a finite number >= {minimum:g}"
        raise InputError(f"{what} is {value!r}; it must be {wanted}")
    return converted


def positive(value: Any, what: str) -> float:
    """Return a finite number above zero."""
    converted = number(value, what)
    if converted <= 0:
        raise InputError(f"{what} is {value!r}; it must be positive")
    return converted


def count(value: Any, what: str, least: int) -> int:
    """Return a whole number, not below the least one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what} is {value!r}; it must be a whole number, at least {least}")
    return value


def flag(value: Any, what: str) -> bool:
    """Return True or False: whatever else counts as one of them is rather a mistake."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{what} is {value!r}; choose True or False")
    return bool(value)


def require_name(value: Any, what: str) -> str:
    """Return the name of something: a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} needs a name (a string), got {value!r}")
    return value


def function(value: Any, what: str) -> Callable[..., Any]:
    """Return the value if it can be called."""
    if not callable(value):
        raise InputError(f"{what}: expected a function, got {value!r}")
    called: Callable[..., Any] = value
    return called


def named(value: Any, what: str, example: str) -> Mapping[str, Any]:
    """Return the value if it maps names to something; None is nothing."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{what} is {value!r}; give a mapping, e.g. {example}")
    return value
