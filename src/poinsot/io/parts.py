"""Parts in a model file, as tables of their kinds.

`Shapes`, `Joints`, `Transmissions`, `Forces` and `Ports` are these tables. Points and axes are in
world axes at the start. SI units.
"""

from typing import Any, ClassVar, Literal, Optional

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from poinsot.io.entries import OneOf, Part, unexpected
from poinsot.io.inputs import (
    CamProfile,
    Elastic,
    Feedback,
    ScalarSignal,
    VectorSignal,
    Viscous,
)
from poinsot.io.numbers import Inertia, Name, Number, Pair, Relaxation, Rotation, Six, Vector

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


class Mesh(Solid):
    """What a closed mesh encloses."""

    file: str
    """Mesh file (STL, OBJ, glTF, ...), by its path relative to the folder of the model file."""
    scale: Number | Vector | None = None
    """Scale factor of lengths in the file; one number or three."""


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
    mesh: Mesh | None = None
    composite: Optional["Composite"] = None


class CompositePart(Shapes):
    """A shape, and where it is in the composite."""

    position: Vector = (0.0, 0.0, 0.0)
    """Its reference point in the axes of the composite [m]."""
    rotation: Rotation | None = None
    """How its axes are turned."""


# -- looks -----------------------------------------------------------------------------------------


class BoxLook(Part):
    """A cuboid."""

    size: Vector
    """Edges along x, y, z [m]."""


class CylinderLook(Part):
    """A cylinder along z."""

    radius: Number
    """Radius [m]."""
    length: Number
    """Length along z [m]."""


class EllipsoidLook(Part):
    """An ellipsoid."""

    semi_axes: Vector
    """Semi-axes along x, y, z [m]."""


class MeshLook(Part):
    """A mesh."""

    file: str
    """Mesh file (STL, OBJ, glTF, ...), by its path relative to the folder of the model file."""
    scale: Number | Vector | None = None
    """Scale factor of lengths in the file; one number or three."""


class Looks(OneOf):
    """What is drawn of a body, and has no mass."""

    box: BoxLook | None = None
    cylinder: CylinderLook | None = None
    ellipsoid: EllipsoidLook | None = None
    mesh: MeshLook | None = None
    position: Vector = (0.0, 0.0, 0.0)
    """Position relative to the centre of mass, in body axes [m]."""
    rotation: Rotation | None = None
    """Rotation relative to the body axes."""
    colour: str | None = None
    """Colour, '#rrggbb'; default: that of the body."""
    opacity: Number = 1.0
    """Opacity, from 0 (invisible) to 1 (opaque)."""


# -- joints ----------------------------------------------------------------------------------------


