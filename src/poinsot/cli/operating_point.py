"""Operating points of `poinsot modes`, `bode` and `report`: start, equilibrium, or a time."""

from operator import or_
from pathlib import Path
from typing import Any

import typer

from poinsot.analysis import equilibrium, linearise
from poinsot.analysis.equilibria import as_system
from poinsot.cli.app import say
from poinsot.cli.task import Described, Task, find_task
from poinsot.errors import InputError
from poinsot.gallery import MODULES
from poinsot.model import Model
from poinsot.model.coordinates import COORDINATES, require_coordinates
from poinsot.result import Result, SimulationError, load

#: Schemes that save velocities, for coordinates whose default scheme does not.
WITH_VELOCITIES = {"quaternions": "eml-mean"}


def source_of(what: str) -> Path | None:
    """Return the input file, if there is one."""
    return None if what in MODULES else Path(what)


def linear_at(what: str, at: str, coordinates: str | None) -> Any:
    """Return the linear system of an example, a model file or a result near an operating point."""
    time = _time(at)
    if coordinates is not None:
        require_coordinates(coordinates)
    task = find_task(what)
    model = task.model if isinstance(task, Described) else task.model()
    x0 = None if isinstance(task, Described) else task.x0
    if coordinates is not None and not isinstance(model, Model):
        raise InputError(
            f"--coordinates is for mechanisms; '{model.name}' has its own, leave the option out"
        )
    if at == "equilibrium":
        rest = equilibrium(model, coordinates=coordinates, x0=x0)
        return linearise(rest.system, rest)
    if time is None:
        start: Any = "start" if x0 is None else x0
        return linearise(model, start, coordinates=coordinates)
    if Path(what).suffix == ".nc" and what not in MODULES:
        result = load(what)
        own = coordinates or _coordinates_of(result, model)
    else:
        usual = model.usual_coordinates if isinstance(model, Model) else "directors"
        own = coordinates or usual
        result = _run(task, model, own, time)
    system = as_system(model, own if isinstance(model, Model) else None)
    # The inputs at this time, which are not part of a saved state.
    return linearise(system, (result, time), u=system.u(time))


def _time(at: str) -> float | None:
    if at in ("start", "equilibrium"):
        return None
    try:
        time = float(at)
    except ValueError:
        raise InputError(f"--at is '{at}'; give start, equilibrium or a time in seconds") from None
    return time or None  # at 0 s is at the start


def _run(task: Task, model: Any, coordinates: str, time: float) -> Result:
    """Simulate up to a time, with the options of the file or of the example."""
    options: dict[str, Any] = {}
    if isinstance(model, Model):
        options = {"coordinates": coordinates}
        if coordinates in WITH_VELOCITIES:
            options["scheme"] = WITH_VELOCITIES[coordinates]
    try:
        return task.run(t_end=time, progress=False, **options)
    except SimulationError as error:
        if error.result is None:
            raise
        say(f"stopped early: {error}", err=True)
        raise typer.Exit(1) from None


def _coordinates_of(result: Result, model: Any) -> str:
    """Return the coordinates whose states a result holds."""
    sizes = {name: state.values.shape[1] for name, state in result.states.items()}
    for coordinates in (model.usual_coordinates, *COORDINATES):
        system = model.compile(coordinates)
        found = [sizes.get(state.name) == state.size for state in system.states]
        known = [system.algebraic[at].all() for at in system.slices.values()]
        if all(map(or_, found, known)):
            return str(coordinates)
    raise InputError(
        f"the result of '{result.model}' by '{result.scheme}' does not hold velocities; analyse "
        "its model file instead, or run it with another scheme"
    )
