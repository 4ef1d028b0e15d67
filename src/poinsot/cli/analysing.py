"""`poinsot modes`, `bode` and `report`: small motions near an operating point, and reports."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from poinsot.analysis import FrequencyResponse, Modes, frequency_response
from poinsot.analysis import modes as find_modes
from poinsot.cli.app import app, require_outputs, say, warn
from poinsot.cli.operating_point import linear_at, source_of
from poinsot.errors import InputError
from poinsot.model.coordinates import COORDINATES
from poinsot.ph.matrices import Array
from poinsot.result import load
from poinsot.viz import plot_bode, write_page, write_report
from poinsot.viz.formats import require_figure

What = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.yaml|RUN.nc", help="Gallery example, model file or result to linearise."
    ),
]
At = Annotated[
    str, typer.Option(metavar="start|equilibrium|TIME", help="Operating point; TIME in s.")
]
Coordinates = Annotated[
    str | None,
    typer.Option(
        help=f"How rotations are described: {', '.join(COORDINATES)}.", show_default=False
    ),
]
Summary = Annotated[Path | None, typer.Option(help="Write the numbers to a JSON file.")]
#: Margin of a frequency band beyond the slowest and the fastest mode, and its number of points.
BEYOND, POINTS = 10.0, 400
#: Additional points about a resonance, in units of its half width.
PEAK = np.linspace(-3, 3, 13)


@app.command()
def modes(
    what: What,
    at: At = "start",
    count: Annotated[int | None, typer.Option(help="Number of modes, slowest first.")] = None,
    coordinates: Coordinates = None,
    play: Annotated[
        int | None, typer.Option(help="Number of the mode that the page plays.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write an HTML page that plays a mode; default: the slowest."),
    ] = None,
    summary: Summary = None,
) -> None:
    """Show eigenfrequencies, damping ratios and what moves most.

    With --at TIME, the model is simulated up to this time with the options of its file, or the
    state is taken from the result.

    Example:  poinsot modes crane.yaml --at equilibrium --count 6 --play 2 --html mode.html
    """
    require_outputs(source_of(what), html, summary)
    linear = linear_at(what, at, coordinates)
    found = find_modes(linear, count)
    say(f"{linear.name}: {_where(linear, at)}\n")
    say(_table(found))
    _tell(linear)
    if html is not None:
        write_page(found.motion(_slowest(found) if play is None else play), html)
        say(f"\npage  {html}")
    if summary is not None:
        summary.write_text(json.dumps(_numbers(found), indent=1) + "\n")
        say(f"\nsummary  {summary}")


def _slowest(found: Modes) -> int:
    """Return the first mode that is not rigid, if there is one."""
    return found.rigid if found.rigid < len(found) else 0


def _where(linear: Any, at: str) -> str:
    return f"small motions {_place(at)}" + (", a steady motion" if linear.about.steady else "")


def _place(at: str) -> str:
    return f"at {float(at):g} s" if at not in ("start", "equilibrium") else f"at the {at}"


def _tell(linear: Any) -> None:
    """Print why a linear system has no port-Hamiltonian form, if that is so."""
    why = getattr(linear, "why", "")
    if why:
        say(f"\nnote: {why}")


def _table(found: Modes) -> str:
    head = f"{'mode':>4} {'Hz':>12} {'rad/s':>12} {'damping':>9}  {'kind':<11}  moves most"
    rows = [head]
    values = zip(found.hertz, found.frequencies, found.damping_ratios, found.kinds, strict=True)
    for k, (hertz, omega, ratio, kind) in enumerate(values):
        row = (
            f"{k:>4} {hertz:>12.6g} {omega:>12.6g} {ratio:>9.4g}  {kind:<11}  {found.moves_most(k)}"
        )
        rows.append(row)
    return "\n".join(rows) if len(found) else "no modes: nothing can move"


def _numbers(found: Modes) -> dict[str, Any]:
    rows = [
        {
            "hertz": float(found.hertz[k]),
            "frequency": float(found.frequencies[k]),
            "damping_ratio": float(found.damping_ratios[k]),
            "eigenvalue": [float(value.real), float(value.imag)],
            "kind": found.kinds[k],
            "moves_most": found.moves_most(k),
        }
        for k, value in enumerate(found.eigenvalues)
    ]
    return {
        "model": found.linear.name,
        "stable": found.stable,
        "residual": found.residual,
        "modes": rows,
    }


# -- between ports ---------------------------------------------------------------------------------


@app.command()
def bode(
    what: What,
    source: Annotated[list[str], typer.Option("--from", help="Input port; may be repeated.")],
    target: Annotated[list[str], typer.Option("--to", help="Output port; may be repeated.")],
    at: At = "start",
    band: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Lowest and highest frequency [rad/s].", show_default=False),
    ] = None,
    coordinates: Coordinates = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the Bode diagram: PNG, PDF or SVG."),
    ] = None,
    summary: Summary = None,
) -> None:
    """Show the frequency response between ports and its peaks.

    Components of vector ports are selected by an index: --to tip is all of them, --to tip[2] the
    third.

    Example:  poinsot bode crane.yaml --from motor --to tip --band 0.1 100 -o bode.png
    """
    if band is not None and not 0 < band[0] < band[1] < np.inf:
        raise InputError(
            f"--band {band[0]:g} {band[1]:g}: give two positive numbers [rad/s], lower one first"
        )
    require_outputs(source_of(what), output, summary)
    if output is not None:
        require_figure(output)
    linear = linear_at(what, at, coordinates)
    # Evaluated once before modes are computed, so that a misspelt port is reported at once.
    frequency_response(linear, 1.0, inputs=source, outputs=target)
    response = frequency_response(linear, _grid(linear, band), inputs=source, outputs=target)
    say(f"{linear.name}: {_where(linear, at)}\n")
    say(_peaks(response))
    _tell(linear)
    if output is not None:
        plot_bode(response).savefig(output)
        say(f"\nplot  {output}")
    if summary is not None:
        summary.write_text(json.dumps(_points(response), indent=1) + "\n")
        say(f"\nsummary  {summary}")


def _grid(linear: Any, band: tuple[float, float] | None) -> Array:
    """Return frequencies [rad/s], with more of them near the peaks of damped modes."""
    found = find_modes(linear)
    sizes = found.frequencies[found.frequencies > 0]
    if band is None:
        slow, fast = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
        band = float(slow) / BEYOND, float(fast) * BEYOND
    damped = found.eigenvalues[(found.eigenvalues.imag > 0) & (found.eigenvalues.real != 0)]
    near = np.append(abs(damped), damped.imag + abs(damped.real) * PEAK[:, None])
    near = near[(near > band[0]) & (near < band[1])]
    return np.unique(np.concatenate([np.geomspace(*band, POINTS), near]))


def _peaks(response: FrequencyResponse) -> str:
    """Return a table of the response at the ends of the band and at its peaks."""
    rows = [f"{'':<8} {'rad/s':>12} {'Hz':>12} {'dB':>9} {'phase [°]':>10}"]
    for i, output in enumerate(response.outputs):
        for j, input_ in enumerate(response.inputs):
            units = response.output_units[i], response.input_units[j]
            known = f"  [{units[0]} per {units[1]}]" if all(units) else ""
            rows.append(f"{output} / {input_}{known}")
            level = response.magnitude[:, i, j]
            inner = (level[1:-1] > level[:-2]) & (level[1:-1] >= level[2:])
            for k in (0, *(np.flatnonzero(inner) + 1), level.size - 1):
                what = "  peak" if 0 < k < level.size - 1 else "  end"
                omega, hertz = response.frequencies[k], response.hertz[k]
                decibels = response.decibels[k, i, j]
                phase = round(np.degrees(np.angle(response.values[k, i, j])), 2) + 0.0
                rows.append(
                    f"{what:<8} {omega:>12.6g} {hertz:>12.6g} {decibels:>9.4g} {phase:>10.4g}"
                )
    return "\n".join(rows)


def _points(response: FrequencyResponse) -> dict[str, Any]:
    """Return the response as JSON data; infinite values are null."""
    values = {
        f"{output} / {input_}": [
            [float(z.real), float(z.imag)] if np.isfinite(z) else None
            for z in response.between(output, input_)
        ]
        for output in response.outputs
        for input_ in response.inputs
    }
    frequencies = response.frequencies.tolist()
    return {"model": response.name, "frequencies": frequencies, "responses": values}


# -- reports ---------------------------------------------------------------------------------------


@app.command()
def report(
    file: Annotated[Path, typer.Argument(metavar="RUN.nc", help="Result file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write; default: RUN.html."),
    ] = None,
    modes: Annotated[
        str | None,
        typer.Option(
            metavar="start|equilibrium|TIME",
            help="Include modes at this operating point; TIME in s.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--from", help="Input port of a frequency response; may be repeated."),
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--to", help="Its output port; may be repeated.")
    ] = None,
) -> None:
    """Write a report of a result as one HTML file.

    It has the model, parameters, balances and plots, and needs no network. Modes and responses
    describe small motions about the start, the equilibrium, or the state at a time of the run.

    Example:  poinsot report run.nc -o report.html --modes equilibrium --from motor --to tip
    """
    target_file = output or file.with_suffix(".html")
    require_outputs(file, target_file)
    if bool(source) != bool(target):
        raise InputError("a frequency response needs both ports; give --from PORT and --to PORT")
    result = load(file)
    if modes is None and not source:
        write_report(result, target_file)
    else:
        at = modes or "start"
        linear = linear_at(str(file), at, None)
        responses = []
        if source:
            frequency_response(linear, 1.0, inputs=source, outputs=target)
            grid = _grid(linear, None)
            responses = [frequency_response(linear, grid, inputs=source, outputs=target)]
        found = None if modes is None else find_modes(linear)
        write_report(result, target_file, modes=found, responses=responses, at=_place(at))
    say(f"report  {target_file}")
    warn(result)
