"""Commands that look at what there is: examples, a model file, a result."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from poinsot.cli.app import app, require_outputs, say, warn
from poinsot.errors import InputError, printable
from poinsot.gallery import MODULES, find_example
from poinsot.model import Model
from poinsot.ph.matrices import Vector
from poinsot.result import load
from poinsot.so3 import matrix_to_quat
from poinsot.viz import follow, plot_overview, write_page
from poinsot.viz.formats import require_figure

RunFile = Annotated[Path, typer.Argument(metavar="RUN.nc", help="A result.")]


@app.command()
def gallery() -> None:
    """List the published examples, with their source.

    Example:  poinsot gallery
    """
    width = max(len(name) for name in MODULES)
    for name in MODULES:
        say(f"{name:<{width}}  {find_example(name).describe()}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="A model file.")],
    assemble: Annotated[
        bool, typer.Option("--assemble", help="Move the bodies until all joints close.")
    ] = False,
) -> None:
    """Show degrees of freedom, repeated constraints, and whether the start is consistent.

    Example:  poinsot check slider-crank.yaml
    """
    model = Model.from_yaml(file, assemble=assemble)
    say(f"{printable(model.name)}: a valid model, consistent at the start\n\n{model.check()}")
    if model.assembled is not None:
        say(f"\n{model.assembled}\n\nplaces at the start")
        width = max(map(len, model.bodies))
        for name, (x, R) in model.start_places().items():
            quat = _vector(matrix_to_quat(R))
            say(f"  {printable(name):<{width}}  at {_vector(x)} m, rotation {quat}")
    say("\nvelocities at the start")
    width = max(map(len, model.bodies), default=0)
    for name, (v, omega) in model.start_velocities().items():
        say(f"  {printable(name):<{width}}  v = {_vector(v)} m/s, omega = {_vector(omega)} rad/s")


def _vector(values: Vector) -> str:
    shown = np.where(abs(values) > 1e-12, values, 0.0)
    return "(" + ", ".join(f"{value:.6g}" for value in shown) + ")"


@app.command()
def plot(
    file: RunFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="PNG, PDF or SVG; default: RUN.png.")
    ] = None,
) -> None:
    """Plot energy, balance, momenta, constraints and joints on one page.

    Example:  poinsot plot run.nc -o run.pdf
    """
    target = output or file.with_suffix(".png")
    require_outputs(file, target)
    require_figure(target)
    result = load(file)
    plot_overview(result).savefig(target)
    say(f"plot  {target}")
    warn(result)


@app.command()
def view(
    file: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A result; it may be growing.")],
    html: Annotated[
        Path | None, typer.Option(help="Write a page that plays offline, instead of a server.")
    ] = None,
    scale: Annotated[
        float, typer.Option(help="Draw deformations of elastic bodies so many times larger.")
    ] = 1.0,
    colour: Annotated[
        str | None,
        typer.Option(help="Colour beams and rods by axial, shear, torsion or bending."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the server on this machine.")] = 8080,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Look at a result in the browser: as it runs, or as a page to keep.

    Example:  poinsot view run.nc --html page.html --scale 20 --colour bending
    """
    require_outputs(file, html)
    if html is not None:
        result = load(file)
        write_page(result, html, scale=scale, colour=colour)
        say(f"page  {html}")
        warn(result)
        return
    if colour is not None:
        raise InputError("--colour needs --html: the live view shows shapes only")
    viewer = follow(lambda: load(file), scale=scale, port=port, open_browser=browser)
    say(f"{viewer.url}  (Ctrl-C ends it)")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        viewer.close()
