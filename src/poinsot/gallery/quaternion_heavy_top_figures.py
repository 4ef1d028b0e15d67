"""The figure of the heavy top in a quaternion."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery.convergence_figures import plot_convergence
from poinsot.result import Result
from poinsot.viz import plot_momentum
from poinsot.viz.axes import draw_error
from poinsot.viz.outlines import draw, frame
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

HEIGHT, RADIUS = 0.1, 0.05  # m


def plot(
    runs: Mapping[str, Result],
    centres: Mapping[str, Array],
    exact: tuple[Array, Array],
    convergence: tuple[Array, Mapping[str, Array]],
    start: Array,
) -> "Figure":
    """Plot the top, its centre of mass, what is conserved, and convergence.

    `runs` and `centres` of mass by scheme; `exact` are times and the centre then; `convergence`
    steps, and errors by scheme; `start` is the rotation in which the top is drawn.
    """
    from matplotlib.figure import Figure

    result = runs["eml"]
    with style():
        figure = Figure(figsize=(10, 13), layout="constrained")
        grid = figure.add_gridspec(4, 2, height_ratios=(1.3, 1, 1, 1))
        top: Any = figure.add_subplot(grid[0, 0], projection="3d")
        _plot_top(start, centres["eml"], exact[1], top)
        order = figure.add_subplot(grid[0, 1])
        plot_convergence(*convergence, order)
        order.set(xlabel="h [s]", ylabel="relative error at 0.1 s", ylim=(1e-6, 20))
        order.set_title("Convergence to steady precession")
        energy, change, momentum, vertical, height, across = (
            figure.add_subplot(grid[k // 2 + 1, k % 2]) for k in range(6)
        )
        for scheme, run in runs.items():
            energy.plot(run.time, run.energy, label=scheme.upper())
            steps = np.diff(run.energy)
            draw_error(change, run.time[1:], steps, label=scheme.upper(), linewidth=0.9)
        energy.set(xlabel="time [s]", ylabel="energy [J]", ylim=(4.5, 6.1))
        energy.set_title("Energy (74) of the four schemes")
        energy.legend(ncols=4, loc="upper center")
        change.set(xlabel="time [s]", ylabel="|change of energy in a step| [J]", ylim=(1e-17, 1e4))
        change.set_title("Midpoint rules do not keep it")
        change.legend(ncols=4, loc="upper center")
        plot_momentum(result, momentum)
        momentum.set_ylim(-0.055, 0.105)
        momentum.legend(ncols=3, loc="upper right")
        momentum.set_title("Angular momentum about the tip, EML")
        vertical.plot(result.time[1:], np.diff(result.angular_momentum[:, 2]), ".", markersize=3)
        vertical.set(xlabel="time [s]", ylabel="change of $L_z$ in a step [kg m²/s]")
        vertical.set_title("The vertical one is kept")
        for ax, k, title in ((height, 2, "Height"), (across, 0, "Horizontal component")):
            _plot_centre(result.time, centres, exact, k, ax)
            ax.set_title(f"{title} of the centre of mass")
        height.set_ylim(0.0, 0.09)
        across.set_ylim(-0.075, 0.105)
    return figure


def _plot_centre(
    time: Array, centres: Mapping[str, Array], exact: tuple[Array, Array], k: int, ax: "Axes"
) -> None:
    for colour, scheme in ((COLOURS[0], "eml"), (COLOURS[2], "emh")):
        ax.plot(time, centres[scheme][:, k], color=colour, linewidth=1.1, label=scheme.upper())
    ax.plot(exact[0], exact[1][:, k], "--", color=COLOURS[6], linewidth=1.0, label="exact")
    ax.set(xlabel="time [s]", ylabel=f"{'xyz'[k]} [m]")
    ax.legend(ncols=3, loc="upper right")


def _plot_top(R: Array, path: Array, exact: Array, ax: Any) -> None:
    """Draw the cone on its tip at the start, and the path of its centre of mass."""
    phi = np.linspace(0, 2 * np.pi, 61)
    rim = np.column_stack([RADIUS * np.cos(phi), RADIUS * np.sin(phi), np.full(61, HEIGHT)]) @ R.T
    draw(ax, rim, color=COLOURS[0], linewidth=1.0)
    for k in range(0, 60, 5):
        draw(ax, np.array([rim[k], np.zeros(3)]), color=COLOURS[0], linewidth=0.6)
    ax.plot(*exact.T, color=COLOURS[6], linewidth=1.0, label="exact")
    ax.plot(*path.T, ".", color=COLOURS[1], markersize=3, label="EML")
    frame(ax, rim, path, np.zeros((1, 3)))
    ax.view_init(elev=20, azim=-25)
    ax.legend(loc="upper left")
    ax.set_title("The top at the start, the path of its centre of mass")
