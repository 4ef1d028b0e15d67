"""Springs with any law: the energy V(chi) of a coordinate, and its mean force over an increment.

The mean of dV/dchi from chi to chi + dchi is the force over a step: times dchi it is the difference
of V, so that energy is exact. As dchi -> 0 the quotient of both loses all its digits; where the
mean is known to round-off otherwise, that value is used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poinsot.kernels.quadrature import (
    AGREED,
    FIRST,
    HALVINGS,
    LAST,
    MIDDLE,
    POINTS,
    ROUND_OFF,
    SMALL,
    WEIGHTS,
)
from poinsot.ph.derivatives import RELATIVE_STEP, ROUGH_STEP, mean_by_values, slope_by


def mean_along(
    along: Sequence[float], size: float, V: Callable[[float], float], width: float
) -> float:
    """Return the mean of slopes of V on a path of a width, given at its `NODES`.

    By Gauss' rule where that is exact to round-off, as Simpson's rule tells by the `size` of their
    terms, or else V, a function of the share of the path that lies behind; else the quotient of V
    and the width.
    """
    start, first, middle, last, end = along
    gauss = (5 * first + 8 * middle + 5 * last) / 18
    simpson = (start + 4 * middle + end) / 6
    if abs(gauss - simpson) <= ROUND_OFF * size or width == 0:
        return gauss
    V0, V1 = V(0.0), V(1.0)
    if abs(V1 - V0 - gauss * width) <= ROUND_OFF * (abs(V0) + abs(V1)):
        return gauss
    return (V1 - V0) / width


#: Where slopes are taken on the path of a step: the places of Gauss' rule and both ends.
NODES = (0.0, FIRST, MIDDLE, LAST, 1.0)
#: Beyond so many cells nothing is remembered.
FARTHEST = 10_000


def integral(f: Callable[[float], float], start: float, end: float) -> float:
    """Return the integral of f, by halves of intervals where that makes a difference."""
    total, place, count, left = 0.0, 0, 1, HALVINGS
    while place < count:  # interval number `place` of `count` equal ones is next
        width = (end - start) / count
        a = start + place * width
        whole = [w * f(a + x * width) for x, w in zip(POINTS, WEIGHTS, strict=True)]
        halves = [
            w * f(a + (x + half) * width / 2) / 2
            for half in (0, 1)
            for x, w in zip(POINTS, WEIGHTS, strict=True)
        ]
        both = sum(halves)
        if left > 0 and abs(both - sum(whole)) > AGREED * sum(map(abs, halves)):
            place, count, left = 2 * place, 2 * count, left - 1
        else:
            total, place = total + both * width, place + 1
            while count > 1 and place % 2 == 0:
                place, count = place // 2, count // 2
    return total


class Integral:
    """The integral of a force from an origin on, as a function of its end.

    Whole cells between both are integrated once and remembered: a corner costs much but once.
    """

    def __init__(self, f: Callable[[float], float], origin: float, cell: float) -> None:
        self.f, self.origin, self.cell = f, origin, cell
        self._known = {0: 0.0}

    def __call__(self, x: float) -> float:
        """Return the integral up to x."""
        cells = (x - self.origin) / self.cell
        if not abs(cells) < FARTHEST:
            return integral(self.f, self.origin, x)
        k = int(cells)
        return self._to(k) + integral(self.f, self.origin + k * self.cell, x)

    def _to(self, k: int) -> float:
        """Return the integral over so many cells."""
        outwards = 1 if k > 0 else -1
        j = k
        while j not in self._known:
            j -= outwards
        while j != k:
            a, b = (self.origin + i * self.cell for i in (j, j + outwards))
            self._known[j + outwards] = self._known[j] + integral(self.f, a, b)
            j += outwards
        return self._known[k]


@dataclass(frozen=True, eq=False)
class Elastic(ABC):
    """The energy V(chi) of a spring; `scale` is the length over which it changes by much."""

    V: Callable[[float], float]
    scale: float

    @abstractmethod
    def dV(self, chi: float) -> float:
        """Return the force."""

    @abstractmethod
    def ddV(self, chi: float) -> float:
        """Return the stiffness."""

    @abstractmethod
    def mean(self, chi: float, dchi: float) -> float:
        """Return the mean force over the increment."""

    @abstractmethod
    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return it with its derivative by the end of the increment, good enough for Newton."""

    def _step(self, relative: float, chi: float) -> float:
        """Return a step of differences."""
        return relative * max(self.scale, abs(chi))


