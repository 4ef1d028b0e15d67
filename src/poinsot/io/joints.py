"""Joints of a model file; the class `Joints` is the table of their kinds.

Points and axes in world axes at the start.
"""

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import Number, Pair, Vector


class Joint(Part):
    """A joint of two bodies."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""


class AtPoint(Joint):
    """A joint with one common point."""

    point: Vector
    """The common point [m]."""


class Axial(AtPoint):
    """A joint with a point and an axis."""

    axis: Vector
    """Direction of the axis, any length."""


class AtPlane(AtPoint):
    """A joint with a point and a plane."""

    normal: Vector
    """Normal of the plane, any length."""


class Universal(AtPoint):
    """A cardan joint."""

    axis_a: Vector
    """Axis fixed in the first body."""
    axis_b: Vector
    """Axis fixed in the second body, perpendicular to the first axis."""


class Cartesian(AtPoint):
    """A stage on three slides."""

    x: Vector | None = None
    """Its first axis, any length; that of the world if left out."""
    y: Vector | None = None
    """Its second axis, perpendicular to the first."""


class Rod(Joint):
    """A massless rod between two points."""

    point_a: Vector
    """Its end on the first body [m]."""
    point_b: Vector
    """Its end on the second body [m]."""


class KnifeEdge(Joint):
    """A blade that cannot move sideways; the first body is the ground."""

    point: Vector
    """Where the blade is [m]."""
    along: Vector
    """Where it can go, any length."""
    normal: Vector | None = None
    """Normal of the plane; upwards along z if left out."""


class OnPlane(Joint):
    """A round body that rolls on a plane; the first body is the ground."""

    radius: Number
    """Its radius [m]."""
    centre: Vector | None = None
    """Its centre [m]; the centre of mass if left out."""
    point: Vector | None = None
    """A point of the plane [m]; the origin if left out."""
    normal: Vector | None = None
    """Normal of the plane; upwards along z if left out."""


class RollingDisc(OnPlane):
    """A disc, coin or wheel on its rim."""

    axis: Vector | None = None
    """Its axis, any length; along y if left out."""
    sideways: bool | None = None
    """Whether it grips sideways, too; it does if left out."""


class Joints(OneOf):
    """The kinds of joints."""

    spherical: AtPoint | None = None
    revolute: Axial | None = None
    cylindrical: Axial | None = None
    prismatic: Axial | None = None
    universal: Universal | None = None
    planar: AtPlane | None = None
    cartesian: Cartesian | None = None
    weld: Joint | None = None
    rod: Rod | None = None
    point_on_line: Axial | None = None
    point_on_plane: AtPlane | None = None
    knife_edge: KnifeEdge | None = None
    rolling_disc: RollingDisc | None = None
    rolling_sphere: OnPlane | None = None
