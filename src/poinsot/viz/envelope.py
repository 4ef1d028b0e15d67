"""Long series made short for drawing, peaks and all."""

import numpy as np
from numpy.typing import NDArray

from poinsot.result import Array

#: A line of a figure has no use for more points than this.
POINTS = 4000


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
