"""Read URDF by yourdfpy, after checks of what that parser would repair or guess."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from poinsot.bodies.looks import Look
from poinsot.errors import RobotFileError, did_you_mean, optional
from poinsot.robots.description import Array, Coupling, Joint, Link, Motor, Robot, Step
from poinsot.robots.meshes import MeshFiles
from poinsot.robots.mjcf_looks import colour_of
from poinsot.robots.source import read_xml
from poinsot.so3 import exp

GRAVITY = (0.0, 0.0, -9.81)
TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
#: Length across an axis of a unit vector that is not along it.
ASIDE = 0.3
#: Element and attribute -> how many numbers it holds.
NUMBERS = {
    ("origin", "xyz"): 3,
    ("origin", "rpy"): 3,
    ("axis", "xyz"): 3,
    ("mass", "value"): 1,
    **{("inertia", key): 1 for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")},
    **{("limit", key): 1 for key in ("lower", "upper", "effort", "velocity")},
    ("dynamics", "damping"): 1,
    ("dynamics", "friction"): 1,
    ("mimic", "multiplier"): 1,
    ("mimic", "offset"): 1,
    ("box", "size"): 3,
    ("cylinder", "radius"): 1,
    ("cylinder", "length"): 1,
    ("sphere", "radius"): 1,
    ("mesh", "scale"): 3,
    ("color", "rgba"): 4,
}
#: What must stand in an element.
NEEDED = {
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz"),
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "sphere": ("radius",),
    "mesh": ("filename",),
    "mimic": ("joint",),
}


def read_urdf(
    path: str | Path,
    *,
    floating_base: bool = False,
    packages: Mapping[str, str | Path] | None = None,
    looks: bool = True,
) -> Robot:
    """Return the robot of a URDF file."""
    yourdfpy = optional("yourdfpy", "robots")
    root = read_xml(path, "URDF", "robot")
    _Check(root, str(path)).all()
    for visual in [v for link in root.iter("link") for v in link.findall("visual")]:
        if visual.find("geometry") is None or not len(visual.find("geometry") or ()):
            raise RobotFileError(str(path), "visual", "has no geometry; add one or remove it")
    omitted = list(_unknown(root))
    text = ElementTree.tostring(root)
    robot = yourdfpy.URDF.load(BytesIO(text), build_scene_graph=False, load_meshes=False).robot
    files = MeshFiles(Path(path), packages or {}) if looks else None
    found = _Reader(robot, str(path), floating_base, files).read()
    for element, reason in omitted:
        found.omit(element, reason)
    return found


# -- checks ----------------------------------------------------------------------------------------


class _Check:
    """What is wrong with a URDF file, by the names of its links and joints."""

    def __init__(self, root: ElementTree.Element, file: str) -> None:
        self.root, self.file = root, file

    def refuse(self, element: str, problem: str) -> RobotFileError:
        """Return the error of an element."""
        return RobotFileError(self.file, element, problem)

    def all(self) -> None:
        """Raise `RobotFileError` for invalid elements, and remove collision geometry."""
        if "xacro" in "".join(each.tag for each in self.root.iter()):
            raise self.refuse(
                "URDF", "has macros; expand them first: xacro robot.xacro > robot.urdf"
            )
        self.root.set("name", self.root.get("name") or Path(self.file).stem)
        links, joints = (self.named(tag) for tag in ("link", "joint"))
        if not links:
            raise self.refuse("robot", "has no links; add a <link>")
        for name, link in links.items():
            for collision in link.findall("collision"):
                link.remove(collision)
            self.inertial(f"link '{name}'", link)
            self.numbers(f"link '{name}'", link)
        for name, joint in joints.items():
            self.joint(f"joint '{name}'", joint, links, joints)
            self.numbers(f"joint '{name}'", joint)
        self.tree(links, joints)

    def named(self, tag: str) -> dict[str, ElementTree.Element]:
        """Return links or joints by name."""
        found: dict[str, ElementTree.Element] = {}
        for k, element in enumerate(self.root.findall(tag)):
            name = element.get("name")
            if not name:
                raise self.refuse(f"{tag} {k + 1}", "has no name; give it one")
            if name in found:
                raise self.refuse(f"{tag} '{name}'", "is defined twice; rename one of them")
            found[name] = element
        return found

    def inertial(self, what: str, link: ElementTree.Element) -> None:
        """Raise `RobotFileError` for an <inertial> without mass or inertia."""
        inertial = link.find("inertial")
        if inertial is None:
            return
        for tag in ("mass", "inertia"):
            if inertial.find(tag) is None:
                raise self.refuse(what, f"has an <inertial> without <{tag}>")

    def numbers(self, what: str, element: ElementTree.Element) -> None:
        """Raise `RobotFileError` for attributes that are missing or not numbers."""
        for each in element.iter():
            for key in NEEDED.get(each.tag, ()):
                if each.get(key) is None:
                    raise self.refuse(what, f"has a <{each.tag}> without '{key}'")
            for key, text in each.attrib.items():
                count = NUMBERS.get((each.tag, key))
                if count is None:
                    continue
                try:
                    values = [float(word) for word in text.replace(",", " ").split()]
                except ValueError:
                    values = []
                if (each.tag, key) == ("mesh", "scale") and len(values) == 1:
                    continue
                if len(values) != count or not all(map(math.isfinite, values)):
                    wanted = "a number" if count == 1 else f"{count} numbers"
                    raise self.refuse(what, f"has {key}='{text}' in <{each.tag}>, not {wanted}")

    def joint(
        self,
        what: str,
        joint: ElementTree.Element,
        links: Mapping[str, ElementTree.Element],
        joints: Mapping[str, ElementTree.Element],
    ) -> None:
        """Refuse a joint of an unknown type, or between links that are not there."""
        kind = joint.get("type")
        if kind not in TYPES:
            raise self.refuse(
                what, f"is of the unknown type '{kind}'; {did_you_mean(str(kind), TYPES)}"
            )
        for tag in ("parent", "child"):
            end = joint.find(tag)
            name = None if end is None else end.get("link")
            if name is None:
                raise self.refuse(what, f"has no <{tag} link=...>")
            if name not in links:
                hint = did_you_mean(name, links)
                raise self.refuse(what, f"has the {tag} '{name}', which is not a link; {hint}")
        mimic = joint.find("mimic")
        if mimic is not None and mimic.get("joint") not in joints:
            leader = str(mimic.get("joint"))
            hint = did_you_mean(leader, joints)
            raise self.refuse(what, f"mimics '{leader}', which is not a joint; {hint}")

    def tree(
        self,
        links: Mapping[str, ElementTree.Element],
        joints: Mapping[str, ElementTree.Element],
    ) -> None:
        """Refuse links with two parents, and links that form no tree."""
        parents: dict[str, str] = {}
        for name, joint in joints.items():
            child = joint.find("child").get("link")  # type: ignore[union-attr]
            if child in parents:
                raise self.refuse(
                    f"link '{child}'",
                    f"is the child of two joints, the second is '{name}'; URDF files are trees, "
                    "close loops with from_urdf(..., loops='loops.yaml')",
                )
            parents[str(child)] = joint.find("parent").get("link")  # type: ignore
        roots = [name for name in links if name not in parents]
        if len(roots) > 1:
            raise self.refuse(
                "robot",
                f"has several root links: {', '.join(map(repr, roots))}; connect them by joints",
            )
        reached = set(roots)
        while more := {child for child, parent in parents.items() if parent in reached} - reached:
            reached |= more
        if len(reached) < len(links):
            name = next(name for name in links if name not in reached)
            raise self.refuse(
                f"link '{name}'", "is in a closed chain of joints without a root; remove one joint"
            )


def _unknown(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Yield unsupported elements by name, and the reason."""
    for element in root:
        name = element.get("name") or element.get("reference") or ""
        title = f"{element.tag} '{name}'" if name else element.tag
        if element.tag == "transmission":
            yield title, "ignored; each moving joint has a port, '<joint>.motor'"
        elif element.tag not in ("link", "joint", "material"):
            yield title, "ignored; it is not part of URDF"
    for joint in root.findall("joint"):
        for tag in ("safety_controller", "calibration"):
            if joint.find(tag) is not None:
                yield f"joint '{joint.get('name')}'", f"{tag} ignored"


