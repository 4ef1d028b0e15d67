"""A mechanism as plain data, from which every code under test builds the same model.

SI units. Positions, axes and velocities in world axes at the start; `rotation` is R_WB, and the
inertia is given about the centre of mass in the principal axes B of the body.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: How a joint names the ground.
GROUND = "ground"
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


def _vector() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body: mass [kg], principal inertias [kg m^2], place and motion at the start."""

    name: str
    mass: float
    inertia: Sequence[float]
    position: Array
    rotation: Array = field(default_factory=lambda: np.eye(3))
    velocity: Array = field(default_factory=_vector)
    angular_velocity: Array = field(default_factory=_vector)


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of two bodies by name.

    `kind` is `spherical`, `revolute`, `universal`, `prismatic`, `pin` (a point of b stays on the
    line through `point` along `axis` of a: what closes a planar loop without repeating rows) or
    `rod` (the distance from `point` on a to `point_b` on b stays). `axis` is fixed in a; `axis_b`
    is the second axis of a universal joint, fixed in b. What a kind does not use stays zero.
    """

    name: str
    kind: str
    a: str
    b: str
    point: Array
    axis: Array = field(default_factory=_vector)
    axis_b: Array = field(default_factory=_vector)
    point_b: Array = field(default_factory=_vector)


@dataclass(frozen=True, eq=False)
class Spring:
    """A linear spring-damper between two points: k [N/m], c [N s/m], rest length [m]."""

    name: str
    a: str
    b: str
    point_a: Array
    point_b: Array
    stiffness: float
    damping: float
    rest_length: float


@dataclass(frozen=True, eq=False)
class TorsionSpring:
    """A linear spring-damper in a revolute joint, slack at the start: k [N m/rad], c [N m s]."""

    name: str
    joint: str
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies, joints and springs under gravity [m/s^2].

    The joints that come first form a tree: a joint whose second body is already held by an earlier
    joint closes a loop. `planar` says that all motion is in the plane of x and y, and that all
    joints are hinges or pins along z.
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    springs: tuple[Spring, ...] = ()
    torsion_springs: tuple[TorsionSpring, ...] = ()
    gravity: Sequence[float] = STANDARD_GRAVITY
    planar: bool = False

    @cached_property
    def body(self) -> dict[str, Body]:
        """Bodies by name."""
        return {body.name: body for body in self.bodies}

    @cached_property
    def tree(self) -> dict[str, Joint]:
        """The joint that holds each body, by the body's name; a body without one is free."""
        held: dict[str, Joint] = {}
        for joint in self.joints:
            if joint.kind in TREE_KINDS and joint.b != GROUND and joint.b not in held:
                held[joint.b] = joint
        return held

    @cached_property
    def loops(self) -> tuple[Joint, ...]:
        """The joints that close loops."""
        tree = set(map(id, self.tree.values()))
        return tuple(joint for joint in self.joints if id(joint) not in tree)

    @cached_property
    def depth(self) -> int:
        """Bodies on the longest branch of the tree."""
        depths = {GROUND: 0}
        for body in self.bodies:
            branch = [body.name]
            while branch[-1] not in depths:
                joint = self.tree.get(branch[-1])
                branch.append(joint.a if joint else GROUND)
            for child, parent in zip(branch[-2::-1], branch[:0:-1], strict=True):
                depths[child] = depths[parent] + 1
        return max(depths.values())

    def frame(self, name: str) -> tuple[Array, Array]:
        """Return position and rotation of a body, or of the ground."""
        if name == GROUND:
            return np.zeros(3), np.eye(3)
        return self.body[name].position, self.body[name].rotation

    def local(self, name: str, point: Array) -> Array:
        """Return a point of the world in the axes of a body."""
        position, rotation = self.frame(name)
        return rotation.T @ (point - position)


#: Kinds of joints that can carry a body in a tree.
TREE_KINDS = ("spherical", "revolute", "universal", "prismatic")


def box_inertia(mass: float, size: ArrayLike) -> tuple[float, float, float]:
    """Return the principal inertias of a cuboid, m (b^2 + c^2)/12 and so on [kg m^2]."""
    a, b, c = np.asarray(size, dtype=float) ** 2
    return mass * (b + c) / 12, mass * (a + c) / 12, mass * (a + b) / 12


def frame_along(direction: ArrayLike) -> Array:
    """Return a rotation matrix whose first column points along a direction."""
    x = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    y = np.cross(np.eye(3)[int(np.argmin(abs(x)))], x)
    y /= np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def spun(bodies: Sequence[Body], omega: ArrayLike) -> tuple[Body, ...]:
    """Return bodies that turn as one about an axis through the origin with omega [rad/s].

    Any mechanism whose grounded joints lie on the axis, and turn about any or that very axis, may
    start so.
    """
    turn = np.asarray(omega, dtype=float)
    return tuple(
        replace(body, velocity=np.cross(turn, body.position), angular_velocity=turn)
        for body in bodies
    )
