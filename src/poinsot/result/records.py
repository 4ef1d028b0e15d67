"""What a run leaves behind, piece by piece: states, ports, bodies, joints, statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, prod
from reprlib import repr as shortened
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.result.scene import Scene

Array: TypeAlias = NDArray[np.float64]
Record = TypeVar("Record")


class Lazy(Mapping[str, Record]):
    """Records by name, each made when it is first asked for, and kept.

    Parameters
    ----------
    names : iterable
        All names, in order.
    make : function
        Returns the record of a name.
    release : function
        Called when all records are forgotten.
    """

    def __init__(
        self,
        names: Iterable[str],
        make: Callable[[str], Record],
        release: Callable[[], object] = object,
    ) -> None:
        self._names, self._make, self._release = dict.fromkeys(names), make, release
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

    def forget(self) -> None:
        """Give up all records; they are made again when they are asked for."""
        self._made.clear()
        self._release()


class Series:
    """An array of a record: it is kept, or returned by a function whenever it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: Any, owner: type | None = None) -> NDArray[Any]:
        if record is None:
            raise AttributeError(self._name)  # says that the field has no default
        value = vars(record)[self._name]
        found: NDArray[Any] = value() if callable(value) else value
        return found

    def __set__(self, record: Any, value: NDArray[Any] | Callable[[], NDArray[Any]]) -> None:
        vars(record)[self._name] = value


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
    found no solution; `split_steps` had none in either and were taken in smaller ones.
    `rejected_steps` were taken again in smaller ones, since they were off by more than the
    `tolerance` of the size of steps allows; that is 0 where all are of one size. `smallest_step`
    and `largest_step` [s] are sizes, besides that of a last step that is shortened. `iterations`
    per saved step; `position_error` [m] and `rotation_error` [rad] are estimates of what bodies are
    off at most, if `simulate(estimate_error=True)` was asked for them, and infinite if not.
    `balance_error_max` [J] is that of all steps, saved or not; `residual_max` is the largest
    residual accepted, relative to the terms of its equation.
    """

    steps: int
    newton_iterations: int
    residual_max: float
    balance_error_max: float
    dissipation_min: float
    wall_time: float
    iterations: Series = Series()
    single_steps: int = 0
    split_steps: int = 0
    rejected_steps: int = 0
    tolerance: float = 0.0
    smallest_step: float = 0.0
    largest_step: float = 0.0
    position_error: float = inf
    rotation_error: float = inf


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


class Coordinates(dict[str, Array]):
    """Arrays by the names of a joint's coordinates; for another name it says what there is."""

    def __init__(self, joint: str, values: Mapping[str, Array]) -> None:
        super().__init__(values)
        self.joint = joint

    def __missing__(self, name: str) -> Array:
        hint = did_you_mean(str(name), self) if self else "it has none"
        raise InputError(f"no coordinate {name!r} of joint '{self.joint}'; {hint}")


@dataclass(frozen=True, eq=False)
class ReactionRecord:
    """The reaction of a joint over time, at the midpoints of the saved steps, `time` [s].

    `force` [N] and `torque` [N m] act on the second body, `force_a` and `torque_a` on the first, at
    the joint's point, world axes; (midpoints, 3). `complete` is False in a loop with repeated
    constraints: rigid bodies do not determine these reactions, and what is shown is the smallest
    distribution that does the work. The velocity multipliers of the stabilised form, of order h^2,
    are not part of them.
    """

    name: str
    time: Array
    force: Array
    torque: Array
    force_a: Array
    torque_a: Array
    complete: bool


@dataclass(frozen=True, eq=False)
class JointRecord:
    """A joint over time.

    `coordinates` by name, at the saved times `time` [s]: angles [rad], unwrapped over turns, and
    displacements [m], zero at the start; `rates` are theirs [rad/s or m/s]. `rotation` (times, 3)
    is the turn of the second body relative to the first since the start, as a rotation vector [rad]
    in the axes of the first, which at the start are those of the world. `force`, `torque`,
    `force_a`, `torque_a` and `complete` are those of its `reaction`, at the times `midpoint` [s].
    """

    name: str
    time: Array
    midpoint: Array
    coordinates: Mapping[str, Array]
    rates: Mapping[str, Array]
    rotation: Array
    force: Array
    torque: Array
    force_a: Array
    torque_a: Array
    complete: bool

    @property
    def reaction(self) -> ReactionRecord:
        """Its reaction."""
        on_both = self.force, self.torque, self.force_a, self.torque_a
        return ReactionRecord(self.name, self.midpoint, *on_both, self.complete)