# -- reading ---------------------------------------------------------------------------------------


class _Reader:
    """Converts a robot of yourdfpy to a description."""

    def __init__(self, robot: Any, file: str, floating: bool, files: MeshFiles | None) -> None:
        self.of, self.files, self.floating = robot, files, floating
        self.robot = Robot(name=robot.name, file=file, gravity=GRAVITY)
        self.materials = {each.name: each for each in robot.materials}
        #: Joints with a velocity limit.
        self.fast: list[str] = []

    def read(self) -> Robot:
        """Return the robot."""
        links = {link.name: link for link in self.of.links}
        below: dict[str, list[Any]] = {name: [] for name in links}
        offsets = {joint.name: joint.mimic.offset or 0.0 for joint in self.of.joints if joint.mimic}
        for joint in self.of.joints:
            below[joint.parent].append(joint)
        children = {joint.child for joint in self.of.joints}
        root = next(name for name in links if name not in children)
        name = f"{root}.base"
        self.robot.joints.append(Joint(name, None, root, free=self.floating))
        places = {root: np.eye(4)}
        rest = [root]
        while rest:
            link = rest.pop(0)
            self.add_link(links[link], places[link])
            for joint in below[link]:
                origin = places[link] @ (np.eye(4) if joint.origin is None else joint.origin)
                places[joint.child] = self.add_joint(joint, origin, offsets.get(joint.name, 0.0))
                rest.append(joint.child)
        leaders = {joint.name: joint for joint in self.of.joints}
        for joint in self.of.joints:
            if joint.mimic is not None:
                self.add_mimic(joint, leaders)
        if self.fast:
            names = ", ".join(map(repr, self.fast))
            self.robot.omit(f"joints {names}", "velocity and effort limits of motors ignored")
        return self.robot

    def refuse(self, element: str, problem: str) -> RobotFileError:
        """Return the error of an element."""
        return RobotFileError(self.robot.file, element, problem)

    def add_link(self, link: Any, place: Array) -> None:
        """Add a link at its place in the world."""
        own = Link(link.name, place[:3, 3].copy(), place[:3, :3].copy())
        if link.inertial is not None:
            if link.inertial.mass < 0:
                raise self.refuse(
                    f"link '{link.name}'",
                    f"has a mass of {link.inertial.mass:g} kg; it cannot be negative",
                )
            origin = np.eye(4) if link.inertial.origin is None else link.inertial.origin
            R = origin[:3, :3]
            own = replace(
                own,
                mass=float(link.inertial.mass),
                centre=origin[:3, 3].copy(),
                inertia=R @ link.inertial.inertia @ R.T,
            )
        if self.files is not None:
            looks = [look for visual in link.visuals for look in self.looks(link.name, visual)]
            own = replace(own, looks=tuple(looks))
        self.robot.links[link.name] = own

    def looks(self, link: str, visual: Any) -> Iterator[Look]:
        """Yield what a visual looks like."""
        at, geometry = np.eye(4) if visual.origin is None else visual.origin, visual.geometry
        colour, opacity = self.colour(visual.material)
        drawn: dict[str, Any] = {"position": at[:3, 3], "rotation": at[:3, :3]}
        drawn |= {"colour": colour, "opacity": opacity}
        if geometry.box is not None:
            yield Look(kind="box", sizes=geometry.box.size.tolist(), **drawn)
        elif geometry.cylinder is not None:
            sizes = float(geometry.cylinder.radius), float(geometry.cylinder.length)
            yield Look(kind="cylinder", sizes=sizes, **drawn)
        elif geometry.sphere is not None:
            yield Look(kind="ellipsoid", sizes=(float(geometry.sphere.radius),) * 3, **drawn)
        elif geometry.mesh is not None:
            assert self.files is not None
            mesh, own = self.files.load(
                geometry.mesh.filename, geometry.mesh.scale, f"link '{link}'"
            )
            yield Look(kind="mesh", mesh=mesh, **drawn | {"colour": colour or own})

    def colour(self, material: Any) -> tuple[str | None, float]:
        """Return colour and opacity of a material, which may be that of another link by name."""
        if material is not None and material.color is None:
            material = self.materials.get(material.name)
        if material is None or material.color is None:
            return None, 1.0
        rgba = material.color.rgba
        return colour_of(rgba), float(np.clip(rgba[3], 0, 1))

    def add_joint(self, joint: Any, origin: Array, offset: float) -> Array:
        """Add a joint whose frame is at `origin`; return where its child is at zero."""
        name, kind = joint.name, joint.type
        if kind in ("fixed", "floating"):
            self.robot.joints.append(Joint(name, joint.parent, joint.child, free=kind != "fixed"))
            return origin
        own = np.asarray(joint.axis, dtype=float)
        length = np.linalg.norm(own)
        if not length:
            raise self.refuse(f"joint '{name}'", "has an axis of length zero; give a direction")
        axis, point = origin[:3, :3] @ (own / length), origin[:3, 3].copy()
        if kind == "planar":
            self.robot.joints.append(
                Joint(name, joint.parent, joint.child, self.in_plane(joint, origin, axis))
            )
            return origin
        turns = kind != "prismatic"
        step = Step(name, "hinge" if turns else "slide", point, axis, **self.numbers(joint, offset))
        self.robot.joints.append(Joint(name, joint.parent, joint.child, (step,)))
        if joint.mimic is None:
            self.robot.motors.append(Motor(f"{name}.motor", name))
        return origin if not offset else _moved(origin, step, offset)

    def in_plane(self, joint: Any, origin: Array, axis: Array) -> tuple[Step, ...]:
        """Return two slides in the plane across the axis, and the turn about it.

        The first slide is along the x axis of the joint's frame, or along y if x is the axis.
        """
        point, own = origin[:3, 3].copy(), origin[:3, :3].T
        across = [e - (e @ axis) * axis for e in own]
        x = next(v for v in across if np.linalg.norm(v) > ASIDE)
        x = x / np.linalg.norm(x)
        if joint.limit is not None or joint.dynamics is not None:
            self.robot.omit(
                f"joint '{joint.name}'", "limits and friction of a planar joint ignored"
            )
        slides = [
            Step(f"{joint.name}.{label}", "slide", point, along)
            for label, along in (("x", x), ("y", np.cross(axis, x)))
        ]
        return (*slides, Step(f"{joint.name}.turn", "hinge", point, axis))

    def numbers(self, joint: Any, offset: float) -> dict[str, Any]:
        """Return limits and friction of a joint; coordinates count from the offset."""
        found: dict[str, Any] = {}
        if joint.dynamics is not None:
            found["damping"] = float(joint.dynamics.damping or 0.0)
            found["friction"] = float(joint.dynamics.friction or 0.0)
        limit = joint.limit
        if limit is None:
            return found
        if limit.effort:
            found["effort"] = float(limit.effort)
        if joint.type != "continuous" and (limit.lower or limit.upper):
            lower, upper = float(limit.lower or 0.0), float(limit.upper or 0.0)
            if not lower < upper:
                raise self.refuse(
                    f"joint '{joint.name}'",
                    f"has the limits {lower:g} and {upper:g}: lower is not below upper",
                )
            found |= {"lower": lower - offset, "upper": upper - offset}
        if limit.velocity:
            self.fast.append(joint.name)
        return found

    def add_mimic(self, joint: Any, joints: Mapping[str, Any]) -> None:
        """Let a joint follow another one; both count from where they are at zero."""
        factor = 1.0 if joint.mimic.multiplier is None else float(joint.mimic.multiplier)
        leader = joints[joint.mimic.joint]
        movable = ("revolute", "continuous", "prismatic")
        what = f"joint '{joint.name}'"
        if joint.type not in movable or leader.type not in movable:
            self.robot.omit(
                what, f"mimic of '{leader.name}' ignored; both must be revolute or prismatic"
            )
            return
        if leader.mimic is not None and leader.mimic.offset:
            self.robot.omit(
                what,
                f"mimics '{leader.name}', which has an offset; coordinates start at the offsets",
            )
        name = f"{joint.name}.mimic"
        self.robot.couplings.append(Coupling(name, joint.name, leader.name, (0.0, factor)))
        if joint.mimic.offset:
            self.robot.omit(
                what, f"its coordinate is zero at the mimic offset {joint.mimic.offset:g}"
            )


def _moved(origin: Array, step: Step, by: float) -> Array:
    """Return a frame after a step."""
    moved = origin.copy()
    if step.turns:
        moved[:3, :3] = exp(by * step.axis) @ origin[:3, :3]
    else:
        moved[:3, 3] += by * step.axis
    return moved
