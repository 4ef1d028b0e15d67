"""Many runs of one mechanism side by side: where each array of a job is, and in which order.

A job is a tree of records, arrays and numbers. What all runs share is known when their kernel is
compiled: numbers and tables become constants of it. What a run has for itself lies in groups of
`ABREAST` runs, the run being the last axis, so that neighbours read neighbouring numbers and every
entry is a fixed distance from the first. Room that no step hands on to the next is no array at all:
every thread has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.calls import columns, hints_of
from poinsot.engine.job import Job
from poinsot.kernels.tables import Addresses

#: Runs in a group: as many as threads of a graphics processor go together.
ABREAST = 32
#: Words of a run that hold what it returns: steps taken and rows saved.
RETURNED = 2


class Role(Enum):
    """Who has a number or an array."""

    SHARED = "known when the kernel is compiled"
    GIVEN = "given with each launch, to all runs"
    OWN = "of each run, handed on from launch to launch"
    KEPT = "of each run, and in its registers during a launch"
    ROOM = "of each run, within a step"


@dataclass(frozen=True)
class Leaf:
    """A number or an array of a job, by its path; a sample of it, and who has it.

    `open` arrays have another number of rows at each launch. `known` columns are those that the
    type of an array says.
    """

    path: str
    sample: Any
    role: Role
    open: bool = False
    known: int = 0

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.sample, np.ndarray)


#: Numbers and arrays that come with each launch.
GIVEN = frozenset({"done", "total", "save_every", "known", "times", "u"})
#: Those of each run; `work` is room that a step leaves behind, unless matrices are kept.
OWN = ("y", "state", "ahead", "before", "carried", "sums", "saved")
#: What every step reads and writes several times.
KEPT = (
    "carried.stage",
    "carried.multiplier",
    "carried.order",
    "carried.turns",
    "sums",
)
#: Arrays with as many rows as a launch has steps, or saves.
OPEN = ("times", "u", "y", "saved")


def leaves(job: Job, differing: frozenset[str] = frozenset()) -> list[Leaf]:
    """Return the leaves of a job in the order of their words; arrays at some paths differ."""
    return list(_leaves("", job, differing, job.machine.costly))


def _leaves(path: str, value: Any, differing: frozenset[str], costly: bool) -> Iterator[Leaf]:
    hints = hints_of(type(value)) or len(value) * (None,)
    for name, field, hint in zip(value._fields, value, hints, strict=True):
        at = f"{path}{name}"
        if field is None:
            continue
        if isinstance(field, tuple):
            yield from _leaves(f"{at}.", field, differing, costly)
            continue
        first, role = at.partition(".")[0], Role.SHARED
        if first in GIVEN:
            role = Role.GIVEN
        elif at in KEPT:
            role = Role.KEPT
        elif first in OWN or at in differing or _written(at):
            role = Role.OWN
        elif first == "work":
            role = Role.OWN if costly else Role.ROOM
        yield Leaf(at, field, role, first in OPEN, columns(hint))


def _written(path: str) -> bool:
    """Tell whether kernels write to a table of a machine."""
    return False


def in_groups(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of all runs, one after the other, in groups; (groups, ..., ABREAST)."""
    spare = -len(arrays) % ABREAST
    stacked = np.stack([*arrays, *spare * [arrays[-1]]])
    groups = stacked.reshape(len(stacked) // ABREAST, ABREAST, *stacked.shape[1:])
    return np.ascontiguousarray(np.moveaxis(groups, 1, -1))


def apart(groups: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the arrays of so many runs, given in groups; (runs, ...)."""
    whole = np.moveaxis(groups, -1, 1)
    return whole.reshape(whole.shape[0] * ABREAST, *whole.shape[2:])[:count]
