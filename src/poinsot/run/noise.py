"""How much round-off is in the values of a function: what differences of high order leave of it.

A function whose terms cancel, such as 1 - cos q near zero, is known to the round-off of its terms,
which neither its value nor its gradient shows. Differences of its values over equal steps lose what
is smooth, and keep the noise: with independent errors of variance s^2, those of order k have the
variance s^2 (2k)! / (k!)^2 [MW11].
"""

from collections.abc import Callable
from math import comb, sqrt

import numpy as np

from poinsot.ph.matrices import Vector

#: Steps at which values are taken: to one side, as an even function has each of them twice.
OFFSETS = np.arange(9)
#: Orders of differences that must agree on the noise, to this factor.
ORDERS, AGREED = (4, 5, 6), 4.0
#: The first step, as a part of the size of an argument; each further one is so many times as large:
#: no power of two, or rounded values would be as far apart from each other again and again.
FIRST, LONGER = 1e-6, 3.7
#: So many steps are tried until values change, and so many of those at which they do.
UNCHANGED, CHANGED = 50, 5
#: Of so many arguments the noise is looked for.
MANY = 32


def noise_level(f: Callable[[Vector], float], x: Vector, sizes: Vector) -> float:
    """Return the standard deviation of the noise of f near x, along its noisiest argument.

    `sizes` are those of the arguments; one without any is left alone.
    """
    there = np.flatnonzero(sizes > 0)
    looked = there[:: -(-there.size // MANY)] if there.size else there
    return max((_along(f, x, k, float(sizes[k])) for k in looked), default=0.0)


def _along(f: Callable[[Vector], float], x: Vector, k: int, size: float) -> float:
    """Return the noise along one argument: over the first steps long enough to change values."""
    step, levels = FIRST * size, list[float]()
    for _ in range(UNCHANGED):
        moved = np.repeat(x[None], OFFSETS.size, axis=0)
        moved[:, k] += step * OFFSETS
        values = np.array([f(at) for at in moved])
        if len(levels) == CHANGED or not np.isfinite(values).all():
            break
        if np.count_nonzero(np.diff(values)) >= OFFSETS.size // 2:
            squares = [np.mean(np.diff(values, m) ** 2) / comb(2 * m, m) for m in ORDERS]
            agreed = max(squares) <= AGREED**2 * min(squares)
            levels.append(sqrt(min(squares)) if agreed else 0.0)
        step *= LONGER
    return max(levels, default=0.0)
