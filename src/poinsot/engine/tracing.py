"""Arithmetic as instructions: a function is run on numbers that write down what is done to them.

Kernels consist of thousands of small sums and products. Typed and lowered by Numba as a function,
each call would take longer to build than what it does; run on such numbers, a function is nothing
but its instructions. It stays plain Python itself.
"""

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import reduce
from inspect import Parameter, Signature, signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

REAL, WORD = ir.DoubleType(), ir.IntType(64)
VECTOR = ir.VectorType(REAL, 4)
Tuple: Any = types.Tuple
#: What LLVM may do to arithmetic. A product may be fused with a sum, as elsewhere.
FLAGS = ContextVar[tuple[str, ...]]("FLAGS", default=("contract",))
#: It may also leave out products with zeros, as if no number were NaN.
WITHOUT_ZEROS = ("contract", "nnan", "nsz")


class FourType(types.Type):
    """The type of four numbers, which a vector register holds."""

    def __init__(self) -> None:
        super().__init__(name="Four")


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]


FOUR = FourType()
#: The types of numbers: the sum of two has the later one of both.
KINDS: tuple[Any, ...] = (types.intp, types.float64, FOUR)


# -- what stands for arguments ---------------------------------------------------------------------


class Number:
    """A number, or four of them, in machine code; without a builder its type alone matters."""

    def __init__(self, builder: Any, value: Any, kind: Any = types.float64) -> None:
        self.builder, self.value, self.kind = builder, value, kind

    def _with(self, operation: str, other: Any, *, turned: bool = False) -> "Number":
        kind = max(self.kind, _kind(other), key=KINDS.index)
        if self.builder is None:
            return Number(None, None, kind)
        a, b = (value_of(self.builder, each, kind) for each in (self, other))
        if turned:
            a, b = b, a
        if kind is types.intp:
            return Number(self.builder, getattr(self.builder, operation)(a, b), kind)
        value = getattr(self.builder, f"f{operation}")(a, b, flags=FLAGS.get())
        return Number(self.builder, value, kind)

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
        value = None if self.builder is None else self.builder.fneg(self.value, flags=FLAGS.get())
        return Number(self.builder, value, self.kind)

    def __abs__(self) -> "Number":
        return larger(self, -self) if self.kind is FOUR else self.under("llvm.fabs")

    def __eq__(self, other: object) -> bool:
        raise TypeError("a function of numbers that are not known yet cannot have branches")

    def __bool__(self) -> bool:
        return self == 0

    def under(self, function: str) -> "Number":
        """Return a function of this number that LLVM knows."""
        if self.builder is None:
            return Number(None, None)
        value = value_of(self.builder, self, types.float64)
        known = self.builder.module.declare_intrinsic(function, [REAL])
        return Number(self.builder, self.builder.call(known, [value]))


def larger(a: Any, b: Any) -> Number:
    """Return the larger one of two numbers, or of each of four."""
    builder = builder_of((a, b))
    kind = FOUR if FOUR in (_kind(a), _kind(b)) else types.float64
    if builder is None:
        return Number(None, None, kind)
    x, y = (value_of(builder, each, kind) for each in (a, b))
    return Number(builder, builder.select(builder.fcmp_ordered(">", y, x), y, x), kind)


def builder_of(numbers: Iterable[Any]) -> Any:
    """Return what writes the instructions of some numbers, not all of them constants."""
    return next(number.builder for number in numbers if isinstance(number, Number))


class Array:
    """An array in machine code, by rows and columns, or what follows its first indices."""

    def __init__(
        self, context: Any, builder: Any, kind: Any, value: Any, first: tuple[Any, ...] = ()
    ) -> None:
        self.context, self.builder, self.kind, self.value = context, builder, kind, value
        self.first = first

    def place(self, indices: tuple[Any, ...]) -> Any:
        """Return a pointer to an entry: arrays are contiguous, or have their strides."""
        model, builder = self.context.data_model_manager[self.kind], self.builder
        data, shape, strides = (
            builder.extract_value(self.value, model.get_field_position(field))
            for field in ("data", "shape", "strides")
        )
        if self.kind.layout != "C":
            steps = [
                builder.mul(builder.extract_value(strides, k), value_of(builder, index, types.intp))
                for k, index in enumerate(indices)
            ]
            bytes_ = builder.bitcast(data, ir.IntType(8).as_pointer())
            at = builder.gep(bytes_, [reduce(builder.add, steps)], inbounds=True)
            return builder.bitcast(at, data.type)
        flat = value_of(builder, indices[0], types.intp)
        for k, index in enumerate(indices[1:]):
            row = builder.mul(flat, builder.extract_value(shape, k + 1))
            flat = builder.add(row, value_of(builder, index, types.intp))
        return builder.gep(data, [flat], inbounds=True)

    def _all(self, at: Any) -> tuple[Any, ...]:
        return (*self.first, *(at if isinstance(at, tuple) else (at,)))

    def __getitem__(self, at: Any) -> Any:
        indices = self._all(at)
        if len(indices) < self.kind.ndim:
            return Array(self.context, self.builder, self.kind, self.value, indices)
        value = None if self.builder is None else self.builder.load(self.place(indices))
        return _lift(self.context, self.builder, self.kind.dtype, value)

    def __setitem__(self, at: Any, number: Any) -> None:
        if self.builder is not None:
            value = value_of(self.builder, number, types.float64)
            self.builder.store(value, self.place(self._all(at)))


