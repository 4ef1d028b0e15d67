"""The summary of a run: a table of balances, and numbers for a JSON file."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.errors import printable
from poinsot.result import Result
from poinsot.result.variables import MOTION

if TYPE_CHECKING:
    from rich.table import Table


def show(result: Result) -> None:
    """Print the table."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    console.print(printable(_title(result)), markup=False)
    console.print(balances(result))
    console.print(_effort(result), markup=False)
    for event in result.events.values():
        console.print(printable(f"event '{event.name}': {event.when}"), markup=False)
    if result.status in ("done", "warned") and result.message:
        console.print(printable(f"stopped: {result.message}"), markup=False)
    for label, _, _, remark in result.measured_violations:
        if remark:
            console.print(f"{label}: {remark}", markup=False)
    for text in result.notes:
        console.print(printable(f"note: {text}"), markup=False)


def balances(result: Result) -> "Table":
    """Return a table of energies, momenta and constraints: start, end and largest error."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for heading in ("start", "end", "largest error"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in _rows(result):
        table.add_row(*(escape(printable(cell)) for cell in row))
    return table


def _rows(result: Result) -> list[tuple[str, str, str, str]]:
    H = result.energy
    error = f"{result.stats.balance_error_max:.1e}"
    rows = [("energy [J]", _number(H[0]), _number(H[-1]), error)]
    for port in result.outer_ports:
        rows.append((f"  supplied by '{port.name}' [J]", "0", _number(port.energy[-1]), ""))
    if result.dissipated[-1] != 0:
        rows.append(("  dissipated [J]", "0", _number(result.dissipated[-1]), ""))
    if np.any(result.added):
        rows.append(("  added by events [J]", "0", _number(result.added[-1]), ""))
    for kind, unit in (("linear", "kg m/s"), ("angular", "kg m²/s")):
        if (L := result.observation.whole.get(f"{kind}_momentum")) is not None:
            sizes = np.linalg.norm(L, axis=1)
            rows.append((f"|{kind} momentum| [{unit}]", _number(sizes[0]), _number(sizes[-1]), ""))
    for label, gap, unit, _ in result.measured_violations:
        heading = f"{label} [{unit}]" if unit else label
        rows.append((heading, f"{gap[0]:.1e}", f"{gap[-1]:.1e}", f"{gap.max():.1e}"))
    stats = result.stats
    for label, off in (
        ("estimated position error [m]", stats.position_error),
        ("estimated rotation error [rad]", stats.rotation_error),
    ):
        if not np.isinf(off):
            rows.append((label, "", "", f"{off:.1e}"))
    return rows


def _number(value: float) -> str:
    return f"{value:.9g}"


def _title(result: Result) -> str:
    span = f"{result.time[0]:g} to {result.time[-1]:g} s"
    return f"{result.model}: {result.scheme}, {result.step_sizes}, {span} ({result.status})"


def _effort(result: Result) -> str:
    stats = result.stats
    each = stats.newton_iterations / max(1, stats.steps)
    pace = stats.steps / max(stats.wall_time, 1e-9)
    parts = [
        f"{stats.steps} steps in {stats.wall_time:.3g} s",
        f"{pace:.3g} steps/s",
        f"{each:.2g} Newton iterations per step",
        f"engine {result.engine}",
    ]
    return ", ".join(parts)


def _known(value: float) -> float | None:
    """Return a finite number; None: not requested."""
    return None if np.isinf(value) else value


# -- numbers ---------------------------------------------------------------------------------------


def summarise(result: Result) -> dict[str, Any]:
    """Return the summary of a run and the final state; SI units, world axes."""
    bodies = result.observation.bodies
    summary = {
        "model": result.model,
        "scheme": result.scheme,
        "engine": result.engine,
        "step": result.h,
        "steps": result.stats.steps,
        "t_end": float(result.time[-1]),
        "status": result.status,
        "tolerance": result.stats.tolerance,
        "rejected_steps": result.stats.rejected_steps,
        "split_steps": result.stats.split_steps,
        "smallest_step": result.stats.smallest_step,
        "largest_step": result.stats.largest_step,
        "newton_iterations": result.stats.newton_iterations,
        "wall_time_s": result.stats.wall_time,
        "energy_start": float(result.energy[0]),
        "energy_end": float(result.energy[-1]),
        "energy_error_max": result.stats.balance_error_max,
        "supplied": {port.name: float(port.energy[-1]) for port in result.outer_ports},
        "dissipated": float(result.dissipated[-1]),
        "added_by_events": float(result.added[-1]),
        "position_error": _known(result.stats.position_error),
        "rotation_error": _known(result.stats.rotation_error),
        "warnings": list(result.warnings),
        "notes": list(result.notes),
        "message": result.message,
        "events": {event.name: event.time.tolist() for event in result.events.values()},
    }
    if bodies:
        summary["angular_momentum_start"] = result.angular_momentum[0].tolist()
        summary["angular_momentum_end"] = result.angular_momentum[-1].tolist()
    if "constraint_error" in result.observation.whole:
        summary["constraint_position_max"] = float(result.constraint_error.max())
        summary["constraint_velocity_max"] = float(result.velocity_constraint_error.max())
    if "velocity_constraint_error_mid" in result.observation.whole:
        midpoints = result.velocity_constraint_error_mid
        summary["constraint_velocity_mid_max"] = float(midpoints.max(initial=0.0))
    moved = {
        name: {field: getattr(body, field)[-1].tolist() for field in MOTION}
        for name, body in bodies.items()
    }
    states = {name: state.values[-1].tolist() for name, state in result.states.items()}
    return summary | {"final": moved if bodies else states}
