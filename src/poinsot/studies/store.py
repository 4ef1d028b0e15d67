"""Where the runs of a study are kept: arrays in memory, or one netCDF file of a fixed size.

Everything in the file has its place before the first run ends: all datasets are contiguous, and
runs are written into them by their places in the file. So a file is whole at any moment, even if
the process is killed, memory stays constant, and a study goes on with what is still pending.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import h5py
import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, StorageError
from poinsot.studies.measures import TIME, Measure
from poinsot.studies.outcomes import ENDED, STATUS, Outcomes

if TYPE_CHECKING:
    import xarray

Array = NDArray[np.float64]

#: Messages are cut to so many bytes.
MESSAGE = 240
#: Without a file, a study takes no more memory than this [bytes].
ROOM = 2**32
#: Marks a file as that of a study; the version of its form.
MARK, FORMAT = "poinsot_study", 1
#: Dimensions of quantities by their shape.
AXES = {(): (), (3,): ("axis",), (3, 3): ("axis", "body_axis")}


#: Name, dimensions, shape, type and attributes of what is written.
Written: TypeAlias = tuple[str, tuple[str, ...], tuple[int, ...], str, dict[str, Any]]


@dataclass(frozen=True)
class Outline:
    """What a study keeps, before any of its runs has ended.

    Parameters
    ----------
    parameters : mapping
        Paths -> values of all runs (runs, ...).
    measures : sequence of Measure
        What is kept of each saved state.
    time : (samples,) or None
        When states are saved [s]; None: each run has its own.
    samples : int
        How many states of a run are saved at most.
    attributes : mapping
        What else is to be known.
    key : str
        Tells studies apart.
    """

    parameters: Mapping[str, Array]
    measures: Sequence[Measure]
    time: Array | None
    samples: int
    attributes: Mapping[str, Any]
    key: str

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(next(iter(self.parameters.values())))

    def variables(self) -> Iterator[Written]:
        """Yield what is written for each run: name, dimensions, shape, type and attributes."""
        runs, samples = self.runs, self.samples
        for each in self.measures:
            dims = _axes(each.name, each.shape)
            about = {} if each.unit is None else {"units": each.unit}
            yield each.name, ("run", "sample", *dims), (runs, samples, *each.shape), "f8", about
        if self.time is None:
            yield TIME, ("run", "sample"), (runs, samples), "f8", {"units": "s"}
        flags = {
            "flag_values": np.arange(len(STATUS), dtype="i1"),
            "flag_meanings": " ".join(STATUS),
        }
        yield "status", ("run",), (runs,), "i1", flags
        what = "largest |H - H0 - supplied + dissipated| of all steps"
        yield "balance_error_max", ("run",), (runs,), "f8", {"units": "J", "long_name": what}
        yield "newton_iterations", ("run",), (runs,), "i8", {}
        text = {"_Encoding": "utf-8"}
        yield "message", ("run", "letter"), (runs, MESSAGE), "S1", text

    def known(self) -> Iterator[tuple[str, tuple[str, ...], NDArray[Any], dict[str, Any]]]:
        """Yield what is known beforehand: name, dimensions, values and attributes."""
        if self.time is not None:
            yield TIME, ("sample",), self.time, {"units": "s"}
        for path, values in self.parameters.items():
            yield path, ("run", *_axes(path, values.shape[1:])), values, {"parameter": 1}


def _axes(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the dimensions of a quantity besides those of runs and samples."""
    known = AXES.get(shape)
    return tuple(f"{name}.{k}" for k in range(len(shape))) if known is None else known


