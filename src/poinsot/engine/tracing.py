"""Arithmetic as instructions: a function is run on numbers that write down what is done to them.

Kernels consist of thousands of small sums and products. Typed and lowered by Numba as a function,
each call would take longer to build than what it does; run on such numbers, a function is nothing
but its instructions. It stays plain Python itself.
"""

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

REAL = ir.DoubleType()
Tuple: Any = types.Tuple
#: A product may be fused with a sum, as elsewhere.
FUSED = ("contract",)


class Number:
    """A number in machine code; without a builder, one whose type alone matters."""

    def __init__(self, builder: Any, value: Any, *, real: bool = True) -> None:
        self.builder, self.value, self.real = builder, value, real

    def _with(self, operation: str, other: Any, *, turned: bool = False) -> "Number":
        number = other if isinstance(other, Number) else None
        real = self.real or (isinstance(other, float) if number is None else number.real)
        if self.builder is None:
            return Number(None, None, real=real)
        a, b = (_value(self.builder, each, real=real) for each in (self, other))
        if turned:
            a, b = b, a
        if not real:
            return Number(self.builder, getattr(self.builder, operation)(a, b), real=False)
        value = getattr(self.builder, f"f{operation}")(a, b, flags=FUSED)
        return Number(self.builder, value)

    def __add__(self, other: Any) -> "Number":
        return self._with("add", other)

    def __radd__(self, other: Any) -> "Number":
        return self._with("add", other, turned=True)

    def __sub__(self, other: Any) -> "Number":
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> "Number":
        return self._with("sub", other, turned=True)

    def __mul__(self, other: Any) -> "Number":
        return self._with("mul", other)

    def __rmul__(self, other: Any) -> "Number":
        return self._with("mul", other, turned=True)

    def __truediv__(self, other: Any) -> "Number":
        return self._with("div", other)

    def __rtruediv__(self, other: Any) -> "Number":
        return self._with("div", other, turned=True)

    def __neg__(self) -> "Number":
        value = None if self.builder is None else self.builder.fneg(self.value, flags=FUSED)
        return Number(self.builder, value)


class Array:
    """An array in machine code, by rows and columns."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self.context, self.builder, self.kind, self.value = context, builder, kind, value

    def place(self, at: tuple[Any, ...]) -> Any:
        """Return a pointer to an entry: all arrays are contiguous."""
        model, builder = self.context.data_model_manager[self.kind], self.builder
        data, shape = (
            builder.extract_value(self.value, model.get_field_position(field))
            for field in ("data", "shape")
        )
        flat = _value(builder, at[0], real=False)
        for k, index in enumerate(at[1:]):
            row = builder.mul(flat, builder.extract_value(shape, k + 1))
            flat = builder.add(row, _value(builder, index, real=False))
        return builder.gep(data, [flat], inbounds=True)

    def __getitem__(self, at: tuple[Any, ...]) -> Number:
        if self.builder is None:
            return Number(None, None)
        return Number(self.builder, self.builder.load(self.place(at)))

    def __setitem__(self, at: tuple[Any, ...], number: Any) -> None:
        if self.builder is not None:
            value = _value(self.builder, number, real=True)
            self.builder.store(value, self.place(at))


def _value(builder: Any, number: Any, *, real: bool) -> Any:
    """Return a number as a value in machine code."""
    if not isinstance(number, Number):
        return ir.Constant(REAL if real else ir.IntType(64), number)
    if real and not number.real:
        return builder.sitofp(number.value, REAL)
    return number.value


def _members(kind: Any) -> list[Any]:
    """Return the types of the members of a tuple."""
    return list(kind)


def _argument(kind: Any) -> Any:
    """Return the type that an argument is taken as."""
    if isinstance(kind, types.Integer):
        return types.intp
    if isinstance(kind, types.BaseTuple):
        return Tuple([_argument(each) for each in _members(kind)])
    return types.float64 if isinstance(kind, types.Float) else kind


def _lift(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an argument as numbers that write instructions."""
    if isinstance(kind, types.Array):
        return Array(context, builder, kind, value)
    if isinstance(kind, types.BaseTuple):
        parts = list[Any]()
        for k, each in enumerate(_members(kind)):
            part = None if builder is None else builder.extract_value(value, k)
            parts.append(_lift(context, builder, each, part))
        return tuple(parts)
    return Number(builder, value, real=not isinstance(kind, types.Integer))


def _kind(result: Any) -> Any:
    """Return the type of what a function returns."""
    if result is None:
        return types.none
    if isinstance(result, tuple):
        return Tuple([_kind(each) for each in result])
    return types.float64


def _lower(context: Any, builder: Any, result: Any) -> Any:
    """Return what a function returns as a value in machine code."""
    if result is None:
        return context.get_dummy_value()
    if isinstance(result, tuple):
        parts = [_lower(context, builder, each) for each in result]
        return context.make_tuple(builder, _kind(result), parts)
    return _value(builder, result, real=True)


def traced(function: Callable[..., Any]) -> Any:
    """Return a function of sums and products for Numba, as the instructions that it amounts to."""

    def typed(typing: Any, *kinds: Any) -> Any:
        taken = [_argument(kind) for kind in kinds]
        result = _kind(function(*(_lift(None, None, kind, None) for kind in taken)))

        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            both = zip(taken, values, strict=True)
            return _lower(context, builder, function(*(_lift(context, builder, *b) for b in both)))

        return result(*taken), generate

    return called_as(function, typed)


def called_as(function: Callable[..., Any], typed: Callable[..., Any]) -> Any:
    """Return what Numba calls instead of a function, with arguments of the same names."""
    own, given = (signature(each).parameters.values() for each in (typed, function))
    plain = [one.replace(annotation=Parameter.empty) for one in (next(iter(own)), *given)]
    typed.__signature__ = Signature(plain)  # type: ignore[attr-defined]
    typed.__name__ = function.__name__
    return intrinsic(typed)
