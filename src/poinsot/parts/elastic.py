r"""Springs of any law: the energy V(chi) of a coordinate, and its mean force over an increment.

The mean of dV/dchi from chi to chi + dchi is the force that a step needs: times dchi it is the
difference of V, so that the energy is exact. As dchi -> 0 the quotient of both loses all its
digits; where the mean is known to round-off without it, that is the better number.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poinsot.ph.derivatives import RELATIVE_STEP, ROUGH_STEP, SINGLE_STEP, mean_by_values, slope_by
from poinsot.ph.gradients import GAUSS_3, NODES, ROUND_OFF


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
        return self.scale * relative * max(1.0, abs(chi))


@dataclass(frozen=True, eq=False)
class ByForce(Elastic):
    """A spring whose force is known, and maybe its stiffness."""

    force: Callable[[float], float]
    stiffness: Callable[[float], float] | None = None

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
        if self.stiffness is not None:
            return mean, sum(w * s * self.stiffness(chi + s * dchi) for s, w in GAUSS_3)
        step = self._step(SINGLE_STEP, chi)
        if abs(dchi) < step:
            return mean, (self.force(chi + step) - forces[0]) / step / 2
        return mean, (forces[-1] - mean) / dchi


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
        step = self._step(RELATIVE_STEP, chi)
        V0, V1 = self.V(chi), self.V(chi + dchi)
        if abs(dchi) <= 2 * step:
            mean, slope = mean_by_values(self.V, chi, dchi, step)
            if abs(V1 - V0 - mean * dchi) <= ROUND_OFF * (abs(V0) + abs(V1)) or dchi == 0:
                return mean, slope
        mean, step = (V1 - V0) / dchi, self._step(ROUGH_STEP, chi)
        end = (self.V(chi + dchi + step) - self.V(chi + dchi - step)) / (2 * step)
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
