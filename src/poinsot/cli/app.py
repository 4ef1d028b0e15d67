"""The command `poinsot`: what all its subcommands share."""

import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated

import typer

from poinsot.errors import InputError, PoinsotError, printable
from poinsot.result import Result, output_path

#: Exit status after Ctrl-C, but for a simulation: that has stopped early, and is saved.
INTERRUPTED = 130

app = typer.Typer(
    name="poinsot",
    help="Port-Hamiltonian multibody dynamics with exact energy balances.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(shown: bool) -> None:
    if shown:
        say(f"poinsot {installed('poinsot')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Port-Hamiltonian multibody dynamics with exact energy balances."""


def main() -> None:
    """Run the command line; every error is one message, never a traceback."""
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:
            say("interrupted", err=True)
        raise
    except PoinsotError as error:
        _stop(str(error))
    except BrokenPipeError:  # as in `poinsot gallery | head -1`
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _stop(f"{error.strerror}: {error.filename}" if error.filename else str(error))


def _stop(message: str) -> None:
    say(f"error: {message}", err=True)
    sys.exit(2)


def say(text: str, err: bool = False) -> None:
    """Print lines of plain text, whatever names are in them."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def warn(result: Result) -> None:
    """Print on stderr why a result is not to be trusted."""
    for text in result.warnings:
        say(f"warning: {text}", err=True)


def require_outputs(source: Path | None, *paths: Path | None) -> None:
    """Refuse a file in a folder that is not there, and one that is read or written already."""
    taken = [] if source is None else [source]
    for path in filter(None, paths):
        output_path(path, f"cannot write '{path}'")
        for other in taken:
            if _same(path, other):
                what = "it is read" if other is source else f"'{other}' is the same file"
                raise InputError(f"cannot write '{path}': {what}; choose another name")
        taken.append(path)


def _same(a: Path, b: Path) -> bool:
    """Tell whether two names are of one file, by whatever path or link."""
    if a.exists() and b.exists():
        return a.is_file() and a.samefile(b)
    return a.resolve() == b.resolve()
