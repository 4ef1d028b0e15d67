"""Kinds of parts in a model file and their classes: one row for each.

The keys of a kind are the arguments of its class, except `bodies`, which names the two bodies of a
joint or spring.
"""

from poinsot.bodies import shapes
from poinsot.bodies.beam import Beam
from poinsot.bodies.meshes import Mesh
from poinsot.elements import sections
from poinsot.io.variables import OF_COORDINATE, OF_MOTION, OF_RATE, OF_TIME
from poinsot.parts import joints, rolling, transmissions
from poinsot.parts.body_drives import BodyDrive
from poinsot.parts.bushings import Bushing
from poinsot.parts.drags import Drag
from poinsot.parts.drives import Drive
from poinsot.parts.forces import Force, JointSpring, Spring
from poinsot.parts.friction import JointFriction
from poinsot.parts.gravitation import Gravitation
from poinsot.parts.joint import Joint
from poinsot.parts.loads import ForcePort, JointPort, PortPlace, TorquePort
from poinsot.parts.stops import JointStop

SHAPES: dict[str, type[shapes.Shape]] = {
    "box": shapes.Box,
    "cylinder": shapes.Cylinder,
    "hollow_cylinder": shapes.HollowCylinder,
    "sphere": shapes.Sphere,
    "cone": shapes.Cone,
    "ellipsoid": shapes.Ellipsoid,
    "thin_rod": shapes.ThinRod,
    "point_mass": shapes.PointMass,
    "rigid_body": shapes.RigidBody,
    "mesh": Mesh,
    "composite": shapes.Composite,
    "beam": Beam,
}

SECTIONS: dict[str, type[sections.CrossSection]] = {
    "circular": sections.CircularSection,
    "rectangular": sections.RectangularSection,
    "constants": sections.Section,
    "law": sections.SectionLaw,
}

JOINTS: dict[str, type[Joint]] = {
    "spherical": joints.Spherical,
    "revolute": joints.Revolute,
    "cylindrical": joints.Cylindrical,
    "prismatic": joints.Prismatic,
    "universal": joints.Universal,
    "planar": joints.Planar,
    "cartesian": joints.Cartesian,
    "weld": joints.Weld,
    "rod": joints.Rod,
    "point_on_line": joints.PointOnLine,
    "point_on_plane": joints.PointOnPlane,
    "knife_edge": rolling.KnifeEdge,
    "rolling_disc": rolling.RollingDisc,
    "rolling_sphere": rolling.RollingSphere,
}

TRANSMISSIONS: dict[str, type[transmissions.Transmission]] = {
    "gear": transmissions.Gear,
    "belt": transmissions.Belt,
    "rack_and_pinion": transmissions.RackAndPinion,
    "screw": transmissions.Screw,
    "differential": transmissions.Differential,
    "cam": transmissions.Cam,
}

FORCES: dict[str, type[Force]] = {
    "spring": Spring,
    "joint_spring": JointSpring,
    "joint_friction": JointFriction,
    "joint_stop": JointStop,
    "drag": Drag,
    "gravitation": Gravitation,
    "bushing": Bushing,
}

PORTS: dict[str, type[PortPlace]] = {
    "force": ForcePort,
    "torque": TorquePort,
    "joint": JointPort,
    "drive": Drive,
    "body_drive": BodyDrive,
}

_SPRING = {
    **dict.fromkeys(("force", "potential", "dpotential", "ddpotential"), OF_COORDINATE),
    **dict.fromkeys(("law", "dlaw"), OF_RATE),
}

#: Kind -> keys that hold functions -> variables of their formulas.
FUNCTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "spring": _SPRING,
    "joint_spring": _SPRING,
    "force": {"value": OF_TIME},
    "torque": {"value": OF_TIME},
    "joint": {"value": OF_TIME, "law": OF_MOTION},
    "drive": {"coordinate": OF_TIME, "rate": OF_TIME},
    "body_drive": dict.fromkeys(("position", "angle", "angles"), OF_TIME),
    "cam": {"profile": OF_COORDINATE},
}
