"""Opens a result file. Its numbers are read when they are used."""

import json
import os
from pathlib import Path

import numpy as np

from poinsot.errors import InputError
from poinsot.result.attributes import FORMAT, STATS, unfinished
from poinsot.result.records import (
    Array,
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
    known = source.attributes
    time = source["time"]
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
        midpoint=source["midpoint"],
        states=_states(source),
        ports=_ports(source),
        energy=source["energy"],
        dissipated=source["dissipated"],
        balance_error=source["balance_error"],
        stats=Stats(
            iterations=source["newton_iterations"].astype(np.intp, copy=False),
            **{name: known[name] for name in STATS},
        ),
        status=status,
        message=message,
        observation=_observation(source),
        document=known["document"],
    )


def _states(source: Source) -> Lazy[StateRecord]:
    pieces = _pieces(source.labels.get("state", []))
    units = source.labels.get("state_unit", [])
    whole = Lazy(["x"], source.__getitem__)

    def state(name: str) -> StateRecord:
        piece = pieces[name]
        return StateRecord(name, units[piece.start] or None, whole["x"][:, piece])

    return Lazy(pieces, state)


def _ports(source: Source) -> Lazy[PortRecord]:
    labels = source.labels
    names = labels.get("port", [])
    channels, places = _pieces(labels.get("channel", [])), {n: k for k, n in enumerate(names)}
    columns = Lazy(["midpoint", "u", "y", "port_power", "port_energy"], source.__getitem__)

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

    return Lazy(names, port)


def _observation(source: Source) -> Observation:
    kinds = {name: k for k, name in enumerate(source.labels.get("energy_kind", []))}
    parts = Lazy(["energy_part"], source.__getitem__)
    names = [prefix + name for prefix in FRAMES.values() for name in MOTION]
    names += ["joint_coordinate", "joint_rotation", *(label for label, *_ in REACTIONS.values())]
    together = Lazy([name for name in names if name in source], source.__getitem__)
    return Observation(
        bodies=_frames(source, together, "body"),
        markers=_frames(source, together, "marker"),
        joints=_joints(source, together),
        whole=Lazy([name for name in WHOLE if name in source], source.__getitem__),
        energies=Lazy(kinds, lambda name: parts["energy_part"][:, kinds[name]]),
        scene=Scene.from_dict(json.loads(source.attributes["scene"])),
        counts=Counts(**json.loads(source.attributes["counts"])),
        together=together,
    )


def _frames(source: Source, together: Lazy[Array], dim: str) -> Lazy[BodyRecord]:
    places = {name: k for k, name in enumerate(source.labels.get(dim, []))}

    def frame(name: str) -> BodyRecord:
        k = places[name]
        return BodyRecord(name, **{field: together[FRAMES[dim] + field][:, k] for field in MOTION})

    return Lazy(places, frame)


def _joints(source: Source, together: Lazy[Array]) -> Lazy[JointRecord]:
    labels = source.labels
    places = {name: k for k, name in enumerate(labels.get("joint", []))}
    names = {field: label for field, (label, *_) in REACTIONS.items()}
    midpoint = Lazy(["midpoint"], source.__getitem__)

    def joint(name: str) -> JointRecord:
        k = places[name]
        owners = enumerate(labels.get("freedom_joint", []))
        freedoms = [i for i, owner in owners if owner == name]
        return JointRecord(
            name=name,
            time=midpoint["midpoint"],
            coordinates={
                labels["freedom_name"][i]: together["joint_coordinate"][:, i] for i in freedoms
            },
            rotation=together["joint_rotation"][:, k],
            complete=bool(labels["joint_complete"][k]),
            **{field: together[label][:, k] for field, label in names.items()},
        )

    return Lazy(places, joint)


def _pieces(names: list[str]) -> dict[str, slice]:
    """Return where each name is, in a list that has the same names side by side."""
    found: dict[str, slice] = {}
    for k, name in enumerate(names):
        found[name] = slice(found[name].start if name in found else k, k + 1)
    return found
