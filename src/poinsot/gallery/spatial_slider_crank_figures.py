"""The figure and the animation of the spatial slider-crank."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot import viz
from poinsot.result import Result
from poinsot.viz import plot_constraints, plot_drift
from poinsot.viz.outlines import box_outline, frame, place
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 1.2  # s, of the animation: two turns
SLIDER = box_outline((0.03, 0.03, 0.03))
LABELS = {"ph-mp": "PH-MP", "ph-mp-ggl": "PH-MP-GGL"}


def plot(result: Result, runs: Mapping[tuple[str, float], Result]) -> "Figure":
    """Plot set-up, displacement and velocity of the slider for schemes and steps, and errors."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 12), layout="constrained")
        setup: Any = figure.add_subplot(4, 2, 1, projection="3d")
        _draw_setup(result, setup)
        travel, speed, zoom, coarse, drift, positions, velocities = (
            figure.add_subplot(4, 2, k) for k in range(2, 9)
        )
        travel.plot(result.time, result.position("slider")[:, 0])
        travel.set(xlabel="time [s]", ylabel="$x_s$ [m]")
        travel.set_title(f"Slider, {LABELS.get(result.scheme, result.scheme)}, h = {result.h:g} s")
        _plot_speeds(runs, (("ph-mp", 0.01), ("ph-mp-ggl", 0.01)), speed)
        speed.set_title("Speed of the slider, h = 0.01 s")
        _plot_speeds(runs, (("ph-mp", 0.01), ("ph-mp-ggl", 0.01), ("ph-mp", 0.001)), zoom)
        zoom.set(xlim=(4.2, 5.0))
        zoom.set_title("The end of it: PH-MP oscillates")
        _plot_speeds(runs, (("ph-mp", 0.02), ("ph-mp-ggl", 0.02)), coarse)
        coarse.set_title("h = 0.02 s: both run to the end")
        plot_drift(result, drift, momentum=False)
        drift.set_title("Energy is constant")
        chosen = {
            f"{LABELS[scheme]}, h = {h:g} s": run
            for (scheme, h), run in runs.items()
            if h in (0.01, 0.001)
        }
        plot_constraints(chosen, positions, "position")
        positions.set_title("Positions fit the joints ...")
        plot_constraints(chosen, velocities, "velocity")
        velocities.set_title("... velocities only with GGL")
    return figure


def _plot_speeds(
    runs: Mapping[tuple[str, float], Result], shown: tuple[tuple[str, float], ...], ax: "Axes"
) -> None:
    for (scheme, h), line in zip(shown, ("-", "--", ":"), strict=False):
        run = runs[scheme, h]
        label = f"{LABELS[scheme]}, h = {h:g} s"
        ax.plot(run.time, run.velocity("slider")[:, 0], line, label=label)
    ax.set(xlabel="time [s]", ylabel="$v_s$ [m/s]", ylim=(-0.95, 0.55))
    ax.legend(loc="lower center", ncols=2, fontsize="x-small")


def _points(result: Result, k: int) -> dict[str, Any]:
    """Return the lines of crank, rod and slider at the k-th saved time, world axes [m]."""
    B = result.marker("B on the crank").position[k]
    C = result.marker("C on the rod").position[k]
    A = 2 * result.position("crank")[k] - B  # the crank's centre of mass is half-way
    return {
        "crank": np.array([A, B]),
        "rod": np.array([B, C]),
        "slider": place(SLIDER, result.body("slider"), k),
    }


def _stage(result: Result, ax: Any) -> None:
    """Draw what does not move: the crank pin's circle and the guide; choose the limits."""
    B = result.marker("B on the crank").position
    x = result.position("slider")[:, 0]
    guide = np.array([(0.0, 0.0, 0.0), (x.max() + 0.03, 0.0, 0.0)])
    circle = np.linspace(0, 2 * np.pi, 61)
    centre = 2 * result.position("crank")[0] - B[0]
    radius = float(np.linalg.norm(B[0] - centre))
    pin = centre + radius * np.column_stack([0 * circle, np.sin(circle), np.cos(circle)])
    ax.plot(*guide.T, color="grey", linewidth=0.8)
    ax.plot(*pin.T, ":", color="grey", linewidth=0.8)
    frame(ax, pin, guide, place(SLIDER, result.body("slider"), 0))
    ax.view_init(elev=22, azim=-60)


def _draw_setup(result: Result, ax: Any) -> None:
    _stage(result, ax)
    lines = _points(result, 0)
    for (name, points), colour in zip(lines.items(), COLOURS, strict=False):
        width = 1.0 if name == "slider" else 2.5
        ax.plot(*points.T, color=colour, linewidth=width, label=name)
    (A, B), C = lines["crank"], lines["rod"][1]
    for name, at, lift in (("A", A, -0.03), ("B", B, 0.01), ("C, D", C, 0.03)):
        ax.text(*np.add(at, (0, 0, lift)), name)
    ax.legend(loc="upper right")
    ax.set_title("Set-up at the start")


def animate(result: Result, path: Path) -> None:
    """Draw two turns of the mechanism as an animated GIF, slowed down three times."""
    viz.animate(result, path, end=SHOWN)