class Store(ABC):
    """Room for all runs of a study."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline

    @abstractmethod
    def put(self, name: str, first: int, values: NDArray[Any]) -> None:
        """Write what belongs to consecutive runs, from number `first` on."""

    @property
    @abstractmethod
    def status(self) -> NDArray[np.int8]:
        """How runs have ended; (runs,)."""

    @abstractmethod
    def dataset(self) -> "xarray.Dataset":
        """Return everything."""

    def write(self, found: Outcomes) -> None:
        """Write some runs; that they have ended is noted last."""
        first, column = int(found.runs[0]), 0
        for each in self.outline.measures:
            own = found.table[:, :, column : column + each.size]
            self.put(each.name, first, own.reshape(*own.shape[:2], *each.shape))
            column += each.size
        if self.outline.time is None:
            self.put(TIME, first, found.time)
        self.put("balance_error_max", first, found.balance_error)
        self.put("newton_iterations", first, found.iterations)
        self.put("message", first, _letters(found.message))
        self.put("status", first, found.status)

    @property
    def pending(self) -> NDArray[np.bool_]:
        """Which runs have not ended."""
        return ~np.isin(self.status, ENDED)

    def close(self) -> None:
        """Write nan for runs that are pending, which are zero in a new file."""
        for name, _, (_, *shape), kind, _ in self.outline.variables():
            if kind == "f8":
                for k in np.flatnonzero(self.pending).tolist():
                    self.put(name, k, np.full((1, *shape), np.nan))


class MemoryStore(Store):
    """Arrays in memory."""

    def __init__(self, outline: Outline) -> None:
        super().__init__(outline)
        size = sum(8 * np.prod(shape, dtype=float) for _, _, shape, _, _ in outline.variables())
        if size > ROOM:
            raise InputError(
                f"{outline.runs} runs of {outline.samples} saved states take "
                f"{size / 2**30:.1f} GiB of memory; give output='study.nc', or save fewer states "
                "by save_every=..."
            )
        self.arrays = {
            name: np.zeros(shape, kind) for name, _, shape, kind, _ in outline.variables()
        }

    def put(self, name: str, first: int, values: NDArray[Any]) -> None:
        """Write to an array."""
        self.arrays[name][first : first + len(values)] = values

    @property
    def status(self) -> NDArray[np.int8]:
        """How runs have ended."""
        return self.arrays["status"]

    def dataset(self) -> "xarray.Dataset":
        """Return the arrays by name."""
        import xarray

        outline, variables = self.outline, dict[str, Any]()
        for name, dims, _, _, about in outline.variables():
            variables[name] = dims, self.arrays[name], about
        letters = np.ascontiguousarray(self.arrays["message"]).view(f"S{MESSAGE}")[:, 0]
        variables["message"] = ("run",), np.char.decode(letters, "utf-8").astype(object)
        known = {name: (dims, values, about) for name, dims, values, about in outline.known()}
        return _named(xarray.Dataset(variables, coords=known, attrs=dict(outline.attributes)))


class FileStore(Store):
    """A netCDF file."""

    def __init__(self, outline: Outline, path: Path) -> None:
        super().__init__(outline)
        self.path = path
        if path.exists():
            self._require_own()
        else:
            _create(outline, path)
        with h5py.File(path, "r") as file:
            self._places = {name: file[name].id.get_offset() for name, *_ in outline.variables()}

    def _require_own(self) -> None:
        if not is_study(self.path):
            raise InputError(
                f"'{self.path}' exists and is not a study; choose another name, or remove it"
            )
        with h5py.File(self.path, "r") as file:
            key = file.attrs.get("key")
        if key != self.outline.key:
            raise InputError(
                f"'{self.path}' is a study of another model, or of other parameters or options; "
                "choose another name, or remove it"
            )

    def put(self, name: str, first: int, values: NDArray[Any]) -> None:
        """Write to the file, without its library."""
        plain = np.ascontiguousarray(values)
        place = self._places[name] + first * (plain.nbytes // len(plain))
        try:
            with open(self.path, "r+b", buffering=0) as file:
                file.seek(place)
                done, left = 0, plain.tobytes()
                while done < len(left):
                    done += file.write(left[done:])
        except OSError as error:
            raise StorageError(f"cannot write '{self.path}': {error.strerror}") from None

    @property
    def status(self) -> NDArray[np.int8]:
        """How runs have ended."""
        return np.fromfile(self.path, "i1", self.outline.runs, offset=self._places["status"])

    def dataset(self) -> "xarray.Dataset":
        """Return what is in the file, read as it is asked for."""
        return load_study(self.path)


def is_study(path: str | PathLike[str]) -> bool:
    """Return whether a file is that of a study."""
    try:
        with h5py.File(path, "r") as file:
            return MARK in file.attrs
    except OSError:
        return False


def load_study(path: str | PathLike[str]) -> "xarray.Dataset":
    """Open the file of a study, finished or not; arrays are read when they are used.

    Returns a dataset like that of `ensemble`. Values of pending runs, with status 0, are zero or
    nan.
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"expected the name of a file, got {path!r}")
    if not Path(path).exists():
        raise InputError(f"there is no file '{path}'")
    if not is_study(path):
        raise InputError(f"'{path}' is not the file of a study")
    import xarray

    found = xarray.open_dataset(path, engine="h5netcdf", mask_and_scale=False)
    parameters = [
        name for name, variable in found.variables.items() if "parameter" in variable.attrs
    ]
    return _named(found.set_coords([*parameters, *({TIME} & set(found.variables))]))


