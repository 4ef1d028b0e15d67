"""`poinsot run`: simulate a gallery example, or what a file describes."""

import json
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from poinsot.cli.app import app, require_outputs, say, warn
from poinsot.cli.summary import show, summarise
from poinsot.cli.task import Resumed, Task, find_task
from poinsot.errors import InexactRunWarning, InputError
from poinsot.gallery import MODULES
from poinsot.model.coordinates import COORDINATES
from poinsot.result import Result, SimulationError
from poinsot.run.engines import ENGINES
from poinsot.schemes.records import SCHEMES
from poinsot.viz.formats import require_figure


@app.command()
def run(
    what: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE.yaml|RUN.nc", help="What to simulate.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with a run that wrote to this file, as if it had never stopped."),
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(SCHEMES)}.", show_default=False)
    ] = None,
    coordinates: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(COORDINATES)}.", show_default=False)
    ] = None,
    step: Annotated[float | None, typer.Option(help="Step size [s].")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Let the size of steps follow the motion, e.g. 1e-6.")
    ] = None,
    t_end: Annotated[float | None, typer.Option(help="End time [s].")] = None,
    estimate_error: Annotated[
        bool, typer.Option("--estimate-error", help="Estimate the error of the motion.")
    ] = False,
    engine: Annotated[str | None, typer.Option(help=f"One of {', '.join(ENGINES)}.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result as netCDF, as it runs.")
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Write a summary as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a figure.")] = None,
    animation: Annotated[
        Path | None, typer.Option(help="Write a film: GIF, or MP4 with ffmpeg.")
    ] = None,
    save_every: Annotated[int | None, typer.Option(help="Keep every so many steps.")] = None,
    progress: Annotated[bool, typer.Option(help="Show progress on a terminal.")] = True,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what is wrong.")] = False,
) -> None:
    """Simulate a gallery example, a model file, or the model of an earlier result.

    Options that are left out are those of the published case, or of the file.

    Example:  poinsot run spatial-slider-crank --step 1e-3 --output run.nc --summary run.json

    A run that was killed, interrupted or failed goes on from its last checkpoint, and one that is
    done to a later end:

    Example:  poinsot run --resume run.nc --t-end 20
    """
    if verbose and quiet:
        raise InputError("--verbose and --quiet exclude each other; give one of them")
    source = None if what is None or what in MODULES else Path(what)
    require_outputs(source, output, summary, plot, animation)
    if plot is not None:
        require_figure(plot)
    task = _find(what, resume)
    if animation is not None:
        task.require_film(animation)
    if verbose:
        say(task.describe())
    given: dict[str, Any] = {
        "scheme": scheme,
        "coordinates": coordinates,
        "h": step,
        "tolerance": tolerance,
        "t_end": t_end,
        "engine": engine,
        "save_every": save_every,
        "estimate_error": estimate_error or None,
    }
    options = {key: value for key, value in given.items() if value is not None}
    if resume is not None and options.keys() - {"t_end"}:
        raise InputError("--resume goes on as the run was begun; of its options only --t-end")
    status = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InexactRunWarning)  # it is said below
            result = task.run(
                **options, output=output, progress=None if progress and not quiet else False
            )
    except SimulationError as error:
        if error.result is None:
            raise
        say(f"stopped early: {error}", err=True)
        result = error.result
    if result.status not in ("done", "warned"):
        status = 1
    if not quiet:
        show(result)
    warn(result)
    written = _write(task, result, summary, plot, animation)
    if (place := output or resume) is not None:
        written["result"] = place
    if not quiet:
        for kind, path in written.items():
            say(f"{kind:<9}  {path}")
    if status == 0 and resume is None and not options.keys() - {"engine", "estimate_error"}:
        status = _judge(task, result, quiet)
    raise typer.Exit(status)


def _find(what: str | None, resume: Path | None) -> Task | Resumed:
    """Return what is to be simulated, or goes on."""
    if what is not None and resume is None:
        return find_task(what)
    if resume is not None and what is None:
        return Resumed(resume)
    raise InputError("give what to simulate, or --resume RUN.nc to go on with a run")


def _write(
    task: Task | Resumed,
    result: Result,
    summary: Path | None,
    plot: Path | None,
    animation: Path | None,
) -> dict[str, Path]:
    """Write what was asked for; return it by kind."""
    written = {}
    if summary is not None:
        summary.write_text(json.dumps(summarise(result), indent=1) + "\n")
        written["summary"] = summary
    if plot is not None:
        task.plot(result).savefig(plot)
        written["plot"] = plot
    if animation is not None:
        task.film(result, animation)
        written["animation"] = animation
    return written


def _judge(task: Task | Resumed, result: Result, quiet: bool) -> int:
    """Print the check of the published case; a failed check is exit status 1."""
    checks = task.check(result)
    if checks and not quiet:
        say("")
    for check in checks:
        if not quiet or not check.passed:
            say(str(check))
    return 0 if all(check.passed for check in checks) else 1
