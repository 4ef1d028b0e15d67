"""The parts a mechanism is made of: inertia, bodies, joints, forces, ports."""

from poinsot.mechanics.bodies import Body, Ground, Marker
from poinsot.mechanics.dissipation import Drag, JointFriction
from poinsot.mechanics.feedback import Motion
from poinsot.mechanics.forces import Field, JointSpring, Spring, SpringDamper
from poinsot.mechanics.inertia import (
    Box,
    Composite,
    Cone,
    Cylinder,
    Ellipsoid,
    HollowCylinder,
    PointMass,
    RigidBody,
    Shape,
    Sphere,
    ThinRod,
)
from poinsot.mechanics.joints import (
    Cylindrical,
    Joint,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
    Universal,
    Weld,
)
from poinsot.mechanics.loads import ForcePort, JointPort, TorquePort
from poinsot.mechanics.pairs import KinematicPair, external_ports, free_body, internal_ports
from poinsot.mechanics.rolling import KnifeEdge, RollingDisc, RollingSphere

__all__ = [
    "Body",
    "Box",
    "Composite",
    "Cone",
    "Cylinder",
    "Cylindrical",
    "Drag",
    "Ellipsoid",
    "Field",
    "ForcePort",
    "Ground",
    "HollowCylinder",
    "Joint",
    "JointFriction",
    "JointPort",
    "JointSpring",
    "KinematicPair",
    "KnifeEdge",
    "Marker",
    "Motion",
    "Planar",
    "PointMass",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "RigidBody",
    "Rod",
    "RollingDisc",
    "RollingSphere",
    "Shape",
    "Sphere",
    "Spherical",
    "Spring",
    "SpringDamper",
    "ThinRod",
    "TorquePort",
    "Universal",
    "Weld",
    "external_ports",
    "free_body",
    "internal_ports",
]
