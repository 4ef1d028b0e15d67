"""Exudyn in joint coordinates: its kinematic tree, which knows hinges and slides only.

The frame of a link lies at its joint, with the axis of the hinge along z.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.mechanism import GROUND, Array, Mechanism, frame_along
from benchmarks.peers.exudyn_module import exu


def fits_tree(mechanism: Mechanism) -> bool:
    """Whether a mechanism is a tree of hinges without springs, bodies in the order of the tree."""
    hinged = all(joint.kind == "revolute" for joint in mechanism.joints)
    bare = not (mechanism.loops or mechanism.springs or mechanism.torsion_springs)
    return hinged and bare and len(mechanism.tree) == len(mechanism.bodies)


def build_tree(system: Any, mechanism: Mechanism) -> Callable[[], Array]:
    """Build one kinematic tree; return what reads the positions."""
    from exudyn import itemInterface as items

    index = {body.name: i for i, body in enumerate(mechanism.bodies)}
    joints = [mechanism.tree[body.name] for body in mechanism.bodies]
    parents = [-1 if joint.a == GROUND else index[joint.a] for joint in joints]
    # Axes of the links at the start, in the world: the last column along the hinge.
    axes = [np.roll(frame_along(joint.axis), -1, axis=1) for joint in joints]
    turns, offsets, centres, speeds = [], [], [], []
    tensors = []
    for i, (body, joint) in enumerate(zip(mechanism.bodies, joints, strict=True)):
        R, p = axes[i], parents[i]
        R_parent, origin, omega = np.eye(3), np.zeros(3), np.zeros(3)
        if p >= 0:
            R_parent, origin = axes[p], joints[p].point
            omega = mechanism.bodies[p].angular_velocity
        turns.append(R_parent.T @ R)
        offsets.append(R_parent.T @ (joint.point - origin))
        centres.append(R.T @ (body.position - joint.point))
        R_link = R.T @ body.rotation
        tensors.append(R_link @ np.diag(body.inertia) @ R_link.T)
        speeds.append(float(R[:, 2] @ (body.angular_velocity - omega)))
    count = len(joints)
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * count,
            initialCoordinates=[0.0] * count,
            initialCoordinates_t=speeds,
            numberOfODE2Coordinates=count,
        )
    )
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=mechanism.gravity,
            jointTypes=[exu.JointType.RevoluteZ] * count,
            linkParents=parents,
            jointTransformations=_listed(exu.Matrix3DList(), turns),
            jointOffsets=_listed(exu.Vector3DList(), offsets),
            linkInertiasCOM=_listed(exu.Matrix3DList(), tensors),
            linkCOMs=_listed(exu.Vector3DList(), centres),
            linkMasses=[body.mass for body in mechanism.bodies],
        )
    )
    coordinates = exu.OutputVariableType.Coordinates

    def positions() -> Array:
        angles = np.atleast_1d(system.GetNodeOutput(node, coordinates))
        frames: list[tuple[Array, Array]] = []
        for i, p in enumerate(parents):
            R, r = frames[p] if p >= 0 else (np.eye(3), np.zeros(3))
            c, s = np.cos(angles[i]), np.sin(angles[i])
            turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
            frames.append((R @ turns[i] @ turn, r + R @ offsets[i]))
        return np.array([r + R @ centres[i] for i, (R, r) in enumerate(frames)])

    return positions


def _listed(made: Any, values: list[Array]) -> Any:
    """Fill one of Exudyn's own lists."""
    for value in values:
        made.Append(value)
    return made
