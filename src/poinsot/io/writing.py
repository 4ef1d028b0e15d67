"""Plain data to YAML text, such that reading it gives the same data, bit by bit.

An entry that fits goes on one line; numbers are written with as many digits as they need.
"""

import json
import re
from collections.abc import Mapping
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
    return "".join(_block(key, value, 0) for key, value in data.items())


def _block(key: str, value: Any, indent: int) -> str:
    """Return an entry on one line if it fits, else its own entries on the next ones."""
    start = f"{' ' * indent}{_key(key)}:"
    # The sections of a file are easier to read line by line, even if they would fit.
    splits = isinstance(value, Mapping) and bool(value)
    if not (splits and indent == 0 and all(isinstance(v, Mapping) for v in value.values())):
        line = f"{start} {_flow(value)}\n"
        if len(line) <= WIDTH + 1 or not (splits or _is_long_list(value)):
            return line
    if splits:
        return f"{start}\n" + "".join(_block(k, v, indent + 2) for k, v in value.items())
    return f"{start}\n" + "".join(_item(v, indent + 2) for v in value)


def _is_long_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value)


def _item(value: Any, indent: int) -> str:
    """Return an entry of a list, on lines of its own."""
    line = f"{' ' * indent}- {_flow(value)}\n"
    if len(line) <= WIDTH + 1 or not isinstance(value, Mapping):
        return line
    block = "".join(_block(k, v, indent + 2) for k, v in value.items())
    return f"{' ' * indent}- {block.lstrip(' ')}"


def _flow(value: Any) -> str:
    """Return a value within a line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return text[:-2] if text.endswith(".0") and text != "-0.0" else text
    if isinstance(value, int):
        return repr(value)
    return _text(value)


def _key(name: str) -> str:
    if len(name) > LONGEST:
        raise InputError(f"'{name[:40]}...' is too long for a name in a model file")
    return _text(name)


def _text(text: str) -> str:
    """Return a text, in quotes where it could be taken for something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(f"{text!r} holds half a character and cannot be written to a file")
    return _UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
