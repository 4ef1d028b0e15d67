"""What a mechanism looks like: plain data that a picture is drawn from.

Everything is given on bodies, in their own axes B from their centre of mass [m], so that a body's
position and rotation in a `Result` place it. The ground is the body "ground", which rests at the
origin of the world.
"""

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Vector3: TypeAlias = tuple[float, float, float]

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Piece:
    """A solid piece of a body, centred at `position`, its axes turned by `rotation` (columns).

    `kind` and `sizes` [m]: box (a, b, c); cylinder (radius, length), tube (inner radius, outer
    radius, length), cone (radius, height; from -1/4 to 3/4 of it) and rod (length), all along z;
    ellipsoid (a, b, c), semi-axes; point (). `exact` is False for a body that is known by its
    inertia alone: it is drawn as the box that has the same.
    """

    body: str
    kind: str
    sizes: tuple[float, ...]
    position: Vector3 = (0.0, 0.0, 0.0)
    rotation: tuple[Vector3, Vector3, Vector3] = IDENTITY
    exact: bool = True


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


@dataclass(frozen=True)
class Strut:
    """A line between two points: a spring, or a rod without mass."""

    name: str
    kind: str
    a: Point
    b: Point


@dataclass(frozen=True)
class Scene:
    """All pieces, joints and lines of a mechanism; empty for systems without bodies."""

    pieces: tuple[Piece, ...] = ()
    pins: tuple[Pin, ...] = ()
    struts: tuple[Strut, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the scene as lists and dictionaries, as JSON has them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Scene":
        """Return the scene that `to_dict` wrote."""
        return cls(
            tuple(Piece(**_plain(piece)) for piece in data["pieces"]),
            tuple(Pin(**_plain(pin)) for pin in data["pins"]),
            tuple(Strut(**_plain(strut)) for strut in data["struts"]),
        )


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {key: _value(value) for key, value in data.items()}


def _value(value: Any) -> Any:
    """Return what JSON holds as a list or a mapping: a tuple, or a point of a body."""
    if isinstance(value, dict):
        return Point(**_plain(value))
    return tuple(map(_value, value)) if isinstance(value, list | tuple) else value
