"""Checkpoints, from which a run can be continued: numbers and arrays by name, behind the seal.

Other programs skip them, like the seal, and lose them when they change the file. There are two: the
next one is written in the place of the older one, and becomes valid by the few bytes that refer to
it. So there is a valid one at all times, even if the process is killed. A hash proves that it is
complete and belongs to this file, because it includes the seal.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import SEEK_END, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.result import seal
from poinsot.result.store import write_all

#: What comes after the seal; then two pointers: number, place and size of a checkpoint, its hash.
MARK = b"PoinsotGoOn\n"
POINTER = struct.Struct("<QQQ32s")
#: What arrays may consist of; texts of numbers in eight bytes, or four.
KINDS = ("<f8", "<i8", "<u4")

Numbers: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Mapping[str, Numbers]
#: What a checkpoint says in words and single numbers, as JSON knows them.
Facts: TypeAlias = dict[str, Any]


class Checkpoints:
    """The checkpoints of a file that is being written, with a seal that has this hash."""

    def __init__(self, file: FileIO, sealed: str) -> None:
        self.file, self.sealed = file, sealed.encode()
        self.start = file.seek(0, SEEK_END)
        self.number = 0
        self.last = range(0)
        self._put(self.start, [MARK + bytes(2 * POINTER.size)])

    @property
    def first(self) -> int:
        """Where the first of them may be."""
        return self.start + len(MARK) + 2 * POINTER.size

    def write(self, facts: Facts, arrays: Arrays) -> None:
        """Write one; the last one stays until this one is there."""
        pieces = [*_pieces(facts, arrays)]
        size = sum(len(piece) for piece in pieces)
        fits = self.first + size <= self.last.start
        place = self.first if fits or not self.last else self.last.stop
        self._put(place, pieces)
        known = self.number + 1, place, size
        pointer = POINTER.pack(*known, _hash(self.sealed, known, pieces))
        self._put(self.start + len(MARK) + known[0] % 2 * POINTER.size, [pointer])
        self.number, self.last = known[0], range(place, place + size)

    def _put(self, place: int, pieces: list[Any]) -> None:
        self.file.seek(place)
        for piece in pieces:
            write_all(self.file, piece)


def find_checkpoint(path: Path) -> tuple[Facts, dict[str, Numbers]] | None:
    """Return the latest checkpoint of a file that could be loaded; None if it has none."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        start = seal.end_of(content)
        if start is None:
            return None
        try:
            return _latest(content, start, seal.hash_of(content).encode())
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"the checkpoint in '{path}' is damaged: {error}") from None


def _latest(content: mmap, start: int, sealed: bytes) -> tuple[Facts, dict[str, Numbers]] | None:
    first = start + len(MARK)
    if content[start:first] != MARK:
        return None
    found = []
    for place in (first, first + POINTER.size):
        data = content[place : place + POINTER.size]
        if len(data) == POINTER.size:
            found.append(POINTER.unpack(data))
    for *known, known_hash in sorted(found, reverse=True):
        number, place, size = known
        if number and first <= place and place + size <= len(content):
            data = content[place : place + size]
            if _hash(sealed, (number, place, size), [data]) == known_hash:
                return _read(data)
    return None


def _hash(sealed: bytes, known: tuple[int, int, int], pieces: list[Any]) -> bytes:
    total = sha256(sealed + b"%d %d %d " % known)
    for piece in pieces:
        total.update(piece)
    return total.digest()


def _pieces(facts: Facts, arrays: Arrays) -> Iterator[Any]:
    """Yield a checkpoint: the length of its text, its text, and the arrays one after the other."""
    listed, data = [], []
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array).reshape(array.shape)
        kind = plain.dtype.newbyteorder("<").str
        if kind not in KINDS:
            raise TypeError(f"'{name}' consists of {plain.dtype}")
        listed.append([name, kind, list(plain.shape)])
        data.append(plain.astype(kind, copy=False).reshape(-1).view(np.uint8).data)
    text = json.dumps({"facts": facts, "arrays": listed}).encode()
    yield len(text).to_bytes(8, "little") + text
    yield from (piece for piece in data if len(piece))


def _read(data: bytes) -> tuple[dict[str, Any], dict[str, Numbers]]:
    """Return facts and arrays; raises `ValueError` and the like if they are none."""
    end = 8 + int.from_bytes(data[:8], "little")
    text = json.loads(data[8:end])
    arrays = {}
    for name, kind, shape in text["arrays"]:
        if kind not in KINDS:
            raise ValueError(f"an array of kind {kind!r}")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        size = count * int(kind[2])
        if count < 0 or end + size > len(data):
            raise ValueError("it is truncated")
        arrays[str(name)] = np.frombuffer(data[end : end + size], kind).reshape(shape).copy()
        end += size
    return text["facts"], arrays
