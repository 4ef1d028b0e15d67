"""Runs of a study on a graphics processor, all that it has memory for at a time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import batch, job
from poinsot.engine.launches import Launches
from poinsot.errors import DeviceMemoryError
from poinsot.studies.batch import End
from poinsot.studies.numbers import Numbers
from poinsot.studies.side_by_side import BODIES, SideBySide

Array = NDArray[np.float64]


class OnDevice(SideBySide):
    """Takes runs on a graphics processor."""

    def __init__(self, numbers: Numbers) -> None:
        super().__init__(numbers)
        self.launches = Launches(self.form, self.job, self.differing)

    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs, in parts that the memory of the device has room for."""
        first, most = 0, self.launches.most
        while first < len(varied):
            part = varied[first : first + most]
            own = self.own(part)
            try:
                found = self.launches.take(own, len(part))
            except DeviceMemoryError:
                if most <= batch.ABREAST:
                    raise
                most = max(batch.ABREAST, most // 2)
                continue
            bodies = own.get(BODIES, self.job.machine.bodies.numbers[None])
            steps = self.job.times.size - 1
            motion = found["ahead" if steps % 2 else "state"]
            saved = [found[f"saved.{name}"] for name in job.Saved._fields]
            for k, taken in enumerate(found["returned"][:, 0].tolist()):
                rows = job.Saved(*(array[k] for array in saved))
                yield End(taken, rows, motion[k], bodies[k % len(bodies)])
            first += len(part)
