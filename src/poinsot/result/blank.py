"""New result files: all names, attributes and space for all rows, without data."""

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.result.attributes import TOLD, attributes, progress
from poinsot.result.draft import Draft
from poinsot.result.hdf5 import attribute_places, length_place
from poinsot.result.result import Result
from poinsot.result.seal import Piece, seal
from poinsot.result.store import require_space
from poinsot.result.variables import TIME, Label, Variable, labels, variables

H5: TypeAlias = Any  # h5py has no types

#: A chunk of a variable fits into the cache of a reader [bytes]. A large variable has larger
#: chunks: so many of them are in one node of their tree, and lie one behind the other.
CHUNK, MOST = 2**20, 64
#: Room for a status, for a text that is not known yet, and for one that is [bytes].
STATUS, MESSAGE, LONGEST = 16, 2000, 60_000


@dataclass(frozen=True, eq=False)
class Column:
    """Where a variable is in a file.

    Its rows of `row` bytes are in chunks of `rows` at the places `chunks`; its length, the number
    of rows that a reader sees, is at the place `length`. It grows along `dim`.
    """

    dim: str
    dtype: np.dtype[Any]
    row: int
    rows: int
    chunks: NDArray[np.uint64]
    length: int


@dataclass(frozen=True, eq=False)
class Places:
    """Where the variables of a file are, those attributes that change, and the room for texts.

    `seal` is the hash of all that does not change.
    """

    columns: dict[str, Column]
    attributes: dict[str, int]
    room: dict[str, int]
    seal: str = ""

    @property
    def changing(self) -> list[Piece]:
        """What of the file changes besides numbers."""
        known = [(place, self.room.get(name, 8)) for name, place in self.attributes.items()]
        known += [(column.length, 8) for column in self.columns.values()]
        return [(place, place + size) for place, size in known]


def create(path: Path, result: Result, rows: int) -> Places:
    """Create a file for so many saved times of a result like this one.

    The file takes space on disk only as it is filled. Its variables have all their chunks from the
    beginning, and each of them shows as many rows as its length says.
    """
    import h5py

    named, known = labels(result), variables(result)
    sizes = {label.dim: len(label.values) for label in named.values()}
    shapes = {
        name: (rows if variable.dims[0] == TIME else max(1, rows - 1), *_sizes(variable, sizes))
        for name, variable in known.items()
    }
    total = sum(prod(shape) * known[name].dtype.itemsize for name, shape in shapes.items())
    require_space(total, path.parent)
    draft, items = Draft(), dict[str, H5]()
    chunked = {name: _chunk(shape, known[name].dtype) for name, shape in shapes.items()}
    text = attributes(result)
    known_texts = ((name, text[name]) for name in ("message", *TOLD))
    room = {n: min(max(MESSAGE, len(str(value).encode())), LONGEST) for n, value in known_texts}
    room["status"] = STATUS
    with _open(draft) as file:
        for name, value in text.items():
            if name in room and isinstance(value, str):
                kind = h5py.string_dtype("utf-8", room[name])
                file.attrs.create(name, encoded(value, room[name]), dtype=kind)
            else:
                file.attrs[name] = value if isinstance(value, str) else as_number(value)
        for label in named.values():
            items[label.name] = _label(file, label)
        for variable in known.values():
            name = variable.name
            items[name] = _variable(file, variable, shapes[name], chunked[name])
        _connect(items, named, known)
        headers = {name: h5py.h5o.get_info(items[name].id).addr for name in known}
        chunks = {name: chunk_places(items[name]) for name in known}
        root = h5py.h5o.get_info(file.id).addr
    with open(path, "w+b", buffering=0) as raw:
        draft.copy_to(raw)
        where = attribute_places(raw, root)
        places = Places(
            columns={
                name: Column(
                    dim=variable.dims[0],
                    dtype=variable.dtype,
                    row=prod(shapes[name][1:]) * variable.dtype.itemsize,
                    rows=chunked[name][0],
                    chunks=chunks[name],
                    length=length_place(raw, headers[name]),
                )
                for name, variable in known.items()
            },
            attributes={name: where[name] for name in progress(result)},
            room=room,
        )
        return replace(places, seal=seal(raw, draft.written, places.changing))


