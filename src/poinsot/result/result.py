"""The result of a simulation: named arrays with units, balances, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from poinsot.errors import InputError, PoinsotError, did_you_mean, printable
from poinsot.result.cards import card
from poinsot.result.channels import Channel, Known, find_channel
from poinsot.result.records import (
    Array,
    BodyRecord,
    EventRecord,
    JointRecord,
    Lazy,
    Observation,
    PortRecord,
    ReactionRecord,
    Record,
    SensorRecord,
    Series,
    StateRecord,
    Stats,
    StressRecord,
)

if TYPE_CHECKING:
    import pandas
    import xarray

Status: TypeAlias = Literal["done", "warned", "interrupted", "failed", "unfinished"]
POSITIONS, MIDPOINTS, ENDS = (
    "position constraints",
    "velocity constraints at midpoints",
    "velocity constraints at ends of steps",
)
#: What violations of constraints are called -> their names in an `Observation`, and their units.
VIOLATIONS = {
    POSITIONS: "constraint_error",
    MIDPOINTS: "velocity_constraint_error_mid",
    ENDS: "velocity_constraint_error",
}
UNITS = {POSITIONS: "m, rad", MIDPOINTS: "m/s, rad/s", ENDS: "m/s, rad/s"}


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a simulation.

    Records of bodies, joints and momenta are computed when they are first used. The arrays of a
    long run stay on disk and are read when they are used. Arrays of saved values are read-only.

    Attributes
    ----------
    model, scheme, engine : str
        Names of the model, the scheme and the engine.
    h, t_end : float
        Requested step size and end time [s].
    time : (times,)
        Saved times [s].
    midpoint : (times - 1,)
        Midpoints of the saved steps [s], where inputs, outputs and reactions are recorded.
    energy : (times,)
        Stored energy H [J].
    dissipated : (times,)
        Energy dissipated since the start [J].
    balance_error : (times,)
        Error of the energy balance, H - H0 - supplied + dissipated, without energy added by events
        [J]. It is zero up to round-off.
    status : {"done", "warned", "interrupted", "failed", "unfinished"}
        `"done"` and `"warned"` runs reached `t_end`; see `warnings` for the latter. For others,
        `message` gives the reason. `"unfinished"` is a file that is still being written, or whose
        run was killed.
    warnings : tuple of str
        Properties of the scheme that were violated: energy or constraints are off by more than
        `poinsot.run.exactness.MULTIPLE` times round-off.
    notes : tuple of str
        Remarks that are not errors.
    document : str
        The model as a model file, if it can be written as one.
    sensors : mapping
        Name of a sensor -> its channel, see `sensor`.
    events : mapping
        Name of an event -> `EventRecord`, with the times at which it happened.
    """

    model: str
    scheme: str
    engine: str
    h: float
    t_end: float
    states: Mapping[str, StateRecord]
    ports: Mapping[str, PortRecord]
    stats: Stats
    time: Series = Series()
    midpoint: Series = Series()
    energy: Series = Series()
    dissipated: Series = Series()
    balance_error: Series = Series()
    status: Status = "done"
    message: str = ""
    observation: Observation = field(default_factory=Observation)
    document: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sensors: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, EventRecord] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return one line: model, scheme, engine and end."""
        span = f"{self.time[0]:g} to {self.time[-1]:g} s"
        how = f"{self.scheme}, {self.step_sizes}, {self.stats.steps} steps"
        return f"<Result of '{printable(self.model)}': {how}, {span} ({self.status})>"

    def _repr_html_(self) -> str:
        """Return the energy balance and the available names, for notebooks."""
        ports = [(p.name, f"u [{p.u_unit}], y [{p.y_unit}]") for p in self.ports.values()]
        lists: dict[str, list[tuple[str, ...]]] = {
            "Bodies": [(name,) for name in self.bodies],
            "Joints": [(name,) for name in self.joints],
            "Systems": [(name,) for name in self.systems],
            "Ports": [*ports],
            "Sensors": [(name, channel) for name, channel in self.sensors.items()],
            "Events": [(name, event.when) for name, event in self.events.items()],
        }
        return card(repr(self)[1:-1], self._facts, lists)

    def __getitem__(self, name: str) -> Array:
        """Return a state by name: (times,) if it has one entry, otherwise (times, size)."""
        values = _named(self.states, name, "state").values
        return values[:, 0] if values.shape[1] == 1 else values

    def port(self, name: str) -> PortRecord:
        """Return the record of a port: input, output, power and energy."""
        return _named(self.ports, name, "port")

    # -- sensors ------------------------------------------------------------------------------

    def sensor(self, name: str) -> SensorRecord:
        """Return the record of a sensor."""
        text = _named(self.sensors, name, "sensor")
        channel = self.channel(text, f"sensor '{name}'")
        time, values = self._measured(channel)
        return SensorRecord(name, text, channel.unit, time, values)

    def channel(self, text: str, what: str = "channel") -> Channel:
        """Return a quantity by its name, such as `"hinge.rate"`, as in `Model.add_sensor`."""
        seen, states = self.observation, self.states
        known = Known(
            Lazy(seen.joints, lambda name: tuple(seen.joints[name].coordinates)),
            {**dict.fromkeys(seen.markers, "marker"), **dict.fromkeys(seen.bodies, "body")},
            Lazy(states, lambda name: (states[name].values.shape[1], states[name].unit)),
        )
        return find_channel(text, known, what)

    def _measured(self, channel: Channel) -> tuple[Array, Array]:
        """Return the times and values of a channel."""
        match channel.kind:
            case "coordinate":
                return self.time, self.joint(channel.owner).coordinates[channel.which]
            case "rate":
                return self.time, self.joint(channel.owner).rates[channel.which]
            case "motion":
                values: Array = getattr(self.body(channel.owner), channel.which)
                return self.time, values
            case "reaction":
                reaction = self.reaction(channel.owner)
                return reaction.time, getattr(reaction, channel.which)
        return self.time, self[channel.owner]

    # -- mechanisms ---------------------------------------------------------------------------

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of bodies."""
        return tuple(self.observation.bodies)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of joints."""
        return tuple(self.observation.joints)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of systems that were added to the model or interconnected."""
        return self.observation.systems

    def body(self, name: str) -> BodyRecord:
        """Return the record of a body, or of a marker such as `"beam.end"`."""
        seen = self.observation
        if isinstance(name, str) and name not in seen.bodies and name in seen.markers:
            return seen.markers[name]
        return _named(seen.bodies, name, "body")

    def marker(self, name: str) -> BodyRecord:
        """Return the record of a marker, like that of a body, for its own origin and axes."""
        return _named(self.observation.markers, name, "marker")

    def joint(self, name: str) -> JointRecord:
        """Return the record of a joint: coordinates, rates and reactions."""
        return _named(self.observation.joints, name, "joint")

    def position(self, body: str) -> Array:
        """Return the position of the centre of mass [m], world axes; (times, 3)."""
        return self.body(body).position

    def rotation(self, body: str) -> Array:
        """Return the rotation matrix R_WB; (times, 3, 3)."""
        return self.body(body).rotation

    def velocity(self, body: str) -> Array:
        """Return the velocity of the centre of mass [m/s], world axes; (times, 3)."""
        return self.body(body).velocity

    def angular_velocity(self, body: str) -> Array:
        """Return the angular velocity [rad/s], world axes; (times, 3)."""
        return self.body(body).angular_velocity

    def reaction(self, joint: str) -> ReactionRecord:
        """Return the reaction of a joint: `force` [N] and `torque` [N m] on its second body."""
        return self.joint(joint).reaction

    def stress(self, name: str) -> StressRecord:
        """Return the stress resultants of a beam or rod: axial, shear, torsion and bending."""
        return _named(self.observation.stresses, name, "beam or rod")

    def deformation(self, body: str) -> Array:
        """Return the elastic coordinates of a beam or flexible body; shape (times, n)."""
        elastic = {
            name.removesuffix(".u"): state
            for name, state in self.states.items()
            if name.endswith(".u") and name.removesuffix(".u") in self.observation.bodies
        }
        return np.asarray(_named(elastic, body, "elastic body").values)

    @property
    def linear_momentum(self) -> Array:
        """Total linear momentum [kg m/s], world axes; (times, 3)."""
        return self._whole("linear_momentum")

    @property
    def angular_momentum(self) -> Array:
        """Total angular momentum about the origin [kg m^2/s], world axes; (times, 3)."""
        return self._whole("angular_momentum")

    @property
    def constraint_error(self) -> Array:
        """Largest violation of position constraints, rigidity included [m or rad]; (times,)."""
        return self._whole("constraint_error")

    @property
    def velocity_constraint_error(self) -> Array:
        """Largest violation of velocity constraints at the ends of steps; (times,).

        Zero up to round-off for `"ph-mp-ggl"`. Other schemes satisfy velocity constraints at
        midpoints, see `velocity_constraint_error_mid`, and have an error of order h^2 here.
        Rigidity is included.
        """
        return self._whole("velocity_constraint_error")

    @property
    def velocity_constraint_error_mid(self) -> Array:
        """Largest violation of velocity constraints at the midpoints of steps; (midpoints,).

        Zero up to round-off for all schemes except `"ph-mp-ggl"`. For a `RedundantSystem`, it is
        the largest entry of A w.
        """
        return self._whole(
            "velocity_constraint_error_mid",
            "this result has no constraints on velocities that hold at midpoints; see "
            "velocity_constraint_error",
        )

    def _whole(
        self,
        name: str,
        missing: str = "this result is not of a mechanism: it has no bodies and no momenta",
    ) -> Array:
        if name not in self.observation.whole:
            raise InputError(missing)
        return self.observation.whole[name]

    @property
    def violations(self) -> dict[str, Array]:
        """Available constraint violations by their names in tables."""
        whole = self.observation.whole
        known = {label: whole[name] for label, name in VIOLATIONS.items() if name in whole}
        return {label: values for label, values in known.items() if values.size}

    @property
    def measured_violations(self) -> list[tuple[str, Array, str, str]]:
        """Constraint violations with units, and a remark if the scheme does not satisfy them.

        Joints constrain points and directions, so that the units of mechanisms are m and rad; those
        of other systems are unknown.
        """
        known, mechanism = self.violations, bool(self.bodies)
        remarks = {ENDS: "not kept by this scheme: falls with h^2"} if MIDPOINTS in known else {}
        return [
            (label, values, UNITS[label] if mechanism else "", remarks.get(label, ""))
            for label, values in known.items()
        ]

    # -- balances -----------------------------------------------------------------------------

    @property
    def outer_ports(self) -> list[PortRecord]:
        """Ports that exchange energy with the outside."""
        return [port for port in self.ports.values() if not port.connected]

    @property
    def supplied(self) -> Array:
        """Energy supplied through all outer ports since the start [J]; (times,)."""
        return sum((port.energy for port in self.outer_ports), np.zeros_like(self.time))

    @property
    def step_sizes(self) -> str:
        """Step sizes, in words."""
        stats = self.stats
        if not stats.tolerance:
            return f"h = {self.h:g} s"
        sizes = f"h = {stats.smallest_step:.2g} to {stats.largest_step:.2g} s"
        return f"{sizes} by a tolerance of {stats.tolerance:g} ({stats.rejected_steps} rejected)"

    @property
    def added(self) -> Array:
        """Energy that events added to the stored energy since the start [J]; (times,).

        Events add the energy of springs that are switched on or off, and remove that of impacts.
        """
        each = (np.nan_to_num(event.energies) for event in self.events.values())
        return np.cumsum(sum(each, np.zeros_like(self.time)))

    @property
    def _errors_of_constraints(self) -> list[tuple[str, str]]:
        """Largest constraint violations, in words."""
        return [
            (label, f"{np.max(gap):.2e} {unit}{remark and f' ({remark})'}".rstrip())
            for label, gap, unit, remark in self.measured_violations
        ]

    @property
    def _estimated(self) -> list[tuple[str, str]]:
        """Estimated errors of the motion, if requested."""
        off, turned = self.stats.position_error, self.stats.rotation_error
        if np.isinf(off):
            return []
        return [("estimated error of the motion", f"{off:.1e} m, {turned:.1e} rad")]

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """Contents of a summary."""
        rows = [
            ("model", self.model),
            ("scheme", f"{self.scheme}, {self.step_sizes}, {self.stats.steps} steps"),
            ("time", f"{self.time[0]:g} to {self.time[-1]:g} s ({self.status})"),
            ("energy at the start", f"{self.energy[0]:.9g} J"),
            ("energy at the end", f"{self.energy[-1]:.9g} J"),
            *((f"supplied by '{p.name}'", f"{p.energy[-1]:.9g} J") for p in self.outer_ports),
            ("dissipated", f"{self.dissipated[-1]:.9g} J"),
            *([("added by events", f"{self.added[-1]:.9g} J")] if np.any(self.added) else []),
            ("largest balance error", f"{self.stats.balance_error_max:.2e} J"),
            *self._errors_of_constraints,
            *self._estimated,
            ("Newton iterations", f"{self.stats.newton_iterations}"),
            ("wall time", f"{self.stats.wall_time:.2g} s"),
            *((f"event '{name}'", event.when) for name, event in self.events.items()),
        ]
        if self.message:
            rows.append(("stopped", self.message))
        rows += [("note", text) for text in self.notes]
        return rows + [("WARNING", text) for text in self.warnings]

    def summary(self) -> str:
        """Return a summary of the run as a few lines of text."""
        rows = self._facts
        width = max(len(label) for label, _ in rows)
        return "\n".join(printable(f"{label:<{width}}  {value}") for label, value in rows)

    # -- files and tables ---------------------------------------------------------------------

    def close(self) -> None:
        """Close the file of a loaded result; it is reopened when more data are needed.

        `with ps.load("run.nc") as result:` closes it at the end. Arrays that are still in use stay
        valid and keep the file open.
        """
        for records in (self.states, self.ports, self.events, *vars(self.observation).values()):
            if isinstance(records, Lazy):
                records.forget()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a netCDF file, which `poinsot.load` and xarray read.

        An existing file is replaced once the new one is complete.
        """
        from poinsot.result.writer import save

        save(self, path)

    def to_xarray(self) -> xarray.Dataset:
        """Return everything as an xarray dataset with units, e.g. `position(time, body, axis)`.

        `ds.position.sel(body="rod", axis="z").plot()` plots the height of a body.
        """
        from poinsot.result.table import to_xarray

        return to_xarray(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table over the saved times, with columns such as `rod.position.z [m]`.

        Values at the midpoint of a step are in the row of the end of the step.
        """
        from poinsot.result.table import to_pandas

        return to_pandas(self)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table of `to_pandas` to a CSV file with all digits."""
        from poinsot.result.table import to_csv

        to_csv(self, path)

    def to_mat(self, path: str | PathLike[str]) -> None:
        """Write a MAT-file with structs of arrays, for MATLAB and Octave.

        `r = load("run.mat")` has `r.time`, `r.energy`, `r.bodies.rod.position` (times, 3),
        `r.joints.hinge.coordinates.angle`, `r.joints.hinge.force`, `r.ports.motor.u`,
        `r.sensors.tip.values`, all in SI units. Values at midpoints belong to the times
        `r.midpoint`. Characters of names other than letters, digits and underscores become
        underscores.
        """
        from poinsot.result.matlab import to_mat

        to_mat(self, path)


def _named(records: Mapping[str, Record], name: str, kind: str) -> Record:
    if not isinstance(name, str):
        raise InputError(f"expected the name of a {kind}, got {name!r}")
    if name not in records:
        raise InputError(f"no {kind} '{name}'; {did_you_mean(name, records)}")
    return records[name]


class SimulationError(PoinsotError, RuntimeError):
    """A simulation stopped before its end.

    Attributes
    ----------
    result : Result
        Everything that was computed until then.
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result
