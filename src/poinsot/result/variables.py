"""The variables of a result: names, dimensions, units, and where their numbers come from.

A dataset in memory, a saved file and a file that grows during a run have the same variables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.result.channels import Channel, freedom_unit
from poinsot.result.records import RESULTANTS, Array, Observation, PortRecord
from poinsot.result.result import Result

Numbers: TypeAlias = NDArray[Any]
Read: TypeAlias = Callable[[slice], Numbers]

#: Dimensions that grow with a run; there is one midpoint less than there are times.
TIME, MIDPOINT = "time", "midpoint"
#: Field of a result -> what it is, unit.
PLAIN = {
    "time": ("time", "s"),
    "midpoint": ("midpoints of the saved steps", "s"),
    "energy": ("stored energy H", "J"),
    "supplied": ("energy put in through all outer ports since the start", "J"),
    "dissipated": ("energy lost since the start", "J"),
    "balance_error": ("H - H0 - supplied + dissipated - added by events", "J"),
}
#: What the variables of bodies begin with, and those of markers; and the point that is shown.
FRAMES = {"body": "", "marker": "marker_"}
POINT = {"body": "centre of mass", "marker": "marker"}
#: Field of a record -> dimensions, what it is, unit.
MOTION = {
    "position": (("axis",), "position of the {}", "m"),
    "rotation": (("row", "column"), "rotation of the {}, its axes in the columns", "1"),
    "velocity": (("axis",), "velocity of the {}", "m/s"),
    "angular_velocity": (("axis",), "angular velocity of the {}", "rad/s"),
}
REACTIONS = {
    "force": ("reaction_force", "force of the joint on its second body", "N"),
    "torque": ("reaction_torque", "torque of the joint on its second body, at its point", "N m"),
    "force_a": ("reaction_force_a", "force of the joint on its first body", "N"),
    "torque_a": ("reaction_torque_a", "torque of the joint on its first body, at its point", "N m"),
}
#: Variables that belong to midpoints; the others belong to times. Those that grow are numbers.
AT_MIDPOINTS = {
    *(MIDPOINT, "newton_iterations", "u", "y", "port_power", "velocity_constraint_error_mid"),
    "measured_mid",
    *(name for name, *_ in REACTIONS.values()),
}
GROWING = (np.dtype(np.float64), np.dtype(np.int64))
WHOLE = {
    "linear_momentum": (("axis",), "total linear momentum", "kg m/s"),
    "angular_momentum": (("axis",), "total angular momentum about the origin", "kg m^2/s"),
    "constraint_error": ((), "largest violation of a position constraint", "SI"),
    "velocity_constraint_error": (
        (),
        "largest violation of a velocity constraint at the end of a step",
        "SI",
    ),
    "velocity_constraint_error_mid": (
        (),
        "largest violation of a velocity constraint in the middle of a step",
        "SI",
    ),
}


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable: its dimensions, what it is, its unit; `read` returns the numbers of some rows."""

    name: str
    dims: tuple[str, ...]
    long_name: str
    units: str
    read: Read = field(repr=False)
    frame: str = ""
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float64))

    @property
    def attrs(self) -> dict[str, str]:
        """What a reader is told about it."""
        known = {"long_name": self.long_name, "units": self.units, "frame": self.frame}
        return {name: text for name, text in known.items() if text}


@dataclass(frozen=True, eq=False)
class Label:
    """Texts, flags or places along a dimension: names of its entries if it is called like it."""

    name: str
    dim: str
    long_name: str
    values: list[str] | list[bool] | list[float]


