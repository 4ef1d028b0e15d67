"""Runs with ever smaller steps: what they tend to, by Richardson, and how their errors fall."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.result import Array
from poinsot.viz.style import Axes

MARKERS = "os^vDP"


def extrapolate(values: Sequence[ArrayLike]) -> Array:
    """Return the limit h -> 0 of values computed with h, h/2, h/4, ...

    The error of a symmetric scheme, such as the midpoint rule, has even powers of h only: k values
    give an error of order 2k.
    """
    table = [np.asarray(value, dtype=float) for value in values]
    for k in range(1, len(table)):
        table = [(4**k * fine - coarse) / (4**k - 1) for coarse, fine in pairwise(table)]
    return table[0]


def order(values: Iterable[ArrayLike], exact: ArrayLike) -> float:
    """Return the order of the errors of values computed with h, h/2, ...: by the last two."""
    *_, coarse, fine = (np.linalg.norm(np.subtract(value, exact)) for value in values)
    return float(np.log2(coarse / fine))


def neighbour_mean(values: ArrayLike) -> Array:
    """Return the means of neighbours in time, shape (steps - 1, ...).

    A reaction is known at the midpoints of the steps, and its error alternates in sign with an
    amplitude of first order in h; the mean of two lies at the time between, with order two.
    """
    array = np.asarray(values, dtype=float)
    return np.asarray((array[1:] + array[:-1]) / 2)


def plot_convergence(
    steps: Array, errors: Mapping[str, Array], ax: "Axes", **settings: Any
) -> None:
    """Plot errors by the name of their scheme over steps [s], and the slope of order two."""
    for marker, (scheme, values) in zip(MARKERS, errors.items(), strict=False):
        # A scheme has capitals in papers, unless it is one of ours.
        label = scheme if scheme.endswith("-mean") else scheme.upper()
        ax.loglog(steps, values, f"{marker}-", markersize=4, label=label)
    top = 3 * max(values[np.argmax(steps)] for values in errors.values())
    ax.loglog(steps, top * (steps / steps.max()) ** 2, "--", color="grey", label="order 2")
    ax.set(xlabel="h [s]", **settings)
    ax.legend(ncols=2)
