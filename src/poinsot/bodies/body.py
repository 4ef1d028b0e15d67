"""Bodies with a place at the start, and the ground: what joints, forces and ports attach to."""

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
    """The inertial frame as a partner of joints and forces."""

    name: ClassVar[str] = "ground"
    index: ClassVar[int] = GROUND

    def __repr__(self) -> str:
        """As it is called."""
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
        """Return a point of the world."""
        return np.asarray(world, dtype=float)

    def at(self, world: ArrayLike | None) -> Ground:
        """Return itself."""
        return self

    def on(self, world: ArrayLike) -> VectorForm:
        """Return a point that stays where it is."""
        return VectorForm((), three(world))

    along = on


@dataclass(frozen=True, eq=False)
class Marker:
    """A frame attached to a body or the ground: a point X in director axes, and axes R_PM.

    `position` [m] and `R_WM` are where it is while bodies are where they were added, world axes.
    See `add_marker`.
    """

    name: str
    body: Body | Ground
    position: Vector3
    R_WM: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Refuse a place that the body does not have."""
        self.body.local_point(self.position)

    @property
    def X(self) -> Vector3:
        """The point in director axes [m]."""
        return self.body.local_point(self.position)

    @property
    def R_PM(self) -> NDArray[np.float64]:
        """The axes in director axes, as columns."""
        return self.body.R_WP.T @ self.R_WM

    @property
    def carrier(self) -> Body:
        """The body that it is on, unless that is the ground."""
        return loaded_body(self.body, f"marker '{self.name}'")

    def world(self, own: ArrayLike) -> Vector3:
        """Return where one of its points is [m], given in its own axes."""
        return np.asarray(self.position + self.R_WM @ np.asarray(own, dtype=float))

    def at(self, own: ArrayLike | None) -> Marker:
        """Return itself: it is at one place of its body."""
        return self

    def on(self, own: ArrayLike) -> VectorForm:
        """Return a point, given in its own axes."""
        return self.body.on(self.world(own))

    def along(self, own: ArrayLike) -> VectorForm:
        """Return a direction, given in its own axes."""
        return self.body.along(self.R_WM @ np.asarray(own, dtype=float))


@dataclass(frozen=True, eq=False)
class Body(ABC):
    """A body where it was added; see `kinds` for those there are. Made by `Model.add_body`.

    Parameters
    ----------
    name, index
        Name, and place in the model.
    shape : Shape
        Mass properties and geometry, in body axes B.
    position, R_WB
        Centre of mass [m] and rotation, world axes.
    velocity, angular_velocity
        Of the centre of mass [m/s] and of the body [rad/s], world axes; None: to be completed.
    looks
        What is drawn of it instead of its shape.
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
        """Name and shape."""
        return f"<Body '{self.name}': {type(self.shape).__name__}, {self.mass:g} kg>"

    @cached_property
    def R_WP(self) -> NDArray[np.float64]:
        """The directors at the start, as columns: the principal axes of inertia P."""
        return self.R_WB @ self.principal.R_BP

    @cached_property
    def frame(self) -> Frame:
        """Position and directors at the start as plain numbers, of which few are handled faster."""
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
        """Mass [kg] and Euler values [kg m^2] of phi, d1, d2, d3."""

    @abstractmethod
    def local_point(self, world: Vector3) -> Vector3:
        """Return a point, given in world axes at the start, in director axes."""

    @abstractmethod
    def local_direction(self, world: Vector3) -> Vector3:
        """Return a direction, given in world axes at the start, in director axes."""

    def at(self, world: ArrayLike | None) -> Body:
        """Return what moves with a point, given in world axes at the start: the body itself."""
        return self

    def on(self, world: ArrayLike) -> VectorForm:
        """Return the point of the body that is there in the world at the start."""
        X = self.local_point(np.asarray(world, dtype=float))
        return VectorForm(((self.index, (1.0, *three(X))),))

    def along(self, world: ArrayLike) -> VectorForm:
        """Return the direction of the body that points there in the world at the start."""
        a = self.local_direction(np.asarray(world, dtype=float))
        return VectorForm(((self.index, (0.0, *three(a))),))


def partner(value: object, what: str) -> Body | Ground:
    """Return a body or the ground, or say what was expected."""
    if isinstance(value, Body | Ground):
        return value
    raise InputError(f"{what}: expected a body or model.ground, got {value!r}")


def loaded_body(value: object, what: str) -> Body:
    """Return a body, or say what was expected."""
    if isinstance(value, Body):
        return value
    raise InputError(f"{what}: expected a body that can move, got {value!r}")


def turned_body(value: object, what: str) -> Body:
    """Return a body that torques can turn, or say what was expected."""
    body = loaded_body(value, what)
    if body.turns:
        return body
    raise InputError(
        f"{what}: {body!r} has no orientation, so that it has neither torques nor axes of its own; "
        "take a body with a size, such as Sphere or RigidBody"
    )
