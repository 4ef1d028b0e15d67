"""The command that turns models from one format into another."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from poinsot.cli.app import app, require_outputs, say
from poinsot.errors import InputError, OmissionWarning
from poinsot.model import Model

T = TypeVar("T")
MODEL_FILES, URDF, MJCF = (".yaml", ".yml"), (".urdf",), (".xml", ".mjcf")


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(metavar="FROM", help="A model: .yaml, .urdf, or .xml (MJCF).")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TO", help="Where to write it, in the format of its ending.")
    ],
    merge_fixed: Annotated[
        bool, typer.Option("--merge-fixed", help="Make one body of links fixed to each other.")
    ] = False,
    repair_inertia: Annotated[
        bool, typer.Option("--repair-inertia", help="Change inertias that belong to no body.")
    ] = False,
    floating_base: Annotated[
        bool, typer.Option("--floating-base", help="Let the first link of a URDF file be free.")
    ] = False,
    stops: Annotated[bool, typer.Option(help="Keep limits of joints, as stops.")] = True,
    looks: Annotated[bool, typer.Option(help="Keep what bodies look like.")] = True,
    loops: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="Joints that close loops of a URDF file."),
    ] = None,
    keyframe: Annotated[
        str | None, typer.Option(help="Where an MJCF file starts, by the name of a keyframe.")
    ] = None,
) -> None:
    """Convert a model between model files, URDF and MJCF; list what the target cannot hold.

    Example:  poinsot convert robot.urdf robot.yaml --merge-fixed
    """
    require_outputs(source, target)
    common: dict[str, Any] = {
        "merge_fixed": merge_fixed,
        "repair_inertia": repair_inertia,
        "stops": stops,
        "looks": looks,
    }
    readers: dict[tuple[str, ...], Callable[[], Model]] = {
        MODEL_FILES: lambda: Model.from_yaml(source),
        URDF: lambda: Model.from_urdf(source, floating_base=floating_base, loops=loops, **common),
        MJCF: lambda: Model.from_mjcf(source, keyframe=keyframe, **common),
    }
    writers: dict[tuple[str, ...], Callable[[Model], str]] = {
        MODEL_FILES: lambda model: model.to_yaml(target),
        URDF: lambda model: model.to_urdf(target),
        MJCF: lambda model: model.to_mjcf(target),
    }
    read, write = _by_ending(source, readers), _by_ending(target, writers)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OmissionWarning)
        model = read()
        write(model)
    for warning in caught:
        say(f"warning: {warning.message}", err=True)
    say(f"{model!r}\nwritten  {target}")


def _by_ending(path: Path, known: Mapping[tuple[str, ...], T]) -> T:
    """Return what belongs to the ending of a file's name."""
    for endings, found in known.items():
        if path.suffix.lower() in endings:
            return found
    every = ", ".join(ending for endings in known for ending in endings)
    raise InputError(f"'{path}': the ending tells the format; known: {every}")
