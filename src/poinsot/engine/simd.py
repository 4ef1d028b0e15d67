"""Several runs of one mechanism at once in vector registers: their kernel, and their memory.

The kernel is that of one run, made for the mechanism (`specialise`), and then one of several runs
(`vectorise`). It takes 10 to 40 s to compile, in a process of its own that can be interrupted, and
is kept for the next time.
"""

import ctypes
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import batch, kept, machine_code
from poinsot.engine.batch import RETURNED, Leaf, Role
from poinsot.engine.build import command
from poinsot.engine.function_text import NotVectorisedError
from poinsot.engine.job import Job
from poinsot.engine.specialise import KERNEL, given_words, kernel_text
from poinsot.engine.translate import in_registers
from poinsot.errors import BuildError

Arrays = Mapping[str, NDArray[Any]]

#: Levels of processors, the best first: what each must be able to do, and how many runs it takes at
#: once. With AVX2, four need a register each; eight would not leave enough of them.
LEVELS: Mapping[str, tuple[frozenset[str], int]] = {
    "x86-64-v4": (
        machine_code.LEVELS["x86-64-v3"]
        | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
        8,
    ),
    "x86-64-v3": (machine_code.LEVELS["x86-64-v3"], 4),
}
#: Arrays begin with a line of the cache, of so many bytes.
LINE = 64


@cache
def level() -> str:
    """Return the level of this processor, "": it has no registers for this."""
    able = machine_code.abilities()
    return next((name for name, (needed, _) in LEVELS.items() if needed <= able), "")


@dataclass(frozen=True, eq=False)
class Registers:
    """Runs of one structure, several at once in the registers of a processor.

    Parameters
    ----------
    form : str
        The form of the equations.
    job : Job
        All steps of one of the runs.
    differing : frozenset
        Paths of numbers and arrays in which the runs differ.
    level : str
        The level of the processor, of `LEVELS`.
    """

    form: str
    job: Job
    differing: frozenset[str]
    level: str

    @property
    def abreast(self) -> int:
        """How many runs go together."""
        return LEVELS[self.level][1]

    @cached_property
    def leaves(self) -> list[Leaf]:
        """What the kernel reads and writes."""
        return batch.leaves(self.job, self.differing)

    @cached_property
    def kernel(self) -> "Kernel":
        """The kernel, compiled if it is not kept; raises `NotVectorisedError`."""
        text = kernel_text(self.leaves, "", device=False, abreast=self.abreast)
        name = kept.name_of(machine_code.source(), self.form, text, ending=f"-{self.level}.o")
        with _LOCK:
            if name not in _LOADED:
                code = kept.read(name)
                if code is None:
                    code = self._compiled()
                    kept.write(name, code)
                library, address = machine_code.link(code, KERNEL)
                kind = [ctypes.c_int64] * (1 + len(given_words(self.leaves)))
                _LOADED[name] = Kernel(library, ctypes.CFUNCTYPE(None, *kind)(address))
            return _LOADED[name]

    def _compiled(self) -> bytes:
        """Return the object file of the kernel, made by a process of its own."""
        bitcode = machine_code.code(f"{self.form}{machine_code.SIDE_BY_SIDE}")
        asked = bitcode, self.leaves, self.level, self.abreast
        what = f"compiling the mechanism for {self.abreast} runs at once"
        print(f"poinsot: {what}: once, about 10 to 40 s", file=sys.stderr, flush=True)
        done = subprocess.run(
            command(__name__),
            input=pickle.dumps(asked),
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the study that waits, which ends this as well
        )
        if done.returncode:
            raise BuildError(
                "LLVM could not translate the kernel for several runs at once: "
                f"exit {done.returncode}; use engine='compiled'"
            )
        code, reason = pickle.loads(done.stdout)
        if code is None:
            raise NotVectorisedError(reason)
        return bytes(code)

    def room(self) -> "Room":
        """Return memory for runs that go together."""
        return Room(self)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that takes the runs of a group, and what owns its memory."""

    library: Any
    function: Any


#: Kernels that are in memory.
_LOADED: dict[str, Kernel] = {}
_LOCK = Lock()


class Room:
    """The memory in which runs go together, those of one group after those of another.

    `arrays` are those of each run by path (..., runs), `returned` (2, runs) the steps taken and
    rows saved.
    """

    def __init__(self, registers: Registers) -> None:
        self.kernel, abreast = registers.kernel.function, registers.abreast
        own = [leaf for leaf in registers.leaves if leaf.role is Role.OWN]
        # What is only written comes last, and is never set back.
        own.sort(key=lambda leaf: leaf.path.startswith(("saved.", "y")))
        first, places = 0, dict[str, int]()
        for leaf in own:
            places[leaf.path] = first
            first += -(-abreast * np.asarray(leaf.sample).nbytes // LINE) * LINE
        self.memory = _lines(first)
        self.leaves = {leaf.path: leaf for leaf in own}
        self.arrays = {path: self._view(path, places[path], abreast) for path in places}
        self.job = registers.job
        for leaf in own:
            sample = np.asarray(leaf.sample)[None]
            self.arrays[leaf.path][...] = batch.begun(leaf, sample, self.job)[0][..., None]
        read = [place for path, place in places.items() if path.startswith(("saved.", "y"))]
        self.begun = self.memory[: min(read, default=first)].copy()
        self.returned = np.full((RETURNED, abreast), -1, dtype=np.int64)
        self.shared = [
            np.ascontiguousarray(leaf.sample)
            for leaf in registers.leaves
            if leaf.role is Role.GIVEN and leaf.is_array
        ]
        self.words = [0, *self._words(registers.leaves, abreast)]

    def take(self, own: Arrays) -> None:
        """Take runs from their own arrays by path (runs, ...); others are those of the job."""
        self.memory[: self.begun.size] = self.begun
        for path, arrays in own.items():
            arrays = batch.begun(self.leaves[path], arrays, self.job)
            self.arrays[path][...] = np.moveaxis(arrays, 0, -1)
        self.kernel(*self.words)

    def _view(self, path: str, first: int, abreast: int) -> NDArray[Any]:
        sample = np.asarray(self.leaves[path].sample)
        own = self.memory[first : first + abreast * sample.nbytes].view(sample.dtype)
        return own.reshape(*sample.shape, abreast)

    def _words(self, leaves: Sequence[Leaf], abreast: int) -> list[int]:
        """Return what the kernel is given."""
        known = {leaf.path: leaf for leaf in leaves}
        shared, words = iter(self.shared), list[int]()
        for name in given_words(leaves):
            leaf = known.get(name)
            if name == "count":
                words.append(abreast)
            elif name == "returned":
                words.append(self.returned.ctypes.data)
            elif leaf is None:
                words.append(known[name.removeprefix("rows of ")].sample.shape[0])
            elif leaf.role is Role.OWN:
                words.append(self.arrays[name].ctypes.data)
            elif leaf.is_array:
                words.append(next(shared).ctypes.data)
            else:
                words.append(int(leaf.sample))
        return words


def _lines(size: int) -> NDArray[np.uint8]:
    """Return zeros that begin with a line of the cache."""
    made = np.zeros(size + LINE, dtype=np.uint8)
    start = -made.ctypes.data % LINE
    return made[start : start + size]


def main() -> None:
    """Compile the kernel that is asked for on standard input."""
    bitcode, leaves, processor, abreast = pickle.load(sys.stdin.buffer)
    try:
        answer: tuple[bytes | None, str] = in_registers(bitcode, leaves, processor, abreast), ""
    except NotVectorisedError as error:
        answer = None, str(error)
    sys.stdout.buffer.write(pickle.dumps(answer))