class OfBodies(Part):
    """A joint of two bodies."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""


class Joint(Part):
    """A joint of two bodies, or of two markers."""

    bodies: Pair | None = None
    """The two bodies by name; one of them may be the ground."""
    markers: Pair | None = None
    """Two markers by name instead; points and axes are then in the axes of these."""
    #: What a joint of bodies needs besides.
    needs: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _ends(cls, value: Any) -> Any:
        """Refuse bodies and markers together, and what a joint of bodies lacks."""
        if not isinstance(value, dict) or not set(value) <= set(cls.model_fields):
            return value
        given = {key for key, own in value.items() if own is not None}
        if "markers" not in given:
            missing = [key for key in ("bodies", *cls.needs) if key not in given]
            if missing:
                raise PydanticCustomError("missing_keys", "missing keys", {"missing": missing})
        elif "bodies" in given:
            raise unexpected("bodies or markers", value, "; keep one of both")
        return value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Tell editors what is needed."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        schema["oneOf"] = [{"required": ["bodies", *cls.needs]}, {"required": ["markers"]}]
        return schema


class AtPoint(Joint):
    """A joint with one common point."""

    needs: ClassVar[tuple[str, ...]] = ("point",)
    point: Vector | None = None
    """The common point [m]."""


class Axial(AtPoint):
    """A joint with a point and an axis."""

    needs: ClassVar[tuple[str, ...]] = ("point", "axis")
    axis: Vector | None = None
    """Direction of the axis, any length."""


class AtPlane(AtPoint):
    """A joint with a point and a plane."""

    needs: ClassVar[tuple[str, ...]] = ("point", "normal")
    normal: Vector | None = None
    """Normal of the plane, any length."""
    x: Vector | None = None
    """Direction of the first displacement in the plane, any length; default: any direction."""


class Universal(AtPoint):
    """A cardan joint."""

    needs: ClassVar[tuple[str, ...]] = ("point", "axis_a", "axis_b")
    axis_a: Vector | None = None
    """Axis fixed in the first body."""
    axis_b: Vector | None = None
    """Axis fixed in the second body, perpendicular to the first axis."""


class Cartesian(AtPoint):
    """A stage on three slides."""

    x: Vector | None = None
    """First axis, any length; default: that of the world."""
    y: Vector | None = None
    """Its second axis, perpendicular to the first."""


class Rod(Joint):
    """A massless rod between two points."""

    needs = ("point_a", "point_b")
    point_a: Vector | None = None
    """Its end on the first body [m]."""
    point_b: Vector | None = None
    """Its end on the second body [m]."""
    length: Number | None = None
    """Length [m]; default: the distance of its ends where bodies are added."""


class KnifeEdge(OfBodies):
    """A blade that cannot move sideways; the first body is the ground."""

    point: Vector
    """Where the blade is [m]."""
    along: Vector
    """Direction of motion, any length."""
    normal: Vector | None = None
    """Normal of the plane; default: z."""


class OnPlane(OfBodies):
    """A round body that rolls on a plane; the first body is the ground."""

    radius: Number
    """Its radius [m]."""
    centre: Vector | None = None
    """Centre [m]; default: the centre of mass."""
    point: Vector | None = None
    """A point of the plane [m]; default: the origin."""
    normal: Vector | None = None
    """Normal of the plane; default: z."""


class RollingDisc(OnPlane):
    """A disc, coin or wheel on its rim."""

    axis: Vector | None = None
    """Axis, any length; default: y."""
    sideways: bool | None = None
    """Whether sideways slip is prevented, too; default: true."""


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


# -- transmissions ---------------------------------------------------------------------------------


class Transmission(Part):
    """Coordinates of joints that move in step; joints as "joint" or "joint.freedom"."""

    ties: ClassVar[tuple[str, ...]]
    """Keys whose values are names of joints."""


class Lossy(Transmission):
    """A transmission that may lose a share of the power that it passes on."""

    efficiency: Number = 1.0
    """Output power over input power, in either direction."""
    slip: Number = 1e-3
    """Rate of the second coordinate below which the friction decreases [rad/s or m/s]."""


class Gear(Lossy):
    """A pair of gears, or any gearbox: angle a = ratio * angle b."""

    ties = ("joint_a", "joint_b")
    joint_a: Name
    """The joint that turns `ratio` times as fast as the other."""
    joint_b: Name
    """The other one."""
    ratio: Number
    """Ratio of the angles; negative for opposite directions of rotation."""


class Belt(Lossy):
    """A belt or chain that does not slip."""

    ties = ("joint_a", "joint_b")
    joint_a: Name
    """The joint of one pulley."""
    joint_b: Name
    """The joint of the other."""
    radius_a: Number
    """Radius of the pulley at a [m]."""
    radius_b: Number
    """Radius of the pulley at b [m]."""
    crossed: bool = False
    """Whether the belt is crossed, with opposite directions of rotation."""


class RackAndPinion(Lossy):
    """A pinion on a rack: displacement = radius * angle."""

    ties = ("pinion", "rack")
    pinion: Name
    """The joint that turns."""
    rack: Name
    """The joint that slides."""
    radius: Number
    """Radius of the pinion [m]; negative if the rack moves against its axis."""


class Screw(Lossy):
    """A screw: displacement = lead * angle / (2 pi)."""

    ties = ("shaft", "nut")
    shaft: Name
    """The joint that turns."""
    nut: Name | None = None
    """The joint that slides; default: the same, a cylindrical joint."""
    lead: Number
    """Displacement per turn [m]; negative for a left-hand thread."""


class Differential(Transmission):
    """A differential: angle of the input = ratio * mean angle of both sides."""

    ties = ("input", "left", "right")
    input: Name
    """The joint of the input, or of the carrier."""
    left: Name
    """The joint of one side."""
    right: Name
    """The joint of the other."""
    ratio: Number = 1.0
    """Turns of the input per turn of both sides."""


class Cam(Transmission):
    """A cam: the follower is where the profile is."""

    ties = ("cam", "follower")
    cam: Name
    """The joint of the cam."""
    follower: Name
    """The joint of the follower."""
    profile: CamProfile
    """Coordinate of the follower: a formula of that of the cam, x, or a table of both."""


class Transmissions(OneOf):
    """The kinds of transmissions."""

    gear: Gear | None = None
    belt: Belt | None = None
    rack_and_pinion: RackAndPinion | None = None
    screw: Screw | None = None
    differential: Differential | None = None
    cam: Cam | None = None


# -- forces and ports ------------------------------------------------------------------------------


class SpringDamper(Part):
    """A spring and a damper along a coordinate x with the rate v."""

    stiffness: Number | None = None
    """Stiffness of a linear spring [N/m or N m/rad]."""
    force: Elastic | None = None
    """Alternative: any force, a formula in x, positive if it decreases x."""
    potential: Elastic | None = None
    """Alternative: any energy [J], a formula in x."""
    dpotential: Elastic | None = None
    """Its derivative; default: finite differences."""
    ddpotential: Elastic | None = None
    """Its second derivative; default: finite differences."""
    damping: Number = 0.0
    """Coefficient of a linear damper [N s/m or N m s/rad]."""
    law: Viscous | None = None
    """Additional damping force, a formula in v."""
    dlaw: Viscous | None = None
    """Its derivative; default: finite differences."""


class Spring(SpringDamper):
    """A spring-damper between two points; x is their distance [m]."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""
    point_a: Vector
    """Its end on the first body [m]."""
    point_b: Vector
    """Its end on the second body [m]."""
    rest_length: Number | None = None
    """Relaxed length of a linear spring [m]; default: the length at the start."""


