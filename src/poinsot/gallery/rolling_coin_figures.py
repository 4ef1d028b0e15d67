"""The figure of the rolling coin."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz import plot_balance
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(result: Result, trail: NDArray[np.float64]) -> "Figure":
    """Plot where the coin touched the table, its tilt, the contact force and the balance."""
    from matplotlib.figure import Figure

    tilt = np.degrees(np.arcsin(result.rotation("coin")[:, 2, 2]))
    reaction = result.reaction("rim")
    with style():
        figure = Figure(figsize=(9, 7), layout="constrained")
        (path, lean), (force, energy) = figure.subplots(2, 2)
        path.plot(*trail[:, :2].T, label="touched", color=COLOURS[0])
        path.plot(*result.position("coin")[:, :2].T, label="centre", color=COLOURS[1], linewidth=1)
        path.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        path.set_title("The trail on the table")
        path.legend()
        lean.plot(result.time, tilt)
        lean.set(xlabel="time [s]", ylabel="tilt of the axis [°]")
        lean.set_title("The coin leans down and rises")
        # A single step alternates: show the mean of two neighbours.
        time = (reaction.time[1:] + reaction.time[:-1]) / 2
        mean = (reaction.force[1:] + reaction.force[:-1]) / 2
        force.plot(time, mean[:, 2], label="normal")
        force.plot(time, np.linalg.norm(mean[:, :2], axis=1), label="friction")
        force.set(xlabel="time [s]", ylabel="contact force [N]")
        force.set_title("What the table exerts")
        force.legend()
        plot_balance(result, energy)
        energy.set_title("Energy is constant")
    return figure
