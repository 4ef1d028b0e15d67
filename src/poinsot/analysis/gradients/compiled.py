"""The discrete adjoint in machine code: of runs in directors, by the tables of the engine.

What parameters change are the numbers of tables. One sweep gives the gradient by all of these, and
how they change with a parameter is looked up beside the run, in the models near by.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poinsot.analysis.gradients.adjoint import Adjoint
from poinsot.analysis.gradients.beginnings import Tables
from poinsot.analysis.gradients.compression import Compressed
from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import TOGETHER, Run
from poinsot.analysis.losses import Bound
from poinsot.analysis.variations import Direction
from poinsot.errors import NoDerivativeError
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Memory, Totals
from poinsot.run.compiled import CompiledEngine, inputs_of
from poinsot.run.problem import Problem

#: So many steps does machine code take at once: what it reads and writes stays in the cache.
BLOCK = 2048


class UnableError(Exception):
    """Machine code does not go backwards through something, which is the message."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where steps can be taken from again: the first one, and all that was known there."""

    first: int
    x: Vector
    turned: Vector
    memory: Memory
    totals: Totals


class CompiledBackward(Adjoint):
    """The discrete adjoint of a loss, many steps at a time."""

    def __init__(self, run: Run, bound: Bound) -> None:
        super().__init__(run, bound)
        from poinsot.systems.compiled.backward import DirectorSweep, not_backwards
        from poinsot.systems.compiled.runner import DirectorRunner

        problem = run.problem
        if run.held is not None:
            raise UnableError("what controllers hold")
        engine = run.engine()
        runner = engine.runner if isinstance(engine, CompiledEngine) else None
        if not isinstance(runner, DirectorRunner):
            raise UnableError(f"'{problem.scheme.name}' in these coordinates")
        lacking = not_backwards(runner)
        if lacking:
            raise UnableError(lacking)
        redundant = runner.system.mechanism.redundant
        if redundant and any(channel.kind == "reaction" for channel in bound.channels):
            raise UnableError("reactions of joints of which some repeat others")
        self.engine, self.runner, self.sweep = engine, runner, DirectorSweep(runner)
        self.whole = len(problem.clock.fractions)
        # The states of a segment are there together.
        self.block = self.whole * BLOCK
        room = int(run.memory / (8 * problem.system.n)) // self.whole
        self.size = self.whole * max(TOGETHER, room)
        self.checkpoints: list[Checkpoint] = []

    @cached_property
    def changes(self) -> tuple[Array, Array]:
        """How numbers of bodies and joints change with parameters, and weights of models near by.

        Of these there are as many as differ in the numbers of what else acts; (parameters, ...)
        """
        count, sweep = len(self.run.variations.numbers), self.sweep
        rows = np.zeros((count, sweep.slopes.size))
        for k, slope in self.compressed.slopes.items():
            rows[k] = slope.numbers
        models = dict[bytes, Vector]()
        weights: list[dict[bytes, float]] = [{} for _ in range(count)]
        for k, direction in self.directions.items():
            own: dict[bytes, float] = {}
            for weight, problem in direction.nearby:
                numbers = sweep.numbers(problem.system)
                if numbers is None:
                    raise UnableError(f"'{direction.name}', which changes the structure of tables")
                rows[k] += weight * numbers[0]
                key = numbers[1].tobytes()
                models[key] = numbers[1]
                own[key] = own.get(key, 0.0) + weight
            weights[k] = own if len(own) > 1 else {}
        used = list(dict.fromkeys(key for own in weights for key in own))
        sweep.use([models[key] for key in used])
        by_model = [[own.get(key, 0.0) for key in used] for own in weights]
        return rows, np.array(by_model).reshape(count, len(used))

    @cached_property
    def compressed(self) -> Compressed:
        """What few models tell of many parameters, unless what else acts depends on them."""
        sizes = np.concatenate(self.sweep.sizes)

        def look(problem: Problem) -> Tables | None:
            found = self.sweep.numbers(problem.system)
            return found and Tables(np.concatenate(found), sizes, found[1].size)

        return Compressed(self.run.variations, look, self.measures_same)

    @cached_property
    def directions(self) -> Mapping[int, Direction]:
        """Those of all other numbers of parameters."""
        variations, known = self.run.variations, self.compressed.slopes
        others = (k for k in range(len(variations.numbers)) if k not in known)
        return {k: variations.direction(variations.numbers[k]) for k in others}

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, count = self.run, len(self.run.variations.numbers)
        by_numbers, by_models = self.changes
        value, slopes, x, turned = self._judged()
        self.sweep.end(x[-1], turned[-1])
        lam, found = np.zeros(run.problem.system.n), np.zeros(count)
        du = list[tuple[Vector, Array]]()
        for k in reversed(range(len(self.checkpoints))):
            point = self.checkpoints[k]
            if k + 1 < len(self.checkpoints):
                x, turned = self._segment(point)
            for first in reversed(range(0, len(x) - 1, self.block)):
                rows = slice(first, first + self.block + 1)
                added, inputs = self._back(point.first + first, x[rows], turned[rows], slopes, lam)
                found += added
                du.append(inputs)
        starts = {k: slope.dx0 for k, slope in self.compressed.slopes.items()}
        starts |= {k: direction.dx0 for k, direction in self.directions.items()}
        for k, dx0 in starts.items():
            found[k] += lam @ dx0
        found += by_numbers @ self.sweep.slopes + by_models @ self.sweep.by_nearby
        t, by_u = (np.concatenate(each) for each in zip(*du, strict=True))
        return Gradient(value, self.shaped(found, t, by_u), "compiled")

    def _judged(self) -> tuple[float, Array, Array, Array]:
        """Return the loss, its slopes by what is measured; states and angles of the last segment.

        Takes the whole run.
        """
        measure, whole, rows = self.measured(self.run.problem), self.whole, list[Array]()
        for x, turned in self._forwards():
            some = slice(whole if rows else 0, None, whole)
            rows.append(measure(x[some], turned[some]))
        return *self.judge(np.concatenate(rows)), x, turned

    def _back(
        self, first: int, x: Array, turned: Array, slopes: Array, lam: Vector
    ) -> tuple[Vector, tuple[Vector, Array]]:
        """Make lam, the gradient by the last of states x, that by the first, which is number first.

        What the loss is by the last ones is added, and by the first state of all. Returns what
        parameters that change measures add, and the gradient by inputs at times.
        """
        run, whole, last = self.run, self.whole, first + len(x) - 1
        clock, system = run.problem.clock, run.problem.system
        own = slice(0 if first == 0 else whole, None, whole)
        by_measures = slopes[(first + own.start) // whole : last // whole + 1]
        seeds = np.zeros_like(x)
        seeds[own] = self.measured(run.problem).back(
            by_measures, x[own], turned[own], run.linear.sizes
        )
        times = clock.span(clock.before + first, clock.before + last)
        u = inputs_of(system, times)
        by_u = np.zeros((len(u), u.shape[1] if run.variations.samples else 0))
        done = self.sweep.back(times, u, x, seeds, lam, by_u)
        if done < times.size - 1:
            t = float(times[times.size - 2 - done])
            raise NoDerivativeError(
                f"step at t = {t:g} s: the tangent is singular, or the motion is so sensitive "
                "that its gradient overflows; take a shorter run"
            )
        if first == 0:
            lam += seeds[0]
        added = self.by_parameters(x[own], turned[own], by_measures)
        return added, ((times[1:] + times[:-1]) / 2, by_u)

    def _forwards(self) -> Iterator[tuple[Array, Array]]:
        """Take the whole run; yield states and angles of every segment, its first ones included."""
        run, problem = self.run, self.run.problem
        totals, first = run.totals(), 0
        x, turned = problem.x, problem.turned
        while first < problem.clock.steps:
            memory = self.engine.memory()
            self.checkpoints.append(Checkpoint(first, x, turned, memory, totals.copy()))
            xs, turns = self._steps(first, x, turned, totals)
            yield xs, turns
            first, x, turned = first + len(xs) - 1, xs[-1].copy(), turns[-1].copy()

    def _segment(self, point: Checkpoint) -> tuple[Array, Array]:
        """Return states and angles from a checkpoint on, computed again."""
        self.engine.restore(point.memory)
        return self._steps(point.first, point.x, point.turned, point.totals.copy())

    def _steps(self, first: int, x: Vector, turned: Vector, totals: Totals) -> tuple[Array, Array]:
        """Return states and angles from one on to the end of its segment."""
        count = min(self.size, self.run.problem.clock.steps - first)
        xs, turns = np.empty((count + 1, x.size)), np.empty((count + 1, turned.size))
        xs[0], turns[0], done = x, turned, 0
        while done < count:
            most = min(self.block, count - done)
            block = self.run.advance(self.engine, first + done, most, 1, totals)
            rows = slice(done + 1, done + 1 + block.steps)
            xs[rows], turns[rows] = block.saved.x, block.saved.turned
            done += block.steps
        return xs, turns
