r"""Potentials: springs with any law, and fields, with exact energy in discrete time.

V(chi(s(q))) with quadratic forms s has the discrete gradient

.. math:: \bar\nabla V = \frac{\Delta V}{\Delta\chi}\, G(q_m)^\top b,
          \qquad b \cdot \Delta s = \Delta\chi, \quad \Delta s = G(q_m)\,\Delta q,

with the secant b of the chart. It is directional by construction, and conserves momenta because
G(q_m) does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.charts import Chart
from poinsot.frames.places import local
from poinsot.frames.stacks import Forms
from poinsot.kernels.quadrature import ROUND_OFF
from poinsot.parts.elastic import NODES, Elastic, mean_along
from poinsot.parts.field_formulas import FieldFormula
from poinsot.ph.derivatives import (
    COEFFICIENTS,
    RELATIVE_STEP,
    SINGLE_STEP,
    gradient,
    hessian,
    jacobian,
    odd_part,
)
from poinsot.ph.matrices import Vector, dense

#: Relative errors of derivatives, given or by differences.
EXACT, ROUGH = float(np.finfo(float).eps), 1e-10
_NODES = np.array(NODES)[:, None]
#: Steps of differences in a direction, ahead and back, and what odd parts of values weigh.
_OFFSETS = np.array([1.0, 2.0, 3.0, -1.0, -2.0, -3.0])[:, None, None]
_ODD = 2 * np.array(COEFFICIENTS)


@dataclass(frozen=True, eq=False)
class Potential(ABC):
    """An energy of the coordinates q of a few bodies."""

    name: str
    bodies: tuple[int, ...]
    #: What it depends on, on the frames of these bodies.
    forms: Forms

    @abstractmethod
    def energy(self, q: Vector) -> float:
        """Return V [J]."""

    @abstractmethod
    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""

    @abstractmethod
    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2."""

    @abstractmethod
    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""

    def inner(self, q: Vector) -> Vector:
        """Return the sizes of what cancels inside of dV/dq, as coordinates are rounded."""
        return np.asarray(abs(self.hessian(q)) @ abs(q))

    def finite(self, f: Vector) -> bool:
        """Tell whether it and its gradient are numbers at the frames f of all bodies."""
        q = local(f, self.bodies)
        with np.errstate(all="ignore"):
            return bool(np.isfinite(self.energy(q)) and np.all(np.isfinite(self.gradient(q))))

    def in_play(self, q: Vector) -> float:
        """Return the energy to a relative eps of which V is known by its own coordinate [J]."""
        return 0.0

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        return self

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return False


