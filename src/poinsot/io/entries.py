"""Mappings in a model file: all keys must be known, and alternatives exclude each other."""

from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError


def describe(value: Any) -> str:
    """Return a value as messages show it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text '{_short(value)}'"
    if isinstance(value, dict):
        return f"the keys {_short(', '.join(map(str, value)))}" if value else "no keys"
    if isinstance(value, list):
        return f"a list of {len(value)}: {_short(str(value[:20]))}" if value else "an empty list"
    return _short(repr(value))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


def unexpected(wanted: str, value: Any, hint: str = "") -> PydanticCustomError:
    """Return the error of a value that is something else than wanted."""
    return PydanticCustomError(
        "unexpected",
        "expected {wanted}, found {found}{hint}",
        {"wanted": wanted, "found": describe(value), "hint": hint},
    )


class Entry(BaseModel):
    """Keys and values; a key that it does not know is a mistake."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        """Refuse what is no mapping, and unknown keys."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, dict):
            known = ", ".join(cls.model_fields)
            raise unexpected("keys and values", value, f"; the keys are {known}")
        unknown = [key for key in value if key not in cls.model_fields]
        if unknown:
            context = {"unknown": unknown, "known": list(cls.model_fields)}
            raise PydanticCustomError("unknown_keys", "unknown keys", context)
        return value


class Part(Entry):
    """What a part of one kind is made of."""


class OneOf(Entry):
    """A table of kinds: of the keys that lead to a `Part`, exactly one must be there."""

    @classmethod
    @cache
    def kinds(cls) -> tuple[str, ...]:
        """Return the names of the kinds."""
        return tuple(
            name
            for name, info in cls.model_fields.items()
            if any(isinstance(a, type) and issubclass(a, Part) for a in get_args(info.annotation))
        )

    @model_validator(mode="before")
    @classmethod
    def _one(cls, value: Any) -> Any:
        """Refuse none, and more than one."""
        if not isinstance(value, dict) or not set(value) <= set(cls.model_fields):
            return value
        given = [kind for kind in cls.kinds() if kind in value]
        if len(given) != 1:
            found = f"both {' and '.join(given)}; keep one" if given else describe(value)
            raise PydanticCustomError(
                "kinds",
                "expected one of {kinds}, found {found}",
                {"kinds": ", ".join(cls.kinds()), "found": found},
            )
        if value[given[0]] is None:
            raise PydanticCustomError("empty_kind", "'{kind}' is empty", {"kind": given[0]})
        return value

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return next(kind for kind in self.kinds() if getattr(self, kind) is not None)

    @property
    def part(self) -> Part:
        """What stands under its kind."""
        part: Part = getattr(self, self.kind)
        return part

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Tell editors that one kind is needed."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        schema["oneOf"] = [{"required": [kind]} for kind in cls.kinds()]
        return schema
