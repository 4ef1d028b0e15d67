"""Plots of a mechanism's invariants: momentum, energy, constraints, in axes of the caller's."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


def _positive(values: Array) -> Array:
    """Leave out what has no place on a logarithmic axis: what is exact."""
    return np.where(values > 0, values, np.nan)


def plot_momentum(result: Result, ax: "Axes") -> None:
    """Plot the components of the total angular momentum about the origin [kg m^2/s]."""
    with style():
        for k, axis in enumerate("xyz"):
            ax.plot(result.time, result.angular_momentum[:, k], label=f"$L_{axis}$")
        ax.set(xlabel="time [s]", ylabel="angular momentum [kg m²/s]")
        ax.legend()


def plot_constraints(
    results: Mapping[str, Result], ax: "Axes", level: Literal["position", "velocity"] = "position"
) -> None:
    """Plot the largest violation of a constraint of each run, by label, on a logarithmic scale."""
    with style():
        for label, result in results.items():
            error = (
                result.constraint_error if level == "position" else result.velocity_constraint_error
            )
            ax.semilogy(result.time, _positive(error), label=label, linewidth=1.0)
        ax.set(xlabel="time [s]", ylabel=f"max |{'g' if level == 'position' else 'G v'}|")
        ax.legend()


def plot_drift(result: Result, ax: "Axes", *, start: float = 0.0, momentum: bool = True) -> None:
    """Plot how far energy and angular momentum are from their values at a time `start` [s].

    Relative to their size; `momentum=False` leaves out what the ground takes up.
    """
    with style():
        kept = result.time >= start - 1e-12
        time, H, L = result.time[kept], result.energy[kept], result.angular_momentum[kept]
        changes = [("energy", abs(H - H[0]), abs(H[0]))]
        if momentum:
            lost = np.linalg.norm(L - L[0], axis=1)
            changes.append(("angular momentum", lost, np.linalg.norm(L[0])))
        for label, change, size in changes:
            ax.semilogy(time, _positive(change / size), ".", label=label, markersize=2)
        ax.set(xlabel="time [s]", ylabel="relative change")
        ax.legend(markerscale=4)
