"""The command line: `poinsot gallery`, `poinsot run`.

Exit status: 0 done; 1 the simulation stopped early or its check failed; 2 bad input.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from poinsot.errors import InputError, PoinsotError
from poinsot.gallery import MODULES, Example, find_example
from poinsot.result import Result, SimulationError

app = typer.Typer(
    name="poinsot",
    help="Port-Hamiltonian multibody dynamics with exact balances.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


@app.command()
def gallery() -> None:
    """List the published examples, with their source.

    Example: poinsot gallery
    """
    width = max(len(name) for name in MODULES)
    for name in MODULES:
        example = find_example(name)
        typer.echo(f"{name:<{width}}  {example.title} ({example.source})")


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="Name of a gallery example.")],
    scheme: Annotated[str | None, typer.Option(help="Time integration scheme.")] = None,
    step: Annotated[float | None, typer.Option(help="Step size [s].")] = None,
    t_end: Annotated[float | None, typer.Option(help="End time [s].")] = None,
    engine: Annotated[str, typer.Option(help="auto, compiled or reference.")] = "auto",
    summary: Annotated[Path | None, typer.Option(help="Write a summary as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the example's figure.")] = None,
    animation: Annotated[Path | None, typer.Option(help="Write its animation, a GIF.")] = None,
    save_every: Annotated[int, typer.Option(help="Keep every so many steps.")] = 1,
    progress: Annotated[bool, typer.Option(help="Show progress on a terminal.")] = True,
) -> None:
    """Simulate a gallery example, as published or with other options.

    Example: poinsot run dc-motor --step 1e-3 --summary run.json --plot run.png
    """
    example = find_example(name)
    for path in (summary, plot, animation):
        _require_folder(path)
    if animation is not None and example.animate is None:
        raise InputError(f"example '{name}' has no animation")
    varied = save_every != 1 or any(option is not None for option in (scheme, step, t_end))
    status = 0
    try:
        result = example.run(
            scheme=scheme,
            h=step,
            t_end=t_end,
            engine=engine,
            save_every=save_every,
            progress=None if progress else False,
        )
    except SimulationError as error:
        if error.result is None:
            raise
        typer.echo(f"stopped early: {error}", err=True)
        result = error.result
    if result.status != "done":
        status = 1
    typer.echo(result.summary())
    _write(example, result, summary, plot, animation)
    if status == 0 and not varied:
        status = _judge(example, result)
    raise typer.Exit(status)


def _require_folder(path: Path | None) -> None:
    """Refuse a file in a folder that is not there, before anything is computed."""
    if path is not None and not path.resolve().parent.is_dir():
        raise InputError(f"cannot write '{path}': there is no folder '{path.parent}'; create it")


def _write(
    example: Example,
    result: Result,
    summary: Path | None,
    plot: Path | None,
    animation: Path | None,
) -> None:
    if summary is not None:
        summary.write_text(json.dumps(summarise(result), indent=1) + "\n")
        typer.echo(f"summary    {summary}")
    if plot is not None:
        with _writing(plot):
            example.plot(result).savefig(plot)
        typer.echo(f"plot       {plot}")
    if animation is not None and example.animate is not None:
        with _writing(animation):
            example.animate(result, animation)
        typer.echo(f"animation  {animation}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn a format that cannot be written into a message."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"cannot write '{path}': {error}") from None


def _judge(example: Example, result: Result) -> int:
    """Print the check of the published case; a failed check is exit status 1."""
    checks = example.check(result)
    typer.echo("")
    for check in checks:
        typer.echo(str(check))
    return 0 if all(check.passed for check in checks) else 1


def summarise(result: Result) -> dict[str, Any]:
    """Return the run as numbers for a JSON file; SI units."""
    return {
        "model": result.model,
        "scheme": result.scheme,
        "engine": result.engine,
        "step": result.h,
        "steps": result.stats.steps,
        "t_end": float(result.time[-1]),
        "status": result.status,
        "newton_iterations": result.stats.newton_iterations,
        "wall_time_s": result.stats.wall_time,
        "energy_start": float(result.energy[0]),
        "energy_end": float(result.energy[-1]),
        "energy_error_max": result.stats.balance_error_max,
        "supplied": {
            port.name: float(port.energy[-1])
            for port in result.ports.values()
            if not port.connected
        },
        "dissipated": float(result.dissipated[-1]),
        **(_mechanism(result) if result.observation.bodies else _states(result)),
    }


def _states(result: Result) -> dict[str, Any]:
    return {"final": {name: state.values[-1].tolist() for name, state in result.states.items()}}


def _mechanism(result: Result) -> dict[str, Any]:
    return {
        "angular_momentum_start": result.angular_momentum[0].tolist(),
        "angular_momentum_end": result.angular_momentum[-1].tolist(),
        "constraint_position_max": float(result.constraint_error.max()),
        "constraint_velocity_max": float(result.velocity_constraint_error.max()),
        "final": {
            name: {
                "position": body.position[-1].tolist(),
                "rotation": body.rotation[-1].tolist(),
                "velocity": body.velocity[-1].tolist(),
                "angular_velocity": body.angular_velocity[-1].tolist(),
            }
            for name, body in result.observation.bodies.items()
        },
    }


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"poinsot {version('poinsot')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Port-Hamiltonian multibody dynamics with exact balances."""


def main() -> None:
    """Run the command line; every error is one message, never a traceback."""
    try:
        app()
    except PoinsotError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"error: {error.strerror}: {error.filename}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
