"""From a model to the description of a robot, as far as URDF and MJCF can represent it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poinsot.bodies.body import Body, Ground, Marker
from poinsot.bodies.looks import Look
from poinsot.bodies.shapes import (
    Box,
    Composite,
    Cylinder,
    Elasticity,
    Ellipsoid,
    PointMass,
    Shape,
    Sphere,
)
from poinsot.errors import InputError
from poinsot.model.contents import Contents
from poinsot.model.motions import rotor_port, rotors_of
from poinsot.parts import joints as kinds
from poinsot.parts.forces import JointSpring
from poinsot.parts.friction import JointFriction
from poinsot.parts.joint import Joint as ModelJoint
from poinsot.parts.loads import JointPort
from poinsot.parts.stops import JointStop
from poinsot.parts.transmissions import Transmission
from poinsot.robots.description import Array, Coupling, Frame, Joint, Link, Loop, Motor, Robot, Step
from poinsot.so3 import as_rotation_matrix

#: Where a joint may be open that is to be written [m or 1].
CLOSED = 1e-9
#: The greatest power of a polynomial that couples joints.
DEGREE = 4


def describe_robot(model: Contents, file: str) -> Robot:
    """Return the description of a model; what it cannot hold is among its omissions."""
    return _Describer(model, file).describe()


@dataclass
class _Describer:
    """A description that grows from a model."""

    model: Contents
    file: str
    robot: Robot = field(init=False)
    #: Joint and free direction -> name of the step.
    steps: dict[tuple[str, str], str] = field(default_factory=dict)
    #: Name of the step -> what acts on it.
    acting: dict[str, dict[str, Any]] = field(default_factory=dict)

    def describe(self) -> Robot:
        """Return the description."""
        model = self.model
        x, y, z = model.gravity.tolist()
        self.robot = Robot(model.name, self.file, (x, y, z))
        for name, body in model.bodies.items():
            self.add_link(name, body)
        self.add_tree()
        for name, force in model.forces.items():
            self.add_force(name, force)
        for name, transmission in model.transmissions.items():
            self.add_transmission(name, transmission)
        self.add_rotors()
        self.robot.joints[:] = [
            replace(
                joint,
                steps=tuple(replace(s, **self.acting.get(s.name, {})) for s in joint.steps),
            )
            for joint in self.robot.joints
        ]
        for name, marker in model.markers.items():
            self.robot.frames.append(Frame(name, _name(marker.body), marker.position, marker.R_WM))
        for several in ("sensors", "controllers", "events"):
            for name in getattr(model, several):
                self.robot.omit(f"{several[:-1]} '{name}'", "only model files (.yaml) store it")
        if model.starts:
            self.robot.omit(
                "start position", "left out; bodies are at the places where they were added"
            )
        return self.robot

    def omit(self, what: str, name: str, part: Any) -> None:
        """Note a part that has no counterpart."""
        self.robot.omit(f"{what} '{name}'", f"left out; the format has no {type(part).__name__}")

    # -- links and joints --------------------------------------------------------------------

    def add_link(self, name: str, body: Body) -> None:
        """Add a body, with its frame at the marker `name.frame` if there is one."""
        if isinstance(body.shape, Elasticity | PointMass) or body.carried:
            raise InputError(
                f"model '{self.model.name}': body '{name}' is not rigid, which URDF and MJCF files "
                "cannot represent; write a model file (.yaml) instead"
            )
        frame = self.model.markers.get(f"{name}.frame")
        own = frame is not None and frame.body is body
        position, R = (frame.position, frame.R_WM) if own and frame else (body.position, body.R_WB)
        turn = R.T @ body.R_WB
        centre = R.T @ (body.position - position)
        looks = body.looks or tuple(_looks(body.shape, -body.shape.centre, np.eye(3)))
        self.robot.links[name] = Link(
            name,
            position,
            R,
            body.mass,
            centre,
            turn @ body.shape.inertia_B @ turn.T,
            tuple(
                replace(
                    look,
                    position=centre + turn @ np.asarray(look.position),
                    rotation=turn @ as_rotation_matrix(look.rotation),
                )
                for look in looks
            ),
        )

    def add_tree(self) -> None:
        """Add joints: a tree from the ground outwards, and what closes loops."""
        model, left = self.model, dict(self.model.joints)
        locks = {name: left.pop(name) for name in list(left) if name.endswith(".lock")}
        reached: set[str | None] = {None}
        while len(reached) <= len(model.bodies):
            found = next(
                (
                    (name, joint, parent, child)
                    for name, joint in left.items()
                    if isinstance(joint, tuple(TREE))
                    for parent, child in (joint.bodies, joint.bodies[::-1])
                    if _name(parent) in reached and _name(child) not in reached
                ),
                None,
            )
            if found is None:
                name = next(name for name in model.bodies if name not in reached)
                self.robot.joints.append(Joint(f"{name}.free", None, name, free=True))
                reached.add(name)
                continue
            name, joint, parent, child = found
            del left[name]
            self.require_closed(name, joint)
            steps = self.steps_of(name, joint, f"{name}.lock" in locks)
            locks.pop(f"{name}.lock", None)
            if parent is joint.bodies[1]:
                steps = tuple(replace(step, axis=-step.axis) for step in reversed(steps))
            self.robot.joints.append(Joint(name, _name(parent), str(_name(child)), steps))
            reached.add(_name(child))
        for name, joint in {**left, **locks}.items():
            self.close(name, joint)

    def require_closed(self, name: str, joint: ModelJoint) -> None:
        """Refuse a joint that is open where bodies were added: coordinates would not be zero."""
        if max(joint.equations.gaps, default=0.0) > CLOSED:
            raise InputError(
                f"model '{self.model.name}': joint '{name}' is open where bodies were added, which "
                "URDF and MJCF files cannot represent; add the bodies where it is closed"
            )

    def steps_of(self, name: str, joint: ModelJoint, locked: bool) -> tuple[Step, ...]:
        """Return the steps of a joint; the names of several have those of free directions."""
        end = joint.a
        freedoms = [f.label for f in joint.freedoms()][: 2 if locked else None]

        def world(what: str) -> Array:
            v = np.asarray(getattr(joint, what), dtype=float)
            if isinstance(end, Marker):
                return end.world(v) if what == "point" else end.R_WM @ v
            return v

        def unit(what: str) -> Array:
            v = world(what)
            return np.asarray(v / np.linalg.norm(v))

        if isinstance(joint, kinds.Weld):
            return ()
        point = world("point")
        axes: dict[str, tuple[str, Array]] = {}
        if isinstance(joint, kinds.Spherical):
            return (Step(name, "ball", point, np.array([0.0, 0.0, 1.0])),)
        if isinstance(joint, kinds.Revolute):
            axes = {"angle": ("hinge", unit("axis"))}
        elif isinstance(joint, kinds.Prismatic):
            axes = {"displacement": ("slide", unit("axis"))}
        elif isinstance(joint, kinds.Cylindrical):
            axes = {"displacement": ("slide", unit("axis")), "angle": ("hinge", unit("axis"))}
        elif isinstance(joint, kinds.Universal):
            axes = {"angle a": ("hinge", unit("axis_a")), "angle b": ("hinge", unit("axis_b"))}
        elif isinstance(joint, kinds.Planar):
            n, (m1, m2) = unit("normal"), joint.in_plane
            turned = end.R_WM if isinstance(end, Marker) else np.eye(3)
            axes = {
                "displacement 1": ("slide", turned @ np.array(m1)),
                "displacement 2": ("slide", turned @ np.array(m2)),
                "angle": ("hinge", n),
            }
        elif isinstance(joint, kinds.Cartesian):
            x, y = unit("x"), unit("y")
            stage = (x, y, np.cross(x, y))
            axes = {
                f"displacement {label}": ("slide", a) for label, a in zip("xyz", stage, strict=True)
            }
        names = dict.fromkeys(axes) if locked else axes
        names = {label: axes[label] for label in names if not locked or label in freedoms}
        parts = dict(zip(freedoms, name.split("+"), strict=False))
        if name.count("+") != len(names) - 1:
            parts = {label: f"{name}.{label}" for label in freedoms}
        found = []
        for label, (kind, axis) in names.items():
            own = name if len(names) == 1 else parts[label]
            self.steps[name, label] = own
            found.append(Step(own, kind, point, axis))  # type: ignore[arg-type]
        return tuple(found)

    def close(self, name: str, joint: ModelJoint) -> None:
        """Add a joint that closes a loop: one point or more that two links share, or a weld."""
        welded = isinstance(joint, kinds.Weld)
        if not isinstance(joint, kinds.Spherical | kinds.Weld | kinds.Revolute):
            self.omit("joint", name, joint)
            return
        self.require_closed(name, joint)
        a, b = joint.bodies
        step = None if welded else self.steps_of(name, joint, False)[0]
        points = (
            [b.position if isinstance(b, Body) else a.position] if step is None else [step.point]
        )
        if isinstance(joint, kinds.Revolute) and step is not None:
            self.steps.pop((name, "angle"))
            points.append(step.point + (joint.size or 1.0) * step.axis)
        for k, point in enumerate(points):
            label = name if not k else f"{name}.{k + 1}"
            ends = [
                Frame(f"{label}.{end}", _name(on), point, np.eye(3))
                for end, on in zip("ab", (a, b), strict=True)
            ]
            self.robot.loops.append(Loop(label, ends[0], ends[1], welded))

    # -- what acts ---------------------------------------------------------------------------

    def step_of(self, joint: str, freedom: str | None) -> str | None:
        """Return the step of a free direction; None: it is not in the tree."""
        if freedom is None:
            labels = [label for name, label in self.steps if name == joint]
            freedom = labels[0] if len(labels) == 1 else None
        return self.steps.get((joint, str(freedom)))

    def act(self, step: str, **numbers: Any) -> None:
        """Let something act on a step."""
        self.acting.setdefault(step, {}).update(numbers)

    def add_force(self, name: str, force: Any) -> None:
        """Add friction, springs and stops of steps."""
        kind = JointFriction | JointSpring | JointStop
        step = self.step_of(force.joint, force.freedom) if isinstance(force, kind) else None
        if step is None:
            self.omit("force", name, force)
        elif isinstance(force, JointFriction):
            own = self.acting.get(step, {})
            self.act(
                step,
                damping=force.viscous + own.get("damping", 0.0),
                friction=force.coulomb + own.get("friction", 0.0),
            )
            if force.quadratic:
                self.robot.omit(f"force '{name}'", "quadratic friction left out")
        elif isinstance(force, JointSpring):
            if force.force is not None or force.potential is not None or force.law is not None:
                self.robot.omit(f"force '{name}'", "nonlinear law left out")
            self.act(step, stiffness=float(force.stiffness or 0.0), rest=float(force.rest))
            if force.damping:
                damping = force.damping + self.acting[step].get("damping", 0.0)
                self.act(step, damping=damping)
        elif isinstance(force, JointStop):
            self.act(step, lower=force.lower, upper=force.upper)

    def add_transmission(self, name: str, transmission: Transmission) -> None:
        """Add a coordinate that follows another one."""
        ties = transmission.ties()
        steps = [self.step_of(*_split(tie.joint, self.model.joints)) for tie in ties]
        if len(ties) != 2 or None in steps:
            self.omit("transmission", name, transmission)
            return
        follower, leader = ties
        if leader.profile is None:
            numbers: tuple[float, ...] | None = (0.0, -leader.coefficient / follower.coefficient)
        else:
            numbers = _polynomial(leader.profile)
        if numbers is None:
            self.robot.omit(f"transmission '{name}'", "left out; its profile is not a polynomial")
            return
        if getattr(transmission, "efficiency", 1.0) != 1.0:
            self.robot.omit(f"transmission '{name}'", "efficiency left out")
        self.robot.couplings.append(Coupling(name, str(steps[0]), str(steps[1]), numbers))

    def add_rotors(self) -> None:
        """Add armatures and motors; other systems and ports are listed."""
        model, rotors = self.model, rotors_of(self.model)
        driven = set()
        for name, rotor in rotors.items():
            end = rotor_port(model, name)
            place = model.ports[end]
            assert isinstance(place, JointPort)
            step = self.step_of(place.joint, place.freedom)
            if step is not None:
                driven.add(end)
                self.act(
                    step, armature=rotor.inertia + self.acting.get(step, {}).get("armature", 0.0)
                )
            else:
                self.robot.omit(f"system '{name}'", "left out; its joint is not in the tree")
        for name, system in model.systems.items():
            if name not in rotors:
                self.omit("system", name, system)
        for name, port in model.ports.items():
            step = self.step_of(port.joint, port.freedom) if isinstance(port, JointPort) else None
            if name in driven:
                continue
            if step is None:
                self.omit("port", name, port)
                continue
            self.robot.motors.append(Motor(name, step))
            assert isinstance(port, JointPort)
            if port.value is not None or port.law is not None:
                self.robot.omit(f"port '{name}'", "value or law left out; written as a motor")


#: Joints that a tree is made of.
TREE = (
    kinds.Weld,
    kinds.Revolute,
    kinds.Prismatic,
    kinds.Cylindrical,
    kinds.Universal,
    kinds.Planar,
    kinds.Cartesian,
    kinds.Spherical,
)


def _name(body: Body | Ground) -> str | None:
    return body.name if isinstance(body, Body) else None


def _split(name: str, joints: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return joint and free direction of "joint" or "joint.freedom"."""
    if name in joints:
        return name, None
    joint, _, freedom = name.rpartition(".")
    return joint, freedom


