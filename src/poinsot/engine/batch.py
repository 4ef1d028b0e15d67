"""Many runs of one mechanism side by side: where each array of a job is, and in which order.

A job is a tree of records, arrays and numbers. What all runs share is known when their kernel is
compiled: numbers and tables become constants of it. What a run has for itself lies in groups of
runs, the run being the last axis, so that neighbours read neighbouring numbers and every entry is a
fixed distance from the first. Room that no step hands on to the next is no array at all:
every thread has its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.calls import fields_of
from poinsot.engine.job import Job
from poinsot.kernels import lanes

#: Runs in a group on a graphics processor: as many as its threads go together.
ABREAST = 32
#: Words of a run that hold what it returns: steps taken and rows saved.
RETURNED = 2


class Role(Enum):
    """Who has a number or an array."""

    SHARED = "known when the kernel is compiled"
    GIVEN = "given with each launch, to all runs"
    OWN = "of each run"
    ROOM = "of each run, within a step"


@dataclass(frozen=True)
class Leaf:
    """A number or an array of a job, by its path; a sample of it, and who has it.

    `open` arrays have another number of rows at each launch. Those with rows side by side
    (`grouped`) have them one below the other here.
    """

    path: str
    sample: Any
    role: Role
    open: bool = False
    grouped: bool = False

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.sample, np.ndarray)


#: Numbers and arrays that come with each launch.
GIVEN = frozenset({"done", "total", "save_every", "known", "times", "u"})
#: Those of each run.
OWN = frozenset({"y", "state", "ahead", "before", "carried", "sums", "saved", "sampling"})
#: Arrays with as many rows as a launch has steps, or saves.
OPEN = frozenset({"times", "u", "y", "saved"})
#: Families whose kernels set inputs.
SETTING_INPUTS = "PortNetworks", "DrivenRows", "Loads"


def leaves(job: Job, differing: frozenset[str] = frozenset()) -> list[Leaf]:
    """Return the leaves of a job in the order of their words; those at some paths differ.

    Every step makes its own matrix: one that is kept for the next would have to be kept in memory.
    """
    job = job._replace(machine=job.machine._replace(costly=False))
    if any(_count(getattr(job.machine.parts, name)) for name in SETTING_INPUTS):
        differing |= {"u"}
    return list(_leaves("", job, differing))


def words_of_room(job: Job) -> int:
    """Return how many numbers a run has for itself within a step."""
    return sum(np.asarray(leaf.sample).size for leaf in leaves(job) if leaf.role is Role.ROOM)


def _count(table: Any) -> int:
    """Return how many numbers a table has."""
    return sum(each.size if isinstance(each, np.ndarray) else _count(each) for each in table)


def _leaves(path: str, value: Any, differing: frozenset[str]) -> Iterator[Leaf]:
    for name, (field, hint) in zip(value._fields, fields_of(value), strict=True):
        at, marks = f"{path}{name}", get_args(hint)[2:]
        if isinstance(field, tuple):
            yield from _leaves(f"{at}.", field, differing)
        elif field is not None:
            grouped = "in groups" in marks
            sample = lanes.apart_again(field) if grouped else field
            role = _role(at, at in differing or "written" in marks)
            yield Leaf(at, sample, role, at.partition(".")[0] in OPEN, grouped)


def _role(path: str, differs: bool) -> Role:
    """Return who has what is at a path."""
    first = path.partition(".")[0]
    if path == "carried.weights":
        return Role.SHARED
    if first in OWN or differs:
        return Role.OWN
    if first in GIVEN:
        return Role.GIVEN
    return Role.ROOM if first == "work" else Role.SHARED


def begun(leaf: Leaf, arrays: NDArray[Any], job: Job) -> NDArray[Any]:
    """Return an array of runs (runs, ...) as their first step finds it."""
    if leaf.path.startswith("carried.past") and not job.carried.weights.size:
        # Before the first step all values before the last are the last one.
        return np.repeat(arrays[:, :, :1], arrays.shape[2], axis=2)
    return arrays


def in_groups(arrays: NDArray[Any]) -> NDArray[Any]:
    """Return arrays of all runs (runs, ...) in groups; (groups, ..., ABREAST).

    The last group is filled up with the last run.
    """
    spare = -len(arrays) % ABREAST
    whole = np.concatenate([arrays, np.repeat(arrays[-1:], spare, axis=0)])
    groups = whole.reshape(len(whole) // ABREAST, ABREAST, *whole.shape[1:])
    return np.ascontiguousarray(np.moveaxis(groups, 1, -1))


def apart(groups: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the arrays of so many runs, given in groups; (runs, ...)."""
    whole = np.moveaxis(groups, -1, 1)
    return whole.reshape(whole.shape[0] * ABREAST, *whole.shape[2:])[:count]