def _named(found: "xarray.Dataset") -> "xarray.Dataset":
    """Return a study with axes by letters."""
    for dim in ("axis", "body_axis"):
        if dim in found.dims:
            found = found.assign_coords({dim: list("xyz")})
    return found


def _create(outline: Outline, path: Path) -> None:
    """Write a file in which no run has ended."""
    part = path.with_name(f"{path.name}.part")
    try:
        with h5py.File(part, "w", track_order=True) as file:
            sizes: dict[str, int] = {}
            for name, dims, values, about in outline.known():
                _dataset(file, name, values.shape, values.dtype, about)[...] = values
                sizes |= dict(zip(dims, values.shape, strict=True))
            for name, dims, shape, kind, about in outline.variables():
                _dataset(file, name, shape, np.dtype(kind), about)
                sizes |= dict(zip(dims, shape, strict=True))
            scales = {
                name: _scale(file, name, size, k) for k, (name, size) in enumerate(sizes.items())
            }
            everything = [(name, dims) for name, dims, *_ in outline.known()]
            everything += [(name, dims) for name, dims, *_ in outline.variables()]
            for name, dims in everything:
                for k, dim in enumerate(dims):
                    file[name].dims[k].attach_scale(scales[dim])
            file.attrs["_NCProperties"] = f"version=2,h5py={h5py.version.version}"
            for name, value in {MARK: FORMAT, "key": outline.key, **outline.attributes}.items():
                file.attrs[name] = value
        part.replace(path)
    except (OSError, RuntimeError) as error:  # HDF5 has both for a disk that is full
        raise StorageError(f"cannot write '{path}': {error}") from None
    finally:
        part.unlink(missing_ok=True)


def _dataset(
    file: h5py.File, name: str, shape: tuple[int, ...], kind: Any, about: Mapping[str, Any]
) -> Any:
    """Return a new dataset that has its place in the file, filled with zeros."""
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_layout(h5py.h5d.CONTIGUOUS)
    layout.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5py.h5d.FILL_TIME_ALLOC)
    space = h5py.h5s.create_simple(shape)
    kind = h5py.h5t.py_create(np.dtype(kind), logical=True)
    made = h5py.Dataset(h5py.h5d.create(file.id, name.encode(), kind, space, layout))
    for key, value in about.items():
        made.attrs[key] = value
    return made


def _scale(file: h5py.File, name: str, size: int, number: int) -> Any:
    """Return a dimension, which has no values of its own."""
    scale = file.create_dataset(f"{name}", shape=(size,), dtype=">f4") if name not in file else None
    assert scale is not None
    scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{size:10d}")
    scale.attrs["_Netcdf4Dimid"] = np.int32(number)
    return scale


def _letters(texts: Sequence[str]) -> NDArray[Any]:
    """Return texts as letters (k, MESSAGE), cut where they are too long."""
    cut = [text.encode()[:MESSAGE].decode(errors="ignore").encode() for text in texts]
    return np.array(cut, dtype=f"S{MESSAGE}").view("S1").reshape(len(cut), MESSAGE)


def key_of(*facts: Any) -> str:
    """Return a text that tells studies apart."""
    text = json.dumps(facts, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: Any) -> str:
    """Return what stands for an array, or for anything else that JSON does not know."""
    if isinstance(value, np.ndarray):
        return f"{value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    return repr(value)
