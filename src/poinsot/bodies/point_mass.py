"""Point masses: a position and no orientation, three unknowns in all coordinates."""

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from poinsot.bodies.body import Body, Vector3
from poinsot.errors import InputError

#: How far from the point something may be attached to it, relative to where it is, and what sums
#: of numbers about 1 leave at the origin [m].
NEAR, ROUND_OFF = 1e-8, 1e-15
#: What can be attached to it.
HELD = "use parts that need its position only (Spherical, Rod, PointOnLine, PointOnPlane, Spring)"


@dataclass(frozen=True, eq=False, repr=False)
class MassPoint(Body):
    """A point mass; the directors of its frame are the axes of the world, and stay so."""

    turns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse an orientation, and a spin."""
        if not np.array_equal(self.R_WB, np.eye(3)):
            self._refuse("leave its rotation out")
        if self.angular_velocity is not None and self.angular_velocity.any():
            self._refuse("leave its angular_velocity out")

    def _refuse(self, remedy: str) -> NoReturn:
        raise InputError(
            f"body '{self.name}' is a point mass, which has no orientation; {remedy}, or give it a "
            "size (Sphere, RigidBody, ...)"
        )

    @property
    def inertia(self) -> tuple[float, float, float, float]:
        """Mass [kg]; directors have none."""
        return self.mass, 0.0, 0.0, 0.0

    def local_point(self, world: Vector3) -> Vector3:
        """Return zero; refuse a point elsewhere."""
        away, size = np.linalg.norm(world - self.position), np.linalg.norm(self.position)
        if away > NEAR * size + ROUND_OFF:
            place = ", ".join(f"{x:g}" for x in self.position)
            self._refuse(f"attach to it at its position ({place}), not {away:.3g} m from there")
        return np.zeros(3)

    def local_direction(self, world: Vector3) -> Vector3:
        """Refuse: no direction is fixed in a point."""
        self._refuse(HELD)