def labels(result: Result) -> dict[str, Label]:
    """Return the names along the dimensions of a result, and what else is known of each entry."""
    seen = result.observation
    states, ports = list(result.states.values()), list(result.ports.values())
    entries = [state for state in states for _ in range(state.values.shape[1])]
    channels = [port for port in ports for _ in range(port.u.shape[1])]
    freedoms = [(joint.name, name) for joint in seen.joints.values() for name in joint.coordinates]
    axes = list("xyz") if seen.bodies else []
    stresses = list(seen.stresses.values())
    sections = [(stress.name, x) for stress in stresses for x in stress.place.tolist()]
    resultants = RESULTANTS if stresses else {}
    found = [
        Label("state", "state", "state that an entry of x belongs to", [s.name for s in entries]),
        Label("state_unit", "state", "unit of the state", [s.unit or "" for s in entries]),
        Label("port", "port", "port", [port.name for port in ports]),
        Label("port_connected", "port", "inside the system", [port.connected for port in ports]),
        Label(
            "channel", "channel", "port of an entry of u and y", [port.name for port in channels]
        ),
        Label("u_unit", "channel", "unit of the input", [port.u_unit or "" for port in channels]),
        Label("y_unit", "channel", "unit of the output", [port.y_unit or "" for port in channels]),
        Label("energy_kind", "energy_kind", "kind of energy", list(seen.energies)),
        Label("body", "body", "body", list(seen.bodies)),
        Label("marker", "marker", "marker", list(seen.markers)),
        Label("joint", "joint", "joint", list(seen.joints)),
        Label(
            "joint_complete",
            "joint",
            "rigid bodies determine the reaction",
            [joint.complete for joint in seen.joints.values()],
        ),
        Label("freedom", "freedom", "coordinate of a joint", [".".join(f) for f in freedoms]),
        Label("freedom_joint", "freedom", "its joint", [joint for joint, _ in freedoms]),
        Label("freedom_name", "freedom", "its name in the joint", [name for _, name in freedoms]),
        Label("freedom_unit", "freedom", "its unit", [freedom_unit(name) for _, name in freedoms]),
        Label("section", "section", "beam or rod of a section", [name for name, _ in sections]),
        Label("section_place", "section", "how far along it [m]", [x for _, x in sections]),
        Label("resultant", "resultant", "stress resultant", list(resultants)),
        Label("resultant_unit", "resultant", "its unit", list(resultants.values())),
        *(Label(dim, dim, f"{dim}, world axes", axes) for dim in ("axis", "row")),
        Label("column", "column", "column, axes of the body", axes),
        *_sensor_labels(result),
        Label("event", "event", "event", list(result.events)),
        Label("event_what", "event", "what it does", [e.what for e in result.events.values()]),
    ]
    return {label.name: label for label in found if label.values}


def _sensors(result: Result) -> dict[str, dict[str, Channel]]:
    """Return the channels of sensors by name: those at the saved times, and those at midpoints."""
    found: dict[str, dict[str, Channel]] = {"": {}, "_mid": {}}
    for name, text in result.sensors.items():
        channel = result.channel(text, f"sensor '{name}'")
        found["_mid" if channel.kind == "reaction" else ""][name] = channel
    return found


def _sensor_labels(result: Result) -> Iterator[Label]:
    for end, channels in _sensors(result).items():
        of = [(name, channel) for name, channel in channels.items() for _ in range(channel.size)]
        dim = f"sensor{end}"
        yield Label(dim, dim, "sensor that an entry belongs to", [name for name, _ in of])
        yield Label(f"{dim}_channel", dim, "what it records", [c.text for _, c in of])
        yield Label(f"{dim}_unit", dim, "its unit", [c.unit or "" for _, c in of])


def _of_sensors(result: Result) -> Iterator[Variable]:
    def read(names: Iterable[str]) -> Read:
        def values(rows: slice) -> Numbers:
            return np.concatenate([result.sensor(n).columns[rows] for n in names], axis=1)

        return values

    for (end, channels), when in zip(_sensors(result).items(), (TIME, MIDPOINT), strict=True):
        if channels:
            dims, name = (when, f"sensor{end}"), f"measured{end}"
            unit = f"SI, see sensor{end}_unit"
            yield Variable(name, dims, "what sensors recorded", unit, read(channels))


def variables(result: Result) -> dict[str, Variable]:
    """Return the variables of a result; numbers are computed when they are asked for."""
    return {variable.name: variable for variable in _variables(result)}


def _variables(result: Result) -> Iterator[Variable]:
    for name, (what, unit) in PLAIN.items():
        dim = MIDPOINT if name in AT_MIDPOINTS else TIME
        yield Variable(name, (dim,), what, unit, _field(result, name))
    yield Variable(
        "newton_iterations",
        (MIDPOINT,),
        "Newton iterations of each saved step",
        "1",
        _field(result.stats, "iterations"),
        dtype=np.dtype(np.int64),
    )
    if result.states:
        yield Variable(
            "x",
            (TIME, "state"),
            "state; .sel(state=...) gives all entries of one",
            "SI, see state_unit",
            _joined(result.states, "values"),
        )
    if result.ports:
        yield from _of_ports(result.ports)
    yield from _of_mechanism(result.observation)
    yield from _of_sensors(result)
    if result.events:
        what = "what an event added to the stored energy; missing where it did not happen"
        read = _stacked(result.events, "energies")
        yield Variable("event_energy", (TIME, "event"), what, "J", read)


