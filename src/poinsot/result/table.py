"""A result for other programs: as a dataset of xarray, and as one flat table."""

import os
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from poinsot.errors import StorageError
from poinsot.result.attributes import attributes
from poinsot.result.channels import freedom_unit
from poinsot.result.records import RESULTANTS, Array, JointRecord
from poinsot.result.result import Result
from poinsot.result.variables import (
    AT_MIDPOINTS,
    MIDPOINT,
    MOTION,
    REACTIONS,
    TIME,
    WHOLE,
    labels,
    variables,
)
from poinsot.result.writer import output_path

if TYPE_CHECKING:
    import pandas
    import xarray


def to_xarray(result: Result) -> "xarray.Dataset":
    """Return everything that a result holds, by names, with units; see `Result.to_xarray`."""
    import xarray

    known = {
        name: (variable.dims, variable.read(slice(None)), variable.attrs)
        for name, variable in variables(result).items()
    }
    axes = {name: known.pop(name) for name in (TIME, MIDPOINT)}
    named = {
        name: ((label.dim,), label.values, {"long_name": label.long_name})
        for name, label in labels(result).items()
    }
    return xarray.Dataset(known, {**axes, **named}, attributes(result))


def to_pandas(result: Result) -> "pandas.DataFrame":
    """Return the table; see `Result.to_pandas`."""
    import pandas

    index = pandas.Index(result.time, name="time [s]")
    return pandas.DataFrame(dict(_columns(result)), index=index)


def to_csv(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the table to a text file."""
    place = output_path(path, "to_csv")
    try:
        to_pandas(result).to_csv(place)
    except OSError as error:
        raise StorageError(f"cannot write to '{place}': {error.strerror}") from error


def _columns(result: Result) -> Iterator[tuple[str, Array]]:
    added = ("added",) if np.any(result.added) else ()
    for name in ("energy", "supplied", "dissipated", *added, "balance_error"):
        yield f"{name} [J]", getattr(result, name)
    for port in result.ports.values():
        yield from _entries(f"{port.name}.u", port.u_unit, _ends(port.u))
        yield from _entries(f"{port.name}.y", port.y_unit, _ends(port.y))
        yield f"{port.name}.power [W]", _ends(port.power)
        yield f"{port.name}.energy [J]", port.energy
    seen = result.observation
    if not seen.bodies:
        for state in result.states.values():
            yield from _entries(state.name, state.unit, state.values)
    for kind, values in seen.energies.items():
        yield f"energy.{kind} [J]", values
    for name, values in seen.whole.items():
        over = _ends(values) if name in AT_MIDPOINTS else values
        yield from _axes(name, WHOLE[name][2], over)
    for record in (*seen.bodies.values(), *seen.markers.values()):
        for field, (_, _, unit) in MOTION.items():
            yield from _axes(f"{record.name}.{field}", unit, getattr(record, field))
    for joint in seen.joints.values():
        yield from _joint(joint)
    for stress in seen.stresses.values():
        for k, (name, unit) in enumerate(RESULTANTS.items()):
            yield from _entries(f"{stress.name}.{name}", unit, stress.values[:, :, k])
    for name in result.sensors:
        sensor = result.sensor(name)
        values = sensor.columns
        ends = values if len(values) == len(result.time) else _ends(values)
        yield from _entries(name, sensor.unit, ends)


def _joint(joint: JointRecord) -> Iterator[tuple[str, Array]]:
    for name, values in joint.coordinates.items():
        yield f"{joint.name}.{name} [{freedom_unit(name)}]", values
    for name, values in joint.rates.items():
        yield f"{joint.name}.{name}.rate [{freedom_unit(name)}/s]", values
    yield from _axes(f"{joint.name}.rotation", "rad", joint.rotation)
    for field, (_, _, unit) in REACTIONS.items():
        yield from _axes(f"{joint.name}.{field}", unit, _ends(getattr(joint, field)))


def _axes(name: str, unit: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Return the components of a scalar, vector or matrix over time."""
    for place in product(range(3), repeat=values.ndim - 1):
        letters = "".join("xyz"[k] for k in place)
        component: Array = np.moveaxis(values, 0, -1)[place]
        yield f"{name}{'.' if letters else ''}{letters} [{unit}]", component


def _entries(name: str, unit: str | None, values: Array) -> Iterator[tuple[str, Array]]:
    for k in range(values.shape[1]):
        index = f"[{k}]" if values.shape[1] > 1 else ""
        yield f"{name}{index}{f' [{unit}]' if unit else ''}", values[:, k]


def _ends(values: Array) -> Array:
    """Return values at midpoints in the rows of the times after them; the first row has none."""
    return np.concatenate([np.full((1, *values.shape[1:]), np.nan), values])