@dataclass(frozen=True, eq=False)
class SensorRecord:
    """What a sensor recorded: `values` of a channel at the times `time` [s], in an SI `unit`.

    At the saved times, (times,) or (times, 3), rotations (times, 3, 3); reactions at midpoints.
    """

    name: str
    channel: str
    unit: str | None
    time: Array
    values: Array

    @property
    def columns(self) -> Array:
        """The values with all numbers of a time in one row; (times, size)."""
        return self.values.reshape(len(self.values), prod(self.values.shape[1:]))


@dataclass(frozen=True, eq=False)
class EventRecord:
    """When an event happened in a run; every time is one of the saved times of the result.

    `what` it does is said in words, such as "stop". `saved` are the saved times [s], and `energies`
    (times,) what it added to the stored energy [J], NaN at those at which it did not happen.
    """

    name: str
    what: str
    saved: Array = field(repr=False)
    energies: Array = field(repr=False)

    @property
    def index(self) -> NDArray[np.intp]:
        """Where its times are among the saved times: `result.position("ball")[event.index]`."""
        return np.flatnonzero(~np.isnan(self.energies))

    @property
    def time(self) -> Array:
        """When it happened [s]; (k,)."""
        return self.saved[self.index]

    @property
    def energy(self) -> Array:
        """What it added to the stored energy each time [J]; (k,)."""
        return self.energies[self.index]

    @property
    def when(self) -> str:
        """How often it happened, and when, in words."""
        times = self.time
        if not times.size:
            return "never"
        if times.size == 1:
            return f"at t = {times[0]:.9g} s"
        return f"{times.size} times, t = {times[0]:.9g} to {times[-1]:.9g} s"


#: Stress resultants of a section, with their units.
RESULTANTS = {
    **{"axial": "N", "shear_1": "N", "shear_2": "N"},
    **{"torsion": "N m", "bending_1": "N m", "bending_2": "N m"},
}


@dataclass(frozen=True, eq=False)
class StressRecord:
    """Stress resultants of a beam or rod over time, in the axes of its sections.

    What lies beyond a section acts so on what lies before it; what damping adds is left out. Axes
    1 and 2 of a section are y and z of a beam, d1 and d2 of a rod. `place` (sections,) [m] is how
    far along it sections are: at both ends of each element of a beam, in the middle of each element
    of a rod. `values` (times, sections, 6) are in the order of `RESULTANTS`.
    """

    name: str
    place: Array
    values: Array

    @property
    def axial(self) -> Array:
        """Axial force [N], positive where it pulls; (times, sections)."""
        return self.values[:, :, 0]

    @property
    def shear(self) -> Array:
        """Shear forces along axes 1 and 2 [N]; (times, sections, 2)."""
        return self.values[:, :, 1:3]

    @property
    def torsion(self) -> Array:
        """Torque about the axis [N m]; (times, sections)."""
        return self.values[:, :, 3]

    @property
    def bending(self) -> Array:
        """Bending moments about axes 1 and 2 [N m]; (times, sections, 2)."""
        return self.values[:, :, 4:]


@dataclass(frozen=True)
class Counts:
    """How large a mechanism is: `constraints` are those of its joints, `repeated` among them."""

    bodies: int = 0
    joints: int = 0
    constraints: int = 0
    repeated: int = 0
    freedoms: int = 0


@dataclass(frozen=True, eq=False)
class Observation:
    """What a mechanism shows; empty for systems without bodies.

    `whole` holds arrays of the whole mechanism by name: linear_momentum and angular_momentum
    (times, 3), constraint_error and velocity_constraint_error (times,), and
    velocity_constraint_error_mid (midpoints,); see `Result`. `energies`
    are its parts [J] by kind, (times,): kinetic, gravity, and springs and fields, if there are any.
    `stresses` are those of beams and rods. `scene` is what it looks like, `counts` how large it is.
    `systems` are the names of systems that are no mechanisms.
    `together` holds what many records have in common as one array, by the names of the variables of
    a file, where it is known; e.g. position (times, bodies, 3).
    """

    bodies: Mapping[str, BodyRecord] = field(default_factory=dict)
    markers: Mapping[str, BodyRecord] = field(default_factory=dict)
    joints: Mapping[str, JointRecord] = field(default_factory=dict)
    stresses: Mapping[str, StressRecord] = field(default_factory=dict)
    whole: Mapping[str, Array] = field(default_factory=dict)
    energies: Mapping[str, Array] = field(default_factory=dict)
    scene: Scene = field(default_factory=Scene)
    together: Mapping[str, Array] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    systems: tuple[str, ...] = ()
