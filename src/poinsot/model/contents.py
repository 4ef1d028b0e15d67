"""The contents of a model: parts by name, and the checks of new names and parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.flexible import Flexible, Place
from poinsot.errors import InputError, did_you_mean, printable
from poinsot.inputs import require_name, vector3
from poinsot.model.assemblies import BodyAssembly, Start
from poinsot.model.simulation import Simulation
from poinsot.parts.controllers import Controller
from poinsot.parts.events import Event
from poinsot.parts.forces import Force
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.parts.rigid_strains import RigidStrains
from poinsot.parts.transmissions import Transmission
from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result.cards import card

T = TypeVar("T")
Matrix3: TypeAlias = NDArray[np.float64]

#: What a part is called -> where a model keeps all of them by name.
PARTS = {
    "body": "bodies",
    "marker": "markers",
    "joint": "joints",
    "transmission": "transmissions",
    "force": "forces",
    "port": "ports",
    "system": "systems",
    "sensor": "sensors",
    "controller": "controllers",
    "event": "events",
}
#: A line names at most so many bodies.
LISTED = 4
#: What the ends of beams and rods are called.
ENDS = "start", "end"


@dataclass(frozen=True, eq=False)
class Projection:
    """Projected velocities at the start, for a number of joints; twists (6 bodies,)."""

    twists: Vector
    joints: int


class Contents:
    """The parts of a model by name."""

    def __init__(self, gravity: ArrayLike, name: str) -> None:
        self.gravity = vector3(gravity, "gravity")
        self.name = require_name(name, "a model")
        self.ground = Ground()
        self.bodies: dict[str, Body] = {}
        self.markers: dict[str, Marker] = {}
        self.joints: dict[str, Joint] = {}
        self.transmissions: dict[str, Transmission] = {}
        self.forces: dict[str, Force] = {}
        self.ports: dict[str, PortPlace] = {}
        self.systems: dict[str, PHSystem] = {}
        self.connections: list[Connection] = []
        #: Names of sensors -> the channels that they record.
        self.sensors: dict[str, str] = {}
        self.controllers: dict[str, Controller] = {}
        self.events: dict[str, Event] = {}
        #: What was added as several bodies, and how.
        self.assemblies: dict[str, tuple[BodyAssembly, Start]] = {}
        self.simulation: Simulation | None = None
        #: Where bodies start that were moved from where they were added: position and rotation.
        self.starts: dict[str, tuple[Vector, Matrix3]] = {}
        self._projection: Projection | None = None
        #: The joint equations and what they are made of, see `model.initial`.
        self.known_equations: tuple[list[object], Any] | None = None

    @property
    def gravity(self) -> Vector:
        """Acceleration of gravity [m/s^2], world axes."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity = vector3(gravity, "gravity")

    def __repr__(self) -> str:
        """Return one line: name and counts."""
        counts = [
            f"{len(getattr(self, several))} {one if len(getattr(self, several)) == 1 else several}"
            for one, several in PARTS.items()
            if getattr(self, several)
        ]
        return f"<Model '{printable(self.name)}': {', '.join(counts) or 'empty'}>"

    def _repr_html_(self) -> str:
        """Return a table of all parts by kind, for notebooks."""
        lists = {
            several.capitalize(): [
                (name, _in_words(part)) for name, part in getattr(self, several).items()
            ]
            for several in PARTS.values()
        }
        gravity = ", ".join(f"{g:g}" for g in self.gravity)
        return card(repr(self)[1:-1], [("gravity", f"({gravity}) m/s²")], lists)

    def body(self, name: str) -> Body:
        """Return a body by its name, or by that of a marker on it, such as `"beam.end"`."""
        carried = self.carried_markers
        if name in carried:
            return carried[name].carrier
        if name not in self.bodies:
            raise InputError(f"no body '{name}'; {did_you_mean(name, [*self.bodies, *carried])}")
        return self.bodies[name]

    @property
    def carried_markers(self) -> dict[str, Marker]:
        """Markers on bodies, without those on the ground."""
        return {name: at for name, at in self.markers.items() if isinstance(at.body, Body)}

    def at_start(self, body: Body) -> Body:
        """Return a body at the place where it starts."""
        if body.name not in self.starts:
            return body
        position, R_WB = self.starts[body.name]
        return replace(body, position=position, R_WB=R_WB)

    @property
    def projection(self) -> Projection | None:
        """Result of `project_velocities`, unless a body was added since."""
        movable = sum(not body.carried for body in self.bodies.values())
        found = self._projection
        return found if found is not None and found.twists.size == 6 * movable else None

    @projection.setter
    def projection(self, found: Projection | None) -> None:
        self._projection = found

    def as_now(self) -> Self:
        """Return a copy of the current contents."""
        now = copy(self)
        for parts in (*PARTS.values(), "assemblies", "starts"):
            setattr(now, parts, dict(getattr(self, parts)))
        now.connections = list(self.connections)
        return now


