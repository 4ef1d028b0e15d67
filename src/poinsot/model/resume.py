"""Runs that go on from their file."""

from collections.abc import Mapping
from os import PathLike

from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.model.model import Model
from poinsot.parts.events import Event
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result import Result, output_path
from poinsot.run.problem import Compilable
from poinsot.run.progress import require_progress
from poinsot.run.resume import Stopped
from poinsot.run.run import warn_of


def resume(
    path: str | PathLike[str],
    model: PHSystem | Compilable | None = None,
    *,
    t_end: float | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    events: Mapping[str, Event] | None = None,
    output: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Go on with a run that wrote to a file, as if it had never stopped, bit by bit.

    Whether it was killed, interrupted by Ctrl-C, or failed: what comes after its last checkpoint,
    which is about as old as the last rows, is computed again. One that is done goes on to a later
    end.

    Parameters
    ----------
    path : path
        What `simulate(..., output=...)` wrote.
    model : Model, LagrangianSystem or PHSystem
        What was simulated. Default: what the file knows of it, which it does of models without
        Python functions that began at their own start.
    t_end : float
        Another end [s].
    inputs, events : mapping
        The inputs of the run, and the events that were given to it, if a model is given.
    output : path
        Where to write the whole run; default: the same file, which is replaced when the rows up to
        the checkpoint are in the new one.
    progress : bool
        Show a progress bar; default: on a terminal, for runs over a second.

    Returns
    -------
    Result
        The whole run, its old rows and new ones; that of the file, if nothing is left to do.

    Raises
    ------
    InputError
        If the file has no checkpoint or a damaged one, or if the model or its inputs are not those
        of the run.
    SimulationError
        If a step fails; its `result` holds everything up to there.
    """
    place = output_path(path, "resume")
    require_progress(progress)
    stopped = Stopped.at(place)
    if stopped.is_complete(t_end) and output is None:
        return stopped.result
    if model is None:
        if not stopped.result.document:
            raise InputError(
                f"resume: '{place}' does not hold its model, which has Python functions in it, or "
                "a start of its own; give model=..., inputs=... and events=... as to simulate"
            )
        model = Model.from_yaml_text(stopped.result.document)
    target = place if output is None else output_path(output, "output")
    ended = stopped.go_on(model, t_end, inputs, events, target, progress)
    warn_of(ended)
    return ended
