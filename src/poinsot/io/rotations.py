"""Rotations of a model file: a matrix, a quaternion, or angles."""

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Discriminator, Tag

from poinsot.io.entries import OneOf, Part
from poinsot.io.numbers import Number, Numbers, Triple, Vector, matrix, of_several

_ROTATION = "a 3x3 matrix, a quaternion of four numbers (scalar first), axis_angle or euler"
_MATRIX = BeforeValidator(lambda value: matrix(value, _ROTATION))


class AxisAngle(Part):
    """A turn about an axis."""

    axis: Vector
    """Axis, any length."""
    angle: Number
    """Angle [rad]."""


class Euler(Part):
    """Turns about a sequence of axes."""

    sequence: str
    """Axes: ZXZ turns about moving axes, zxz about fixed ones."""
    angles: Numbers
    """Angles [rad]."""


class Turn(OneOf):
    """A rotation by angles."""

    axis_angle: AxisAngle | None = None
    euler: Euler | None = None


def _kind_of_rotation(value: Any) -> str:
    if isinstance(value, dict | Turn):
        return "turn"
    flat = isinstance(value, list | tuple) and len(value) == 4
    return "quaternion" if flat else "matrix"


Rotation: TypeAlias = Annotated[
    Annotated[tuple[Triple, Triple, Triple], _MATRIX, Tag("matrix")]
    | Annotated[tuple[float, float, float, float], of_several(4, _ROTATION), Tag("quaternion")]
    | Annotated[Turn, Tag("turn")],
    Discriminator(_kind_of_rotation),
]
