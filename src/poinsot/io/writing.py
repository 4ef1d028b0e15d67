"""Plain data to YAML text; reading it gives the same data, bit by bit.

An entry that fits is written on one line, and numbers with as many digits as necessary.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from poinsot.errors import InputError

WIDTH = 100
#: No key may be longer, in YAML at most 1024 characters.
LONGEST = 200

_PLAIN = re.compile(r"[^\W\d][\w-]*( [\w-]+)*")
#: Words that YAML, in one version or another, takes for something else than text.
_TAKEN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def write(data: Mapping[str, Any]) -> str:
    """Return the text of a model file with this content."""
    return "".join(_top(key, value) for key, value in data.items())


def _top(key: str, value: Any) -> str:
    """Return an entry of the file; parts of a section are easier to read line by line."""
    if not value or not isinstance(value, Mapping) or not all(map(_is_full, value.values())):
        return _entry(key, value, _flow(value), 0)
    return f"{_key(key)}:\n" + "".join(_mapping(name, part, 2) for name, part in value.items())


def _is_full(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _mapping(key: str, value: Mapping[str, Any], indent: int) -> str:
    """Return a mapping on one line if it fits, else its own entries on the next ones."""
    start, flows = f"{' ' * indent}{_key(key)}:", {k: _flow(v) for k, v in value.items()}
    line = f"{start} {_braces(flows)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"{start}\n" + "".join(_entry(k, value[k], flows[k], indent + 2) for k in value)


def _entry(key: str, value: Any, flow: str, indent: int) -> str:
    """Return an entry on one line, as `flow`, if it fits or cannot be split."""
    start = f"{' ' * indent}{_key(key)}:"
    if len(start) + 1 + len(flow) > WIDTH:
        if _is_full(value):
            return _mapping(key, value, indent)
        if isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
            return f"{start}\n" + "".join(_item(v, indent + 2) for v in value)
    return f"{start} {flow}\n"


def _item(value: Any, indent: int) -> str:
    """Return an entry of a list, on lines of its own."""
    line = f"{' ' * indent}- {_flow(value)}\n"
    if len(line) <= WIDTH + 1 or not _is_full(value):
        return line
    block = "".join(_entry(k, v, _flow(v), indent + 2) for k, v in value.items())
    return f"{' ' * indent}- {block.lstrip(' ')}"


def _flow(value: Any) -> str:
    """Return a value within a line."""
    if isinstance(value, float):
        text = repr(value)
        return text[:-2] if text.endswith(".0") and text != "-0.0" else text
    if isinstance(value, Mapping):
        return _braces({k: _flow(v) for k, v in value.items()})
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(value)
    return _text(value)


def _braces(flows: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_key(k)}: {flow}" for k, flow in flows.items()) + "}"


@lru_cache
def _key(name: str) -> str:
    if len(name) > LONGEST:
        raise InputError(f"'{name[:40]}...' is too long for a name in a model file")
    return _text(name)


def _text(text: str) -> str:
    """Return a text, in quotes where it could be taken for something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(
            f"{text!r} contains an incomplete character (a lone surrogate) and cannot be written "
            "to a file"
        )
    return _UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
