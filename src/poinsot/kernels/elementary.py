"""Sine, cosine and arc tangent in sums and products, for processors without a library of them.

To two units in the last place; of sine and cosine as long as the argument is below a million.
"""

import math
from collections.abc import Callable
from math import factorial, floor
from typing import Any

from poinsot.kernels.kernel import inline, kernel

#: pi / 2 in three parts: whole multiples of the first two have no more digits than numbers have.
HALF_PI = 1.57079632673412561417
HALF_PI_NEXT = 6.07710050630396597660e-11
HALF_PI_LAST = 2.02226624879595063154e-21
#: pi / 2 as a number, and what it lacks.
QUARTER, QUARTER_REST = 1.5707963267948966, 6.123233995736766e-17

S1, S2, S3, S4, S5, S6, S7, S8 = ((-1.0) ** k / factorial(2 * k + 1) for k in range(1, 9))
C2, C3, C4, C5, C6, C7, C8 = ((-1.0) ** k / factorial(2 * k) for k in range(2, 9))
T1, T2, T3, T4, T5, T6, T7, T8, T9 = ((-1.0) ** k / (2 * k + 1) for k in range(1, 10))
#: The arc tangents of quarters.
ONE, TWO, THREE, FOUR = (math.atan(k / 4) for k in range(1, 5))


@kernel
def sin(x: float) -> float:
    """Return the sine of an angle [rad]."""
    return _wave(x, 0)


@kernel
def cos(x: float) -> float:
    """Return the cosine of an angle [rad]."""
    return _wave(x, 1)


@kernel
def _wave(x: float, ahead: int) -> float:
    """Return the sine of an angle that many quarters of a turn ahead."""
    turns = floor(x / QUARTER + 0.5)
    r = ((x - turns * HALF_PI) - turns * HALF_PI_NEXT) - turns * HALF_PI_LAST
    square, which = r * r, (int(turns) + ahead) % 4
    if which % 2 == 0:
        rest = S5 + square * (S6 + square * (S7 + square * S8))
        rest = S1 + square * (S2 + square * (S3 + square * (S4 + square * rest)))
        value = r + r * square * rest
    else:
        rest = C4 + square * (C5 + square * (C6 + square * (C7 + square * C8)))
        rest = square * square * (C2 + square * (C3 + square * rest))
        half = 0.5 * square
        most = 1.0 - half
        value = most + (((1.0 - most) - half) + rest)
    return value if which < 2 else -value


@kernel
def atan2(y: float, x: float) -> float:
    """Return the angle of (x, y) in (-pi, pi] [rad]."""
    a, b = abs(y), abs(x)
    if a == 0.0 and b == 0.0:
        angle = 0.0
    elif a <= b:
        angle = _arc(a / b)
    else:
        angle = QUARTER - (_arc(b / a) - QUARTER_REST)
    if x < 0.0:
        angle = 2.0 * QUARTER - (angle - 2.0 * QUARTER_REST)
    return -angle if y < 0.0 else angle


@kernel
def atan(x: float) -> float:
    """Return the arc tangent [rad]."""
    return atan2(x, 1.0)


@inline
def _arc(x: float) -> float:
    """Return the arc tangent of a number between 0 and 1: from the nearest quarter on."""
    nearest = float(floor(4.0 * x + 0.5))
    c, start = 0.25 * nearest, 0.0
    if nearest == 1.0:
        start = ONE
    elif nearest == 2.0:
        start = TWO
    elif nearest == 3.0:
        start = THREE
    elif nearest == 4.0:
        start = FOUR
    u = (x - c) / (1.0 + c * x)
    square = u * u
    rest = T5 + square * (T6 + square * (T7 + square * (T8 + square * T9)))
    rest = T1 + square * (T2 + square * (T3 + square * (T4 + square * rest)))
    return start + (u + u * square * rest)


#: Functions of Python's library, and those that are called instead of them.
INSTEAD: dict[Callable[..., Any], Callable[..., Any]] = {
    math.sin: sin,
    math.cos: cos,
    math.atan: atan,
    math.atan2: atan2,
}
