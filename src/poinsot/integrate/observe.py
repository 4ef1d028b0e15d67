"""What a kind of system shows besides its states: bodies, joints, momenta."""

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import TypeAlias

import numpy as np

from poinsot.integrate.history import History
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result import Array, Lazy, Observation


@singledispatch
def observe(system: PHSystem, history: History) -> Observation:
    """Return what there is to see in the saved states; what takes time, when it is asked for."""
    return Observation()


@singledispatch
def angles(system: PHSystem, x: Vector) -> Vector:
    """Return the angles [rad] to be followed over turns, each in (-pi, pi]; none by default."""
    return np.zeros(0)


@singledispatch
def surveyor(system: PHSystem) -> Callable[[History], Observation]:
    """Return what does the same as `observe`, for those who want to see everything."""
    return lambda history: observe(system, history)


#: Functions of some columns of the saved states, by the name of what they return.
Looks: TypeAlias = Mapping[str, tuple[Callable[[Array], Array], slice]]


def lazily(looks: Looks, history: History, midpoints: Looks | None = None) -> Lazy[Array]:
    """Return arrays by name, each a look at some columns of saved states when asked for.

    `midpoints` are looks at the states in the middle of steps.
    """
    inner = midpoints or {}

    def look(name: str) -> Array:
        over = history.over_midpoints if name in inner else history.over_times
        function, columns = {**looks, **inner}[name]
        return over(lambda x: (function(x),), columns)[0]

    return Lazy([*looks, *inner], look)


def first_of(*parts: Mapping[str, Array]) -> Lazy[Array]:
    """Return the arrays of all parts by name, each of the first one that has it."""

    def look(name: str) -> Array:
        return next(part for part in parts if name in part)[name]

    return Lazy([name for part in parts for name in part], look)


def state_by_state(
    system: PHSystem,
    looks: Mapping[str, Callable[[Vector], float]],
    history: History,
    midpoints: Mapping[str, Callable[[Vector], float]] | None = None,
) -> Lazy[Array]:
    """Return numbers by name, each a function of a whole state, at saved times or midpoints."""

    def each(one: Callable[[Vector], float]) -> Callable[[Array], Array]:
        return lambda rows: np.array([one(row) for row in rows], dtype=float)

    def over(ones: Mapping[str, Callable[[Vector], float]]) -> Looks:
        return {name: (each(one), slice(0, system.n)) for name, one in ones.items()}

    return lazily(over(looks), history, over(midpoints or {}))
