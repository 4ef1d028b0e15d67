"""The figure of the closed loop in quaternions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery.closed_loop_figures import plot_motion
from poinsot.result import Result
from poinsot.viz import plot_constraints, plot_momentum
from poinsot.viz.axes import draw_error
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

#: Label, colour and line of each scheme.
LOOKS: dict[str, dict[str, Any]] = {
    "eml": {"label": "EML", "color": COLOURS[0]},
    "emh": {"label": "EMH", "color": COLOURS[1]},
    "mpl": {"label": "MPL", "color": COLOURS[2], "linestyle": "--"},
    "eml-mean": {"label": "eml-mean", "color": COLOURS[3]},
    "emh-mean": {"label": "emh-mean", "color": COLOURS[6], "linestyle": "--"},
}


def plot(
    result: Result,
    runs: Mapping[str, Result],
    off: Mapping[str, Array],
    load: Array,
    bar: tuple[float, float],
) -> "Figure":
    """Plot load, motion, energy, constraints, and angular momentum by several schemes.

    `runs` by scheme have the torque put in exactly, and `off` are the components of v or p along
    the quaternions; `load` is f over the result's times, `bar` length and width of a bar [m].
    """
    from matplotlib.figure import Figure

    after = int(np.flatnonzero(load)[-1]) + 1
    with style():
        figure = Figure(figsize=(10, 14), layout="constrained")
        grid = figure.add_gridspec(5, 2, height_ratios=(1.6, 1, 1, 1, 1))
        motion: Any = figure.add_subplot(grid[0, :], projection="3d")
        plot_motion(result, bar, motion)
        force, energy, kept, momentum, shut, along, drift, change = (
            figure.add_subplot(grid[k // 2 + 1, k % 2]) for k in range(8)
        )
        force.plot(result.time, load)
        force.set(xlabel="time [s]", ylabel="f [N, N m]", xlim=(0, 2))
        force.set_title("Force 8 f and torque 6 f on bar 0, along x")
        energy.plot(result.time, result.energy)
        energy.set(xlabel="time [s]", ylabel="energy (74) [J]")
        energy.set_title("Energy, EML with the published torque")
        kept.plot(result.time[after:], result.energy[after:] - result.energy[after], ".")
        kept.set(xlabel="time [s]", ylabel="change since 1 s [J]")
        kept.set_title("Without load, energy is constant")
        plot_momentum(result, momentum)
        momentum.set_title("Angular momentum, EML with the published torque")
        plot_constraints({name: runs[name] for name in ("eml", "emh-mean")}, shut)
        shut.set_title("The loop stays closed, quaternions stay unit ones")
        _plot_along(runs, off, along)
        _plot_momentum(runs, drift)
        _plot_change(runs, after, change)
    return figure


def _plot_along(runs: Mapping[str, Result], off: Mapping[str, Array], ax: "Axes") -> None:
    for scheme, values in off.items():
        draw_error(ax, runs[scheme].time, values, linewidth=1.1, **LOOKS[scheme])
    ax.set(xlabel="time [s]", ylabel=r"max $|q \cdot v|$, $|q \cdot p|$", ylim=(1e-16, 1e6))
    ax.set_title("Hamilton's form keeps the velocity constraint")
    ax.legend(ncols=3, loc="upper center")


def _plot_momentum(runs: Mapping[str, Result], ax: "Axes") -> None:
    for scheme, run in runs.items():
        ax.plot(run.time, run.angular_momentum[:, 0], linewidth=1.1, **LOOKS[scheme])
    ax.set(xlabel="time [s]", ylabel="$L_x$ [kg m²/s]", ylim=(299.9, 300.4))
    ax.ticklabel_format(useOffset=False)
    ax.set_title("$L_x$ must be 300 after 1 s (exact torque)")
    ax.legend(ncols=2, loc="upper left")


def _plot_change(runs: Mapping[str, Result], after: int, ax: "Axes") -> None:
    for scheme, run in runs.items():
        L = run.angular_momentum[after:, 0]
        draw_error(ax, run.time[after:], L - L[0], linewidth=1.1, **LOOKS[scheme])
    ax.set(xlabel="time [s]", ylabel="$|L_x - L_x(1\\,$s$)|$ [kg m²/s]", ylim=(1e-14, 1e5))
    ax.set_title("Mean lever arms keep it")
    ax.legend(ncols=3, loc="upper center")
