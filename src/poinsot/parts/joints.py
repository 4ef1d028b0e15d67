"""Joints: each a row of one table over four constraint primitives.

point: r_B - r_A = 0 (3 equations); dot: a_A·b_B = 0; offset: a_A·(r_B - r_A) = 0;
distance: (|r_B - r_A|^2 - L^2)/2 = 0. The same table gives the free directions, which carry motors,
springs and dampers [LKB26, sec. 4.2 and 4.3].

Points and axes are given in world axes at the start; the second body moves relative to the first.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground, partner
from poinsot.errors import InputError
from poinsot.frames.charts import Angle, Chart, Linear
from poinsot.frames.forms import AXES, Form, Vector3, VectorForm, dot, half_square, three
from poinsot.frames.stacks import Packed, pack
from poinsot.inputs import unit3, vector3
from poinsot.parts.contacts import Contact

Array = NDArray[np.float64]
ANGLE = Angle()
#: Cosine of an angle that counts as a right one.
PERPENDICULAR = 1e-8
#: What a joint may be open by at the start, as a part of its size, and of how far away it is.
GAP, GAP_ROUND_OFF = 1e-8, 1e-14


@dataclass(frozen=True)
class Row:
    """One constraint equation a·b = 0, or (a·a - length^2)/2 = 0, and what it locks in words."""

    label: str
    a: VectorForm
    b: VectorForm
    length: float | None = None

    @property
    def form(self) -> Form:
        """The equation as a quadratic form."""
        return dot(self.a, self.b) if self.length is None else half_square(self.a, self.length)

    @property
    def places(self) -> bool:
        """Whether it holds a point, with a gap in metres; if not, a direction."""
        return any(w[0] != 0 for vector in (self.a, self.b) for _, w in vector.weights)


@dataclass(frozen=True)
class Freedom:
    """A free direction of a joint: a displacement [m] or an angle [rad], zero at the start."""

    label: str
    chart: Chart
    forms: tuple[Form, ...]

    @property
    def rotates(self) -> bool:
        """Whether it is an angle."""
        return isinstance(self.chart, Angle)


class Equations(NamedTuple):
    """Constraint equations as plain numbers, and what each lacks at the start [m or 1]."""

    forms: Packed
    gaps: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """A joint between two bodies, or a body and the ground."""

    a: Body | Ground
    b: Body | Ground

    def __post_init__(self) -> None:
        """Check the bodies, and keep copies of points and axes."""
        a, b = partner(self.a, f"{self.kind}: a"), partner(self.b, f"{self.kind}: b")
        if a is b or (isinstance(a, Ground) and isinstance(b, Ground)):
            raise InputError(f"{self.kind}: joins '{a.name}' with itself")
        for field in fields(self):
            value = getattr(self, field.name)
            left_out = value is None and field.default is None
            if field.name not in ("a", "b") and not left_out:
                given = vector3(value, f"{self.kind}: {field.name}")
                object.__setattr__(self, field.name, given)
        for end, body, place in zip("ab", (a, b), self._places(), strict=True):
            object.__setattr__(self, end, body.at(place))

    def _places(self) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Return where it attaches to either body, world axes at the start; None: not told."""
        return None, None

    @property
    def kind(self) -> str:
        """The joint's name in the table."""
        return type(self).__name__

    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """Return the constraint equations."""

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the free directions that have a coordinate of their own; none by default."""
        return ()

    @cached_property
    def equations(self) -> Equations:
        """The constraint equations as plain numbers, made once."""
        frames = {end.index: end.frame for end in (self.a, self.b) if isinstance(end, Body)}
        rows = self.rows()
        forms = [row.form for row in rows]
        sizes = [row.length or 1.0 for row in rows]
        gaps = [abs(form.at(frames)) / size for form, size in zip(forms, sizes, strict=True)]
        return Equations(pack(forms), tuple(gaps))

    @property
    def size(self) -> float:
        """How large it is [m]: the smaller one of its bodies, from the joint or across; 0: none."""
        ends = zip((self.a, self.b), self.origin, strict=True)
        sizes = [
            max(hypot(*w[1:]), end.principal.radius)
            for end, at in ends
            if isinstance(end, Body)
            for _, w in at.weights
        ]
        return min((size for size in sizes if size > 0), default=0.0)

    def allowed_gaps(self) -> list[float]:
        """Return by how much each equation may be violated at the start [m or 1].

        Lengths are measured by the joint's own size; far from the origin they have more round-off.
        """
        far = max(hypot(*self.a.position), hypot(*self.b.position))
        size = self.size
        lengths = [row.length or size if row.places else 1.0 for row in self.rows()]
        return [GAP * length + GAP_ROUND_OFF * max(far, length) for length in lengths]

    def contact(self) -> Contact | None:
        """Return the velocities that it forbids besides; None: what it allows is all in `rows`."""
        return None

    @property
    def remedy(self) -> str:
        """What to do if it does not fit where the bodies are."""
        return "correct its axes (those of a universal joint must be perpendicular) or its points"

    @property
    @abstractmethod
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The joint's point on either body; reactions are given there."""


