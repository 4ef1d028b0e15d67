r"""Fields whose potential is a formula: exact derivatives, and machine code of a whole step.

The discrete gradient of a potential V(a) over a step from a0 to a1 = a0 + e is [KB24, eq. (71)]

.. math:: z = \nabla V(a_m) + \alpha\, W e, \qquad
          \alpha = \frac{V(a_1) - V(a_0) - \nabla V(a_m) \cdot e}{e \cdot W e}

with weights W that measure points and directions alike. All of it is written as operations of one
graph, with the same care for digits as `FieldPotential` takes in Python.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.quadrature import EPS, FIRST, LAST, MIDDLE, ROUND_OFF
from poinsot.parts.formula_laws import machine_code
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.formulas import Formula
from poinsot.ph.graphs import Graph, Program
from poinsot.ph.matrices import Vector

#: A slope that is known to a smaller part than this drowns in round-off.
DROWNED = 1e-6


@dataclass(frozen=True)
class FieldFormula:
    """A potential V(a) by a formula of n variables with weights, and its exact derivatives."""

    formula: Formula
    weights: tuple[float, ...]

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.formula.variables)

    @cached_property
    def slopes(self) -> Program:
        """The gradient."""
        g, (V,) = self.formula.graph, self.formula.rows
        return g.program(*(g.slope(V, i) for i in range(self.n)))

    @cached_property
    def curvature(self) -> Program:
        """The Hessian, row by row; its lower triangle is the upper one."""
        g, (V,) = self.formula.graph, self.formula.rows
        second = {
            (i, j): g.slope(g.slope(V, i), j) for i in range(self.n) for j in range(i, self.n)
        }
        rows = (second[min(i, j), max(i, j)] for i in range(self.n) for j in range(self.n))
        return g.program(*rows)

    def V(self, a: Vector) -> float:
        """Return the potential [J]."""
        return float(self.formula(*a))

    def dV(self, a: Vector) -> Vector:
        """Return its gradient (n,)."""
        return np.array(self.slopes(*a), dtype=float)

    def ddV(self, a: Vector) -> NDArray[np.float64]:
        """Return its Hessian (n, n)."""
        return np.array(self.curvature(*a), dtype=float).reshape(self.n, self.n)

    @cached_property
    def machine_code(self) -> CompiledFunction | None:
        """Programs of a0 and a1: the discrete gradient; that and its slopes by a1; V(a0)."""
        step = _Step(self, Graph())
        energy = step.graph.program(step.V(step.a0))
        return machine_code(
            2 * self.n,
            step.graph.program(*step.z),
            step.graph.program(*step.z, *step.dz),
            energy,
        )


@dataclass(frozen=True, eq=False)
class _Step:
    """The discrete gradient as rows of a graph, whose variables are a0 and a1."""

    law: FieldFormula
    graph: Graph

    @cached_property
    def a0(self) -> list[int]:
        return [self.graph.variable(i) for i in range(self.law.n)]

    @cached_property
    def e(self) -> list[int]:
        g, n = self.graph, self.law.n
        return [g.apply("sub", g.variable(n + i), a) for i, a in enumerate(self.a0)]

    @cached_property
    def along(self) -> list[int]:
        g = self.graph
        return [g.times(g.number(w), e) for w, e in zip(self.law.weights, self.e, strict=True)]

    @cached_property
    def square(self) -> int:
        return self._dot(self.e, self.along)

    def at(self, share: float) -> list[int]:
        """Return the place on the way of which that share lies behind."""
        g = self.graph
        s = g.number(share)
        return [g.plus(a, g.times(s, e)) for a, e in zip(self.a0, self.e, strict=True)]

    def V(self, a: Sequence[int]) -> int:
        return self.graph.include(self.law.formula.program, a)[0]

    def dV(self, share: float) -> list[int]:
        return self.graph.include(self.law.slopes, self.at(share))

    @cached_property
    def middle(self) -> list[int]:
        return self.dV(MIDDLE)

    @cached_property
    def alpha(self) -> int:
        """What corrects the gradient at the midpoint: as in `elastic.mean_along`."""
        g = self.graph
        slopes = [self.dV(0.0), self.dV(FIRST), self.middle, self.dV(LAST), self.dV(1.0)]
        start, first, middle, last, end = [self._dot(dV, self.e) for dV in slopes]
        terms = [
            self._sum(g.apply("abs", g.times(a, b)) for a, b in zip(dV, self.e, strict=True))
            for dV in slopes
        ]
        gauss = self._mix((5 / 18, first), (8 / 18, middle), (5 / 18, last))
        simpson = self._mix((1 / 6, start), (4 / 6, middle), (1 / 6, end))
        V0, V1 = self.V(self.at(0.0)), self.V(self.at(1.0))
        rise = g.apply("sub", V1, V0)
        known = g.plus(g.apply("abs", V0), g.apply("abs", V1))
        either = g.plus(
            self._close(gauss, simpson, self._largest(terms)), self._close(gauss, rise, known)
        )
        numerator = g.apply("sub", g.apply("where", either, gauss, rise), middle)
        return self._unless_zero(g.over(numerator, self.square))

    @cached_property
    def z(self) -> list[int]:
        """The discrete gradient."""
        g = self.graph
        pairs = zip(self.middle, self.along, strict=True)
        return [g.plus(dV, g.times(self.alpha, e)) for dV, e in pairs]

    @cached_property
    def dz(self) -> list[int]:
        """Its derivative by a1, row by row; alpha's own is left out where it drowns."""
        g, n, half = self.graph, self.law.n, self.graph.number(0.5)
        bend = [g.times(half, c) for c in g.include(self.law.curvature, self.at(MIDDLE))]
        rows = [bend[n * i : n * (i + 1)] for i in range(n)]
        ends = zip(self.dV(1.0), self.middle, rows, self.along, strict=True)
        twice = g.times(g.number(2.0), self.alpha)
        gains = [
            g.minus(g.minus(g.minus(end, dV), self._dot(row, self.e)), g.times(twice, e))
            for end, dV, row, e in ends
        ]
        noise = g.times(g.number(EPS), self._largest(g.apply("abs", dV) for dV in self.middle))
        steep = self._largest(g.apply("abs", c) for c in bend)
        way = g.times(g.number(DROWNED), g.apply("sqrt", self.square))
        seen = g.apply("lt", noise, g.times(steep, way))
        found = []
        for i in range(n):
            for j in range(n):
                own = g.over(g.times(self.along[i], gains[j]), self.square)
                own = g.apply("where", seen, own, g.number(0.0))
                total = g.plus(rows[i][j], own)
                turned = g.times(self.alpha, g.number(self.law.weights[i]))
                found.append(g.plus(total, turned) if i == j else total)
        return found

    def _sum(self, rows: Iterable[int]) -> int:
        return reduce(self.graph.plus, rows)

    def _dot(self, a: Sequence[int], b: Sequence[int]) -> int:
        return self._sum(self.graph.times(x, y) for x, y in zip(a, b, strict=True))

    def _mix(self, *terms: tuple[float, int]) -> int:
        return self._sum(self.graph.times(self.graph.number(w), row) for w, row in terms)

    def _largest(self, rows: Iterable[int]) -> int:
        return reduce(lambda a, b: self.graph.apply("max", a, b), rows)

    def _close(self, a: int, b: int, size: int) -> int:
        """Return 1 where two numbers are the same but for the round-off of a size."""
        g = self.graph
        return g.apply("le", g.apply("abs", g.minus(a, b)), g.times(g.number(ROUND_OFF), size))

    def _unless_zero(self, row: int) -> int:
        """Return a quotient by the square of the way, or 0 where there is none."""
        g = self.graph
        zero = g.number(0.0)
        return g.apply("where", g.apply("gt", self.square, zero), row, zero)
