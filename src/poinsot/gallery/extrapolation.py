"""Richardson's extrapolation: what runs with ever smaller steps tend to."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray


def extrapolate(values: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """Return the limit h -> 0 of values computed with h, h/2, h/4, ...

    The error of a symmetric scheme, such as the midpoint rule, has even powers of h only: k values
    give an error of order 2k.
    """
    table = [np.asarray(value, dtype=float) for value in values]
    for k in range(1, len(table)):
        table = [(4**k * fine - coarse) / (4**k - 1) for coarse, fine in pairwise(table)]
    return table[0]


def neighbour_mean(values: ArrayLike) -> NDArray[np.float64]:
    """Return the means of neighbours in time, shape (steps - 1, ...).

    A reaction is known at the midpoints of the steps, and its error alternates in sign with an
    amplitude of first order in h; the mean of two lies at the time between, with order two.
    """
    array = np.asarray(values, dtype=float)
    return np.asarray((array[1:] + array[:-1]) / 2)
