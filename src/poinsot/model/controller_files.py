"""Controllers of a model, from their entries in a file and back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from poinsot.errors import InputError
from poinsot.io import controllers as entries
from poinsot.model.system_files import UnwritableError
from poinsot.parts.controllers import Controller
from poinsot.parts.fmus import FMULaw
from poinsot.parts.state_spaces import StateSpace
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.formulas import Formula

#: Arguments of a controller that a file has under the same names.
OPTIONS = "reads", "drives", "every", "delay", "limits", "rate_limits", "states", "outputs"


def add_controller(
    name: str,
    entry: entries.Controllers,
    folder: Path,
    add: Callable[..., Any],
    add_fmu: Callable[..., Any],
) -> None:
    """Add the controller of an entry by `add` or `add_fmu`, the methods of a model.

    Paths in the entry begin in the folder.
    """
    part = entry.part
    if isinstance(part, entries.FMU):
        chosen = {key: getattr(part, key) for key in ("every", "reads", "drives", "parameters")}
        add_fmu(name, folder / part.file, outputs=part.outputs or (), **chosen)
        return
    given = {key: getattr(part, key) for key in OPTIONS if getattr(part, key) is not None}
    if isinstance(part, entries.FormulaLaw):
        add(name, part.law, **given)
    else:
        assert isinstance(part, entries.StateSpace)
        what = f"controller '{name}'"
        add(name, StateSpace.made(part.A, part.B, part.C, part.D, part.dt, what), **given)


def describe_controller(name: str, controller: Controller) -> dict[str, Any]:
    """Return the entry of a controller."""
    if isinstance(controller.law, FMULaw):
        return {"fmu": _describe_fmu(controller, controller.law)}
    written: dict[str, Any] = {
        "reads": [channel.text for channel in controller.reads],
    }
    if controller.drives:
        written["drives"] = [port.name for port in controller.drives]
    if controller.outputs is not None:
        written["outputs"] = controller.outputs
    if controller.every is not None:
        written["every"] = controller.every
    if controller.delay:
        written["delay"] = controller.delay
    if controller.limits.size and np.isfinite(controller.limits).all():
        written["limits"] = controller.limits.tolist()
    elif np.isfinite(controller.limits).any():
        raise UnwritableError("a limit is infinite, which model files cannot represent")
    if controller.rate_limits.size and np.isfinite(controller.rate_limits).all():
        written["rate_limits"] = controller.rate_limits.tolist()
    elif np.isfinite(controller.rate_limits).any():
        raise UnwritableError("a rate limit is infinite, which model files cannot represent")
    law = controller.law
    if isinstance(law, StateSpace):
        matrices = {letter: getattr(law, letter).tolist() for letter in "ABCD"}
        times = {} if law.dt is None else {"dt": law.dt}
        return {"state_space": matrices | times | {"states": controller.states.tolist()} | written}
    if not isinstance(law, FormulaRows):
        raise UnwritableError("its law is a Python function")
    try:
        Formula(law.texts, law.variables)
    except InputError as error:
        raise UnwritableError(f"its law cannot be written as formulas: {error}") from None
    if controller.states.size:
        written["states"] = dict(
            zip(controller.state_names, controller.states.tolist(), strict=True)
        )
    return {"formula": {"law": list(law.texts)} | written}


def _describe_fmu(controller: Controller, law: FMULaw) -> dict[str, Any]:
    """Return the entry of an FMU; its path is an absolute one."""
    channels = (channel.text for channel in controller.reads)
    ports = (port.name for port in controller.drives)
    written: dict[str, Any] = {
        "file": str(law.file.path),
        "every": controller.every,
        "reads": dict(zip(law.reads, channels, strict=True)),
        "drives": dict(zip(ports, law.drives, strict=True)),
        "outputs": list(law.told),
        "parameters": dict(law.parameters),
    }
    return {key: value for key, value in written.items() if value}