def perpendicular(n: ArrayLike) -> tuple[Vector3, Vector3]:
    """Return m1, m2 such that (m1, m2, n) is right-handed and orthonormal."""
    x, y, z = n = three(n)
    # What is left of the axis of the world that is farthest from n.
    sizes = abs(x), abs(y), abs(z)
    k = sizes.index(min(sizes))
    u, v, w = (k == 0) - n[k] * x, (k == 1) - n[k] * y, (k == 2) - n[k] * z
    length = hypot(u, v, w)
    u, v, w = u / length, v / length, w / length
    return (u, v, w), (y * w - z * v, z * u - x * w, x * v - y * u)


# -- the primitives --------------------------------------------------------------------------------


def _point_rows(origin: tuple[VectorForm, VectorForm]) -> tuple[Row, Row, Row]:
    on_a, on_b = origin
    span, (x, y, z) = on_b - on_a, AXES
    return Row("point x", x, span), Row("point y", y, span), Row("point z", z, span)


def _dot_row(joint: Joint, along: ArrayLike, across: ArrayLike, label: str) -> Row:
    return Row(label, joint.a.along(along), joint.b.along(across))


def _offset_row(joint: Joint, along: ArrayLike, label: str) -> Row:
    on_a, on_b = joint.origin
    return Row(label, joint.a.along(along), on_b - on_a)


def _turn_rows(joint: Joint, x: Array, y: Array, z: Array) -> tuple[Row, Row, Row]:
    """Return the rows that keep B from turning about any of three axes of A."""
    return (
        _dot_row(joint, x, y, "turn 3"),
        _dot_row(joint, y, z, "turn 1"),
        _dot_row(joint, z, x, "turn 2"),
    )


def _angle(joint: Joint, across: Iterable[Vector3], label: str = "angle") -> Freedom:
    """Return the turn of B about an axis of A, whichever directions m1, m2 across it are taken.

    Cosine (m1_A·m1_B + m2_A·m2_B)/2, sine (m2_A·m1_B - m1_A·m2_B)/2.
    """
    m1, m2 = across
    a1, a2, b1, b2 = joint.a.along(m1), joint.a.along(m2), joint.b.along(m1), joint.b.along(m2)
    cosine, sine = ((0.5, a1, b1), (0.5, a2, b2)), ((0.5, a2, b1), (-0.5, a1, b2))
    return Freedom(label, ANGLE, (Form(cosine), Form(sine)))


