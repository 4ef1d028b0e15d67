"""Continue a simulation from its output file."""

from __future__ import annotations

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
    """Continue a simulation from its output file, bit by bit as if it had not stopped.

    A simulation that was killed, interrupted or failed continues from its last checkpoint, which is
    about as old as the last saved rows. A finished one continues to a later end.

    Parameters
    ----------
    path : path
        A file written by `simulate(..., output=...)`.
    model : Model, LagrangianSystem or PHSystem
        The simulated model. Default: the model stored in the file, which is available if the model
        has no Python functions and the run began at the start of the model.
    t_end : float
        New end [s]. Default: that of the run.
    inputs, events : mapping
        Inputs and additional events of the run; required if `model` is given and the run had any.
    output : path
        File for the whole run. Default: `path`, which is replaced once the rows up to the
        checkpoint have been copied.
    progress : bool
        Show a progress bar. Default: in a terminal, for runs longer than a second.

    Returns
    -------
    Result
        The whole run, old rows and new ones.

    Raises
    ------
    InputError
        If the file has no valid checkpoint, or the model or its inputs are not those of the run.
    SimulationError
        If a step fails; its `result` has everything up to there.
    """
    place = output_path(path, "resume")
    require_progress(progress)
    stopped = Stopped.at(place)
    if stopped.is_complete(t_end) and output is None:
        return stopped.result
    if model is None:
        if not stopped.result.document:
            raise InputError(
                f"resume: '{place}' does not contain its model, because it has Python functions or "
                "an initial state given by x0; give model=..., inputs=... and events=... as for "
                "simulate"
            )
        model = Model.from_yaml_text(stopped.result.document)
    target = place if output is None else output_path(output, "output")
    ended = stopped.go_on(model, t_end, inputs, events, target, progress)
    warn_of(ended)
    return ended
