"""Kernels: Python functions on plain numbers and arrays that `build` turns into machine code.

As they stand they are plain Python, and run as such, slowly. Nothing here imports Numba: a
mechanism runs in machine code that was built before.
"""

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Every kernel, and whether it is compiled into the kernels that call it.
KERNELS: dict[Callable[..., Any], bool] = {}
#: Every function of sums and products.
ARITHMETIC: list[Callable[..., Any]] = []


def kernel(function: F) -> F:
    """Mark a function that is compiled by itself."""
    KERNELS[function] = False
    return function


def inline(function: F) -> F:
    """Mark a function of a few numbers that is compiled into the kernels that call it."""
    KERNELS[function] = True
    return function


def arithmetic(function: F) -> F:
    """Mark a function of sums and products, without branches: every call is its instructions."""
    ARITHMETIC.append(function)
    return function
