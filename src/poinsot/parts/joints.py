"""Joints: rows of one table over four constraint primitives.

The primitives are point: r_B - r_A = 0 (3 equations); dot: a_A·b_B = 0; offset: a_A·(r_B - r_A) =
0; and distance: (|r_B - r_A|^2 - L^2)/2 = 0. The same table gives the free coordinates, which carry
motors, springs and dampers [LKB26, sec. 4.2 and 4.3].

Points and axes are given in world axes for the places at which bodies are added. Between two
markers they are given in marker axes, which coincide where coordinates are zero. Coordinates
describe the motion of the second body relative to the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.frames.charts import Angle, Linear
from poinsot.frames.forms import AXES, Form, Vector3, VectorForm, dot, three
from poinsot.inputs import positive, unit3
from poinsot.parts.joint import LEFT_OUT, Freedom, Joint, Row

Array = NDArray[np.float64]
ANGLE = Angle()
#: Each axis of the world is preferred to the next one by this much of a cosine.
LATER = 0.01
#: Cosine of an angle that counts as a right one.
PERPENDICULAR = 1e-8
#: What is taken for them in the axes of markers.
ORIGIN, ALONG_X, ALONG_Y, ALONG_Z = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
)


def perpendicular(n: ArrayLike) -> tuple[Vector3, Vector3]:
    """Return m1, m2 such that (m1, m2, n) is right-handed and orthonormal."""
    x, y, z = n = three(n)
    # What is left of the axis of the world that is farthest from n. Of two that are as far, it is
    # the first, also if n is turned a little: derivatives by n need the same choice.
    sizes = abs(x), abs(y) + LATER, abs(z) + 2 * LATER
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
    """Return the rows that lock all rotations of B relative to A."""
    return (
        _dot_row(joint, x, y, "turn 3"),
        _dot_row(joint, y, z, "turn 1"),
        _dot_row(joint, z, x, "turn 2"),
    )


def _angle(joint: Joint, across: Iterable[Vector3], label: str = "angle") -> Freedom:
    """Return the rotation angle of B about an axis of A, for any directions m1, m2 across it.

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

    point: ArrayLike = LEFT_OUT
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {"point": ORIGIN}

    def _places(self) -> tuple[ArrayLike, ArrayLike]:
        return self.point, self.point

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The common point on each body."""
        return self.a.on(self.point), self.b.on(self.point)


@dataclass(frozen=True, eq=False)
class _Axial(_AtPoint):
    """A joint with a point and an axis."""

    axis: ArrayLike = LEFT_OUT
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {"point": ORIGIN, "axis": ALONG_Z}

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

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """The axis."""
        return self._same(self._n)

    def _centred(self) -> tuple[Row, Row]:
        """Return the two rows that keep B's point on the axis of A."""
        m1, m2 = self._across
        return _offset_row(self, m1, "offset 1"), _offset_row(self, m2, "offset 2")


class Spherical(_AtPoint):
    """A spherical (ball) joint: 3 constraints, no coordinates of its own.

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        The common point at the start [m], world axes.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return the point equation."""
        return _point_rows(self.origin)