class JointSpring(SpringDamper):
    """A spring-damper on a free direction of a joint; x is its angle [rad] or displacement [m]."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """Name of the coordinate, if the joint has several."""
    rest: Number = 0.0
    """Where a linear spring is without force."""


class JointFriction(Part):
    """Friction on a free direction of a joint, against its rate [rad/s or m/s]."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """Name of the coordinate, if the joint has several."""
    coulomb: Number = 0.0
    """Dry friction [N m or N]."""
    slip: Number = 1e-3
    """Rate below which dry friction fades [rad/s or m/s]."""
    viscous: Number = 0.0
    """Friction over the rate [N m s/rad or N s/m]."""
    quadratic: Number = 0.0
    """Friction over the square of the rate [N m s^2/rad^2 or N s^2/m^2]."""


class JointStop(Part):
    """Limits of a free direction of a joint, which push back beyond them and never pull."""

    joint: Name
    """The joint by name."""
    freedom: str | None = None
    """Name of the coordinate, if the joint has several."""
    stiffness: Number
    """Force over the depth of the contact [N m/rad or N/m]."""
    lower: Number | None = None
    """Lower limit [rad or m]."""
    upper: Number | None = None
    """Upper limit [rad or m]."""
    damping: Number = 0.0
    """Force over depth and rate [N m s/rad^2 or N s/m^2]."""


class Gravitation(Part):
    """Attraction by the inverse square of the distance of two centres of mass."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""
    strength: Number | None = None
    """k of the force k/r^2 [N m^2]; default: Newton's constant times both masses."""
    centre: Vector | None = None
    """Where the ground attracts [m]; the origin if left out."""


class Bushing(Part):
    """An elastic and viscous connection of two bodies in all directions."""

    bodies: Pair
    """The two bodies by name; one of them may be the ground."""
    point: Vector
    """Where it is [m]."""
    stiffness: Six | None = None
    """Of three displacements [N/m] and three rotations [N m/rad]: six numbers or a 6x6 matrix."""
    damping: Six | None = None
    """Of their rates [N s/m], [N m s/rad], likewise."""
    rotation: Rotation | None = None
    """Its axes at the start; default: those of the world."""
    relaxation: Relaxation | None = None
    """Maxwell elements beside it: stiffness of each over its own, and relaxation time [s]."""


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
    joint_stop: JointStop | None = None
    drag: Drag | None = None
    gravitation: Gravitation | None = None
    bushing: Bushing | None = None


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
    published: bool = False
    """Put it in as [LKB26, eq. (32)] does."""


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
    """Name of the coordinate, if the joint has several."""
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
    """Name of the coordinate, if the joint has several."""
    rate: ScalarSignal | None = None
    """Its rate instead [rad/s or m/s]: a number, a formula of t, or a table."""


class BodyDrive(Part):
    """A prescribed motion of a body along a path."""

    body: Name
    """The body by name."""
    position: VectorSignal | None = None
    """Where its point is [m]: numbers, formulas of t, or a table; left out: free."""
    rotation: Rotation | None = None
    """How it is turned, for good."""
    axis: Vector | None = None
    """Direction of the world that it turns about instead, any length."""
    angle: ScalarSignal | None = None
    """By how much about that axis, since the start [rad]: a number, a formula of t, or a table."""
    sequence: str | None = None
    """Axes of Euler angles instead, such as ZXZ."""
    angles: VectorSignal | None = None
    """Euler angles [rad]: numbers, formulas of t, or a table."""
    point: Vector | None = None
    """Which point is led, where it is at the start [m]; default: the centre of mass."""


class Ports(OneOf):
    """The kinds of ports."""

    force: ForcePort | None = None
    torque: TorquePort | None = None
    joint: JointPort | None = None
    drive: Drive | None = None
    body_drive: BodyDrive | None = None
