"""Read MJCF by MuJoCo's compiler, which applies defaults, includes and inertias of shapes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.errors import InputError, RobotFileError, did_you_mean, optional
from poinsot.robots.description import (
    Array,
    Coupling,
    Frame,
    Joint,
    Link,
    Loop,
    Motor,
    Robot,
    Step,
)
from poinsot.robots.mjcf_looks import looks_of
from poinsot.robots.source import read_xml
from poinsot.so3 import quat_to_matrix

#: What is left of a number that is zero where coordinates are zero.
ROUND_OFF = 1e-9
#: The world of MuJoCo.
WORLD = 0


def read_mjcf(path: str | Path, *, keyframe: str | None = None, looks: bool = True) -> Robot:
    """Return the robot of an MJCF file."""
    mujoco = optional("mujoco", "robots")
    read_xml(path, "MJCF", "mujoco")
    said: list[str] = []
    with _heard(mujoco, said.append):
        try:
            m = mujoco.MjModel.from_xml_path(str(path))
        except (ValueError, mujoco.FatalError) as error:
            raise RobotFileError(
                str(path), "MJCF", f"cannot be compiled by MuJoCo: {error}"
            ) from None
    robot = _Reader(mujoco, m, str(path)).read(keyframe, looks)
    for text in said:
        robot.omit("MuJoCo", text)
    return robot


@contextmanager
def _heard(mujoco: Any, hear: Callable[[str], None]) -> Iterator[None]:
    """Catch MuJoCo's warnings, which would go to a file in the working directory."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(hear)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class _Reader:
    """A compiled model, and the robot that is made of it."""

    def __init__(self, mujoco: Any, m: Any, file: str) -> None:
        self.mujoco, self.m = mujoco, m
        self.d = mujoco.MjData(m)
        self.d.qpos[:] = m.qpos0
        mujoco.mj_kinematics(m, self.d)
        flags = m.opt.disableflags
        self.off = {
            name: bool(flags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0))
            for name in ("GRAVITY", "LIMIT", "EQUALITY", "FRICTIONLOSS", "SPRING", "DAMPER")
        }
        gravity = np.zeros(3) if self.off["GRAVITY"] else m.opt.gravity
        x, y, z = gravity.tolist()
        names = m.names
        title = bytes(names[: bytes(names).find(b"\0")]).decode() or Path(file).stem
        self.robot = Robot(name=title, file=file, gravity=(x, y, z))
        self.steps: dict[int, Step] = {}

    def name(self, kind: str, k: int) -> str:
        """Return the name of an element; those without one are numbered."""
        of_kind = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self.mujoco.mj_id2name(self.m, of_kind, k) or f"{kind}_{k}"

    def link(self, body: int) -> str | None:
        """Return the name of a body; None: the world."""
        return None if body == WORLD else self.name("body", body)

    def read(self, keyframe: str | None, looks: bool) -> Robot:
        """Return the robot."""
        for body in range(1, self.m.nbody):
            self.add_link(body, looks)
        for site in range(self.m.nsite):
            self.robot.frames.append(self.site(site))
        for k in range(self.m.neq):
            self.add_equality(k)
        for k in range(self.m.nu):
            self.add_actuator(k)
        if keyframe is not None:
            self.start_at(keyframe)
        self.list_others()
        return self.robot

    def add_link(self, body: int, looks: bool) -> None:
        """Add a body and its joints."""
        m, d, name = self.m, self.d, self.name("body", body)
        position, R = d.xpos[body].copy(), d.xmat[body].reshape(3, 3).copy()
        R_I = quat_to_matrix(m.body_iquat[body])
        self.robot.links[name] = Link(
            name,
            position,
            R,
            float(m.body_mass[body]),
            m.body_ipos[body].copy(),
            R_I @ np.diag(m.body_inertia[body]) @ R_I.T,
            looks_of(self.mujoco, m, body) if looks else (),
        )
        if m.body_gravcomp[body]:
            self.robot.omit(f"body '{name}'", "gravcomp ignored; gravity acts in full")
        first, count = m.body_jntadr[body], m.body_jntnum[body]
        kinds = [int(m.jnt_type[j]) for j in range(first, first + count)]
        own = [self.name("joint", j) for j in range(first, first + count)]
        parent = self.link(int(m.body_parentid[body]))
        if kinds == [int(self.mujoco.mjtJoint.mjJNT_FREE)]:
            self.robot.joints.append(Joint(own[0], parent, name, free=True))
            dof = m.jnt_dofadr[first]
            for what, values in (("damping", m.dof_damping), ("armature", m.dof_armature)):
                if np.any(values[dof : dof + 6]):
                    self.robot.omit(f"joint '{own[0]}'", f"{what} of a free joint ignored")
            return
        steps = tuple(self.step(j) for j in range(first, first + count))
        self.robot.joints.append(Joint("+".join(own) or f"{name}.weld", parent, name, steps))

    def step(self, j: int) -> Step:
        """Return a joint of MuJoCo as a step."""
        m, d, name = self.m, self.d, self.name("joint", j)
        kind = {
            int(self.mujoco.mjtJoint.mjJNT_HINGE): "hinge",
            int(self.mujoco.mjtJoint.mjJNT_SLIDE): "slide",
            int(self.mujoco.mjtJoint.mjJNT_BALL): "ball",
        }[int(m.jnt_type[j])]
        q, dof, what = m.jnt_qposadr[j], m.jnt_dofadr[j], f"joint '{name}'"
        limited = bool(m.jnt_limited[j]) and not self.off["LIMIT"]
        lower = upper = None
        rest = 0.0
        if kind == "ball":
            if limited:
                self.robot.omit(what, "limit of a ball joint ignored")
            if abs(m.qpos_spring[q : q + 4] - m.qpos0[q : q + 4]).max() > ROUND_OFF:
                self.robot.omit(what, "springref of a ball joint ignored; its spring rests at zero")
        else:
            rest = float(m.qpos_spring[q] - m.qpos0[q])
            if limited:
                lower, upper = (m.jnt_range[j] - m.qpos0[q]).tolist()
        for label in ("jnt_stiffnesspoly", "dof_dampingpoly"):
            values = getattr(m, label, None)
            at = j if label.startswith("jnt") else dof
            if values is not None and np.any(values[at]):
                self.robot.omit(what, f"polynomial {label[4:-4]} ignored; the linear term is used")
        self.steps[j] = Step(
            name,
            kind,  # type: ignore[arg-type]
            d.xanchor[j].copy(),
            d.xaxis[j].copy(),
            lower,
            upper,
            0.0 if self.off["DAMPER"] else float(m.dof_damping[dof]),
            0.0 if self.off["FRICTIONLOSS"] else float(m.dof_frictionloss[dof]),
            float(m.dof_armature[dof]),
            0.0 if self.off["SPRING"] else float(m.jnt_stiffness[j]),
            rest,
        )
        return self.steps[j]

    def site(self, k: int) -> Frame:
        """Return a site as a frame."""
        body = int(self.m.site_bodyid[k])
        R_WB = self.d.xmat[body].reshape(3, 3)
        R = R_WB @ quat_to_matrix(self.m.site_quat[k])
        at = self.d.xpos[body] + R_WB @ self.m.site_pos[k]
        return Frame(self.name("site", k), self.link(body), at, R)

    # -- what couples ------------------------------------------------------------------------

    def add_equality(self, k: int) -> None:
        """Add an equality constraint as a loop or a coupling."""
        m, kinds, name = self.m, self.mujoco.mjtEq, self.name("equality", k)
        kind, data, what = int(m.eq_type[k]), m.eq_data[k], f"equality '{name}'"
        if self.off["EQUALITY"] or not m.eq_active0[k]:
            self.robot.omit(what, "ignored; it is not active")
        elif kind in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            welded = kind == int(kinds.mjEQ_WELD)
            self.robot.loops.append(Loop(name, *self.ends(k, welded), welded))
        elif kind == int(kinds.mjEQ_JOINT):
            self.add_coupling(k, name, data)
        else:
            self.robot.omit(what, "ignored; only connect, weld and joint are supported")

    def ends(self, k: int, welded: bool) -> tuple[Frame, Frame]:
        """Return the two frames that a connect or a weld makes coincide."""
        m, d, data = self.m, self.d, self.m.eq_data[k]
        one, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        a, b = f"{self.name('equality', k)}.a", f"{self.name('equality', k)}.b"
        if int(m.eq_objtype[k]) == int(self.mujoco.mjtObj.mjOBJ_SITE):
            on, at = self.site(one), self.site(other)
            return (
                Frame(a, on.link, on.position, on.rotation),
                Frame(b, at.link, at.position, at.rotation),
            )
        R1, R2 = (d.xmat[body].reshape(3, 3).copy() for body in (one, other))
        if not welded:
            at_1, at_2 = d.xpos[one] + R1 @ data[:3], d.xpos[other] + R2 @ data[3:6]
            eye = np.eye(3)
            return Frame(a, self.link(one), at_1, eye), Frame(b, self.link(other), at_2, eye)
        # The frame of the second body as it should be, seen from the first one.
        anchor, relative = data[:3], data[3:6]
        R = R1 @ quat_to_matrix(data[6:10])
        at_1, at_2 = d.xpos[one] + R1 @ relative, d.xpos[other] + R2 @ anchor
        return Frame(a, self.link(one), at_1, R), Frame(b, self.link(other), at_2, R2)

    def add_coupling(self, k: int, name: str, data: Array) -> None:
        """Add a polynomial of one joint in another."""
        m, what = self.m, f"equality '{name}'"
        one, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        if other < 0:
            self.robot.omit(what, "ignored; it locks a joint, use a weld instead")
            return
        if data[0]:
            self.robot.omit(what, f"constant term {data[0]:g} of polycoef ignored")
        numbers = (0.0, *data[1:5].tolist())
        coupling = Coupling(name, self.steps[one].name, self.steps[other].name, numbers)
        self.robot.couplings.append(coupling)

    def add_actuator(self, k: int) -> None:
        """Add an actuator as a port of its joint; list gains, dynamics and limits."""
        m, mujoco, name = self.m, self.mujoco, self.name("actuator", k)
        what = f"actuator '{name}'"
        on_joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
        joint = int(m.actuator_trnid[k, 0])
        step = self.steps.get(joint)
        if int(m.actuator_trntype[k]) not in on_joint or step is None or step.kind == "ball":
            self.robot.omit(what, "ignored; only actuators of hinge and slide joints are supported")
            return
        self.robot.motors.append(Motor(name, step.name))
        kept = []
        if m.actuator_gear[k, 0] != 1:
            kept.append(f"gear {m.actuator_gear[k, 0]:g}")
        if int(m.actuator_gaintype[k]) != int(mujoco.mjtGain.mjGAIN_FIXED):
            kept.append("gain")
        elif m.actuator_gainprm[k, 0] != 1:
            kept.append(f"gain {m.actuator_gainprm[k, 0]:g}")
        if int(m.actuator_biastype[k]) != int(mujoco.mjtBias.mjBIAS_NONE):
            kept.append("bias (feedback)")
        if int(m.actuator_dyntype[k]) != int(mujoco.mjtDyn.mjDYN_NONE):
            kept.append("dynamics")
        if m.actuator_ctrllimited[k] or m.actuator_forcelimited[k]:
            kept.append("limits")
        if kept:
            unit = "force" if step.kind == "slide" else "torque"
            self.robot.omit(what, f"its port takes the joint {unit}; {', '.join(kept)} ignored")

    # -- the start, and the rest -------------------------------------------------------------

    def start_at(self, keyframe: str) -> None:
        """Let the robot start in the positions of a keyframe."""
        m, robot, known = self.m, self.robot, [self.name("key", k) for k in range(self.m.nkey)]
        if keyframe not in known:
            hint = did_you_mean(keyframe, known)
            raise InputError(f"{robot.file}: no keyframe '{keyframe}'; {hint}")
        qpos = m.key_qpos[known.index(keyframe)]
        for j in range(m.njnt):
            q, link = m.jnt_qposadr[j], robot.links[self.name("body", m.jnt_bodyid[j])]
            if j not in self.steps:
                place = qpos[q : q + 3].copy(), quat_to_matrix(qpos[q + 3 : q + 7])
                robot.placed[link.name] = place
            elif self.steps[j].kind == "ball":
                turn = quat_to_matrix(qpos[q : q + 4])
                robot.start[self.steps[j].name] = link.rotation @ turn @ link.rotation.T
            else:
                robot.start[self.steps[j].name] = float(qpos[q] - m.qpos0[q])

    def list_others(self) -> None:
        """List all other elements without a counterpart."""
        for element, reason in self.others():
            self.robot.omit(element, reason)

    def others(self) -> Iterator[tuple[str, str]]:
        """Yield elements without a counterpart, and the reason."""
        m = self.m
        touching = [k for k in range(m.ngeom) if m.geom_contype[k] or m.geom_conaffinity[k]]
        if touching:
            yield f"contacts of geoms ({len(touching)})", "ignored; geoms do not collide"
        for k in range(m.npair):
            yield f"contact pair '{self.name('pair', k)}'", "ignored; geoms do not collide"
        for k in range(m.ntendon):
            yield f"tendon '{self.name('tendon', k)}'", "ignored; tendons are not supported"
        for k in range(m.nsensor):
            yield f"sensor '{self.name('sensor', k)}'", "ignored; use model.add_sensor"
        for k in range(getattr(m, "nflex", 0)):
            yield f"flex '{self.name('flex', k)}'", "ignored; deformable bodies are not imported"
        for k in range(m.nskin):
            yield f"skin '{self.name('skin', k)}'", "ignored; skins are not drawn"
        for k in range(m.nbody):
            if m.body_mocapid[k] >= 0:
                yield f"body '{self.name('body', k)}'", "mocap ignored; the body is fixed"
        drawn = [k for k in range(m.ngeom) if m.geom_bodyid[k] == WORLD]
        if drawn:
            yield f"geoms of the world ({len(drawn)})", "ignored; the ground is not drawn"
        if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
            yield "option density, viscosity, wind", "ignored; bodies move in vacuum"
        for k in range(getattr(m, "nplugin", 0)):
            yield f"plugin '{self.name('plugin', k)}'", "ignored; plugins are not supported"
