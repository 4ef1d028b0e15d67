"""Open a result file; its arrays are read when they are used."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.errors import InputError, StorageError
from poinsot.result import seal, trial
from poinsot.result.attributes import FACTS, STATS, TOLD, unfinished
from poinsot.result.records import (
    BodyRecord,
    Coordinates,
    EventRecord,
    JointRecord,
    Lazy,
    Observation,
    PortRecord,
    StateRecord,
    Stats,
    StressRecord,
)
from poinsot.result.result import Result
from poinsot.result.source import Column, Opening, Source, read
from poinsot.result.variables import (
    AT_MIDPOINTS,
    FRAMES,
    MOTION,
    PLAIN,
    REACTIONS,
    WHOLE,
    Numbers,
    labels,
    variables,
)


def load(path: str | os.PathLike[str]) -> Result:
    """Open a result file written by `Result.save` or `simulate(..., output=...)`.

    Arrays are read from the file when they are used. It stays open until `Result.close`, or the end
    of a `with` block. A file that is still being written, or whose run was killed, has the rows
    written so far and the status `"unfinished"`.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    InputError
        If there is no such file, or it is damaged, no result, or of a newer format.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"load: expected the name of a file, got {path!r}")
    place = Path(path)
    try:
        if not place.exists():
            raise InputError(f"load: there is no file '{place}'")
        if not place.is_file():
            raise InputError(f"load: '{place}' is a folder or a device; give the name of a file")
        with place.open("rb") as file:
            begins = file.read(8)
    except OSError as error:
        raise InputError(f"load: cannot read '{place}': {error.strerror}") from None
    if begins != b"\x89HDF\r\n\x1a\n":
        remedy = ""
        if place.suffix in (".yaml", ".yml"):
            remedy = f"; simulate the model first: poinsot run {place} --output run.nc"
        raise InputError(f"load: '{place}' is not a result file: it is not netCDF-4 (HDF5){remedy}")
    try:
        opening = Opening(place)
        _require_whole(opening, place)
        source = read(opening, place)
        rows = _rows(source)

        def column(name: str) -> Numbers:
            found: Column = source.columns[name]
            return found.read(opening, rows[name])

        columns = Lazy(rows, column, opening.close)
        return _result(replace(source, columns=columns))
    except InputError:
        raise
    except StorageError as error:
        raise InputError(f"load: {error}") from None
    except Exception as error:
        why = str(error).partition("\n")[0]
        raise InputError(
            f"load: '{place}' is damaged, or not a result file ({why}); run the model again"
        ) from error


def _require_whole(opening: Opening, place: Path) -> None:
    """Refuse a truncated file, which libhdf5 might not survive."""
    intact = seal.holds(opening.content())
    if intact is None:  # another program wrote it
        intact = trial.survives(place)
    if not intact:
        raise ValueError("its checksum is wrong")


def _rows(source: Source) -> dict[str, int]:
    """Return the number of rows of a file; refuse variables that do not match.

    A trial result of zeros of the same shapes is made, so that nothing is read.
    """
    zeros = {n: np.broadcast_to(np.zeros((), c.dtype), c.shape) for n, c in source.columns.items()}
    trial = _result(replace(source, columns=zeros))
    named, known = labels(trial), variables(trial)
    sizes = {label.dim: len(label.values) for label in named.values()}
    wrong = [name for name, label in named.items() if label.values != source.labels[name]]
    for name, variable in known.items():
        across = tuple(sizes[dim] for dim in variable.dims[1:])
        if zeros[name].dtype != variable.dtype or zeros[name].shape[1:] != across:
            wrong.append(name)
    if wrong:
        raise ValueError(f"'{wrong[0]}' does not match the other variables")
    # A run that is cut off between two lengths leaves some variables longer than others.
    times = min(len(zeros[name]) + (name in AT_MIDPOINTS) for name in known)
    if times < 1:
        raise ValueError("it has no rows")
    return {name: times - (name in AT_MIDPOINTS) for name in known}


def _result(source: Source) -> Result:
    known, columns = source.attributes, source.columns
    facts: dict[str, Any] = {name: known[name] for name in FACTS}
    facts |= {name: partial(getitem, columns, name) for name in PLAIN if name != "supplied"}
    facts |= {name: tuple(known.get(name, "").splitlines()) for name in TOLD}
    if known["status"] not in ("done", "warned", "interrupted", "failed"):
        facts |= {"status": "unfinished", "message": unfinished(columns["time"][-1])}
    stats: dict[str, Any] = {name: known[name] for name in STATS if name in known}
    stats["iterations"] = partial(getitem, columns, "newton_iterations")
    return Result(
        model=known["title"],
        h=known["step"],
        states=_states(source),
        ports=_ports(source),
        stats=Stats(**stats),
        observation=_observation(source),
        sensors=dict(json.loads(known.get("sensors", "{}"))),
        events=_events(source),
        **facts,
    )


