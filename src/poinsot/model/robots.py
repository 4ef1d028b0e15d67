"""From the description of a robot to a model, and from a model to a robot file."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.shapes import RigidBody
from poinsot.bodies.tensors import euler_from_inertia, inertia_from_euler
from poinsot.errors import InputError, ModelFileError, OmissionWarning, RobotFileError
from poinsot.io.reading import Beside, read_file
from poinsot.model.build import build
from poinsot.model.model import Model
from poinsot.model.robot_export import describe_robot
from poinsot.model.robot_forces import Acting
from poinsot.model.robot_groups import Group, Groups
from poinsot.model.robot_joints import Segment
from poinsot.parts.joints import Spherical, Weld
from poinsot.robots.description import Array, Frame, Joint, Link, Loop, Robot
from poinsot.robots.writing import Store, mesh_store

#: Distance [m] or sine up to which two frames of a loop coincide where coordinates are zero.
CLOSED = 1e-9


def read_robot(
    robot: Robot,
    *,
    merge_fixed: bool = False,
    repair_inertia: bool = False,
    stops: bool = True,
    loops: str | Path | None = None,
) -> Model:
    """Return the model of a robot; warn of elements that it cannot represent."""
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
    """Return the text of a robot file; with a path, also write it and its meshes."""
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


@dataclass
class _Builder:
    """Builds the model of a robot."""

    robot: Robot
    merge_fixed: bool
    repair_inertia: bool
    stops: bool
    model: Model = field(init=False)
    #: Name of a link -> its group; None: fixed to the ground.
    groups: dict[str, Group | None] = field(init=False)
    #: Name of a step -> joint of the model, and coordinate if it has several.
    coordinates: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    #: Name of a link -> its body.
    bodies: dict[str, Body] = field(default_factory=dict)

    def refuse(self, element: str, problem: str) -> RobotFileError:
        """Return the error of an element."""
        return RobotFileError(self.robot.file, element, problem)

    def add_parts(self) -> None:
        """Add all parts to the model."""
        robot = self.robot
        self.model = Model(gravity=robot.gravity, name=robot.name)
        groups = Groups(robot, self.merge_fixed)
        self.groups = groups.of
        for group in dict.fromkeys(group for group in self.groups.values() if group is not None):
            self.add_body(group)
        for name in self.groups:
            if name in robot.links:
                self.add_frames(robot.links[name])
        for frame in robot.frames:
            self.add_marker(frame)
        for joint, parent, child, parts in groups.chains:
            self.add_joints(joint, parent, child, parts)
        acting = Acting(robot, self.model, self.coordinates, self.new, self.stops)
        acting.add()
        for loop in robot.loops:
            self.add_loop(loop)
        acting.add_motors()

    def new(self, name: str, kind: str) -> str:
        """Return a name that is free in the model; list it if it differs."""
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

    def add_body(self, group: Group) -> None:
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
        """Return the nearest possible inertia, whose Euler tensor is positive semi-definite."""
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
        self, joint: Joint, parent: Group | None, child: Group, parts: list[Segment | Group]
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
            if isinstance(part, Group):
                here = self.on(part.head.name)
                continue
            below = parts[k + 1] if k + 1 < len(parts) else child
            assert isinstance(below, Group)
            name = self.new(part.name, "joint")
            for label, make in zip((name, f"{name}.lock"), part.joints, strict=False):
                self.model.add_joint(label, make(here, self.on(below.head.name)))
            for step, freedom in zip(part.steps, part.freedoms, strict=True):
                self.coordinates[step.name] = name, freedom

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
        """Move bodies to their start, and close loops that are open there."""
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
