"""A result file that is open for reading: its attributes, its names, and its numbers on demand."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.errors import InputError, StorageError
from poinsot.result.attributes import ADDED, ESTIMATED, FORMAT, LISTED, NEEDED, STATS, TOLD
from poinsot.result.blank import H5, chunk_places
from poinsot.result.records import Counts
from poinsot.result.scene import Scene
from poinsot.result.variables import GROWING, Numbers

#: Labels that are flags and no texts, and those that are numbers.
FLAGS = ("port_connected", "joint_complete")
NUMBERS = ("section_place",)
#: At least this part of a variable is stored, however well it is compressed.
DENSEST = 1 / 2000


class Opening:
    """A file that is mapped, which takes one descriptor; closed, it is opened again when needed.

    Whatever happens to the name of the file, this is the file that was opened first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._map: mmap | None = None
        self._stamp: tuple[int, ...] | None = None

    def content(self) -> mmap:
        """Return what is in the file; pages are read as they are used."""
        if self._map is None:
            try:
                with open(self.path, "rb", buffering=0) as file:
                    known = os.fstat(file.fileno())
                    stamp = known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns
                    if self._stamp not in (None, stamp):
                        raise StorageError(f"'{self.path}' has changed; load it again")
                    self._map, self._stamp = mmap(file.fileno(), 0, access=ACCESS_READ), stamp
            except OSError as error:
                full = error.errno in (errno.EMFILE, errno.ENFILE)
                what = "close other results" if full else "load it from where it is now"
                why = f"cannot open '{self.path}' again: {error.strerror}"
                raise StorageError(f"{why}; {what}") from None
        return self._map

    def close(self) -> None:
        """Let the file go; arrays of it that are still in use keep it open."""
        self._map = None


@dataclass(frozen=True)
class Column:
    """A variable of a file: `place` is where its numbers are, if they lie one behind the other."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    place: int | None

    @property
    def size(self) -> int:
        """Size of its numbers [bytes]."""
        return prod(self.shape) * self.dtype.itemsize

    def read(self, opening: Opening, rows: int) -> Numbers:
        """Return the first rows, read-only: mapped, or read if another program rearranged them."""
        shape, content = (rows, *self.shape[1:]), opening.content()
        if 0 in shape:
            return np.zeros(shape, self.dtype)
        if self.place is not None:
            return np.ndarray(shape, self.dtype, content, self.place)
        import h5py

        try:
            with h5py.File(content, "r") as file:
                values: Numbers = file[self.name][:rows]
        except (OSError, RuntimeError) as error:
            raise StorageError(f"'{opening.path}' is damaged: '{self.name}': {error}") from None
        values.flags.writeable = False
        return values


@dataclass(frozen=True)
class Source:
    """What a file says: attributes, texts and flags along its dimensions, and its variables."""

    attributes: Mapping[str, Any]
    labels: Mapping[str, list[Any]]
    columns: Mapping[str, Any]


def read(opening: Opening, path: Path) -> Source:
    """Return what a file says; its columns say where their numbers are."""
    import h5py
    from pydantic import TypeAdapter

    with h5py.File(opening.content(), "r") as file:
        _check_format(path, file)
        known = {name: _attribute(file, name) for name in NEEDED}
        later = (name for name in (*TOLD, *LISTED, *ADDED, *ESTIMATED) if name in file.attrs)
        known |= {name: _attribute(file, name) for name in later}
        items = {name: _own(file, name) for name in file}
        data = {n: item for n, item in items.items() if isinstance(item, h5py.Dataset)}
        columns = {n: _column(n, item) for n, item in data.items() if item.dtype in GROWING}
        size = len(opening.content())
        labels = {n: found for n, d in data.items() if (found := _label(n, d, size)) is not None}
    if any(column.place and column.place + column.size > size for column in columns.values()):
        raise ValueError("it is truncated")
    known["scene"] = TypeAdapter(Scene).validate_json(known["scene"])
    known["counts"] = TypeAdapter(Counts).validate_json(known["counts"])
    return Source(known, labels, columns)


def _check_format(path: Path, file: H5) -> None:
    version = _plain(file.attrs.get("poinsot_format"))
    if "poinsot_study" in file.attrs:
        raise InputError(f"load: '{path}' is a study; open it by ps.load_study")
    if not isinstance(version, int):
        raise InputError(
            f"load: '{path}' is netCDF, but was not written by Poinsot; open it by xarray"
        )
    if version > FORMAT:
        raise InputError(
            f"load: '{path}' has format {version}, written by Poinsot "
            f"{_plain(file.attrs.get('poinsot_version'))}; this version reads formats up to "
            f"{FORMAT}: install a newer one"
        )


def _attribute(file: H5, name: str) -> Any:
    value = _plain(file.attrs[name])
    if not isinstance(value, NEEDED.get(name, STATS.get(name, str))):
        raise ValueError(f"its attribute '{name}' is {value!r}")
    return value


def _plain(value: Any) -> Any:
    """Return an attribute as a Python number or text."""
    if isinstance(value, np.generic | np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value.encode()  # refuses what is no text
    return value


def _own(file: H5, name: str) -> H5:
    """Return something that is in this file, and nowhere else."""
    import h5py

    if isinstance(file.get(name, getlink=True), h5py.HardLink):
        item = file[name]
        if not isinstance(item, h5py.Dataset) or not (item.external or item.is_virtual):
            return item
    raise ValueError(f"'{name}' is stored in another place or file")


def _label(name: str, item: H5, most: int) -> list[Any] | None:
    """Return what is known of entries, if it is that; a file has no more of them than bytes."""
    import h5py

    text = h5py.check_string_dtype(item.dtype) is not None
    kinds = "biu" if name in FLAGS else "f" if name in NUMBERS else ""
    if item.ndim != 1 or (item.dtype.kind not in kinds if kinds else not text):
        return None
    if item.size > most:
        raise ValueError(f"'{name}' is larger than the file")
    found: list[Any] = (item if kinds else item.asstr())[()].tolist()
    return found


def _column(name: str, item: H5) -> Column:
    column = Column(name, item.dtype, item.shape, _place(item))
    if item.id.get_storage_size() < DENSEST * column.size:
        raise ValueError(f"'{name}' is larger than its stored data")
    return column


def _place(item: H5) -> int | None:
    """Return where the numbers of a variable are, if they lie one behind the other."""
    if item.chunks is None:
        place: int | None = item.id.get_offset()
        return place
    size, stored = prod(item.chunks) * item.dtype.itemsize, item.id.get_storage_size()
    whole = item.chunks[1:] == item.shape[1:] and stored * item.chunks[0] >= size * len(item)
    if not whole or item.id.get_create_plist().get_nfilters():
        return None
    places = chunk_places(item).astype(np.int64)
    lined_up = places.size and places[0] and np.all(np.diff(places) == size)
    return int(places[0]) if lined_up else None
