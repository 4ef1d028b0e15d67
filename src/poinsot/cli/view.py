"""`poinsot view`: a result in three dimensions."""

from pathlib import Path
from typing import Annotated

import typer

from poinsot.cli.app import app
from poinsot.cli.writing import require_folder
from poinsot.result import load


@app.command()
def view(
    file: Annotated[Path, typer.Argument(metavar="RUN.nc", help="A result; it may be growing.")],
    html: Annotated[
        Path | None, typer.Option(help="Write a page that plays offline, instead of a server.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the server on this machine.")] = 8080,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Look at a result in the browser: as it runs, or as a page to keep.

    Example:  poinsot view run.nc --html page.html
    """
    require_folder(html)
    if html is not None:
        from poinsot.viz import write_page

        write_page(load(file), html)
        typer.echo(f"page  {html}")
        return
    from poinsot.viz import follow

    viewer = follow(lambda: load(file), port=port, open_browser=browser)
    typer.echo(f"{viewer.url}  (Ctrl-C ends it)")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        viewer.close()
