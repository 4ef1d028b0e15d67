"""Rigid bodies with a place at the start, and the ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.shapes import Shape
from poinsot.bodies.tensors import PrincipalInertia
from poinsot.errors import InputError
from poinsot.frames.forms import (
    GROUND,
    Frame,
    Packed,
    VectorForm,
    direction,
    dot,
    flat,
    half_square,
    stack,
    three,
)

Vector3 = NDArray[np.float64]

#: Rigidity constraints of a body.
RIGIDITY = 6
#: What a vanishing Euler value of a rod or a point mass becomes, as a part of the largest one.
LIGHT = 1e-8


def rigidity(bodies: int) -> Packed:
    """Return the constraints d_i·d_j - delta_ij of bodies [LKB26, eq. (26)], halved for i = j.

    For each body in the order 11, 22, 33, 12, 13, 23. The gradient of d_1·d_2 is (d_2, d_1),
    without the factor 1/2 that is printed in eq. (27).
    """
    d = [direction(0, unit) for unit in np.eye(3)]
    squares = [half_square(d_i, 1.0) for d_i in d]
    one = stack([*squares, dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2])], 1)
    body = np.arange(bodies)[:, None]
    terms = np.tile(np.column_stack(one.terms), (bodies, 1, 1))
    terms[:, :, 0] += RIGIDITY * body
    terms[:, :, 2:] += 3 * body[:, :, None]
    vectors = np.tile(np.array([flat(d_i) for d_i in d]), (bodies, 1, 1))
    vectors[:, :, 0] = body
    return Packed(terms.tobytes(), vectors.tobytes(), np.tile(one.c, bodies).tobytes(), {})


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

    def on(self, world: ArrayLike) -> VectorForm:
        """Return a point that stays where it is."""
        return VectorForm((), three(world))

    along = on


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

    @cached_property
    def R_WP(self) -> NDArray[np.float64]:
        """The directors at the start, as columns: the principal axes of inertia P."""
        return self.R_WB @ self.principal.R_BP

    @cached_property
    def frame(self) -> Frame:
        """Position and directors at the start as plain numbers, of which few are handled faster."""
        return tuple(map(tuple, (self.position.tolist(), *self.R_WP.T.tolist())))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.principal.mass

    def local_point(self, world: Vector3) -> Vector3:
        """Return a point, given in world axes at the start, in director axes."""
        return self.R_WP.T @ (world - self.position)

    def local_direction(self, world: Vector3) -> Vector3:
        """Return a direction, given in world axes at the start, in director axes."""
        return self.R_WP.T @ world

    def on(self, world: ArrayLike) -> VectorForm:
        """Return the point of the body that is there in the world at the start."""
        (x, y, z), (p, q, r) = three(world), self.frame[0]
        return VectorForm(((self.index, (1.0, *self._local(x - p, y - q, z - r))),))

    def along(self, world: ArrayLike) -> VectorForm:
        """Return the direction of the body that points there in the world at the start."""
        return VectorForm(((self.index, (0.0, *self._local(*three(world)))),))

    def _local(self, x: float, y: float, z: float) -> tuple[float, float, float]:
        _, d1, d2, d3 = self.frame
        return (
            d1[0] * x + d1[1] * y + d1[2] * z,
            d2[0] * x + d2[1] * y + d2[2] * z,
            d3[0] * x + d3[1] * y + d3[2] * z,
        )


def director_mass(bodies: Sequence[Body]) -> NDArray[np.float64]:
    """Return the diagonal of M = diag(m, E1, E2, E3) of bodies, three times each; (12 bodies,).

    A flat body (one Euler value zero) stays as it is: rigidity determines the director without
    mass. A thin rod or a point mass (two or three zeros) has no inertia about an axis, so that its
    spin would be undetermined: the zeros become a small part of the largest value.
    """
    inertia = [body.principal for body in bodies]
    mass = np.array([(p.mass, p.E1, p.E2, p.E3) for p in inertia]).reshape(-1, 4)
    largest = mass[:, 1:].max(axis=1)
    light = LIGHT * np.where(largest > 0, largest, mass[:, 0])
    undetermined = (mass[:, 1:] > 0).sum(axis=1) < 2
    mass[:, 1:] = np.where(undetermined[:, None] & (mass[:, 1:] == 0), light[:, None], mass[:, 1:])
    return np.repeat(mass.reshape(-1), 3)


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