def _in_words(part: Any) -> str:
    """Return the kind of a part and what it acts on."""
    kind = type(part).__name__
    match part:
        case str():
            return part
        case Body():
            return f"{type(part.shape).__name__}, {part.mass:g} kg"
        case Marker():
            return f"on {part.body.name}"
        case Joint():
            return f"{kind} of {part.a.name} and {part.b.name}"
        case Force() | PortPlace():
            names = [body.name for body in part.bodies]
            return f"{kind}{' on ' if names else ''}{', '.join(names[:LISTED])}"
        case Controller():
            reads, drives = (
                ", ".join(name for name in names) or "nothing"
                for names in ([c.text for c in part.reads], [p.name for p in part.drives])
            )
            return f"reads {reads}; drives {drives}"
        case Event():
            when = part.when if isinstance(part.when, str) else "a function"
            return f"{when} crosses zero: {part.what}"
        case PHSystem():
            return repr(part)[1:-1]
    return kind


def require_new(model: Contents, name: str) -> None:
    """Raise `InputError` if a name is taken."""
    if require_name(name, "a part of a model") == model.ground.name:
        raise InputError(f"'{name}' is the name of the ground; choose another name")
    for kind, parts in PARTS.items():
        if name in getattr(model, parts):
            raise InputError(f"the name '{name}' is taken by a {kind}; choose another one")


def require_own(model: Contents, partner: Body | Ground, what: str) -> None:
    """Raise `InputError` for a body of another model."""
    if isinstance(partner, Body) and model.bodies.get(partner.name) is not partner:
        own = (
            f"take model.bodies['{partner.name}']"
            if partner.name in model.bodies
            else ("add it to this one by model.add_body(...)")
        )
        raise InputError(f"{what}: body '{partner.name}' belongs to another model; {own}")


def require_part(
    model: Contents,
    name: str,
    part: Joint | Transmission | Force | PortPlace,
    kind: type,
    what: str,
    example: str,
) -> None:
    """Raise `InputError` for a taken name, a part of the wrong kind or a body of another model."""
    require_new(model, name)
    if not isinstance(part, kind):
        raise InputError(f"{what} '{name}': expected a {what} such as {example}, got {part!r}")
    bodies: tuple[Body | Ground, ...] = ()
    if isinstance(part, Joint) or not isinstance(part, Transmission):
        bodies = part.bodies
    for body in bodies:
        require_own(model, body, f"{what} '{name}'")


def all_or_nothing(model: Contents, add: Callable[[], T]) -> T:
    """Add several parts; if one fails, remove the others, so that their names stay free."""
    before = vars(model.as_now())
    try:
        return add()
    except InputError:
        vars(model).update(before)
        raise


def own_parts(model: Contents) -> dict[str, dict[str, Any]]:
    """Return the parts except those that belong to rods and beams."""
    whole = {node: name for name in model.assemblies for node in model.forces[name].bodies}
    bodies: dict[str, Any] = {}
    for name, body in model.bodies.items():
        if body in whole:
            bodies[whole[body]] = model.assemblies[whole[body]]
        elif not isinstance(body, Place):
            bodies[name] = body
    slender = [name for name, body in bodies.items() if isinstance(body, Flexible | tuple)]
    ends = {f"{name}.{end}" for name in slender for end in ENDS}
    forces = {name: part for name, part in model.forces.items() if name not in model.assemblies}
    markers = {name: part for name, part in model.markers.items() if name not in ends}
    joints = {name: j for name, j in model.joints.items() if not isinstance(j, RigidStrains)}
    return {"bodies": bodies, "markers": markers, "forces": forces, "joints": joints}


def list_of_names(names: Sequence[str], what: str) -> list[str]:
    """Return a list of names; a single name is a list of one."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what}: expected a list of names, got {names!r}")
    return list(names)
