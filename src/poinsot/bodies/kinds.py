"""Kinds of bodies: which one a shape makes."""

from typing import Final

from poinsot.bodies.body import Body
from poinsot.bodies.rigid import Rigid
from poinsot.bodies.shapes import Shape

#: Shapes that make no rigid bodies.
KINDS: Final[dict[type[Shape], type[Body]]] = {}


def kind_of(shape: Shape) -> type[Body]:
    """Return the kind of body that a shape makes."""
    return KINDS.get(type(shape), Rigid)
