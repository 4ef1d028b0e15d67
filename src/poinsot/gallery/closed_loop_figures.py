"""The figure of the closed loop."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_constraints, plot_drift
from poinsot.viz.outlines import box_outline, draw, frame, place
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SNAPSHOTS = (0.0, 1.5, 3.0, 4.5)  # s


def plot(
    result: Result, exact: Result, load: NDArray[np.float64], bar: tuple[float, float]
) -> "Figure":
    """Plot load, motion, energy and angular momentum; `exact` has the torque put in exactly.

    `load` is f over the result's times, `bar` length and width of a bar [m].
    """
    from matplotlib.figure import Figure

    end = result.time[load > 0][-1] + result.h
    with style():
        figure = Figure(figsize=(10, 11.5), layout="constrained")
        grid = figure.add_gridspec(4, 2, height_ratios=(1.7, 1, 1, 1))
        motion: Any = figure.add_subplot(grid[0, :], projection="3d")
        plot_motion(result, bar, motion)
        force, energy, momentum, lost, drift, constraints = (
            figure.add_subplot(grid[k // 2 + 1, k % 2]) for k in range(6)
        )
        force.plot(result.time, load)
        force.set(xlabel="time [s]", ylabel="f [N, N m]", xlim=(0, 2))
        force.set_title("Force 8 f and torque 6 f on bar 0, along x")
        energy.plot(result.time, result.energy, label="stored")
        for name in ("force", "torque"):
            energy.plot(result.time, result.port(name).energy, "--", label=f"put in by the {name}")
        energy.set(xlabel="time [s]", ylabel="energy [J]")
        energy.set_title("What is put in is stored")
        energy.legend()
        for k, axis in enumerate("xyz"):
            momentum.plot(result.time, result.angular_momentum[:, k], label=f"$L_{axis}$")
        momentum.set(xlabel="time [s]", ylabel="angular momentum [kg m²/s]", xlim=(0, 2))
        momentum.set_title("Angular momentum")
        momentum.legend()
        for label, run in (("eq. (32) of the paper", result), ("exact torque", exact)):
            lost.plot(run.time, run.angular_momentum[:, 0], label=label)
        lost.set(xlabel="time [s]", ylabel="$L_x$ [kg m²/s]", xlim=(0.75, 2), ylim=(299, 300.2))
        lost.set_title("$L_x$ must end at 300")
        lost.legend()
        plot_drift(result, drift, start=float(end))
        drift.set_title("Without load nothing changes")
        plot_constraints({"PH-MP": result}, constraints)
        constraints.set_title("The loop stays closed")
    return figure


def plot_motion(result: Result, bar: tuple[float, float], ax: Any) -> None:
    """Draw the loop at a few times; `bar` is length and width of a bar [m]."""
    length, width = bar
    upright, lying = box_outline((width, length, width)), box_outline((length, width, width))
    shown = []
    for t in SNAPSHOTS:
        k = int(np.argmin(abs(result.time - t)))
        for n in range(4):
            outline = upright if n % 2 == 0 else lying
            points = place(outline, result.body(f"bar {n}"), k)
            draw(ax, points, color=COLOURS[n], linewidth=0.8)
            shown.append(points)
        centre = np.mean([result.position(f"bar {n}")[k] for n in range(4)], axis=0)
        ax.text(*np.add(centre, (0, 0, 9)), f"{result.time[k]:g} s", fontsize="small")
    frame(ax, *shown)
    ax.view_init(elev=25, azim=-75)
    ax.set_box_aspect(ax.get_box_aspect(), zoom=1.9)
    ax.set_title("The loop folds and unfolds while it flies along x")
