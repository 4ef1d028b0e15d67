"""The style of all figures: colours that are easy to distinguish, and plain axes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from mpl_toolkits.mplot3d.axes3d import Axes3D as Axes3D
else:  # Matplotlib takes its time to start: it is imported where something is drawn.
    Axes = Axes3D = Figure = Any

#: Okabe and Ito's palette, readable with colour-blindness and in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

#: Colours of numbers: from little to much, and from below zero to above it.
SEQUENTIAL = ("#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725")
DIVERGING = ("#2166ac", "#4393c3", "#92c5de", "#d1d5d9", "#f4a582", "#d6604d", "#b2182b")

SETTINGS: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "legend.framealpha": 0.75,
    "legend.edgecolor": "none",
    "legend.fontsize": "small",
    "lines.linewidth": 1.6,
    "figure.dpi": 110,
    "savefig.dpi": 150,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in Poinsot's style inside this context, and leave the user's settings alone."""
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {**SETTINGS, "axes.prop_cycle": cycler(color=COLOURS)}
    with mpl.rc_context(settings):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """Return a new figure of so many inches; its look is that of the moment."""
    from poinsot.viz.figure import ShownFigure

    return ShownFigure(figsize=(width, height), layout="constrained")


@contextmanager
def drawing(width: float, height: float) -> Iterator["Figure"]:
    """Return a new figure of so many inches, to be drawn in Poinsot's style inside this context."""
    with style():
        yield new_figure(width, height)
