"""Rigid bodies: directors along their principal axes of inertia, which stay orthonormal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Vector3
from poinsot.errors import InputError
from poinsot.frames.forms import VectorForm, direction, dot, half_square, three
from poinsot.frames.stacks import Packed, flat, stack
from poinsot.ph.matrices import Vector

#: Constraints of a rigid body.
RIGIDITY = 6


@dataclass(frozen=True, eq=False, repr=False)
class Rigid(Body):
    """A rigid body."""

    turns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a body without any inertia, whose rotation nothing determines."""
        if not self.principal.euler.any():
            raise InputError(
                f"body '{self.name}' ({type(self.shape).__name__}) has no inertia about any axis, "
                "so that its rotation is not determined; use PointMass, or give it a size"
            )

    @property
    def inertia(self) -> tuple[float, float, float, float]:
        """Mass [kg] and Euler values [kg m^2]."""
        of = self.principal
        return of.mass, of.E1, of.E2, of.E3

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


def rigidity(bodies: Sequence[int]) -> Packed:
    """Return the constraints d_i·d_j - delta_ij of bodies [LKB26, eq. (26)], halved for i = j.

    For each body in the order 11, 22, 33, 12, 13, 23. The gradient of d_1·d_2 is (d_2, d_1),
    without the factor 1/2 that is printed in eq. (27).
    """
    (own_terms, own_vectors, c), count = _rigidity_of_one(), len(bodies)
    number = np.arange(count)[:, None]
    terms, vectors = np.tile(own_terms, (count, 1, 1)), np.tile(own_vectors, (count, 1, 1))
    terms[:, :, 0] += RIGIDITY * number
    terms[:, :, 2:] += 3 * number[:, :, None]
    vectors[:, :, 0] = np.array(bodies, dtype=np.intp)[:, None]
    return Packed(terms.tobytes(), vectors.tobytes(), np.tile(c, count).tobytes(), {})


@cache
def _rigidity_of_one() -> tuple[NDArray[np.float64], NDArray[np.float64], Vector]:
    """Return terms, vectors and constants of the first body."""
    d = [direction(0, unit) for unit in np.eye(3)]
    squares = [half_square(d_i, 1.0) for d_i in d]
    one = stack([*squares, dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2])], 1)
    return np.column_stack(one.terms), np.array([flat(d_i) for d_i in d]), one.c
