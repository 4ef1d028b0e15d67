"""Friction along one coordinate, and drag on a vector: forces against a rate, and their slopes."""

from math import sqrt

from poinsot.kernels.algebra import Array, Mat, Vec, dot, outer, plus, scale, times, vector
from poinsot.kernels.kernel import inline
from poinsot.kernels.terms import UNIT

#: Columns: viscous and quadratic resistance; dry friction, and the rate that it fades below.
VISCOUS, QUADRATIC, COULOMB, SLIP_RATE = range(4)


@inline
def friction(numbers: Array, k: int, y: float, memory: Array, slopes: bool) -> tuple[float, float]:
    """Return f = (viscous + quadratic |y| + coulomb / r) y, r = sqrt(y^2 + slip^2), and df/dy.

    The slope of dry friction is that of `Remembering` in `parts.resistance`, which leads
    Newton's method to where it sticks: coulomb (1 - w y/r) / r. Row k of `memory` holds y and w of
    the last slope, w = NaN if there was none: then the slope is the exact one.
    """
    viscous, quadratic, coulomb = vector(numbers, k, VISCOUS)
    force, slope = (viscous + quadratic * abs(y)) * y, viscous + 2.0 * quadratic * abs(y)
    if coulomb > 0.0:
        slip = numbers[k, SLIP_RATE]
        r = sqrt(y * y + slip * slip)
        force += coulomb * y / r
        if slopes:
            before, w = memory[k, 0], memory[k, 1]
            if w != w:
                w = y / r
            elif y != before:
                r_before = sqrt(before * before + slip * slip)
                sigma = before / r_before
                w = sigma + (1.0 - w * sigma) * (y - before) / r_before
                w = max(-1.0, min(1.0, w))
            memory[k, 0], memory[k, 1] = y, w
            slope += coulomb * (1.0 - w * y / r) / r
    return force, slope


@inline
def drag(numbers: Array, k: int, y: Vec) -> tuple[Vec, Mat]:
    """Return f = (viscous + quadratic |y|) y and df/dy."""
    viscous, quadratic, size = numbers[k, VISCOUS], numbers[k, QUADRATIC], sqrt(dot(y, y))
    c = viscous + quadratic * size
    slope = times(c, UNIT)
    if size > 0.0:
        slope = plus(slope, times(quadratic / size, outer(y, y)))
    return scale(c, y), slope
