"""What kernels need and Numba has no word for: calls by address, words of a call, four numbers.

For `build` alone. Words are 64 bits each and counted from an address, see `calls`. Four numbers are
one value here, which a vector register holds, and what `algebra` does with them an instruction.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model
from numba.np import arrayobj

from poinsot.engine.tracing import Array, Number, called_as
from poinsot.kernels import algebra, laws

WORD = ir.IntType(64)
arrays: Any = arrayobj


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


def _place(builder: Any, address: Any, word: Any, kind: Any) -> Any:
    """Return a pointer to a word, which holds a number of a kind."""
    words = builder.inttoptr(address, WORD.as_pointer())
    return builder.bitcast(builder.gep(words, [word]), kind.as_pointer())


def _read(kind: Any) -> Any:
    """Return what reads a number at a word."""

    def read(typing: Any, address: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            address, word = arguments
            return builder.load(_place(builder, address, word, context.get_value_type(kind)))

        return kind(types.int64, types.int64), generate

    return intrinsic(read)


def _write(typing: Any, address: Any, word: Any, value: Any) -> Any:
    """Store an integer at a word."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        address, word, value = arguments
        builder.store(value, _place(builder, address, word, WORD))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _read_array(kind: Any, dimensions: int) -> Any:
    """Return what makes an array of its address and its shape, which begin at a word."""
    array = types.Array(kind, dimensions, "C")

    def read(typing: Any, address: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            address, word = arguments
            places = [builder.add(word, WORD(k)) for k in range(1 + dimensions)]
            data, *shape = (builder.load(_place(builder, address, place, WORD)) for place in places)
            element = context.get_data_type(kind)
            size = WORD(context.get_abi_sizeof(element))
            strides = [size]
            for extent in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], extent))
            made = arrays.make_array(array)(context, builder)
            pointer = builder.inttoptr(data, element.as_pointer())
            arrays.populate_array(made, pointer, shape, strides, size, meminfo=None)
            return made._getvalue()

        return array(types.int64, types.int64), generate

    return intrinsic(read)


# -- four numbers ----------------------------------------------------------------------------------

VECTOR = ir.VectorType(ir.DoubleType(), 4)


class FourType(types.Type):
    """The type of four numbers."""

    def __init__(self) -> None:
        super().__init__(name="Four")


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)  # type: ignore[no-untyped-call]


FOUR, REAL = FourType(), types.float64
VEC: Any = types.UniTuple(REAL, 3)  # type: ignore[no-untyped-call]


def _all(builder: Any, number: Any) -> Any:
    """Return a number four times."""
    none = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(none, number, WORD(0))
    return builder.shuffle_vector(one, none, ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4))


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a pointer to four numbers: array, row, column."""
    kind, *indices = signature.args[:3]
    at = [
        Number(builder, context.cast(builder, value, index, types.intp), real=False)
        for value, index in zip(arguments[1:3], indices, strict=True)
    ]
    place = Array(context, builder, kind, arguments[0]).place(tuple(at))
    return builder.bitcast(place, VECTOR.as_pointer())


def _four(typing: Any, a: Any, i: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(context, builder, signature, arguments), align=8)

    return FOUR(a, i, at), generate


def _put_four(typing: Any, a: Any, i: Any, at: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[3], _pointer(context, builder, signature, arguments), align=8)
        return context.get_dummy_value()

    return types.void(a, i, at, b), generate


def _wide(typing: Any, a: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        value = ir.Constant(VECTOR, [0.0] * 4)
        for k in range(3):
            number = builder.extract_value(arguments[0], k)
            value = builder.insert_element(value, number, WORD(k))
        return value

    return FOUR(VEC), generate


def _three(typing: Any, a: Any) -> Any:
    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        numbers = [builder.extract_element(arguments[0], WORD(k)) for k in range(3)]
        return context.make_tuple(builder, VEC, numbers)

    return VEC(FOUR), generate


def _sums(
    function: Callable[..., Any], kinds: Sequence[Any], compute: Callable[..., Number]
) -> Any:
    """Return sums and products of fours, and of numbers with all four, for Numba."""

    def typed(typing: Any, *_: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            both = zip(kinds, arguments, strict=True)
            fours = [value if kind is FOUR else _all(builder, value) for kind, value in both]
            return compute(*(Number(builder, value) for value in fours)).value

        return FOUR(*kinds), generate

    return called_as(function, typed)


#: What stands for functions of the engine in machine code.
INTRINSICS: dict[Callable[..., Any], Any] = {
    laws.call_at: intrinsic(_call_at),
    algebra.wide: intrinsic(_wide),
    algebra.three: intrinsic(_three),
    algebra.four: intrinsic(_four),
    algebra.put_four: intrinsic(_put_four),
    algebra.add_four: _sums(algebra.add_four, (FOUR, FOUR), lambda a, b: a + b),
    algebra.sub_four: _sums(algebra.sub_four, (FOUR, FOUR), lambda a, b: a - b),
    algebra.scale_four: _sums(algebra.scale_four, (REAL, FOUR), lambda s, a: s * a),
    algebra.axpy_four: _sums(algebra.axpy_four, (REAL, FOUR, FOUR), lambda s, a, b: s * a + b),
    algebra.less_four: _sums(algebra.less_four, (FOUR, REAL, FOUR), lambda a, s, b: a - s * b),
    algebra.add_squares: _sums(algebra.add_squares, (FOUR, FOUR), lambda a, b: a + b * b),
}
read_integer, read_real = _read(types.int64), _read(types.float64)
write_integer: Any = intrinsic(_write)
#: What reads arrays, by the type of their numbers and how many dimensions they have.
READERS = {
    (np.float64, 1): _read_array(types.float64, 1),
    (np.float64, 2): _read_array(types.float64, 2),
    (np.float64, 3): _read_array(types.float64, 3),
    (np.uint32, 1): _read_array(types.uint32, 1),
    (np.uint32, 2): _read_array(types.uint32, 2),
    (np.int64, 1): _read_array(types.int64, 1),
}
