r"""Regulators: laws that set inputs in continuous time, as part of the equations of a step.

.. math:: u = f(t, m), \qquad m_i = y_i, \quad m_i = m_i^0 + \tfrac h2 y_i, \quad m_i = x_i

all at the midpoint of a step of size h: outputs of ports, their time integrals, and states. The
value of a quantity at the beginning of the step, m^0, is the input of a port without power. A
regulator may read the inputs that earlier ones set; their laws are substituted.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.general_stages import GeneralStages
from poinsot.ph.gradients import Step
from poinsot.ph.graphs import Graph
from poinsot.ph.linear import LinearSystem, linear
from poinsot.ph.matrices import Array, Vector, add, alike, scale_columns
from poinsot.ph.operations import Rows, Table, dot, flat, product, table
from poinsot.ph.ports import Port
from poinsot.ph.stages import Evaluation, Stage, Tangent
from poinsot.ph.system import State
from poinsot.so3 import cayley, skew

Indices: TypeAlias = NDArray[np.intp]

#: The ports of a regulator: for rates of its states, for what it measures at the beginning, and for
#: what it puts out for others alone.
RATES, MEASURED, OUTPUTS = "rates", "measured", "outputs"


class RegulatorLaw(ABC):
    """u = f(t, m), with slopes."""

    @abstractmethod
    def __call__(self, t: float, m: Vector) -> Vector:
        """Return the inputs at time t [s]."""

    @abstractmethod
    def slopes(self, t: float, m: Vector) -> Array:
        """Return du/dm; (outputs, measured)."""

    @property
    def gains(self) -> Array | None:
        """The slopes, if the law is u = gains m; else None."""
        return None

    def rows(self, graph: Graph, t: int, m: Rows) -> Rows | None:
        """Return the inputs as operations; None: the law is `called`."""
        return None

    @abstractmethod
    def limited(self, graph: Graph, found: Rows) -> Rows:
        """Return the inputs that follow from what a law that is called gives."""

    @property
    @abstractmethod
    def called(self) -> Any:
        """The law as a function with an address: it is given (t, m) and finds the inputs."""


@dataclass(frozen=True)
class Reading:
    """What a regulator measures: a rate, the integral of one, a rotation, a state, or inputs.

    `source` is the port whose output is the rate, or the state, by name; or the port whose `input`
    regulators before this one feed. What is `held` over a step has none. `size` is how many numbers
    are measured.
    """

    kind: Literal["rate", "integral", "rotation", "state", "input", "held"]
    source: str
    size: int

    @property
    def starts(self) -> bool:
        """Whether its value at the beginning of a step counts."""
        return self.kind in ("integral", "rotation", "held")


@dataclass(frozen=True, eq=False)
class Regulator:
    """A law by name, what it reads, and the ports that it feeds, in order.

    `states` are those of its own by name, which start at `start` one after the other.
    """

    name: str
    law: RegulatorLaw
    reads: tuple[Reading, ...]
    drives: tuple[str, ...]
    states: tuple[str, ...] = ()
    start: Vector = field(default_factory=lambda: np.zeros(0))

    @property
    def ports(self) -> list[str]:
        """All ports that it knows, those that it feeds last."""
        rates = [r.source for r in self.reads if r.kind not in ("state", "held")]
        began = [f"{self.name}.{MEASURED}"] if any(r.starts for r in self.reads) else []
        return [*rates, *began, *self.drives]


def regulator_system(
    name: str, states: Sequence[State], seen: int, told: int
) -> LinearSystem | None:
    """Return what a regulator adds to a system: states x' = u, ports for what it has seen and told.

    No energy is stored, H = 0, and no power flows through these ports. None if there is nothing.
    """
    n = sum(state.size for state in states)
    ports = [Port(RATES, n)] if n else []
    ports += [Port(MEASURED, seen)] if seen else []
    ports += [Port(OUTPUTS, told)] if told else []
    if not ports:
        return None
    zero, B = np.zeros((n, n)), np.hstack([np.eye(n), np.zeros((n, seen + told))])
    return linear(name, states=states, J=zero, Q=zero, B=B, ports=ports)


@dataclass(frozen=True, eq=False)
class Bound:
    """A regulator in a system: where what it reads is in x and u, and which inputs it feeds.

    For each reading its places in x, and those in u of its start, if that counts, or of inputs.
    """

    regulator: Regulator
    places: tuple[tuple[Reading, Indices, Indices], ...]
    drives: Indices

    @classmethod
    def to(
        cls,
        regulator: Regulator,
        outputs: Mapping[str, slice],
        states: Mapping[str, slice],
        inputs: Mapping[str, slice],
    ) -> "Bound":
        """Return a regulator by the places of outputs and states in x, and of inputs in u."""
        places, first = [], 0
        for reading in regulator.reads:
            at = began = np.zeros(0, dtype=np.intp)
            if reading.kind == "input":
                began = _indices(inputs[reading.source])
            elif reading.kind != "held":
                at = _indices((states if reading.kind == "state" else outputs)[reading.source])
            if reading.starts:
                began = _indices(inputs[f"{regulator.name}.{MEASURED}"])[first:][: reading.size]
                first += reading.size
            places.append((reading, at, began))
        drives = [_indices(inputs[name]) for name in regulator.drives]
        return cls(regulator, tuple(places), np.concatenate(drives))

    def measured(self, x: Vector, u: Vector, h: float) -> Vector:
        """Return what is measured at the midpoint of a step of size h [s]."""
        found = []
        for reading, at, began in self.places:
            match reading.kind:
                case "rate" | "state":
                    found.append(x[at])
                case "input" | "held":
                    found.append(u[began])
                case "integral":
                    found.append(u[began] + h / 2 * x[at])
                case "rotation":
                    turn = cayley(h / 2 * x[at])
                    found.append((turn @ u[began].reshape(3, 3)).reshape(-1))
        return np.concatenate(found)

    def rows(self, graph: Graph, x: Rows, u: Rows, h: int) -> Rows:
        """Return the same as operations."""
        half, found = graph.times(graph.number(0.5), h), list[int]()
        for reading, at, began in self.places:
            rates, start = [x[k] for k in at], [u[k] for k in began]
            ways = [graph.times(half, rate) for rate in rates]
            match reading.kind:
                case "rate" | "state":
                    found += rates
                case "input" | "held":
                    found += start
                case "integral":
                    found += [graph.plus(a, b) for a, b in zip(start, ways, strict=True)]
                case "rotation":
                    found += flat(_turned(graph, ways, table(start, 3)))
        return found

    def dmeasured(self, x: Vector, u: Vector, h: float, du: Array) -> Array:
        """Return its derivative by x, that of a turn to first order; du/dx of u is known."""
        found = []
        for reading, at, began in self.places:
            block = np.zeros((reading.size, x.size))
            match reading.kind:
                case "rate" | "state":
                    block[:, at] = np.eye(reading.size)
                case "input" | "held":
                    block = du[began]
                case "integral":
                    block[:, at] = h / 2 * np.eye(reading.size)
                case "rotation":
                    R = u[began].reshape(3, 3)
                    turned = [skew(axis) @ R for axis in np.eye(3)]
                    block[:, at] = h / 2 * np.stack([each.reshape(-1) for each in turned], axis=1)
            found.append(block)
        return np.concatenate(found)

    def dstart(self, inputs: int) -> Array:
        """Return the derivative of what is measured by all inputs; for those without a turn."""
        block, row = np.zeros((sum(r.size for r, _, _ in self.places), inputs)), 0
        for reading, _, began in self.places:
            block[row + np.arange(began.size), began] = 1.0
            row += reading.size
        return block

    @property
    def linear(self) -> bool:
        """Whether the law is linear, and what it measures is."""
        turns = any(reading.kind == "rotation" for reading, _, _ in self.places)
        return self.regulator.law.gains is not None and not turns


def _indices(piece: slice) -> Indices:
    return np.arange(piece.start, piece.stop)


def _turned(graph: Graph, w: Rows, R: Table) -> Table:
    """Return cayley(w) R as operations, see `so3.cayley`."""
    half, zero = [graph.times(graph.number(0.5), row) for row in w], graph.number(0.0)
    (a, b, c), (minus_a, minus_b, minus_c) = half, (graph.minus(zero, row) for row in half)
    S = [[zero, minus_c, b], [c, zero, minus_a], [minus_b, a, zero]]
    factor = graph.over(graph.number(2.0), graph.plus(graph.number(1.0), dot(graph, half, half)))

    def turned(column: Rows) -> Rows:
        # (I - S)^-1 (I + S) = I + 2 (S + S^2) / (1 + s·s).
        once = product(graph, S, column)
        more = zip(column, once, product(graph, S, once), strict=True)
        return [graph.plus(x, graph.times(factor, graph.plus(y, z))) for x, y, z in more]

    columns = [turned([row[k] for row in R]) for k in range(3)]
    return [[column[i] for column in columns] for i in range(3)]


def filled(bound: Sequence[Bound], t: float, x: Vector, u: Vector, h: float) -> Vector:
    """Return inputs with those that regulators feed, one after the other."""
    found = u.copy()
    for each in bound:
        found[each.drives] = each.regulator.law(t, each.measured(x, found, h))
    return found


def dfilled(bound: Sequence[Bound], t: float, x: Vector, u: Vector, h: float) -> Array:
    """Return the derivative by x of inputs that are filled in."""
    du = np.zeros((u.size, x.size))
    for each in bound:
        slopes = each.regulator.law.slopes(t, each.measured(x, u, h))
        du[each.drives] = slopes @ each.dmeasured(x, u, h, du)
    return du


@dataclass(frozen=True, eq=False)
class RegulatedStages(GeneralStages):
    """The stage equations of a system some of whose ports are fed by regulators."""

    bound: tuple[Bound, ...]

    def slopes(self, w: Vector) -> None:
        """Return none: what regulators read of the start is not symmetric in both ends."""

    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual at x1 = w, with the slopes of regulators in its tangent."""
        system, h, step = self.system, self.h, Step(self.system, self.x0, w)
        u = filled(self.bound, self.t, step.mid, self.u, h)
        here = self._with(u).evaluate(w)

        def tangent() -> Tangent:
            known, du = here.tangent(), dfilled(self.bound, self.t, step.mid, u, h)
            B = system.B(step.mid)
            by_u = scale_columns(B @ alike(du, B), step.weight(0.5))
            return Tangent(add(known.T, -h * by_u), known.U, known.V)

        return Evaluation(here.F, here.sizes, tangent, here.inner)

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return x1 and the stage at the midpoint."""
        mid = Step(self.system, self.x0, w).mid
        return self._with(filled(self.bound, self.t, mid, self.u, self.h)).finish(w)

    def _with(self, u: Vector) -> GeneralStages:
        """Return the equations with inputs that are known."""
        return GeneralStages(self.scheme, self.t, self.x0, u, self.h, self.system)
