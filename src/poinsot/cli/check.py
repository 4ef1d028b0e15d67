"""`poinsot check`: look at a model file without running it."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from poinsot.cli.app import app
from poinsot.model import Model
from poinsot.ph.matrices import Vector


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="A model file.")],
) -> None:
    """Show degrees of freedom, repeated constraints, and whether the start is consistent.

    Example:  poinsot check slider-crank.yaml
    """
    model = Model.from_yaml(file)
    typer.echo(f"{model.name}: a valid model, consistent at the start\n\n{model.check()}")
    typer.echo("\nvelocities at the start")
    width = max(map(len, model.bodies), default=0)
    for name, (v, omega) in model.start_velocities().items():
        typer.echo(f"  {name:<{width}}  v = {_vector(v)} m/s, omega = {_vector(omega)} rad/s")


def _vector(values: Vector) -> str:
    shown = np.where(abs(values) > 1e-12, values, 0.0)
    return "(" + ", ".join(f"{value:.6g}" for value in shown) + ")"
