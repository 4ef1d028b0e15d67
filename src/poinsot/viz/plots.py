"""Plots over time: energy and its balance, invariants, joints, states; and an overview.

Each draws into given axes or those of a new figure, and returns the figure. `settings` are passed
to the axes, such as `title` and `ylim`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from poinsot.result import JointRecord, Result
from poinsot.viz.axes import draw_error, draw_line, figure_of, over_time, plain
from poinsot.viz.style import Axes, Figure, drawing

Drawing: TypeAlias = "Callable[[Axes], Figure]"
#: On one page, the joints of a larger mechanism are left out: their lines could not be told apart.
JOINTS = 40
#: Values of steps that do not belong to a line.
DOTS: dict[str, Any] = {"linestyle": "", "marker": ".", "markersize": 3}


def plot_energy(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the energy balance [J]: stored, supplied through each outer port, dissipated, added."""
    with over_time(ax, "energy since the start [J]", **settings) as ax:
        for port in result.outer_ports:
            draw_line(ax, result.time, port.energy, label=plain(f"supplied by '{port.name}'"))
        draw_line(ax, result.time, result.energy - result.energy[0], label="stored")
        draw_line(ax, result.time, result.dissipated, label="dissipated")
        if np.any(result.added):
            draw_line(ax, result.time, result.added, label="added by events")
    return figure_of(ax)