def _of_ports(ports: Mapping[str, PortRecord]) -> Iterator[Variable]:
    along, each = (MIDPOINT, "channel"), (MIDPOINT, "port")
    since = "energy put in since the start"
    yield Variable("u", along, "inputs of ports", "SI, see u_unit", _joined(ports, "u"))
    yield Variable("y", along, "outputs of ports", "SI, see y_unit", _joined(ports, "y"))
    yield Variable("port_power", each, "power u·y put in", "W", _stacked(ports, "power"))
    yield Variable("port_energy", (TIME, "port"), since, "J", _stacked(ports, "energy"))


def _of_mechanism(seen: Observation) -> Iterator[Variable]:
    if seen.energies:
        kinds, along = seen.energies, (TIME, "energy_kind")
        yield Variable("energy_part", along, "stored energy by kind", "J", _columns(kinds.values))
    for name in seen.whole:
        dims, what, unit = WHOLE[name]
        frame, when = "world" if dims else "", MIDPOINT if name in AT_MIDPOINTS else TIME
        yield Variable(name, (when, *dims), what, unit, _entry(seen.whole, name), frame)
    for dim, records in (("body", seen.bodies), ("marker", seen.markers)):
        for name, (dims, what, unit) in MOTION.items() if records else ():
            yield Variable(
                FRAMES[dim] + name,
                (TIME, dim, *dims),
                what.format(POINT[dim] if name in ("position", "velocity") else dim),
                unit,
                _together(seen, FRAMES[dim] + name) or _stacked(records, name),
                frame="world",
            )
    if seen.joints:
        yield from _of_joints(seen)
    if seen.stresses:
        yield Variable(
            "stress",
            (TIME, "section", "resultant"),
            "stress resultants of beams and rods: what lies beyond a section on what lies before",
            "SI, see resultant_unit",
            _together(seen, "stress") or _joined(seen.stresses, "values"),
            frame="section",
        )


def _of_joints(seen: Observation) -> Iterator[Variable]:
    joints, known = seen.joints, seen.together.get("joint_coordinate")
    if any(j.coordinates for j in joints.values()) if known is None else known.shape[1]:
        yield Variable(
            "joint_coordinate",
            (TIME, "freedom"),
            "coordinates of joints, zero at the start; angles over turns",
            "SI, see freedom_unit",
            _together(seen, "joint_coordinate")
            or _columns(lambda: (c for j in joints.values() for c in j.coordinates.values())),
        )
    # Files of earlier versions have no rates.
    known = seen.together.get("joint_rate")
    if any(j.rates for j in joints.values()) if known is None else known.shape[1]:
        yield Variable(
            "joint_rate",
            (TIME, "freedom"),
            "rates of the coordinates of joints",
            "SI, see freedom_unit, per second",
            _together(seen, "joint_rate")
            or _columns(lambda: (c for j in joints.values() for c in j.rates.values())),
        )
    yield Variable(
        "joint_rotation",
        (TIME, "joint", "axis"),
        "turn of the second body relative to the first since the start, as a rotation vector",
        "rad",
        _together(seen, "joint_rotation") or _stacked(joints, "rotation"),
        frame="first body; at the start, the world",
    )
    for name, (label, what, unit) in REACTIONS.items():
        along, read = (MIDPOINT, "joint", "axis"), _together(seen, label)
        yield Variable(label, along, what, unit, read or _stacked(joints, name), frame="world")


def _together(seen: Observation, name: str) -> Read | None:
    """Return what reads a variable that is known as a whole."""
    return _entry(seen.together, name) if name in seen.together else None


def _columns(arrays: Callable[[], Iterable[Array]]) -> Read:
    """Return what stacks arrays: (rows, arrays, ...)."""
    return lambda rows: np.stack([array[rows] for array in arrays()], axis=1)


def _stacked(records: Mapping[str, Any], name: str) -> Read:
    """Return what stacks a field of all records: (rows, records, ...)."""
    return _columns(lambda: (getattr(record, name) for record in records.values()))


def _joined(records: Mapping[str, Any], name: str) -> Read:
    """Return what joins a field of all records: (rows, sum of sizes)."""
    return lambda rows: np.concatenate(
        [getattr(record, name)[rows] for record in records.values()], axis=1
    )


def _field(record: Any, name: str) -> Read:
    return lambda rows: getattr(record, name)[rows]


def _entry(arrays: Mapping[str, Array], name: str) -> Read:
    return lambda rows: arrays[name][rows]
