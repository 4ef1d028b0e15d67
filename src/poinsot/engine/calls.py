"""How Python calls machine code: with one list of words, 64 bits each.

A record (a NamedTuple of numbers, arrays and records) is written field by field: an array as its
address and its shape, a number as itself, None as nothing. The other side reads the same fields in
the same order, see `build`.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

#: Words at the beginning that hold what the call returns.
RETURNED = 2


def pack(record: Any) -> NDArray[np.int64]:
    """Return the words of a record, after room for what is returned.

    They hold addresses: the record must live as long as they are used.
    """
    words = [0] * RETURNED
    _append(words, record)
    return np.array(words, dtype=np.int64)


def _append(words: list[int], value: Any, known: int = 0) -> None:
    if isinstance(value, tuple):
        for field, width in zip(value, _widths(type(value)) or len(value) * (0,), strict=True):
            _append(words, field, width)
    elif isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        assert known in (0, value.shape[-1])
        words += (value.ctypes.data, *value.shape)
    elif isinstance(value, float):
        words.append(int(np.float64(value).view(np.int64)))
    elif value is not None:
        words.append(int(value))


def fields_of(record: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Yield the fields of a record, or of a tuple, and what they are; None if that is not known."""
    kind: type = type(record)
    return zip(record, _hints_of(kind) or len(record) * (None,), strict=True)


@cache
def _hints_of(record: type) -> tuple[Any, ...]:
    """Return what the fields of a record are."""
    return tuple(get_type_hints(record, include_extras=True).values())


@cache
def _widths(record: type) -> tuple[int, ...]:
    """Return how many columns the fields of a record have, as their types say."""
    return tuple(columns(hint) for hint in _hints_of(record))


def columns(hint: Any) -> int:
    """Return how many columns an array has, as its type says; 0 if that is not known."""
    of = get_args(hint)
    return of[2] if len(of) > 2 and isinstance(of[2], int) else 0