def plot_energy_kinds(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot kinetic energy, gravity, springs and fields [J], and their sum H."""
    with over_time(ax, "energy [J]", **settings) as ax:
        for kind, values in result.observation.energies.items():
            draw_line(ax, result.time, values, label=kind)
        draw_line(ax, result.time, result.energy, label="total", color="black", linestyle="--")
    return figure_of(ax)


def plot_power(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the power supplied through each outer port [W]."""
    with over_time(ax, "supplied power [W]", **settings) as ax:
        for port in result.outer_ports:
            draw_line(ax, port.time, port.power, label=plain(port.name))
    return figure_of(ax)


def plot_balance(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the balance error H - H0 - supplied + dissipated - added [J], on a logarithmic scale."""
    with over_time(ax, "|balance error| [J]", **settings) as ax:
        # Energies that are added up cannot be told from their neighbours by less than this.
        kinetic = result.observation.energies.get("kinetic", result.energy)
        largest = max(np.max(abs(E)) for E in (result.energy, result.dissipated, kinetic))
        round_off = np.finfo(float).eps * float(largest)
        if round_off > 0:
            ax.axhline(round_off, color="grey", linewidth=0.8, linestyle=":", label="round-off")
        draw_error(ax, result.time, result.balance_error, **DOTS)
    return figure_of(ax)


def plot_momentum(
    result: Result,
    ax: Axes | None = None,
    kind: Literal["angular", "linear"] = "angular",
    **settings: Any,
) -> Figure:
    """Plot the total angular momentum about the origin [kg m²/s], or the linear one [kg m/s]."""
    angular = kind == "angular"
    values = result.angular_momentum if angular else result.linear_momentum
    letter, unit = ("L", "kg m²/s") if angular else ("p", "kg m/s")
    with over_time(ax, f"{kind} momentum [{unit}]", **settings) as ax:
        for k, axis in enumerate("xyz"):
            draw_line(ax, result.time, values[:, k], label=f"${letter}_{axis}$")
    return figure_of(ax)


def plot_constraints(
    results: Result | Mapping[str, Result],
    ax: Axes | None = None,
    level: Literal["position", "velocity"] = "position",
    **settings: Any,
) -> Figure:
    """Plot the largest constraint violation of one run, or of several by label [m or rad]."""
    runs = {"": results} if isinstance(results, Result) else results
    what = "|g|" if level == "position" else "|G v|"
    with over_time(ax, f"max {what} [SI units]", **settings) as ax:
        for label, run in runs.items():
            error = run.constraint_error if level == "position" else run.velocity_constraint_error
            draw_error(ax, run.time, error, label=plain(label) or None, linewidth=1.0)
    return figure_of(ax)


def plot_drift(
    result: Result,
    ax: Axes | None = None,
    *,
    start: float = 0.0,
    momentum: bool = True,
    **settings: Any,
) -> Figure:
    """Plot the relative change of energy and angular momentum since a time `start` [s].

    `momentum=False` leaves out the angular momentum, which the ground may change.
    """
    kept = result.time >= start - 1e-12
    time, H, L = result.time[kept], result.energy[kept], result.angular_momentum[kept]
    changes = [("energy", abs(H - H[0]), abs(H[0]))]
    if momentum:
        lost = np.linalg.norm(L - L[0], axis=1)
        changes.append(("angular momentum", lost, np.linalg.norm(L[0])))
    with over_time(ax, "relative change", markerscale=4, **settings) as ax:
        for label, change, size in changes:
            draw_error(ax, time, change / (size or 1.0), label=label, **DOTS | {"markersize": 2})
    return figure_of(ax)


def plot_reactions(
    result: Result,
    ax: Axes | None = None,
    *,
    joints: Iterable[str] | None = None,
    part: Literal["force", "torque"] = "force",
    **settings: Any,
) -> Figure:
    """Plot the magnitude of joint reactions, all or by name: force [N] or torque [N m]."""
    chosen, unit = _chosen(result, joints), "N" if part == "force" else "N m"
    # Repeated constraints share a load in many ways: what is drawn is one of them.
    note = "" if all(joint.complete for joint in chosen) else "\n* one of many"
    with over_time(ax, f"reaction {part} [{unit}]{note}", **settings) as ax:
        for joint in chosen:
            size = np.linalg.norm(joint.force if part == "force" else joint.torque, axis=1)
            label = plain(joint.name if joint.complete else f"{joint.name}*")
            draw_line(ax, joint.midpoint, size, label=label, linewidth=1.2)
    return figure_of(ax)


def plot_coordinates(
    result: Result,
    ax: Axes | None = None,
    *,
    joints: Iterable[str] | None = None,
    kind: Literal["angle", "displacement"] = "angle",
    **settings: Any,
) -> Figure:
    """Plot joint angles [rad] or displacements [m], all or by name; zero at the start."""
    with over_time(ax, f"{kind} [{'rad' if kind == 'angle' else 'm'}]", **settings) as ax:
        for joint in _chosen(result, joints):
            for name, values in joint.coordinates.items():
                if name.startswith(kind):
                    own = name.removeprefix(kind)
                    draw_line(ax, result.time, values, label=plain(f"{joint.name}{own}"))
    return figure_of(ax)


def _chosen(result: Result, names: Iterable[str] | None) -> list[JointRecord]:
    return [result.joint(name) for name in (result.observation.joints if names is None else names)]


def plot_sensors(
    result: Result,
    ax: Axes | None = None,
    *,
    sensors: Iterable[str] | None = None,
    **settings: Any,
) -> Figure:
    """Plot recorded sensors, all or by name, each in its own unit."""
    with over_time(ax, "sensors", **settings) as ax:
        for name in result.sensors if sensors is None else sensors:
            sensor = result.sensor(name)
            columns = sensor.columns.T
            for k, values in enumerate(columns):
                own = f" {k + 1}" if len(columns) > 1 else ""
                label = plain(f"{name}{own}" + (f" [{sensor.unit}]" if sensor.unit else ""))
                draw_line(ax, sensor.time, values, label=label)
    return figure_of(ax)


def plot_ports(
    result: Result,
    ax: Axes | None = None,
    *,
    ports: Iterable[str] | None = None,
    kind: Literal["input", "output"] = "input",
    **settings: Any,
) -> Figure:
    """Plot inputs u or outputs y of outer ports, all or by name, each in its own unit.

    The torque of a motor is an input, that of a drive an output.
    """
    chosen = result.outer_ports if ports is None else [result.port(name) for name in ports]
    with over_time(ax, f"{kind}s of ports", **settings) as ax:
        for port in chosen:
            values, unit = (port.u, port.u_unit) if kind == "input" else (port.y, port.y_unit)
            for k, column in enumerate(values.T):
                own = f" {k + 1}" if values.shape[1] > 1 else ""
                label = plain(f"{port.name}{own}" + (f" [{unit}]" if unit else ""))
                draw_line(ax, port.time, column, label=label)
    return figure_of(ax)


def plot_states(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the states of a system, each in its own unit."""
    with over_time(ax, "states", **settings) as ax:
        for state in result.states.values():
            for k, values in enumerate(state.values.T):
                own = f" {k + 1}" if state.values.shape[1] > 1 else ""
                label = plain(f"{state.name}{own}" + (f" [{state.unit}]" if state.unit else ""))
                draw_line(ax, result.time, values, label=label)
    return figure_of(ax)


def plot_iterations(result: Result, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the number of Newton iterations of each saved step."""
    from matplotlib.ticker import MaxNLocator

    with over_time(ax, "Newton iterations a step", **settings) as ax:
        ends, counts = result.time[1:], result.stats.iterations.astype(float)
        if ends.size:
            draw_line(ax, ends, counts, **DOTS)
        ax.set_ylim(0, max(4.0, 1.15 * np.max(counts, initial=0)))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure_of(ax)


# -- one page --------------------------------------------------------------------------------------


def plot_overview(result: Result) -> Figure:
    """Plot an overview: energy, balance, momenta, constraints, joints, ports and states."""
    drawings = overview(result)
    rows = (len(drawings) + 1) // 2
    with drawing(10, 2.7 * rows + 0.5) as figure:
        figure.get_layout_engine().set(h_pad=0.1, w_pad=0.1)  # type: ignore[union-attr,call-arg]
        figure.suptitle(plain(f"{result.model}: {how(result)}"))
        for k, (heading, draw) in enumerate(drawings.items()):
            ax = figure.add_subplot(rows, 2, k + 1)
            draw(ax)
            ax.set_title(heading)
    return figure


def how(result: Result) -> str:
    """Return how a result was computed, in one line."""
    if not result.stats.steps:
        return result.scheme
    return f"{result.scheme}, {result.step_sizes}, {result.stats.steps} steps"


def overview(result: Result) -> dict[str, Drawing]:
    """Return the plots that suit a result, by heading."""
    seen = result.observation
    drawings: dict[str, Drawing] = {}
    if seen.energies:
        drawings["Kinetic and potential energy"] = partial(plot_energy_kinds, result)
    changed = np.any(result.dissipated != 0) or np.any(result.added != 0)
    if not seen.energies or result.outer_ports or changed:
        drawings["Energy supplied, stored and dissipated"] = partial(plot_energy, result)
    drawings["Error of the energy balance"] = partial(plot_balance, result)
    if result.outer_ports:
        drawings["Power at ports"] = partial(plot_power, result)
        drawings["Port inputs"] = partial(plot_ports, result)
        drawings["Port outputs"] = partial(plot_ports, result, kind="output")
    if result.sensors:
        drawings["Sensors"] = partial(plot_sensors, result)
    if seen.bodies:
        drawings |= _mechanism(result)
    else:
        drawings["States"] = partial(plot_states, result)
    drawings["Newton's method"] = partial(plot_iterations, result)
    return drawings


def _mechanism(result: Result) -> dict[str, Drawing]:
    joints = result.observation.joints if len(result.observation.joints) <= JOINTS else {}
    kinds = {name.split()[0] for joint in joints.values() for name in joint.coordinates}
    drawings: dict[str, Drawing] = {}
    chosen: tuple[Literal["angle", "displacement"], ...] = ("angle", "displacement")
    for kind in chosen:
        if kind in kinds:
            heading = f"Joint {kind}s"
            drawings[heading] = partial(plot_coordinates, result, kind=kind)
    if joints:
        drawings["Joint forces"] = partial(plot_reactions, result)
    return drawings | {
        "Linear momentum": partial(plot_momentum, result, kind="linear"),
        "Angular momentum": partial(plot_momentum, result),
        "Position constraints": partial(plot_constraints, result),
        "Velocity constraints": partial(plot_constraints, result, level="velocity"),
    }
