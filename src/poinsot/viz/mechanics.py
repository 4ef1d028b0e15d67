"""Plots of a mechanism's invariants: momentum, energy, constraints."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from poinsot.result import Result
from poinsot.viz.axes import draw_error, draw_line, figure_of, over_time, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_momentum(
    result: Result, ax: "Axes | None" = None, kind: Literal["angular", "linear"] = "angular"
) -> "Figure":
    """Plot the total angular momentum about the origin [kg m²/s], or the linear one [kg m/s]."""
    angular = kind == "angular"
    values = result.angular_momentum if angular else result.linear_momentum
    letter, unit = ("L", "kg m²/s") if angular else ("p", "kg m/s")
    with over_time(ax, f"{kind} momentum [{unit}]") as ax:
        for k, axis in enumerate("xyz"):
            draw_line(ax, result.time, values[:, k], label=f"${letter}_{axis}$")
    return figure_of(ax)


def plot_constraints(
    results: Result | Mapping[str, Result],
    ax: "Axes | None" = None,
    level: Literal["position", "velocity"] = "position",
) -> "Figure":
    """Plot the largest violation of a constraint, of a run or of several by label.

    Those of lengths are in metres, those of directions have no unit.
    """
    runs = {"": results} if isinstance(results, Result) else results
    what = "|g|" if level == "position" else "|G v|"
    with over_time(ax, f"max {what} [SI units]") as ax:
        for label, run in runs.items():
            error = run.constraint_error if level == "position" else run.velocity_constraint_error
            draw_error(ax, run.time, error, label=plain(label) or None, linewidth=1.0)
    return figure_of(ax)


def plot_drift(
    result: Result, ax: "Axes | None" = None, *, start: float = 0.0, momentum: bool = True
) -> "Figure":
    """Plot how far energy and angular momentum are from their values at a time `start` [s].

    Relative to their size; `momentum=False` leaves out what the ground takes up.
    """
    kept = result.time >= start - 1e-12
    time, H, L = result.time[kept], result.energy[kept], result.angular_momentum[kept]
    changes = [("energy", abs(H - H[0]), abs(H[0]))]
    if momentum:
        lost = np.linalg.norm(L - L[0], axis=1)
        changes.append(("angular momentum", lost, np.linalg.norm(L[0])))
    with over_time(ax, "relative change", markerscale=4) as ax:
        for label, change, size in changes:
            look = {"linestyle": "", "marker": ".", "markersize": 2}
            draw_error(ax, time, change / (size or 1.0), label=label, **look)
    return figure_of(ax)
