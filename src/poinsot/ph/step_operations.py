r"""A time step as operations: the midpoint rule with Gonzalez' gradient, as in `gradients`.

.. math:: z = z(x_m) + \alpha\, e, \qquad
          \alpha = \frac{\Delta H - z(x_m) \cdot e}{e \cdot e}, \qquad e = E(x_m)(x_1 - x_0)

The corrections :math:`\alpha` of storages that are not quadratic are separate arguments: their
derivatives are left out where they are below round-off.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.gradients import NODES, ROUND_OFF
from poinsot.ph.graphs import Graph
from poinsot.ph.operations import Operations, Rows, dot
from poinsot.ph.stages import EPS

#: A slope that is known to a smaller part than this drowns in round-off.
DROWNED = 1e-6


@dataclass(frozen=True, eq=False)
class StepOperations:
    """A step of a system from x0 to x1, rows of a graph.

    `curved` are the places of those storages that are not quadratic among all, with the rows of
    states that each has, and `alphas` their corrections. `algebraic` states have one value.
    """

    graph: Graph
    system: Operations
    algebraic: NDArray[np.bool_]
    curved: Sequence[tuple[int, Sequence[int]]]
    x0: Rows
    x1: Rows
    alphas: Rows

    def at(self, s: float) -> Rows:
        """Return the state on the straight path, s in [0, 1]."""
        if s in (0.0, 1.0):
            path = self.x1 if s else self.x0
        else:
            path = [self._mix((1 - s, a), (s, b)) for a, b in zip(self.x0, self.x1, strict=True)]
        return [
            b if single else a for a, b, single in zip(path, self.x1, self.algebraic, strict=True)
        ]

    @cached_property
    def mid(self) -> Rows:
        """The midpoint state."""
        return self.at(0.5)

    @cached_property
    def dx(self) -> Rows:
        """x1 - x0, and zero for states without derivative."""
        g, zero = self.graph, self.graph.number(0.0)
        pairs = zip(self.x0, self.x1, self.algebraic, strict=True)
        return [zero if single else g.apply("sub", b, a) for a, b, single in pairs]

    @cached_property
    def e(self) -> Rows:
        """E(x_m)(x1 - x0)."""
        return self.system.E(self.graph, self.mid, self.dx)

    @cached_property
    def middle(self) -> Rows:
        """The costate at the midpoint."""
        return self.system.z(self.graph, self.mid)

    @cached_property
    def z(self) -> Rows:
        """The discrete costate."""
        g, z = self.graph, list(self.middle)
        for (_, rows), alpha in zip(self.curved, self.alphas, strict=True):
            for k in rows:
                z[k] = g.plus(z[k], g.times(alpha, self.e[k]))
        return z

    # -- corrections --------------------------------------------------------------------------

    def correction(self, which: int) -> int:
        """Return alpha of a curved storage; 0 where nothing moves."""
        g, (storage, rows) = self.graph, self.curved[which]
        square = self._square(rows)
        alpha = g.over(self._numerator(storage, rows), square)
        return self._where(g.apply("gt", square, g.number(0.0)), alpha)

    def dcorrection(self, which: int, place: int) -> int:
        """Return its derivative by an argument of x0 or x1; 0 where it drowns."""
        g, (storage, rows) = self.graph, self.curved[which]
        square, paired = self._square(rows), self._dot(rows, self.middle, self.e)
        H0, H1 = (self.system.energies(g, self.at(s))[storage] for s in (0.0, 1.0))
        gained = g.minus(g.minus(g.slope(H1, place), g.slope(H0, place)), g.slope(paired, place))
        own = g.times(self.alphas[which], g.slope(square, place))
        return self._where(self._seen(which), g.over(g.minus(gained, own), square))

    def _seen(self, which: int) -> int:
        """Return 1 where derivatives of alpha do not drown."""
        g, (storage, rows) = self.graph, self.curved[which]
        H1 = self.system.energies(g, self.x1)[storage]
        places = [k for k, single in zip(self._places, self.algebraic, strict=True) if not single]
        steep = self._largest(g.slope(H1, k) for k in places)
        bent = self._largest(g.slope(self.middle[row], k) for row in rows for k in places)
        way = g.apply("sqrt", self._square(rows))
        return g.apply(
            "lt", g.times(g.number(EPS), steep), g.times(g.number(DROWNED), g.times(bent, way))
        )

    @property
    def _places(self) -> list[int]:
        """The places that x1 has among the arguments."""
        return [self.graph.rows[row][1][0] for row in self.x1]

    def _square(self, rows: Sequence[int]) -> int:
        """Return e·e."""
        return self._dot(rows, self.e, self.e)

    def _numerator(self, storage: int, rows: Sequence[int]) -> int:
        """Return H1 - H0 - z·e without loss of digits, see `gradients.without_loss`."""
        g, along, work = self.graph, [], []
        for s in NODES:
            x = self.at(s)
            z, e = self.system.z(g, x), self.system.E(g, x, self.dx)
            along.append(self._dot(rows, z, e))
            sizes = ([g.apply("abs", row) for row in vector] for vector in (z, e))
            work.append(self._dot(rows, *sizes))
        start, first, middle, last, end = along
        near, far = (
            (g.minus(a, middle), g.minus(b, middle)) for a, b in ((first, last), (start, end))
        )
        gauss = self._mix((5 / 18, near[0]), (5 / 18, near[1]))
        simpson = self._mix((1 / 6, far[0]), (1 / 6, far[1]))
        H0, H1 = (self.system.energies(g, self.at(s))[storage] for s in (0.0, 1.0))
        difference = g.minus(g.minus(H1, H0), middle)
        known = g.plus(g.apply("abs", H0), g.apply("abs", H1))
        either = g.plus(
            self._close(gauss, simpson, self._largest(work)), self._close(difference, gauss, known)
        )
        return g.apply("where", either, gauss, difference)

    # -- sums ---------------------------------------------------------------------------------

    def _dot(self, rows: Sequence[int], a: Rows, b: Rows) -> int:
        return dot(self.graph, [a[k] for k in rows], [b[k] for k in rows])

    def _mix(self, *terms: tuple[float, int]) -> int:
        g = self.graph
        return reduce(g.plus, (g.times(g.number(weight), row) for weight, row in terms))

    def _largest(self, rows: Iterable[int]) -> int:
        g = self.graph
        sizes = (g.apply("abs", row) for row in rows)
        return reduce(lambda a, b: g.apply("max", a, b), sizes, g.number(0.0))

    def _close(self, a: int, b: int, size: int) -> int:
        """Return 1 where two numbers are the same but for the round-off of a size."""
        g = self.graph
        return g.apply("le", g.apply("abs", g.minus(a, b)), g.times(g.number(ROUND_OFF), size))

    def _where(self, test: int, row: int) -> int:
        return self.graph.apply("where", test, row, self.graph.number(0.0))
