"""Bodies and markers at the start, and the ground: what joints, forces and ports attach to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.looks import Look
from poinsot.bodies.shapes import Shape
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.errors import InputError
from poinsot.frames.forms import GROUND, Frame, VectorForm, three

Vector3 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """The inertial frame, to which joints and forces can attach."""

    name: ClassVar[str] = "ground"
    index: ClassVar[int] = GROUND

    def __repr__(self) -> str:
        """Return its name."""
        return "<ground>"

    @property
    def position(self) -> Vector3:
        """The origin of the world."""
        return np.zeros(3)

    @property
    def R_WB(self) -> NDArray[np.float64]:
        """The axes of the world."""
        return np.eye(3)

    R_WP = R_WB

    def local_point(self, world: Vector3) -> Vector3:
        """Return the point itself: local and world coordinates are the same."""
        return np.asarray(world, dtype=float)

    def at(self, world: ArrayLike | None) -> Ground:
        """Return the ground itself."""
        return self

    def on(self, world: ArrayLike) -> VectorForm:
        """Return a fixed point or direction."""
        return VectorForm((), three(world))

    along = on


@dataclass(frozen=True, eq=False)
class Marker:
    """A frame attached to a body or to the ground; made by `Model.add_marker`.

    Attributes
    ----------
    name : str
        Name in the model.
    body : Body or Ground
        What carries the marker.
    position, R_WM
        Origin [m] (3,) and axes as columns (3, 3) at the start, in world axes.
    """

    name: str
    body: Body | Ground
    position: Vector3
    R_WM: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Raise `InputError` if nothing can be attached to the body at this point."""
        self.body.local_point(self.position)

    @property
    def X(self) -> Vector3:
        """Origin of the marker in the director axes of its body [m]; (3,)."""
        return self.body.local_point(self.position)

    @property
    def R_PM(self) -> NDArray[np.float64]:
        """Axes of the marker in the director axes of its body, as columns; (3, 3)."""
        return self.body.R_WP.T @ self.R_WM

    @property
    def carrier(self) -> Body:
        """The body that carries the marker; raises `InputError` if that is the ground."""
        return loaded_body(self.body, f"marker '{self.name}'")

    def world(self, own: ArrayLike) -> Vector3:
        """Return a point given in marker axes [m] in world axes at the start [m]; (3,)."""
        return np.asarray(self.position + self.R_WM @ np.asarray(own, dtype=float))

    def at(self, own: ArrayLike | None) -> Marker:
        """Return the marker itself, which is what joints attach to."""
        return self

    def on(self, own: ArrayLike) -> VectorForm:
        """Return the form of a point given in marker axes [m]."""
        return self.body.on(self.world(own))

    def along(self, own: ArrayLike) -> VectorForm:
        """Return the form of a direction given in marker axes."""
        return self.body.along(self.R_WM @ np.asarray(own, dtype=float))


@dataclass(frozen=True, eq=False)
class Body(ABC):
    """A body of a model; made by `Model.add_body`.

    Attributes
    ----------
    name, index
        Name of the body and its index in the model.
    shape : Shape
        Mass properties and geometry, in body axes B.
    principal : PrincipalInertia
        Mass and principal inertia; the directors are the principal axes P.
    position, R_WB
        Centre of mass [m] (3,) and rotation matrix (3, 3) at the start, world axes.
    velocity, angular_velocity
        Velocity of the centre of mass [m/s] and angular velocity [rad/s] at the start, world axes.
        None: computed so that the joints are satisfied.
    looks
        What is drawn instead of the shape.
    """

    name: str
    index: int
    shape: Shape
    principal: PrincipalInertia
    position: Vector3
    R_WB: NDArray[np.float64]
    velocity: Vector3 | None
    angular_velocity: Vector3 | None
    looks: tuple[Look, ...] = ()

    def __repr__(self) -> str:
        """Return name, shape and mass."""
        return f"<Body '{self.name}': {type(self.shape).__name__}, {self.mass:g} kg>"

    @cached_property
    def R_WP(self) -> NDArray[np.float64]:
        """Directors at the start, as columns: the principal axes of inertia P; (3, 3)."""
        return self.R_WB @ self.principal.R_BP

    @cached_property
    def frame(self) -> Frame:
        """Position and directors at the start as tuples, which are faster than small arrays."""
        return tuple(map(tuple, (self.position.tolist(), *self.R_WP.T.tolist())))

    #: Whether it has an orientation of its own.
    turns: ClassVar[bool]
    #: Whether it deforms, and whether it is a frame that such a body carries.
    deforms: ClassVar[bool] = False
    carried: ClassVar[bool] = False

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.principal.mass

    @property
    @abstractmethod
    def inertia(self) -> tuple[float, float, float, float]:
        """Mass [kg] of phi and Euler values [kg m^2] of d1, d2, d3."""

    @abstractmethod
    def local_point(self, world: Vector3) -> Vector3:
        """Return a point, given in world axes at the start [m], in director axes [m]; (3,)."""

    @abstractmethod
    def local_direction(self, world: Vector3) -> Vector3:
        """Return a direction, given in world axes at the start, in director axes; (3,)."""

    def at(self, world: ArrayLike | None) -> Body:
        """Return what a joint at this point attaches to: the body itself."""
        return self

    def on(self, world: ArrayLike) -> VectorForm:
        """Return the form of the body point at this position at the start [m], world axes."""
        X = self.local_point(np.asarray(world, dtype=float))
        return VectorForm(((self.index, (1.0, *three(X))),))

    def along(self, world: ArrayLike) -> VectorForm:
        """Return the form of the body direction that points this way at the start, world axes."""
        a = self.local_direction(np.asarray(world, dtype=float))
        return VectorForm(((self.index, (0.0, *three(a))),))


def partner(value: object, what: str) -> Body | Ground:
    """Return a body or the ground; raise `InputError` for anything else."""
    if isinstance(value, Body | Ground):
        return value
    raise InputError(f"{what}: expected a body or model.ground, got {value!r}")


def loaded_body(value: object, what: str) -> Body:
    """Return a body; raise `InputError` for anything else."""
    if isinstance(value, Body):
        return value
    raise InputError(f"{what}: expected a body that can move, got {value!r}")


def turned_body(value: object, what: str) -> Body:
    """Return a body that has an orientation; raise `InputError` for anything else."""
    body = loaded_body(value, what)
    if body.turns:
        return body
    raise InputError(
        f"{what}: {body!r} has no orientation, so that torques and body axes are not defined; use "
        "a shape with a size, such as Sphere or RigidBody"
    )
