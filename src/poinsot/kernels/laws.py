"""Laws that kernels cannot know: functions of Python, called by their address.

A law reads numbers at `given` and writes numbers to `found`, its slopes last and only where they
are wanted. One that fails writes NaN, so that the step fails and is taken again by the reference
engine, which says what is wrong.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel

_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double), ctypes.c_int64
)


class Law:
    """A Python function (numbers) -> numbers with an address; it lives as long as this object.

    The last `sloping` of the numbers it finds are left to another function, `slopes`.
    """

    def __init__(
        self,
        function: Callable[[NDArray[np.float64]], Any],
        given: int,
        found: int,
        slopes: Callable[[NDArray[np.float64]], Any] | None = None,
        sloping: int = 0,
    ) -> None:
        self.sizes = given, found

        def call(source: Any, target: Any, wanted: int) -> None:
            values = np.ctypeslib.as_array(target, (found,))
            try:
                numbers = np.ctypeslib.as_array(source, (given,)).copy()
                values[: found - sloping] = np.asarray(function(numbers))
                if wanted and slopes is not None:
                    values[found - sloping :] = np.asarray(slopes(numbers))
            except BaseException:  # a law may raise KeyboardInterrupt, which must not get lost
                values[:] = np.nan

        self._call = _SIGNATURE(call)

    @property
    def address(self) -> int:
        """Where the function is."""
        return int(ctypes.cast(self._call, ctypes.c_void_p).value or 0)


def call_at(address: int, given: int, found: int, slopes: int) -> None:
    """Call the function at an address with pointers to `given` and `found`, and a number."""
    source, target = (
        ctypes.cast(place, ctypes.POINTER(ctypes.c_double)) for place in (given, found)
    )
    _SIGNATURE(int(address))(source, target, slopes)


@kernel
def call_law(address: int, given: Array, found: Array, slopes: bool = True) -> None:
    """Call the law at an address on contiguous arrays; it may leave out its slopes."""
    call_at(address, given.ctypes.data, found.ctypes.data, 1 if slopes else 0)