class Record:
    """A named tuple in machine code; its fields are read when they are asked for."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self._read = context, builder, kind, value

    def __getattr__(self, name: str) -> Any:
        context, builder, kind, value = self._read
        k = kind.fields.index(name)
        part = None if builder is None else builder.extract_value(value, k)
        return _lift(context, builder, kind[k], part)


def value_of(builder: Any, number: Any, kind: Any) -> Any:
    """Return a number as a value of a type in machine code."""
    if not isinstance(number, Number):
        single = ir.Constant(WORD if kind is types.intp else REAL, number)
    elif number.kind is types.intp and kind is not types.intp:
        single = builder.sitofp(number.value, REAL)
    else:
        single = number.value
    if kind is not FOUR or single.type == VECTOR:
        return single
    none = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(none, single, WORD(0))
    return builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4))


# -- from Numba's types and back -------------------------------------------------------------------


def argument_kind(kind: Any) -> Any:
    """Return the type that an argument is taken as, whatever integers it has, known or not."""
    if isinstance(kind, types.Integer):
        return types.intp
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return Tuple([argument_kind(each) for each in list(kind)])  # type: ignore[call-overload]
    return types.float64 if isinstance(kind, types.Float) else kind


def _lift(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an argument as what writes instructions."""
    if isinstance(kind, types.Array):
        return Array(context, builder, kind, value)
    if isinstance(kind, types.BaseNamedTuple):
        return Record(context, builder, kind, value)
    if isinstance(kind, types.BaseTuple):
        parts = list[Any]()
        for k, each in enumerate(list(kind)):  # type: ignore[call-overload]
            part = None if builder is None else builder.extract_value(value, k)
            parts.append(_lift(context, builder, each, part))
        return tuple(parts)
    if isinstance(kind, types.Integer):
        if builder is not None and value.type != WORD:
            value = builder.zext(value, WORD)  # places: they have no sign
        kind = types.intp
    return Number(builder, value, kind)


def _kind(result: Any) -> Any:
    """Return the type of what a function returns."""
    if result is None:
        return types.none
    if isinstance(result, tuple):
        return Tuple([_kind(each) for each in result])
    if isinstance(result, Number):
        return result.kind
    return types.intp if isinstance(result, int) else types.float64


def _lower(context: Any, builder: Any, result: Any) -> Any:
    """Return what a function returns as a value in machine code."""
    if result is None:
        return context.get_dummy_value()
    if isinstance(result, tuple):
        parts = [_lower(context, builder, each) for each in result]
        return context.make_tuple(builder, _kind(result), parts)
    return value_of(builder, result, _kind(result))


def traced(function: Callable[..., Any], on_numbers: Callable[..., Any]) -> Any:
    """Return what Numba calls instead of a function: the instructions that it amounts to.

    `on_numbers` does to numbers of this module what the function does to plain ones.
    """

    def typed(typing: Any, *kinds: Any) -> Any:
        taken = [argument_kind(kind) for kind in kinds]
        result = _kind(on_numbers(*(_lift(None, None, kind, None) for kind in taken)))

        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            both = zip(taken, values, strict=True)
            arguments = [_lift(context, builder, *each) for each in both]
            return _lower(context, builder, on_numbers(*arguments))

        return result(*taken), generate

    own, given = (signature(each).parameters.values() for each in (typed, function))
    plain = [one.replace(annotation=Parameter.empty) for one in (next(iter(own)), *given)]
    typed.__signature__ = Signature(plain)  # type: ignore[attr-defined]
    typed.__name__ = function.__name__
    return intrinsic(typed)
