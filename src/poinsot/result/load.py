"""Opens a result file. Its numbers are read when they are used."""

import json
import os
from pathlib import Path

import numpy as np

from poinsot.errors import InputError
from poinsot.result.attributes import FORMAT, STATS, unfinished
from poinsot.result.records import (
    BodyRecord,
    Counts,
    JointRecord,
    Lazy,
    Observation,
    PortRecord,
    StateRecord,
    Stats,
)
from poinsot.result.result import Result
from poinsot.result.scene import Scene
from poinsot.result.source import Source
from poinsot.result.variables import FRAMES, MOTION, REACTIONS, WHOLE


def load(path: str | os.PathLike[str]) -> Result:
    """Open a result file that `Result.save` or `simulate(..., output=...)` wrote.

    The file is opened at once, however large it is: numbers are read when they are used. A file
    that a run is still writing, or was writing when it was killed, has what was written so far,
    and the status `"unfinished"`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"load: expected the name of a file, got {path!r}")
    place = Path(path)
    if not place.exists():
        raise InputError(f"load: there is no file '{place}'")
    if place.is_dir():
        raise InputError(f"load: '{place}' is a folder; give the name of a file")
    try:
        with place.open("rb") as file:
            begins = file.read(8)
    except OSError as error:
        raise InputError(f"load: cannot read '{place}': {error.strerror}") from None
    if begins != b"\x89HDF\r\n\x1a\n":
        raise InputError(f"load: '{place}' is not a result file: it is not netCDF-4 (HDF5)")
    try:
        source = _checked(Source(place))
        return _result(source)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"load: '{place}' is damaged, or not a result file ({error}); run the model again"
        ) from error


def _checked(source: Source) -> Source:
    version = source.attributes.get("poinsot_format")
    if not isinstance(version, int):
        raise InputError(
            f"load: '{source.path}' is netCDF, but was not written by Poinsot; open it by xarray"
        )
    if version > FORMAT:
        raise InputError(
            f"load: '{source.path}' has format {version}, written by Poinsot "
            f"{source.attributes.get('poinsot_version')}; this version knows formats up to "
            f"{FORMAT}: install a newer one"
        )
    return source


def _result(source: Source) -> Result:
    known, columns = source.attributes, source.columns
    time = columns["time"]
    if known["status"] in ("done", "interrupted", "failed"):
        status, message = known["status"], known["message"]
    else:
        status, message = "unfinished", unfinished(time[-1])
    return Result(
        model=known["title"],
        scheme=known["scheme"],
        engine=known["engine"],
        h=known["step"],
        t_end=known["t_end"],
        time=time,
        midpoint=columns["midpoint"],
        states=_states(source),
        ports=_ports(source),
        energy=columns["energy"],
        dissipated=columns["dissipated"],
        balance_error=columns["balance_error"],
        stats=Stats(
            iterations=columns["newton_iterations"].astype(np.intp, copy=False),
            **{name: known[name] for name in STATS},
        ),
        status=status,
        message=message,
        observation=_observation(source),
        document=known["document"],
    )


def _states(source: Source) -> Lazy[StateRecord]:
    pieces = _pieces(source.labels.get("state", []))
    units, columns = source.labels.get("state_unit", []), source.columns

    def state(name: str) -> StateRecord:
        piece = pieces[name]
        return StateRecord(name, units[piece.start] or None, columns["x"][:, piece])

    return Lazy(pieces, state)


def _ports(source: Source) -> Lazy[PortRecord]:
    labels, columns = source.labels, source.columns
    places, channels = _places(labels.get("port", [])), _pieces(labels.get("channel", []))

    def port(name: str) -> PortRecord:
        piece, k = channels[name], places[name]
        return PortRecord(
            name=name,
            u_unit=labels["u_unit"][piece.start] or None,
            y_unit=labels["y_unit"][piece.start] or None,
            connected=bool(labels["port_connected"][k]),
            time=columns["midpoint"],
            u=columns["u"][:, piece],
            y=columns["y"][:, piece],
            power=columns["port_power"][:, k],
            energy=columns["port_energy"][:, k],
        )

    return Lazy(places, port)


def _observation(source: Source) -> Observation:
    columns, kinds = source.columns, _places(source.labels.get("energy_kind", []))
    return Observation(
        bodies=_frames(source, "body"),
        markers=_frames(source, "marker"),
        joints=_joints(source),
        whole=Lazy([name for name in WHOLE if name in columns], columns.__getitem__),
        energies=Lazy(kinds, lambda name: columns["energy_part"][:, kinds[name]]),
        scene=Scene.from_dict(json.loads(source.attributes["scene"])),
        counts=Counts(**json.loads(source.attributes["counts"])),
        together=columns,
    )


def _frames(source: Source, dim: str) -> Lazy[BodyRecord]:
    places, columns = _places(source.labels.get(dim, [])), source.columns

    def frame(name: str) -> BodyRecord:
        k = places[name]
        return BodyRecord(name, **{field: columns[FRAMES[dim] + field][:, k] for field in MOTION})

    return Lazy(places, frame)


def _joints(source: Source) -> Lazy[JointRecord]:
    labels, columns = source.labels, source.columns
    places = _places(labels.get("joint", []))

    def joint(name: str) -> JointRecord:
        k = places[name]
        freedoms = [i for i, owner in enumerate(labels.get("freedom_joint", [])) if owner == name]
        return JointRecord(
            name=name,
            time=columns["midpoint"],
            coordinates={
                labels["freedom_name"][i]: columns["joint_coordinate"][:, i] for i in freedoms
            },
            rotation=columns["joint_rotation"][:, k],
            complete=bool(labels["joint_complete"][k]),
            **{field: columns[label][:, k] for field, (label, *_) in REACTIONS.items()},
        )

    return Lazy(places, joint)


def _places(names: list[str]) -> dict[str, int]:
    return {name: k for k, name in enumerate(names)}


def _pieces(names: list[str]) -> dict[str, slice]:
    """Return where each name is, in a list that has the same names side by side."""
    found: dict[str, slice] = {}
    for k, name in enumerate(names):
        found[name] = slice(found[name].start if name in found else k, k + 1)
    return found
