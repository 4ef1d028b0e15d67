"""Runs of a study in groups: which arrays are a run's own."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import batch
from poinsot.kernels import lanes
from poinsot.studies.batch import Runs
from poinsot.studies.numbers import Numbers
from poinsot.systems.compiled.image import Field

Array = NDArray[np.float64]

BODIES = "machine.bodies.numbers"


class SideBySide(Runs):
    """Takes runs in groups; those of a study share one kernel, and differ in some arrays."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers, image = numbers, numbers.image
        self.form = numbers.opening.runner.form
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
        self.differing = frozenset(field.name for field, _ in self.fields)

    @cached_property
    def grouped(self) -> set[str]:
        """The arrays with rows side by side, which have them one below the other here."""
        return {leaf.path for leaf in batch.leaves(self.job, self.differing) if leaf.grouped}

    def own(self, varied: Array) -> dict[str, NDArray[np.generic]]:
        """Return the arrays in which runs differ, by their path; (runs, ...) each."""
        found = dict[str, NDArray[np.generic]]()
        for field, columns in self.fields:
            words = np.tile(
                self.numbers.base[field.first : field.first + field.words], (len(varied), 1)
            )
            words[:, self.numbers.places[columns] - field.first] = varied[:, columns]
            arrays = words.view(field.dtype)[:, : int(np.prod(field.shape))]
            arrays = arrays.reshape(len(varied), *field.shape)
            if field.name in self.grouped:
                arrays = np.stack([lanes.apart_again(each) for each in arrays])
            found[field.name] = arrays
        return found


def _within(places: NDArray[np.intp], field: Field) -> NDArray[np.bool_]:
    return (places >= field.first) & (places < field.first + field.words)
