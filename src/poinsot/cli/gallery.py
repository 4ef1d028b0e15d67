"""`poinsot gallery`: the published examples."""

import typer

from poinsot.cli.app import app
from poinsot.gallery import MODULES, find_example


@app.command()
def gallery() -> None:
    """List the published examples, with their source.

    Example:  poinsot gallery
    """
    width = max(len(name) for name in MODULES)
    for name in MODULES:
        example = find_example(name)
        typer.echo(f"{name:<{width}}  {example.title} ({example.source})")