def chunk_places(dataset: H5) -> NDArray[np.uint64]:
    """Return where the chunks of a dataset along its first dimension are."""
    places = np.zeros(-(-dataset.shape[0] // dataset.chunks[0]), dtype=np.uint64)

    def note(chunk: H5) -> None:
        k = chunk.chunk_offset[0] // dataset.chunks[0]
        if k < places.size:
            places[k] = chunk.byte_offset

    dataset.id.chunk_iter(note)
    return places


def _sizes(variable: Variable, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(sizes[dim] for dim in variable.dims[1:])


def _chunk(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Return the shape of a chunk: some whole rows."""
    row = prod(shape[1:]) * dtype.itemsize
    pieces = min(-(-shape[0] // max(1, CHUNK // row)), MOST)
    return -(-shape[0] // pieces), *shape[1:]


def _open(draft: Draft) -> H5:
    """Create the file in the oldest form; variables keep their order."""
    import h5py
    from h5py import h5f, h5fd, h5p

    creation, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    creation.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    access.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_LATEST)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    access.set_fileobj_driver(h5fd.fileobj_driver, draft)
    return h5py.File(h5f.create(b"draft", h5f.ACC_TRUNC, creation, access))


def as_number(value: int | float) -> np.int64 | np.float64:
    """Return a number in eight bytes."""
    return np.int64(value) if isinstance(value, int) else np.float64(value)


def encoded(text: str, size: int) -> bytes:
    """Return a text in so many bytes, cut if it is too long."""
    data = text.encode()
    if len(data) > size:
        data = data[: size - 3].decode(errors="ignore").encode() + b"..."
    return data.ljust(size, b"\0")


def _label(file: H5, label: Label) -> H5:
    import h5py

    if isinstance(label.values[0], bool):
        item = file.create_dataset(label.name, data=np.array(label.values, dtype=np.int8))
        item.attrs["dtype"] = "bool"
    elif isinstance(label.values[0], float):
        item = file.create_dataset(label.name, data=np.array(label.values))
    else:
        item = file.create_dataset(label.name, data=label.values, dtype=h5py.string_dtype())
    item.attrs["long_name"] = label.long_name
    return item


def _variable(file: H5, variable: Variable, shape: tuple[int, ...], chunk: tuple[int, ...]) -> H5:
    from h5py import h5d, h5p

    layout = h5p.create(h5p.DATASET_CREATE)
    layout.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5d.FILL_TIME_NEVER)
    item = file.create_dataset(
        variable.name,
        shape,
        variable.dtype,
        maxshape=(None, *shape[1:]),
        chunks=chunk,
        fillvalue=np.nan if variable.dtype.kind == "f" else None,
        dcpl=layout,
    )
    if variable.dtype.kind == "f":
        item.attrs["_FillValue"] = np.array([np.nan])
    for name, value in variable.attrs.items():
        item.attrs[name] = value
    return item


def _connect(items: dict[str, H5], named: dict[str, Label], known: dict[str, Variable]) -> None:
    """Tie dimensions to the variables that name their entries, as netCDF does."""
    from h5py import h5ds

    dims = {name: label.dim for name, label in named.items()}
    axes = [name for name, dim in dims.items() if name == dim]
    axes += [name for name, variable in known.items() if variable.dims == (name,)]
    for k, name in enumerate(axes):
        items[name].make_scale(name)
        items[name].attrs["_Netcdf4Dimid"] = np.int32(k)
    along = {name: (dim,) for name, dim in dims.items()} | {n: v.dims for n, v in known.items()}
    for name in along.keys() - set(axes):
        for k, dim in enumerate(along[name]):
            h5ds.attach_scale(items[name].id, items[dim].id, k)
    for name, variable in known.items():
        besides = [label for label, dim in dims.items() if label != dim and dim in variable.dims]
        if besides:
            items[name].attrs["coordinates"] = " ".join(besides)
