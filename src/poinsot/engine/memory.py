"""What a run of the engine has written: the arrays of its records, to be copied and put back."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.calls import fields_of
from poinsot.kernels.tables import Addresses


def arrays(record: tuple[Any, ...]) -> Iterator[NDArray[Any]]:
    """Yield the arrays of a record and of all records in it, without addresses of functions."""
    for value, hint in fields_of(record):
        if isinstance(value, tuple):
            yield from arrays(value)
        elif isinstance(value, np.ndarray) and hint != Addresses:
            yield value
