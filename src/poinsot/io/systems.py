"""Systems and connections of ports in a model file, as tables of their kinds."""

from typing import Literal, TypeAlias

from pydantic import Field

from poinsot.io.entries import Entry, OneOf, Part
from poinsot.io.inputs import ScalarSignal
from poinsot.io.numbers import Name, Number, PortPair, Rotation, Vector

#: Rows of numbers.
Rows: TypeAlias = list[list[Number]]


class State(Entry):
    """A state of a system."""

    size: int = 1
    """How many numbers it has."""
    unit: str | None = None
    """SI unit, for labels."""


class SystemPort(Entry):
    """A port of a system."""

    size: int = 1
    """How many inputs it has."""
    u_unit: str | None = None
    """Unit of the input, such as V."""
    y_unit: str | None = None
    """Unit of the output, such as A; times that of the input it is W."""
    value: ScalarSignal | None = None
    """Input: a number, a formula of t, or a table; for ports that are not connected."""


class Linear(Part):
    """E x' = (J - R) Q x + B u, y = B^T Q x."""

    states: dict[str, State]
    """States by name, in order."""
    J: Rows
    """Structure matrix, skew-symmetric."""
    Q: Rows
    """Costate z = Q x."""
    R: Rows | None = None
    """Dissipation, symmetric and positive semi-definite; default: none."""
    E: Rows | None = None
    """Descriptor matrix; default: the identity."""
    B: Rows | None = None
    """Port matrix, a column for each input."""
    ports: dict[str, SystemPort] = Field(default_factory=dict)
    """Ports by name, in the order of the columns of B."""


class SubModel(Part):
    """Another model file as a sub-assembly, all of its parts as `name.part`."""

    file: str
    """Its path, from the folder of this file."""
    position: Vector | None = None
    """Where its origin is [m]; default: at that of the world."""
    rotation: Rotation | None = None
    """How its axes are turned."""
    velocity: Vector | None = None
    """It moves so as a whole besides [m/s]."""
    angular_velocity: Vector | None = None
    """It turns so as a whole besides [rad/s]."""
    ground: Name | None = None
    """The body that stands for its ground; default: the ground."""


class Systems(OneOf):
    """The kinds of systems."""

    linear: Linear | None = None
    model: SubModel | None = None


class Coupling(Part):
    """Two ports, joined by u_a = -C u_b (transformer) or u_a = -C y_b (gyrator)."""

    ports: PortPair
    """The ports by name: port, system.port, joint or joint.freedom."""
    C: Number | Rows | None = None
    """A number, or a matrix (size of the first, size of the second); default: the identity."""
    unit: str = "1"
    """Unit of C."""


class Junction(Part):
    """Any number of ports with a common output, or a common input."""

    ports: list[Name]
    """The ports by name."""
    common: Literal["output", "input"] = "output"
    """What they have in common; the others add up to zero."""


class Resistor(Part):
    """A port closed by u = -D y."""

    port: Name
    """The port by name."""
    D: Number | Rows
    """A number, or a symmetric positive semi-definite matrix."""


class Swap(Part):
    """A port whose input and output are exchanged."""

    port: Name
    """The port by name."""


class Connections(OneOf):
    """The kinds of connections."""

    gyrator: Coupling | None = None
    transformer: Coupling | None = None
    junction: Junction | None = None
    resistor: Resistor | None = None
    swap: Swap | None = None
