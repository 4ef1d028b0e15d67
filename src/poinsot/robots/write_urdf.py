"""Write a robot as URDF."""

import warnings
from collections.abc import Mapping
from xml.etree import ElementTree

import numpy as np

from poinsot.bodies.looks import Look
from poinsot.robots.description import Array, Coupling, Joint, Link, Robot, Step
from poinsot.robots.writing import Store, add, relative, rgba, text_of
from poinsot.so3 import as_rotation_matrix, matrix_to_euler

#: Distance of a link's frame from the axis of its joint that is none, over its size [m].
NEAR = 1e-12
WORLD = "world"


def write_urdf(robot: Robot, meshes: Store | None) -> str:
    """Return the text; `meshes` keeps meshes in files."""
    return _Writer(robot, meshes).text()


def roll_pitch_yaw(R: Array) -> Array:
    """Return the angles of an origin [rad]; at a gimbal lock, those with a yaw of zero."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Gimbal lock")
        return matrix_to_euler("xyz", R)


class _Writer:
    def __init__(self, robot: Robot, meshes: Store | None) -> None:
        self.robot, self.meshes = robot, meshes
        self.root = ElementTree.Element("robot", name=robot.name)
        #: Name of a link -> its frame in the world.
        self.places: dict[str, tuple[Array, Array]] = {WORLD: (np.zeros(3), np.eye(3))}

    def text(self) -> str:
        """Return the text."""
        robot = self.robot
        base = self.base()
        if base is None:
            add(self.root, "link", name=WORLD)
        elif base.free:
            robot.omit(
                f"joint '{base.name}'",
                "left out; the root link of a URDF file is fixed unless it is read with a "
                "floating base",
            )
        if any(robot.gravity[:2]) or robot.gravity[2] != -9.81:
            robot.omit("gravity", "left out; URDF has no gravity")
        followers = {each.follower: each for each in robot.couplings}
        for joint in self.ordered():
            self.add_joint(joint, followers)
        for loop in robot.loops:
            robot.omit(f"joint '{loop.name}'", "left out; URDF has no closed loops")
        for frame in robot.frames:
            if frame.name not in (f"{frame.link}.frame", WORLD):
                name = frame.link or WORLD
                add(self.root, "link", name=frame.name)
                at = relative(self.places[name], frame.position, frame.rotation)
                self.joint(f"{frame.name}.fixed", "fixed", name, frame.name, *at)
        return text_of(self.root)

    def base(self) -> Joint | None:
        """Return the joint of a link that is the first of all; None: the world is."""
        on_world = [joint for joint in self.robot.joints if joint.parent is None]
        if len(on_world) != 1 or any(frame.link is None for frame in self.robot.frames):
            return None
        link = self.robot.links[on_world[0].child]
        at_origin = not link.position.any() and np.array_equal(link.rotation, np.eye(3))
        return on_world[0] if at_origin and not on_world[0].steps else None

    def ordered(self) -> list[Joint]:
        """Return joints, parents before their children."""
        found, rest = list[Joint](), list(self.robot.joints)
        known: set[str | None] = {None}
        while rest:
            ready = [joint for joint in rest if joint.parent in known]
            found += ready
            known |= {joint.child for joint in ready}
            rest = [joint for joint in rest if joint not in ready]
        return found

    def joint(
        self, name: str, kind: str, parent: str, child: str, at: Array, R: Array
    ) -> ElementTree.Element:
        """Add a joint."""
        element = add(self.root, "joint", name=name, type=kind)
        add(element, "origin", xyz=at, rpy=roll_pitch_yaw(R))
        add(element, "parent", link=parent)
        add(element, "child", link=child)
        return element

    def add_joint(self, joint: Joint, followers: Mapping[str, Coupling]) -> None:
        """Add a joint, step by step, and its child."""
        link, here = self.robot.links[joint.child], joint.parent or WORLD
        kinds = {"hinge": "continuous", "slide": "prismatic"}
        steps = [part for step in joint.steps for part in self.hinges(step)]
        for k, step in enumerate(steps):
            last = k == len(steps) - 1
            child = joint.child if last else f"{joint.child}.{k + 1}"
            R = link.rotation
            at = self.origin(link, step) if last else step.point
            self.places[child] = at, R
            limited = step.lower is not None or step.upper is not None
            kind = "revolute" if step.turns and limited else kinds[step.kind]
            element = self.joint(step.name, kind, here, child, *relative(self.places[here], at, R))
            add(element, "axis", xyz=R.T @ step.axis)
            self.add_numbers(element, step, followers)
            if last:
                self.add_link(link)
            else:
                add(self.root, "link", name=child)
            here = child
        if not steps and joint is self.base():
            self.places[joint.child] = link.position, link.rotation
            self.add_link(link)
        elif not steps:
            self.places[joint.child] = link.position, link.rotation
            at, R = relative(self.places[here], link.position, link.rotation)
            kind = "floating" if joint.free else "fixed"
            self.joint(joint.name, kind, here, joint.child, at, R)
            self.add_link(link)

    def hinges(self, step: Step) -> list[Step]:
        """Return a step as hinges and slides: a ball is three hinges."""
        if step.kind != "ball":
            return [step]
        self.robot.omit(f"joint '{step.name}'", "ball joint written as three hinges")
        return [
            Step(f"{step.name}.{label}", "hinge", step.point, axis)
            for label, axis in zip("xyz", np.eye(3), strict=True)
        ]

    def origin(self, link: Link, step: Step) -> Array:
        """Return where the frame of a link is: its own if the axis goes through it."""
        arm = link.position - step.point
        if step.kind == "slide":
            return link.position
        off = np.linalg.norm(np.cross(arm, step.axis))
        return link.position if off <= NEAR * (1 + np.linalg.norm(arm)) else step.point

    def add_numbers(
        self, element: ElementTree.Element, step: Step, followers: Mapping[str, Coupling]
    ) -> None:
        """Add limits, friction and what a joint follows; list the rest."""
        what = f"joint '{step.name}'"
        if step.kind == "slide" or step.lower is not None or step.upper is not None:
            far = 1e9
            lower = -far if step.lower is None else step.lower
            upper = far if step.upper is None else step.upper
            add(element, "limit", lower=lower, upper=upper, effort=step.effort or far, velocity=far)
        if step.damping or step.friction:
            add(element, "dynamics", damping=step.damping, friction=step.friction)
        for label, value in (("spring", step.stiffness), ("rotor", step.armature)):
            if value:
                self.robot.omit(what, f"{label} left out; URDF has none")
        coupling = followers.get(step.name)
        if coupling is not None:
            numbers = coupling.coefficients
            if any(numbers[2:]):
                self.robot.omit(what, "nonlinear coupling left out; URDF has constant ratios only")
            else:
                add(element, "mimic", joint=coupling.leader, multiplier=numbers[1])

    def add_link(self, link: Link) -> None:
        """Add a link."""
        element, place = add(self.root, "link", name=link.name), self.places[link.name]
        centre = relative(place, link.centre_in_world, link.rotation)
        inertial, J = add(element, "inertial"), link.inertia
        add(inertial, "origin", xyz=centre[0], rpy=roll_pitch_yaw(centre[1]))
        add(inertial, "mass", value=link.mass)
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": J[i, j] for i in range(3) for j in range(i, 3)}
        add(inertial, "inertia", **entries)
        for k, look in enumerate(link.looks):
            self.add_look(element, link, look, k)

    def add_look(self, element: ElementTree.Element, link: Link, look: Look, k: int) -> None:
        """Add a visual."""
        R = link.rotation @ as_rotation_matrix(look.rotation)
        at = link.position + link.rotation @ np.asarray(look.position)
        a, b, c = (*look.sizes, 0.0, 0.0, 0.0)[:3]
        what = f"look {k + 1} of link '{link.name}'"
        if look.kind == "ellipsoid" and not a == b == c:
            self.robot.omit(what, "left out; URDF has no ellipsoids")
            return
        if look.kind == "mesh" and self.meshes is None:
            self.robot.omit(what, "left out; meshes are written only together with a file")
            return
        visual = add(element, "visual")
        place, turn = relative(self.places[link.name], at, R)
        add(visual, "origin", xyz=place, rpy=roll_pitch_yaw(turn))
        geometry = add(visual, "geometry")
        if look.kind == "box":
            add(geometry, "box", size=look.sizes)
        elif look.kind == "cylinder":
            add(geometry, "cylinder", radius=a, length=b)
        elif look.kind == "ellipsoid":
            add(geometry, "sphere", radius=a)
        elif look.mesh is not None and self.meshes is not None:
            add(geometry, "mesh", filename=self.meshes(f"{link.name}_{k + 1}", look.mesh))
        colour = rgba(look.colour, look.opacity)
        if colour is not None:
            add(add(visual, "material", name=f"{link.name}_{k + 1}"), "color", rgba=colour)
