"""What kernels need and Numba has no word for: calls by address, and four numbers.

For `build` alone. Four numbers are one value here, which a vector register holds, and what
`algebra` does with them an instruction.
"""

from collections.abc import Callable
from functools import reduce
from math import sqrt
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from poinsot.engine.tracing import (
    FOUR,
    VECTOR,
    WORD,
    Array,
    Number,
    builder_of,
    larger,
    value_of,
)
from poinsot.kernels import algebra, lanes


def _call_at(typing: Any, address: Any, given: Any, found: Any, slopes: Any) -> Any:
    """Call the function at an address with two pointers and a number, all given as integers."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        number = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [number, number, WORD])
        place = builder.inttoptr(arguments[0], function.as_pointer())
        pointers = [builder.inttoptr(argument, number) for argument in arguments[1:3]]
        builder.call(place, [*pointers, arguments[3]])
        return context.get_dummy_value()

    return types.void(types.int64, types.uintp, types.uintp, types.int64), generate


def _call_nothing(typing: Any, address: Any, given: Any, found: Any, slopes: Any) -> Any:
    """Call no function: other processors have none of Python's."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.void(types.int64, types.uintp, types.uintp, types.int64), generate


# -- arithmetic ------------------------------------------------------------------------------------


def _wide(a: Any) -> Number:
    builder = builder_of(a)
    if builder is None:
        return Number(None, None, FOUR)
    value: Any = ir.Constant(VECTOR, [0.0] * 4)
    for k in range(3):
        value = builder.insert_element(value, value_of(builder, a[k], types.float64), WORD(k))
    return Number(builder, value, FOUR)


def _three(a: Number) -> tuple[Number, ...]:
    if a.builder is None:
        return (Number(None, None),) * 3
    return tuple(Number(a.builder, a.builder.extract_element(a.value, WORD(k))) for k in range(3))


def _four(a: Array, i: Any, at: Any) -> Number:
    if a.builder is None:
        return Number(None, None, FOUR)
    place = a.builder.bitcast(a.place((i, at)), VECTOR.as_pointer())
    return Number(a.builder, a.builder.load(place, align=8), FOUR)


def _put_four(a: Array, i: Any, at: Any, b: Any) -> None:
    if a.builder is not None:
        place = a.builder.bitcast(a.place((i, at)), VECTOR.as_pointer())
        a.builder.store(value_of(a.builder, b, FOUR), place, align=8)


def _exchanged(*rows: Any) -> tuple[Number, ...]:
    """Return four times four numbers by columns instead of rows."""
    builder = builder_of(rows)
    if builder is None:
        return (Number(None, None, FOUR),) * 4

    def mixed(a: Any, b: Any, order: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), 4), order))

    a, b, c, d = (value_of(builder, row, FOUR) for row in rows)
    even, odd = [0, 4, 2, 6], [1, 5, 3, 7]
    pairs = mixed(a, b, even), mixed(a, b, odd), mixed(c, d, even), mixed(c, d, odd)
    halves = [0, 1, 4, 5], [2, 3, 6, 7]
    return tuple(
        Number(builder, mixed(pairs[k], pairs[2 + k], half), FOUR)
        for half in halves
        for k in (0, 1)
    )


#: Functions of plain numbers, and those of numbers that write instructions.
ON_SINGLE_NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    max: lambda *numbers: reduce(larger, numbers),
    sqrt: lambda a: a.under("llvm.sqrt"),
    lanes.larger: larger,
}

#: The same where a vector register holds four numbers.
ON_NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    **ON_SINGLE_NUMBERS,
    lanes.side_by_side: _exchanged,
    lanes.apart: _exchanged,
    lanes.lane: _four,
    lanes.put_lane: _put_four,
    algebra.wide: _wide,
    algebra.three: _three,
    algebra.four: _four,
    algebra.put_four: _put_four,
    algebra.add_four: lambda a, b: a + b,
    algebra.sub_four: lambda a, b: a - b,
    algebra.scale_four: lambda s, a: s * a,
    algebra.axpy_four: lambda s, a, b: s * a + b,
    algebra.less_four: lambda a, s, b: a - s * b,
    algebra.times_four: lambda a, b: a * b,
    algebra.add_squares: lambda a, b: a + b * b,
}


call_at: Any = intrinsic(_call_at)
call_nothing: Any = intrinsic(_call_nothing)