def _displacement(joint: Joint, along: ArrayLike, label: str = "displacement") -> Freedom:
    return Freedom(label, Linear(), (_offset_row(joint, along, label).form,))


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _AtPoint(Joint):
    """A joint with one common point."""

    point: ArrayLike

    def _places(self) -> tuple[ArrayLike, ArrayLike]:
        return self.point, self.point

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The common point on either body."""
        return self.a.on(self.point), self.b.on(self.point)


@dataclass(frozen=True, eq=False)
class _Axial(_AtPoint):
    """A joint with a point and an axis."""

    axis: ArrayLike

    @cached_property
    def _n(self) -> Vector3:
        """Unit vector of the axis at the start."""
        return three(unit3(self.axis, f"{self.kind}: axis"))

    @cached_property
    def _across(self) -> tuple[Vector3, Vector3]:
        """Two unit vectors across it."""
        return perpendicular(self._n)

    def _parallel(self) -> tuple[Row, Row]:
        """Return the two rows that keep the axes parallel."""
        n, (m1, m2) = self.a.along(self._n), self._across
        return Row("tilt 1", n, self.b.along(m1)), Row("tilt 2", n, self.b.along(m2))

    def _centred(self) -> tuple[Row, Row]:
        """Return the two rows that keep B's point on the axis of A."""
        m1, m2 = self._across
        return _offset_row(self, m1, "offset 1"), _offset_row(self, m2, "offset 2")


class Spherical(_AtPoint):
    """A ball joint: three equations, three free rotations."""

    def rows(self) -> tuple[Row, ...]:
        """Point."""
        return _point_rows(self.origin)


