"""Results for MATLAB and Octave: structs of arrays."""

import os
import re
from collections.abc import Mapping
from typing import Any

from poinsot.errors import StorageError
from poinsot.result.result import Result
from poinsot.result.variables import MOTION, REACTIONS
from poinsot.result.writer import output_path

#: Names in MATLAB are no longer than this.
LONGEST = 63


def to_mat(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the structs to a MAT-file of version 5; see `Result.to_mat`."""
    from scipy.io import savemat

    place = output_path(path, "to_mat")
    try:
        savemat(place, _structs(result), long_field_names=True, oned_as="column")
    except OSError as error:
        raise StorageError(f"cannot write to '{place}': {error.strerror}") from error


def _structs(result: Result) -> dict[str, Any]:
    seen = result.observation
    balances = ("energy", "supplied", "dissipated", "balance_error")
    whole = {name: getattr(result, name) for name in ("time", "midpoint", *balances)}
    whole |= {"model": result.model, "scheme": result.scheme, "status": result.status}
    whole |= {name: seen.whole[name] for name in seen.whole}
    motion = {**seen.bodies, **seen.markers}
    sensors = {name: result.sensor(name) for name in result.sensors}
    kinds: dict[str, dict[str, Any]] = {
        "bodies": {name: _fields(record, MOTION) for name, record in motion.items()},
        "joints": {
            name: {
                "coordinates": _named(joint.coordinates),
                "rates": _named(joint.rates),
                **_fields(joint, REACTIONS),
            }
            for name, joint in seen.joints.items()
        },
        "ports": {
            name: _fields(port, ("u", "y", "power", "energy"))
            for name, port in result.ports.items()
        },
        "sensors": {name: _fields(sensor, ("time", "values")) for name, sensor in sensors.items()},
    }
    if not seen.bodies:
        kinds["states"] = {name: state.values for name, state in result.states.items()}
    return whole | {kind: _named(records) for kind, records in kinds.items() if records}


def _fields(record: Any, names: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _named(records: Mapping[str, Any]) -> dict[str, Any]:
    """Return records by names that MATLAB allows; those that would be the same get a number."""
    found: dict[str, Any] = {}
    for name, record in records.items():
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = (plain if re.match("[A-Za-z]", plain) else f"x{plain}")[:LONGEST]
        taken, k = plain, 2
        while taken in found:
            taken, k = f"{plain[: LONGEST - 4]}_{k}", k + 1
        found[taken] = record
    return found
