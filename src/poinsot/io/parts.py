"""Parts of a model file; `Shapes`, `Joints`, `Forces` and `Ports` are the tables of their kinds.

Points and axes in world axes at the start. SI units.
"""

from typing import Literal, Optional

from poinsot.io.entries import OneOf, Part
from poinsot.io.inputs import Elastic, Feedback, ScalarSignal, VectorSignal, Viscous
from poinsot.io.numbers import Elements, Held, Inertia, Name, Number, Pair, Rotation, Vector

# -- shapes ----------------------------------------------------------------------------------------


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


class Circle(Part):
    """A round cross-section."""

    radius: Number
    """Radius [m]."""
    inner_radius: Number | None = None
    """Radius of the hole of a tube [m]."""


class Rectangle(Part):
    """A rectangular cross-section."""

    width_y: Number
    """Edge along y [m]."""
    width_z: Number
    """Edge along z [m]."""


class Section(Part):
    """Any cross-section in its principal axes."""

    area: Number
    """Area [m^2]."""
    second_moment_y: Number
    """Integral of z^2, which resists deflection in z [m^4]."""
    second_moment_z: Number
    """Integral of y^2, which resists deflection in y [m^4]."""
    torsion_constant: Number | None = None
    """Torsional stiffness over shear modulus [m^4]; the sum of both second moments if left out."""
    polar_moment: Number | None = None
    """Integral of y^2 + z^2 [m^4]; the sum of both second moments if left out."""


class Sections(OneOf):
    """The kinds of cross-sections."""

    circle: Circle | None = None
    rectangle: Rectangle | None = None
    general: Section | None = None


class Beam(Part):
    """An elastic beam along x; things attach to its places name.start, name.1, ..., name.end."""

    length: Number
    """Length along x [m]."""
    section: Sections
    """Cross-section."""
    density: Number
    """Density [kg/m^3]."""
    youngs_modulus: Number
    """Young's modulus [Pa]."""
    shear_modulus: Number | None = None
    """Shear modulus [Pa]; Young's modulus over 2.6 if left out."""
    elements: Elements | None = None
    """Number of elements, 4 if left out, or the places of all nodes from 0 to the length [m]."""
    held: Held | None = None
    """clamped-free (default), simply supported, or pairs such as [0, u_x]."""
    momenta: Literal["deformed", "undeformed"] | None = None
    """Whether momenta depend on the deformation; they do if left out."""
    stiffening: bool | None = None
    """Whether axial forces stiffen a bent beam; they do not if left out."""
    planar: bool | None = None
    """Whether it bends in y only."""
    start_mass: Number | None = None
    """Point mass at its start [kg]."""
    end_mass: Number | None = None
    """Point mass at its end [kg]."""
    damping: Number | None = None
    """Damping, so many times the stiffness [s]."""
    rotary_inertia: bool | None = None
    """Whether sections that turn in bending have inertia."""

    @property
    def nodes(self) -> int:
        """How many places it has."""
        if isinstance(self.elements, tuple):
            return len(self.elements)
        return 1 + (4 if self.elements is None else max(self.elements, 0))


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


# -- joints ----------------------------------------------------------------------------------------


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


# -- forces and ports ------------------------------------------------------------------------------


class SpringDamper(Part):
    """A spring and a damper along a coordinate x with the rate v."""

    stiffness: Number | None = None
    """Of a linear spring [N/m or N m/rad]."""
    force: Elastic | None = None
    """Any force instead, a formula of x, positive where it pulls back."""
    potential: Elastic | None = None
    """Any energy instead [J], a formula of x."""
    dpotential: Elastic | None = None
    """Its derivative; by finite differences if left out."""
    ddpotential: Elastic | None = None
    """Its second derivative; by finite differences if left out."""
    damping: Number = 0.0
    """Of a linear damper [N s/m or N m s/rad]."""
    law: Viscous | None = None
    """Any damping force besides, a formula of v."""
    dlaw: Viscous | None = None
    """Its derivative; by finite differences if left out."""


