"""Functions in a model file: formulas of springs and dampers, and inputs over time."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from poinsot.errors import InputError
from poinsot.io.entries import OneOf, Part, unexpected
from poinsot.io.numbers import Numbers, Rows, is_number, number
from poinsot.io.variables import OF_COORDINATE, OF_MOTION, OF_RATE, OF_TIME
from poinsot.ph.formulas import Formula


class Variables:
    """A formula in these variables; a number is one, too."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, value: Any) -> str:
        """Return the text, once it has been read without a mistake."""
        if is_number(value):
            return repr(number(value))
        if not isinstance(value, str):
            raise unexpected(f"a formula of {', '.join(self.names)}", value)
        try:
            Formula(value, self.names)
        except InputError as error:
            raise PydanticCustomError("formula", "{why}", {"why": str(error)}) from None
        return value


_IN_FILES = WithJsonSchema({"type": ["string", "number"]})
Elastic: TypeAlias = Annotated[str, BeforeValidator(Variables(*OF_COORDINATE)), _IN_FILES]
Viscous: TypeAlias = Annotated[str, BeforeValidator(Variables(*OF_RATE)), _IN_FILES]
Feedback: TypeAlias = Annotated[str, BeforeValidator(Variables(*OF_MOTION)), _IN_FILES]
_of_time = Variables(*OF_TIME)
_of_coordinate = Variables(*OF_COORDINATE)


class ScalarTable(Part):
    """A tabulated input, linear between its times."""

    times: Numbers
    """Times [s], increasing."""
    values: Numbers
    """The input at each time."""


class VectorTable(Part):
    """A tabulated input of three components, linear between its times."""

    times: Numbers
    """Times [s], increasing."""
    values: Rows
    """The input at each time."""


class ScalarInput(OneOf):
    """An input by a table."""

    table: ScalarTable | None = None


class VectorInput(OneOf):
    """An input of three components by a table."""

    table: VectorTable | None = None


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return _of_time(value)
    return number(value, "a number, a formula of t, or a table")


def _profile(value: Any) -> Any:
    if not isinstance(value, str) and not is_number(value):
        raise unexpected("a formula of x, or a table", value)
    return _of_coordinate(value)


def _component(value: Any) -> float | str:
    return _of_time(value) if isinstance(value, str) else number(value)


def _components(value: Any) -> Any:
    wanted = "three numbers or formulas of t, or a table"
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise unexpected(wanted, value)
    return tuple(_component(entry) for entry in value)


def _kind_of_input(value: Any) -> Literal["table", "direct"]:
    return "table" if isinstance(value, dict | OneOf) else "direct"


ScalarSignal: TypeAlias = Annotated[
    Annotated[float | str, BeforeValidator(_scalar), Tag("direct")]
    | Annotated[ScalarInput, Tag("table")],
    Discriminator(_kind_of_input),
]
#: `times` of a table are coordinates of the cam.
CamProfile: TypeAlias = Annotated[
    Annotated[str, BeforeValidator(_profile), Tag("direct")] | Annotated[ScalarInput, Tag("table")],
    Discriminator(_kind_of_input),
]
VectorSignal: TypeAlias = Annotated[
    Annotated[
        tuple[float | str, float | str, float | str], BeforeValidator(_components), Tag("direct")
    ]
    | Annotated[VectorInput, Tag("table")],
    Discriminator(_kind_of_input),
]
