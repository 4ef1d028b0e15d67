"""`poinsot sweep`: simulate a model file many times with different parameter values."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from poinsot.cli.app import app, require_outputs, say
from poinsot.errors import InputError, did_you_mean
from poinsot.model import Model
from poinsot.studies.ensemble import ensemble
from poinsot.studies.outcomes import PENDING, STATUS
from poinsot.studies.samples import MOST, grid, latin_hypercube, sobol

if TYPE_CHECKING:
    import xarray

Array = NDArray[np.float64]

SAMPLERS = {"sobol": sobol, "latin": latin_hypercube}
#: Largest number of different failures that are printed.
SHOWN = 5


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Model file.")],
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="PATH=VALUES",
            help="Parameter values: PATH=low:high:count[:log], PATH=a,b,c, or PATH=low:high with "
            "--sample; may be repeated.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Write the study to a netCDF file during the runs."),
    ],
    what: Annotated[
        list[str] | None,
        typer.Option(
            help="Quantity to keep, such as energy or rod.position; may be repeated; default: "
            "energy and all sensors."
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(help="Sample the ranges: sobol:256 or latin:100, with the number of runs."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    scheme: Annotated[str | None, typer.Option(help="Scheme, see `poinsot run`.")] = None,
    step: Annotated[float | None, typer.Option(help="Step size [s].")] = None,
    t_end: Annotated[float | None, typer.Option(help="End time [s].")] = None,
    save_every: Annotated[int | None, typer.Option(help="Save one of this many steps.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of runs at a time; default: all processors.")
    ] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar in a terminal.")] = True,
) -> None:
    """Simulate a model many times with different parameters.

    All combinations of the values of several --vary are simulated. To continue a study that was
    interrupted or killed, give the same command again.

    Example:  poinsot sweep slider-crank.yaml --vary bodies.rod.mass=0.1:1:50 --output study.nc
    """
    require_outputs(file, output)
    model = Model.from_yaml(file)
    kept = tuple(what) if what else ("energy", *model.sensors)
    with ensemble(
        model,
        _values(vary, sample, seed),
        h=step,
        t_end=t_end,
        what=kept,
        scheme=scheme,
        save_every=save_every,
        workers=workers,
        progress=None if progress else False,
        output=output,
    ) as study:
        _tell(study)
        say(f"study  {output}")
        complete = bool(np.isin(study["status"].values, (1, 2)).all())
    raise typer.Exit(0 if complete else 1)


def _values(vary: list[str], sample: str | None, seed: int) -> dict[str, Array]:
    """Return the values of parameters for all runs."""
    ranges: dict[str, Any] = {}
    for text in vary:
        path, equal, told = text.partition("=")
        if not (equal and path and told):
            raise InputError(
                f"--vary '{text}': expected PATH=VALUES, such as bodies.rod.mass=0.1:1:50"
            )
        if path in ranges:
            raise InputError(f"--vary: '{path}' is given more than once; keep one of them")
        ranges[path] = _range(text, told, sampled=sample is not None)
    if sample is None:
        return grid(ranges)
    kind, _, count = sample.partition(":")
    if kind not in SAMPLERS or not count.isdecimal():
        hint = "" if kind in SAMPLERS else f"; {did_you_mean(kind, SAMPLERS)}"
        raise InputError(f"--sample '{sample}': expected sobol:256 or latin:100{hint}")
    return SAMPLERS[kind](ranges, int(count), seed=seed)


def _range(text: str, told: str, *, sampled: bool) -> Any:
    """Return the values of a --vary option, or the ends of its range."""
    numbers, _, spacing = told.partition(":log")
    parts = numbers.split(":" if ":" in numbers else ",")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        raise InputError(
            f"--vary '{text}': '{told}' are not numbers; give low:high:count or a,b,c"
        ) from None
    if sampled:
        if ":" not in numbers or len(values) != 2:
            raise InputError(f"--vary '{text}': with --sample give a range, such as PATH=0.1:1")
        return values[0], values[1]
    if ":" not in numbers:
        return values
    if len(values) != 3 or not values[2].is_integer() or values[2] < 1:
        raise InputError(
            f"--vary '{text}': expected low:high:count, such as 0.1:1:50, or a list a,b,c"
        )
    if values[2] > MOST:
        raise InputError(f"--vary '{text}': {values[2]:.0f} runs are too many")
    low, high, count = values[0], values[1], int(values[2])
    if f"{numbers}:log" == told and spacing == "":
        if low <= 0 or high <= 0:
            raise InputError(f"--vary '{text}': logarithmic spacing needs positive values")
        return np.geomspace(low, high, count)
    return np.linspace(low, high, count)


def _tell(study: "xarray.Dataset") -> None:
    """Print how runs ended, and why some failed."""
    status, message = study["status"].values, study["message"].values
    counts = [f"{int(np.sum(status == k))} {name}" for k, name in enumerate(STATUS)]
    shown = [text for k, text in enumerate(counts) if np.any(status == k)]
    say(f"{study.sizes['run']} runs: {', '.join(shown)}")
    if np.any(status == PENDING):
        say("interrupted; give the same command again to continue", err=True)
    errors = study["balance_error_max"].values
    if np.isfinite(errors).any():
        say(f"largest balance error  {np.nanmax(errors):.3g} J")
    for text, count in Counter(str(m) for m in message if m).most_common(SHOWN):
        say(f"{count} x  {text}", err=True)
