"""Plots over frequency: Bode and Nyquist diagrams, Campbell diagrams, power spectra."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array
from poinsot.viz.axes import figure_of, name_lines, plain
from poinsot.viz.style import Axes, Figure, new_figure, style

Complex = NDArray[np.complex128]


class Response(Protocol):
    """What a Bode or Nyquist diagram shows: `poinsot.analysis.FrequencyResponse`."""

    @property
    def frequencies(self) -> Array: ...  # noqa: D102
    @property
    def values(self) -> Complex: ...  # noqa: D102
    @property
    def outputs(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def inputs(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def decibels(self) -> Array: ...  # noqa: D102
    @property
    def phase(self) -> Array: ...  # noqa: D102


class Lines(Protocol):
    """What a Campbell diagram shows: `poinsot.analysis.Campbell`."""

    @property
    def speeds(self) -> Array: ...  # noqa: D102
    @property
    def frequencies(self) -> Array: ...  # noqa: D102


def _pairs(response: Response) -> list[tuple[int, int, str]]:
    """Return the number of each output and input, and what their line is called."""
    return [
        (i, j, plain(f"{output} / {input_}"))
        for i, output in enumerate(response.outputs)
        for j, input_ in enumerate(response.inputs)
    ]


def plot_bode(response: Response, figure: Figure | None = None) -> Figure:
    """Plot magnitude [dB] and phase [degrees] over frequency [rad/s] for each pair of ports."""
    with style():
        figure = figure or new_figure(7, 6)
        above = figure.add_subplot(2, 1, 1)
        below = figure.add_subplot(2, 1, 2, sharex=above)
        for i, j, label in _pairs(response):
            level = np.where(
                np.isfinite(response.decibels[:, i, j]), response.decibels[:, i, j], np.nan
            )
            above.semilogx(response.frequencies, level, label=label)
            below.semilogx(response.frequencies, np.degrees(response.phase[:, i, j]), label=label)
        above.set(ylabel="magnitude [dB]")
        below.set(xlabel="frequency [rad/s]", ylabel="phase [°]")
        name_lines(above)
    return figure


def plot_nyquist(response: Response, ax: Axes | None = None, **settings: Any) -> Figure:
    """Plot the response in the complex plane for each pair; Re >= 0 for passive systems."""
    with style():
        ax = new_figure(6, 6).add_subplot() if ax is None else ax
        for i, j, label in _pairs(response):
            line = response.values[:, i, j]
            line = line[np.isfinite(line)]
            ax.plot(line.real, line.imag, label=label)
        ax.axvline(0.0, color="grey", linewidth=0.8)
        ax.axhline(0.0, color="grey", linewidth=0.8)
        ax.set(**{"xlabel": "real part", "ylabel": "imaginary part", **settings})
        name_lines(ax)
    return figure_of(ax)


def plot_campbell(
    diagram: Lines, ax: Axes | None = None, *, orders: tuple[float, ...] = (1.0,), **settings: Any
) -> Figure:
    """Plot eigenfrequencies over speed [rad/s], with dashed lines for multiples of the speed."""
    with style():
        ax = new_figure(7, 4.5).add_subplot() if ax is None else ax
        ax.plot(diagram.speeds, diagram.frequencies, color="C0")
        top = float(np.nanmax(diagram.frequencies, initial=0.0))
        for order in orders:
            ax.plot(
                diagram.speeds,
                order * diagram.speeds,
                "--",
                label=f"{order:g} × speed",
                color="grey",
            )
        ax.set(
            **{
                "xlabel": "speed [rad/s]",
                "ylabel": "frequency [rad/s]",
                "ylim": (0, 1.05 * top),
                **settings,
            }
        )
        name_lines(ax)
    return figure_of(ax)


def plot_spectrum(
    frequencies: Array, density: Array, ax: Axes | None = None, **settings: Any
) -> Figure:
    """Plot a power spectral density over frequency [rad/s], as returned by `power_spectrum`."""
    with style():
        ax = new_figure(7, 4).add_subplot() if ax is None else ax
        ax.semilogy(frequencies, density)
        ax.set(**{"xlabel": "frequency [rad/s]", "ylabel": "power density", **settings})
    return figure_of(ax)
