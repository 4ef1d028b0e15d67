"""Writes a result file, row by row, so that it can be read at every moment.

The file has room for all rows from the beginning. New rows are written where no reader looks, and
then the lengths of the variables are advanced, each by one write of eight bytes. Whenever the
process dies, the file is whole, up to the last rows whose lengths were written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from poinsot.errors import InputError, StorageError
from poinsot.result.attributes import Attribute
from poinsot.result.blank import Column, as_number, create, encoded
from poinsot.result.checkpoint import Arrays, Checkpoints, Facts
from poinsot.result.hdf5 import UnknownForm
from poinsot.result.result import Result
from poinsot.result.store import write_all
from poinsot.result.variables import MIDPOINT, TIME, Numbers, variables

#: A result is copied in pieces of about this size [bytes].
PIECE = 2**23


class Writer:
    """A result file that grows; it gets its name by `publish`, when there is something in it.

    Parameters
    ----------
    path : path
        The file to be; one that exists is replaced when the new one is published.
    result : Result
        What the result looks like; none of its numbers are written.
    rows : int
        How many saved times there is room for.
    """

    def __init__(self, path: Path, result: Result, rows: int) -> None:
        self.path, self.rows, self.shown = path, rows, {TIME: 0, MIDPOINT: 0}
        self.checkpoints: Checkpoints | None = None
        self.hidden = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            self.places = create(self.hidden, result, rows)
            self.file = open(self.hidden, "r+b", buffering=0)  # noqa: SIM115
            self._show(self.shown)
        except (OSError, RuntimeError, ValueError, UnknownForm) as error:
            self.hidden.unlink(missing_ok=True)
            raise self._error(error) from error
        except StorageError:
            self.hidden.unlink(missing_ok=True)
            raise

    def publish(self) -> None:
        """Give the file its name."""
        try:
            os.replace(self.hidden, self.path)
        except OSError as error:
            self.discard()
            raise self._error(error) from error

    def discard(self) -> None:
        """Give up a file that has no name yet."""
        self.file.close()
        self.hidden.unlink(missing_ok=True)

    def write(self, result: Result, times: slice, midpoints: slice) -> None:
        """Add some rows of a result: these of its saved times and these of its midpoints."""
        which = {TIME: times, MIDPOINT: midpoints}
        known = variables(result).values()
        arrays = {v.name: (v.dims[0], v.read(which[v.dims[0]])) for v in known}
        first = self.shown
        try:
            for name, (dim, values) in arrays.items():
                self._put(self.places.columns[name], first[dim], values)
            self._show({dim: first[dim] + len(arrays[dim][1]) for dim in which})
        except OSError as error:
            raise self._error(error) from error

    def note(self, attributes: Mapping[str, Attribute]) -> None:
        """Write attributes that change: texts and numbers."""
        try:
            for name, value in attributes.items():
                if isinstance(value, str):
                    data = encoded(value, self.places.room[name])
                else:
                    data = as_number(value).tobytes()
                self._write(self.places.attributes[name], data)
        except OSError as error:
            raise self._error(error) from error

    def copy(self, result: Result, times: int | None = None) -> None:
        """Write so many times of a result, or all, and what lies between them, piece by piece."""
        row = sum(column.row for column in self.places.columns.values())
        piece = max(1, PIECE // row)
        times = result.time.size if times is None else times
        for start in range(0, times, piece):
            stop = min(start + piece, times)
            self.write(result, slice(start, stop), slice(max(0, start - 1), stop - 1))

    def keep(self, facts: Facts, arrays: Arrays) -> None:
        """Write a checkpoint of the run, after the rows that belong to it: all, unless it says."""
        try:
            if self.checkpoints is None:
                self.checkpoints = Checkpoints(self.file, self.places.seal)
            self.checkpoints.write({"rows": self.shown[TIME]} | facts, arrays)
        except OSError as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _put(self, column: Column, first: int, values: Numbers) -> None:
        """Write rows behind row number `first`."""
        data = np.ascontiguousarray(values, column.dtype)
        done = 0
        while done < data.shape[0]:
            chunk, within = divmod(first + done, column.rows)
            some = data[done : done + column.rows - within]
            place = int(column.chunks[chunk]) + within * column.row
            self._write(place, some.reshape(-1).view(np.uint8).data)
            done += some.shape[0]

    def _show(self, lengths: dict[str, int]) -> None:
        """Let readers see so many times and midpoints."""
        for column in self.places.columns.values():
            self._write(column.length, lengths[column.dim].to_bytes(8, "little"))
        self.shown = lengths

    def _write(self, place: int, data: bytes | memoryview) -> None:
        self.file.seek(place)
        write_all(self.file, data)

    def _error(self, error: Exception) -> StorageError:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        return StorageError(
            f"cannot write to '{self.path}': {reason}; free some space there, write to another "
            "disk, or save fewer steps by save_every=..."
        )


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file; one that exists is replaced when the new one is whole."""
    writer = Writer(output_path(path, "save"), result, result.time.size)
    try:
        writer.copy(result)
    except BaseException:
        writer.discard()
        raise
    writer.publish()
    writer.close()


def output_path(path: str | os.PathLike[str], what: str) -> Path:
    """Return where to write a file, or say why it cannot be written there."""
    if not isinstance(path, str | os.PathLike) or isinstance(path, bytes):
        raise InputError(f"{what}: expected the name of a file, got {path!r}")
    place = Path(path)
    if not place.name or place.is_dir():
        raise InputError(f"{what}: '{path}' is a folder; give the name of a file in it")
    if not place.parent.is_dir():
        raise InputError(f"{what}: there is no folder '{place.parent}'; create it first")
    if not place.exists():
        try:
            with tempfile.TemporaryFile(dir=place.parent):
                pass
        except OSError as error:
            raise InputError(
                f"{what}: no file can be written in '{place.parent}' ({error.strerror or error}); "
                "choose another folder"
            ) from None
    return place
