"""Errors over steps, in logarithmic axes, with the slope of order two."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MARKERS = "os^vDP"


def plot_convergence(steps: Array, errors: Mapping[str, Array], ax: "Axes") -> None:
    """Plot errors by the name of their scheme over steps [s]."""
    for marker, (scheme, values) in zip(MARKERS, errors.items(), strict=False):
        ax.loglog(steps, values, f"{marker}-", markersize=4, label=_label(scheme))
    top = 3 * max(values[np.argmax(steps)] for values in errors.values())
    ax.loglog(steps, top * (steps / steps.max()) ** 2, "--", color="grey", label="order 2")
    ax.legend(ncols=2)


def _label(scheme: str) -> str:
    """Return a scheme's name as papers write it: capitals, unless it is one of ours."""
    return scheme if scheme.endswith("-mean") else scheme.upper()
