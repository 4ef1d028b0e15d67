"""Laws of sampled controllers as functions with an address: Python, Numba, and formulas.

A law takes (t, y, x) as consecutive numbers, with measured values y and its own states x, and
returns (u, x at the next sample).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import nan
from typing import Any, Protocol

import numpy as np

from poinsot.errors import InputError, failure
from poinsot.kernels.laws import VALUES, Law
from poinsot.parts.fmus import FMULaw
from poinsot.parts.formula_laws import machine_code
from poinsot.parts.state_spaces import StateSpace, sampled_system
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.graphs import Graph
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.system import PHSystem


@dataclass(frozen=True)
class Sizes:
    """How many numbers a law measures, how many states it has, and how many it puts out."""

    measured: int
    states: int
    outputs: int

    @property
    def given(self) -> int:
        """How many numbers a law is given: the time, what is measured, its states."""
        return 1 + self.measured + self.states

    @property
    def found(self) -> int:
        """How many it finds."""
        return self.outputs + self.states

    def split(self, given: Vector) -> tuple[float, Vector, Vector]:
        """Return t, y and x."""
        return float(given[0]), given[1 : 1 + self.measured], given[1 + self.measured :]


class ControlLaw(Protocol):
    """A law with an address; `in_python` if that is a Python function, which may take any time."""

    in_python: bool

    @property
    def address(self) -> int:
        """Where it is."""
        ...

    @property
    def slopes(self) -> CompiledFunction | None:
        """What finds the same, and then the slopes by y and x row by row; None: nothing does."""
        ...

    def over(self, given: Array) -> Array:
        """Return what it finds, of many rows of numbers."""
        ...

    def trouble(self, given: Vector, found: Vector) -> tuple[str, BaseException | None]:
        """Return why it failed, where it was given and found that, and an exception, if any."""
        ...


class PythonLaw:
    """A Python function u = f(t, y), or (u, x_next) = f(t, y, x)."""

    in_python = True
    slopes = None

    def __init__(self, function: Callable[..., Any], sizes: Sizes) -> None:
        self._function, self._sizes = function, sizes
        self._failed: tuple[str, BaseException | None] = "gives nothing", None
        self.called = Law(self._answer, sizes.given, sizes.found)

    @property
    def address(self) -> int:
        """Where it is."""
        return self.called.address

    def _answer(self, given: list[float], wanted: int) -> Sequence[float]:
        sizes = self._sizes
        y = np.array(given[1 : 1 + sizes.measured])
        try:
            if not sizes.states:
                return as_numbers(self._function(given[0], y), sizes.outputs, "")
            value = self._function(given[0], y, np.array(given[1 + sizes.measured :]))
            if not isinstance(value, tuple) or len(value) != 2:
                raise InputError(f"gives {value!r}, expected a pair (u, x_next)")
            u = as_numbers(value[0], sizes.outputs, "")
            return [*u, *as_numbers(value[1], sizes.states, " for its states")]
        except BaseException as error:
            said = failure(error)
            self._failed = said, error
            raise

    def over(self, given: Array) -> Array:
        """Return what it finds, of many rows of numbers."""
        found = [self._answer(row, VALUES) for row in given.tolist()]
        return np.array(found, dtype=float).reshape(len(given), self._sizes.found)

    def trouble(self, given: Vector, found: Vector) -> tuple[str, BaseException | None]:
        """Return what went wrong when it was called last."""
        return self._failed


@dataclass(frozen=True, eq=False)
class FormulaLaw:
    """Formulas, one for each output, of (t, y, x); with states, those of the next sample follow."""

    formula: FormulaRows
    sizes: Sizes
    in_python = False

    def __post_init__(self) -> None:
        """Translate it."""
        function = machine_code(self.sizes.given, self.formula.program)
        if function is None:
            raise InputError("its formulas are too long; give a Numba function")
        object.__setattr__(self, "_function", function)

    @property
    def address(self) -> int:
        """Where it is."""
        return int(vars(self)["_function"].address)

    @cached_property
    def slopes(self) -> CompiledFunction | None:
        """What finds the same, and then the exact slopes; None if that is too long."""
        graph, rows = self.formula.graph, self.formula.rows
        by = range(1, self.sizes.given)
        slopes = [graph.slope(row, place) for row in rows for place in by]
        return machine_code(self.sizes.given, graph.program(*rows, *slopes))

    def over(self, given: Array) -> Array:
        """Return what they are, of many rows of numbers."""
        found = self.formula.program(*given.T)
        return np.column_stack([np.broadcast_to(each, len(given)) for each in found])

    def trouble(self, given: Vector, found: Vector) -> tuple[str, BaseException | None]:
        """Return what it gives."""
        return f"gives {found.tolist()}", None


@dataclass(frozen=True, eq=False)
class NumbaLaw:
    """A Numba function u = f(t, y), or (u, x_next) = f(t, y, x): numbers, tuples or arrays."""

    function: Any
    sizes: Sizes
    in_python = False
    slopes = None

    def __post_init__(self) -> None:
        """Compile it."""
        object.__setattr__(self, "_callback", _callback(self.function, self.sizes))

    @property
    def address(self) -> int:
        """Where it is."""
        return int(vars(self)["_callback"].address)

    def over(self, given: Array) -> Array:
        """Return what it finds, of many rows of numbers."""
        found = np.zeros((len(given), self.sizes.found))
        for row, (t, y, x) in zip(found, map(self.sizes.split, given), strict=True):
            value = self.function(t, y, x) if self.sizes.states else (self.function(t, y), ())
            row[:] = np.concatenate([np.atleast_1d(part).astype(float) for part in value])
        return found

    def trouble(self, given: Vector, found: Vector) -> tuple[str, BaseException | None]:
        """Return what it raises there, or gives."""
        t, y, x = self.sizes.split(given)
        try:
            value = self.function(t, y, x) if self.sizes.states else self.function(t, y)
        except Exception as error:
            return failure(error), error
        expected = f"{self.sizes.outputs} finite number(s)"
        if self.sizes.states:
            expected = f"(u, x_next) of {self.sizes.outputs} and {self.sizes.states} finite numbers"
        return f"gives {value!r}, expected {expected}", None


def as_numbers(value: Any, size: int, what: str) -> list[float]:
    """Return what a law gives as so many numbers; `what` they are for."""
    if isinstance(value, float) and size == 1:
        numbers = [value]
    else:
        try:
            numbers = np.asarray(value, dtype=float).reshape(-1).tolist()
        except (TypeError, ValueError):
            numbers = []
    if len(numbers) != size or not np.all(np.isfinite(numbers)):
        raise InputError(f"gives {value!r}{what}, expected {size} finite number(s)")
    return numbers


@lru_cache(maxsize=256)
def _callback(function: Any, sizes: Sizes) -> Any:
    """Return a function of addresses that reads (t, y, x) and writes (u, x_next)."""
    import numba
    from numba import carray  # type: ignore[attr-defined]
    from numba.core.errors import NumbaError

    real = numba.types.CPointer(numba.types.float64)  # type: ignore[no-untyped-call]
    put, measured, given, found = _put(), sizes.measured, sizes.given, sizes.found
    outputs = sizes.outputs

    def without_states(source: Any, target: Any, wanted: int) -> None:
        numbers, room = carray(source, (given,)), carray(target, (found,))
        try:
            put(room, function(numbers[0], numbers[1:]))
        except Exception:  # said when it is called again, from Python
            room[:] = nan

    def with_states(source: Any, target: Any, wanted: int) -> None:
        numbers, room = carray(source, (given,)), carray(target, (found,))
        try:
            u, x = function(numbers[0], numbers[1 : 1 + measured], numbers[1 + measured :])
            put(room[:outputs], u)
            put(room[outputs:], x)
        except Exception:
            room[:] = nan

    signature = numba.types.void(real, real, numba.types.int64)
    try:
        return numba.cfunc(signature)(with_states if sizes.states else without_states)
    except NumbaError as error:
        why = str(error).strip().splitlines()
        raise InputError(f"Numba cannot compile its law: {why[0] if why else error}") from error


@lru_cache(maxsize=1)
def _put() -> Any:
    """Return a Numba function that writes a number, a tuple or an array where it fits."""
    import numba
    from numba.extending import overload

    def put(room: Any, value: Any) -> None:
        raise NotImplementedError

    @overload(put)
    def _(room: Any, value: Any) -> Any:
        if isinstance(value, numba.types.BaseTuple):
            lines = [f"        room[{k}] = value[{k}]" for k in range(len(value))]
            # With the annotations of this function: Numba compares them.
            space: dict[str, Any] = {"Any": Any}
            head = "def put(room: Any, value: Any):", f"    if room.size == {len(value)}:"
            exec("\n".join([*head, *lines]), space)
            return space["put"]
        if isinstance(value, numba.types.Array):

            def array(room: Any, value: Any) -> None:
                if room.size == value.size:
                    for k, entry in enumerate(value.flat):
                        room[k] = entry

            return array

        def number(room: Any, value: Any) -> None:
            if room.size == 1:
                room[0] = value

        return number

    return put


#: A state space with more numbers than this in its matrices is called as a Python function.
MOST = 1000


def control_law(law: Any, sizes: Sizes, every: float) -> ControlLaw:
    """Return a law that is called every so often [s] as a function with an address."""
    if isinstance(law, FMULaw):
        return PythonLaw(law.begun(), sizes)
    if isinstance(law, PHSystem):
        return PythonLaw(sampled_system(law, every), sizes)
    if isinstance(law, StateSpace):
        linear = law.sampled(every)
        if sizes.found * (sizes.given - 1) > MOST:
            return PythonLaw(linear if sizes.states else lambda t, y: linear.D @ y, sizes)
        return FormulaLaw(sums(linear), sizes)
    if isinstance(law, FormulaRows):
        return FormulaLaw(law, sizes)
    if hasattr(law, "py_func"):
        return NumbaLaw(law, sizes)
    return PythonLaw(law, sizes)


def sums(linear: StateSpace) -> FormulaRows:
    """Return a state space as formulas of (t, y, x)."""
    graph, variables = Graph(), ["t", *(f"y_{k}" for k in range(linear.measured))]
    variables += [f"x_{k}" for k in range(linear.states)]
    rows = [_sum(graph, row) for row in np.block([[linear.D, linear.C], [linear.B, linear.A]])]
    return FormulaRows(tuple(variables), graph, tuple(rows), ())


def _sum(graph: Graph, factors: Array) -> int:
    """Return the row of a sum of variables, behind the time, times factors."""
    total = graph.number(0.0)
    for k, factor in enumerate(factors.tolist()):
        total = graph.plus(total, graph.times(graph.number(factor), graph.variable(1 + k)))
    return total
