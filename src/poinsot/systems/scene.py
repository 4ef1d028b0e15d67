"""From a mechanism's parts to what they look like."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.beam import Beam
from poinsot.bodies.body import Body, Ground
from poinsot.bodies.flexible import Flexible, Place
from poinsot.bodies.shapes import (
    Box,
    Composite,
    Cone,
    Cylinder,
    Ellipsoid,
    HollowCylinder,
    PointMass,
    Shape,
    Sphere,
    ThinRod,
)
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.frames.forms import three
from poinsot.parts.forces import Force, Spring
from poinsot.parts.joints import Joint, Rod
from poinsot.parts.rigid_strains import RigidStrains
from poinsot.result import Piece, Pin, Point, Scene, Strut
from poinsot.so3 import as_rotation_matrix

Array = NDArray[np.float64]


def scene(
    bodies: Sequence[Body], joints: Mapping[str, Joint], forces: Mapping[str, Force]
) -> Scene:
    """Return what a mechanism looks like."""
    pieces = [
        piece
        for body in bodies
        if not isinstance(body, Place)
        for piece in (
            _segments(body, body.shape)
            if isinstance(body, Flexible) and isinstance(body.shape, Beam)
            else _pieces(body.name, body.shape, -body.shape.centre, np.eye(3))
        )
    ]
    struts = [
        Strut(name, "rod" if isinstance(part, Rod) else "spring", *_ends(part))
        for name, part in (*joints.items(), *forces.items())
        if isinstance(part, Rod | Spring)
    ]
    # A contact moves along the plane and elements of rods have a length: they have no pins.
    pins = [
        _pin(name, joint)
        for name, joint in joints.items()
        if joint.contact() is None and not isinstance(joint, RigidStrains)
    ]
    return Scene(tuple(pieces), tuple(pins), tuple(struts))


def _pieces(body: str, shape: Shape, at: Array, R: Array) -> list[Piece]:
    """Return the pieces of a shape with its reference point and axes on a body."""
    if isinstance(shape, Composite):
        return [
            piece
            for part, position, rotation in shape.parts
            for piece in _pieces(
                body, part, at + R @ np.array(position), R @ as_rotation_matrix(rotation)
            )
        ]
    kind, sizes, exact = _kind(shape)
    if not exact:
        R = R @ PrincipalInertia.of(shape).R_BP
    first, second, third = (three(row) for row in R)
    return [Piece(body, kind, sizes, three(at), (first, second, third), exact)]


def _segments(body: Flexible, beam: Beam) -> list[Piece]:
    """Return a beam as straight segments about its places, which move and turn with them.

    The section is a circle or a rectangle with the same second moments of area.
    """
    x, (area, I1, I2, _) = body.elastic.data.points[:, 0], beam.section.constants
    cuts = np.concatenate([x[:1], (x[:-1] + x[1:]) / 2, x[-1:]])
    y, z = (float(np.sqrt(12 * moment / area)) for moment in (I2, I1))
    pieces = []
    for k, place in enumerate(body.places):
        length, at = float(cuts[k + 1] - cuts[k]), ((cuts[k] + cuts[k + 1]) / 2 - x[k], 0.0, 0.0)
        if y == z:
            round_ = (2 / np.sqrt(12) * y, length)
            pieces.append(Piece(place.name, "cylinder", round_, three(at), ALONG_X, True))
        else:
            pieces.append(Piece(place.name, "box", (length, y, z), three(at), AXES_B, True))
    return pieces


#: Axes of a body, and those of a shape along z that is laid along x.
AXES_B = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ALONG_X = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))


#: What simple shapes are drawn as, and their sizes [m].
KINDS: dict[type[Shape], tuple[str, Callable[[Any], tuple[float, ...]]]] = {
    Box: ("box", lambda shape: tuple(shape.size)),
    Cylinder: ("cylinder", lambda shape: (shape.radius, shape.length)),
    HollowCylinder: ("tube", lambda shape: (shape.inner_radius, shape.outer_radius, shape.length)),
    Sphere: ("ellipsoid", lambda shape: (shape.radius,) * 3),
    Ellipsoid: ("ellipsoid", lambda shape: tuple(shape.semi_axes)),
    Cone: ("cone", lambda shape: (shape.radius, shape.height)),
    ThinRod: ("rod", lambda shape: (shape.length,)),
    PointMass: ("point", lambda _: ()),
}


def _kind(shape: Shape) -> tuple[str, tuple[float, ...], bool]:
    """Return kind and sizes of a simple shape, and whether these are its own."""
    for known, (name, sizes) in KINDS.items():
        if isinstance(shape, known):
            return name, sizes(shape), True
    # A box of edges a has the Euler values m a^2 / 12.
    edges = np.sqrt(12 * np.maximum(PrincipalInertia.of(shape).euler, 0) / shape.mass)
    return "box", tuple(edges.tolist()), False


def _pin(name: str, joint: Joint) -> Pin:
    own = {key: value for key, value in vars(joint).items() if key in AXES}
    axes = tuple(_direction(getattr(joint, AXES[key]), value) for key, value in own.items())
    (on_a, on_b) = _places(joint)
    return Pin(name, joint.kind, _on(joint.a, on_a), _on(joint.b, on_b), axes)


#: Axes of joints, and the body in which each is fixed.
AXES = {"axis": "a", "normal": "a", "axis_a": "a", "axis_b": "b"}


def _places(joint: Joint) -> tuple[ArrayLike, ArrayLike]:
    """Return the points of a joint on both bodies, in the world at the start."""
    if isinstance(joint, Rod):
        return joint.point_a, joint.point_b
    at = getattr(joint, "point", None)
    if at is None:  # a weld
        at = joint.b.position if isinstance(joint.b, Body) else joint.a.position
    return at, at


def _ends(part: Rod | Spring) -> tuple[Point, Point]:
    return _on(part.a, part.point_a), _on(part.b, part.point_b)


def _on(body: Body | Ground, world: ArrayLike) -> Point:
    """Return a point, given in the world at the start, on a body."""
    from_centre = np.asarray(world, dtype=float) - body.position
    return Point(body.name, three(_R_WB(body).T @ from_centre))


def _direction(body: Body | Ground, world: ArrayLike) -> Point:
    """Return a unit vector, given in the world at the start, in the axes of a body."""
    n = np.asarray(world, dtype=float)
    return Point(body.name, three(_R_WB(body).T @ n / np.linalg.norm(n)))


def _R_WB(body: Body | Ground) -> Array:
    return body.R_WB if isinstance(body, Body) else np.eye(3)
