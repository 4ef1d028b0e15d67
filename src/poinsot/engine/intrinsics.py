"""What kernels need and Numba has no word for: calls by address, and the words of a call.

For `build` alone. Words are 64 bits each and counted from an address, see `calls`.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

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


call_at: Any = intrinsic(_call_at)
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
