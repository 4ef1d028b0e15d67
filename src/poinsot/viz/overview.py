"""One page of plots: whatever a result has to show."""

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from poinsot.result import Result
from poinsot.viz.axes import plain
from poinsot.viz.plots import (
    plot_balance,
    plot_constraints,
    plot_coordinates,
    plot_energy,
    plot_energy_kinds,
    plot_iterations,
    plot_momentum,
    plot_power,
    plot_reactions,
    plot_states,
)
from poinsot.viz.style import Axes, Figure, drawing

Drawing: TypeAlias = "Callable[[Axes], Figure]"
#: On one page, the joints of a larger mechanism are left out: their lines could not be told apart.
JOINTS = 40


def plot_overview(result: Result) -> "Figure":
    """Plot what the result has: energy, balance, momenta, constraints, joints, ports, states."""
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
    return f"{result.scheme}, h = {result.h:g} s, {result.stats.steps} steps"


def overview(result: Result) -> dict[str, Drawing]:
    """Return the plots that suit a result, by heading."""
    seen = result.observation
    drawings: dict[str, Drawing] = {}
    if seen.energies:
        drawings["Kinds of energy"] = partial(plot_energy_kinds, result)
    if not seen.energies or result.outer_ports or np.any(result.dissipated != 0):
        drawings["Account of energy"] = partial(plot_energy, result)
    drawings["Balance of energy"] = partial(plot_balance, result)
    if result.outer_ports:
        drawings["Power at the ports"] = partial(plot_power, result)
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
            heading = f"{kind.capitalize()}s of joints"
            drawings[heading] = partial(plot_coordinates, result, kind=kind)
    if joints:
        drawings["Reactions of joints"] = partial(plot_reactions, result)
    return drawings | {
        "Linear momentum": partial(plot_momentum, result, kind="linear"),
        "Angular momentum": partial(plot_momentum, result),
        "Constraints on positions": partial(plot_constraints, result),
        "Constraints on velocities": partial(plot_constraints, result, level="velocity"),
    }
