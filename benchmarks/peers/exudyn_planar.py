"""Exudyn in the plane: bodies with three coordinates, hinges with two equations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanism import GROUND, Array, Mechanism
from benchmarks.peers.exudyn_module import exu


def build_planar(system: Any, mechanism: Mechanism) -> Callable[[], Array]:
    """Build bodies and hinges in the plane of x and y; return what reads the positions."""
    from exudyn import itemInterface as items

    objects = {GROUND: system.CreateGround()}
    nodes = []
    for body in mechanism.bodies:
        angle = np.arctan2(body.rotation[1, 0], body.rotation[0, 0])
        node = system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[*body.position[:2], angle],
                initialVelocities=[*body.velocity[:2], body.angular_velocity[2]],
            )
        )
        objects[body.name] = system.AddObject(
            items.ObjectRigidBody2D(mass=body.mass, inertia=body.inertia[2], nodeNumber=node)
        )
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=objects[body.name]))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=mechanism.gravity))
        nodes.append(node)
    for joint in mechanism.joints:
        markers = [
            system.AddMarker(
                items.MarkerBodyPosition(
                    bodyNumber=objects[name], localPosition=mechanism.local(name, joint.point)
                )
            )
            for name in (joint.a, joint.b)
        ]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
    position = exu.OutputVariableType.Position
    return lambda: np.array([system.GetNodeOutput(node, position) for node in nodes])
