"""`Model.move`: move a joint coordinate, with all loops closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, OutOfReachError, did_you_mean
from poinsot.frames.places import local
from poinsot.inputs import numbers, require_name
from poinsot.model.assembling import start_at, task_of
from poinsot.model.contents import Contents
from poinsot.model.motions import coordinate_names, coordinates_of, plain
from poinsot.parts.coordinates import Coordinate
from poinsot.parts.driven import Driven
from poinsot.ph.matrices import Array, Vector
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.kinematics.configuration import Configuration
from poinsot.systems.kinematics.driving import Driving, following
from poinsot.systems.kinematics.sweeping import Path, Singular, Station, held, rank_of
from poinsot.systems.kinematics.tethers import Tethered

#: How many joints a message names.
LISTED = 6


@dataclass(frozen=True, eq=False)
class Sweep(Sequence[Configuration]):
    """Result of `Model.move`: a sequence of one `Configuration` for each value.

    Attributes
    ----------
    joint : str
        Name of the coordinate.
    values : (n,)
        Its values [rad or m].
    configurations : tuple of Configuration
        One for each value.
    singular : tuple of Singular
        Singular positions that were passed: the value of the coordinate, the loss of rank, and the
        joints whose equations are dependent there.
    """

    joint: str
    values: Vector
    configurations: tuple[Configuration, ...]
    singular: tuple[Singular, ...]
    stations: tuple[Station, ...] = field(repr=False)
    others: Mapping[str, Driven] = field(repr=False)

    def __repr__(self) -> str:
        """Return one line of text."""
        met = f", {len(self.singular)} singular" if self.singular else ""
        return f"<Sweep of '{self.joint}': {len(self)} configurations{met}>"

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self.configurations)

    @overload
    def __getitem__(self, k: int) -> Configuration: ...

    @overload
    def __getitem__(self, k: slice) -> Sequence[Configuration]: ...

    def __getitem__(self, k: int | slice) -> Configuration | Sequence[Configuration]:
        """Return one configuration, or a tuple of them for a slice."""
        return self.configurations[k]

    def position(self, body: str) -> Array:
        """Return the position of a body or marker [m], world axes; (n, 3)."""
        return np.array([each.position(body) for each in self]).reshape(-1, 3)

    def rotation(self, body: str) -> Array:
        """Return the rotation matrix R_WB of a body or marker; (n, 3, 3)."""
        return np.array([each.rotation(body) for each in self]).reshape(-1, 3, 3)

    def coordinates(self, joint: str) -> dict[str, Vector]:
        """Return the coordinates of a joint, angles [rad] and displacements [m], by name; (n,)."""
        found = [each.coordinates(joint) for each in self]
        return {key: np.array([each[key] for each in found]) for key in (found or [{}])[0]}

    def ratio(self, coordinate: str) -> Vector:
        """Return the rate of another coordinate per unit rate of this one; (n,).

        If the motion is not unique, it is the one with the smallest kinetic energy.
        """
        if coordinate not in self.others:
            raise InputError(
                f"no coordinate '{coordinate}'; {did_you_mean(coordinate, self.others)}"
            )
        driven, found = self.others[coordinate], []
        for at in self.stations:
            motion = local_twists(at.place.twists.full(at.w), driven.bodies)
            found.append(float(driven.on_twists(local(at.place.f, driven.bodies)) @ motion))
        return np.array(found)


def local_twists(w: Vector, bodies: Sequence[int]) -> Vector:
    """Return the twists of some bodies, taken from those of all."""
    return w.reshape(-1, 6)[list(bodies)].reshape(-1)


def moved(model: Contents, joint: str, to: ArrayLike) -> Sweep:
    """Move a joint coordinate through values; return the configurations."""
    what = f"move: '{require_name(joint, 'move: joint')}'"
    values = np.atleast_1d(numbers(to, what))
    if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)):
        raise InputError(f"{what}: expected a number or several, got {to!r}")
    system, at = plain(model, what), coordinates_of(model, [joint], what)[joint]
    task = task_of(model, what, hints=[following(joint, at, 0.0)])
    place = task.place([*task.inlets, *task.hints])
    value = at.chart.near(place.angles).value(at.forms(local(place.f, at.bodies)))
    path = Path(_rows(place), 1.0 if at.unit == "rad" else task.length)
    here = path.begin(held(place, value), value)
    if here is None:
        raise InputError(
            f"{what} cannot move from where it starts, at {value:.9g} {at.unit}: joints, "
            "transmissions or drives lock it, or it is at a dead centre; move another coordinate"
        )
    met, reached, rank = list[Singular](), list[Station](), rank_of(here)
    for value in values.tolist():
        for there in path.to(here, value, rank):
            if rank_of(there) > rank:
                raise InputError(
                    f"{what}: the start is a singular position, where the motion branches "
                    "(see model.check()); start elsewhere, such as by model.assemble(near=...)"
                )
            for found in path.singular(here, there, rank):
                if not (met and met[-1].near(found, path.unit)):
                    met.append(found)
            here = there
        if here.value != value:
            break
        reached.append(here)
    sweep = _sweep(model, system, joint, at, reached, met)
    if here.value != value:
        names = ", ".join(f"'{name}'" for name in path.dead_centre(here, rank)[:LISTED])
        raise OutOfReachError(
            f"{what} cannot reach {value:.9g} {at.unit}: it is at its limit at "
            f"{here.value:.9g} {at.unit}, a dead centre of joints {names}; choose a value within "
            "the limit, or move another coordinate",
            limit=here.value,
            sweep=sweep,
        )
    start_at(model, task, here.place.f)
    return sweep


def _rows(place: Tethered) -> list[str]:
    """Return the rows of all equations except that of the coordinate."""
    joints = [at.name for at in place.layout.joints for _ in range(at.rows.size)]
    return [*joints, *(driven.name for driven in place.held.drives[:-1])]


def _sweep(
    model: Contents,
    system: DirectorSystem,
    joint: str,
    at: Coordinate,
    stations: Sequence[Station],
    met: Sequence[Singular],
) -> Sweep:
    """Return the result of a motion."""
    by = Driving.of(system, {joint: at}, "move")
    if by.free.shape[1] != 1:
        by = Driving.of(system, {}, "move")
    others = coordinates_of(model, coordinate_names(model), "move")
    led = {name: following(name, each, 0.0).direction for name, each in others.items()}
    return Sweep(
        joint,
        np.array([each.value for each in stations]),
        tuple(Configuration(system, by.names, by.beside(each.place)) for each in stations),
        tuple(met),
        tuple(stations),
        {name: each for name, each in led.items() if isinstance(each, Driven)},
    )
