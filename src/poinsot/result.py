"""The result of a simulation: named arrays, units, balances. It never calls back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from reprlib import repr as shortened
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, PoinsotError, did_you_mean

Array: TypeAlias = NDArray[np.float64]
Status: TypeAlias = Literal["done", "interrupted", "failed"]
Record = TypeVar("Record")


class Lazy(Mapping[str, Record]):
    """Records by name, each made when it is first asked for, and kept.

    Parameters
    ----------
    names : iterable
        All names, in order.
    make : function
        Returns the record of a name.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], Record]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, Record] = {}

    def __getitem__(self, name: str) -> Record:
        """Return a record, made now or before."""
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is such a record, without making it."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """Return the names in order."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._names)

    def __repr__(self) -> str:
        """Show the names; nothing is made."""
        return f"Lazy({shortened(list(self._names))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Make everything before it is copied, or sent to another process."""
        return dict, (dict(self),)


@dataclass(frozen=True, eq=False)
class StateRecord:
    """A named state over time: values of shape (times, size), unit SI."""

    name: str
    unit: str | None
    values: Array


@dataclass(frozen=True, eq=False)
class PortRecord:
    """What went through a port.

    `time` [s] are the midpoints of the saved steps, where input `u` and output `y` (steps, size)
    are taken and `power` = u·y [W] is put in; `energy` [J] is what was put in since the start, up
    to each saved time, every step counted. A `connected` port is internal: its power comes from
    another part of the same system.
    """

    name: str
    u_unit: str | None
    y_unit: str | None
    connected: bool
    time: Array
    u: Array
    y: Array
    power: Array
    energy: Array


@dataclass(frozen=True)
class Stats:
    """How the run went.

    `single_steps` were taken by the reference engine in a compiled run, where the compiled one
    found no solution. `iterations` per saved step; `balance_error_max` [J] over all steps, saved
    or not; `residual_max` is the largest residual accepted, relative to the terms of its equation.
    """

    steps: int
    newton_iterations: int
    iterations: NDArray[np.intp]
    residual_max: float
    balance_error_max: float
    dissipation_min: float
    wall_time: float
    single_steps: int = 0


@dataclass(frozen=True, eq=False)
class BodyRecord:
    """A rigid body over time, world axes.

    Of the centre of mass: position [m], velocity [m/s], (times, 3). Of the body: rotation R_WB
    (times, 3, 3), angular velocity [rad/s], (times, 3).
    """

    name: str
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


@dataclass(frozen=True, eq=False)
class JointRecord:
    """A joint over time.

    `coordinates` by name, at the saved times: angles [rad], unwrapped over turns, and displacements
    [m], zero at the start; `rotation` (times, 3) is the turn of the second body relative to the
    first since the start, as a rotation vector [rad] in the axes of the first, which at the start
    are those of the world. Reactions at `time`, the midpoints of the saved steps: `force` [N] and
    `torque` [N m] on the second body, `force_a` and `torque_a` on the first, at the joint's point,
    world axes. `complete` is False in a loop with repeated constraints: rigid bodies do not
    determine these reactions, and what is shown is the smallest distribution that does the work.
    The velocity multipliers of the stabilised form, of order h^2, are not part of them.
    """

    name: str
    time: Array
    coordinates: Mapping[str, Array]
    rotation: Array
    force: Array
    torque: Array
    force_a: Array
    torque_a: Array
    complete: bool


@dataclass(frozen=True, eq=False)
class Observation:
    """What a mechanism shows; empty for systems without bodies.

    `whole` holds arrays of the whole mechanism by name: linear_momentum and angular_momentum
    (times, 3), constraint_error and velocity_constraint_error (times,); see `Result`.
    """

    bodies: Mapping[str, BodyRecord] = field(default_factory=dict)
    markers: Mapping[str, BodyRecord] = field(default_factory=dict)
    joints: Mapping[str, JointRecord] = field(default_factory=dict)
    whole: Mapping[str, Array] = field(default_factory=dict)

    @property
    def linear_momentum(self) -> Array | None:
        """Total linear momentum [kg m/s]; None without bodies."""
        return self.whole.get("linear_momentum")

    @property
    def angular_momentum(self) -> Array | None:
        """Total angular momentum about the origin [kg m^2/s]; None without bodies."""
        return self.whole.get("angular_momentum")

    @property
    def constraint_error(self) -> Array | None:
        """Largest violation of a position constraint; None without bodies."""
        return self.whole.get("constraint_error")

    @property
    def velocity_constraint_error(self) -> Array | None:
        """Largest violation of a velocity constraint; None without bodies."""
        return self.whole.get("velocity_constraint_error")


