"""Records of a result: states, ports, bodies, joints, sensors, events and statistics."""

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
    """A mapping of records that are computed when they are first used, and kept.

    Parameters
    ----------
    names : iterable
        All names, in order.
    make : function
        Returns the record of a name.
    release : function
        Called when all records are dropped.
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
        """Return a record, computed now or before."""
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is such a record, without computing it."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """Return the names in order."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._names)

    def __repr__(self) -> str:
        """Show the names without computing anything."""
        return f"Lazy({shortened(list(self._names))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Compute all records before copying or pickling."""
        return dict, (dict(self),)

    def forget(self) -> None:
        """Drop all records; they are computed again when they are used."""
        self._made.clear()
        self._release()


class Series:
    """An array of a record, stored or returned by a function each time it is used."""

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
    """A named state over time: values of shape (times, size) in SI units."""

    name: str
    unit: str | None
    values: Array


@dataclass(frozen=True, eq=False)
class PortRecord:
    """Input, output, power and energy of a port.

    Attributes
    ----------
    time : (steps,)
        Midpoints of the saved steps [s], at which `u`, `y` and `power` are recorded.
    u, y : (steps, size)
        Input and output.
    power : (steps,)
        Power supplied, u·y [W].
    energy : (times,)
        Energy supplied since the start [J] at the saved times, including all steps.
    connected : bool
        Whether the port is internal: its power comes from another part of the same system.
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
    """Statistics of a run.

    Attributes
    ----------
    single_steps : int
        Steps of a compiled run that were computed by the reference engine, because the compiled
        engine found no solution.
    split_steps : int
        Steps without a solution in either engine, which were divided into smaller ones.
    rejected_steps : int
        Steps that were repeated with a smaller step size to satisfy `tolerance`.
    smallest_step, largest_step : float
        Smallest and largest step size [s], without a last step that was shortened.
    iterations : (steps,)
        Newton iterations of each saved step.
    balance_error_max : float
        Largest error of the energy balance over all steps, saved or not [J].
    residual_max : float
        Largest accepted residual, relative to the terms of its equation.
    position_error, rotation_error : float
        Estimated largest errors of positions [m] and rotations [rad] of bodies; infinite unless
        requested by `simulate(estimate_error=True)`.
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
    """Motion of a body or marker in world axes.

    Attributes
    ----------
    position, velocity : (times, 3)
        Position [m] and velocity [m/s] of the centre of mass.
    rotation : (times, 3, 3)
        R_WB.
    angular_velocity : (times, 3)
        Angular velocity [rad/s].
    """

    name: str
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array


class Coordinates(dict[str, Array]):
    """Arrays by the names of joint coordinates; unknown names raise `InputError`."""

    def __init__(self, joint: str, values: Mapping[str, Array]) -> None:
        super().__init__(values)
        self.joint = joint

    def __missing__(self, name: str) -> Array:
        hint = did_you_mean(str(name), self) if self else "it has none"
        raise InputError(f"no coordinate {name!r} of joint '{self.joint}'; {hint}")


@dataclass(frozen=True, eq=False)
class ReactionRecord:
    """Reaction of a joint at the midpoints of the saved steps.

    Attributes
    ----------
    time : (midpoints,)
        Midpoints [s].
    force, torque : (midpoints, 3)
        Force [N] and torque [N m] on the second body at the point of the joint, world axes.
    force_a, torque_a : (midpoints, 3)
        The same on the first body.
    complete : bool
        False for joints with redundant constraints: rigid bodies do not determine these reactions,
        and the smallest ones that balance the forces are given. Multipliers of velocity constraints
        in the stabilised form, which are of order h^2, are not included.
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
    """Coordinates, rates and reactions of a joint.

    Attributes
    ----------
    time, midpoint : (times,), (midpoints,)
        Times of coordinates, and of reactions [s].
    coordinates : mapping
        Name -> angle, counted over full turns [rad], or displacement [m]; zero at the start.
    rates : mapping
        Name -> rate [rad/s or m/s].
    rotation : (times, 3)
        Rotation of the second body relative to the first since the start, as a rotation vector
        [rad] in the axes of the first, which are the world axes at the start.
    force, torque, force_a, torque_a, complete
        See `ReactionRecord`.
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
        """The reaction as a record of its own."""
        on_both = self.force, self.torque, self.force_a, self.torque_a
        return ReactionRecord(self.name, self.midpoint, *on_both, self.complete)


@dataclass(frozen=True, eq=False)
class SensorRecord:
    """Values recorded by a sensor, in an SI `unit`.

    `values` have the shape (times,), (times, 3), or (times, 3, 3) for rotations, at the saved
    times; reactions are at midpoints. `time` [s] has these times.
    """

    name: str
    channel: str
    unit: str | None
    time: Array
    values: Array

    @property
    def columns(self) -> Array:
        """The values with one row for each time; (times, size)."""
        return self.values.reshape(len(self.values), prod(self.values.shape[1:]))


@dataclass(frozen=True, eq=False)
class EventRecord:
    """Times of an event; each is one of the saved times of the result.

    `what` describes its actions, such as "stop". `saved` are the saved times [s], and `energies`
    (times,) is the energy that it added [J], NaN where it did not happen.
    """

    name: str
    what: str
    saved: Array = field(repr=False)
    energies: Array = field(repr=False)

    @property
    def index(self) -> NDArray[np.intp]:
        """Indices of its times among the saved times: `result.position("ball")[event.index]`."""
        return np.flatnonzero(~np.isnan(self.energies))

    @property
    def time(self) -> Array:
        """Times of the event [s]; (k,)."""
        return self.saved[self.index]

    @property
    def energy(self) -> Array:
        """Energy added to the stored energy each time [J]; (k,)."""
        return self.energies[self.index]

    @property
    def when(self) -> str:
        """Number and times of the event, in words."""
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

    Forces and moments are those of the part beyond a section on the part before it, without
    damping. Axes 1 and 2 of a section are y and z of a beam, or d1 and d2 of a rod.

    Attributes
    ----------
    place : (sections,)
        Positions of the sections along the axis [m]: both ends of each element of a beam, the
        middle of each element of a rod.
    values : (times, sections, 6)
        Values in the order of `RESULTANTS`.
    """

    name: str
    place: Array
    values: Array

    @property
    def axial(self) -> Array:
        """Axial force [N], positive in tension; (times, sections)."""
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
    """Sizes of a mechanism: `constraints` are those of joints, `repeated` the redundant ones."""

    bodies: int = 0
    joints: int = 0
    constraints: int = 0
    repeated: int = 0
    freedoms: int = 0


@dataclass(frozen=True, eq=False)
class Observation:
    """Everything recorded of a mechanism; empty for systems without bodies.

    `whole` holds arrays of the whole mechanism by name: linear_momentum and angular_momentum
    (times, 3), constraint_error and velocity_constraint_error (times,), and
    velocity_constraint_error_mid (midpoints,); see `Result`. `energies` are kinetic, gravity and
    elastic energy [J] by kind, (times,), as far as they exist. `stresses` are those of beams and
    rods, `scene` describes the graphics, `counts` the size of the mechanism. `systems` are the
    names of systems that are not mechanisms. `together` holds arrays that many records share, by
    the names of variables of a file, e.g. position (times, bodies, 3).
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