@dataclass(frozen=True, eq=False)
class CoordinatePotential(Potential):
    """An energy V(chi) of a length, an angle or a displacement of a few bodies."""

    chart: Chart
    law: Elastic

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        return float(self.law.V(self.chart.value(self.forms(q))))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        s = self.forms(q)
        return self.law.dV(self.chart.value(s)) * (dense(self.forms.G(q)).T @ self.chart.slope(s))

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2."""
        s, G = self.forms(q), dense(self.forms.G(q))
        chi, a = self.chart.value(s), self.chart.slope(s)
        curvature = dense(self.forms.curvature(a)) + G.T @ self.chart.bend(s) @ G
        return self.law.dV(chi) * curvature + self.law.ddV(chi) * np.outer(G.T @ a, G.T @ a)

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        q_mid = (q0 + q1) / 2
        s0, s1 = self.forms(q0), self.forms(q1)
        G, G1 = dense(self.forms.G(q_mid)), dense(self.forms.G(q1))
        ds = G @ (q1 - q0)
        b, db = self.chart.secant(s0, s1, ds)
        mean, mean_slope = self.law.mean_and_slope(self.chart.value(s0), float(b @ ds))
        dchi1 = G1.T @ self.chart.slope(s1)
        tangent = np.outer(G.T @ b, mean_slope * dchi1) + mean * (
            dense(self.forms.curvature(b)) / 2 + G.T @ db @ G1
        )
        return mean * (G.T @ b), tangent

    def in_play(self, q: Vector) -> float:
        """Return |chi dV/dchi|, with a force as large as the round-off of chi makes it."""
        chi = self.chart.value(self.forms(q))
        return float(abs(chi) * (abs(self.law.dV(chi)) + EXACT * abs(self.law.ddV(chi) * chi)))

    def inner(self, q: Vector) -> Vector:
        """Return the sizes of what cancels inside of dV/dq, k chi with k = d^2V/dchi^2 among it.

        That counts where q is small beside chi.
        """
        s, G = self.forms(q), dense(self.forms.G(q))
        chi = self.chart.value(s)
        along = abs(self.law.ddV(chi) * chi) * abs(G.T @ self.chart.slope(s))
        return np.asarray(along + super().inner(q))

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.chart.near(angles)
        return self if chart is self.chart else replace(self, chart=chart)

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return self.chart.loses(self.forms(q0), self.forms(q_mid))


@dataclass(frozen=True, eq=False)
class FieldPotential(Potential):
    """An energy V of any points and directions of a few bodies, V(a) with a = s(q) stacked.

    The forms are the components of those vectors, linear in q; the discrete gradient is Gonzalez'
    in their space, where points are measured in lengths of the mechanism, and directions by
    themselves. Energy is exact; momenta are kept as far as V and this gradient are invariant.
    `dV` and `ddV` are None where they are not known; `formula` is what all three are of, if any.
    `scales` is what V changes by much over, where vectors themselves are smaller; (vectors,).
    """

    V: Callable[[Vector], float]
    scales: Vector
    dV: Callable[[Vector], Vector] | None = None
    ddV: Callable[[Vector], NDArray[np.float64]] | None = None
    formula: FieldFormula | None = None

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        return float(self.V(self.forms(q)))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        return np.asarray(dense(self.forms.G(q)).T @ self._slopes(self.forms(q)))

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2."""
        G = dense(self.forms.G(q))
        return np.asarray(G.T @ self._bend(self.forms(q)) @ G)

    def _slopes(self, a: Vector) -> Vector:
        """Return dV/da."""
        return gradient(self.V, a, self._sizes(a)) if self.dV is None else self.dV(a)

    def _bend(self, a: Vector) -> NDArray[np.float64]:
        """Return d^2V/da^2, by finite differences of dV if it is not known."""
        if self.ddV is not None:
            return self.ddV(a)
        return jacobian(self._slopes, a, self._sizes(a), rough=True)

    def _sizes(self, a: Vector) -> Vector:
        """Return the size of the vector that a number belongs to, or its scale; (numbers,)."""
        vectors = a.reshape(-1, 3)
        sizes = np.maximum(self.scales, np.sqrt((vectors * vectors).sum(axis=1)))
        return np.asarray(sizes.repeat(3))

    @cached_property
    def weights(self) -> Vector:
        """What components count in the square of a way: those of equal scale alike; (numbers,)."""
        return weights(self.scales)

    def step(self, a0: Vector, a1: Vector) -> Vector:
        """Return the discrete gradient of V from a0 to a1 [KB24, eq. (71)]."""
        z, alpha, _ = self._parts(a0, a1)
        return z + alpha * (self.weights * (a1 - a0))

    def step_and_slope(self, a0: Vector, a1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return it with its derivative by a1, good enough for Newton."""
        z, alpha, end = self._parts(a0, a1)
        e, middle = a1 - a0, (a0 + a1) / 2
        along = self.weights * e
        sizes = self._sizes(middle)
        if self.ddV is not None:
            curvature, error = self.ddV(middle), EXACT
        elif self.dV is None:
            curvature, error = hessian(self.V, middle, sizes), ROUGH
        else:
            steps = SINGLE_STEP * sizes
            ahead = np.array([self.dV(a) for a in middle + np.diag(steps)])
            curvature, error = ((ahead - z) / steps[:, None]).T, EXACT
        dz, square = curvature / 2 + alpha * np.diag(self.weights), float(e @ along)
        # alpha's own derivative: a rank-one term, left out where it drowns in round-off.
        if square > 0 and error * abs(z).max() < 1e-6 * abs(dz).max() * sqrt(square):
            if end is None:
                end = gradient(self.V, a1, sizes, rough=True)
            dz += np.outer(along, end - z - curvature @ e / 2 - 2 * alpha * along) / square
        return z + alpha * along, dz

    def _parts(self, a0: Vector, a1: Vector) -> tuple[Vector, float, Vector | None]:
        """Return dV at the midpoint, what corrects it along a1 - a0, and dV at a1 if known."""
        e = a1 - a0
        square = float(e @ (self.weights * e))
        if self.dV is None:
            z, correction = self._by_values(a0, e)
            return z, correction / square if square > 0 else 0.0, None
        path = np.array([self.dV(a) for a in a0 + _NODES * e])
        along, size = (path @ e).tolist(), float((abs(path) @ abs(e)).max())
        rise = mean_along(along, size, lambda s: float(self.V(a0 + s * e)), 1.0)
        return path[2], (rise - along[2]) / square if square > 0 else 0.0, path[4]

    def _by_values(self, a0: Vector, e: Vector) -> tuple[Vector, float]:
        """Return dV at the midpoint by differences, and by how much V rises more than dV e.

        In units of `_sizes`, one direction of differences is that of e: its values also give the
        mean of dV along a way that is short beside them, where V1 - V0 loses its digits.
        """
        middle = a0 + e / 2
        sizes = self._sizes(middle)
        way = e / sizes
        length = sqrt(float(way @ way))
        directions = _directions(way, length)
        steps = (RELATIVE_STEP * sizes) * directions
        values = np.array([self.V(a) for a in middle + (_OFFSETS * steps).reshape(-1, e.size)])
        above, below = values.reshape(2, 3, -1)
        odd = (above - below) / 2
        z = (_ODD @ odd) @ directions / (RELATIVE_STEP * sizes)
        V0, V1 = self.V(a0), self.V(a0 + e)
        if length <= 2 * RELATIVE_STEP:
            _, c3, c5 = odd_part(*odd[:, 0].tolist())
            half = length / (2 * RELATIVE_STEP)
            correction = 2 * half**3 * (c3 + half * half * c5)
            if abs(V1 - V0 - float(z @ e) - correction) <= ROUND_OFF * (abs(V0) + abs(V1)):
                return z, correction
        return z, V1 - V0 - float(z @ e)

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        G = dense(self.forms.G(q0))
        z, inner = self.step_and_slope(self.forms(q0), self.forms(q1))
        return np.asarray(G.T @ z), np.asarray(G.T @ inner @ G)

    def inner(self, q: Vector) -> Vector:
        """Return the sizes of d^2V/da^2 a on q, a itself and what it is made of."""
        a, G = self.forms(q), dense(self.forms.G(q))
        return np.asarray(abs(G).T @ (abs(self._bend(a)) @ (abs(a) + abs(G) @ abs(q))))


def weights(scales: Vector) -> Vector:
    """Return what components of vectors count in a square, by what a potential changes over.

    Metres and numbers have no common length: each counts in its own scale. (3 vectors,)
    """
    return np.asarray(((scales[0] / scales) ** 2).repeat(3))


def _directions(way: Vector, length: float) -> NDArray[np.float64]:
    """Return orthonormal rows, as many as a vector has numbers; the first is along it unless 0."""
    unit = np.eye(way.size)
    if length == 0:
        return unit
    t = way / length
    normal = t - unit[0] if t[0] < 0 else t + unit[0]
    mirror = unit - np.outer(normal, normal) * (2 / float(normal @ normal))
    return mirror if t[0] < 0 else -mirror
