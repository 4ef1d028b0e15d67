"""The description of a robot in URDF and MJCF: links, joints, and what acts on them.

Places and axes are in world axes with all coordinates at zero, as in a model; inertias are in the
axes of their link. A joint is a sequence of steps from its parent to its child, each a hinge, a
slide or a ball. A joint without steps is fixed; a free joint has no steps either.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.looks import Look
from poinsot.so3 import exp

Array: TypeAlias = NDArray[np.float64]
#: A displacement of a rigid body, x = p + R X.
Shift: TypeAlias = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame with a name on a link, or on the world (None); place and axes in the world."""

    name: str
    link: str | None
    position: Array
    rotation: Array


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid link: its frame in the world, mass [kg], centre of mass and inertia in its own axes.

    The inertia is the tensor about the centre of mass [kg m^2]; a mass of zero is that of a frame
    alone. `looks` are drawn in the axes of the link, from its origin.
    """

    name: str
    position: Array
    rotation: Array
    mass: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    looks: tuple[Look, ...] = ()

    @property
    def centre_in_world(self) -> Array:
        """The centre of mass in the world [m]."""
        return np.asarray(self.position + self.rotation @ self.centre)


@dataclass(frozen=True, eq=False)
class Step:
    """One free direction, or the three of a ball; point [m] and axis in the world.

    Limits [rad or m], the rest of a spring and all others count from where coordinates are zero.
    """

    name: str
    kind: Literal["hinge", "slide", "ball"]
    point: Array
    axis: Array
    lower: float | None = None
    upper: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    #: The greatest torque or force of its motor [N m or N]; it tells how stiff its stops should be.
    effort: float | None = None

    @property
    def turns(self) -> bool:
        """Whether it lets the child turn."""
        return self.kind != "slide"


@dataclass(frozen=True, eq=False)
class Joint:
    """What joins a link to its parent (None: the world): steps, none of a fixed or a free joint."""

    name: str
    parent: str | None
    child: str
    steps: tuple[Step, ...] = ()
    free: bool = False

    @property
    def fixed(self) -> bool:
        """Whether it moves at all."""
        return not self.steps and not self.free


@dataclass(frozen=True, eq=False)
class Loop:
    """What closes a loop: a point of two links that they share, or two frames that coincide.

    The frames are in the world where coordinates are zero; `welded`: their axes coincide, too.
    """

    name: str
    a: Frame
    b: Frame
    welded: bool


@dataclass(frozen=True)
class Coupling:
    """A coordinate that follows another one: x = sum of c_k y^k, both by the names of steps."""

    name: str
    follower: str
    leader: str
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class Motor:
    """An actuator of a step, by its name."""

    name: str
    step: str


@dataclass(frozen=True)
class Omission:
    """Something of a file that is not in the model: which element, and why."""

    element: str
    reason: str

    def __str__(self) -> str:
        return f"{self.element}: {self.reason}"


@dataclass(eq=False)
class Robot:
    """All of a robot, and coordinates of its steps where it starts that are not zero.

    That of a ball is the rotation of its child in the axes of the world at zero; `placed` are the
    frames of free links at the start, position and rotation.
    """

    name: str
    file: str
    gravity: tuple[float, float, float]
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[Joint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    motors: list[Motor] = field(default_factory=list)
    start: dict[str, float | Array] = field(default_factory=dict)
    placed: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    omissions: list[Omission] = field(default_factory=list)

    def omit(self, element: str, reason: str) -> None:
        """Note that something is not in the model."""
        self.omissions.append(Omission(element, reason))

    @property
    def steps(self) -> Iterator[Step]:
        """All steps of all joints."""
        return (step for joint in self.joints for step in joint.steps)

    def moved(self, shift: Shift, steps: Sequence[Step]) -> Shift:
        """Return a displacement and then those of steps at the start, whose axes are as at zero."""
        for step in steps:
            p, R = shift
            q = self.start.get(step.name, 0.0)
            if step.kind == "slide":
                shift = p + q * (R @ step.axis), R
                continue
            turn = q if isinstance(q, np.ndarray) else exp(q * step.axis)
            shift = p + R @ (step.point - turn @ step.point), R @ turn
        return shift

    def displacements(self) -> dict[str | None, Shift]:
        """Return how links are displaced at the start, by name."""
        found: dict[str | None, Shift] = {None: (np.zeros(3), np.eye(3))}
        for joint in self.joints:
            found[joint.child] = self.moved(found[joint.parent], joint.steps)
            if joint.child in self.placed:
                link, (position, R) = self.links[joint.child], self.placed[joint.child]
                turn = R @ link.rotation.T
                found[joint.child] = position - turn @ link.position, turn
        return found
