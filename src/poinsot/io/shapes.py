"""Shapes of a model file; the class `Shapes` is the table of their kinds. SI units."""

from typing import Optional

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import Inertia, Number, Vector
from poinsot.io.rotations import Rotation


class Solid(Part):
    """A homogeneous shape: give its mass or its density."""

    mass: Number | None = None
    """Mass [kg]."""
    density: Number | None = None
    """Density [kg/m^3]."""


class Box(Solid):
    """A cuboid."""

    size: Vector
    """Edges along x, y, z [m]."""


class Cylinder(Solid):
    """A cylinder along z."""

    radius: Number
    """Radius [m]."""
    length: Number
    """Length along z [m]."""


class HollowCylinder(Solid):
    """A tube along z."""

    inner_radius: Number
    """Inner radius [m]."""
    outer_radius: Number
    """Outer radius [m]."""
    length: Number
    """Length along z [m]."""


class Sphere(Solid):
    """A ball."""

    radius: Number
    """Radius [m]."""


class Cone(Solid):
    """A cone, its apex on the positive z axis."""

    radius: Number
    """Radius of the base [m]."""
    height: Number
    """Height along z [m]."""


class Ellipsoid(Solid):
    """An ellipsoid."""

    semi_axes: Vector
    """Semi-axes along x, y, z [m]."""


class ThinRod(Part):
    """A rod along z without thickness."""

    mass: Number
    """Mass [kg]."""
    length: Number
    """Length along z [m]."""


class PointMass(Part):
    """A mass without extension."""

    mass: Number
    """Mass [kg]."""


class RigidBody(Part):
    """A body known by its mass and inertia alone."""

    mass: Number
    """Mass [kg]."""
    inertia: Inertia
    """Three principal values or a 3x3 tensor about the centre of mass [kg m^2]."""
    frame: Rotation | None = None
    """Rotation of the axes in which the inertia is given."""


class Composite(Part):
    """Shapes joined to one rigid body."""

    parts: list["CompositePart"]
    """The shapes and their places."""


class Shapes(OneOf):
    """The kinds of shapes."""

    box: Box | None = None
    cylinder: Cylinder | None = None
    hollow_cylinder: HollowCylinder | None = None
    sphere: Sphere | None = None
    cone: Cone | None = None
    ellipsoid: Ellipsoid | None = None
    thin_rod: ThinRod | None = None
    point_mass: PointMass | None = None
    rigid_body: RigidBody | None = None
    composite: Optional["Composite"] = None


class CompositePart(Shapes):
    """A shape, and where it is in the composite."""

    position: Vector = (0.0, 0.0, 0.0)
    """Its reference point in the axes of the composite [m]."""
    rotation: Rotation | None = None
    """How its axes are turned."""
