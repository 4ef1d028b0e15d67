"""How Python calls machine code: with one list of words, 64 bits each.

A record (a NamedTuple of numbers, arrays and records) is written field by field: an array as its
address and its shape, a number as itself, None as nothing. The other side reads the same fields in
the same order, see `build`.
"""

from typing import Any

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


def _append(words: list[int], value: Any) -> None:
    if isinstance(value, tuple):
        for field in value:
            _append(words, field)
    elif isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        words += (value.ctypes.data, *value.shape)
    elif isinstance(value, float):
        words.append(int(np.float64(value).view(np.int64)))
    elif value is not None:
        words.append(int(value))
