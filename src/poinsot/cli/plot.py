"""`poinsot plot`: a page of plots of a result."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.app import app
from poinsot.cli.writing import require_folder, writing
from poinsot.result import load


@app.command()
def plot(
    file: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A result.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="PNG, PDF or SVG; default: RUN.png.")
    ] = None,
) -> None:
    """Plot energy, balance, momenta, constraints and joints on one page.

    Example:  poinsot plot run.nc -o run.pdf
    """
    target = output or file.with_suffix(".png")
    require_folder(target)
    result = load(file)
    from poinsot.viz import plot_overview

    with writing(target):
        plot_overview(result).savefig(target)
    typer.echo(f"plot  {target}")
