"""The kernel of a graphics processor, compiled for this one: the same source, run by run."""

import ctypes
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np

from poinsot.engine import machine_code
from poinsot.engine.batch import ABREAST
from poinsot.engine.specialise import KERNEL, given_words
from poinsot.engine.translate import specialised
from poinsot.errors import DeviceMemoryError


class HostMemory:
    """Memory that is not what anybody wrote, until somebody does; there is only so much of it."""

    there, taken = 2**30, 0

    def __init__(self, size):
        self._room = np.full(max(1, size), 0xFF, dtype=np.uint8)
        self.address = self._room.ctypes.data
        HostMemory.taken += self._room.size
        if HostMemory.taken > HostMemory.there:
            raise DeviceMemoryError("out of memory")

    def __del__(self):
        HostMemory.taken -= self._room.size

    @classmethod
    def zeros(cls, size):
        made = cls(size)
        made._room[:] = 0
        return made

    @classmethod
    def of(cls, array):
        made = cls(array.nbytes)
        ctypes.memmove(made.address, array.ctypes.data, array.nbytes)
        return made

    def read(self, array):
        ctypes.memmove(array.ctypes.data, self.address, array.nbytes)
        return array


class HostKernel:
    """Takes runs one after the other; knows how many at a time."""

    def __init__(self, form, leaves):
        module, machine = specialised(machine_code.code(f"{form}_runs"), leaves)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        words = len(given_words(leaves)) * [ctypes.c_int64]
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *words)
        self._function = kind(self._engine.get_function_address(KERNEL))
        self.launched = []

    def launch(self, blocks, threads, words):
        self.launched.append(words[0])
        for run in range(words[0]):
            self._function(*divmod(run, ABREAST), *words)
        return 0.0


def driver():
    """Return what stands for the driver."""
    return SimpleNamespace(
        device=lambda: SimpleNamespace(multiprocessors=2, architecture="sm_90"),
        free_memory=lambda: HostMemory.there - HostMemory.taken,
        Memory=HostMemory,
    )
