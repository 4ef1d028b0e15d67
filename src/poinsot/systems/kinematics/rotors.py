"""Rotors: inertias that move with a joint coordinate, such as armatures of motors."""

from dataclasses import dataclass

import numpy as np

from poinsot.frames.places import WIDTH, local
from poinsot.parts.coordinates import Coordinate
from poinsot.ph.matrices import Vector, dense
from poinsot.systems.statics.frames import FramePlace


@dataclass(frozen=True, eq=False)
class Rotor:
    """An inertia [kg m^2] on an angle, or a mass [kg] on a displacement."""

    coordinate: Coordinate
    inertia: float

    def row(self, place: FramePlace) -> Vector:
        """Return what the coordinate moves by with every motion; (k,)."""
        at = self.coordinate
        rows = [WIDTH * body + k for body in at.bodies for k in range(WIDTH)]
        slope = at.direction.B(local(place.f, at.bodies))[:, 0]
        return np.asarray(slope @ dense(place.P[rows]))

    def acceleration(self, place: FramePlace, accelerations: Vector) -> float:
        """Return that of the coordinate, of those of frames; `place` has their rates."""
        at = self.coordinate
        q, v, a = (local(part, at.bodies) for part in (place.f, place.rates, accelerations))
        return float(at.direction.B(q)[:, 0] @ a + at.direction.dy(q, v)[0] @ v)
