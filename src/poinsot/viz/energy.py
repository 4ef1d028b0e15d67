"""Plots of energy: where it is, where it came from, and whether any is missing."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.result import Result
from poinsot.viz.axes import draw_error, draw_line, figure_of, over_time, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_energy(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the account of energy [J]: stored, dissipated, and put in through each outer port."""
    with over_time(ax, "energy since the start [J]") as ax:
        for port in result.ports.values():
            if not port.connected:
                draw_line(ax, result.time, port.energy, label=plain(f"put in at '{port.name}'"))
        draw_line(ax, result.time, result.energy - result.energy[0], label="stored")
        draw_line(ax, result.time, result.dissipated, label="dissipated")
    return figure_of(ax)


def plot_energy_kinds(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the kinds of energy [J] (kinetic, gravity, springs and fields) and their sum H."""
    with over_time(ax, "energy [J]") as ax:
        for kind, values in result.observation.energies.items():
            draw_line(ax, result.time, values, label=kind)
        draw_line(ax, result.time, result.energy, label="total", color="black", linestyle="--")
    return figure_of(ax)


def plot_power(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the power [W] that is put in through each outer port."""
    with over_time(ax, "power put in [W]") as ax:
        for port in result.ports.values():
            if not port.connected:
                draw_line(ax, port.time, port.power, label=plain(port.name))
    return figure_of(ax)


def plot_balance(result: Result, ax: "Axes | None" = None) -> "Figure":
    """Plot the balance error H - H0 - supplied + dissipated [J], on a logarithmic scale."""
    with over_time(ax, "|balance error| [J]") as ax:
        # Energies that are added up cannot be told from their neighbours by less than this.
        kinetic = result.observation.energies.get("kinetic", result.energy)
        largest = max(np.max(abs(E)) for E in (result.energy, result.dissipated, kinetic))
        round_off = np.finfo(float).eps * float(largest)
        if round_off > 0:
            ax.axhline(round_off, color="grey", linewidth=0.8, linestyle=":", label="round-off")
        draw_error(ax, result.time, result.balance_error, linestyle="", marker=".", markersize=3)
    return figure_of(ax)
