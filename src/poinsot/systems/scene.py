"""From the parts of a mechanism to its scene, the description of its graphics."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.beam import Beam
from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.flexible import Flexible, Place
from poinsot.bodies.flexible_body import FlexibleBody
from poinsot.bodies.meshes import Mesh, Triangles
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
from poinsot.bodies.skin import Skin as Surface
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.frames.forms import three
from poinsot.parts.forces import Force, Spring
from poinsot.parts.joint import Joint
from poinsot.parts.joints import Rod
from poinsot.parts.loads import ForcePort, JointPort, PortPlace, TorquePort
from poinsot.parts.rigid_strains import RigidStrains
from poinsot.parts.rods import RodElements
from poinsot.parts.transmissions import Transmission
from poinsot.result import (
    Carried,
    Drawing,
    Load,
    Piece,
    Pin,
    Point,
    Scene,
    Skin,
    Slender,
    Strut,
)
from poinsot.so3 import as_rotation_matrix

Array = NDArray[np.float64]

#: The most triangles of a mesh in a picture.
FINEST = 12_000
#: The widest section of a rod in a picture, as a part of its length.
THICKEST = 0.08


def scene(
    bodies: Sequence[Body],
    joints: Mapping[str, Joint],
    forces: Mapping[str, Force],
    ports: Mapping[str, Transmission | PortPlace],
) -> Scene:
    """Return what a mechanism looks like."""
    elastic = [body for body in bodies if isinstance(body, Flexible)]
    rods = {name: force for name, force in forces.items() if isinstance(force, RodElements)}
    nodes = {node.name for rod in rods.values() for node in rod.nodes}
    skins = [
        _skin(body, own)
        for body in elastic
        if isinstance(body.shape, FlexibleBody) and (own := body.shape.surface) and not body.looks
    ]
    skinned = {skin.body for skin, _ in skins}
    pieces = [
        piece
        for body in bodies
        if not isinstance(body, Place) and not isinstance(body.shape, Beam)
        if body.name not in nodes | skinned
        for piece in _looks(body) or _pieces(body.name, body.shape, -body.shape.centre, np.eye(3))
    ]
    surfaces = [mesh for body in bodies for mesh in _meshes(body)]
    drawings = {_title(mesh): mesh.at_most(FINEST) for mesh in surfaces}
    drawings |= {skin.drawing: mesh for skin, mesh in skins}
    slender = [_beam(body, body.shape) for body in elastic if isinstance(body.shape, Beam)]
    slender += [_rod(name, rod) for name, rod in rods.items()]
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
    carried = [each for body in elastic for each in _carried(body)]
    loads = [load for name, port in ports.items() if (load := _load(name, port, joints))]
    return Scene(
        pieces=tuple(pieces),
        pins=tuple(pins),
        struts=tuple(struts),
        slender=tuple(slender),
        carried=tuple(carried),
        drawings=tuple(_drawing(name, mesh) for name, mesh in drawings.items()),
        loads=tuple(loads),
        skins=tuple(skin for skin, _ in skins),
    )


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
    if isinstance(shape, Mesh):
        origin, (first, second, third) = at + R @ shape.origin, map(three, R)
        name = _title(shape.surface)
        return [Piece(body, "mesh", (), three(origin), (first, second, third), drawing=name)]
    kind, sizes, exact = _kind(shape)
    if not exact:
        R = R @ PrincipalInertia.of(shape).R_BP
    first, second, third = (three(row) for row in R)
    return [Piece(body, kind, sizes, three(at), (first, second, third), exact)]


def _looks(body: Body) -> list[Piece]:
    """Return the pieces of what a body looks like instead of its shape."""
    return [
        Piece(
            body.name,
            look.kind,
            tuple(look.sizes),
            three(look.position),
            tuple(map(three, as_rotation_matrix(look.rotation))),  # type: ignore[arg-type]
            drawing="" if look.mesh is None else _title(look.mesh),
            colour=look.colour,
            opacity=look.opacity,
        )
        for look in body.looks
    ]


def _meshes(body: Body) -> list[Triangles]:
    """Return all meshes that are drawn of a body."""
    if body.looks:
        return [look.mesh for look in body.looks if look.mesh is not None]
    shapes: list[Shape] = [body.shape]
    for shape in shapes:
        if isinstance(shape, Composite):
            shapes += [part for part, _, _ in shape.parts]
    return [shape.surface for shape in shapes if isinstance(shape, Mesh)]


def _title(mesh: Triangles) -> str:
    """Return a name for a mesh that another one with the same points shares."""
    return sha256(mesh.vertices.tobytes() + mesh.faces.tobytes()).hexdigest()[:16]


def _drawing(name: str, mesh: Triangles) -> Drawing:
    """Return the surface of a mesh."""
    return Drawing(name, _packed(mesh.vertices, "<f4"), _packed(mesh.faces, "<u4"))


def _packed(values: NDArray[Any], kind: str) -> str:
    """Return numbers as bytes in base 64."""
    return b64encode(values.astype(kind).tobytes()).decode()


def _skin(body: Flexible, own: Surface) -> tuple[Skin, Triangles]:
    """Return the surface of a flexible body in its own axes, no finer than a picture needs."""
    coarse, R = own.at_most(FINEST), body.R_WB.T @ body.R_WP
    mesh = Triangles(coarse.mesh.vertices @ R.T, coarse.mesh.faces)
    modes = np.einsum("ij,njk->nik", R, coarse.modes)
    return Skin(body.name, _title(mesh), _packed(modes, "<f4")), mesh


def _beam(body: Flexible, beam: Beam) -> Slender:
    """Return a beam, whose section is an ellipse or a rectangle with its second moments of area."""
    x, (area, I1, I2, _) = beam.matrices.line.nodes, beam.section.constants
    nodes = tuple(place.name for place in body.places)
    sizes, round_ = _section(I2 / area, I1 / area)
    return Slender(body.name, nodes, tuple(x.tolist()), (sizes,) * len(nodes), (1, 2, 0), round_)


def _rod(name: str, rod: RodElements) -> Slender:
    """Return a rod, whose sections have the inertia of its nodes, if that is a slender one."""
    places = np.append(0.0, np.cumsum(rod.lengths))
    inertia = np.array([np.diag(node.shape.inertia_B) / node.shape.mass for node in rod.nodes])
    sections = [_section(J2, J1) for J1, J2, _ in inertia.tolist()]
    round_ = all(circle for _, circle in sections)
    # Published rods may have sections of any inertia.
    thickest = THICKEST * float(places[-1])
    sizes = tuple((min(a, thickest), min(b, thickest)) for (a, b), _ in sections)
    nodes = tuple(node.name for node in rod.nodes)
    return Slender(name, nodes, tuple(places.tolist()), sizes, (0, 1, 2), round_)


def _section(along_1: float, along_2: float) -> tuple[tuple[float, float], bool]:
    """Return widths of a section, of its mean squares of distances, and whether it is round."""
    round_ = bool(np.isclose(along_1, along_2))
    times = 16 if round_ else 12
    return (float(np.sqrt(times * along_1)), float(np.sqrt(times * along_2))), round_


def _carried(body: Flexible) -> list[Carried]:
    return [
        Carried(place.name, Point(body.name, three(body.R_WB.T @ (place.position - body.position))))
        for place in body.places
    ]


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


def _load(name: str, port: Transmission | PortPlace, joints: Mapping[str, Joint]) -> Load | None:
    """Return what a port puts on a body; None if it is not along an axis that can be drawn."""
    if isinstance(port, ForcePort | TorquePort):
        kind = "force" if isinstance(port, ForcePort) else "torque"
        point = getattr(port, "point", None)
        at = _on(port.body, port.body.position if point is None else point)
        fixed_in = port.body.name if port.axes == "body" else "ground"
        return Load(name, kind, at, tuple(Point(fixed_in, three(row)) for row in np.eye(3)))
    if isinstance(port, JointPort) and hasattr(joint := joints[port.joint], "axis"):
        free = [f for f in joint.freedoms() if port.freedom in (None, f.label)]
        kind = "torque" if free[0].rotates else "force"
        axis = _direction(joint.a, joint.axis)
        return Load(name, kind, _on(joint.b, _places(joint)[1]), (axis,))
    return None


#: Axes of joints, and the body in which each is fixed.
AXES = {"axis": "a", "normal": "a", "axis_a": "a", "axis_b": "b"}


def _places(joint: Joint) -> tuple[ArrayLike, ArrayLike]:
    """Return the points of a joint on both bodies, in the world at the start."""
    if isinstance(joint, Rod):
        return joint.point_a, joint.point_b
    at = getattr(joint, "point", None)
    if at is None:  # a weld
        at = joint.b.position if isinstance(joint.b, Body) else joint.a.position
        at = np.zeros(3) if joint.between_markers else at
    return at, at


def _ends(part: Rod | Spring) -> tuple[Point, Point]:
    return _on(part.a, part.point_a), _on(part.b, part.point_b)


def _on(end: Body | Ground | Marker, place: ArrayLike) -> Point:
    """Return a point, given in the world where bodies are added or on a marker, on a body."""
    if isinstance(end, Marker):
        return _on(end.body, end.world(place))
    from_centre = np.asarray(place, dtype=float) - end.position
    return Point(end.name, three(end.R_WB.T @ from_centre))


def _direction(end: Body | Ground | Marker, along: ArrayLike) -> Point:
    """Return a unit vector, given likewise, in the axes of a body."""
    n = np.asarray(along, dtype=float)
    if isinstance(end, Marker):
        return _direction(end.body, end.R_WM @ n)
    return Point(end.name, three(end.R_WB.T @ n / np.linalg.norm(n)))
