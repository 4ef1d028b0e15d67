"""The figure of the heavy top."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_balance, plot_momentum
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(result: Result, exact: NDArray[np.float64]) -> "Figure":
    """Plot the centre of mass, with its exact path, and what is conserved."""
    from matplotlib.figure import Figure

    phi, momentum = result.position("top"), result.angular_momentum
    with style():
        figure = Figure(figsize=(9, 8), layout="constrained")
        axes = figure.subplots(3, 2)
        (path, height), (horizontal, vectors), (energy, vertical) = axes
        path.plot(*phi[:, :2].T, label=f"h = {result.h:g} s")
        path.plot(*exact[:, :2].T, "--", label="exact")
        path.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        path.set_title("The centre of mass from above")
        path.legend(loc="center")
        for ax, k, axis in ((horizontal, 0, "x"), (height, 2, "z")):
            ax.plot(result.time, phi[:, k], label=f"h = {result.h:g} s")
            ax.plot(result.time, exact[:, k], "--", label="exact")
            ax.set(xlabel="time [s]", ylabel=f"{axis} [m]")
        horizontal.set_title("Horizontal component: slightly late")
        height.set_title("Height: a small nutation")
        height.set_ylim(0.033, 0.039)
        plot_momentum(result, vectors)
        vectors.set_ylim(-0.055, 0.105)
        vectors.legend(ncols=3, loc="upper right")
        vectors.set_title("Angular momentum about the tip")
        plot_balance(result, energy)
        energy.set_title("Energy is constant")
        _plot_change(result.time, momentum[:, 2], vertical)
        vertical.set_title("So is the vertical momentum")
    return figure


def _plot_change(time: NDArray[np.float64], values: NDArray[np.float64], ax: "Axes") -> None:
    ax.plot(time, values - values[0], ".", markersize=3, color=COLOURS[2])
    ax.set(xlabel="time [s]", ylabel="$L_z - L_z(0)$ [kg m²/s]")
