"""Kinds of bodies by shape."""

from typing import Final

from poinsot.bodies.beam import Beam
from poinsot.bodies.body import Body
from poinsot.bodies.flexible import Flexible
from poinsot.bodies.flexible_body import FlexibleBody
from poinsot.bodies.point_mass import MassPoint
from poinsot.bodies.rigid import Rigid
from poinsot.bodies.shapes import PointMass, Shape

#: Shapes that make no rigid bodies.
KINDS: Final[dict[type[Shape], type[Body]]] = {
    PointMass: MassPoint,
    Beam: Flexible,
    FlexibleBody: Flexible,
}


def kind_of(shape: Shape) -> type[Body]:
    """Return the kind of body that a shape makes."""
    return KINDS.get(type(shape), Rigid)
