"""`poinsot run`: simulate a gallery example, a model file, or the model of a result."""

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
        str | None,
        typer.Argument(
            metavar="NAME|FILE.yaml|RUN.nc",
            help="Gallery example, model file, or result whose model is simulated again.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="RUN.nc", help="Continue the run of this result file."),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(help=f"Time integration scheme: {', '.join(SCHEMES)}.", show_default=False),
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option(
            help=f"How rotations are described: {', '.join(COORDINATES)}.", show_default=False
        ),
    ] = None,
    step: Annotated[float | None, typer.Option(help="Step size [s].")] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Relative tolerance of an adaptive step size, such as 1e-6."),
    ] = None,
    t_end: Annotated[float | None, typer.Option(help="End time [s].")] = None,
    estimate_error: Annotated[
        bool,
        typer.Option("--estimate-error", help="Estimate the error of positions by a run with 2 h."),
    ] = False,
    engine: Annotated[
        str | None, typer.Option(help=f"Engine: {', '.join(ENGINES)}.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the result to a netCDF file during the run."),
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Write a summary to a JSON file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a plot: PNG, PDF, SVG, ...")] = None,
    animation: Annotated[
        Path | None, typer.Option(help="Write an animation: GIF, or MP4 if ffmpeg is installed.")
    ] = None,
    save_every: Annotated[int | None, typer.Option(help="Save one of this many steps.")] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar in a terminal.")] = True,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Describe the model before the run.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")
    ] = False,
) -> None:
    """Simulate an example, a model file, or the model of a result.

    Default values of the options are those of the example or of the file.

    Example:  poinsot run spatial-slider-crank --step 1e-3 --output run.nc --summary run.json

    With --resume, a run that was killed, interrupted or failed continues from its last checkpoint,
    and a finished run continues to a later end:

    Example:  poinsot run --resume run.nc --t-end 20
    """
    if verbose and quiet:
        raise InputError("--verbose and --quiet exclude each other; leave one of them out")
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
        raise InputError(
            "--resume continues a run with its own settings; only --t-end can be changed"
        )
    status = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InexactRunWarning)  # printed below
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
    """Return what to simulate or to continue."""
    if what is not None and resume is None:
        return find_task(what)
    if resume is not None and what is None:
        return Resumed(resume)
    raise InputError("give either NAME, FILE.yaml or RUN.nc to simulate, or --resume RUN.nc")


def _write(
    task: Task | Resumed,
    result: Result,
    summary: Path | None,
    plot: Path | None,
    animation: Path | None,
) -> dict[str, Path]:
    """Write the requested files; return their paths by kind."""
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