class Spring(SpringDamper):
    """A spring-damper between two points; x is their distance [m]."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""
    point_a: Vector
    """Its end on the first body [m]."""
    point_b: Vector
    """Its end on the second body [m]."""
    rest_length: Number | None = None
    """Of a linear spring [m]; default: the length at the start."""


class JointSpring(SpringDamper):
    """A spring-damper on a free direction of a joint; x is its angle [rad] or displacement [m]."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """The free direction, where the joint has several."""
    rest: Number = 0.0
    """Where a linear spring is without force."""


class JointFriction(Part):
    """Friction on a free direction of a joint, against its rate [rad/s or m/s]."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """The free direction, where the joint has several."""
    coulomb: Number = 0.0
    """Dry friction [N m or N]."""
    slip: Number = 1e-3
    """Rate below which dry friction fades [rad/s or m/s]."""
    viscous: Number = 0.0
    """Friction over the rate [N m s/rad or N s/m]."""
    quadratic: Number = 0.0
    """Friction over the square of the rate [N m s^2/rad^2 or N s^2/m^2]."""


class Gravitation(Part):
    """Attraction by the inverse square of the distance of two centres of mass."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""
    strength: Number | None = None
    """k of the force k/r^2 [N m^2]; default: Newton's constant times both masses."""
    centre: Vector | None = None
    """Where the ground attracts [m]; the origin if left out."""


class Drag(Part):
    """Drag on a body in a medium at rest."""

    body: Name
    """The body by name."""
    point: Vector | None = None
    """Where the force acts [m]; default: the centre of mass."""
    viscous: Number = 0.0
    """Force over the velocity of the point [N s/m]."""
    quadratic: Number = 0.0
    """Force over the square of that velocity [N s^2/m^2]."""
    angular_viscous: Number = 0.0
    """Torque over the angular velocity [N m s/rad]."""
    angular_quadratic: Number = 0.0
    """Torque over the square of the angular velocity [N m s^2/rad^2]."""


class Forces(OneOf):
    """The kinds of forces."""

    spring: Spring | None = None
    joint_spring: JointSpring | None = None
    joint_friction: JointFriction | None = None
    drag: Drag | None = None
    gravitation: Gravitation | None = None


class ForcePort(Part):
    """A force at a point of a body."""

    body: Name
    """The body by name."""
    point: Vector | None = None
    """Where it acts [m]; default: the centre of mass."""
    axes: Literal["world", "body"] = "world"
    """Axes of the components."""
    value: VectorSignal | None = None
    """The force [N]: numbers, formulas of t, or a table; default: the port is open."""


class TorquePort(Part):
    """A torque on a body."""

    body: Name
    """The body by name."""
    axes: Literal["world", "body"] = "world"
    """Axes of the components."""
    value: VectorSignal | None = None
    """The torque [N m]: numbers, formulas of t, or a table; default: the port is open."""
    published: bool = False
    """Use the directors as [LKB26, eq. (32)] does."""


class JointPort(Part):
    """A motor on a free direction of a joint."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """The free direction, where the joint has several."""
    value: ScalarSignal | None = None
    """Torque [N m] or force [N]: a number, a formula of t, or a table."""
    law: Feedback | None = None
    """Torque or force as a formula of t, coordinate x and rate v instead."""


class Drive(Part):
    """A prescribed motion of a free direction of a joint."""

    joint: Name
    """The joint by name."""
    coordinate: ScalarSignal | None = None
    """Angle [rad] or displacement [m] from the start on: a formula of t, or a table."""
    freedom: str | None = None
    """The free direction, where the joint has several."""
    rate: ScalarSignal | None = None
    """Its rate instead [rad/s or m/s]: a number, a formula of t, or a table."""


class Ports(OneOf):
    """The kinds of ports."""

    force: ForcePort | None = None
    torque: TorquePort | None = None
    joint: JointPort | None = None
    drive: Drive | None = None
