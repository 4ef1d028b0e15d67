"""The figure of the free body in quaternions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.gallery.convergence_figures import plot_convergence
from poinsot.result import Result
from poinsot.viz import plot_momentum
from poinsot.viz.axes import draw_error
from poinsot.viz.outlines import box_outline, draw
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

SNAPSHOTS = (0.0, 0.25, 0.75, 1.25, 1.75, 2.0)  # s, those of [KB24, fig. 5]
#: Edges [m] of the box of 1 kg that has the moments of inertia (6, 8, 3) kg m^2.
BOX = (30**0.5, 6**0.5, 66**0.5)


def plot(
    result: Result,
    total_energy: Array,
    rates: tuple[Array, Array],
    along: Mapping[str, tuple[Array, Array]],
    convergence: tuple[Array, Mapping[str, Array]],
) -> "Figure":
    """Plot snapshots, invariants, rates, convergence, and what of v lies along q.

    `rates` are those computed and the closed form at as many equidistant times as you like; `along`
    has time and q·v or q·p by scheme; `convergence` steps, and errors by scheme.
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 14.5), layout="constrained")
        grid = figure.add_gridspec(5, 2, height_ratios=(1.05, 1, 1, 1, 1))
        motion: Any = figure.add_subplot(grid[0, :], projection="3d")
        _plot_motion(result, motion)
        energy, energy_steps, momentum, momentum_steps, unit, spin, off, order = (
            figure.add_subplot(grid[k // 2 + 1, k % 2]) for k in range(8)
        )
        energy.plot(result.time, result.energy, label="generalised energy (74)")
        energy.plot(result.time, total_energy, ".-", linewidth=0.8, label="total energy (80)")
        energy.set(xlabel="time [s]", ylabel="energy [J]", ylim=(2150, 3050))
        energy.set_title("The generalised energy is kept")
        energy.legend(ncols=2)
        _plot_increments(result.time, result.energy, "J", energy_steps)
        energy_steps.set_title("Change of energy (74) in every step")
        plot_momentum(result, momentum)
        momentum.set_title("Angular momentum ($L_x = L_z$)")
        _plot_increments(result.time, result.angular_momentum, "kg m²/s", momentum_steps)
        momentum_steps.set_title("Change of angular momentum in every step")
        unit.plot(result.time, result.constraint_error, ".", color=COLOURS[0])
        unit.set(xlabel="time [s]", ylabel=r"$|q \cdot q - 1|\,/\,2$")
        unit.set_title("Quaternions stay unit ones")
        _plot_rates(result.time, *rates, spin)
        _plot_along(along, off)
        plot_convergence(*convergence, order)
        order.set(xlabel="h [s]", ylabel="error of R at 0.25 s")
        order.set_title("Order two against elliptic functions")
    return figure


def _plot_motion(result: Result, ax: Any) -> None:
    """Draw the box with the body's inertia, side by side."""
    outline, distance = box_outline(BOX), 13.0
    for n, t in enumerate(SNAPSHOTS):
        k = int(np.argmin(abs(result.time - t)))
        place, R = np.array([distance * n, 0, 0]), result.rotation("body")[k]
        draw(ax, place + outline @ R.T, color=COLOURS[0], linewidth=0.9)
        for axis in range(3):
            tip = place + R[:, axis] * BOX[axis] / 2
            draw(ax, np.array([place, tip]), color=COLOURS[axis + 1], linewidth=1.4)
        ax.text(distance * n, 0, -7.5, f"{t:g} s", ha="center", fontsize="small")
    ax.set(xlim=(-5, 5 * distance + 5), ylim=(-5, 5), zlim=(-6, 6), aspect="equal")
    ax.set_axis_off()
    ax.set_proj_type("ortho")
    ax.view_init(elev=15, azim=-87)
    ax.set_box_aspect(ax.get_box_aspect(), zoom=3.9)
    ax.set_title("The body, as a box with its moments of inertia, and its principal axes")


def _plot_increments(time: Array, values: Array, unit: str, ax: "Axes") -> None:
    changes = np.diff(values.reshape(time.size, -1), axis=0)
    for k, change in enumerate(changes.T):
        label = f"$L_{'xyz'[k]}$" if changes.shape[1] > 1 else None
        ax.plot(time[1:], change, ".", color=COLOURS[k], markersize=4, label=label)
    ax.set(xlabel="time [s]", ylabel=f"change in a step [{unit}]")
    if changes.shape[1] > 1:
        ax.legend(ncols=3)


def _plot_rates(time: Array, rates: Array, exact: Array, ax: "Axes") -> None:
    fine = np.linspace(time[0], time[-1], exact.shape[0])
    for k in range(3):
        ax.plot(fine, exact[:, k], color=COLOURS[k], linewidth=0.8)
        ax.plot(time, rates[:, k], ".", color=COLOURS[k], label=f"$\\Omega_{k + 1}$")
    ax.set(xlabel="time [s]", ylabel="rates in body axes [rad/s]", ylim=(-34, 48))
    ax.set_title("Elliptic functions (lines), the published step (dots)")
    ax.legend(ncols=3, loc="upper left")


def _plot_along(along: Mapping[str, tuple[Array, Array]], ax: "Axes") -> None:
    labels = {"eml": r"EML: $|q \cdot v|$ [1/s]", "emh": r"EMH: $|q \cdot p|$ [kg m²/s]"}
    for scheme, (time, values) in along.items():
        draw_error(ax, time, values, label=labels[scheme], linestyle="", marker=".", markersize=3)
    time, values = along["eml"]
    ax.plot(time[-1], abs(values[-1]), "x", color=COLOURS[6])
    ax.annotate(
        "no solution\nafter this step",
        (time[-1], abs(values[-1])),
        xytext=(-8, -42),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )
    ax.set(xlabel="time [s]", ylabel="component along q", ylim=(1e-15, 1e3))
    ax.set_title("EML leaves the velocity constraint, EMH does not")
    ax.legend(loc="center left")
