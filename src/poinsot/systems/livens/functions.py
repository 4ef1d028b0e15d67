"""Lagrangians from Python functions; derivatives that are not given are found by differences."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, MissingDerivativeWarning
from poinsot.inputs import function, numbers
from poinsot.ph.derivatives import jacobian as differences
from poinsot.ph.matrices import Vector
from poinsot.systems.livens.smooth import Array, Smooth, constant

#: q -> array.
OfCoordinates: TypeAlias = Callable[[Vector], ArrayLike]


def smooth(
    label: str,
    shape: tuple[int, ...],
    n: int,
    value: ArrayLike | OfCoordinates,
    first: tuple[str, ArrayLike | OfCoordinates | None] = ("", None),
    second: tuple[str, ArrayLike | OfCoordinates | None] = ("", None),
    *,
    along: Vector,
) -> tuple[Smooth, list[str]]:
    """Return a function of n coordinates, and the names of the derivatives that are missing.

    `first` and `second` are name and function of the derivatives: arrays whose last one or two
    indices are those of the coordinates. `along` (n,) is as in `Smooth`.
    """
    if not callable(value):
        array = numbers(value, label)
        if array.shape != shape:
            raise InputError(f"{label} has shape {array.shape}, expected {shape}")
        return constant(array, n), []
    given, size = function(value, label), int(np.prod(shape, dtype=int))

    def values(q: Vector) -> Vector:
        return _array(given(q), shape, label).reshape(-1)

    def slopes(q: Vector) -> Array:
        if first[1] is None:
            return differences(values, q)
        return _array(_at(first[1], q), (*shape, n), f"{label} ({first[0]})").reshape(size, n)

    def curvature(q: Vector, w: Vector) -> Array:
        if second[1] is None:
            return differences(lambda at: w @ slopes(at), q)
        tensor = _array(_at(second[1], q), (*shape, n, n), f"{label} ({second[0]})")
        return np.asarray(np.tensordot(w, tensor.reshape(size, n, n), axes=1))

    missing = [name for name, derivative in (first, second) if name and derivative is None]
    made = Smooth(
        value=values,
        jacobian=slopes,
        curvature=curvature,
        quadratic=np.zeros(size, dtype=bool),
        along=along,
        exact=first[1] is not None,
    )
    return made, missing


def _at(given: Any, q: Vector) -> Any:
    return given(q) if callable(given) else given


def _array(value: Any, shape: tuple[int, ...], label: str) -> Array:
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise InputError(f"{label} has shape {array.shape}, expected {shape}")
    return array


def warn_missing(name: str, missing: Sequence[str]) -> None:
    """Say which derivatives are found by finite differences."""
    if missing:
        warnings.warn(
            f"system '{name}': {', '.join(missing)} not given, computed by finite differences; "
            "pass them for speed and accuracy",
            MissingDerivativeWarning,
            stacklevel=3,
        )
