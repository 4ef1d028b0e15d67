r"""Potentials: springs of any law and fields, whose energy stays exact in discrete time.

V(chi(s(q))) with quadratic forms s has the discrete gradient

.. math:: \bar\nabla V = G(q_m)^\top a \,\frac{\Delta V}{a \cdot \Delta s},
          \qquad a = \frac{\partial\chi}{\partial s}(s(q_m)), \quad \Delta s = G(q_m)\,\Delta q,

which is directional by construction, and keeps the momenta since G(q_m) does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.charts import Chart
from poinsot.mechanics.forms import Forms
from poinsot.ph.derivatives import jacobian
from poinsot.ph.gradients import GAUSS_3, ROUND_OFF, Function, Gonzalez, Step
from poinsot.ph.matrices import Vector, dense

#: Increment [m or rad] below which a chart is as good as linear.
SMALL = 1e-7


@dataclass(frozen=True, eq=False)
class Potential:
    """An energy V(chi) of a length, an angle or a displacement of a few bodies.

    `V`, `dV`, `ddV` are the law and its derivatives.
    """

    name: str
    bodies: tuple[int, ...]
    forms: Forms
    chart: Chart
    V: Callable[[float], float]
    dV: Callable[[float], float]
    ddV: Callable[[float], float]

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        return float(self.V(self.chart.value(self.forms(q))))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        s = self.forms(q)
        return self.dV(self.chart.value(s)) * (dense(self.forms.G(q)).T @ self.chart.slope(s))

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2."""
        s, G = self.forms(q), dense(self.forms.G(q))
        chi, a = self.chart.value(s), self.chart.slope(s)
        curvature = dense(self.forms.curvature(a)) + G.T @ self.chart.bend(s) @ G
        return self.dV(chi) * curvature + self.ddV(chi) * np.outer(G.T @ a, G.T @ a)

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        q_mid = (q0 + q1) / 2
        s0, s1, s_mid = self.forms(q0), self.forms(q1), self.forms(q_mid)
        G, G1 = dense(self.forms.G(q_mid)), dense(self.forms.G(q1))
        a, bend = self.chart.slope(s_mid), self.chart.bend(s_mid)
        ds = G @ (q1 - q0)
        delta = float(a @ ds)  # what the chart's increment is to first order
        dchi, dchi_ds1 = self.chart.increment(s0, s1)
        mean, mean_slope = self._mean(self.chart.value(s0), dchi)
        # ds depends on q1 as s1 does, since the forms are quadratic.
        ddelta = G1.T @ a + G.T @ (bend @ ds) / 2
        ratio = dchi / delta if delta else 1.0
        dratio = np.zeros(q1.size)
        if abs(delta) > SMALL:  # the ratio is 1 + O(delta^2); below, its slope is only round-off
            dratio = (G1.T @ dchi_ds1 - ratio * ddelta) / delta
        kappa = mean * ratio
        dkappa = mean_slope * ratio * (G1.T @ dchi_ds1) + mean * dratio
        tangent = (
            np.outer(G.T @ a, dkappa)
            + kappa * (dense(self.forms.curvature(a)) + G.T @ bend @ G) / 2
        )
        return kappa * (G.T @ a), tangent

    def _mean(self, chi: float, dchi: float) -> tuple[float, float]:
        """Return the mean of dV over the increment, and its derivative with respect to its end."""
        mean = sum(w * self.dV(chi + s * dchi) for s, w in GAUSS_3)
        V0, V1 = self.V(chi), self.V(chi + dchi)
        if abs(V1 - V0 - mean * dchi) <= ROUND_OFF * (abs(V0) + abs(V1)) or dchi == 0.0:
            return mean, sum(w * s * self.ddV(chi + s * dchi) for s, w in GAUSS_3)
        mean = (V1 - V0) / dchi
        return mean, (self.dV(chi + dchi) - mean) / dchi


@dataclass(frozen=True, eq=False)
class FieldPotential:
    """An energy V of any points and directions of a few bodies, V(a) with a = s(q) stacked.

    The forms are the components of those vectors, linear in q; the discrete gradient is Gonzalez'
    in their space. Energy is exact; momenta are kept as far as V and this gradient are invariant.
    """

    name: str
    bodies: tuple[int, ...]
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
        return np.asarray(G.T @ jacobian(self.dV, self.forms(q)) @ G)

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        G = dense(self.forms.G(q0))
        function = Function(self.V, self.dV, self.forms.m)
        costate = Gonzalez().costate(Step(function, self.forms(q0), self.forms(q1)))
        inner = dense(costate.dz) + costate.U @ costate.V.T
        return np.asarray(G.T @ costate.z), np.asarray(G.T @ inner @ G)
