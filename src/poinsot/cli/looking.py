"""`poinsot gallery`, `check`, `plot` and `view`: look at examples, model files and results."""

import webbrowser
from importlib.util import find_spec
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
from poinsot.studies.store import is_study, load_study
from poinsot.viz import follow, plot_overview, plot_study, write_page
from poinsot.viz.formats import require_figure


@app.command()
def gallery() -> None:
    """List the gallery examples with their sources.

    Example:  poinsot gallery
    """
    width = max(len(name) for name in MODULES)
    for name in MODULES:
        say(f"{name:<{width}}  {find_example(name).describe()}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Model file.")],
    assemble: Annotated[
        bool,
        typer.Option("--assemble", help="First move the bodies until all joints are closed."),
    ] = False,
) -> None:
    """Check a model file and show its degrees of freedom.

    Also shows redundant constraints, singular positions, and the velocities at the start.

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
    file: Annotated[
        Path, typer.Argument(metavar="RUN.nc|STUDY.nc", help="File of a result or a study.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="PNG, PDF or SVG to write; default: RUN.png."),
    ] = None,
) -> None:
    """Plot a result or a study on one page.

    For a result: energy, balance, momenta, constraints and joints. For a study: quantities over
    time and over parameters.

    Example:  poinsot plot run.nc -o run.pdf
    """
    target = output or file.with_suffix(".png")
    require_outputs(file, target)
    require_figure(target)
    if is_study(file):
        with load_study(file) as study:
            plot_study(study).savefig(target)
        say(f"plot  {target}")
        return
    result = load(file)
    plot_overview(result).savefig(target)
    say(f"plot  {target}")
    warn(result)


@app.command()
def view(
    file: Annotated[
        Path,
        typer.Argument(metavar="RUN.nc", help="Result file; its run may still be in progress."),
    ],
    html: Annotated[
        Path | None,
        typer.Option(help="Write a self-contained page instead; default without viser."),
    ] = None,
    scale: Annotated[float, typer.Option(help="Factor for deformations of elastic bodies.")] = 1.0,
    colour: Annotated[
        str | None,
        typer.Option(help="Colour beams and rods by axial, shear, torsion or bending."),
    ] = None,
    port: Annotated[int, typer.Option(help="TCP port of the viewer on this machine.")] = 8080,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> None:
    """Show a result in 3D in the browser.

    The live view needs viser (pip install 'poinsot[viewer]'). Without it, a self-contained page is
    written next to the result and opened.

    Example:  poinsot view run.nc --html page.html --scale 20 --colour bending
    """
    live = html is None and find_spec("viser") is not None
    if not live:
        page = html or file.with_suffix(".html")
        require_outputs(file, page)
        result = load(file)
        write_page(result, page, scale=scale, colour=colour)
        say(f"page  {page}")
        if html is None:
            say("(the live view needs viser: pip install 'poinsot[viewer]')")
            if browser:
                webbrowser.open(page.resolve().as_uri())
        warn(result)
        return
    if colour is not None:
        raise InputError("--colour is not available in the live view; add --html PAGE.html")
    viewer = follow(lambda: load(file), scale=scale, port=port, open_browser=browser)
    say(f"{viewer.url}  (stop with Ctrl-C)")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        viewer.close()
