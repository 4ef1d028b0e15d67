"""What a kernel for one mechanism can run: checked before it is compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import cuda, simd
from poinsot.engine.calls import fields_of
from poinsot.errors import InputError
from poinsot.kernels.tables import Addresses
from poinsot.model.model import Model
from poinsot.ph.formulas import Formula
from poinsot.studies.cases import Cases

Array = NDArray[np.float64]

#: What to do instead.
INSTEAD: Mapping[str, str] = {
    "cuda": "; leave out engine='cuda', and this machine's processors run it",
    "simd": "; leave out engine='simd', and it runs one simulation at a time",
}


def refused(engine: str, reason: str) -> InputError:
    """Return what says why runs of a study have no kernel in common."""
    return InputError(f"engine='{engine}' cannot take these runs: {reason}{INSTEAD[engine]}")


def require_device(executor: Any) -> None:
    """Say if there is no graphics processor, or if it is not to take the runs."""
    if executor is not None:
        raise InputError("engine='cuda' simulates all runs itself; leave out the executor")
    cuda.device()


def require_registers() -> None:
    """Say if this processor has no registers for several runs."""
    if not simd.level():
        raise InputError(
            "engine='simd' needs a processor with AVX2 or AVX-512; leave it out, and each thread "
            "runs one simulation at a time"
        )


def require_kernel(cases: Cases, row: Array, engine: str) -> None:
    """Refuse runs that a kernel for one mechanism cannot take."""
    model, instead = cases.model(row), INSTEAD[engine]
    for kind, verb in (("events", "look for event"), ("controllers", "run controller")):
        for name in getattr(model, kind):
            raise InputError(f"engine='{engine}' cannot {verb} '{name}'{instead}")
    opening, functions = cases.opening(row), list(_with_functions(model))
    if opening is None and not functions:
        raise InputError(
            f"engine='{engine}' cannot run model '{model.name}': machine code alone does not take "
            f"its steps, as with elastic bodies, velocities in body axes or a tolerance{instead}"
        )
    if opening is None or _calls(opening.job.machine):
        named = ", ".join(f"'{name}'" for name in functions)
        raise InputError(
            f"engine='{engine}' cannot call Python functions or formulas"
            f"{named and f', as {named} would need'}; laws that are numbers or tables run there"
            f"{instead}"
        )


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
