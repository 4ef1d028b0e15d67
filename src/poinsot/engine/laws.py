"""Laws that kernels cannot know: functions of Python, called by their address.

A law reads numbers at `given` and writes numbers to `found`. One that fails writes NaN, so that
the step fails and is taken again by the reference engine, which says what is wrong.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from poinsot.engine.algebra import Array
from poinsot.engine.kernel import kernel

_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double)
)


class Law:
    """A Python function (numbers) -> numbers with an address; it lives as long as this object."""

    def __init__(
        self, function: Callable[[NDArray[np.float64]], Any], given: int, found: int
    ) -> None:
        self.sizes = given, found

        def call(source: Any, target: Any) -> None:
            values = np.ctypeslib.as_array(target, (found,))
            try:
                values[:] = np.asarray(function(np.ctypeslib.as_array(source, (given,)).copy()))
            except BaseException:  # a law may raise KeyboardInterrupt, which must not get lost
                values[:] = np.nan

        self._call = _SIGNATURE(call)

    @property
    def address(self) -> int:
        """Where the function is."""
        return int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)


def _call_at(typing: Any, address: Any, given: Any, found: Any) -> Any:
    """Call the function at an address with two pointers, all given as integers."""
    signature = types.void(types.int64, types.uintp, types.uintp)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        number = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [number, number])
        place = builder.inttoptr(arguments[0], function.as_pointer())
        pointers = [builder.inttoptr(argument, number) for argument in arguments[1:]]
        builder.call(place, pointers)
        return context.get_dummy_value()

    return signature, generate


call_at: Any = intrinsic(_call_at)


@kernel
def call_law(address: int, given: Array, found: Array) -> None:
    """Call the law at an address on contiguous arrays."""
    call_at(address, given.ctypes.data, found.ctypes.data)
