"""Axes to draw into, given or of a new figure, and lines in them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array
from poinsot.viz.style import COLOURS, Axes, Figure, new_figure, style

#: A line of a figure has no use for more points than this.
POINTS = 4000
#: A legend of more names than this hides more than it tells.
NAMES = 12
DASHES = ("-", "--", ":")


@contextmanager
def over_time(
    ax: "Axes | None", ylabel: str, *, markerscale: float = 1.0, **settings: Any
) -> Iterator["Axes"]:
    """Return axes over time [s] to draw into, given ones or those of a new figure.

    They are drawn in Poinsot's style inside this context. At its end they get their labels and
    `settings`, such as `title` and `ylim`, and lines with labels are named.
    """
    with style():
        ax = new_figure(7, 4).add_subplot() if ax is None else ax
        yield ax
        ax.set(**{"xlabel": "time [s]", "ylabel": ylabel, **settings})
        name_lines(ax, markerscale=markerscale)


def panels(figure: "Figure", heights: Sequence[float], *, wide: bool = False) -> list[Any]:
    """Return axes in two columns and rows of these heights, row by row.

    The first ones are in three dimensions, and as wide as both columns if asked.
    """
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    first = figure.add_subplot(grid[0, :] if wide else grid[0, 0], projection="3d")
    others = range(2 if wide else 1, 2 * len(heights))
    return [first, *(figure.add_subplot(grid[k // 2, k % 2]) for k in others)]


def describe(
    ax: "Axes",
    title: str,
    ylabel: str,
    *,
    xlabel: str = "time [s]",
    ncols: int | None = None,
    loc: str | None = None,
    room: float = 0.0,
    **settings: Any,
) -> None:
    """Say what has been drawn into axes, and name its lines in so many columns, at a place.

    `room` is the share of the height that is added above lines that leave no place for their names.
    """
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, **settings)
    if room:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + room * (high - low))
        loc = loc or "upper center"
    legend = {"ncols": ncols, "loc": loc}
    name_lines(ax, **{name: value for name, value in legend.items() if value is not None})


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


def envelope(time: Array, values: Array, points: int = POINTS) -> tuple[Array, Array]:
    """Return at most `points` of a series: the least and the greatest value of every stretch.

    What is drawn looks the same, peaks included; a short series stays as it is. Values that are
    not numbers are passed over. (times,) and (times,).
    """
    if time.size <= points:
        return time, values
    edges = np.linspace(0, time.size, points // 2, dtype=np.intp)[:-1]
    number = np.isfinite(values)
    low, high = np.where(number, values, np.inf), np.where(number, values, -np.inf)
    stretch = np.repeat(np.arange(edges.size), np.diff([*edges, time.size]))
    is_low = low == np.minimum.reduceat(low, edges)[stretch]
    is_high = high == np.maximum.reduceat(high, edges)[stretch]
    kept = np.unique(np.concatenate([[0], *(_first(hit, stretch) for hit in (is_low, is_high))]))
    kept = np.append(kept, time.size - 1) if kept[-1] != time.size - 1 else kept
    return time[kept], values[kept]


def _first(hit: NDArray[np.bool_], stretch: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first hit of every stretch."""
    places = np.flatnonzero(hit)
    return places[np.unique(stretch[places], return_index=True)[1]]


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
        ax.legend(**{"ncols": 1 if count <= 4 else 2, **legend})


def plain(name: str) -> str:
    """Return a user's name so that it is printed as it is: no formula, no hidden label."""
    shown = name.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown
