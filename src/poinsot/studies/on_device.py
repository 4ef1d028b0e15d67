"""Runs of a study on a graphics processor, all that it has memory for at a time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import batch, job
from poinsot.engine.launches import Launches
from poinsot.errors import DeviceMemoryError
from poinsot.kernels import lanes
from poinsot.studies.batch import End, Runs
from poinsot.studies.numbers import Numbers
from poinsot.systems.compiled.image import Field

Array = NDArray[np.float64]

BODIES = "machine.bodies.numbers"


class OnDevice(Runs):
    """Takes runs on a graphics processor; those of a study share one kernel."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers, image = numbers, numbers.image
        self.job = image.over(
            numbers.base[: image.size].copy(),
            saved=numbers.opening.job.saved,
            times=numbers.opening.job.times,
        )
        inside = numbers.places < image.size
        self.fields = [
            (field, columns)
            for field in image.fields.values()
            if (columns := np.flatnonzero(inside & _within(numbers.places, field))).size
        ]
        differing = frozenset(field.name for field, _ in self.fields)
        self.launches = Launches(numbers.opening.runner.form, self.job, differing)

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

    def own(self, varied: Array) -> dict[str, NDArray[np.generic]]:
        """Return the arrays in which runs differ, by their path; (runs, ...) each."""
        found = dict[str, NDArray[np.generic]]()
        grouped = {leaf.path for leaf in self.launches.leaves if leaf.grouped}
        for field, columns in self.fields:
            words = np.tile(
                self.numbers.base[field.first : field.first + field.words], (len(varied), 1)
            )
            words[:, self.numbers.places[columns] - field.first] = varied[:, columns]
            arrays = words.view(field.dtype)[:, : int(np.prod(field.shape))]
            arrays = arrays.reshape(len(varied), *field.shape)
            if field.name in grouped:
                arrays = np.stack([lanes.apart_again(each) for each in arrays])
            found[field.name] = arrays
        return found


def _within(places: NDArray[np.intp], field: Field) -> NDArray[np.bool_]:
    return (places >= field.first) & (places < field.first + field.words)
