"""The content of a model file."""

from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Discriminator, Field, Tag

from poinsot.io.controllers import Controllers
from poinsot.io.entries import Entry, OneOf, Part
from poinsot.io.numbers import Name, Number, Rotation, Vector
from poinsot.io.parts import Forces, Joints, Looks, Ports, Shapes, Transmissions
from poinsot.io.slender import Beam, ElasticRod
from poinsot.io.systems import Connections, Systems

#: The version of the format that is read and written.
VERSION = 1

#: What rotations may be described by.
Coordinates: TypeAlias = Literal[
    "directors", "quaternions", "rotations", "rotations-quaternion", "rotations-euler"
]

#: What an event may do besides changing the model.
Plain: TypeAlias = Literal["record", "stop"]

T = TypeVar("T")


def _section(value: Any) -> Any:
    return {} if value is None else value


#: Parts by name; a section without content is empty.
Section: TypeAlias = Annotated[dict[str, T], BeforeValidator(_section)]


class Body(Shapes):
    """A body: one shape, and where and how it starts; world axes."""

    beam: Beam | None = None
    elastic_rod: ElasticRod | None = None
    position: Vector = (0.0, 0.0, 0.0)
    """Centre of mass, middle of a beam, or origin of the curve of a rod [m]."""
    rotation: Rotation | None = None
    """Axes of the body; default: those of the world."""
    velocity: Vector | None = None
    """Velocity of the centre of mass [m/s]; default: computed to satisfy the joints."""
    angular_velocity: Vector | None = None
    """Angular velocity [rad/s]; default: computed to satisfy the joints."""
    looks: list[Looks] | None = None
    """What is drawn of a rigid body instead of its shape."""


class Marker(Entry):
    """A frame attached to a body or the ground."""

    body: Name
    """The body by name, or the ground."""
    position: Vector
    """Its point [m]."""
    rotation: Rotation | None = None
    """Its axes; default: those of the world, or of the body."""
    axes: Literal["world", "body"] = "world"
    """Whether both are given in the world, where the body is added, or in the body, from its centre
    of mass."""


class Place(Entry):
    """Where a body starts; world axes."""

    position: Vector
    """Centre of mass [m]."""
    rotation: Rotation | None = None
    """Axes of the body; default: those of the world."""


class Assembly(Entry):
    """How bodies are moved until all joints close."""

    keep: list[Name] = Field(default_factory=list)
    """Bodies that stay where they are."""
    near: Section[Number] = Field(default_factory=dict)
    """Joint coordinates, such as hinge or hinge.angle, and their desired values."""


class Release(Part):
    """A joint that lets its bodies go."""

    joint: Name
    """The joint by name."""


class Lock(Part):
    """A joint that becomes rigid."""

    joint: Name
    """The joint by name."""


class Switch(Part):
    """A spring, damper or field that is switched on or off."""

    load: Name
    """The load by name."""
    on: bool
    """true: switch on; false: switch off."""


class Change(OneOf):
    """What an event changes in the model."""

    release: Release | None = None
    lock: Lock | None = None
    switch: Switch | None = None


def _kind_of_action(value: Any) -> str:
    """Tell what an entry is meant as, so that only this is what is wrong with it."""
    if isinstance(value, list):
        return "list"
    return "change" if isinstance(value, dict | Change) else "plain"


OneAction: TypeAlias = Annotated[Plain, Tag("plain")] | Annotated[Change, Tag("change")]
Actions: TypeAlias = Annotated[
    OneAction | Annotated[list[Annotated[OneAction, Discriminator(_kind_of_action)]], Tag("list")],
    Discriminator(_kind_of_action),
]


class Event(Entry):
    """A function of what is measured that crosses zero."""

    when: str
    """Formula of t and channels, such as hinge.angle - 0.3."""
    direction: Literal[-1, 0, 1] = 0
    """Crossings to detect: 1 rising, -1 falling, 0 both."""
    then: Actions = "record"
    """Actions: record, stop, {release: ...}, {lock: ...}, {switch: ...}, or a list of them."""
    reads: list[Name] | None = None
    """Channels whose names are not valid in formulas; left-hinge.rate is left_hinge_rate there."""


class Newton(Entry):
    """When to stop iterating within a step."""

    atol: Number | None = None
    """Absolute tolerance of the residual."""
    rtol: Number | None = None
    """Relative tolerance of the residual."""
    max_iterations: int | None = None
    """Give up after so many."""
    halvings: int | None = None
    """Largest number of times that a step without a solution is halved."""


class Simulation(Entry):
    """How to run the model; options of the command line come first."""

    scheme: str | None = None
    """Time integration scheme, such as ph-mp."""
    step: Number | None = None
    """Step size [s]."""
    t_end: Number | None = None
    """End time [s]."""
    t_start: Number = 0.0
    """Start time [s]."""
    save_every: int = 1
    """Save one of this many steps."""
    tolerance: Number | None = None
    """Relative tolerance of the accumulated error, for an adaptive step size."""
    h_max: Number | None = None
    """Largest step size [s], with a tolerance."""
    engine: Literal["auto", "compiled", "reference"] = "auto"
    """Engine."""
    coordinates: Coordinates | None = None
    """How rotations are described; default: those of the scheme."""
    newton: Newton | None = None
    """Tolerances."""


class Document(Entry):
    """A model file."""

    poinsot: Literal[1]
    """Version of the format."""
    name: str | None = None
    """Name of the model."""
    gravity: Vector = (0.0, 0.0, 0.0)
    """Acceleration of gravity, world axes [m/s^2]."""
    bodies: Section[Body] = Field(default_factory=dict)
    """Bodies by name."""
    markers: Section[Marker] = Field(default_factory=dict)
    """Frames on bodies by name."""
    joints: Section[Joints] = Field(default_factory=dict)
    """Joints by name."""
    transmissions: Section[Transmissions] = Field(default_factory=dict)
    """Gears, belts, screws, differentials and cams of joints by name."""
    forces: Section[Forces] = Field(default_factory=dict)
    """Springs, dampers, friction and drag by name."""
    ports: Section[Ports] = Field(default_factory=dict)
    """Loads and motors by name."""
    systems: Section[Systems] = Field(default_factory=dict)
    """Circuits and other systems by name."""
    connections: Section[Connections] = Field(default_factory=dict)
    """Connections of ports of systems, joints and bodies, under any name."""
    sensors: Section[str] = Field(default_factory=dict)
    """Channels to record, such as hinge.angle, by name."""
    controllers: Section[Controllers] = Field(default_factory=dict)
    """Controllers by name."""
    events: Section[Event] = Field(default_factory=dict)
    """Events by name: zero crossings of functions of channels, and their actions."""
    start: Section[Place] = Field(default_factory=dict)
    """Positions at the start of bodies that are not where they were added, by name."""
    assemble: bool | Assembly = False
    """Move the bodies by as little as possible until all joints are closed."""
    project_velocities: bool = False
    """Project the velocities onto those that satisfy the joints."""
    simulation: Simulation | None = None
    """How to run it."""
