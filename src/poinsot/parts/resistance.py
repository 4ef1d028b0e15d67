"""Resistances: forces f(y) against a rate y that never create energy, y·f(y) >= 0.

This is the resistive relation of a port-Hamiltonian system [BHRS25, def. 6] along one direction. A
step evaluates f at its mean rate y, and dissipates h y·f(y) >= 0 for any step size.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.directions import Direction
from poinsot.inputs import number
from poinsot.kernels.algebra import Array, Four, Mat, Vec, dot, outer, plus, scale, times, vector
from poinsot.kernels.kernel import inline
from poinsot.kernels.terms import UNIT
from poinsot.ph.derivatives import RELATIVE_STEP, slope_by
from poinsot.ph.matrices import Vector

#: Rate at which dry friction has 71 % of its full value, unless told otherwise [rad/s or m/s].
SLIP = 1e-3


def require_coefficients(part: Any, labels: tuple[str, ...]) -> None:
    """Refuse coefficients that are no numbers, or would create energy."""
    for label in labels:
        number(getattr(part, label), f"{type(part).__name__}: {label}", minimum=0.0)


class Resistance(ABC):
    """A force f(y) against a rate y of one or more components, y·f(y) >= 0."""

    @abstractmethod
    def __call__(self, y: Vector) -> Vector:
        """Return f(y); shape (size,)."""

    @abstractmethod
    def slope(self, y: Vector) -> NDArray[np.float64]:
        """Return df/dy; shape (size, size)."""

    def remembering(self) -> "Resistance":
        """Return the same resistance for one run of Newton's method, see `Remembering`."""
        return self


@dataclass(frozen=True)
class Friction(Resistance):
    r"""Viscous, quadratic and dry resistance, the same in all directions of y.

    .. math:: f(y) = \Big(c_1 + c_2 |y| + \frac{c_0}{\sqrt{|y|^2 + s^2}}\Big)\, y

    with c_1 `viscous`, c_2 `quadratic`, c_0 `coulomb` and s `slip`. No term is negative, so
    y·f(y) >= 0.
    """

    viscous: float = 0.0
    quadratic: float = 0.0
    coulomb: float = 0.0
    slip: float = SLIP

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        n = float(np.linalg.norm(y))
        dry = self.coulomb / np.hypot(n, self.slip)
        return np.asarray((self.viscous + self.quadratic * n + dry) * y)

    def slope(self, y: Vector) -> NDArray[np.float64]:
        r"""Return df/dy.

        .. math:: (c_1 + c_2 |y|) I + c_2 \frac{y y^\top}{|y|}
                  + c_0 \frac{s^2 I + |y|^2 I - y y^\top}{(|y|^2 + s^2)^{3/2}}
        """
        n, one = float(np.linalg.norm(y)), np.eye(y.size)
        total = (self.viscous + self.quadratic * n) * one
        if n > 0:
            total += self.quadratic * np.outer(y, y / n)
        r = np.hypot(n, self.slip)
        total += self.coulomb / r**3 * (self.slip**2 * one + (y @ y * one - np.outer(y, y)))
        return total

    def remembering(self) -> Resistance:
        """Return it with slopes that remember, if it is dry and along one coordinate."""
        return Remembering(self) if self.coulomb else self


@dataclass(eq=False)
class Remembering(Resistance):
    r"""The same friction along one coordinate, with slopes for Newton's method where it sticks.

    Where dry friction holds, Newton's method jumps to and fro between the two signs of y for ever.
    So sigma = y/r with r = sqrt(y^2 + s^2) is taken as an unknown w of its own, r w = y, and
    eliminated after linearisation,

    .. math::

        f' = c_0 \frac{1 - w \sigma}{r}, \qquad
        w_{k+1} = \sigma_k + (1 - w_k \sigma_k) \frac{y_{k+1} - y_k}{r_k}, \quad |w| \le 1

    as [CGM99] does for total variation. At a solution w = sigma and the slope is exact, as it is
    the first time. The force is never another.
    """

    law: Friction
    y: float = np.nan
    w: float = 0.0

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        return self.law(y)

    def slope(self, y: Vector) -> NDArray[np.float64]:
        """Return df/dy, and remember y."""
        if y.size > 1:
            return self.law.slope(y)
        law, rate = self.law, float(y[0])
        r = float(np.hypot(rate, law.slip))
        if np.isnan(self.y):
            self.w = rate / r
        elif rate != self.y:
            r_before = float(np.hypot(self.y, law.slip))
            sigma = self.y / r_before
            moved = sigma + (1 - self.w * sigma) * (rate - self.y) / r_before
            self.w = float(np.clip(moved, -1.0, 1.0))
        self.y = rate
        dry = law.coulomb * (1 - self.w * rate / r) / r
        return np.array([[law.viscous + 2 * law.quadratic * abs(rate) + dry]])


