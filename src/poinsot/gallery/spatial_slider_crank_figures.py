"""The figure and the animation of the spatial slider-crank."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from poinsot.result import Result
from poinsot.viz import animate as film
from poinsot.viz import picture, plot_constraints, plot_drift
from poinsot.viz.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 1.2  # s, of the animation: two turns
LABELS = {"ph-mp": "PH-MP", "ph-mp-ggl": "PH-MP-GGL"}


def plot(result: Result, runs: Mapping[tuple[str, float], Result]) -> "Figure":
    """Plot set-up, displacement and velocity of the slider for schemes and steps, and errors."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 12), layout="constrained")
        setup = figure.add_subplot(4, 2, 1)
        picture(result, setup, names=True)
        setup.set_title("Set-up at the start")
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


def animate(result: Result, path: Path) -> None:
    """Draw two turns of the mechanism as an animated GIF, slowed down three times."""
    film(result, path, end=SHOWN)
