"""The command `poinsot`: options and functions that all its subcommands share."""

import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from poinsot.errors import InputError, PoinsotError, printable
from poinsot.result import Result, output_path

#: Exit status after Ctrl-C, but for a simulation: that has stopped early, and is saved.
INTERRUPTED = 130
#: The order of the commands in `poinsot --help`.
ORDER = ("gallery", "check", "run", "view", "plot", "report", "modes", "bode", "sweep")


class _Commands(TyperGroup):
    """The commands, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names: first those of `ORDER`, then all others."""
        return sorted(self.commands, key=[*ORDER, *sorted(self.commands)].index)


app = typer.Typer(
    cls=_Commands,
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
    """Print lines of text, with control characters in names escaped."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def warn(result: Result) -> None:
    """Print the warnings of a result to stderr."""
    for text in result.warnings:
        say(f"warning: {text}", err=True)


def require_outputs(source: Path | None, *paths: Path | None) -> None:
    """Raise `InputError` for outputs in missing folders, and for files that are used twice."""
    taken = [] if source is None else [source]
    for path in filter(None, paths):
        output_path(path, f"cannot write '{path}'")
        for other in taken:
            if _same(path, other):
                what = "it is the input" if other is source else f"'{other}' is the same file"
                raise InputError(f"cannot write '{path}': {what}; choose another name")
        taken.append(path)


def _same(a: Path, b: Path) -> bool:
    """Return whether two paths, which may be links, are the same file."""
    if a.exists() and b.exists():
        return a.is_file() and a.samefile(b)
    return a.resolve() == b.resolve()
