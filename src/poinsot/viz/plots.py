"""Plots of energy and balance, drawn into axes of the caller's or into a new figure."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.result import Result
from poinsot.viz.style import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_energy(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot where the energy is [J]: stored, dissipated, and put in through each outer port."""
    with style():
        ax = ax or _new_axes()
        for port in result.ports.values():
            if not port.connected:
                ax.plot(result.time, port.energy, label=f"put in at '{port.name}'")
        ax.plot(result.time, result.energy - result.energy[0], label="stored")
        ax.plot(result.time, result.dissipated, label="dissipated")
        ax.set(xlabel="time [s]", ylabel="energy since the start [J]")
        ax.legend()
        return _figure(ax)


def plot_balance(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the balance error H - H0 - supplied + dissipated [J], on a logarithmic scale."""
    with style():
        ax = ax or _new_axes()
        # Zero has no place on a logarithmic axis: an exact balance is drawn well below round-off.
        turned_over = max(float(np.max(abs(result.energy))), float(result.dissipated[-1])) or 1.0
        bottom = 1e-3 * np.finfo(float).eps * turned_over
        error = np.maximum(abs(result.balance_error[1:]), bottom)
        ax.semilogy(result.time[1:], error, ".", markersize=3)
        ax.set(xlabel="time [s]", ylabel="|balance error| [J]")
        return _figure(ax)


def _new_axes() -> "Axes":
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def _figure(ax: "Axes") -> "Figure":
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
