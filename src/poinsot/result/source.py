"""A result file that is open for reading: its attributes, its names, and its numbers on demand."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.result.blank import H5, chunk_places
from poinsot.result.records import Lazy
from poinsot.result.variables import AT_MIDPOINTS, GROWING, MIDPOINT, TIME, Numbers


@dataclass(frozen=True)
class Stretch:
    """Numbers that lie one behind the other in a file."""

    place: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def end(self) -> int:
        """Where they end [bytes]."""
        return self.place + prod(self.shape) * self.dtype.itemsize


class Source:
    """A file, and what is in it: `attributes`, `labels`, and `columns`, read-only (rows, ...).

    Numbers are mapped: pages are read as they are used. A file that another program has compressed
    or rearranged is read variable by variable. Whatever happens to the name of the file, this is
    the file that was opened.
    """

    def __init__(self, path: Path) -> None:
        import h5py

        self.path = path
        self.file = open(path, "rb", buffering=0)  # noqa: SIM115
        self.size = path.stat().st_size
        with h5py.File(self.file, "r") as file:
            self.attributes = {name: _plain(value) for name, value in file.attrs.items()}
            items = dict(file.items())
            growing = {n: item for n, item in items.items() if item.dtype in GROWING}
            self.labels = {n: _texts(item) for n, item in items.items() if n not in growing}
            self.dims = {name: MIDPOINT if name in AT_MIDPOINTS else TIME for name in growing}
            # A run that is cut off between two lengths leaves some variables longer than others.
            lengths = {n: len(item) + (n in AT_MIDPOINTS) for n, item in growing.items()}
            times = min(lengths.values(), default=0)
            self.times = {TIME: times, MIDPOINT: times - 1}
            if times < 1:
                raise ValueError("it has no rows")
            self.stretches = {n: s for n, item in growing.items() if (s := _stretch(item))}
        self.columns = Lazy(self.dims, self._column)
        if any(stretch.end > self.size for stretch in self.stretches.values()):
            raise ValueError("it ends before its numbers do")

    def _column(self, name: str) -> Numbers:
        rows = self.times[self.dims[name]]
        if name not in self.stretches:
            return self._read(name, rows)
        known = self.stretches[name]
        shape = (rows, *known.shape[1:])
        if 0 in shape:
            return np.zeros(shape, known.dtype)
        # As a plain array: its base keeps the map, and the map keeps the file.
        return np.asarray(np.memmap(self.file, known.dtype, "r", known.place, shape))

    def _read(self, name: str, rows: int) -> Numbers:
        import h5py

        with h5py.File(self.file, "r") as file:
            values: Numbers = file[name][:rows]
        values.flags.writeable = False
        return values


def _stretch(item: H5) -> Stretch | None:
    """Return where the numbers of a variable are, if they lie one behind the other."""
    if item.chunks is None:
        place = item.id.get_offset()
        return None if place is None else Stretch(place, item.dtype, item.shape)
    if item.id.get_create_plist().get_nfilters() or item.chunks[1:] != item.shape[1:]:
        return None
    places, size = chunk_places(item).astype(np.int64), prod(item.chunks) * item.dtype.itemsize
    if places.size == 0:
        return Stretch(0, item.dtype, item.shape)
    if np.any(np.diff(places) != size) or not places[0]:
        return None
    return Stretch(int(places[0]), item.dtype, item.shape)


def _plain(value: Any) -> Any:
    """Return an attribute as a Python number or text."""
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value


def _texts(item: H5) -> list[Any]:
    values = item.asstr()[()] if item.dtype.kind == "O" else item[()]
    return list(np.atleast_1d(values).tolist())