def _polynomial(profile: Any) -> tuple[float, ...] | None:
    """Return the coefficients of a profile, the constant zero; None: it is no polynomial."""
    if not callable(profile):
        return None
    x = np.arange(DEGREE + 1) - DEGREE / 2
    value = np.array([float(profile(float(at))) for at in x])
    c = np.linalg.solve(np.vander(x, increasing=True), value)
    c[abs(c) < 1e-13 * abs(c).max(initial=0.0)] = 0.0
    for at in (-2.7, 0.3, 1.6, 3.1):
        if abs(np.polynomial.polynomial.polyval(at, c) - profile(at)) > 1e-10 * (
            1 + abs(value).max()
        ):
            return None
    return (0.0, *c[1:].tolist())


def _looks(shape: Shape, at: Array, R: Array) -> list[Look]:
    """Return looks of a shape with its reference point and axes on a body."""
    where: dict[str, Any] = {"position": at, "rotation": R}
    if isinstance(shape, Composite):
        return [
            look
            for part, position, rotation in shape.parts
            for look in _looks(
                part, at + R @ np.asarray(position), R @ as_rotation_matrix(rotation)
            )
        ]
    if isinstance(shape, Box):
        return [Look(kind="box", sizes=shape.size, **where)]
    if isinstance(shape, Cylinder):
        return [Look(kind="cylinder", sizes=(shape.radius, shape.length), **where)]
    if isinstance(shape, Sphere):
        return [Look(kind="ellipsoid", sizes=(shape.radius,) * 3, **where)]
    if isinstance(shape, Ellipsoid):
        return [Look(kind="ellipsoid", sizes=shape.semi_axes, **where)]
    return []
