"""Write a robot as MJCF."""

from xml.etree import ElementTree

import numpy as np

from poinsot.bodies.looks import Look
from poinsot.robots.description import Array, Frame, Joint, Link, Loop, Robot, Step
from poinsot.robots.writing import Store, add, relative, rgba, text_of
from poinsot.so3 import as_rotation_matrix, matrix_to_quat

#: The least moment of inertia that MuJoCo gets [kg m^2]: it takes no body without.
LEAST = 1e-14


def write_mjcf(robot: Robot, meshes: Store | None) -> str:
    """Return the text; `meshes` keeps meshes in files."""
    return _Writer(robot, meshes).text()


class _Writer:
    def __init__(self, robot: Robot, meshes: Store | None) -> None:
        self.robot, self.meshes = robot, meshes
        self.root = root = ElementTree.Element("mujoco", model=robot.name)
        add(
            root,
            "compiler",
            angle="radian",
            autolimits="true",
            inertiafromgeom="false",
        )
        add(root, "option", gravity=robot.gravity)
        self.assets = add(root, "asset")
        self.world = add(root, "worldbody")
        self.bodies: dict[str | None, ElementTree.Element] = {None: self.world}
        self.places: dict[str | None, tuple[Array, Array]] = {None: (np.zeros(3), np.eye(3))}

    def text(self) -> str:
        """Return the text."""
        robot, rest = self.robot, list(self.robot.joints)
        while rest:
            joint = next(joint for joint in rest if joint.parent in self.bodies)
            rest.remove(joint)
            self.add_body(joint)
        for frame in robot.frames:
            if frame.name != f"{frame.link}.frame":
                self.add_site(frame)
        equalities = ElementTree.Element("equality")
        for loop in robot.loops:
            self.add_loop(equalities, loop)
        for each in robot.couplings:
            numbers = (*each.coefficients, 0.0, 0.0, 0.0, 0.0)[:5]
            add(
                equalities,
                "joint",
                name=each.name,
                joint1=each.follower,
                joint2=each.leader,
                polycoef=numbers,
            )
        actuators = ElementTree.Element("actuator")
        for motor in robot.motors:
            add(actuators, "motor", name=motor.name, joint=motor.step)
        self.root.extend(part for part in (equalities, actuators) if len(part))
        if not len(self.assets):
            self.root.remove(self.assets)
        return text_of(self.root)

    def add_body(self, joint: Joint) -> None:
        """Add a link and the joint that it hangs on."""
        link = self.robot.links[joint.child]
        place = link.position, link.rotation
        at, R = relative(self.places[joint.parent], *place)
        above = self.bodies[joint.parent]
        if joint.free and joint.parent is not None:
            above, (at, R) = self.world, place
        body = add(above, "body", name=link.name, pos=at, quat=matrix_to_quat(R))
        self.bodies[link.name], self.places[link.name] = body, place
        moments, axes = np.linalg.eigh(link.inertia)
        axes[:, 2] *= np.linalg.det(axes)
        add(
            body,
            "inertial",
            pos=link.centre,
            quat=matrix_to_quat(axes),
            mass=link.mass,
            diaginertia=np.maximum(moments, LEAST),
        )
        if joint.free:
            add(body, "freejoint", name=joint.name)
        for step in joint.steps:
            self.add_step(body, link, step)
        for k, look in enumerate(link.looks):
            self.add_look(body, link, look, k)

    def add_step(self, body: ElementTree.Element, link: Link, step: Step) -> None:
        """Add a joint of MuJoCo."""
        turned = link.rotation.T
        limits = None
        if step.lower is not None or step.upper is not None:
            far = 1e9
            limits = (
                -far if step.lower is None else step.lower,
                far if step.upper is None else step.upper,
            )
        add(
            body,
            "joint",
            name=step.name,
            type=step.kind,
            pos=turned @ (step.point - link.position),
            axis=None if step.kind == "ball" else turned @ step.axis,
            range=limits,
            damping=step.damping or None,
            frictionloss=step.friction or None,
            armature=step.armature or None,
            stiffness=step.stiffness or None,
            springref=step.rest or None,
        )

    def add_site(self, frame: Frame) -> None:
        """Add a frame as a site."""
        at, R = relative(self.places[frame.link], frame.position, frame.rotation)
        add(self.bodies[frame.link], "site", name=frame.name, pos=at, quat=matrix_to_quat(R))

    def add_loop(self, equalities: ElementTree.Element, loop: Loop) -> None:
        """Add what closes a loop."""
        a, b = (loop.a, loop.b) if loop.a.link is not None else (loop.b, loop.a)
        anchor = relative(self.places[a.link], a.position, a.rotation)[0]
        if not loop.welded:
            add(equalities, "connect", name=loop.name, body1=a.link, body2=b.link, anchor=anchor)
            return
        at, turn = relative(self.places[a.link], *self.places[b.link])
        relpose = (*at, *matrix_to_quat(turn))
        add(equalities, "weld", name=loop.name, body1=a.link, body2=b.link, relpose=relpose)

    def add_look(self, body: ElementTree.Element, link: Link, look: Look, k: int) -> None:
        """Add a geom without mass that touches nothing."""
        quat = matrix_to_quat(as_rotation_matrix(look.rotation))
        half = [size / 2 for size in look.sizes]
        kind, sizes, mesh = look.kind, list(look.sizes), None
        if look.kind == "box":
            sizes = half
        elif look.kind == "cylinder":
            sizes = [look.sizes[0], half[1]]
        elif look.mesh is not None:
            if self.meshes is None:
                what = f"look {k + 1} of link '{link.name}'"
                self.robot.omit(what, "left out; meshes are written only together with a file")
                return
            mesh = f"{link.name}_{k + 1}"
            add(self.assets, "mesh", name=mesh, file=self.meshes(mesh, look.mesh))
        add(
            body,
            "geom",
            type=kind,
            size=sizes or None,
            mesh=mesh,
            pos=look.position,
            quat=quat,
            rgba=rgba(look.colour, look.opacity),
            contype="0",
            conaffinity="0",
            group="2",
            mass="0",
        )
