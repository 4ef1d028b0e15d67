"""A table of numbers that grows by rows: in memory while it is small, in files when it is large."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import FileIO
from math import prod
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import StorageError

Numbers: TypeAlias = NDArray[Any]

#: A table is kept in memory up to this size [bytes].
LIMIT = 64 * 2**20
#: A larger one is written in pieces of about this size [bytes].
PIECE = 2**20


@dataclass(frozen=True)
class Column:
    """What a column holds in each row: so many numbers, of one type."""

    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))

    @property
    def size(self) -> int:
        """Size of one row [bytes]."""
        return prod(self.shape) * self.dtype.itemsize

    def empty(self, rows: int) -> Numbers:
        """Return room for so many rows."""
        return np.empty((rows, *self.shape), self.dtype)


class Table:
    """Named columns of equal length, each (rows, *shape); rows are added at the end and then stay.

    A table larger than `LIMIT` is written to temporary files, one for each column, and read by
    mapping them: the memory of the process stays the same however long it gets. The files have no
    name (on Windows: they vanish when closed), so nothing is left behind, even by a crash.

    Parameters
    ----------
    columns : mapping
        Name -> `Column`.
    expected : int
        Number of rows, as far as it is known: a table that will be large goes to disk at once.
    """

    def __init__(self, columns: Mapping[str, Column], expected: int = 0) -> None:
        self.columns = dict(columns)
        self.row_size = max(1, sum(column.size for column in self.columns.values()))
        self.on_disk = expected * self.row_size > LIMIT
        self._files: dict[str, FileIO] = {}
        self._written, self._filled = 0, 0
        self._capacity = self._piece if self.on_disk else max(1, expected)
        self._buffers = self._room(self._capacity)
        if self.on_disk:
            require_space(expected * self.row_size, _place())
        weakref.finalize(self, _close, self._files)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._written + self._filled

    @property
    def _piece(self) -> int:
        """How many rows are written at a time."""
        return max(1, PIECE // self.row_size)

    def _room(self, rows: int) -> dict[str, Numbers]:
        return {name: column.empty(rows) for name, column in self.columns.items()}

    # -- writing ------------------------------------------------------------------------------

    def append(self, row: Mapping[str, ArrayLike]) -> None:
        """Add one row; the values are copied."""
        if self._filled == self._capacity:
            self._make_room(1)
        for name, buffer in self._buffers.items():
            buffer[self._filled] = row[name]
        self._filled += 1

    def extend(self, block: Mapping[str, ArrayLike]) -> None:
        """Add many rows; the values, (rows, *shape) in each column, are copied."""
        rows = np.shape(block[next(iter(self.columns))])[0]
        arrays = {name: self._checked(name, block[name], rows) for name in self.columns}
        if self._filled + rows > self._capacity:
            self._make_room(rows)
        if rows > self._capacity:
            self._write(arrays)
            self._written += rows
            return
        for name, buffer in self._buffers.items():
            buffer[self._filled : self._filled + rows] = arrays[name]
        self._filled += rows

    def flush(self) -> None:
        """Write to disk what waits in memory, if the table is on disk.

        What cannot be written is given up, so that the table ends before it and stays readable.
        """
        if not (self.on_disk and self._filled):
            return
        try:
            self._write(self._waiting())
        except StorageError:
            self._filled = 0
            raise
        self._written, self._filled = self._written + self._filled, 0

    def keep_last(self) -> None:
        """Drop all rows but the last one; arrays that were read before change."""
        last = len(self) - 1
        row = {name: self.rows(name, last, last + 1)[0].copy() for name in self.columns}
        self._written = self._filled = 0
        self.append(row)

    def _checked(self, name: str, values: ArrayLike, rows: int) -> Numbers:
        column = self.columns[name]
        array: Numbers = np.ascontiguousarray(values, column.dtype)
        if array.shape != (rows, *column.shape):
            expected = (rows, *column.shape)
            raise ValueError(f"column '{name}': shape {array.shape}, expected {expected}")
        return array

    def _waiting(self) -> dict[str, Numbers]:
        return {name: buffer[: self._filled] for name, buffer in self._buffers.items()}

    def _make_room(self, rows: int) -> None:
        """Make room for more rows in memory up to the limit, and beyond it on disk."""
        needed = self._filled + rows
        if self.on_disk:
            self.flush()
        elif needed * self.row_size <= LIMIT:
            self._grow(max(needed, min(2 * self._capacity, LIMIT // self.row_size)))
        else:
            self._move_to_disk()

    def _grow(self, capacity: int) -> None:
        room = self._room(capacity)
        for name, values in self._waiting().items():
            room[name][: self._filled] = values
        self._buffers, self._capacity = room, capacity

    def _move_to_disk(self) -> None:
        """Write all rows to disk; if that fails, the table stays as it is, in memory."""
        self._write(self._waiting())
        piece = self._piece
        room = self._room(piece)
        self.on_disk, self._written, self._filled = True, self._filled, 0
        self._buffers, self._capacity = room, piece

    def _write(self, arrays: Mapping[str, Numbers]) -> None:
        """Write rows behind those written already; they count only when the caller says so."""
        try:
            for name, array in arrays.items():
                file = self._file(name)
                file.seek(self._written * self.columns[name].size)
                write_all(file, array.reshape(-1).view(np.uint8).data)
        except OSError as error:
            raise StorageError(
                f"cannot write to the temporary files in '{_place()}': {error.strerror}; free some "
                "space there, set TMPDIR to another disk, or save fewer steps by save_every=..."
            ) from error

    def _file(self, name: str) -> FileIO:
        if name not in self._files:
            # Unbuffered, so that an error appears where it happens and leaves nothing behind.
            self._files[name] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        return self._files[name]

    # -- reading ------------------------------------------------------------------------------

    def rows(self, name: str, start: int, stop: int) -> Numbers:
        """Return some rows of a column, read-only; from disk, pages are read as they are used."""
        if self.on_disk:
            self.flush()
            return self._mapped(name, start, stop)
        view = self._buffers[name][start:stop]
        view.flags.writeable = False
        return view

    def _mapped(self, name: str, start: int, stop: int) -> Numbers:
        column = self.columns[name]
        shape = (stop - start, *column.shape)
        if 0 in shape:
            return column.empty(stop - start)
        try:
            file, offset = self._files[name], start * column.size
            # As a plain array: its base keeps the map, and the map keeps the file.
            return np.asarray(np.memmap(file, column.dtype, "r", offset, shape))
        except OSError as error:
            raise StorageError(
                f"cannot read the temporary files in '{_place()}': {error.strerror}"
            ) from error


def write_all(file: FileIO, data: bytes | memoryview) -> None:
    """Write everything to a file without a buffer, which may take less at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _close(files: Mapping[str, FileIO]) -> None:
    for file in files.values():
        file.close()


def _place() -> str:
    """Return the folder of temporary files."""
    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise StorageError(
            f"there is no folder for temporary files: {error}; set TMPDIR"
        ) from error


def require_space(size: int, place: str | PathLike[str]) -> None:
    """Refuse what is larger than the free space of a folder, before anything is computed."""
    free = shutil.disk_usage(place).free
    if size > free:
        raise StorageError(
            f"{_text(size)} are needed, but only {_text(free)} are free in '{place}'; free some "
            "space, or write to another disk"
        )


def _text(size: int) -> str:
    """Return a size as text, e.g. `"1.8 GB"`."""
    units = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
    power = min(len(str(size)) - 1, 3 * len(units) - 1) // 3
    return f"{size / 1000**power:.3g} {units[power]}"