def _states(source: Source) -> Lazy[StateRecord]:
    pieces = _pieces(source.labels.get("state", []))
    units, columns = source.labels.get("state_unit", []), source.columns

    def state(name: str) -> StateRecord:
        piece = pieces[name]
        return StateRecord(name, units[piece.start] or None, columns["x"][:, piece])

    return Lazy(pieces, state)


def _ports(source: Source) -> Lazy[PortRecord]:
    texts, columns = source.labels, source.columns
    places, channels = _places(texts.get("port", [])), _pieces(texts.get("channel", []))

    def port(name: str) -> PortRecord:
        piece, k = channels[name], places[name]
        return PortRecord(
            name=name,
            u_unit=texts["u_unit"][piece.start] or None,
            y_unit=texts["y_unit"][piece.start] or None,
            connected=bool(texts["port_connected"][k]),
            time=columns["midpoint"],
            u=columns["u"][:, piece],
            y=columns["y"][:, piece],
            power=columns["port_power"][:, k],
            energy=columns["port_energy"][:, k],
        )

    return Lazy(places, port)


def _events(source: Source) -> Lazy[EventRecord]:
    texts, columns = source.labels, source.columns
    places = _places(texts.get("event", []))

    def event(name: str) -> EventRecord:
        k = places[name]
        what, energies = texts["event_what"][k], columns["event_energy"][:, k]
        return EventRecord(name, what, columns["time"], energies)

    return Lazy(places, event)


def _observation(source: Source) -> Observation:
    columns, kinds = source.columns, _places(source.labels.get("energy_kind", []))
    return Observation(
        bodies=_frames(source, "body"),
        markers=_frames(source, "marker"),
        joints=_joints(source),
        stresses=_stresses(source),
        whole=Lazy([name for name in WHOLE if name in columns], columns.__getitem__),
        energies=Lazy(kinds, lambda name: columns["energy_part"][:, kinds[name]]),
        scene=source.attributes["scene"],
        counts=source.attributes["counts"],
        together=columns,
        systems=tuple(json.loads(source.attributes.get("systems", "[]"))),
    )


def _frames(source: Source, dim: str) -> Lazy[BodyRecord]:
    places, columns = _places(source.labels.get(dim, [])), source.columns

    def frame(name: str) -> BodyRecord:
        k = places[name]
        return BodyRecord(name, **{field: columns[FRAMES[dim] + field][:, k] for field in MOTION})

    return Lazy(places, frame)


def _joints(source: Source) -> Lazy[JointRecord]:
    texts, columns = source.labels, source.columns
    places = _places(texts.get("joint", []))
    freedoms: dict[str, list[int]] = {name: [] for name in places}
    for i, owner in enumerate(texts.get("freedom_joint", [])):
        freedoms[owner].append(i)

    def joint(name: str) -> JointRecord:
        k = places[name]

        def by_name(variable: str) -> Coordinates:
            own = freedoms[name] if variable in columns else []
            return Coordinates(
                name, {texts["freedom_name"][i]: columns[variable][:, i] for i in own}
            )

        return JointRecord(
            name=name,
            time=columns["time"],
            midpoint=columns["midpoint"],
            coordinates=by_name("joint_coordinate"),
            rates=by_name("joint_rate"),
            rotation=columns["joint_rotation"][:, k],
            complete=bool(texts["joint_complete"][k]),
            **{field: columns[label][:, k] for field, (label, *_) in REACTIONS.items()},
        )

    return Lazy(places, joint)


def _stresses(source: Source) -> Lazy[StressRecord]:
    pieces, columns = _pieces(source.labels.get("section", [])), source.columns

    def stress(name: str) -> StressRecord:
        place = np.array(source.labels["section_place"][pieces[name]])
        return StressRecord(name, place, columns["stress"][:, pieces[name]])

    return Lazy(pieces, stress)


def _places(names: list[str]) -> dict[str, int]:
    return {name: k for k, name in enumerate(names)}


def _pieces(names: list[str]) -> dict[str, slice]:
    """Return where each name is, in a list that has the same names side by side."""
    found: dict[str, slice] = {}
    for k, name in enumerate(names):
        found[name] = slice(found[name].start if name in found else k, k + 1)
    return found
