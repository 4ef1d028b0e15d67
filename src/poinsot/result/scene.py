"""What a mechanism looks like: plain data that a picture is drawn from.

Everything is given on bodies, in their own axes B from their centre of mass [m], so that a body's
position and rotation in a `Result` place it. The ground is the body "ground", which rests at the
origin of the world.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]

#: Kinds of pieces, with the number of their sizes; and kinds of joints that are drawn by an axis.
SIZES = {
    "box": 3,
    "cylinder": 2,
    "tube": 3,
    "cone": 2,
    "rod": 1,
    "ellipsoid": 3,
    "point": 0,
    "mesh": 0,
}
DRAWN_BY_AXIS = ("Planar", "PointOnPlane", "Prismatic", "Cylindrical", "PointOnLine")
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Piece:
    """A solid piece of a body, centred at `position`, its axes turned by `rotation` (columns).

    `kind` and `sizes` [m]: box (a, b, c); cylinder (radius, length), tube (inner radius, outer
    radius, length), cone (radius, height; from -1/4 to 3/4 of it) and rod (length), all along z;
    ellipsoid (a, b, c), semi-axes; point (); mesh (), whose surface is that of a drawing of the
    scene, by name. `exact` is False if only the inertia of the body is known: then the box with
    the same inertia is drawn. `colour` None is the colour of the body.
    """

    body: str
    kind: str
    sizes: tuple[float, ...]
    position: Vector3 = (0.0, 0.0, 0.0)
    rotation: tuple[Vector3, Vector3, Vector3] = IDENTITY
    exact: bool = True
    drawing: str = ""
    colour: str | None = None
    opacity: float = 1.0

    def __post_init__(self) -> None:
        """Refuse sizes that its kind has not."""
        right = len(self.sizes) == SIZES.get(self.kind) and all(size >= 0 for size in self.sizes)
        if not right or (self.kind == "tube" and self.sizes[0] >= self.sizes[1]):
            raise ValueError(f"a {self.kind} cannot have the sizes {self.sizes}")


@dataclass(frozen=True)
class Point:
    """A point of a body."""

    body: str
    position: Vector3


@dataclass(frozen=True)
class Pin:
    """A joint: its point on either body, and its axes (unit vectors), fixed in one body each."""

    joint: str
    kind: str
    a: Point
    b: Point
    axes: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a joint that cannot be drawn."""
        if self.kind in DRAWN_BY_AXIS and not self.axes:
            raise ValueError(f"joint '{self.joint}': a {self.kind} has an axis")


@dataclass(frozen=True)
class Strut:
    """A line between two points: a spring, or a rod without mass."""

    name: str
    kind: str
    a: Point
    b: Point


@dataclass(frozen=True)
class Slender:
    """A beam or rod, drawn as a smooth tube through its nodes; each node is a body.

    `places` [m] are the positions of the nodes along the axis. `axes` are the indices of the node
    axes that are axes 1 and 2 of the section and the axis of the beam. `sizes` [m] are the widths
    of the section along 1 and 2 at each node; it is an ellipse if `round`, else a rectangle.
    """

    name: str
    nodes: tuple[str, ...]
    places: tuple[float, ...]
    sizes: tuple[tuple[float, float], ...]
    axes: tuple[int, int, int]
    round: bool

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        counts = {len(self.nodes), len(self.places), len(self.sizes)}
        if len(counts) != 1 or len(self.nodes) < 2 or sorted(self.axes) != [0, 1, 2]:
            raise ValueError(f"'{self.name}' has nodes, places and sizes that are not of one line")


@dataclass(frozen=True)
class Load:
    """What a port puts on a body: a "force" or a "torque" at a point.

    `axes` are unit vectors, each fixed in a body, one for each component of the port's input.
    """

    port: str
    kind: str
    at: Point
    axes: tuple[Point, ...]


@dataclass(frozen=True)
class Carried:
    """A body that an elastic body carries, and its position in the undeformed body [m]."""

    body: str
    by: Point


@dataclass(frozen=True)
class Drawing:
    """The surface of a mesh: vertices [m] and triangles, as bytes in base 64 (<f4 and <u4)."""

    name: str
    vertices: str
    triangles: str


@dataclass(frozen=True)
class Skin:
    """The surface of an elastic body, in its frame, and how its deformation moves it.

    `drawing` names the surface, `modes` (points, 3, k) are displacements for unit values of the k
    elastic coordinates, as bytes in base 64 (<f4); see `Result.deformation`.
    """

    body: str
    drawing: str
    modes: str


@dataclass(frozen=True)
class Scene:
    """All pieces, joints, lines and loads of a mechanism; empty for systems without bodies."""

    pieces: tuple[Piece, ...] = ()
    pins: tuple[Pin, ...] = ()
    struts: tuple[Strut, ...] = ()
    slender: tuple[Slender, ...] = ()
    carried: tuple[Carried, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    loads: tuple[Load, ...] = ()
    skins: tuple[Skin, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the scene as lists and dictionaries, as JSON has them."""
        return asdict(self)
