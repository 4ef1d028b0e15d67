"""Numba functions as laws in the compiled engine: springs, dampers and motors.

Derivatives that are not given are computed by differences, by the same functions as for laws in
Python, which Numba compiles, too. A law that Numba cannot compile this way is called by Python.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from types import FunctionType
from typing import Any

from poinsot.kernels.laws import ENERGY as WHOLE_ENERGY
from poinsot.kernels.laws import SLOPES
from poinsot.parts.elastic import ByEnergy, ByForce, Elastic, mean_by_energy
from poinsot.parts.feedback import JointLaw
from poinsot.parts.forces import OneNumber
from poinsot.parts.formula_laws import ENERGY, FORCE, OF_FORCES, OF_POINTS, OF_STEPS
from poinsot.parts.resistance import AnyLaw, slope_of_rate
from poinsot.ph.derivatives import RELATIVE_STEP, SINGLE_STEP, slope_by


@dataclass(frozen=True, eq=False)
class NumbaFunction:
    """A function of addresses that reads so many numbers and writes so many; it owns its code."""

    callback: Any
    sizes: tuple[int, int]

    @property
    def address(self) -> int:
        """Where it is."""
        return int(self.callback.address)


def of_spring(elastic: Elastic) -> tuple[NumbaFunction, int, tuple[float, ...]] | None:
    """Return a spring of Numba functions as machine code, what law it is, and its numbers."""
    if isinstance(elastic, ByEnergy):
        function = _by_energy(_own(elastic.V), elastic.scale)
        return None if function is None else (function, OF_STEPS, (0.0,) * 4)
    if not isinstance(elastic, ByForce):
        return None
    energy, stiffness = _own(elastic.V), _own(elastic.stiffness)
    if (energy is None and elastic.origin is None) or stiffness is None is not elastic.stiffness:
        return None
    function = _by_force(_own(elastic.force), stiffness, energy, elastic.scale)
    if function is None:
        return None
    numbers = (elastic.origin or 0.0, elastic.scale, 0.0, 0.0)
    return function, OF_FORCES if energy is None else OF_POINTS, numbers


def of_damper(damper: AnyLaw) -> NumbaFunction | None:
    """Return a damper of a Numba function as machine code: force and slope."""
    dlaw = _own(damper.dlaw)
    if dlaw is None is not damper.dlaw:
        return None
    return _by_rate(_own(damper.law), dlaw, damper.viscous)


def of_motor(feedback: JointLaw) -> NumbaFunction | None:
    """Return the Numba function of a motor: input, and slopes by coordinate and rate."""
    return _by_motion(_own(feedback.law))


def _own(law: Any) -> Any:
    """Return the Numba function that a law is, if it is one."""
    given = law.function if isinstance(law, OneNumber) else law
    return given if hasattr(given, "py_func") else None


# -- answers to kernels ----------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _by_energy(V: Any, scale: float) -> NumbaFunction | None:
    if V is None:
        return None
    mean_and_slope = translated(mean_by_energy)

    def answer(given: Any, found: Any, wanted: int) -> None:
        if wanted == WHOLE_ENERGY:
            found[0] = V(given[0])
        else:
            found[0], found[1] = mean_and_slope(V, scale, given[0], given[1])

    return _function(answer, 2, 2)


@lru_cache(maxsize=256)
def _by_force(force: Any, stiffness: Any, energy: Any, scale: float) -> NumbaFunction | None:
    if force is None:
        return None
    slope, V = translated(slope_by), force if energy is None else energy

    def by_differences(chi: float) -> float:
        return slope(force, chi, RELATIVE_STEP * max(scale, abs(chi)))  # type: ignore[no-any-return]

    bend = translated(by_differences) if stiffness is None else stiffness

    def answer(given: Any, found: Any, wanted: int) -> None:
        if wanted == FORCE:
            found[0] = force(given[0])
        elif wanted == ENERGY:
            found[0] = V(given[0])
        else:
            found[0] = bend(given[0])

    return _function(answer, 1, 1)


@lru_cache(maxsize=256)
def _by_rate(law: Any, dlaw: Any, viscous: float) -> NumbaFunction | None:
    if law is None:
        return None
    slope = translated(slope_of_rate)

    def by_differences(rate: float) -> float:
        return slope(law, rate)  # type: ignore[no-any-return]

    bend = translated(by_differences) if dlaw is None else dlaw

    def answer(given: Any, found: Any, wanted: int) -> None:
        found[0] = viscous * given[0] + law(given[0])
        if wanted == SLOPES:
            found[1] = viscous + bend(given[0])

    return _function(answer, 1, 2)


@lru_cache(maxsize=256)
def _by_motion(law: Any) -> NumbaFunction | None:
    if law is None:
        return None

    def answer(given: Any, found: Any, wanted: int) -> None:
        t, chi, rate = given[0], given[1], given[2]
        u = law(t, chi, rate)
        found[0] = u
        if wanted == SLOPES:
            further = chi + SINGLE_STEP * max(1.0, abs(chi))
            faster = rate + SINGLE_STEP * max(1.0, abs(rate))
            found[1] = (law(t, further, rate) - u) / (further - chi)
            found[2] = (law(t, chi, faster) - u) / (faster - rate)

    return _function(answer, 3, 3)


def _function(answer: Callable[..., None], given: int, found: int) -> NumbaFunction | None:
    """Return an answer as a function of addresses; None if Numba cannot translate it.

    One that raises leaves NaN: the reference engine takes the step again, and says what is wrong.
    """
    import numba
    from numba import carray  # type: ignore[attr-defined]
    from numba.core.errors import NumbaError

    inner = numba.njit(answer)
    real = numba.types.CPointer(numba.types.float64)  # type: ignore[no-untyped-call]

    def call(source: Any, target: Any, wanted: int) -> None:
        numbers, room = carray(source, (given,)), carray(target, (found,))
        try:
            inner(numbers, room, wanted)
        except Exception:
            room[:] = nan

    try:
        callback = numba.cfunc(numba.types.void(real, real, numba.types.int64))(call)
    except NumbaError:
        return None
    return NumbaFunction(callback, (given, found))


@lru_cache(maxsize=256)
def translated(function: Callable[..., Any]) -> Any:
    """Return a Numba function of a Python function, and of all Python functions that it calls."""
    import numba

    assert isinstance(function, FunctionType)
    code, known = function.__code__, {**function.__globals__}
    for name in code.co_names:
        if isinstance(known.get(name), FunctionType):
            known[name] = translated(known[name])
    return numba.njit(FunctionType(code, known, code.co_name, None, function.__closure__))
