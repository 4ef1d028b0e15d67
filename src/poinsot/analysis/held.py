"""Sampled controllers as discrete maps from step to step, with derivatives."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis.measured import Measured
from poinsot.errors import NoDerivativeError
from poinsot.kernels.sampling import OUTPUT, is_due
from poinsot.parts.fmus import FMULaw
from poinsot.ph.linear_steps import COEFFICIENTS, STEP
from poinsot.ph.matrices import Array, Vector
from poinsot.run.problem import Problem
from poinsot.systems.measuring import Measurement

#: Arrays of controllers that samples write to.
WRITTEN = "given", "found", "ring", "held", "last"
#: Numbers that are held, and when samples were taken.
Memory: TypeAlias = tuple[Vector, NDArray[np.int64]]
#: What is held before a step, its number, time [s], state and angles [rad] at its start.
Moment: TypeAlias = tuple[Memory, int, float, Vector, Vector]


class Held:
    """The controllers of a run: c1 = S(c0, x, p) is what they hold in a step from x.

    Parameters
    ----------
    problem : Problem
        A run that has not begun yet.
    """

    def __init__(self, problem: Problem) -> None:
        self.sampled, system = problem.sampled, problem.system
        for each in self.sampled.controllers:
            if isinstance(each.law, FMULaw):
                raise NoDerivativeError(
                    f"controller '{each.name}': derivatives of FMUs are not available"
                )
        self.measures = [Measured(each) for each in self.sampled.measurements]
        #: Of each controller, what it reads of controllers: which numbers, and where these are.
        self.signals = [_signals(each) for each in self.sampled.measurements]
        self.start = self.memory()
        before = sum(getattr(self.sampled.table, name).size for name in WRITTEN[:3])
        places: list[int] = []
        columns: list[int] = []
        rows = self.sampled.table.controllers.tolist()
        for at, each in zip(rows, self.sampled.controllers, strict=True):
            first = before + at[OUTPUT]
            for port in each.drives:
                piece = system.port_slices[port.name]
                places += range(first, first + port.size)
                columns += range(piece.start, piece.stop)
                first += port.size
        #: Where in memory the inputs are that they drive, and which inputs of the system these are.
        self.places, self.columns = np.array(places), np.array(columns)

    def memory(self) -> Memory:
        """Return a copy of what is held."""
        table = self.sampled.table
        held = np.concatenate([getattr(table, name).reshape(-1) for name in WRITTEN])
        return held, table.sampled.copy()

    def restore(self, memory: Memory) -> None:
        """Hold something else."""
        table, first = self.sampled.table, 0
        for name in WRITTEN:
            array = getattr(table, name)
            array[...] = memory[0][first : first + array.size].reshape(array.shape)
            first += array.size
        table.sampled[:] = memory[1]

    def due(self, number: int) -> list[int]:
        """Return which controllers take samples at the beginning of a step."""
        table = self.sampled.table
        return [c for c in range(len(self.measures)) if is_due(table, c, number)]

    def take(self, memory: Memory, number: int, t: float, x: Vector, turned: Vector) -> Memory:
        """Return what is held in a step from x."""
        return self.decided(memory, number, t, lambda c: self._measured(c, x, turned))

    def decided(
        self, memory: Memory, number: int, t: float, measured: Callable[[int], Vector]
    ) -> Memory:
        """Return what is held in a step, by what each controller measures that is due.

        What it reads of controllers is that of now, after those before it have decided.
        """
        self.restore(memory)

        def given(c: int) -> Vector:
            y = measured(c).copy()
            for own, kept in self.signals[c]:
                y[own] = kept
            return y

        self.sampled.sample_of(number, t, given)
        return self.memory()

    def _measured(self, c: int, x: Vector, turned: Vector) -> Vector:
        y: Vector = self.measures[c](x[None], turned[None])[0]
        return y

    def back(
        self,
        nu: Vector,
        memory: Memory,
        number: int,
        t: float,
        x: Vector,
        turned: Vector,
        sizes: Vector,
    ) -> tuple[Vector, Vector]:
        """Return what a gradient by c1 is by c0, and by x, whose components have these sizes."""
        self.restore(memory)
        due, by_x = self.due(number), np.zeros(x.size)
        known = {c: self._measured(c, x, turned) for c in due}
        ends = np.cumsum([0, *(known[c].size for c in due)])

        def of_memory(c: Vector) -> float:
            return float(nu @ self.decided((c, memory[1]), number, t, known.__getitem__)[0])

        def of_measured(y: Vector) -> float:
            given = {c: y[ends[k] : ends[k + 1]] for k, c in enumerate(due)}
            return float(nu @ self.decided(memory, number, t, given.__getitem__)[0])

        by_c = _slopes(of_memory, memory[0])
        by_y = _slopes(of_measured, np.concatenate([np.zeros(0), *known.values()]))
        self.restore(memory)
        for k, c in enumerate(due):
            weights = by_y[None, ends[k] : ends[k + 1]]
            by_x += self.measures[c].back(weights, x[None], turned[None], sizes)[0]
        return by_c, by_x

    def forward(
        self,
        dc: Array,
        dx: Array,
        memory: Memory,
        number: int,
        t: float,
        x: Vector,
        turned: Vector,
        sizes: Vector,
    ) -> Array:
        """Return columns of dc1 for those of dc0 and dx."""
        found = np.zeros_like(dc)
        for j in range(dc.shape[1]):
            large = max(np.max(abs(dx[:, j]) / sizes), np.max(abs(dc[:, j]), initial=0.0))
            way = STEP / large if large > 0 else 0.0
            for k, c in enumerate(COEFFICIENTS if way else (), start=1):
                for sign in (k, -k):
                    there = memory[0] + sign * way * dc[:, j], memory[1]
                    at = x + sign * way * dx[:, j]
                    value = self.take(there, number, t, at, turned)[0]
                    found[:, j] += np.sign(sign) * c * value / way
        return found


def _signals(measurement: Measurement) -> list[tuple[slice, Array]]:
    """Return which of the measured numbers are those of controllers, and where these are kept."""
    found, first = [], 0
    for channel in measurement.channels:
        own = slice(first, first := first + channel.size)
        if channel.kind == "signal":
            kind, place = measurement.signals[channel.owner]
            found.append((own, measurement.kept[kind][place]))
    return found


def _slopes(f: Callable[[Vector], float], x: Vector) -> Vector:
    """Return the derivative of a number by central differences of fourth order."""
    found = np.zeros(x.size)
    for j in range(x.size):
        shift = np.zeros(x.size)
        size = max(1.0, abs(x[j]))
        for k, c in enumerate(COEFFICIENTS, start=1):
            shift[j] = k * STEP * size
            found[j] += c * (f(x + shift) - f(x - shift)) / (STEP * size)
    return found
