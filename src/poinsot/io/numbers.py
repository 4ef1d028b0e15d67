"""Numbers, vectors, rotations and names of a model file."""

import math
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Tag

from poinsot.io.entries import OneOf, Part, unexpected

#: Larger numbers are refused: their cubes would overflow.
LARGEST = 1e100


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: Any, wanted: str = "a number", whole: Any = ...) -> float:
    """Return a number; a message shows the whole value that it is a part of."""
    shown = value if whole is ... else whole
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            raise unexpected(wanted, shown) from None
        raise unexpected(wanted, shown, "; write numbers without quotes and underscores")
    if not is_number(value):
        raise unexpected(wanted, shown)
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise unexpected(f"{wanted}, finite and below {LARGEST:g}", shown)
    return float(value)


def several(value: Any, count: int | None, wanted: str, whole: Any = ...) -> tuple[float, ...]:
    """Return so many numbers, or any number of them."""
    shown = value if whole is ... else whole
    if not isinstance(value, list | tuple) or (count is not None and len(value) != count):
        raise unexpected(wanted, shown)
    return tuple(number(entry, wanted, shown) for entry in value)


def _rows(value: Any) -> tuple[tuple[float, ...], ...]:
    wanted = "a list of lists of three numbers"
    if not isinstance(value, list | tuple):
        raise unexpected(wanted, value)
    return tuple(several(row, 3, wanted) for row in value)


def matrix(value: Any, wanted: str) -> tuple[tuple[float, ...], ...]:
    """Return three rows of three numbers."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise unexpected(wanted, value)
    return tuple(several(row, 3, wanted, value) for row in value)


def of_several(count: int | None, wanted: str) -> BeforeValidator:
    """Return what checks so many numbers, or any number of them."""
    return BeforeValidator(lambda value: several(value, count, wanted))


Triple: TypeAlias = tuple[float, float, float]
Number: TypeAlias = Annotated[float, BeforeValidator(number)]
Numbers: TypeAlias = Annotated[tuple[float, ...], of_several(None, "a list of numbers")]
Vector: TypeAlias = Annotated[Triple, of_several(3, "three numbers")]
Two: TypeAlias = Annotated[tuple[float, float], of_several(2, "two numbers")]
Rows: TypeAlias = Annotated[tuple[tuple[float, float, float], ...], BeforeValidator(_rows)]


def _inertia(value: Any) -> Any:
    wanted = "three principal values or a 3x3 matrix"
    flat = isinstance(value, list | tuple) and all(is_number(entry) for entry in value)
    return several(value, 3, wanted) if flat else matrix(value, wanted)


Inertia: TypeAlias = Annotated[Triple | tuple[Triple, Triple, Triple], BeforeValidator(_inertia)]


def _elements(value: Any) -> Any:
    wanted = "the number of elements, or the positions of all nodes"
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole else several(value, None, wanted)


def _held(value: Any) -> Any:
    wanted = "a condition such as clamped-free, or pairs such as [0, u_x]"
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not all(map(_is_hold, value)):
        raise unexpected(wanted, value)
    return tuple((node, component) for node, component in value)


def _is_hold(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and isinstance(value[0], int)
        and isinstance(value[1], str)
    )


Elements: TypeAlias = Annotated[int | tuple[float, ...], BeforeValidator(_elements)]
Held: TypeAlias = Annotated[str | tuple[tuple[int, str], ...], BeforeValidator(_held)]


def _relaxation(value: Any) -> Any:
    wanted = "pairs of a ratio and a time, such as [[0.5, 0.1]]"
    if not isinstance(value, list | tuple):
        raise unexpected(wanted, value)
    return tuple(several(pair, 2, wanted, value) for pair in value)


Relaxation: TypeAlias = Annotated[tuple[tuple[float, float], ...], BeforeValidator(_relaxation)]


def _rigid(value: Any) -> Any:
    given = [value] if isinstance(value, str) else value
    known = "shear", "extension"
    if not isinstance(given, list | tuple) or any(each not in known for each in given):
        raise unexpected("shear, extension or a list of both", value)
    return value if isinstance(value, str) else tuple(value)


Strain: TypeAlias = Literal["shear", "extension"]
Rigid: TypeAlias = Annotated[Strain | tuple[Strain, ...], BeforeValidator(_rigid)]


def _six(value: Any) -> Any:
    wanted = "six numbers or a 6x6 matrix"
    if not isinstance(value, list | tuple) or len(value) != 6:
        raise unexpected(wanted, value)
    if all(is_number(entry) for entry in value):
        return several(value, 6, wanted)
    return tuple(several(row, 6, wanted, value) for row in value)


Six: TypeAlias = Annotated[tuple[float, ...] | tuple[tuple[float, ...], ...], BeforeValidator(_six)]


def _times(value: Any) -> Any:
    return number(value) if is_number(value) else _six(value)


#: One number, or as many as `Six`.
OneOrSix: TypeAlias = Annotated[
    float | tuple[float, ...] | tuple[tuple[float, ...], ...], BeforeValidator(_times)
]


def _two(value: Any, wanted: str) -> tuple[str, str]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise unexpected(wanted, value)
    return _name(value[0]), _name(value[1])


def _pair(value: Any) -> tuple[str, str]:
    return _two(value, "the names of two bodies, such as [ground, crank]")


def _ports(value: Any) -> tuple[str, str]:
    return _two(value, "the names of two ports, such as [motor.coil, hinge]")


def _name(value: Any) -> str:
    if not isinstance(value, str):
        hint = "; put it into quotes" if value is not None and not isinstance(value, list) else ""
        raise unexpected("a name", value, hint)
    return value


Name: TypeAlias = Annotated[str, BeforeValidator(_name)]
Pair: TypeAlias = Annotated[tuple[str, str], BeforeValidator(_pair)]
PortPair: TypeAlias = Annotated[tuple[str, str], BeforeValidator(_ports)]


# -- rotations -------------------------------------------------------------------------------------

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
    """Sequence of axes: upper case, ZXZ, for moving axes; lower case, zxz, for fixed axes."""
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
