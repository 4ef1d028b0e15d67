"""Charts: lengths and angles as functions chi(s) of quadratic forms s(q).

A chart gives the value of its coordinate, its slope dchi/ds, and its secant over a step.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import tau
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector


@dataclass(frozen=True)
class Chart(ABC):
    """A coordinate chi(s) of one or two quadratic forms."""

    @abstractmethod
    def value(self, s: Vector) -> float:
        """Return chi [m or rad]."""

    @abstractmethod
    def slope(self, s: Vector) -> Vector:
        """Return dchi/ds; shape of s."""

    @abstractmethod
    def bend(self, s: Vector) -> NDArray[np.float64]:
        """Return d^2 chi/ds^2."""

    @abstractmethod
    def secant(self, s0: Vector, s1: Vector, ds: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return b with b·(s1 - s0) = chi1 - chi0, the slope as s1 -> s0; and db/ds1.

        `ds` = s1 - s0 is given apart: as G(q_mid) (q1 - q0) it knows no cancellation.
        """

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the chart near angles [rad] counted over turns, by name; most have no turns."""
        return self

    def loses(self, s0: Vector, s_mid: Vector) -> bool:
        """Whether a step with these forms at its start and midpoint is too long to follow."""
        return False


@dataclass(frozen=True)
class Linear(Chart):
    """chi = s: a displacement, a component."""

    def value(self, s: Vector) -> float:
        """Return s."""
        return float(s[0])

    def slope(self, s: Vector) -> Vector:
        """Return 1."""
        return np.ones(1)

    def bend(self, s: Vector) -> NDArray[np.float64]:
        """Return 0."""
        return np.zeros((1, 1))

    def secant(self, s0: Vector, s1: Vector, ds: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return 1."""
        return np.ones(1), np.zeros((1, 1))


@dataclass(frozen=True)
class Length(Chart):
    """chi = sqrt(2 s) for s = r·r/2: the distance of two points."""

    def value(self, s: Vector) -> float:
        """Return the length [m]."""
        return float(np.sqrt(2 * s[0]))

    def slope(self, s: Vector) -> Vector:
        """Return 1/length."""
        return 1 / np.sqrt(2 * s)

    def bend(self, s: Vector) -> NDArray[np.float64]:
        """Return -1/length^3."""
        return np.array([[-((2 * s[0]) ** -1.5)]])

    def secant(self, s0: Vector, s1: Vector, ds: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return 2 / (length0 + length1)."""
        length0, length1 = self.value(s0), self.value(s1)
        b = 2 / (length0 + length1)
        return np.array([b]), np.array([[-(b**2) / (2 * length1)]])


@dataclass(frozen=True)
class Angle(Chart):
    """chi = atan2(s, c) for the forms (c, s): cosine and sine of an angle of a joint.

    Forms tell it up to whole turns: of all values it is the one nearest to `about` [rad], the angle
    counted over turns at the start of the step in hand. `name` is that of the angle in a model.
    """

    name: str = ""
    about: float = 0.0

    def value(self, s: Vector) -> float:
        """Return the angle within half a turn of `about` [rad]."""
        here = float(np.arctan2(s[1], s[0]))
        return here + tau * float(np.round((self.about - here) / tau))

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the chart about the angle of its name."""
        about = angles.get(self.name, self.about)
        return self if about == self.about else replace(self, about=about)

    def loses(self, s0: Vector, s_mid: Vector) -> bool:
        """Return whether it turns by half a turn or more: then it is past a quarter at midpoint.

        `s_mid` may have a positive factor: over turns a and b of two bodies about one axis, mean
        directors have the forms of half of both, times cos(a/2) cos(b/2).
        """
        return not float(s0 @ s_mid) > 0

    def slope(self, s: Vector) -> Vector:
        """Return (-s, c) / (c^2 + s^2)."""
        cosine, sine = s
        slope: Vector = np.array([-sine, cosine]) / (cosine**2 + sine**2)
        return slope

    def bend(self, s: Vector) -> NDArray[np.float64]:
        """Return the Hessian of atan2."""
        cosine, sine = s
        square = (cosine**2 + sine**2) ** 2
        mixed, pure = sine**2 - cosine**2, 2 * cosine * sine
        bend: NDArray[np.float64] = np.array([[pure, mixed], [mixed, -pure]]) / square
        return bend

    def secant(self, s0: Vector, s1: Vector, ds: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return f (-s, c) at the mean of both ends, f = turn / (s0 x s1); less than half a turn.

        With x = tan(turn) = s0 x s1 / (s0·s1), f = (atan(x)/x) / (s0·s1) is smooth at x = 0.
        """
        cross, dot = float(s0[0] * ds[1] - s0[1] * ds[0]), float(s0 @ s1)
        dcross = np.array([-s0[1], s0[0]])
        if dot > abs(cross):
            x = cross / dot
            g, dg = _atan_ratio(x)
            f = g / dot
            df = (dg * (dcross - x * s0) - g * s0) / dot**2
        else:
            f = float(np.arctan2(cross, dot)) / cross
            df = (self.slope(s1) - f * dcross) / cross
        mean = (s0 + s1) / 2
        turned = np.array([-mean[1], mean[0]])
        return f * turned, np.outer(turned, df) + f * np.array([[0.0, -0.5], [0.5, 0.0]])


def _atan_ratio(x: float) -> tuple[float, float]:
    """Return atan(x)/x and its derivative, by series near zero."""
    if abs(x) < 1e-2:
        return 1 - x**2 / 3 + x**4 / 5 - x**6 / 7, -2 * x / 3 + 4 * x**3 / 5 - 6 * x**5 / 7
    ratio = float(np.arctan(x)) / x
    return ratio, (1 / (1 + x**2) - ratio) / x
