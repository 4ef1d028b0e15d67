"""NVIDIA's driver: memory of a graphics processor, kernels on it, and what it says is wrong.

The driver is the only library that is needed: it translates kernels for the processor that is there
and is part of every installation that can run them. Nothing else of the package knows it.
"""

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from poinsot.errors import DeviceError, DeviceMemoryError

#: Names of the driver's library.
LIBRARIES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
OUT_OF_MEMORY = 2
#: Attributes of devices and functions that are asked for.
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76
REGISTERS, LOCAL_BYTES = 4, 3
#: Options of modules: room for what is wrong with one, and how long it is.
ERROR_LOG, ERROR_LOG_SIZE = 5, 6
LOG = 8192


@cache
def library() -> Any:
    """Return the driver's library, or say that there is none."""
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise DeviceError(
        "engine='cuda' needs an NVIDIA graphics processor and its driver: "
        f"{LIBRARIES[0]} is not installed here; install the driver, or use engine='auto'"
    )


def call(name: str, *arguments: Any, doing: str = "") -> None:
    """Call a function of the driver, or say what went wrong."""
    function = getattr(library(), name)
    status = int(function(*arguments))
    if status:
        text = ctypes.c_char_p()
        library().cuGetErrorString(status, ctypes.byref(text))
        told = text.value.decode() if text.value else f"error {status}"
        error = DeviceMemoryError if status == OUT_OF_MEMORY else DeviceError
        raise error(f"the graphics processor reports: {told} ({doing or name})")


@dataclass(frozen=True)
class Device:
    """A graphics processor: its name, its `sm_..` architecture, and its multiprocessors."""

    name: str
    architecture: str
    multiprocessors: int


def device() -> Device:
    """Return the graphics processor, which this thread uses from now on."""
    found, context = _first()
    call("cuCtxSetCurrent", context)
    return found


@cache
def _first() -> tuple[Device, Any]:
    """Return the first processor that this process may use, and its context."""
    call("cuInit", 0, doing="starting the driver")
    count, handle, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGetCount", ctypes.byref(count))
    if not count.value:
        raise DeviceError(
            "engine='cuda' found no NVIDIA graphics processor that this process may use: "
            "nvidia-smi and CUDA_VISIBLE_DEVICES tell which there are; or use engine='auto'"
        )
    call("cuDeviceGet", ctypes.byref(handle), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    name = ctypes.create_string_buffer(128)
    call("cuDeviceGetName", name, len(name), handle)

    def attribute(which: int) -> int:
        found = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(found), which, handle)
        return found.value

    architecture = f"sm_{attribute(MAJOR)}{attribute(MINOR)}"
    own = Device(name.value.decode(), architecture, attribute(MULTIPROCESSORS))
    return own, context


def free_memory() -> int:
    """Return how much memory of the device is free [bytes]."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value


class Memory:
    """Memory of the device, for as long as this object lives."""

    def __init__(self, size: int) -> None:
        self.size, place = size, ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(1, size)))
        self.address = place.value

    @classmethod
    def zeros(cls, size: int) -> "Memory":
        """Return memory of so many bytes, all of them zero."""
        made = cls(size)
        place, none = ctypes.c_uint64(made.address), ctypes.c_ubyte(0)
        call("cuMemsetD8_v2", place, none, ctypes.c_size_t(max(1, size)))
        return made

    @classmethod
    def of(cls, array: NDArray[Any]) -> "Memory":
        """Return memory that holds an array."""
        made = cls(array.nbytes)
        made.write(array)
        return made

    def write(self, array: NDArray[Any]) -> None:
        """Copy an array to the device."""
        assert array.flags.c_contiguous
        assert array.nbytes <= self.size
        place, source = ctypes.c_uint64(self.address), ctypes.c_void_p(array.ctypes.data)
        call("cuMemcpyHtoD_v2", place, source, ctypes.c_size_t(array.nbytes))

    def read(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy from the device into an array; return it."""
        assert array.flags.c_contiguous
        assert array.nbytes <= self.size
        target, place = ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(self.address)
        call("cuMemcpyDtoH_v2", target, place, ctypes.c_size_t(array.nbytes))
        return array

    def __del__(self) -> None:
        if hasattr(self, "address"):
            library().cuMemFree_v2(ctypes.c_uint64(self.address))


class Kernel:
    """A kernel on the device, of PTX or machine code; all of its arguments are words."""

    def __init__(self, code: bytes, name: str) -> None:
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(LOG)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG)
        module = ctypes.byref(self._module)
        try:
            call("cuModuleLoadDataEx", module, ctypes.c_char_p(code), 2, options, values)
        except DeviceError as error:
            raise DeviceError(f"{error} {log.value.decode(errors='replace')}".strip()) from None
        function = ctypes.byref(self._function)
        call("cuModuleGetFunction", function, self._module, ctypes.c_char_p(name.encode()))

    def attribute(self, which: int) -> int:
        """Return a number that the driver knows of the kernel."""
        found = ctypes.c_int()
        call("cuFuncGetAttribute", ctypes.byref(found), which, self._function)
        return found.value

    def launch(self, blocks: int, threads: int, words: Sequence[int]) -> float:
        """Run the kernel in so many blocks of threads, with words for arguments; return how long.

        That is from the launch to the end [s].
        """
        room = (ctypes.c_uint64 * len(words))(*words)
        first = ctypes.addressof(room)
        arguments = (ctypes.c_void_p * len(words))(*(first + 8 * k for k in range(len(words))))
        sizes = [ctypes.c_uint(n) for n in (blocks, 1, 1, threads, 1, 1, 0)]
        began = perf_counter()
        call("cuLaunchKernel", self._function, *sizes, None, arguments, None)
        call("cuCtxSynchronize", doing="running a kernel")
        return perf_counter() - began

    def __del__(self) -> None:
        if getattr(self, "_module", None):
            library().cuModuleUnload(self._module)
