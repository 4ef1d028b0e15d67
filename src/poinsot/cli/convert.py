"""`poinsot convert`: a file in another format, by the suffixes of both names."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.app import app, require_outputs, say, warn
from poinsot.errors import InputError
from poinsot.result import Result, load
from poinsot.viz import animate, write_gltf, write_page
from poinsot.viz.formats import GIF, MP4, require_film

#: What a result can be written as.
OF_RESULT: dict[str, Callable[[Result, Path], None]] = {
    ".csv": Result.to_csv,
    ".mat": Result.to_mat,
    ".glb": write_gltf,
    ".gltf": write_gltf,
    GIF: animate,
    MP4: animate,
    ".html": write_page,
}


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="What to convert: RUN.nc.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help=f"RUN with {', '.join(OF_RESULT)}.")],
) -> None:
    """Write a file in another format: its suffix says which.

    A result becomes a table (.csv), structs for MATLAB (.mat), an animated scene (.glb, .gltf), a
    film (.gif, .mp4), or a page that plays it (.html).

    Example:  poinsot convert run.nc run.glb
    """
    if source.suffix not in OF_SOURCE:
        raise InputError(
            f"cannot convert '{source}': what can be converted ends in {', '.join(OF_SOURCE)}"
        )
    OF_SOURCE[source.suffix](source, target)
    say(f"{target.suffix[1:]}  {target}")


def _from_result(source: Path, target: Path) -> None:
    if target.suffix not in OF_RESULT:
        raise InputError(
            f"cannot convert '{source}' to '{target}': a result can be written as "
            f"{', '.join(OF_RESULT)}"
        )
    if target.suffix in (GIF, MP4):
        require_film(target)
    require_outputs(source, target)
    result = load(source)
    OF_RESULT[target.suffix](result, target)
    warn(result)


#: What can be converted, by its suffix.
OF_SOURCE: dict[str, Callable[[Path, Path], None]] = {".nc": _from_result}
