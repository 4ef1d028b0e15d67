"""The memory of a job: all arrays that a run reads and writes, in one block.

Runs of models with the same structure differ in some of these numbers only. A run with other
numbers copies the block, replaces the numbers, and calls machine code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.calls import RETURNED, fields_of, pack
from poinsot.engine.job import Job
from poinsot.kernels.tables import Addresses

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Fields of a job that a run writes and never reads, and times, which all runs have in common.
APART = frozenset({"saved", "times"})
#: Arrays begin with a line of the cache, of so many words.
LINE = 8


@dataclass(frozen=True)
class Field:
    """An array of a job, or a number of it: its name, type and shape, and its first word.

    Names are those of records: `machine.bodies.numbers`. A number has the shape (), and `word` is
    where it stands in the list of words that machine code is called with; of an array, its address.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    first: int
    word: int

    @property
    def words(self) -> int:
        """How many words it takes in memory."""
        return -(-self.dtype.itemsize * int(np.prod(self.shape)) // 8)

    def of(self, memory: Array) -> NDArray[Any]:
        """Return it as a view of the memory of a job."""
        own = memory[self.first : self.first + self.words].view(self.dtype)
        return own[: int(np.prod(self.shape))].reshape(self.shape)


class Image:
    """Where everything is in the memory of jobs of one structure.

    Parameters
    ----------
    job : Job
        One of them; its arrays are copied by `read`, and stay as they are.
    """

    def __init__(self, job: Job) -> None:
        self.job, fields, first = job, list[Field](), 0
        for name, value, word in _walk(job, "", RETURNED):
            if isinstance(value, np.ndarray):
                field = Field(name, value.dtype, value.shape, first, word)
            else:
                field = Field(name, np.dtype(np.float64), (), first, word)
            fields.append(field)
            first += -(-max(field.words, 1) // LINE) * LINE
        self.fields, self.size = {field.name: field for field in fields}, first

    @cached_property
    def numbers(self) -> NDArray[np.bool_]:
        """Which words are floating-point numbers; (size,)."""
        found = np.zeros(self.size, dtype=bool)
        for field in self.fields.values():
            if field.dtype.kind == "f":
                found[field.first : field.first + field.words] = True
        return found

    def read(self, job: Job) -> Array:
        """Return the memory of a job of this structure; (size,)."""
        memory = room(self.size)
        for name, value, _ in _walk(job, "", RETURNED):
            self.fields[name].of(memory)[...] = value
        return memory

    def fits(self, job: Job) -> bool:
        """Tell whether a job has this structure: all but floating-point numbers is the same."""
        return not self.differences(job)

    def differences(self, job: Job) -> list[str]:
        """Return the names of what is not the same, besides floating-point numbers."""
        ours, theirs = (dict(_structure(each, "")) for each in (self.job, job))
        names = dict.fromkeys([*ours, *theirs])
        return [name for name in names if not _same(ours.get(name), theirs.get(name))]

    def view(self, memory: Array, name: str) -> NDArray[Any]:
        """Return one of the arrays as a view of a memory, by its name."""
        return self.fields[name].of(memory)

    def over(self, memory: Array, **apart: Any) -> Job:
        """Return a job on a memory: its arrays are views of it; fields that are `apart` are given.

        Floating-point numbers outside of arrays are those of the memory as they are now.
        """
        made: Job = _rebuilt(self.job, "", self.fields, memory)
        return made._replace(**apart)

    def loose(self, places: Places) -> tuple[Places, Places]:
        """Return numbers outside of arrays among places: their words in a call, and places."""
        single = {f.first: f.word for f in self.fields.values() if f.shape == ()}
        own = [place for place in places.tolist() if place in single]
        words = [single[place] for place in own]
        return np.array(words, dtype=np.intp), np.array(own, dtype=np.intp)

    def describe(self, place: int) -> str:
        """Return the name of the number at a place, with its index: `machine.gyration[1]`."""
        there = (f for f in self.fields.values() if f.first <= place < f.first + max(f.words, 1))
        field = next(there, None)
        if field is None:
            return "the state at the start"
        if not field.shape:
            return field.name
        index = np.unravel_index(place - field.first, field.shape)
        return f"{field.name}[{', '.join(str(int(k)) for k in index)}]"


def room(words: int) -> Array:
    """Return zeros that begin with a line of the cache."""
    made = np.zeros(words + LINE)
    start = -made.ctypes.data // made.itemsize % LINE
    return made[start : start + words]


def words_of(job: Job) -> NDArray[np.int64]:
    """Return the words that machine code is called with; the job must live as long as they do."""
    return pack(job)


def _walk(record: Any, before: str, word: int) -> Iterator[tuple[str, Any, int]]:
    """Yield arrays and floating-point numbers: name, value and word in a call."""
    for name, value, hint in _fields(record):
        if name in APART and not before:
            pass
        elif isinstance(value, tuple):
            yield from _walk(value, f"{before}{name}.", word)
        elif isinstance(value, float) or (isinstance(value, np.ndarray) and hint != Addresses):
            yield f"{before}{name}", value, word
        word += _count(value)


def _structure(record: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Yield all that is no floating-point number: whole numbers, and shapes of other arrays.

    Laws at other addresses may be others.
    """
    for name, value, _ in _fields(record):
        if name in APART and not before:
            continue
        if isinstance(value, tuple):
            yield from _structure(value, f"{before}{name}.")
        elif isinstance(value, np.ndarray):
            yield f"{before}{name}", value.shape if value.dtype.kind == "f" else value
        elif not isinstance(value, float):
            yield f"{before}{name}", value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


def _fields(record: Any) -> Iterator[tuple[str, Any, Any]]:
    for name, (value, hint) in zip(record._fields, fields_of(record), strict=True):
        yield name, value, hint


def _count(value: Any) -> int:
    """Return how many words a value takes in a call."""
    if isinstance(value, tuple):
        return sum(map(_count, value))
    if isinstance(value, np.ndarray):
        return 1 + value.ndim
    return 0 if value is None else 1


def _rebuilt(record: Any, before: str, fields: dict[str, Field], memory: Array) -> Any:
    """Return a record with arrays in memory instead of its own."""
    values = []
    for value, name in zip(record, record._fields, strict=True):
        field = fields.get(f"{before}{name}")
        if field is not None:
            own = field.of(memory)
            values.append(own if field.shape or isinstance(value, np.ndarray) else float(own))
        elif isinstance(value, tuple) and (before or name not in APART):
            values.append(_rebuilt(value, f"{before}{name}.", fields, memory))
        else:
            values.append(value)
    return type(record)(*values)