class Revolute(_Axial):
    """A hinge: five equations, one angle."""

    def rows(self) -> tuple[Row, ...]:
        """Point and two dots."""
        return (*_point_rows(self.origin), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The angle about the axis."""
        return (_angle(self, self._across),)


class Cylindrical(_Axial):
    """A shaft in a bush: four equations, an angle and a displacement."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets and two dots."""
        return (*self._centred(), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The angle about the axis and the displacement along it."""
        return _angle(self, self._across), _displacement(self, self._n)


class Prismatic(_Axial):
    """A slide: five equations, one displacement."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets and three dots."""
        return (*self._centred(), *self._parallel(), _dot_row(self, *self._across, "turn"))

    def freedoms(self) -> tuple[Freedom, ...]:
        """The displacement along the axis."""
        return (_displacement(self, self._n),)


@dataclass(frozen=True, eq=False)
class Universal(_AtPoint):
    """A cardan joint: four equations, two angles; `axis_a` is fixed in A, `axis_b` in B."""

    axis_a: ArrayLike
    axis_b: ArrayLike

    def _axes(self) -> tuple[Array, Array]:
        return unit3(self.axis_a, "Universal: axis_a"), unit3(self.axis_b, "Universal: axis_b")

    def rows(self) -> tuple[Row, ...]:
        """Point and one dot."""
        n_a, n_b = self._axes()
        return (*_point_rows(self.origin), _dot_row(self, n_a, n_b, "cross"))

    def freedoms(self) -> tuple[Freedom, ...]:
        """The turn of axis_b about axis_a, and that of B about axis_b."""
        n_a, n_b = self._axes()
        cross = np.cross(n_a, n_b)
        pin_a, pin_b = self.a.along(n_a), self.b.along(n_b)
        first = dot(self.a.along(n_b), pin_b), dot(self.a.along(cross), pin_b)
        second = dot(self.b.along(n_a), pin_a), dot(self.b.along(cross), pin_a)
        return Freedom("angle a", ANGLE, first), Freedom("angle b", ANGLE, second)


@dataclass(frozen=True, eq=False)
class OnPlane(_AtPoint):
    """A joint with a point and a plane; `x` says where displacement 1 leads along the plane.

    What x has along the normal does not count; left out, it is some direction across the normal.
    """

    normal: ArrayLike
    x: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Check the axes."""
        super().__post_init__()
        _ = self.in_plane

    @cached_property
    def _n(self) -> Array:
        """Unit normal at the start."""
        return unit3(self.normal, f"{self.kind}: normal")

    @cached_property
    def in_plane(self) -> tuple[Vector3, Vector3]:
        """Two unit vectors along the plane, at the start, right-handed with the normal."""
        if self.x is None:
            return perpendicular(self._n)
        x = unit3(self.x, f"{self.kind}: x")
        across = np.cross(self._n, x)
        if np.linalg.norm(across) < PERPENDICULAR:
            raise InputError(f"{self.kind}: x is along the normal; give a direction in the plane")
        second = unit3(across, f"{self.kind}: x")
        return three(np.cross(second, self._n)), three(second)

    def freedoms(self) -> tuple[Freedom, ...]:
        """Two displacements in the plane."""
        m1, m2 = self.in_plane
        return (
            _displacement(self, m1, "displacement 1"),
            _displacement(self, m2, "displacement 2"),
        )


class Planar(OnPlane):
    """A plate sliding on a plane of A: three equations, two displacements and an angle."""

    def rows(self) -> tuple[Row, ...]:
        """One offset and two dots."""
        m1, m2 = self.in_plane
        return (
            _offset_row(self, self._n, "offset"),
            _dot_row(self, self._n, m1, "tilt 1"),
            _dot_row(self, self._n, m2, "tilt 2"),
        )

    def freedoms(self) -> tuple[Freedom, ...]:
        """Two displacements in the plane and the angle about its normal."""
        return (*super().freedoms(), _angle(self, self.in_plane))


class Weld(Joint):
    """A rigid connection: six equations."""

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The second body's centre of mass, or the first's if the second is the ground."""
        world = self.b.position if isinstance(self.b, Body) else self.a.position
        return self.a.on(world), self.b.on(world)

    def rows(self) -> tuple[Row, ...]:
        """Point and three dots."""
        return (*_point_rows(self.origin), *_turn_rows(self, *np.eye(3)))


@dataclass(frozen=True, eq=False)
class Cartesian(_AtPoint):
    """A stage on three slides: three equations, displacements along three axes of A, no rotation.

    `point` [m] is where reactions are given; `x` and `y` are two of the axes, perpendicular to
    each other, of any length.
    """

    x: ArrayLike = (1.0, 0.0, 0.0)
    y: ArrayLike = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        """Check the axes."""
        super().__post_init__()
        x, y, _ = self._axes()
        if abs(x @ y) > PERPENDICULAR:
            raise InputError(f"Cartesian: x and y are not perpendicular: x·y = {x @ y:.3g}")

    def _axes(self) -> tuple[Array, Array, Array]:
        x, y = unit3(self.x, "Cartesian: x"), unit3(self.y, "Cartesian: y")
        return x, y, np.cross(x, y)

    def rows(self) -> tuple[Row, ...]:
        """Three dots."""
        return _turn_rows(self, *self._axes())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The displacements."""
        return tuple(
            _displacement(self, axis, f"displacement {label}")
            for axis, label in zip(self._axes(), "xyz", strict=True)
        )


@dataclass(frozen=True, eq=False)
class Rod(Joint):
    """A massless rod between two points: one equation, the distance is that of the start."""

    point_a: ArrayLike
    point_b: ArrayLike

    def _places(self) -> tuple[ArrayLike, ArrayLike]:
        return self.point_a, self.point_b

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The two ends."""
        return self.a.on(self.point_a), self.b.on(self.point_b)

    def rows(self) -> tuple[Row, ...]:
        """Distance."""
        length = float(np.linalg.norm(np.subtract(self.point_b, self.point_a)))
        if length == 0:
            raise InputError("Rod: its two points coincide; use Spherical")
        on_a, on_b = self.origin
        return (Row("distance", on_b - on_a, on_b - on_a, length),)


class PointOnLine(_Axial):
    """A point of B stays on a line of A: two equations."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets."""
        return self._centred()

    def freedoms(self) -> tuple[Freedom, ...]:
        """The displacement along the line."""
        return (_displacement(self, self._n),)


class PointOnPlane(OnPlane):
    """A point of B stays on a plane of A: one equation."""

    def rows(self) -> tuple[Row, ...]:
        """One offset."""
        return (_offset_row(self, self._n, "offset"),)