class Revolute(_Axial):
    """A revolute joint (hinge): 5 constraints, coordinate `angle` of b relative to a [rad].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        A point on the axis at the start [m], world axes.
    axis : (3,)
        Direction of the axis at the start, world axes.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return the point equation and two dot equations."""
        return (*_point_rows(self.origin), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the angle about the axis."""
        return (_angle(self, self._across),)


class Cylindrical(_Axial):
    """A cylindrical joint: 4 constraints, coordinates `angle` [rad] and `displacement` [m].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        A point on the axis at the start [m], world axes.
    axis : (3,)
        Direction of the axis at the start, world axes.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return two offset equations and two dot equations."""
        return (*self._centred(), *self._parallel())

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the angle about the axis and the displacement along it."""
        return _angle(self, self._across), _displacement(self, self._n)


class Prismatic(_Axial):
    """A prismatic joint (slider): 5 constraints, coordinate `displacement` of b [m].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        A point on the axis at the start [m], world axes.
    axis : (3,)
        Direction of the axis at the start, world axes.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return two offset equations and three dot equations."""
        return (*self._centred(), *self._parallel(), _dot_row(self, *self._across, "turn"))

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return all three axes."""
        return self._same(*self._across, self._n)

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the displacement along the axis."""
        return (_displacement(self, self._n),)


@dataclass(frozen=True, eq=False)
class Universal(_AtPoint):
    """A universal (Cardan) joint: 4 constraints, coordinates `angle a` and `angle b` [rad].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        The common point at the start [m], world axes.
    axis_a, axis_b : (3,)
        Axes fixed in a and in b at the start, perpendicular, world axes.
    """

    axis_a: ArrayLike = LEFT_OUT
    axis_b: ArrayLike = LEFT_OUT
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {
        "point": ORIGIN,
        "axis_a": ALONG_X,
        "axis_b": ALONG_Y,
    }

    def _axes(self) -> tuple[Array, Array]:
        return unit3(self.axis_a, "Universal: axis_a"), unit3(self.axis_b, "Universal: axis_b")

    def rows(self) -> tuple[Row, ...]:
        """Return the point equation and one dot equation."""
        n_a, n_b = self._axes()
        return (*_point_rows(self.origin), _dot_row(self, n_a, n_b, "cross"))

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the rotation of axis_b about axis_a, and that of b about axis_b."""
        n_a, n_b = self._axes()
        cross = np.cross(n_a, n_b)
        pin_a, pin_b = self.a.along(n_a), self.b.along(n_b)
        first = dot(self.a.along(n_b), pin_b), dot(self.a.along(cross), pin_b)
        second = dot(self.b.along(n_a), pin_a), dot(self.b.along(cross), pin_a)
        return Freedom("angle a", ANGLE, first), Freedom("angle b", ANGLE, second)


@dataclass(frozen=True, eq=False)
class OnPlane(_AtPoint):
    """Base class of joints with a point and a plane.

    `x` is the direction of the first displacement; only its part in the plane is used. Default: any
    direction in the plane.
    """

    normal: ArrayLike = LEFT_OUT
    x: ArrayLike | None = None
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {"point": ORIGIN, "normal": ALONG_Z}

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
        """Two unit vectors in the plane at the start, right-handed with the normal."""
        if self.x is None:
            return perpendicular(self._n)
        x = unit3(self.x, f"{self.kind}: x")
        across = np.cross(self._n, x)
        if np.linalg.norm(across) < PERPENDICULAR:
            raise InputError(f"{self.kind}: x is along the normal; give a direction in the plane")
        second = unit3(across, f"{self.kind}: x")
        return three(np.cross(second, self._n)), three(second)

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the two displacements in the plane."""
        m1, m2 = self.in_plane
        return (
            _displacement(self, m1, "displacement 1"),
            _displacement(self, m2, "displacement 2"),
        )


class Planar(OnPlane):
    """A planar joint: 3 constraints, two displacements [m] in a plane of a and an angle [rad].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        A point of the plane at the start [m], world axes.
    normal : (3,)
        Normal of the plane at the start, world axes.
    x : (3,)
        Direction of the first displacement; only its part in the plane is used. Default: any
        direction in the plane.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return one offset equation and two dot equations."""
        m1, m2 = self.in_plane
        return (
            _offset_row(self, self._n, "offset"),
            _dot_row(self, self._n, m1, "tilt 1"),
            _dot_row(self, self._n, m2, "tilt 2"),
        )

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return the normal."""
        return self._same(self._n)

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return two displacements in the plane and the angle about its normal."""
        return (*super().freedoms(), _angle(self, self.in_plane))


class Weld(Joint):
    """A rigid connection: 6 constraints.

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    """

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The centre of mass of the second body, or of the first if the second is the ground.

        For markers, their origins.
        """
        at: ArrayLike = self.b.position if isinstance(self.b, Body) else self.a.position
        if self.between_markers:
            at = ORIGIN
        return self.a.on(at), self.b.on(at)

    def rows(self) -> tuple[Row, ...]:
        """Return the point equation and three dot equations."""
        return (*_point_rows(self.origin), *_turn_rows(self, *np.eye(3)))

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return all three axes."""
        return self._same(*np.eye(3))


@dataclass(frozen=True, eq=False)
class Cartesian(_AtPoint):
    """Three sliders in series without rotation: 3 constraints, three displacements [m].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        Point to which reactions refer, at the start [m], world axes.
    x, y : (3,)
        Directions of the first two displacements, fixed in a and perpendicular.
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
        """Return three dot equations."""
        return _turn_rows(self, *self._axes())

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return all three axes."""
        return self._same(*self._axes())

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the displacements."""
        return tuple(
            _displacement(self, axis, f"displacement {label}")
            for axis, label in zip(self._axes(), "xyz", strict=True)
        )


@dataclass(frozen=True, eq=False)
class Rod(Joint):
    """A massless rod of constant length between two points: 1 constraint.

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point_a, point_b : (3,)
        Its end points at the start [m], world axes.
    length : float
        Length [m]. Default: the distance of the points where bodies are added.
    """

    point_a: ArrayLike = LEFT_OUT
    point_b: ArrayLike = LEFT_OUT
    length: float | None = None
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {"point_a": ORIGIN, "point_b": ORIGIN}

    def __post_init__(self) -> None:
        """Check the length."""
        super().__post_init__()
        if self.length is not None:
            object.__setattr__(self, "length", positive(self.length, "Rod: length"))
        elif self.between_markers:
            raise InputError("Rod: length is missing; it is required between markers")

    def _vectors(self) -> list[str]:
        return ["point_a", "point_b"]

    @cached_property
    def may_be_open(self) -> bool:
        """Whether a length is given."""
        return self.length is not None

    def _places(self) -> tuple[ArrayLike, ArrayLike]:
        return self.point_a, self.point_b

    @property
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The two ends."""
        return self.a.on(self.point_a), self.b.on(self.point_b)

    def rows(self) -> tuple[Row, ...]:
        """Return the distance equation."""
        length = self.length
        if length is None:
            length = float(np.linalg.norm(np.subtract(self.point_b, self.point_a)))
        if length == 0:
            raise InputError("Rod: its two points coincide; use Spherical, or move one point")
        on_a, on_b = self.origin
        return (Row("distance", on_b - on_a, on_b - on_a, length),)


class PointOnLine(_Axial):
    """A point of b stays on a line of a: 2 constraints, coordinate `displacement` [m].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        The point at the start [m], world axes.
    axis : (3,)
        Direction of the line at the start, world axes.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return two offset equations."""
        return self._centred()

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return nothing."""
        return ()

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the displacement along the line."""
        return (_displacement(self, self._n),)


class PointOnPlane(OnPlane):
    """A point of b stays on a plane of a: 1 constraint, two displacements [m].

    Parameters
    ----------
    a, b : Body, Marker or Ground
        The connected bodies.
    point : (3,)
        The point at the start [m], world axes.
    normal : (3,)
        Normal of the plane at the start, world axes.
    x : (3,)
        Direction of the first displacement; only its part in the plane is used. Default: any
        direction in the plane.
    """

    def rows(self) -> tuple[Row, ...]:
        """Return one offset equation."""
        return (_offset_row(self, self._n, "offset"),)
