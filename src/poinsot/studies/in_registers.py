"""Runs of a study in the vector registers of a processor, a few at a time in each thread."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import job, simd
from poinsot.engine.simd import Registers
from poinsot.studies.batch import Arena, End, Runs
from poinsot.studies.numbers import Numbers
from poinsot.studies.side_by_side import BODIES, SideBySide

Array = NDArray[np.float64]


class InRegisters(SideBySide):
    """Takes runs in vector registers; every thread has memory for those of one group."""

    def __init__(self, numbers: Numbers, level: str | None = None) -> None:
        super().__init__(numbers)
        level = simd.level() if level is None else level
        self.registers = Registers(self.form, self.job, self.differing, level)
        self.room = self.registers.room()

    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs; the last group is filled up with the last run."""
        abreast, arrays = self.registers.abreast, self.room.arrays
        motion = arrays["ahead" if (self.job.times.size - 1) % 2 else "state"]
        saved = [arrays[f"saved.{name}"] for name in job.Saved._fields]
        bodies = arrays.get(BODIES, self.job.machine.bodies.numbers[..., None])
        for first in range(0, len(varied), abreast):
            part = varied[first : first + abreast]
            whole = np.concatenate([part, np.repeat(part[-1:], abreast - len(part), axis=0)])
            self.room.take(self.own(whole))
            for k in range(len(part)):
                rows = job.Saved(*(array[..., k] for array in saved))
                taken = int(self.room.returned[0, k])
                yield End(taken, rows, motion[..., k], bodies[..., k % bodies.shape[-1]])


def in_registers(numbers: Numbers) -> Runs:
    """Return what takes runs in vector registers; one at a time if there are none.

    Processors of a cluster may differ from that of the process which asks.
    """
    return InRegisters(numbers) if simd.level() else Arena(numbers)
