"""Solids that are drawn for a scene, including joints, attached to bodies."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.result import Array
from poinsot.result.scene import Piece, Pin, Point, Scene
from poinsot.viz.meshes import Mesh, Surface, mesh, surface
from poinsot.viz.style import COLOURS

Group: TypeAlias = Literal["body", "inertia", "joint"]

JOINT_COLOUR = "#8b929c"
SPRING_COLOUR = "#7a8694"
#: A box that has the inertia of a body, but not its shape, can be seen through.
INEXACT = 0.2
#: Thickness of what has none, relative to the size of the parts.
THIN = 0.008
#: How far rails go on beyond what slides on them, relative to the size of the parts.
REACH = 0.08


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh of unit size on a body: scaled, then turned by `rotation`, then moved to `position`.

    `shape` names the mesh, see `meshes`, or one that it brings along; `body` is "ground" for what
    does not move. The group "inertia" holds boxes of bodies that are drawn as bars to their joints,
    too.
    """

    body: str
    shape: str
    scale: Array
    position: Array
    rotation: Array
    colour: str
    opacity: float = 1.0
    group: Group = "body"
    own: Mesh | None = None

    @property
    def surface(self) -> Mesh:
        """Its mesh."""
        return mesh(self.shape) if self.own is None else self.own

    @property
    def corners(self) -> Array:
        """Corners of the box about it, in body axes; (8, 3)."""
        unit = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
        return np.asarray(self.position + (unit * self.scale) @ self.rotation.T)


def colours(bodies: tuple[str, ...], slender: Iterable[str] = ()) -> dict[str, str]:
    """Return a colour for every body, in turn; black is left to the text.

    Places of an elastic body, `beam.0` and so on, have the colour of the body, and nodes of a rod
    that of the rod.
    """
    whole = {*bodies, *slender}
    owners = {name: name.rpartition(".")[0] for name in bodies}
    owners = {name: owner if owner in whole else name for name, owner in owners.items()}
    own = dict.fromkeys(owners.values())
    turn = {name: COLOURS[k % (len(COLOURS) - 1)] for k, name in enumerate(own)}
    return {name: turn[owner] for name, owner in owners.items()}


def solids(
    scene: Scene, colour: dict[str, str], size: float, rails: dict[str, tuple[float, float]]
) -> list[Solid]:
    """Return the solids of bodies and joints.

    `size` [m] is that of the parts: what has no thickness of its own gets a share of it.
    `rails` holds how far joints slide [m].
    """
    held = _held(scene)
    barred = {point.body for point in held}
    surfaces = {drawing.name: surface(drawing) for drawing in scene.drawings}
    drawn = [_drawn(piece, colour[piece.body], size, surfaces) for piece in scene.pieces]
    bodies = [
        replace(solid, group="inertia") if piece.body in barred and not piece.exact else solid
        for piece, solid in zip(scene.pieces, drawn, strict=True)
    ]
    bars = [
        bar(point.body, (0.0, 0.0, 0.0), point.position, 1.2 * THIN * size, colour[point.body])
        for point in held
    ]
    exact = defaultdict[str, list[Piece]](list)
    for piece in scene.pieces:
        if piece.exact:
            exact[piece.body].append(piece)
    joints = [solid for pin in scene.pins for solid in _joint(pin, exact, size, rails)]
    supports = [
        solid for at in _grounded(scene, size, rails) for solid in _support(np.array(at), size)
    ]
    return bodies + bars + joints + supports


def ends(scene: Scene) -> list[Point]:
    """Return the points of all joints and lines of a scene, on either body."""
    of_joints = [point for pin in scene.pins for point in (pin.a, pin.b)]
    return of_joints + [point for strut in scene.struts for point in (strut.a, strut.b)]


# -- bodies ----------------------------------------------------------------------------------------


def _drawn(piece: Piece, colour: str, size: float, surfaces: Mapping[str, Surface]) -> Solid:
    """Return the solid of a piece, in its own colour if it has one."""
    colour = piece.colour or colour
    if piece.kind != "mesh":
        solid = _body(piece, colour, size)
        return replace(solid, opacity=solid.opacity * piece.opacity)
    at, R = np.array(piece.position), np.array(piece.rotation)
    own, centre, scale = surfaces[piece.drawing]
    name, at = f"mesh {piece.drawing}", at + R @ centre
    return Solid(piece.body, name, scale, at, R, colour, piece.opacity, own=own)


def _body(piece: Piece, colour: str, size: float) -> Solid:
    thin, sizes, at = THIN * size, piece.sizes, np.array(piece.position)
    R = np.array(piece.rotation)
    if piece.kind == "box":
        shape, scale = "box", np.maximum(sizes, thin / 2)
    elif piece.kind == "cylinder":
        shape, scale = "cylinder", np.array([2 * sizes[0], 2 * sizes[0], sizes[1]])
    elif piece.kind == "tube":
        inner, outer, length = sizes
        shape, scale = f"tube {inner / outer:.3f}", np.array([2 * outer, 2 * outer, length])
    elif piece.kind == "cone":
        radius, height = sizes
        shape, scale = "cone", np.array([2 * radius, 2 * radius, height])
        at = at + R @ (0.0, 0.0, height / 4)  # the mesh is centred half-way up
    elif piece.kind == "ellipsoid":
        shape, scale = "ball", 2 * np.array(sizes)
    elif piece.kind == "rod":
        shape, scale = "cylinder", np.array([2 * thin, 2 * thin, sizes[0]])
    else:
        shape, scale = "ball", np.full(3, 5 * thin)
    opacity = 1.0 if piece.exact else INEXACT
    return Solid(piece.body, shape, np.asarray(scale, dtype=float), at, R, colour, opacity)


