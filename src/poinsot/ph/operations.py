"""Systems as operations: their equations on rows of a graph instead of numbers.

Such rows are compiled to machine code with all derivatives, see `graphs` and `compiled`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from poinsot.ph.graphs import Graph, Program
from poinsot.ph.matrices import Array, Matrix, Vector, dense

#: Rows of a graph: a vector of operations.
Rows: TypeAlias = Sequence[int]
#: A matrix of them, row by row.
Table: TypeAlias = Sequence[Rows]


class Operations(ABC):
    """A port-Hamiltonian system on rows of a graph, in the letters of `PHSystem`."""

    @abstractmethod
    def E(self, graph: Graph, x: Rows, dx: Rows) -> Rows:
        """Return E(x) dx."""

    @abstractmethod
    def z(self, graph: Graph, x: Rows) -> Rows:
        """Return the costate."""

    @abstractmethod
    def energies(self, graph: Graph, x: Rows) -> Rows:
        """Return the energy of each storage [J]."""

    @abstractmethod
    def flow(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> Rows:
        """Return (J - R) z - r + B u."""

    @abstractmethod
    def y(self, graph: Graph, x: Rows, z: Rows) -> Rows:
        """Return the outputs B^T z."""

    @abstractmethod
    def lost(self, graph: Graph, x: Rows, z: Rows) -> int:
        """Return the power dissipated, z·(R z + r) [W]."""

    def connected(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> list[tuple[Rows, Rows]]:
        """Return (u, y) of every port that is used up inside."""
        return []


class Computed(ABC):
    """A function of vectors that knows what operations it consists of."""

    @abstractmethod
    def __call__(self, *arguments: Vector) -> Array:
        """Return its values."""

    @abstractmethod
    def rows(self, graph: Graph, arguments: Rows) -> list[int] | None:
        """Return its values as rows of a graph, at rows that are the arguments; None: it cannot."""


@dataclass(frozen=True, eq=False)
class Written(Operations):
    """A system of n states and m inputs by programs.

    `matrices` gives J, R, B row by row and `storage` E, z and H, all of x; `resistance` gives r of
    (x, z). What does not `store` energy has no part of H.
    """

    n: int
    m: int
    matrices: Program
    storage: Program
    resistance: Program | None = None
    stores: bool = True

    def _tables(self, graph: Graph, x: Rows) -> tuple[Table, Table, Table]:
        """Return J, R and B."""
        n, m, rows = self.n, self.m, graph.include(self.matrices, x)
        split = n * n, 2 * n * n
        J, R, B = rows[: split[0]], rows[split[0] : split[1]], rows[split[1] :]
        return table(J, n), table(R, n), table(B, m) if m else [[] for _ in range(n)]

    def _stored(self, graph: Graph, x: Rows) -> tuple[Table, Rows, int]:
        """Return E, z and H."""
        n, rows = self.n, graph.include(self.storage, x)
        return table(rows[: n * n], n), rows[n * n : -1], rows[-1]

    def E(self, graph: Graph, x: Rows, dx: Rows) -> Rows:
        """Return E(x) dx."""
        return product(graph, self._stored(graph, x)[0], dx)

    def z(self, graph: Graph, x: Rows) -> Rows:
        """Return the costate."""
        return self._stored(graph, x)[1]

    def energies(self, graph: Graph, x: Rows) -> Rows:
        """Return H."""
        return [self._stored(graph, x)[2]] if self.stores else []

    def _effort(self, graph: Graph, x: Rows, z: Rows) -> Rows:
        """Return R z + r."""
        effort = product(graph, self._tables(graph, x)[1], z)
        if self.resistance is None:
            return effort
        r = graph.include(self.resistance, [*x, *z])
        return [graph.plus(a, b) for a, b in zip(effort, r, strict=True)]

    def flow(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> Rows:
        """Return (J - R) z - r + B u."""
        J, _, B = self._tables(graph, x)
        terms = product(graph, J, z), self._effort(graph, x, z), product(graph, B, u)
        return [graph.plus(graph.minus(a, b), c) for a, b, c in zip(*terms, strict=True)]

    def y(self, graph: Graph, x: Rows, z: Rows) -> Rows:
        """Return the outputs."""
        B = self._tables(graph, x)[2]
        return product(graph, [[row[k] for row in B] for k in range(self.m)], z)

    def lost(self, graph: Graph, x: Rows, z: Rows) -> int:
        """Return the power dissipated."""
        return dot(graph, z, self._effort(graph, x, z))


@dataclass(frozen=True, eq=False)
class JoinedOperations(Operations):
    """Systems joined at ports by constant laws u = N lambda - (K + D) y; see `Interconnection`.

    `shares` are the numbers of states and of inputs of each part; `joined`, `outer` and `exposed`
    are inputs and states as there, and `sizes` those of the joined ports.
    """

    parts: Sequence[Operations]
    shares: Sequence[tuple[int, int]]
    gain: Matrix
    N: Matrix
    joined: Sequence[int]
    outer: Sequence[int]
    exposed: Sequence[int]
    sizes: Sequence[int]

    def _parted(self, rows: Rows, which: int = 0) -> list[Rows]:
        """Return the shares of all parts, of states (0) or inputs (1)."""
        ends = np.cumsum([0, *(share[which] for share in self.shares)]).tolist()
        return [rows[a:b] for a, b in pairwise(ends)]

    def _lam(self, rows: Rows) -> Rows:
        """Return the multipliers of connections, which come last."""
        return rows[sum(n for n, _ in self.shares) :]

    def E(self, graph: Graph, x: Rows, dx: Rows) -> Rows:
        """Return diag(E_i, 0) dx."""
        pairs = zip(self.parts, self._parted(x), self._parted(dx), strict=True)
        own = [row for part, x_, dx_ in pairs for row in part.E(graph, x_, dx_)]
        return [*own, *(graph.number(0.0) for _ in self._lam(x))]

    def z(self, graph: Graph, x: Rows) -> Rows:
        """Return the parts' costates and the multipliers."""
        pairs = zip(self.parts, self._parted(x), strict=True)
        return [*(row for part, own in pairs for row in part.z(graph, own)), *self._lam(x)]

    def energies(self, graph: Graph, x: Rows) -> Rows:
        """Return the energies of all parts' storages."""
        pairs = zip(self.parts, self._parted(x), strict=True)
        return [row for part, own in pairs for row in part.energies(graph, own)]

    def _outputs(self, graph: Graph, x: Rows, z: Rows) -> Rows:
        pairs = zip(self.parts, self._parted(x), self._parted(z), strict=True)
        return [row for part, x_, z_ in pairs for row in part.y(graph, x_, z_)]

    def _inputs(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> tuple[Rows, Rows]:
        """Return the inputs of all parts, and the outputs of joined ports."""
        outputs = self._outputs(graph, x, z)
        y = [outputs[k] for k in self.joined]
        inputs = [graph.number(0.0)] * len(outputs)
        for k, row in zip(self.outer, u[: len(self.outer)], strict=True):
            inputs[k] = row
        by_lam = product(graph, numbers(graph, self.N), self._lam(z))
        by_y = product(graph, numbers(graph, self.gain), y)
        for k, a, b in zip(self.joined, by_lam, by_y, strict=True):
            inputs[k] = graph.minus(a, b)
        return inputs, y

    def flow(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> Rows:
        """Return every part's flow under its total input, and w - N^T y for every connection."""
        inputs, y = self._inputs(graph, x, z, u)
        shares = self._parted(x), self._parted(z), self._parted(inputs, 1)
        flow = list[int]()
        for part, x_, z_, u_ in zip(self.parts, *shares, strict=True):
            flow += part.flow(graph, x_, z_, u_)
        flow += product(graph, numbers(graph, -dense(self.N).T), y)
        for place, row in zip(self.exposed, u[len(self.outer) :], strict=True):
            flow[place] = graph.plus(flow[place], row)
        return flow

    def y(self, graph: Graph, x: Rows, z: Rows) -> Rows:
        """Return the outputs that are left, and multipliers at swapped ports."""
        outputs = self._outputs(graph, x, z)
        return [*(outputs[k] for k in self.outer), *(z[k] for k in self.exposed)]

    def lost(self, graph: Graph, x: Rows, z: Rows) -> int:
        """Return the power dissipated in parts and resistors."""
        pairs = zip(self.parts, self._parted(x), self._parted(z), strict=True)
        outputs = self._outputs(graph, x, z)
        y = [outputs[k] for k in self.joined]
        # Of K + D, skew and symmetric, D alone takes power.
        own = [part.lost(graph, x_, z_) for part, x_, z_ in pairs]
        return reduce(graph.plus, own, dot(graph, y, product(graph, numbers(graph, self.D), y)))

    @property
    def D(self) -> Matrix:
        """The conductance of resistors."""
        gain = dense(self.gain)
        return (gain + gain.T) / 2

    def connected(self, graph: Graph, x: Rows, z: Rows, u: Rows) -> list[tuple[Rows, Rows]]:
        """Return (u, y) of every port used up inside the parts, then of those joined here."""
        inputs, y = self._inputs(graph, x, z, u)
        shares = self._parted(x), self._parted(z), self._parted(inputs, 1)
        inside = []
        for part, x_, z_, u_ in zip(self.parts, *shares, strict=True):
            inside += part.connected(graph, x_, z_, u_)
        u = [inputs[k] for k in self.joined]
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [*inside, *((u[a:b], y[a:b]) for a, b in pairwise(ends))]


# -- sums of products ------------------------------------------------------------------------------


def dot(graph: Graph, a: Rows, b: Rows) -> int:
    """Return a·b."""
    terms = (graph.times(x, y) for x, y in zip(a, b, strict=True))
    return reduce(graph.plus, terms, graph.number(0.0))


def product(graph: Graph, A: Table, x: Rows) -> Rows:
    """Return A x."""
    return [dot(graph, row, x) for row in A]


def table(rows: Rows, columns: int) -> Table:
    """Return rows, one after the other, as a matrix with so many columns, if it has any."""
    return [rows[k : k + columns] for k in range(0, len(rows), columns or 1)]


def numbers(graph: Graph, A: Matrix) -> Table:
    """Return a matrix of numbers."""
    return [[graph.number(a) for a in row] for row in dense(A).tolist()]


def flat(A: Table) -> list[int]:
    """Return a matrix row by row."""
    return [entry for row in A for entry in row]


def constant(
    E: Matrix, J: Matrix, R: Matrix, B: Matrix, Q: Matrix, *, stores: bool = True
) -> Written:
    """Return a linear system, z = Q x and H = x·E^T Q x / 2."""
    graph, (n, m) = Graph(), B.shape
    x = [graph.variable(k) for k in range(n)]
    z, stored = product(graph, numbers(graph, Q), x), numbers(graph, E)
    H = graph.times(graph.number(0.5), dot(graph, product(graph, stored, x), z))
    matrices = [row for A in (J, R, B) for row in flat(numbers(graph, A))]
    return Written(
        n, m, graph.program(*matrices), graph.program(*flat(stored), *z, H), None, stores
    )
