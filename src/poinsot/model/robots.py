"""From the description of a robot to a model, part by part; `read_robot` is what `Model` calls."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.shapes import RigidBody
from poinsot.bodies.tensors import euler_from_inertia, inertia_from_euler
from poinsot.errors import InputError, ModelFileError, OmissionWarning, RobotFileError
from poinsot.io.reading import Beside, read_file
from poinsot.model.build import build
from poinsot.model.model import Model
from poinsot.model.robot_export import describe_robot
from poinsot.model.robot_joints import Segment, segments
from poinsot.model.robot_masses import Mass, lend
from poinsot.parts.drags import Drag
from poinsot.parts.forces import JointSpring
from poinsot.parts.friction import JointFriction
from poinsot.parts.joints import Spherical, Weld
from poinsot.parts.loads import JointPort
from poinsot.parts.stops import JointStop
from poinsot.parts.transmissions import Cam, Gear
from poinsot.ph.connections import Transformer
from poinsot.ph.formulas import Formula
from poinsot.ph.linear import linear
from poinsot.ph.ports import Port
from poinsot.ph.system import State
from poinsot.robots.description import Array, Frame, Joint, Link, Loop, Robot, Step
from poinsot.robots.writing import Store, mesh_store

#: Distance [m] or sine up to which two frames of a loop coincide where coordinates are zero.
CLOSED = 1e-9
#: How far stops yield to the greatest torque or force of a motor, or to weights [rad or m].
YIELD = {True: 1e-2, False: 1e-3}
#: Damping of stops over stiffness: blows of 1 m/s or 1 rad/s leave with half of that [HC75].
CUSHION = 0.75


def read_robot(
    robot: Robot,
    *,
    merge_fixed: bool = False,
    repair_inertia: bool = False,
    stops: bool = True,
    loops: str | Path | None = None,
) -> Model:
    """Return the model of a robot, and warn of what it does not hold."""
    builder = _Builder(robot, merge_fixed, repair_inertia, stops)
    try:
        builder.add_parts()
        if loops is not None:
            m = builder.model
            build(read_file(loops, beside=Beside(m.bodies, m.markers, m.joints)), into=m)
        builder.start()
    except (RobotFileError, ModelFileError):
        raise
    except InputError as error:
        raise RobotFileError(
            robot.file, "robot", f"cannot be converted to a model: {error}"
        ) from error
    if robot.omissions:
        warnings.warn(OmissionWarning(robot.file, map(str, robot.omissions)), stacklevel=3)
    return builder.model


def write_robot(
    model: Model, path: str | Path | None, write: Callable[[Robot, Store | None], str]
) -> str:
    """Return the text of a robot's file, written with its meshes if a path is given."""
    robot = describe_robot(model, model.name if path is None else str(path))
    target = None if path is None else Path(path)
    try:
        text = write(robot, None if target is None else mesh_store(target))
        if target is not None:
            target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot write '{path}': {error.strerror}") from None
    if robot.omissions:
        warnings.warn(OmissionWarning(robot.file, map(str, robot.omissions)), stacklevel=3)
    return text


@dataclass(eq=False)
class _Group:
    """Links joined for good: the one that names the body, all of them, and their mass together."""

    head: Link
    links: list[Link]
    mass: Mass | None
    lent: bool = False
    #: Of a frame inside of a joint: the link before it, and the steps from there.
    after: str | None = None
    steps: tuple[Step, ...] = ()


#: A joint, the groups that it joins, and what is between: segments, and frames without mass.
Chain: TypeAlias = tuple[Joint, _Group | None, _Group, list[Segment | _Group]]


def _heavy(link: Link) -> bool:
    """Tell whether a link can be a body of its own."""
    return bool(link.mass) and bool(link.inertia.any())