def _held(scene: Scene) -> list[Point]:
    """Return the points of joints and springs on bodies whose own shape is not known."""
    vague = {piece.body for piece in scene.pieces if not piece.exact}
    seen = dict.fromkeys(point for point in ends(scene) if point.body in vague)
    return [point for point in seen if np.linalg.norm(point.position) > 0]


# -- joints ----------------------------------------------------------------------------------------


def _joint(
    pin: Pin, pieces: Mapping[str, list[Piece]], size: float, rails: dict[str, tuple[float, float]]
) -> list[Solid]:
    thin = THIN * size
    if pin.kind in ("Spherical", "Rod"):
        return [_ball(point, 2.2 * thin) for point in dict.fromkeys((pin.a, pin.b))]
    if pin.kind == "Weld":
        cube = np.full(3, 3 * thin)
        at = np.array(pin.b.position)
        return [Solid(pin.b.body, "box", cube, at, np.eye(3), JOINT_COLOUR, group="joint")]
    if pin.kind in ("Planar", "PointOnPlane"):
        across = np.array([0.2 * size, 0.2 * size, thin / 2])
        R = along(pin.axes[0].position)
        at = np.array(pin.a.position)
        plate = Solid(pin.a.body, "cylinder", across, at, R, JOINT_COLOUR, 0.5, "joint")
        return [plate, _ball(pin.b, 1.6 * thin)]
    if pin.joint in rails:
        low, high = rails[pin.joint]
        n, at = np.array(pin.axes[0].position), np.array(pin.a.position)
        reach = REACH * size
        rail = at + (low - reach) * n, at + (high + reach) * n
        return [bar(pin.a.body, *rail, 0.6 * thin, JOINT_COLOUR, "joint"), _ball(pin.b, 1.6 * thin)]
    return [_pin(axis, pin, pieces[axis.body], size) for axis in pin.axes]


def _grounded(
    scene: Scene, size: float, rails: dict[str, tuple[float, float]]
) -> dict[tuple[float, ...], None]:
    """Return the points where joints and springs are fixed to the ground, each once."""
    found = [point for strut in scene.struts for point in (strut.a, strut.b)]
    ends_of_rails = []
    for pin in scene.pins:
        if pin.joint in rails and pin.a.body == "ground":
            reach = (rails[pin.joint][0] - REACH * size, rails[pin.joint][1] + REACH * size)
            n, at = np.array(pin.axes[0].position), np.array(pin.a.position)
            ends_of_rails += [tuple((at + x * n).tolist()) for x in reach]
        elif pin.kind not in ("Planar", "PointOnPlane"):
            found += [pin.a, pin.b]
    on_ground = [point.position for point in found if point.body == "ground"]
    return dict.fromkeys([*on_ground, *ends_of_rails])


def _support(at: Array, size: float) -> list[Solid]:
    """Return the symbol for a point of the ground: a foot on a plate, below the point."""
    thin, height = THIN * size, 6 * THIN * size
    foot = np.array([4 * thin, 4 * thin, height])
    plate = np.array([10 * thin, 10 * thin, thin])
    down = np.array([0.0, 0.0, -1.0])
    return [
        Solid("ground", "cone", foot, at + height / 2 * down, np.eye(3), JOINT_COLOUR, 1, "joint"),
        Solid("ground", "box", plate, at + height * down, np.eye(3), JOINT_COLOUR, 1, "joint"),
    ]


def _pin(axis: Point, pin: Pin, pieces: list[Piece], size: float) -> Solid:
    """Return a pin along an axis, long enough to be seen on either side of its body."""
    at = np.array((pin.a if axis.body == pin.a.body else pin.b).position)
    n = np.array(axis.position)
    widths = [
        np.abs(np.array(piece.rotation).T @ n) @ _body(piece, "", 0.0).scale for piece in pieces
    ]
    length = np.clip(1.3 * max(widths, default=0.0), 0.07 * size, 0.25 * size)
    return bar(
        axis.body,
        at - length / 2 * n,
        at + length / 2 * n,
        1.3 * THIN * size,
        JOINT_COLOUR,
        "joint",
    )


def _ball(point: Point, radius: float) -> Solid:
    at = np.array(point.position)
    return Solid(
        point.body, "bead", np.full(3, 2 * radius), at, np.eye(3), JOINT_COLOUR, group="joint"
    )


def bar(
    body: str,
    a: ArrayLike,
    b: ArrayLike,
    radius: float,
    colour: str,
    group: Group = "body",
    shape: str = "cylinder",
) -> Solid:
    """Return a round bar from a to b, points of a body; or another shape as long and as wide."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    scale = np.array([2 * radius, 2 * radius, length])
    return Solid(body, shape, scale, (a + b) / 2, along(b - a), colour, group=group)


def along(n: ArrayLike) -> Array:
    """Return a rotation whose third column has the direction n."""
    n = np.asarray(n, dtype=float) / (np.linalg.norm(n) or 1.0)
    aside = np.eye(3)[np.argmin(abs(n))]
    first = np.cross(aside, n)
    first = first / (np.linalg.norm(first) or 1.0)
    return np.column_stack([first, np.cross(n, first), n])
