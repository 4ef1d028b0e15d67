"""Joints: each a row of one table over four constraint primitives.

point: r_B - r_A = 0 (3 equations); dot: a_A·b_B = 0; offset: a_A·(r_B - r_A) = 0;
distance: (|r_B - r_A|^2 - L^2)/2 = 0. The same table gives the free directions, which carry motors,
springs and dampers [LKB26, sec. 4.2 and 4.3].

Points and axes are given in world axes at the start; the second body moves relative to the first.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.inputs import unit3, vector3
from poinsot.mechanics.bodies import Body, Ground, partner
from poinsot.mechanics.charts import Angle, Chart, Linear
from poinsot.mechanics.contacts import Contact
from poinsot.mechanics.forms import (
    GROUND,
    Form,
    VectorForm,
    direction,
    dot,
    half_square,
    half_sum,
    point,
)

Vector3 = NDArray[np.float64]


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
            if field.name not in ("a", "b"):
                given = vector3(getattr(self, field.name), f"{self.kind}: {field.name}")
                object.__setattr__(self, field.name, given)

    @property
    def kind(self) -> str:
        """The joint's name in the table."""
        return type(self).__name__

    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """Return the constraint equations."""

    @abstractmethod
    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the free directions that have a coordinate."""

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


def perpendicular(n: Vector3) -> tuple[Vector3, Vector3]:
    """Return m1, m2 such that (m1, m2, n) is right-handed and orthonormal."""
    m1 = np.eye(3)[int(np.argmin(abs(n)))]
    m1 = m1 - (m1 @ n) * n
    m1 = m1 / np.linalg.norm(m1)
    return m1, np.cross(n, m1)


# -- the primitives --------------------------------------------------------------------------------


def _on(body: Body | Ground, world_point: ArrayLike) -> VectorForm:
    return point(body.index, body.local_point(np.asarray(world_point)))


def _fixed(body: Body | Ground, world_direction: Vector3) -> VectorForm:
    return direction(body.index, body.local_direction(world_direction))


def _point_rows(origin: tuple[VectorForm, VectorForm]) -> list[Row]:
    on_a, on_b = origin
    return [
        Row(f"point {axis}", direction(GROUND, unit), on_b - on_a)
        for axis, unit in zip("xyz", np.eye(3), strict=True)
    ]


def _dot_row(joint: Joint, along: Vector3, across: Vector3, label: str) -> Row:
    return Row(label, _fixed(joint.a, along), _fixed(joint.b, across))


def _offset_row(joint: Joint, along: Vector3, label: str) -> Row:
    on_a, on_b = joint.origin
    return Row(label, _fixed(joint.a, along), on_b - on_a)


def _angle(joint: Joint, n: Vector3, label: str = "angle") -> Freedom:
    """Return the turn of B about an axis n of A, whichever directions m1, m2 across it are taken.

    Cosine (m1_A·m1_B + m2_A·m2_B)/2, sine (m2_A·m1_B - m1_A·m2_B)/2.
    """
    m1, m2 = perpendicular(n)
    a1, a2, b1, b2 = (_fixed(side, m) for side in (joint.a, joint.b) for m in (m1, m2))
    cosine, sine = half_sum(dot(a1, b1), dot(a2, b2)), half_sum(dot(a2, b1), dot(a1, b2), -1.0)
    return Freedom(label, Angle(), (cosine, sine))


def _displacement(joint: Joint, along: Vector3, label: str = "displacement") -> Freedom:
    return Freedom(label, Linear(), (_offset_row(joint, along, label).form,))


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _AtPoint(Joint):
    """A joint with one common point."""

    point: ArrayLike

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The common point on either body."""
        return _on(self.a, self.point), _on(self.b, self.point)


@dataclass(frozen=True, eq=False)
class _Axial(_AtPoint):
    """A joint with a point and an axis."""

    axis: ArrayLike

    @property
    def _n(self) -> Vector3:
        """Unit vector of the axis at the start."""
        return unit3(self.axis, f"{self.kind}: axis")

    def _parallel(self) -> list[Row]:
        """Return the two rows that keep the axes parallel."""
        return [
            _dot_row(self, self._n, m, f"tilt {i}")
            for i, m in enumerate(perpendicular(self._n), start=1)
        ]

    def _centred(self) -> list[Row]:
        """Return the two rows that keep B's point on the axis of A."""
        return [
            _offset_row(self, m, f"offset {i}")
            for i, m in enumerate(perpendicular(self._n), start=1)
        ]


class Spherical(_AtPoint):
    """A ball joint: three equations, three free rotations."""

    def rows(self) -> tuple[Row, ...]:
        """Point."""
        return tuple(_point_rows(self.origin))

    def freedoms(self) -> tuple[Freedom, ...]:
        """None has a coordinate of its own."""
        return ()