@dataclass(frozen=True, eq=False)
class AnyLaw(Resistance):
    """Any law of a single rate besides a viscous one: f(y) = viscous y + law(y).

    Its derivative is found by differences if it is not known.
    """

    viscous: float
    law: Callable[[float], float]
    dlaw: Callable[[float], float] | None = None

    def value(self, rate: float) -> float:
        """Return f of a rate."""
        return self.viscous * rate + self.law(rate)

    def derivative(self, rate: float) -> float:
        """Return df/dy of a rate."""
        dlaw = slope_of_rate(self.law, rate) if self.dlaw is None else self.dlaw(rate)
        return self.viscous + dlaw

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        return np.array([self.value(float(y[0]))], dtype=float)

    def slope(self, y: Vector) -> NDArray[np.float64]:
        """Return df/dy."""
        return np.array([[self.derivative(float(y[0]))]], dtype=float)


def slope_of_rate(law: Callable[[float], float], rate: float) -> float:
    """Return the slope of a law of a rate: rates have no scale but themselves."""
    size = abs(rate)
    return slope_by(law, rate, RELATIVE_STEP * (size if size > 0.0 else 1.0))


@dataclass(frozen=True, eq=False)
class Damper:
    """A resistance along a direction: force -f(y) with y·f(y) >= 0 and y = B^T v."""

    name: str
    direction: Direction
    law: Resistance

    def at(self, q: Vector) -> Resistance:
        """Return the law at a place q of its bodies; by default it is the same everywhere."""
        return self.law

    def by_place(self, q: Vector, y: Vector) -> NDArray[np.float64] | None:
        """Return the derivative of f(y) by q (size, 12 bodies); None: it is the same everywhere."""
        return None

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        return self

    def remembering(self) -> Self:
        """Return the same for one run of Newton's method."""
        law = self.law.remembering()
        return self if law is self.law else replace(self, law=law)


# -- in the compiled engine ------------------------------------------------------------------------

#: Columns: viscous and quadratic resistance; dry friction, and the rate that it fades below.
VISCOUS, QUADRATIC, COULOMB, SLIP_RATE = range(4)


@inline
def friction(numbers: Array, k: int, y: float, memory: Array, slopes: bool) -> tuple[float, float]:
    """Return f = (viscous + quadratic |y| + coulomb / r) y, r = sqrt(y^2 + slip^2), and df/dy.

    The slope of dry friction is that of `Remembering`, which leads Newton's method to where it
    sticks: coulomb (1 - w y/r) / r. Row k of `memory` holds y and w of the last slope, w = NaN if
    there was none: then the slope is the exact one.
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
def friction_slope(numbers: Array, k: int, y: float) -> float:
    """Return df/dy as it is, and not as Newton's method needs it."""
    viscous, quadratic, coulomb = vector(numbers, k, VISCOUS)
    slope = viscous + 2.0 * quadratic * abs(y)
    if coulomb > 0.0:
        slip = numbers[k, SLIP_RATE]
        square = y * y + slip * slip
        slope += coulomb * slip * slip / (square * sqrt(square))
    return slope


@inline
def friction_by_numbers(numbers: Array, k: int, y: float) -> Four:
    """Return the derivatives of f by all four numbers."""
    coulomb, slip = numbers[k, COULOMB], numbers[k, SLIP_RATE]
    r = sqrt(y * y + slip * slip)
    dry = y / r if r > 0.0 else 0.0
    by_slip = -coulomb * dry * slip / (r * r) if r > 0.0 else 0.0
    return y, abs(y) * y, dry, by_slip


@inline
def drag(numbers: Array, k: int, y: Vec) -> tuple[Vec, Mat]:
    """Return f = (viscous + quadratic |y|) y and df/dy."""
    viscous, quadratic, size = numbers[k, VISCOUS], numbers[k, QUADRATIC], sqrt(dot(y, y))
    c = viscous + quadratic * size
    slope = times(c, UNIT)
    if size > 0.0:
        slope = plus(slope, times(quadratic / size, outer(y, y)))
    return scale(c, y), slope
