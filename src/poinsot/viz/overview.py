"""One page of plots: whatever a result has to show."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from poinsot.result import Result
from poinsot.viz.axes import draw_line, figure_of, over_time, plain
from poinsot.viz.energy import plot_balance, plot_energy, plot_energy_kinds, plot_power
from poinsot.viz.joints import plot_coordinates, plot_reactions
from poinsot.viz.mechanics import plot_constraints, plot_momentum
from poinsot.viz.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing: TypeAlias = "Callable[[Axes], Figure]"
#: On one page, the joints of a larger mechanism are left out: their lines could not be told apart.
JOINTS = 40


def plot_states(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the states of a system, each in its own unit."""
    with over_time(ax, "states") as ax:
        for state in result.states.values():
            for k, values in enumerate(state.values.T):
                own = f" {k + 1}" if state.values.shape[1] > 1 else ""
                label = plain(f"{state.name}{own}" + (f" [{state.unit}]" if state.unit else ""))
                draw_line(ax, result.time, values, label=label)
    return figure_of(ax)


def plot_iterations(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot how many Newton iterations each saved step took."""
    from matplotlib.ticker import MaxNLocator

    with over_time(ax, "Newton iterations a step") as ax:
        ends, counts = result.time[1:], result.stats.iterations.astype(float)
        look = {"linestyle": "", "marker": ".", "markersize": 3}
        if ends.size:
            draw_line(ax, ends, counts, **look)
        ax.set_ylim(0, max(4.0, 1.15 * np.max(counts, initial=0)))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure_of(ax)


def plot_overview(result: Result) -> "Figure":
    """Plot what the result has: energy, balance, momenta, constraints, joints, ports, states."""
    from poinsot.viz.figure import ShownFigure

    drawings = overview(result)
    rows = (len(drawings) + 1) // 2
    with style():
        figure = ShownFigure(figsize=(10, 2.7 * rows + 0.5), layout="constrained")
        figure.get_layout_engine().set(h_pad=0.1, w_pad=0.1)  # type: ignore[union-attr,call-arg]
        figure.suptitle(plain(f"{result.model}: {how(result)}"))
        for k, (heading, draw) in enumerate(drawings.items()):
            ax = figure.add_subplot(rows, 2, k + 1)
            draw(ax)
            ax.set_title(heading)
        return figure


def how(result: Result) -> str:
    """Return how a result was computed, in one line."""
    return f"{result.scheme}, h = {result.h:g} s, {result.stats.steps} steps"


def overview(result: Result) -> dict[str, Drawing]:
    """Return the plots that suit a result, by heading."""
    seen = result.observation
    outer = any(not port.connected for port in result.ports.values())
    drawings: dict[str, Drawing] = {}
    if seen.energies:
        drawings["Kinds of energy"] = lambda ax: plot_energy_kinds(result, ax)
    if not seen.energies or outer or np.any(result.dissipated != 0):
        drawings["Account of energy"] = lambda ax: plot_energy(result, ax)
    drawings["Balance of energy"] = lambda ax: plot_balance(result, ax)
    if outer:
        drawings["Power at the ports"] = lambda ax: plot_power(result, ax)
    if seen.bodies:
        drawings |= _mechanism(result)
    else:
        drawings["States"] = lambda ax: plot_states(result, ax)
    drawings["Newton's method"] = lambda ax: plot_iterations(result, ax)
    return drawings


def _mechanism(result: Result) -> dict[str, Drawing]:
    joints = result.observation.joints if len(result.observation.joints) <= JOINTS else {}
    kinds = {name.split()[0] for joint in joints.values() for name in joint.coordinates}
    drawings: dict[str, Drawing] = {}
    chosen: tuple[Literal["angle", "displacement"], ...] = ("angle", "displacement")
    for kind in chosen:
        if kind in kinds:
            heading = f"{kind.capitalize()}s of joints"
            drawings[heading] = partial(plot_coordinates, result, kind=kind)
    if joints:
        drawings["Reactions of joints"] = lambda ax: plot_reactions(result, ax)
    return drawings | {
        "Linear momentum": lambda ax: plot_momentum(result, ax, "linear"),
        "Angular momentum": lambda ax: plot_momentum(result, ax),
        "Constraints on positions": lambda ax: plot_constraints(result, ax),
        "Constraints on velocities": lambda ax: plot_constraints(result, ax, "velocity"),
    }
