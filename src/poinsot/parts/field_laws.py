"""Fields by Python functions in the compiled engine, with as few calls as precision allows."""

from collections.abc import Sequence
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.laws import ENERGY, SLOPES, Remembering
from poinsot.kernels.quadrature import EPS, ROUND_OFF
from poinsot.parts.potentials import FieldPotential
from poinsot.ph.matrices import Vector

#: Changes of z, relative to it, that tell slopes: what is smaller may be noise of differences.
SEEN = 1e-9
#: Errors of z by slopes, relative to it: like those of the gradient, given or by differences. What
#: the round-off of V adds to z must not be larger either: no step converges beyond it.
EXACT, DIFFERENCES = 1e-14, 1e-13


class FieldLaw(Remembering):
    """The discrete gradient z(a0, a1) of a potential V, its slopes dz/da1, and V itself.

    Slopes are found by differences where Newton's method asks for them again in the same step; else
    they are those of before, corrected by every change of z (Broyden's update). Where a1 moves by
    so little that they foresee the change of z, only V is evaluated, so that the energy is exact.
    """

    def __init__(self, p: FieldPotential) -> None:
        self.p, self.size = p, p.forms.m
        self.error = DIFFERENCES if p.dV is None else EXACT
        self.a0 = self.a1 = self.z = np.full(self.size, nan)
        #: What a0 was made of.
        self.start: list[float] = []
        self.dz: NDArray[np.float64] | None = None
        #: How far off a change of z was that dz foresaw, relative to it.
        self.doubt = 1.0
        self.asked_at: list[float] = []
        self._known: tuple[list[float], float] = [], nan

    @property
    def memory(self) -> Vector:
        """The last z, where it was found, its slopes, and where these were asked for."""
        n = self.size
        places = [(each or n * [nan]) for each in (self.start, self.asked_at)]
        dz = np.full(n * n, nan) if self.dz is None else self.dz.reshape(-1)
        return np.concatenate([self.a0, self.a1, self.z, *places, dz, [self.doubt]])

    def restore(self, memory: Vector) -> None:
        """Go back to where `memory` was taken."""
        n = self.size
        *known, dz = np.split(memory[:-1], range(n, 6 * n, n))
        self.a0, self.a1, self.z, *places = known
        self.start, self.asked_at = ([] if np.isnan(p).any() else p.tolist() for p in places)
        self.dz = None if np.isnan(dz).all() else dz.reshape(n, n)
        self.doubt = float(memory[-1])

    def __call__(self, given: list[float], wanted: int) -> Sequence[float]:
        """Return V(a0); z; or z and its slopes."""
        start = given[: self.size]
        if wanted == ENERGY:
            return (self._V(start),)
        a0, a1 = np.array(start), np.array(given[self.size :])
        if wanted != SLOPES:
            return [*self._value(a0, a1, start).tolist()]
        if self.dz is None or start == self.asked_at:
            z, self.dz = self.p.step_and_slope(a0, a1)
            self.start, self.a0, self.a1, self.z, self.doubt = start, a0, a1, z, 1.0
        else:
            z = self._value(a0, a1, start)
        self.asked_at = start
        return [*z.tolist(), *self.dz.reshape(-1).tolist()]

    def _V(self, a: list[float]) -> float:
        """Return V where a step starts: that is where the one before ended."""
        if self._known[0] != a:
            self._known = a, self.p.V(np.array(a))
        return self._known[1]

    def _value(self, a0: Vector, a1: Vector, start: list[float]) -> Vector:
        """Return z, foreseen where that is as good."""
        if self.dz is not None and start == self.start:
            change = self.dz @ (a1 - self.a1)
            z = self.z + change
            if self.doubt * _largest(change) <= self.error * _largest(z):
                return self._with_energy(z, a1 - a0, self._V(start), self.p.V(a1))
        z = self.p.step(a0, a1)
        self._learn(a0, a1, z)
        self.start = start
        return z

    def _with_energy(self, z: Vector, e: Vector, V0: float, V1: float) -> Vector:
        """Return z with z e = V1 - V0, where that says more than round-off."""
        along = self.p.weights * e
        missing, known, square = V1 - V0 - float(z @ e), abs(V0) + abs(V1), float(e @ along)
        drowned = EPS * known > self.error * _largest(z) * sqrt(square)
        if square == 0 or (drowned and abs(missing) <= ROUND_OFF * known):
            return z
        return z + missing / square * along

    def _learn(self, a0: Vector, a1: Vector, z: Vector) -> None:
        """Let slopes explain the last change of z, to which both ends contribute alike."""
        if self.dz is not None:
            way, change = (a0 - self.a0) + (a1 - self.a1), z - self.z
            size, square = _largest(change), float(way @ way)
            if size > SEEN * _largest(z) and square > 0:
                off = change - self.dz @ way
                self.doubt = _largest(off) / size
                self.dz = self.dz + off[:, None] * (way / square)
        self.a0, self.a1, self.z = a0, a1, z


def _largest(a: Vector) -> float:
    """Return the largest size of a few numbers, sooner than NumPy does."""
    return float(max(map(abs, a.tolist())))
