"""Coordinates chi(s) of one or two forms: displacement, length, angle. See `frames.charts`."""

from math import atan, atan2, floor, sqrt, tau
from typing import TypeAlias

from poinsot.kernels.kernel import inline

LINEAR, LENGTH, ANGLE = 0, 1, 2

Pair: TypeAlias = tuple[float, float]
Square: TypeAlias = tuple[Pair, Pair]


@inline
def chart_value(chart: int, s: Pair) -> float:
    """Return chi."""
    if chart == LINEAR:
        return s[0]
    return sqrt(2.0 * s[0]) if chart == LENGTH else atan2(s[1], s[0])


@inline
def chart_near(chart: int, s: Pair, about: float) -> float:
    """Return chi; of an angle that value, of all that differ by whole turns, nearest to another."""
    here = chart_value(chart, s)
    return here + tau * floor((about - here) / tau + 0.5) if chart == ANGLE else here


@inline
def chart_slope(chart: int, s: Pair) -> Pair:
    """Return dchi/ds."""
    if chart == LINEAR:
        return 1.0, 0.0
    if chart == LENGTH:
        return 1.0 / sqrt(2.0 * s[0]), 0.0
    square = s[0] * s[0] + s[1] * s[1]
    return -s[1] / square, s[0] / square


@inline
def chart_bend(chart: int, s: Pair) -> Square:
    """Return d^2 chi/ds^2."""
    if chart == LINEAR:
        return (0.0, 0.0), (0.0, 0.0)
    if chart == LENGTH:
        length = sqrt(2.0 * s[0])
        return (-1.0 / (length * length * length), 0.0), (0.0, 0.0)
    square = (s[0] * s[0] + s[1] * s[1]) ** 2
    mixed, pure = (s[1] * s[1] - s[0] * s[0]) / square, 2.0 * s[0] * s[1] / square
    return (pure, mixed), (mixed, -pure)


@inline
def chart_secant(chart: int, s0: Pair, s1: Pair, ds: Pair) -> tuple[Pair, Square]:
    """Return b with b·ds = chi1 - chi0, and db/ds1."""
    if chart == LINEAR:
        return (1.0, 0.0), ((0.0, 0.0), (0.0, 0.0))
    if chart == LENGTH:
        length1 = sqrt(2.0 * s1[0])
        mean = 2.0 / (sqrt(2.0 * s0[0]) + length1)
        return (mean, 0.0), ((-mean * mean / (2.0 * length1), 0.0), (0.0, 0.0))
    f, df = _turn_ratio(s0, s1, ds)
    turned = -0.5 * (s0[1] + s1[1]), 0.5 * (s0[0] + s1[0])
    b = f * turned[0], f * turned[1]
    db = (
        (turned[0] * df[0], turned[0] * df[1] - 0.5 * f),
        (turned[1] * df[0] + 0.5 * f, turned[1] * df[1]),
    )
    return b, db


@inline
def _turn_ratio(s0: Pair, s1: Pair, ds: Pair) -> tuple[float, Pair]:
    """Return f = turn / (s0 x s1) and df/ds1, for a turn of less than half a circle."""
    cross, dot = s0[0] * ds[1] - s0[1] * ds[0], s0[0] * s1[0] + s0[1] * s1[1]
    if dot > abs(cross):
        x = cross / dot
        if abs(x) < 1e-2:
            y = x * x
            g = 1.0 - y / 3.0 + y * y / 5.0 - y * y * y / 7.0
            dg = x * (-2.0 / 3.0 + 4.0 * y / 5.0 - 6.0 * y * y / 7.0)
        else:
            g = atan(x) / x
            dg = (1.0 / (1.0 + x * x) - g) / x
        square = dot * dot
        return g / dot, (
            (dg * (-s0[1] - x * s0[0]) - g * s0[0]) / square,
            (dg * (s0[0] - x * s0[1]) - g * s0[1]) / square,
        )
    f = atan2(cross, dot) / cross
    slope = chart_slope(ANGLE, s1)
    return f, ((slope[0] + f * s0[1]) / cross, (slope[1] - f * s0[0]) / cross)