@dataclass(frozen=True, eq=False)
class Result:
    """A simulated motion.

    Records and totals of mechanisms are computed when they are first asked for. The arrays of a
    long run are on disk and read as they are used; those that hold saved numbers are read-only.

    Parameters
    ----------
    model, scheme, engine : str
        What was run, and how.
    h, t_end : float
        Step and end time asked for [s].
    time : (times,)
        Saved times [s].
    energy : (times,)
        Stored energy H [J].
    dissipated : (times,)
        Energy lost since the start [J].
    balance_error : (times,)
        H - H0 - supplied + dissipated [J]: zero but for round-off.
    status : {"done", "interrupted", "failed"}
        Whether the run reached `t_end`; `message` says why not.
    """

    model: str
    scheme: str
    engine: str
    h: float
    t_end: float
    time: Array
    states: Mapping[str, StateRecord]
    ports: Mapping[str, PortRecord]
    energy: Array
    dissipated: Array
    balance_error: Array
    stats: Stats
    status: Status = "done"
    message: str = ""
    observation: Observation = field(default_factory=Observation)

    def __getitem__(self, name: str) -> Array:
        """Return a state by name: (times,) if it has one entry, else (times, size)."""
        values = _named(self.states, name, "state").values
        return values[:, 0] if values.shape[1] == 1 else values

    def port(self, name: str) -> PortRecord:
        """Return what went through a port."""
        return _named(self.ports, name, "port")

    # -- mechanisms ---------------------------------------------------------------------------

    def body(self, name: str) -> BodyRecord:
        """Return a body over time."""
        return _named(self.observation.bodies, name, "body")

    def marker(self, name: str) -> BodyRecord:
        """Return a marker over time, like a body: its own point and axes."""
        return _named(self.observation.markers, name, "marker")

    def joint(self, name: str) -> JointRecord:
        """Return a joint over time: coordinates and reactions."""
        return _named(self.observation.joints, name, "joint")

    def position(self, body: str) -> Array:
        """Return the centre of mass [m], world axes; shape (times, 3)."""
        return self.body(body).position

    def rotation(self, body: str) -> Array:
        """Return the rotation R_WB; shape (times, 3, 3)."""
        return self.body(body).rotation

    def velocity(self, body: str) -> Array:
        """Return the velocity of the centre of mass [m/s], world axes; shape (times, 3)."""
        return self.body(body).velocity

    def angular_velocity(self, body: str) -> Array:
        """Return the angular velocity [rad/s], world axes; shape (times, 3)."""
        return self.body(body).angular_velocity

    def reaction(self, joint: str) -> JointRecord:
        """Return the reaction of a joint: `force` [N] and `torque` [N m] on its second body."""
        return self.joint(joint)

    @property
    def linear_momentum(self) -> Array:
        """Total linear momentum [kg m/s], world axes; shape (times, 3)."""
        return _there(self.observation.linear_momentum)

    @property
    def angular_momentum(self) -> Array:
        """Total angular momentum about the origin [kg m^2/s], world axes; shape (times, 3)."""
        return _there(self.observation.angular_momentum)

    @property
    def constraint_error(self) -> Array:
        """Largest violation of a position constraint, rigidity included; shape (times,)."""
        return _there(self.observation.constraint_error)

    @property
    def velocity_constraint_error(self) -> Array:
        """Largest violation of a velocity constraint, rigidity included; shape (times,)."""
        return _there(self.observation.velocity_constraint_error)

    # -- balances -----------------------------------------------------------------------------

    @property
    def supplied(self) -> Array:
        """Energy put in through all outer ports since the start [J]; shape (times,)."""
        outer = (port.energy for port in self.ports.values() if not port.connected)
        return sum(outer, np.zeros_like(self.time))

    def summary(self) -> str:
        """Return the balance of the run as a few lines of text."""
        rows = [
            ("model", self.model),
            ("scheme", f"{self.scheme}, h = {self.h:g} s, {self.stats.steps} steps"),
            ("time", f"{self.time[0]:g} to {self.time[-1]:g} s ({self.status})"),
            ("energy at the start", f"{self.energy[0]:.9g} J"),
            ("energy at the end", f"{self.energy[-1]:.9g} J"),
            *(
                (f"supplied by '{port.name}'", f"{port.energy[-1]:.9g} J")
                for port in self.ports.values()
                if not port.connected
            ),
            ("dissipated", f"{self.dissipated[-1]:.9g} J"),
            ("largest balance error", f"{self.stats.balance_error_max:.2e} J"),
            *(
                (label, f"{np.max(values):.2e}")
                for label, values in (
                    ("position constraints", self.observation.constraint_error),
                    ("velocity constraints", self.observation.velocity_constraint_error),
                )
                if values is not None
            ),
            ("Newton iterations", f"{self.stats.newton_iterations}"),
            ("wall time", f"{self.stats.wall_time:.2f} s"),
        ]
        if self.stats.single_steps:
            rows.append(("reference steps", f"{self.stats.single_steps}"))
        if self.message:
            rows.append(("stopped", self.message))
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in rows)


def _named(records: Mapping[str, Record], name: str, kind: str) -> Record:
    if not isinstance(name, str):
        raise InputError(f"expected the name of a {kind}, got {name!r}")
    if name not in records:
        raise InputError(f"no {kind} '{name}'; {did_you_mean(name, records)}")
    return records[name]


def _there(array: Array | None) -> Array:
    if array is None:
        raise InputError("this result is not of a mechanism: it has no bodies and no momenta")
    return array


class SimulationError(PoinsotError, RuntimeError):
    """A run stopped before its end; `result` holds everything computed until then."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result
