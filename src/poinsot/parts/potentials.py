r"""Potentials: springs of any law and fields, whose energy stays exact in discrete time.

V(chi(s(q))) with quadratic forms s has the discrete gradient

.. math:: \bar\nabla V = \frac{\Delta V}{\Delta\chi}\, G(q_m)^\top b,
          \qquad b \cdot \Delta s = \Delta\chi, \quad \Delta s = G(q_m)\,\Delta q,

with b the secant of the chart. It is directional by construction, and keeps the momenta since
G(q_m) does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.charts import Chart
from poinsot.frames.stacks import Forms
from poinsot.ph.derivatives import jacobian
from poinsot.ph.gradients import GAUSS_3, NODES, ROUND_OFF, Function, Gonzalez, Step
from poinsot.ph.matrices import Vector, dense


@dataclass(frozen=True, eq=False)
class Elastic:
    """The energy V(chi) of a spring and its derivatives; `exact` is False if dV is numerical."""

    V: Callable[[float], float]
    dV: Callable[[float], float]
    ddV: Callable[[float], float]
    exact: bool = True

    def mean(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return the mean of dV over the increment, and its derivative with respect to its end.

        By Gauss' rule where that is exact to round-off, as Simpson's rule (if dV itself is exact)
        or V tells; else the quotient of V and chi.
        """
        slopes = [self.dV(chi + s * dchi) for s in NODES]
        gauss = sum(w * slope for (_, w), slope in zip(GAUSS_3, slopes[1:4], strict=True))
        simpson = (slopes[0] + 4 * slopes[2] + slopes[4]) / 6
        largest = max(abs(slope) for slope in slopes)
        settled = self.exact and abs(gauss - simpson) <= ROUND_OFF * largest
        V0, V1 = self.V(chi), self.V(chi + dchi)
        agrees = abs(V1 - V0 - gauss * dchi) <= ROUND_OFF * (abs(V0) + abs(V1))
        if settled or agrees or dchi == 0:
            return gauss, sum(w * s * self.ddV(chi + s * dchi) for s, w in GAUSS_3)
        mean = (V1 - V0) / dchi
        return mean, (slopes[4] - mean) / dchi


def affine(force: float, stiffness: float, rest: float) -> "Affine":
    """Return a spring of the force `force` + `stiffness` (chi - `rest`)."""
    return Affine(
        V=lambda x: force * x + stiffness * (x - rest) ** 2 / 2,
        dV=lambda x: force + stiffness * (x - rest),
        ddV=lambda x: stiffness,
        force=force,
        stiffness=stiffness,
        rest=rest,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Affine(Elastic):
    """A spring of the force `force` + `stiffness` (chi - `rest`)."""

    force: float
    stiffness: float
    rest: float


@dataclass(frozen=True, eq=False)
class Potential(ABC):
    """An energy of the coordinates q of a few bodies."""

    name: str
    bodies: tuple[int, ...]

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

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        return self

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return False


@dataclass(frozen=True, eq=False)
class CoordinatePotential(Potential):
    """An energy V(chi) of a length, an angle or a displacement of a few bodies."""

    forms: Forms
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
        mean, mean_slope = self.law.mean(self.chart.value(s0), float(b @ ds))
        dchi1 = G1.T @ self.chart.slope(s1)
        tangent = np.outer(G.T @ b, mean_slope * dchi1) + mean * (
            dense(self.forms.curvature(b)) / 2 + G.T @ db @ G1
        )
        return mean * (G.T @ b), tangent

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
    in their space. Energy is exact; momenta are kept as far as V and this gradient are invariant.
    """

    forms: Forms
    V: Callable[[Vector], float]
    dV: Callable[[Vector], Vector]

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        return float(self.V(self.forms(q)))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        return np.asarray(dense(self.forms.G(q)).T @ self.dV(self.forms(q)))

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2, the inner one by finite differences of dV."""
        G = dense(self.forms.G(q))
        return np.asarray(G.T @ jacobian(self.dV, self.forms(q), rough=True) @ G)

    def step(self, a0: Vector, a1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient of V from a0 to a1, and its derivative by a1."""
        costate = Gonzalez().costate(Step(Function(self.V, self.dV, self.forms.m), a0, a1))
        return costate.z, dense(costate.dz) + costate.U @ costate.V.T

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        G = dense(self.forms.G(q0))
        z, inner = self.step(self.forms(q0), self.forms(q1))
        return np.asarray(G.T @ z), np.asarray(G.T @ inner @ G)

    def inner(self, q: Vector) -> Vector:
        """Return the sizes of d^2V/da^2 a on q, a itself and what it is made of."""
        a, G = self.forms(q), dense(self.forms.G(q))
        bend = abs(jacobian(self.dV, a, rough=True))
        return np.asarray(abs(G).T @ (bend @ (abs(a) + abs(G) @ abs(q))))
