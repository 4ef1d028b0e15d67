r"""Networks as machine code: a time step of members that are made of expressions.

The equations of `ph.general_stages` for what is joined to the ports of a mechanism, as operations
with all derivatives. Unknowns are the states w at the end of a step, and what those laws give that
can only be called:

.. math:: F(w, c, y) = 0, \qquad c = f(t, m(w, y)), \qquad u = u(w, c, y) .
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from poinsot.parts.control_laws import ControlLaw
from poinsot.parts.formula_laws import machine_code
from poinsot.ph.compiled import LARGEST, CompiledFunction
from poinsot.ph.graphs import Graph, Program
from poinsot.ph.network import Network
from poinsot.ph.operations import Operations, Rows
from poinsot.ph.regulators import Bound
from poinsot.ph.step_operations import StepOperations

#: What machine code is asked for: u, the power lost, F and m; the same with their slopes by y, w
#: and c; the sizes of the terms of F; inputs and outputs of ports, and the energy.
VALUES, SLOPES, SIZES, END = range(4)
#: Networks with more states than this are called.
MOST = 100
#: So many operations may a step have before it is differentiated.
LONG = LARGEST // 2


@dataclass(frozen=True, eq=False)
class NetworkCode:
    """A network as machine code, and the laws that it leaves to be called.

    It is given t, h, y, inputs left open, states at the start and at the end, and what laws gave.
    `sizes` are how many numbers each law measures and gives.
    """

    function: CompiledFunction
    laws: tuple[ControlLaw, ...]
    sizes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, network: Network) -> "NetworkCode | None":
        """Return it; None if members are not made of expressions, or of too many."""
        operations = network.system.operations if network.system.n <= MOST else None
        if operations is None:
            return None
        step = _NetworkStep(network, operations)
        if len(step.graph.rows) > LONG:
            return None
        function = machine_code(step.given, *step.programs())
        if function is None:
            return None
        sizes = [(sum(r.size for r, _, _ in b.places), b.drives.size) for b in step.called]
        return cls(function, tuple(b.regulator.law.called for b in step.called), tuple(sizes))


def code_of_slopes(network: Network) -> CompiledFunction | None:
    """Return the slopes of nu·F + p·u by inputs left open and states at the start.

    Given all that the network itself is, and then nu and p; None if it calls laws.
    """
    step = _step_of(network)
    return None if step is None else machine_code(step.asked, step.by_start())


def code_of_product(network: Network) -> CompiledFunction | None:
    """Return nu·F + p·u itself, given the same."""
    step = _step_of(network)
    return None if step is None else machine_code(step.asked, step.product())


def _step_of(network: Network) -> "_NetworkStep | None":
    """Return the step of a network whose laws are all expressions."""
    operations = network.system.operations if network.system.n <= MOST else None
    step = None if operations is None else _NetworkStep(network, operations)
    return None if step is None or step.called else step


class _NetworkStep:
    """The step of a network as rows of a graph.

    Arguments of the graph are those of the machine code, with corrections of storages that are not
    quadratic behind the states: see `StepOperations`.
    """

    def __init__(self, network: Network, system: Operations) -> None:
        self.network, self.system, self.graph = network, system, Graph()
        k, n, g = network.size, network.system.n - network.size, self.graph
        stores = enumerate(network.system.storages)
        curved = [(i, s.rows.tolist()) for i, s in stores if s.rows.size and not s.quadratic]
        self.count, self.n, self.known = k, n, 2 + k + network.m + 2 * n
        self.starts, self.unknowns = (
            range(self.known - each * n, self.known - each * n + n) for each in (2, 1)
        )
        self.open = range(2 + k, 2 + k + network.m)
        self.corrections = range(self.known, self.known + len(curved))
        t, self.h, *rest = (g.variable(place) for place in range(self.known))
        y, open_, x0, x1 = _parted(rest, k, network.m, n, n)
        zero = g.number(0.0)
        self.step = StepOperations(
            graph=g,
            system=system,
            algebraic=network.system.algebraic,
            curved=curved,
            x0=[zero] * k + x0,
            x1=y + x1,
            alphas=[g.variable(place) for place in self.corrections],
        )
        given, place = [zero] * network.direct + open_, self.corrections.stop
        self.u, self.m, self.called = list(given), list[int](), list[Bound]()
        for each in network.regulators:
            m, law = each.rows(g, self.step.mid, self.u, self.h), each.regulator.law
            found = law.rows(g, t, m)
            if found is None:
                called = [g.variable(place + i) for i in range(each.drives.size)]
                found, place = law.limited(g, called), place + each.drives.size
                self.m += m
                self.called.append(each)
            for at, row in zip(each.drives.tolist(), found, strict=True):
                self.u[at] = row
        #: The places of what laws give.
        self.gives = range(self.corrections.stop, place)
        #: How many numbers the machine code is given.
        self.given = self.known + len(self.gives)
        #: The same on the way back, with nu and p.
        self.asked = self.given + n + k
        self.flow = system.flow(g, self.step.mid, self.step.z, self.u)
        pairs = zip(self.step.e[k:], self.flow[k:], strict=True)
        self.F = [g.minus(e, g.times(self.h, flow)) for e, flow in pairs]
        self.lost = system.lost(g, self.step.mid, self.step.z)

    def programs(self) -> list[Program]:
        """Return what machine code is made of."""
        # The input of a terminal is its flow: it has no derivative.
        values = [*self.flow[: self.count], self.lost, *self.F, *self.m]
        followed = [*values[: self.count], *self.F, *self.m]
        by = [*range(2, 2 + self.count), *self.unknowns, *self.gives]
        slopes = [self.slope(row, place) for row in followed for place in by]
        return self._finished(values, [*values, *slopes], self.sizes(), self.ends())

    def slope(self, row: int, place: int) -> int:
        """Return the derivative of a row by an argument, through corrections as well."""
        g, total = self.graph, self.graph.slope(row, place)
        if place in self.unknowns or place in self.starts:
            for which, alpha in enumerate(self.corrections):
                through = g.slope(row, alpha)
                if g.value(through) != 0:
                    own = self.step.dcorrection(which, place)
                    total = g.plus(total, g.times(through, own))
        return total

    def by_start(self) -> Program:
        """Return the slopes of nu·F + p·u by inputs left open, and by states at the start."""
        row = self._product
        slopes = [self.slope(row, place) for place in (*self.open, *self.starts)]
        return self._finished(slopes)[0]

    def product(self) -> Program:
        """Return nu·F + p·u."""
        return self._finished([self._product])[0]

    @property
    def _product(self) -> int:
        g, first = self.graph, self.gives.stop
        rows = [*self.F, *self.flow[: self.count]]
        factors = (g.variable(first + k) for k in range(len(rows)))
        terms = (g.times(a, b) for a, b in zip(factors, rows, strict=True))
        return reduce(g.plus, terms, g.number(0.0))

    def sizes(self) -> list[int]:
        """Return the sizes of all that is rounded in F, by its slopes."""
        g, found = self.graph, []
        for row, e in zip(self.F, self.step.e[self.count :], strict=True):
            places = [*range(2, self.known), *self.gives]
            terms = (g.times(g.slope(row, place), g.variable(place)) for place in places)
            sizes = (g.apply("abs", term) for term in terms if g.value(term) != 0)
            found.append(reduce(g.plus, sizes, g.apply("abs", e)))
        return found

    def ends(self) -> list[int]:
        """Return inputs of all ports of members, then outputs, and the energy."""
        g, step, network = self.graph, self.step, self.network
        left = slice(network.direct, None)
        every = self.system.connected(g, step.mid, step.z, self.u)
        own = {port.name for port in network.joined_ports}
        named = zip(network.system.connected, every, strict=True)
        through = [pair for port, pair in named if port.name in own]
        through.append((self.u[left], self.system.y(g, step.mid, step.z)[left]))
        ports = [row for side in (0, 1) for pair in through for row in pair[side]]
        energies = self.system.energies(g, step.at(1.0))
        return [*ports, reduce(g.plus, energies, g.number(0.0))]

    def _finished(self, *wanted: Sequence[int]) -> list[Program]:
        """Return programs of rows, corrections filled in."""
        g, found = self.graph, Graph()
        known = [found.variable(place) for place in range(self.asked)]
        zero = found.number(0.0)
        states, laws = known[: self.known], known[self.known :]
        blank = [*states, *(zero for _ in self.corrections), *laws]
        alphas = [self.step.correction(which) for which in range(len(self.corrections))]
        corrections = found.include(g.program(*alphas), blank)
        arguments = [*states, *corrections, *laws]
        return [found.program(*found.include(g.program(*rows), arguments)) for rows in wanted]


def _parted(rows: Rows, *sizes: int) -> Iterable[list[int]]:
    """Return rows in groups of these sizes."""
    left = list(rows)
    for size in sizes:
        yield left[:size]
        left = left[size:]
