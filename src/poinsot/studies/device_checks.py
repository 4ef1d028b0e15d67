"""What a graphics processor can run: checked before anything is compiled for it."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import cuda
from poinsot.engine.calls import fields_of
from poinsot.errors import InputError
from poinsot.kernels.tables import Addresses
from poinsot.model.model import Model
from poinsot.ph.formulas import Formula
from poinsot.studies.cases import Cases

Array = NDArray[np.float64]

#: What to do instead.
INSTEAD = "; leave out engine='cuda', and this machine's processors run it"


def require_device(cases: Cases, row: Array, executor: Any) -> None:
    """Refuse runs that a graphics processor cannot take, and say if there is none."""
    if executor is not None:
        raise InputError("engine='cuda' simulates all runs itself; leave out the executor")
    model = cases.model(row)
    for kind, verb in (("events", "look for event"), ("controllers", "run controller")):
        for name in getattr(model, kind):
            raise InputError(f"engine='cuda' cannot {verb} '{name}'{INSTEAD}")
    opening, functions = cases.opening(row), list(_with_functions(model))
    if opening is None and not functions:
        raise InputError(
            f"engine='cuda' cannot run model '{model.name}': machine code alone does not take its "
            f"steps, as with elastic bodies, velocities in body axes or a tolerance{INSTEAD}"
        )
    if opening is None or _calls(opening.job.machine):
        named = ", ".join(f"'{name}'" for name in functions)
        raise InputError(
            "engine='cuda' cannot call Python functions or formulas"
            f"{named and f', as {named} would need'}; laws that are numbers or tables run there"
            f"{INSTEAD}"
        )
    cuda.device()


def _with_functions(model: Model) -> Iterator[str]:
    """Yield the names of parts that hold functions or formulas."""
    for kind in ("forces", "ports", "joints", "transmissions"):
        for name, part in getattr(model, kind).items():
            values = (
                [getattr(part, each.name) for each in fields(part)] if is_dataclass(part) else []
            )
            if any(callable(value) or isinstance(value, Formula) for value in values):
                yield name


def _calls(record: Any) -> bool:
    """Tell whether a machine calls functions by their addresses."""
    return any(
        _calls(value) if isinstance(value, tuple) else hint == Addresses and bool(np.any(value))
        for value, hint in fields_of(record)
    )
