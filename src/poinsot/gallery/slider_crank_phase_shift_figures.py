"""The figure of the slider-crank's phase shift."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Result
from poinsot.viz.style import COLOURS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


def plot(
    runs: Mapping[str, Result],
    published: Mapping[str, Array],
    gaps: Mapping[tuple[str, str], tuple[Array, Array]],
) -> "Figure":
    """Plot the slider of each rod with the published points, and the distances between them."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9, 9), layout="constrained")
        motion, *distances = figure.subplots(3, 1, height_ratios=(1.5, 1, 1))
        for name, run in runs.items():
            label = f"4e-4 kg m² {name}"
            motion.plot(run.time, run.position("slider")[:, 0], label=label, linewidth=1.2)
        for (who, curve), marker in zip(published.items(), "ox", strict=True):
            motion.plot(*curve.T, marker, color="black", label=who, markersize=5, fillstyle="none")
        motion.set(xlabel="time [s]", ylabel="$x_s$ [m]", ylim=(0.18, 0.32))
        motion.legend(ncols=3)
        motion.set_title("Two published solutions belong to two different rods")
        for ax, who in zip(distances, published, strict=True):
            for name, colour in zip(runs, COLOURS, strict=False):
                time, gap = gaps[name, who]
                ax.semilogy(time[: gap.size], gap, ".-", color=colour, label=name, linewidth=0.8)
            ax.set(xlabel="time [s]", ylabel="deviation [m]", ylim=(1e-8, 1))
            ax.set_title(f"Distance from {who}'s solution")
        distances[0].legend(ncols=3, loc="lower right")
    return figure
