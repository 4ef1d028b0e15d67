"""The figure of the spring pendulum: figures 3 and 4 of [KB24]."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery.mass_spring_figures import plot_energies, plot_increments
from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


def plot(result: Result, path: Array, fine: Array, total: Array) -> "Figure":
    """Plot path and energies, and the changes of total and generalised energy in every step.

    `path` are positions [m] (times, 3), `fine` those of a run with a small step, `total` the total
    energy [J] (times,).
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 8), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=(1.3, 1))
        space: Any = figure.add_subplot(grid[0, 0], projection="3d")
        _plot_path(path, fine, space)
        energy, before, after = (figure.add_subplot(grid[k]) for k in ((0, 1), (1, 0), (1, 1)))
        plot_energies(result, energy)
        energy.set_title("Kinetic and potential energy take turns")
        before.plot(result.time[1:], np.diff(total), ".", color=COLOURS[1])
        before.set(xlabel="time [s]", ylabel=r"$E_{tot}^{n+1} - E_{tot}^n$ [J]")
        before.set_title("$T(q, v) + V(q)$ of the ends changes a little")
        plot_increments(result, after)
        after.set_title("The generalised energy does not")
    return figure


def _plot_path(path: Array, fine: Array, ax: Any) -> None:
    ax.plot(*fine.T, color=COLOURS[0], linewidth=0.8)
    ax.plot(*path[::4].T, ".", color=COLOURS[0], label="mass, every fourth step")
    for end in (path[0], path[-1]):
        ax.plot(*np.array([np.zeros(3), end]).T, ":", color="#888888")
    ax.plot([0], [0], [0], "k^", markersize=5)
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", aspect="equal")
    ax.set(yticks=(0, 0.2, 0.4, 0.6), zticks=(-0.6, -0.4, -0.2, 0))
    ax.set_title("The path in space, spring at start and end")
    ax.view_init(elev=25, azim=20)
    ax.legend()