class Revolute(_Axial):
    """A hinge: five equations, one angle."""

    def rows(self) -> tuple[Row, ...]:
        """Point and two dots."""
        return (*_point_rows(self.origin), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The angle about the axis."""
        return (_angle(self, self._n),)


class Cylindrical(_Axial):
    """A shaft in a bush: four equations, an angle and a displacement."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets and two dots."""
        return (*self._centred(), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The angle about the axis and the displacement along it."""
        return _angle(self, self._n), _displacement(self, self._n)


class Prismatic(_Axial):
    """A slide: five equations, one displacement."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets and three dots."""
        m1, m2 = perpendicular(self._n)
        return (*self._centred(), *self._parallel(), _dot_row(self, m1, m2, "turn"))

    def freedoms(self) -> tuple[Freedom, ...]:
        """The displacement along the axis."""
        return (_displacement(self, self._n),)


@dataclass(frozen=True, eq=False)
class Universal(_AtPoint):
    """A cardan joint: four equations, two angles; `axis_a` is fixed in A, `axis_b` in B."""

    axis_a: ArrayLike
    axis_b: ArrayLike

    def _axes(self) -> tuple[Vector3, Vector3]:
        return unit3(self.axis_a, "Universal: axis_a"), unit3(self.axis_b, "Universal: axis_b")

    def rows(self) -> tuple[Row, ...]:
        """Point and one dot."""
        n_a, n_b = self._axes()
        return (*_point_rows(self.origin), _dot_row(self, n_a, n_b, "cross"))

    def freedoms(self) -> tuple[Freedom, ...]:
        """The turn of axis_b about axis_a, and that of B about axis_b."""
        n_a, n_b = self._axes()
        cross = np.cross(n_a, n_b)
        pin_a, pin_b = _fixed(self.a, n_a), _fixed(self.b, n_b)
        first = dot(_fixed(self.a, n_b), pin_b), dot(_fixed(self.a, cross), pin_b)
        second = dot(_fixed(self.b, n_a), pin_a), dot(_fixed(self.b, cross), pin_a)
        return Freedom("angle a", Angle(), first), Freedom("angle b", Angle(), second)


@dataclass(frozen=True, eq=False)
class Planar(_AtPoint):
    """A plate sliding on a plane of A: three equations, two displacements and an angle."""

    normal: ArrayLike

    @property
    def _n(self) -> Vector3:
        """Unit normal at the start."""
        return unit3(self.normal, "Planar: normal")

    def rows(self) -> tuple[Row, ...]:
        """One offset and two dots."""
        m1, m2 = perpendicular(self._n)
        return (
            _offset_row(self, self._n, "offset"),
            _dot_row(self, self._n, m1, "tilt 1"),
            _dot_row(self, self._n, m2, "tilt 2"),
        )

    def freedoms(self) -> tuple[Freedom, ...]:
        """Two displacements in the plane and the angle about its normal."""
        m1, m2 = perpendicular(self._n)
        return (
            _displacement(self, m1, "displacement 1"),
            _displacement(self, m2, "displacement 2"),
            _angle(self, self._n),
        )


class Weld(Joint):
    """A rigid connection: six equations."""

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The second body's centre of mass, or the first's if the second is the ground."""
        world = self.b.position if isinstance(self.b, Body) else self.a.position
        return _on(self.a, world), _on(self.b, world)

    def rows(self) -> tuple[Row, ...]:
        """Point and three dots."""
        e1, e2, e3 = np.eye(3)
        turns = ((e1, e2, "turn 3"), (e2, e3, "turn 1"), (e3, e1, "turn 2"))
        return (*_point_rows(self.origin), *(_dot_row(self, *turn) for turn in turns))

    def freedoms(self) -> tuple[Freedom, ...]:
        """None."""
        return ()


@dataclass(frozen=True, eq=False)
class Rod(Joint):
    """A massless rod between two points: one equation, the distance is that of the start."""

    point_a: ArrayLike
    point_b: ArrayLike

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The two ends."""
        return _on(self.a, self.point_a), _on(self.b, self.point_b)

    def rows(self) -> tuple[Row, ...]:
        """Distance."""
        length = float(np.linalg.norm(np.subtract(self.point_b, self.point_a)))
        if length == 0:
            raise InputError("Rod: its two points coincide; use Spherical")
        on_a, on_b = self.origin
        return (Row("distance", on_b - on_a, on_b - on_a, length),)

    def freedoms(self) -> tuple[Freedom, ...]:
        """None has a coordinate of its own."""
        return ()


class PointOnLine(_Axial):
    """A point of B stays on a line of A: two equations."""

    def rows(self) -> tuple[Row, ...]:
        """Two offsets."""
        return tuple(self._centred())

    def freedoms(self) -> tuple[Freedom, ...]:
        """The displacement along the line."""
        return (_displacement(self, self._n),)


@dataclass(frozen=True, eq=False)
class PointOnPlane(_AtPoint):
    """A point of B stays on a plane of A: one equation."""

    normal: ArrayLike

    @property
    def _n(self) -> Vector3:
        """Unit normal at the start."""
        return unit3(self.normal, "PointOnPlane: normal")

    def rows(self) -> tuple[Row, ...]:
        """One offset."""
        return (_offset_row(self, self._n, "offset"),)

    def freedoms(self) -> tuple[Freedom, ...]:
        """Two displacements in the plane."""
        m1, m2 = perpendicular(self._n)
        return (
            _displacement(self, m1, "displacement 1"),
            _displacement(self, m2, "displacement 2"),
        )
