"""`poinsot fmu`: write a model file as an FMU for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.app import app, require_outputs, say
from poinsot.fmi import export_fmu
from poinsot.fmi.binary import PLATFORMS
from poinsot.model import Model


@app.command()
def fmu(
    file: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="A model file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="FMU to write; default: FILE.fmu.")
    ] = None,
    fmi: Annotated[int, typer.Option(help="Version of the FMI standard: 3 or 2.")] = 3,
    step: Annotated[
        float | None, typer.Option(help="Step size [s]; default: that of the file.")
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(help="Scheme, see `poinsot run`.", show_default=False),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", help="Channel to output, such as hinge.rate; may be repeated."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="Number to make a parameter, such as bodies.rod.mass; may be repeated."),
    ] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Platform of the binary: {', '.join(PLATFORMS)}; may be repeated; default: "
            "this one."
        ),
    ] = None,
) -> None:
    """Write a model as an FMU for co-simulation.

    Ports of the model become inputs and outputs of the FMU.

    Example:  poinsot fmu crane.yaml -o crane.fmu --fmi 2 --parameter bodies.load.mass
    """
    target = output or file.with_suffix(".fmu")
    require_outputs(file, target)
    interface = export_fmu(
        Model.from_yaml(file),
        target,
        version=fmi,
        step=step,
        scheme=scheme,
        outputs=show or (),
        parameters=parameter or (),
        platforms=platform,
    )
    shown = [v for v in interface.variables if v.causality != "local"]
    width = max(len(variable.name) for variable in shown)
    for variable in shown:
        unit = f"[{variable.unit}]" if variable.unit else ""
        say(f"{variable.causality:<11}  {variable.name:<{width}}  {unit}".rstrip())
    say(f"fmu  {target}")
