"""Charts: lengths and angles as functions chi(s) of quadratic forms s(q).

A chart gives the value of its coordinate, its slope dchi/ds, and the stable difference over a step.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

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
    def increment(self, s0: Vector, s1: Vector) -> tuple[float, Vector]:
        """Return chi1 - chi0 without cancellation, and its derivative with respect to s1."""


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

    def increment(self, s0: Vector, s1: Vector) -> tuple[float, Vector]:
        """Return s1 - s0."""
        return float(s1[0] - s0[0]), np.ones(1)


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

    def increment(self, s0: Vector, s1: Vector) -> tuple[float, Vector]:
        """Return 2 (s1 - s0) / (length0 + length1)."""
        length0, length1 = self.value(s0), self.value(s1)
        return float(2 * (s1[0] - s0[0]) / (length0 + length1)), self.slope(s1)


@dataclass(frozen=True)
class Angle(Chart):
    """chi = atan2(s, c) for the forms (c, s): cosine and sine of an angle of a joint."""

    def value(self, s: Vector) -> float:
        """Return the angle in (-pi, pi] [rad]."""
        return float(np.arctan2(s[1], s[0]))

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

    def increment(self, s0: Vector, s1: Vector) -> tuple[float, Vector]:
        """Return the angle from s0 to s1, less than half a turn."""
        cross = s0[0] * s1[1] - s0[1] * s1[0]
        return float(np.arctan2(cross, s0 @ s1)), self.slope(s1)
