"""Rigid bodies with a place at the start, and the ground."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.mechanics.forms import GROUND, Form, direction, dot, half_square
from poinsot.mechanics.inertia import Shape
from poinsot.mechanics.tensors import PrincipalInertia

Vector3 = NDArray[np.float64]

#: Rigidity constraints of a body.
RIGIDITY = 6
#: What a vanishing Euler value of a rod or a point mass becomes, as a part of the largest one.
LIGHT = 1e-8


def rigidity(index: int) -> list[Form]:
    """Return the constraints (d_i·d_j - delta_ij) of a body [LKB26, eq. (26)], halved for i = j.

    In the order 11, 22, 33, 12, 13, 23. The gradient of d_1·d_2 is (d_2, d_1), without the factor
    1/2 that is printed in eq. (27).
    """
    d = [direction(index, unit) for unit in np.eye(3)]
    squares = [half_square(d_i, 1.0) for d_i in d]
    return [*squares, dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2])]


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

    def local_point(self, world: Vector3) -> Vector3:
        """Return a point in the ground's axes: the same."""
        return world

    def local_direction(self, world: Vector3) -> Vector3:
        """Return a direction in the ground's axes: the same."""
        return world


@dataclass(frozen=True, eq=False)
class Marker:
    """A frame attached to a body: a point X in director axes, and axes R_PM. See `add_marker`.

    `position` [m] and `R_WM` are where it is at the start, world axes.
    """

    name: str
    body: "Body"
    position: Vector3
    R_WM: NDArray[np.float64]

    @property
    def X(self) -> Vector3:
        """The point in director axes [m]."""
        return self.body.local_point(self.position)

    @property
    def R_PM(self) -> NDArray[np.float64]:
        """The axes in director axes, as columns."""
        return self.body.R_WP.T @ self.R_WM


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body at the start of a motion. Made by `Model.add_body`.

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
    """

    name: str
    index: int
    shape: Shape
    principal: PrincipalInertia
    position: Vector3
    R_WB: NDArray[np.float64]
    velocity: Vector3 | None
    angular_velocity: Vector3 | None

    def __repr__(self) -> str:
        """Name and shape."""
        return f"<Body '{self.name}': {type(self.shape).__name__}, {self.mass:g} kg>"

    @property
    def R_WP(self) -> NDArray[np.float64]:
        """The directors at the start, as columns: the principal axes of inertia P."""
        return self.R_WB @ self.principal.R_BP

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.principal.mass

    @property
    def director_mass(self) -> NDArray[np.float64]:
        """The diagonal of M = diag(m, E1, E2, E3), three times each; shape (12,).

        A flat body (one Euler value zero) stays as it is: rigidity determines the director without
        mass. A thin rod or a point mass (two or three zeros) has no inertia about an axis, so that
        its spin would be undetermined: the zeros become a small part of the largest value.
        """
        euler = self.principal.euler
        if np.sum(euler > 0) < 2:
            euler = np.where(euler > 0, euler, LIGHT * (euler.max() or self.mass))
        return np.repeat([self.mass, *euler], 3)

    def local_point(self, world: Vector3) -> Vector3:
        """Return a point, given in world axes at the start, in director axes."""
        return self.R_WP.T @ (world - self.position)

    def local_direction(self, world: Vector3) -> Vector3:
        """Return a direction, given in world axes at the start, in director axes."""
        return self.R_WP.T @ world


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
