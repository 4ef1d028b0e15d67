"""Writes a result to a file."""

import os
from pathlib import Path

from poinsot.errors import InputError
from poinsot.result.result import Result
from poinsot.result.writer import Writer

#: A result is copied in pieces of about this size [bytes].
PIECE = 2**23


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file; one that exists is replaced when the new one is whole."""
    times = result.time.size
    writer = Writer(output_path(path, "save"), result, times)
    try:
        row = sum(column.row for column in writer.places.columns.values())
        piece = max(1, PIECE // row)
        for start in range(0, times, piece):
            stop = min(start + piece, times)
            writer.write(result, slice(start, stop), slice(max(0, start - 1), stop - 1))
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
        raise InputError(f"{what}: '{path}' is a folder; give the name of a file, e.g. 'run.nc'")
    if not place.parent.is_dir():
        raise InputError(f"{what}: there is no folder '{place.parent}'; create it first")
    return place
