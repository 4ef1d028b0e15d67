"""`poinsot report`: a result as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.app import app
from poinsot.cli.writing import require_folder
from poinsot.result import load


@app.command()
def report(
    file: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A result.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML file; default: RUN.html.")
    ] = None,
) -> None:
    """Write model, parameters, balances and plots to one file that needs no network.

    Example:  poinsot report run.nc -o report.html
    """
    target = output or file.with_suffix(".html")
    require_folder(target)
    result = load(file)
    from poinsot.viz import write_report

    write_report(result, target)
    typer.echo(f"report  {target}")