@dataclass(frozen=True, eq=False)
class ByForce(Elastic):
    """A spring whose force is known, and maybe its stiffness.

    If V is the integral of the force, `origin` is where it begins.
    """

    force: Callable[[float], float]
    stiffness: Callable[[float], float] | None = None
    origin: float | None = None

    def dV(self, chi: float) -> float:
        """Return the force."""
        return self.force(chi)

    def ddV(self, chi: float) -> float:
        """Return the stiffness."""
        if self.stiffness is not None:
            return self.stiffness(chi)
        return slope_by(self.force, chi, self._step(RELATIVE_STEP, chi))

    def _forces(self, chi: float, dchi: float) -> tuple[float, list[float]]:
        """Return the mean force, and the forces at the `NODES`."""
        forces = [self.force(chi + s * dchi) for s in NODES]
        size = max(map(abs, forces))
        return mean_along(forces, size, lambda s: self.V(chi + s * dchi), dchi), forces

    def mean(self, chi: float, dchi: float) -> float:
        """Return the mean force over the increment."""
        return self._forces(chi, dchi)[0]

    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return it with its derivative by the end of the increment."""
        mean, forces = self._forces(chi, dchi)
        step = self._step(SMALL, chi)
        if abs(dchi) > step:
            return mean, (forces[-1] - mean) / dchi
        if self.stiffness is not None:
            return mean, self.stiffness(chi) / 2
        return mean, (self.force(chi + step) - forces[0]) / step / 2


@dataclass(frozen=True, eq=False)
class ByEnergy(Elastic):
    """A spring of which nothing but the energy is known."""

    def dV(self, chi: float) -> float:
        """Return the force."""
        return slope_by(self.V, chi, self._step(RELATIVE_STEP, chi))

    def ddV(self, chi: float) -> float:
        """Return the stiffness."""
        return slope_by(self.dV, chi, self._step(RELATIVE_STEP, chi))

    def mean(self, chi: float, dchi: float) -> float:
        """Return the mean force over the increment."""
        return self.mean_and_slope(chi, dchi)[0]

    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return it with its derivative by the end of the increment."""
        return mean_by_energy(self.V, self.scale, chi, dchi)


def mean_by_energy(
    V: Callable[[float], float], scale: float, chi: float, dchi: float
) -> tuple[float, float]:
    """Return the mean of dV/dchi over an increment, and its derivative by the increment's end."""
    size = max(scale, abs(chi))
    step, V0, V1 = RELATIVE_STEP * size, V(chi), V(chi + dchi)
    if abs(dchi) <= 2 * step:
        mean, slope = mean_by_values(V, chi, dchi, step)
        if abs(V1 - V0 - mean * dchi) <= ROUND_OFF * (abs(V0) + abs(V1)) or dchi == 0:
            return mean, slope
    mean, step = (V1 - V0) / dchi, ROUGH_STEP * size
    end = (V(chi + dchi + step) - V(chi + dchi - step)) / (2 * step)
    return mean, (end - mean) / dchi


def affine(force: float, stiffness: float, rest: float) -> "Affine":
    """Return a spring of the force `force` + `stiffness` (chi - `rest`)."""
    return Affine(
        lambda x: force * x + stiffness * (x - rest) ** 2 / 2, 1.0, force, stiffness, rest
    )


@dataclass(frozen=True, eq=False)
class Affine(Elastic):
    """A spring of the force `force` + `stiffness` (chi - `rest`)."""

    force: float
    stiffness: float
    rest: float

    def dV(self, chi: float) -> float:
        """Return the force."""
        return self.force + self.stiffness * (chi - self.rest)

    def ddV(self, chi: float) -> float:
        """Return the stiffness."""
        return self.stiffness

    def mean(self, chi: float, dchi: float) -> float:
        """Return the mean force over the increment."""
        return self.dV(chi + dchi / 2)

    def mean_and_slope(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return it with its derivative by the end of the increment."""
        return self.mean(chi, dchi), self.stiffness / 2
