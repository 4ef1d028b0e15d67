"""The seal of a result file: a hash of all that says what its numbers are.

libhdf5 hangs or dies of some files that are damaged, and takes others for something else. A seal
tells beforehand. It stands behind the end that HDF5 knows of, and before the checkpoints of a run:
other programs pass it over, and lose it when they change the file. Numbers, which are too many and
still to come, are no part of it, nor what changes during a run: lengths of variables, some
attributes.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from io import SEEK_END, FileIO
from mmap import mmap
from typing import Any, TypeAlias

from poinsot.result.store import write_all

#: The last bytes of a seal; before them is its length, eight bytes.
MARK = b"PoinsotSeal\n"

#: A first byte, and the one after the last.
Piece: TypeAlias = tuple[int, int]


def seal(file: FileIO, written: Iterable[Piece], changing: Iterable[Piece]) -> str:
    """Seal what was written to a file, but not what changes in it; return the hash."""

    def read(start: int, stop: int) -> bytes:
        file.seek(start)
        return file.read(stop - start)

    end = file.seek(0, SEEK_END)
    there = ((start, min(stop, end)) for start, stop in written if start < end)
    pieces = [*_without(_joined(there), sorted(changing))]
    known = _hash(pieces, read)
    text = json.dumps({"pieces": pieces, "hash": known}).encode()
    file.seek(end)
    write_all(file, memoryview(text + len(text).to_bytes(8, "little") + MARK))
    return known


def holds(content: mmap) -> bool | None:
    """Return whether a file is what was sealed; None if it has no seal."""
    if end_of(content) is None:
        return False if len(content) > _end(content) else None
    try:
        known = _text(content)
        return bool(_hash(known["pieces"], lambda a, b: content[a:b]) == known["hash"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def hash_of(content: mmap) -> str:
    """Return the hash in a seal that holds."""
    return str(_text(content)["hash"])


def end_of(content: mmap) -> int | None:
    """Return where the seal ends; None if there is none.

    It comes after what HDF5 knows of, or last of all, should HDF5 be wrong.
    """
    for start in (_end(content), max(0, len(content) - len(MARK))):
        if (found := content.find(MARK, start)) >= 0:
            return found + len(MARK)
    return None


def _text(content: mmap) -> Any:
    """Return what a seal says."""
    last = (end_of(content) or 0) - len(MARK) - 8
    size = int.from_bytes(content[last : last + 8], "little")
    return json.loads(content[max(0, last - size) : last])


def _end(content: mmap) -> int:
    """Return where HDF5 says that a file ends; of other forms than ours, where it does end."""
    ours = content[8] == 0 and content[13] == 8  # version 0, addresses of eight bytes
    return int.from_bytes(content[40:48], "little") if ours else len(content)


def _hash(pieces: Iterable[Piece], read: Callable[[int, int], bytes]) -> str:
    total, done = sha256(), 0
    for start, stop in pieces:
        if not done <= start < stop:
            raise ValueError("pieces in disorder")
        total.update(b"%d %d " % (start, stop) + read(start, stop))
        done = stop
    return total.hexdigest()


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces in their order, those that touch each other as one."""
    found: list[Piece] = []
    for start, stop in sorted(pieces):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return found


def _without(pieces: Iterable[Piece], holes: list[Piece]) -> Iterator[Piece]:
    """Return what is left of pieces, all in their order."""
    for start, stop in pieces:
        for a, b in holes:
            if start < b and a < stop:
                if start < a:
                    yield start, a
                start = b
        if start < stop:
            yield start, stop
