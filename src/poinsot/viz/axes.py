"""Axes to draw into, and lines in them: the caller's axes or those of a new figure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.result import Array
from poinsot.viz.envelope import envelope
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A legend of more names than this hides more than it tells.
NAMES = 12
DASHES = ("-", "--", ":")


@contextmanager
def over_time(ax: "Axes | None", ylabel: str, **legend: Any) -> Iterator["Axes"]:
    """Return axes over time [s] to draw into, given ones or those of a new figure.

    They are drawn in Poinsot's style inside this context, and lines with labels are named at its
    end.
    """
    from poinsot.viz.figure import ShownFigure

    with style():
        if ax is None:
            ax = ShownFigure(figsize=(7, 4), layout="constrained").add_subplot()
        yield ax
        ax.set(xlabel="time [s]", ylabel=ylabel)
        name_lines(ax, **legend)


def figure_of(ax: "Axes") -> "Figure":
    """Return the figure that axes are in."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def draw_line(ax: "Axes", time: Array, values: Array, **look: Any) -> None:
    """Draw values over time [s], thinned if there are many; a single value is a dot.

    When all colours are used up, lines are dashed, then dotted.
    """
    look = {"linestyle": DASHES[len(ax.lines) // len(COLOURS) % len(DASHES)], **look}
    if time.size == 1:
        look = {"marker": "o", **look}
    ax.plot(*envelope(time, values), **look)


def draw_error(ax: "Axes", time: Array, values: Array, **look: Any) -> None:
    """Draw the size of an error on a logarithmic scale; what is exact has no place there."""
    size = abs(values)
    ax.set_yscale("log")
    draw_line(ax, time, np.where(size > 0, size, np.nan), **look)
    if not np.any(size > 0):
        note = ax.annotate("exactly zero", (0.5, 0.5), xycoords="axes fraction", color="grey")
        note.set(ha="center", va="center")
    show_decades(ax)


def show_decades(ax: "Axes") -> None:
    """Let a logarithmic axis span two powers of ten at least, so that its labels can be read."""
    from matplotlib.ticker import NullFormatter

    sizes = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    sizes = sizes[sizes > 0]
    low, high = (sizes.min(), sizes.max()) if sizes.size else (1e-17, 1e-13)
    room = max(1.5, np.sqrt(100 / (high / low)))
    ax.set_ylim(low / room, high * room)
    ax.yaxis.set_minor_formatter(NullFormatter())


def name_lines(ax: "Axes", **legend: Any) -> None:
    """Add a legend, unless there is nothing to tell apart or too much."""
    count = len(ax.get_legend_handles_labels()[1])
    if 0 < count <= NAMES:
        ax.legend(ncols=1 if count <= 4 else 2, **legend)


def plain(name: str) -> str:
    """Return a user's name so that it is printed as it is: no formula, no hidden label."""
    shown = name.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown
