"""The figure of Andrews' squeezing mechanism."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_constraints, plot_energy
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

#: The levers as lines through points.
LEVERS = {"K1": "OF", "K2": "FE", "K3": "BDEB", "K4": "GE", "K5": "AG", "K6": "HE", "K7": "AH"}
SNAPSHOTS = 9


def plot(
    result: Result,
    fixed: Mapping[str, tuple[float, float]],
    angles: Mapping[str, Array],
    multipliers: Array,
) -> "Figure":
    """Plot the mechanism and its spring, angles as in the test set, forces at E, and energy."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 10), layout="constrained")
        grid = figure.add_gridspec(3, 2, height_ratios=(1.5, 1, 1))
        _plot_mechanism(result, fixed, figure.add_subplot(grid[0, 0]))
        turning, swinging, forces, energy, constraints = (
            figure.add_subplot(grid[place]) for place in ((0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
        )
        for k, (name, values) in enumerate(angles.items()):
            ax = turning if k < 2 else swinging
            ax.plot(1e3 * result.time, values, color=COLOURS[k], label=rf"$\{name}$")
        for ax in (turning, swinging):
            ax.set(xlabel="time [ms]", ylabel="angle [rad]")
            ax.legend(ncols=3)
        turning.set_title("Crank and coupler turn")
        swinging.set_title("The levers swing")
        swinging.set_ylim(-0.65, 1.9)
        for k in range(6):
            label = rf"$\lambda_{k + 1}$"
            forces.plot(1e3 * result.time[1:-1], multipliers[:, k], label=label, linewidth=1)
        forces.set(xlabel="time [ms]", ylabel="force [N]", ylim=(-80, 290))
        forces.set_title("Forces at E on K3, K4 and K6")
        forces.legend(ncols=3)
        plot_energy(result, energy)
        energy.set_title("The motor's work is stored")
        plot_constraints({result.scheme: result}, constraints)
        constraints.set_title("The three loops stay closed")
    return figure


def _plot_mechanism(result: Result, fixed: Mapping[str, tuple[float, float]], ax: "Axes") -> None:
    """Draw the levers at the start, and paler at some later times."""
    moving = {name: result.marker(f"point {name}").position[:, :2] for name in "FEDGH"}
    rest = {"O": (0.0, 0.0), **fixed}
    frames = np.linspace(0, result.time.size - 1, SNAPSHOTS).astype(int)
    for k in reversed(frames):
        points = {**rest, **{name: path[k] for name, path in moving.items()}}
        pale = 1.0 if k == 0 else 0.18
        for n, (lever, through) in enumerate(LEVERS.items()):
            line = 1e3 * np.array([points[name] for name in through])
            label = lever if k == 0 else None
            ax.plot(*line.T, color=COLOURS[n], alpha=pale, label=label)
        spring = 1e3 * np.array([points["D"], points["C"]])
        ax.plot(*spring.T, ":", color="#888888", alpha=pale, label="spring" if k == 0 else None)
    for name, (x, y) in {**rest, **{name: path[0] for name, path in moving.items()}}.items():
        ax.annotate(name, (1e3 * x, 1e3 * y), xytext=(3, 3), textcoords="offset points")
    for x, y in rest.values():
        ax.plot(1e3 * x, 1e3 * y, "k^", markersize=5)
    ax.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal")
    ax.set_title("The mechanism at the start, and later (pale)")
    ax.legend(loc="upper left", ncols=2)
