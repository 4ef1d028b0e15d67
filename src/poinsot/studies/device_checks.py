"""What a graphics processor can run: checked before anything is compiled for it."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import cuda
from poinsot.engine.calls import hints_of
from poinsot.errors import InputError
from poinsot.kernels.tables import Addresses
from poinsot.model.model import Model
from poinsot.studies.cases import Cases

Array = NDArray[np.float64]


def require_device(cases: Cases, rows: Array, executor: Any) -> None:
    """Refuse runs that a graphics processor cannot take, and say if there is none."""
    if executor is not None:
        raise InputError("engine='cuda' takes all runs itself; leave out the executor")
    model, run = cases.run(rows[0])
    contents = model
    if contents.events:
        raise InputError(f"engine='cuda' cannot look for event {_first(contents.events)}{INSTEAD}")
    if contents.controllers:
        raise InputError(
            f"engine='cuda' cannot run controller {_first(contents.controllers)}{INSTEAD}"
        )
    named = [f"'{name}'" for name in _with_functions(model)]
    opening = cases.opening(rows[0])
    if opening is None or _calls(opening.job.machine):
        parts = ", ".join(named) or "some part"
        raise InputError(
            f"engine='cuda' cannot call Python functions or formulas, which {parts} would need; "
            "springs, stops, friction and inputs that are numbers or tables run there"
            f"{INSTEAD}"
        )
    cuda.device()


INSTEAD = "; leave out engine='cuda' to run this on processors"


def _first(parts: Any) -> str:
    return f"'{next(iter(parts))}'"


def _with_functions(model: Model) -> Iterator[str]:
    """Yield the names of parts that hold functions or formulas."""
    contents = model
    for kind in ("forces", "ports", "joints", "transmissions"):
        for name, part in getattr(contents, kind).items():
            values = [getattr(part, f.name) for f in fields(part)] if is_dataclass(part) else []
            if any(callable(value) or isinstance(value, str) for value in values):
                yield name


def _calls(record: Any) -> bool:
    """Tell whether a machine calls functions by their addresses."""
    pairs = zip(record, hints_of(type(record)) or len(record) * (None,), strict=True)
    return any(
        _calls(value) if isinstance(value, tuple) else hint == Addresses and bool(np.any(value))
        for value, hint in pairs
    )
