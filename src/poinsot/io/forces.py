"""Forces and ports of a model file; the classes `Forces` and `Ports` are the tables of kinds.

Points in world axes at the start. SI units.
"""

from typing import Literal

from poinsot.io.entries import OneOf, Part
from poinsot.io.inputs import Elastic, Feedback, ScalarSignal, VectorSignal, Viscous
from poinsot.io.numbers import Name, Number, Pair, Vector


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


class Ports(OneOf):
    """The kinds of ports."""

    force: ForcePort | None = None
    torque: TorquePort | None = None
    joint: JointPort | None = None
