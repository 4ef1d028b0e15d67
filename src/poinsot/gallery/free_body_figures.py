"""The figure of the free body: Poinsot's picture of it, and the run against the closed form."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_drift, plot_momentum
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


def plot(result: Result, rates: Array, exact: Array, inertia: Array) -> "Figure":
    """Plot momentum in the body on its sphere, and rates and invariants over time.

    `rates` are those computed, `exact` the closed form at as many equidistant times as you like.
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 8), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=(1.5, 1))
        sphere: Any = figure.add_subplot(grid[0, 0], projection="3d")
        _plot_sphere(rates * inertia, exact * inertia, inertia, sphere)
        _plot_rates(result.time, rates, exact, figure.add_subplot(grid[0, 1]))
        momentum, drift = (figure.add_subplot(grid[1, k]) for k in range(2))
        plot_momentum(result, momentum)
        momentum.set_title("Angular momentum in space ($L_x = L_z$)")
        plot_drift(result, drift)
        drift.set_title("Energy and momentum do not change")
    return figure


def _plot_rates(time: Array, rates: Array, exact: Array, ax: "Axes") -> None:
    fine = np.linspace(time[0], time[-1], exact.shape[0])
    for k in range(3):
        ax.plot(fine, exact[:, k], color=COLOURS[k], linewidth=0.8)
        ax.plot(time, rates[:, k], ".", color=COLOURS[k], label=f"$\\Omega_{k + 1}$")
    ax.set(xlabel="time [s]", ylabel="angular velocity in body axes [rad/s]", ylim=(-30, 40))
    ax.set_title("Elliptic functions (lines), the published step (dots)")
    ax.legend(ncols=3)


def _plot_sphere(L: Array, exact: Array, inertia: Array, ax: Any) -> None:
    """Draw the sphere of constant momentum, shaded by energy, and the momentum upon it."""
    from matplotlib import colormaps

    radius = float(np.linalg.norm(L[0]))
    phi, theta = np.meshgrid(np.linspace(0, 2 * np.pi, 121), np.linspace(0, np.pi, 61))
    points = np.array([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)])
    energy = np.einsum("kij,k->ij", points**2, 1 / inertia)
    colours = colormaps["Blues"](0.05 + 0.5 * (energy - energy.min()) / np.ptp(energy))
    # The axis of largest inertia, which the momentum goes round, points up.
    x, y, z = 0.98 * radius * points
    ax.plot_surface(x, z, y, facecolors=colours, shade=False, rstride=1, cstride=1)
    ax.plot(*exact[:, (0, 2, 1)].T, color=COLOURS[1], label="the exact curve", zorder=10)
    ax.plot(*L[:, (0, 2, 1)].T, ".", color=COLOURS[6], label="computed", zorder=11)
    ax.set(xlabel="$L_1$", ylabel="$L_3$", zlabel="$L_2$", aspect="equal")
    ax.set_title("Momentum in body axes: sphere, and curve of one energy")
    ax.view_init(elev=50, azim=35)
    ax.legend()
