"""MuJoCo: a tree in joint coordinates; loops are closed by its soft equality constraints.

Contacts, limits, friction and sensors are off. A soft constraint cannot be made exact: it is given
the least time constant that MuJoCo calls safe, two steps, and an impedance close to one.
"""

from typing import Any

import mujoco
import numpy as np

from benchmarks.mechanism import GROUND, Array, Body, Joint, Mechanism
from benchmarks.peers.simulation import Run, StoppedError, spent

#: Impedance of the loop constraints; one would be rigid.
IMPEDANCE = 0.9999
#: Its compiler gives up on deeper trees: "depth limit exceeded in signature computation".
DEPTH = 1023
INTEGRATORS = {
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
UNUSED = (
    mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    | mujoco.mjtDisableBit.mjDSBL_SENSOR
    | mujoco.mjtDisableBit.mjDSBL_AUTORESET
)


class MujocoSimulation:
    """A mechanism in MuJoCo; a run is one call of `mj_step`."""

    def __init__(self, mechanism: Mechanism, h: float, integrator: str = "RK4") -> None:
        if mechanism.depth > DEPTH:
            raise StoppedError(f"MuJoCo takes no tree deeper than {DEPTH} bodies")
        self.note = "soft loops" if mechanism.loops else ""
        spec = build(mechanism, h)
        spec.option.timestep = h
        spec.option.integrator = INTEGRATORS[integrator]
        spec.option.disableflags = int(UNUSED)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.speeds = _speeds(mechanism, self.model)
        self.ids = [self.model.body(body.name).id for body in mechanism.bodies]

    def run(self, steps: int) -> Run:
        """Simulate from the start."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[:] = self.speeds
        seconds = spent(lambda: mujoco.mj_step(self.model, self.data, nstep=steps))
        if any(warning.number for warning in self.data.warning):
            raise StoppedError("MuJoCo warned of a bad state")
        mujoco.mj_kinematics(self.model, self.data)
        return Run(seconds, self.data.xpos[self.ids].copy())


def build(mechanism: Mechanism, h: float) -> Any:
    """Build tree, loops and springs; the frame of a body is at its centre of mass."""
    spec = mujoco.MjSpec()
    spec.option.gravity = mechanism.gravity
    made = {GROUND: spec.worldbody}
    for body in _parents_first(mechanism):
        joint = mechanism.tree.get(body.name)
        made[body.name] = _add_body(made[joint.a if joint else GROUND], body, joint, mechanism)
    joints = {joint.name: joint for joint in mechanism.joints}
    for torsion in mechanism.torsion_springs:
        hinge = made[joints[torsion.joint].b].joints[0]
        hinge.stiffness[0], hinge.damping[0] = torsion.stiffness, torsion.damping
    for loop in mechanism.loops:
        _close(spec, made, loop, mechanism, h)
    for spring in mechanism.springs:
        ends = ((spring.a, spring.point_a), (spring.b, spring.point_b))
        tendon = _tendon(spec, made, spring.name, ends, mechanism)
        tendon.stiffness[0], tendon.damping[0] = spring.stiffness, spring.damping
        tendon.springlength = [spring.rest_length, spring.rest_length]
    return spec


def _parents_first(mechanism: Mechanism) -> list[Body]:
    """Return the bodies in an order in which every parent comes before its children."""
    children: dict[str, list[Body]] = {}
    for body in mechanism.bodies:
        joint = mechanism.tree.get(body.name)
        children.setdefault(joint.a if joint else GROUND, []).append(body)
    ordered, waiting = [], list(reversed(children.get(GROUND, [])))
    while waiting:
        body = waiting.pop()
        ordered.append(body)
        waiting.extend(reversed(children.get(body.name, [])))
    return ordered


def _add_body(parent: Any, body: Body, joint: Joint | None, mechanism: Mechanism) -> Any:
    position, rotation = mechanism.frame(joint.a if joint else GROUND)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, (rotation.T @ body.rotation).ravel())
    made = parent.add_body(
        name=body.name,
        pos=rotation.T @ (body.position - position),
        quat=quat,
        mass=body.mass,
        inertia=body.inertia,
        ipos=(0.0, 0.0, 0.0),
        iquat=(1.0, 0.0, 0.0, 0.0),
        explicitinertial=True,
    )
    if joint is None:
        made.add_freejoint()
        return made
    kinds = mujoco.mjtJoint
    at = mechanism.local(body.name, joint.point)
    axis, axis_b = body.rotation.T @ joint.axis, body.rotation.T @ joint.axis_b
    match joint.kind:
        case "spherical":
            made.add_joint(type=kinds.mjJNT_BALL, pos=at)
        case "revolute":
            made.add_joint(type=kinds.mjJNT_HINGE, pos=at, axis=axis)
        case "universal":
            made.add_joint(type=kinds.mjJNT_HINGE, pos=at, axis=axis)
            made.add_joint(type=kinds.mjJNT_HINGE, pos=at, axis=axis_b)
        case "prismatic":
            made.add_joint(type=kinds.mjJNT_SLIDE, pos=at, axis=axis)
    return made


def _close(spec: Any, made: Any, joint: Joint, mechanism: Mechanism, h: float) -> None:
    """Close a loop: a common point, or a fixed distance."""
    if joint.kind in ("spherical", "pin"):
        a, b = (joint.b, joint.a) if joint.a == GROUND else (joint.a, joint.b)
        equality = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            name1=a,
            name2="world" if b == GROUND else b,
        )
        equality.data[:3] = mechanism.local(a, joint.point)
    elif joint.kind == "rod":
        ends = ((joint.a, joint.point), (joint.b, joint.point_b))
        _tendon(spec, made, joint.name, ends, mechanism)
        equality = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_TENDON, objtype=mujoco.mjtObj.mjOBJ_TENDON, name1=joint.name
        )
    else:
        raise ValueError(f"no loop in MuJoCo is closed by a joint '{joint.kind}'")
    equality.solref[:] = 2 * h, 1.0
    equality.solimp[:3] = IMPEDANCE, IMPEDANCE, 1e-3


def _tendon(spec: Any, made: Any, name: str, ends: Any, mechanism: Mechanism) -> Any:
    tendon = spec.add_tendon(name=name)
    for k, (body, point) in enumerate(ends):
        site = made[body].add_site(name=f"{name}.{k}", pos=mechanism.local(body, point))
        tendon.wrap_site(site.name)
    return tendon


def _speeds(mechanism: Mechanism, model: Any) -> Array:
    """Return the joint velocities at the start."""
    speeds = np.zeros(model.nv)
    for body in mechanism.bodies:
        first = model.body_dofadr[model.body(body.name).id]
        joint = mechanism.tree.get(body.name)
        if joint is None:
            speeds[first : first + 3] = body.velocity
            speeds[first + 3 : first + 6] = body.rotation.T @ body.angular_velocity
            continue
        parent = mechanism.body.get(joint.a)
        omega, slip = body.angular_velocity, _velocity(body, joint.point)
        if parent is not None:
            omega = omega - parent.angular_velocity
            slip = slip - _velocity(parent, joint.point)
        match joint.kind:
            case "spherical":
                speeds[first : first + 3] = body.rotation.T @ omega
            case "revolute":
                speeds[first] = omega @ joint.axis
            case "universal":
                speeds[first : first + 2] = omega @ joint.axis, omega @ joint.axis_b
            case "prismatic":
                speeds[first] = slip @ joint.axis
    return speeds


def _velocity(body: Body, point: Array) -> Array:
    """Return the velocity of a point of a body [m/s]."""
    return body.velocity + np.cross(body.angular_velocity, point - body.position)
