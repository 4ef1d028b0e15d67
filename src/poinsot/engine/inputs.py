"""Inputs that are Numba functions of time, sampled in a compiled loop."""

from typing import Any

import numba
from numba.core.errors import TypingError

from poinsot.kernels.algebra import Array


@numba.njit
def _numbers(f: Any, times: Array, u: Array) -> None:
    for k in range(times.size):
        u[k, 0] = f(times[k])


@numba.njit
def _vectors(f: Any, times: Array, u: Array) -> None:
    for k in range(times.size):
        value = f(times[k])
        for j in range(u.shape[1]):
            u[k, j] = value[j]


def sample(f: Any, times: Array, u: Array) -> None:
    """Set u (times, size) to f at every time; f returns a number, a tuple or an array."""
    try:
        (_numbers if u.shape[1] == 1 else _vectors)(f, times, u)
    except TypingError:
        _vectors(f, times, u)
