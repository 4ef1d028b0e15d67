"""The figure of the masses on springs: figures 1 and 2 of [KB24]."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(result: Result, fine: Result) -> "Figure":
    """Plot motion, energies, constraint, and the change of energy in every step.

    `fine` is a run with so small a step that it may pass for exact.
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10, 7), layout="constrained")
        (moving, energy), (constraint, increments) = figure.subplots(2, 2)
        for k, (place, label) in enumerate(((0, "$x_1$"), (2, "$x_2$"))):
            moving.plot(fine.time, fine["q"][:, place], color=COLOURS[k], linewidth=0.8)
            moving.plot(result.time, result["q"][:, place], ".", color=COLOURS[k], label=label)
        moving.set(xlabel="time [s]", ylabel="elongation [m]", ylim=(-1.1, 1.5))
        moving.set_title(f"Steps of {fine.h:g} s (lines) and {result.h:g} s (dots)")
        moving.legend(ncols=2)
        plot_energies(result, energy)
        energy.set_title("Kinetic and potential energy take turns")
        gap = result["q"][:, 1] - result["q"][:, 0]
        constraint.plot(result.time, (gap**2 - gap[0] ** 2) / 2, ".", color=COLOURS[2])
        constraint.set(xlabel="time [s]", ylabel="$g(q)$ [m²]", ylim=(-1.1e-15, 1.1e-15))
        constraint.set_title("The constraint holds in every step")
        plot_increments(result, increments)
        increments.set_title("The change of energy in a step is round-off")
    return figure


def plot_energies(result: Result, ax: "Axes") -> None:
    """Plot kinetic, potential and total energy."""
    parts = result.observation.energies
    for label, values in (
        ("kinetic", parts["kinetic"]),
        ("potential", parts["potential"]),
        ("$E$", result.energy),
    ):
        ax.plot(result.time, values, label=label)
    ax.set(xlabel="time [s]", ylabel="energy [J]", ylim=(0, 1.3 * float(result.energy[0])))
    ax.legend(ncols=3, loc="upper center")


def plot_increments(result: Result, ax: "Axes") -> None:
    """Plot the change of the generalised energy in every step."""
    ax.plot(result.time[1:], np.diff(result.energy), ".", color=COLOURS[3])
    ax.set(xlabel="time [s]", ylabel="$E^{n+1} - E^n$ [J]")
