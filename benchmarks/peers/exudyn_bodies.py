"""Exudyn in redundant coordinates: rigid bodies in space, joints as algebraic constraints."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanism import GROUND, Array, Joint, Mechanism, frame_along
from benchmarks.peers.exudyn_module import exu


def build_bodies(system: Any, mechanism: Mechanism, rotation: str) -> Callable[[], Array]:
    """Build bodies, joints and springs; return what reads the positions."""
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    items = {GROUND: system.CreateGround()}
    nodes = []
    for body in mechanism.bodies:
        made = system.CreateRigidBody(
            referencePosition=body.position,
            referenceRotationMatrix=body.rotation,
            initialVelocity=body.velocity,
            initialAngularVelocity=body.angular_velocity,
            inertia=RigidBodyInertia(mass=body.mass, inertiaTensor=np.diag(body.inertia)),
            gravity=mechanism.gravity,
            nodeType=getattr(exu.NodeType, rotation),
            returnDict=True,
        )
        items[body.name] = made["bodyNumber"]
        nodes.append(made["nodeNumber"])
    for joint in mechanism.joints:
        _add_joint(system, joint, [items[joint.a], items[joint.b]], mechanism)
    _add_springs(system, items, mechanism)
    position = exu.OutputVariableType.Position
    return lambda: np.array([system.GetNodeOutput(node, position) for node in nodes])


def _add_joint(system: Any, joint: Joint, items: list[Any], mechanism: Mechanism) -> None:
    match joint.kind:
        case "spherical":
            system.CreateSphericalJoint(itemNumbers=items, position=joint.point)
        case "revolute":
            system.CreateRevoluteJoint(itemNumbers=items, position=joint.point, axis=joint.axis)
        case "prismatic":
            system.CreatePrismaticJoint(itemNumbers=items, position=joint.point, axis=joint.axis)
        case "universal":
            # A locked rotation about x keeps y of the first and z of the second body perpendicular.
            y, z = joint.axis, joint.axis_b
            system.CreateGenericJoint(
                itemNumbers=items,
                position=joint.point,
                rotationMatrixAxes=np.column_stack([np.cross(y, z), y, z]),
                constrainedAxes=[1, 1, 1, 1, 0, 0],
            )
        case "pin":
            system.CreateGenericJoint(
                itemNumbers=items,
                position=joint.point,
                rotationMatrixAxes=np.roll(frame_along(joint.axis), -1, axis=1),
                constrainedAxes=[1, 1, 0, 0, 0, 0],
            )
        case "rod":
            system.CreateDistanceConstraint(
                itemNumbers=items,
                localPosition0=mechanism.local(joint.a, joint.point),
                localPosition1=mechanism.local(joint.b, joint.point_b),
            )
        case _:
            raise ValueError(f"no joint '{joint.kind}' in Exudyn")


def _add_springs(system: Any, items: dict[str, Any], mechanism: Mechanism) -> None:
    for spring in mechanism.springs:
        system.CreateSpringDamper(
            itemNumbers=[items[spring.a], items[spring.b]],
            localPosition0=mechanism.local(spring.a, spring.point_a),
            localPosition1=mechanism.local(spring.b, spring.point_b),
            referenceLength=spring.rest_length,
            stiffness=spring.stiffness,
            damping=spring.damping,
        )
    joints = {joint.name: joint for joint in mechanism.joints}
    for torsion in mechanism.torsion_springs:
        joint = joints[torsion.joint]
        system.CreateTorsionalSpringDamper(
            itemNumbers=[items[joint.a], items[joint.b]],
            position=joint.point,
            axis=joint.axis,
            stiffness=torsion.stiffness,
            damping=torsion.damping,
            unlimitedRotations=False,
        )
