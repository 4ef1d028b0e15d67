"""Many runs at once on a graphics processor: their memory there, and their kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import batch, cuda, kept, machine_code
from poinsot.engine.batch import ABREAST, RETURNED, Leaf, Role
from poinsot.engine.job import Job
from poinsot.engine.specialise import KERNEL, THREADS, given_words, kernel_text
from poinsot.engine.translate import ptx

Arrays = Mapping[str, NDArray[Any]]

#: What is left of the device's memory for everything else.
SPARE = 2**28
#: Blocks of threads on a multiprocessor: its registers are enough for no more.
BLOCKS = 2
#: What is read back of each run.
READ = (
    "state",
    "ahead",
    "sums",
    "saved.x",
    "saved.stage",
    "saved.sums",
    "saved.turns",
    "saved.step",
)


@dataclass(frozen=True, eq=False)
class Launches:
    """Runs of one structure on the graphics processor.

    Parameters
    ----------
    form : str
        The form of the equations.
    job : Job
        All steps of one of the runs.
    differing : frozenset
        Paths of numbers and arrays in which the runs differ.
    """

    form: str
    job: Job
    differing: frozenset[str] = frozenset()

    @cached_property
    def leaves(self) -> list[Leaf]:
        """What the kernel reads and writes."""
        return batch.leaves(self.job, self.differing)

    @cached_property
    def kernel(self) -> Any:
        """The kernel, compiled for the device that is there."""
        architecture = cuda.device().architecture
        made_of = machine_code.source(), self.form, kernel_text(self.leaves, "", device=True)
        name = kept.name_of(*made_of, ending=f"-{architecture}.ptx")
        code = kept.read(name)
        if code is None:
            bitcode = machine_code.code(f"{self.form}{machine_code.SIDE_BY_SIDE}")
            code = ptx(bitcode, self.leaves, architecture).encode()
            kept.write(name, code)
        return cuda.Kernel(code, KERNEL)

    @property
    def bytes_of_run(self) -> int:
        """How much memory a run takes on the device."""
        own = sum(np.asarray(leaf.sample).nbytes for leaf in self.leaves if leaf.role is Role.OWN)
        return own + 8 * RETURNED

    @property
    def most(self) -> int:
        """How many runs the device has memory for, now."""
        fitting = (cuda.free_memory() - SPARE) // self.bytes_of_run
        return max(ABREAST, fitting // ABREAST * ABREAST)

    def take(self, own: Arrays, count: int) -> dict[str, NDArray[Any]]:
        """Take so many runs from their own arrays, by path; others are those of the job.

        Returns the arrays of `READ`, `returned`: steps taken and rows saved, (runs, ...) each; and
        `seconds` of the launch.
        """
        device = cuda.device()
        groups, memory, words = -(-count // ABREAST), dict[str, Any](), list[int]()
        leaves = {leaf.path: leaf for leaf in self.leaves}
        returned = np.full((groups, RETURNED, ABREAST), -1, dtype=np.int64)
        for name in given_words(self.leaves):
            rows_of = leaves.get(name.removeprefix("rows of "))
            if name == "count":
                words.append(count)
                continue
            if name == "returned":
                memory[name] = cuda.Memory.of(returned)
            elif name not in leaves and rows_of is not None:
                words.append(rows_of.sample.shape[0])
                continue
            elif leaves[name].role is Role.GIVEN and not leaves[name].is_array:
                words.append(int(leaves[name].sample))
                continue
            else:
                memory[name] = self._memory(leaves[name], own, count, groups)
            words.append(memory[name].address)
        blocks = min(-(-count // THREADS), BLOCKS * device.multiprocessors)
        seconds = self.kernel.launch(blocks, THREADS, words)
        found = {"returned": batch.apart(memory["returned"].read(returned), count)}
        found["seconds"] = np.array(seconds)
        for path in READ:
            sample = leaves[path].sample
            room = np.empty((groups, *sample.shape, ABREAST), dtype=sample.dtype)
            found[path] = batch.apart(memory[path].read(room), count)
        return found

    def _memory(self, leaf: Leaf, own: Arrays, count: int, groups: int) -> Any:
        """Return memory on the device that holds an array of all runs, or one that they share."""
        sample = np.ascontiguousarray(leaf.sample)
        if leaf.role is not Role.OWN:
            return cuda.Memory.of(sample)
        if leaf.path.startswith(("saved.", "y")):
            return cuda.Memory.zeros(groups * ABREAST * sample.nbytes)
        arrays = batch.begun(leaf, own.get(leaf.path, sample[None]), self.job)
        if leaf.path in own:
            return cuda.Memory.of(batch.in_groups(arrays))
        whole = np.broadcast_to(arrays[0][..., None], (groups, *sample.shape, ABREAST))
        return cuda.Memory.of(np.ascontiguousarray(whole))
