"""`poinsot convert`: a result or a model in another format, chosen by the file suffixes."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from poinsot.cli.app import app, require_outputs, say, warn
from poinsot.errors import InputError, OmissionWarning
from poinsot.model import Model
from poinsot.result import Result, load
from poinsot.viz import animate, write_gltf, write_page
from poinsot.viz.formats import GIF, MP4, require_film

T = TypeVar("T")

RESULT = (".nc",)
#: What a result can be written as.
OF_RESULT: dict[tuple[str, ...], Callable[[Result, Path], None]] = {
    (".csv",): Result.to_csv,
    (".mat",): Result.to_mat,
    (".glb", ".gltf"): write_gltf,
    (GIF, MP4): animate,
    (".html",): write_page,
}
MODEL_FILES, URDF, MJCF = (".yaml", ".yml"), (".urdf",), (".xml", ".mjcf")


@app.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(metavar="FROM", help="Result (.nc) or model (.yaml, .urdf, .xml)."),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TO", help="File to write; its suffix is the format.")
    ],
    merge_fixed: Annotated[
        bool, typer.Option("--merge-fixed", help="Merge links that are fixed to each other.")
    ] = False,
    repair_inertia: Annotated[
        bool,
        typer.Option(
            "--repair-inertia", help="Replace impossible inertias by the nearest possible ones."
        ),
    ] = False,
    floating_base: Annotated[
        bool, typer.Option("--floating-base", help="Let the first link of a URDF file move freely.")
    ] = False,
    stops: Annotated[bool, typer.Option(help="Convert joint limits to stops.")] = True,
    looks: Annotated[bool, typer.Option(help="Convert the visual geometry of bodies.")] = True,
    loops: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml", help="Model file with joints that close loops of a URDF file."
        ),
    ] = None,
    keyframe: Annotated[
        str | None, typer.Option(help="Name of the MJCF keyframe at which the model starts.")
    ] = None,
) -> None:
    """Convert a result or a model to another format.

    Results are converted to a table (.csv), MATLAB structs (.mat), an animated scene (.glb, .gltf),
    an animation (.gif, .mp4), or a page that plays it (.html).

    Models are converted between model files, URDF and MJCF; elements that the new format cannot
    represent are listed. All options are for models.

    Example:  poinsot convert run.nc run.glb

    Example:  poinsot convert robot.urdf robot.yaml --merge-fixed
    """
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
    if source.suffix.lower() in RESULT:
        _convert_result(source, target)
    else:
        _convert_model(_by_suffix(source, readers, *RESULT), source, target)


def _convert_result(source: Path, target: Path) -> None:
    write = _by_suffix(target, OF_RESULT)
    if target.suffix in (GIF, MP4):
        require_film(target)
    require_outputs(source, target)
    result = load(source)
    write(result, target)
    say(f"{target.suffix[1:]}  {target}")
    warn(result)


def _convert_model(read: Callable[[], Model], source: Path, target: Path) -> None:
    writers: dict[tuple[str, ...], Callable[[Model], str]] = {
        MODEL_FILES: lambda model: model.to_yaml(target),
        URDF: lambda model: model.to_urdf(target),
        MJCF: lambda model: model.to_mjcf(target),
    }
    write = _by_suffix(target, writers)
    require_outputs(source, target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OmissionWarning)
        model = read()
        write(model)
    for warning in caught:
        say(f"warning: {warning.message}", err=True)
    say(f"{model!r}\nwritten  {target}")


def _by_suffix(path: Path, known: Mapping[tuple[str, ...], T], *others: str) -> T:
    """Return the function for the suffix of a path."""
    for suffixes, found in known.items():
        if path.suffix.lower() in suffixes:
            return found
    every = ", ".join([*others, *(suffix for suffixes in known for suffix in suffixes)])
    raise InputError(
        f"cannot convert '{path}': unknown suffix '{path.suffix}'; choose from {every}"
    )