@dataclass
class _Builder:
    """A model that grows from a robot."""

    robot: Robot
    merge_fixed: bool
    repair_inertia: bool
    stops: bool
    model: Model = field(init=False)
    #: Name of a link -> its group; those joined to the world for good have none.
    groups: dict[str, _Group | None] = field(init=False)
    #: Name of a step -> joint and free direction of the model.
    coordinates: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    #: Names of the file -> those of the model, where these were taken.
    bodies: dict[str, Body] = field(default_factory=dict)

    def refuse(self, element: str, problem: str) -> RobotFileError:
        """Return the error of an element."""
        return RobotFileError(self.robot.file, element, problem)

    def add_parts(self) -> None:
        """Make the model."""
        robot = self.robot
        self.model = Model(gravity=robot.gravity, name=robot.name)
        self.groups = self.joined()
        chains = self.chains()
        self.lend_masses(chains)
        for group in dict.fromkeys(group for group in self.groups.values() if group is not None):
            self.add_body(group)
        for name in self.groups:
            if name in robot.links:
                self.add_frames(robot.links[name])
        for frame in robot.frames:
            self.add_marker(frame)
        for joint, parent, child, parts in chains:
            self.add_joints(joint, parent, child, parts)
        for step in robot.steps:
            self.add_forces(step)
        for coupling in robot.couplings:
            self.add_coupling(coupling)
        for loop in robot.loops:
            self.add_loop(loop)
        for motor in robot.motors:
            name, freedom = self.coordinates[motor.step]
            self.model.add_port(self.new(motor.name, "port"), JointPort(name, freedom))

    def new(self, name: str, kind: str) -> str:
        """Return a name that is not taken yet in the model."""
        taken = self.names()
        if name not in taken:
            return name
        other = next(
            n
            for n in (f"{name}.{kind}", *(f"{name}.{kind}{k}" for k in range(2, 99)))
            if n not in taken
        )
        self.robot.omit(f"{kind} '{name}'", f"renamed to '{other}', because the name is taken")
        return other

    def names(self) -> set[str]:
        """Return all names of the model."""
        m = self.model
        return {m.ground.name, *m.bodies, *m.markers, *m.joints, *m.transmissions, *m.forces} | {
            *m.ports,
            *m.systems,
        }

    # -- bodies ------------------------------------------------------------------------------

    def joined(self) -> dict[str, _Group | None]:
        """Return groups of links: joined by fixed joints, where that is asked for.

        What has no inertia is no body, and belongs to what it is fixed to in any case.
        """
        links = self.robot.links
        members: dict[str | None, list[Link]] = {None: []}
        head: dict[str | None, str | None] = {None: None}
        for joint in self.robot.joints:
            link = links[joint.child]
            above = head[joint.parent]
            empty = above is not None and not any(map(_heavy, members[above]))
            if joint.fixed and (self.merge_fixed or empty or not _heavy(link)):
                head[link.name] = above
            else:
                head[link.name] = link.name
            members.setdefault(head[link.name], []).append(link)
        found: dict[str, _Group | None] = dict.fromkeys(link.name for link in members.pop(None))
        for own in members.values():
            parts = [link for link in own if link.mass or link.inertia.any()]
            heads = [link for link in own if _heavy(link)] or parts or own
            group = _Group(heads[0], own, Mass.joined(map(Mass.of, parts)) if parts else None)
            found |= dict.fromkeys((link.name for link in own), group)
        return found

    def chains(self) -> list[Chain]:
        """Return joints with both groups and what is between: segments, and frames without mass.

        A moving group without mass becomes a frame in the chain of the one joint after it.
        """
        after: dict[_Group, list[Joint]] = {}
        before: dict[_Group, Joint] = {}
        moving = [joint for joint in self.robot.joints if self.moves(joint)]
        for joint in moving:
            child = self.groups[joint.child]
            parent = None if joint.parent is None else self.groups[joint.parent]
            assert child is not None
            before[child] = joint
            if parent is not None:
                after.setdefault(parent, []).append(joint)
        found = []
        for joint in moving:
            child = self.groups[joint.child]
            assert child is not None
            if child.mass is None:
                if len(after.get(child, ())) != 1 or joint.free or after[child][0].free:
                    raise self.refuse(
                        f"link '{child.head.name}'",
                        "can move and has no mass; give it an <inertial> or fix it to another link",
                    )
                continue
            parts: list[Segment | _Group] = list(segments(joint.steps))
            parent = None if joint.parent is None else self.groups[joint.parent]
            while parent is not None and parent.mass is None and parent in before:
                above = before[parent]
                parts = [*segments(above.steps), parent, *parts]
                parent = None if above.parent is None else self.groups[above.parent]
            if parent is not None and parent.mass is None:
                raise self.refuse(
                    f"link '{parent.head.name}'",
                    "is free and has no mass; give it an <inertial>, or fix it to another link",
                )
            found.append((joint, parent, child, parts))
        return found

    def moves(self, joint: Joint) -> bool:
        """Tell whether a joint is one of the model: it is not inside of a body."""
        child = self.groups[joint.child]
        parent = None if joint.parent is None else self.groups[joint.parent]
        return child is not None and child is not parent

    def lend_masses(self, chains: list[Chain]) -> None:
        """Put a frame with a mass between all segments that follow each other."""
        for k, chain in enumerate(chains):
            joint, parent, child, parts = chain
            steps = [s for part in parts if isinstance(part, Segment) for s in part.steps]
            found = self.lent(joint, parent, child, parts)
            frames = [part for part in parts if isinstance(part, _Group)]
            if found is None and frames:
                # What lies between may be one joint of the model without these frames.
                parts = list(segments(steps))
                found = self.lent(joint, parent, child, parts)
                for frame in frames:
                    self.drop(frame)
            if found is None:
                names = " and ".join(f"'{step.name}'" for step in steps)
                raise self.refuse(
                    f"joint '{joint.name}'",
                    f"cannot be represented by joints of a model ({names}): put a link with a mass "
                    "between them",
                )
            chains[k] = joint, parent, child, found

    def drop(self, frame: _Group) -> None:
        """Leave out a frame without mass that would be inside of a joint."""
        for link in frame.links:
            self.robot.omit(
                f"link '{link.name}'", "left out; its two joints become one joint of the model"
            )
            del self.groups[link.name]

    def lent(
        self, joint: Joint, parent: _Group | None, child: _Group, parts: list[Segment | _Group]
    ) -> list[Segment | _Group] | None:
        """Return segments with frames between them that have got a mass; None: they cannot."""
        assert child.mass is not None
        above, below = None if parent is None else parent.mass, child.mass
        found: list[Segment | _Group] = []
        got: list[tuple[_Group, Mass]] = []
        done = list[Step]()
        for part in parts:
            if isinstance(part, Segment) and found and isinstance(found[-1], Segment):
                link = Link(
                    f"{joint.name}.{len(got) + 1}", child.head.position, child.head.rotation
                )
                before = None if parent is None else parent.head.name
                found.append(_Group(link, [], None, after=before, steps=tuple(done)))
            frame = found[-1] if isinstance(part, Segment) and found else None
            if isinstance(frame, _Group):
                after = [s for each in parts if isinstance(each, Segment) for s in each.steps]
                lent = lend(done, after[len(done) :], above, below)
                if lent is None:
                    return None
                above, below = lent.parent, lent.child
                got.append((frame, lent.own))
            found.append(part)
            if isinstance(part, Segment):
                done += part.steps
        for frame, mass in got:
            frame.mass, frame.lent = mass, True
            self.groups[frame.head.name] = frame
        if parent is not None and above is not parent.mass:
            parent.mass, parent.lent = above, True
        if below is not child.mass:
            child.mass, child.lent = below, True
        return found

    def add_body(self, group: _Group) -> None:
        """Add the body of a group."""
        link, what = group.head, f"link '{group.head.name}'"
        assert group.mass is not None
        mass, centre, inertia = link.mass, link.centre, link.inertia
        if (
            group.lent
            or sum(bool(each.inertia.any()) or bool(each.mass) for each in group.links) > 1
        ):
            mass, centre, inertia = group.mass.in_link(link)
        if self.repair_inertia:
            inertia = self.repaired(what, inertia)
        looks = []
        for each in group.links:
            R = link.rotation.T @ each.rotation
            at = link.rotation.T @ (each.position - link.position) - centre
            looks += [
                replace(
                    look,
                    position=at + R @ np.asarray(look.position),
                    rotation=R @ look.rotation.matrix,  # type: ignore[union-attr]
                )
                for look in each.looks
            ]
        try:
            body = self.model.add_body(
                self.new(link.name, "link"),
                RigidBody(mass=mass, inertia=inertia),
                position=link.position + link.rotation @ centre,
                rotation=link.rotation,
                looks=looks,
            )
        except InputError as error:
            raise self.refuse(
                what,
                f"is not a valid body: {error}; or read the file with repair_inertia=True, which "
                "takes the nearest possible inertia, or merge_fixed=True",
            ) from error
        for each in [link, *group.links]:
            self.bodies[each.name] = body

    def repaired(self, what: str, inertia: Array) -> Array:
        """Return the inertia of the nearest body: no mean square of a distance is negative."""
        values, axes = np.linalg.eigh(euler_from_inertia(np.array(inertia)))
        if values[0] >= 0:
            return inertia
        E = axes @ np.diag(np.maximum(values, 0.0)) @ axes.T
        found = inertia_from_euler(E)
        change = abs(found - inertia).max() / abs(inertia).max()
        self.robot.omit(
            what,
            f"no body has its inertia; changed by {100 * change:.2g} % to the nearest possible",
        )
        return found

    def on(self, link: str | None) -> Body | Ground:
        """Return the body of a link, or the ground."""
        return self.bodies.get(link, self.model.ground) if link else self.model.ground

    def add_frames(self, link: Link) -> None:
        """Add a marker at the frame of a link, under its own name if no body has it."""
        own = self.bodies.get(link.name)
        named = own is not None and own.name == link.name
        name = f"{link.name}.frame" if named else link.name
        self.add_marker(Frame(name, link.name, link.position, link.rotation))

    def add_marker(self, frame: Frame) -> Marker:
        """Add a frame as a marker."""
        return self.model.add_marker(
            self.new(frame.name, "frame"),
            self.on(frame.link),
            position=frame.position,
            rotation=frame.rotation,
        )

    # -- joints and what acts on them --------------------------------------------------------

    def add_joints(
        self, joint: Joint, parent: _Group | None, child: _Group, parts: list[Segment | _Group]
    ) -> None:
        """Add the joints of a chain."""
        if joint.free:
            return
        here: Body | Ground = self.on(None if parent is None else parent.head.name)
        if not parts:
            weld = Weld(here, self.on(child.head.name))
            self.model.add_joint(self.new(joint.name, "joint"), weld)
            return
        for k, part in enumerate(parts):
            if isinstance(part, _Group):
                here = self.on(part.head.name)
                continue
            below = parts[k + 1] if k + 1 < len(parts) else child
            assert isinstance(below, _Group)
            name = self.new(part.name, "joint")
            for label, make in zip((name, f"{name}.lock"), part.joints, strict=False):
                self.model.add_joint(label, make(here, self.on(below.head.name)))
            for step, freedom in zip(part.steps, part.freedoms, strict=True):
                self.coordinates[step.name] = name, freedom

    def add_forces(self, step: Step) -> None:
        """Add what acts on a step: friction, spring, stop, and the inertia of a rotor."""
        if step.kind == "ball":
            self.add_ball_forces(step)
            return
        (joint, freedom), model = self.coordinates[step.name], self.model
        if step.damping or step.friction:
            friction = JointFriction(joint, freedom, viscous=step.damping, coulomb=step.friction)
            model.add_force(self.new(f"{step.name}.friction", "force"), friction)
        if step.stiffness:
            spring = JointSpring(joint, freedom, rest=step.rest, stiffness=step.stiffness)
            model.add_force(self.new(f"{step.name}.spring", "force"), spring)
        if self.stops and (step.lower is not None or step.upper is not None):
            k = self.stop_stiffness(step)
            stop = JointStop(
                joint,
                freedom,
                stiffness=k,
                lower=step.lower,
                upper=step.upper,
                damping=CUSHION * k,
            )
            model.add_force(self.new(f"{step.name}.stop", "force"), stop)
        if step.armature:
            self.add_rotor(step, joint, freedom)

    def stop_stiffness(self, step: Step) -> float:
        """Return a stiffness that fits what leans on a stop."""
        effort = step.effort
        if effort is None:
            moved = list(self.model.bodies.values())
            mass = sum(body.mass for body in moved)
            arm = max(float(np.linalg.norm(body.position - step.point)) for body in moved)
            effort = 9.81 * mass * (max(arm, 1e-3) if step.turns else 1.0)
        return effort / YIELD[step.turns]

    def add_rotor(self, step: Step, joint: str, freedom: str | None) -> None:
        """Add an inertia that moves with a coordinate, and with nothing else."""
        units = ("N m", "rad/s", "N m s") if step.turns else ("N", "m/s", "N s")
        rotor = linear(
            "rotor",
            states=[State("momentum", unit=units[2])],
            J=[[0]],
            R=[[0]],
            Q=[[1 / step.armature]],
            B=[[1]],
            ports=[Port("shaft", 1, *units[:2])],
        )
        name, port = (self.new(f"{step.name}.{end}", "port") for end in ("rotor", "armature"))
        self.model.add_system(name, rotor)
        self.model.add_port(port, JointPort(joint, freedom))
        self.model.connect(Transformer(f"{name}.shaft", port))

    def add_ball_forces(self, step: Step) -> None:
        """Add damping and stiffness of a ball; what has no counterpart is listed."""
        what, (joint, _) = f"joint '{step.name}'", self.coordinates[step.name]
        for label, value in (("armature", step.armature), ("frictionloss", step.friction)):
            if value:
                self.robot.omit(what, f"{label} of a ball joint ignored")
        if step.stiffness:
            self.robot.omit(what, "stiffness of a ball joint ignored")
        a, b = self.model.joints[joint].bodies
        if step.damping and isinstance(a, Ground) and isinstance(b, Body):
            drag = Drag(b, angular_viscous=step.damping)
            self.model.add_force(self.new(f"{step.name}.friction", "force"), drag)
        elif step.damping:
            self.robot.omit(what, "damping of a ball joint between two bodies ignored")

    def add_coupling(self, coupling: Any) -> None:
        """Add a coordinate that follows another one, as a gear or a cam."""
        follower, leader = (
            ".".join(part for part in self.coordinates[name] if part)
            for name in (coupling.follower, coupling.leader)
        )
        steps = {step.name: step for step in self.robot.steps}
        hinges = all(steps[n].kind == "hinge" for n in (coupling.follower, coupling.leader))
        ratio, *higher = coupling.coefficients[1:]
        name = self.new(coupling.name, "transmission")
        if hinges and ratio and not any(higher):
            self.model.add_transmission(name, Gear(follower, leader, ratio=ratio))
            return
        terms = [f"{c!r}*x**{k + 1}" for k, c in enumerate((ratio, *higher)) if c]
        profile = Formula(" + ".join(terms) or "0*x", "x")
        self.model.add_transmission(name, Cam(leader, follower, profile=profile))

    def add_loop(self, loop: Loop) -> None:
        """Close a loop by a ball joint or a weld; by markers where it is open at zero."""
        a, b = loop.a, loop.b
        gap = float(np.linalg.norm(a.position - b.position))
        if loop.welded:
            gap = max(gap, float(abs(a.rotation - b.rotation).max()))
        one, other = self.on(a.link), self.on(b.link)
        what, name = f"loop '{loop.name}'", self.new(loop.name, "joint")
        if one is other:
            self.robot.omit(what, "ignored; both ends are on the same body")
        elif gap <= CLOSED:
            joint = Weld(one, other) if loop.welded else Spherical(one, other, point=a.position)
            self.model.add_joint(name, joint)
        else:
            kind = Weld if loop.welded else Spherical
            self.model.add_joint(name, kind(self.add_marker(a), self.add_marker(b)))

    # -- the start ---------------------------------------------------------------------------

    def start(self) -> None:
        """Put bodies where they start, and close loops that are open there."""
        robot, model = self.robot, self.model
        moved = bool(robot.start or robot.placed)
        shifts = robot.displacements() if moved else {}
        for name, group in self.groups.items() if moved else ():
            if group is None or self.bodies[name].name in model.starts:
                continue
            body = self.bodies[name]
            shift = shifts.get(group.head.name)
            if shift is None:
                shift = robot.moved(shifts[group.after], group.steps)
            p, R = shift
            model.starts[body.name] = p + R @ body.position, R @ body.R_WB
        open_at_zero = any(joint.may_be_open for joint in model.joints.values())
        if (moved and robot.loops) or open_at_zero:
            model.assemble()
