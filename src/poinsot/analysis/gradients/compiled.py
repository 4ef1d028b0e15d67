"""The discrete adjoint in machine code: of runs in directors, by the tables of the engine.

What parameters change are the numbers of tables. One sweep gives the gradient by all of these, and
how they change with a parameter is looked up beside the run, in the models near by.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from poinsot.analysis.gradients.adjoint import Adjoint
from poinsot.analysis.gradients.beginnings import Tables
from poinsot.analysis.gradients.compression import WEIGHTS, Compressed
from poinsot.analysis.gradients.nearby import Nearby
from poinsot.analysis.gradients.readings import Read, Readings
from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import TOGETHER, Run
from poinsot.analysis.held import Memory as HeldMemory
from poinsot.analysis.held import Moment
from poinsot.analysis.losses import Bound
from poinsot.analysis.variations import Direction
from poinsot.errors import NoDerivativeError
from poinsot.ph.hosting import HostedRunner
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.motions import Prescribed
from poinsot.ph.runner import Memory, Totals
from poinsot.ph.signals import Constant, Signal, Table
from poinsot.ph.system import PHSystem
from poinsot.run.compiled import CompiledEngine, inputs_of
from poinsot.run.problem import Problem

#: So many steps does machine code take at once: what it reads and writes stays in the cache.
BLOCK = 2048


def _same(a: Signal | None, b: Signal | None) -> bool:
    """Tell whether two inputs are known to be the same."""
    match a, b:
        case Constant(), Constant():
            return np.array_equal(a.value, b.value)
        case Table(), Table():
            return np.array_equal(a.times, b.times) and np.array_equal(a.values, b.values)
        case Prescribed(), Prescribed():
            return a is b or (a.still and b.still)
    return a is b


class UnableError(Exception):
    """Machine code does not go backwards through something, which is the message."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where steps can be taken from again: the first one, and all that was known there."""

    first: int
    x: Vector
    turned: Vector
    memory: Memory
    held: HeldMemory | None
    totals: Totals


class CompiledBackward(Adjoint):
    """The discrete adjoint of a loss, many steps at a time."""

    def __init__(self, run: Run, bound: Bound) -> None:
        super().__init__(run, bound)
        from poinsot.systems.compiled.backward import DirectorSweep, not_backwards
        from poinsot.systems.compiled.hosted_backward import HostedSweep
        from poinsot.systems.compiled.runner import DirectorRunner

        problem = run.problem
        engine = run.engine(run.asked)
        taken = engine.runner if isinstance(engine, CompiledEngine) else None
        runner = taken.own if isinstance(taken, HostedRunner) else taken
        if not isinstance(runner, DirectorRunner):
            raise UnableError(f"'{problem.scheme.name}' in these coordinates")
        lacking = not_backwards(runner)
        if lacking:
            raise UnableError(lacking)
        redundant = runner.system.mechanism.redundant
        if redundant and any(channel.kind == "reaction" for channel in bound.channels):
            raise UnableError("reactions of joints of which some repeat others")
        self.engine, self.runner = engine, runner
        self.sweep = DirectorSweep(runner)
        if isinstance(taken, HostedRunner):
            first, last = problem.clock.before, problem.clock.before + problem.clock.steps
            self.sweep = HostedSweep(taken, problem.clock.span(first, last))
        self.readings = Readings.of(run)
        #: Controllers that take samples, if there are any.
        self.held = None if self.readings is not None else run.held
        self.whole = len(problem.clock.fractions)
        # The states of a segment are there together.
        self.block = self.whole * BLOCK
        room = int(run.memory / (8 * problem.system.n)) // self.whole
        self.size = self.whole * max(TOGETHER, room)
        self.checkpoints: list[Checkpoint] = []

    @cached_property
    def by_numbers(self) -> Array:
        """How numbers of bodies and joints change with parameters; (parameters, numbers)."""
        rows = np.zeros((len(self.run.variations.numbers), self.sweep.slopes.size))
        for k, slope in self.compressed.slopes.items():
            rows[k] = slope.numbers
        for k, nearby in self._numbers.items():
            rows[k] = sum(weight * numbers for weight, numbers, _ in nearby)
        return rows

    @cached_property
    def nearby(self) -> Nearby:
        """Models near by that differ in the numbers of what else acts."""
        found = Nearby(self.sweep.own)
        for k, nearby in self._numbers.items():
            if any(not np.array_equal(acting, nearby[0][2]) for _, _, acting in nearby):
                found.add(k, ((weight, acting) for weight, _, acting in nearby))
        slopes, problem = self.compressed.slopes, self.run.problem
        if self.run.variations.smooth:
            start = problem.clock.h, problem.x, problem.turned
            found.add_together(slopes, partial(self.sweep.probe, *start))
        else:
            for k, slope in slopes.items():
                if slope.acting.any():
                    weights = (WEIGHTS / slope.change).tolist()
                    models = self.sweep.own + slope.acting
                    found.add(k, zip(weights, models, strict=True))
        self.sweep.use(found.models)
        return found

    @cached_property
    def _numbers(self) -> dict[int, list[tuple[float, Vector, Vector]]]:
        """Of each direction weights, numbers of bodies and joints, and of what else acts."""
        found: dict[int, list[tuple[float, Vector, Vector]]] = {}
        for k, direction in self.directions.items():
            found[k] = []
            for weight, problem in direction.nearby:
                numbers = self.sweep.numbers(problem.system)
                if numbers is None:
                    raise UnableError(f"'{direction.name}', which changes the structure of tables")
                found[k].append((weight, *numbers))
        return found

    @cached_property
    def compressed(self) -> Compressed:
        """What few models tell of many parameters.

        Controllers, laws as functions, and multipliers at the start are left to others.
        """
        reacts = any(channel.kind == "reaction" for channel in self.bound.channels)
        alone = self.run.held is not None or bool(self.runner.parts.laws)
        alone = alone or (reacts and self.run.problem.system.stabilised)
        sizes = np.concatenate(self.sweep.sizes)

        def look(problem: Problem) -> Tables | None:
            found = None if alone else self.sweep.numbers(problem.system)
            return found and Tables(np.concatenate(found), sizes, found[1].size)

        def same(problem: Problem) -> bool:
            return self.measures_same(problem) and not self._feeds_others(problem)

        return Compressed(self.run.variations, look, same)

    @cached_property
    def directions(self) -> Mapping[int, Direction]:
        """Those of all other numbers of parameters."""
        variations, known = self.run.variations, self.compressed.slopes
        others = (k for k in range(len(variations.numbers)) if k not in known)
        return {k: variations.direction(variations.numbers[k]) for k in others}

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, count = self.run, len(self.run.variations.numbers)
        by_numbers, nearby = self.by_numbers, self.nearby
        value, slopes, x, turned = self._judged()
        self.sweep.end(x[-1], turned[-1])
        lam, found = np.zeros(run.problem.system.n), np.zeros(count)
        self.nu = np.zeros(0 if self.held is None else self.held.start[0].size)
        du = list[tuple[Vector, Array]]()
        for k in reversed(range(len(self.checkpoints))):
            point = self.checkpoints[k]
            if k + 1 < len(self.checkpoints):
                x, turned = self._segment(point)
            self.samples = self._sampled(point, x, turned)
            for first in reversed(range(0, len(x) - 1, self.block)):
                rows = slice(first, first + self.block + 1)
                added, inputs = self._back(point.first + first, x[rows], turned[rows], slopes, lam)
                found += added
                du.append(inputs)
        starts = {k: slope.dx0 for k, slope in self.compressed.slopes.items()}
        starts |= {k: direction.dx0 for k, direction in self.directions.items()}
        for k, dx0 in starts.items():
            found[k] += lam @ dx0
        found += by_numbers @ self.sweep.slopes + nearby.derivatives(self.sweep.by_nearby, count)
        if self.held is not None:
            found += run.by_start([*self.directions.values()], self.nu)
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
        u = self._inputs(system, times)
        wanted = run.variations.samples or self._fed_otherwise or run.held is not None
        by_u = np.zeros((len(u), u.shape[1] if wanted else 0))
        added = self.by_parameters(x[own], turned[own], by_measures)
        starts, read = [n for n in self.samples if first < n < last], None
        if self.readings is not None:
            u[:, self.readings.inputs] = self.readings.measured(run.problem, x[:-1], turned[:-1])
            read = self.readings.read(x[:-1], turned[:-1])
        for a, b in reversed([*pairwise([first, *starts, last])]):
            rows, states = slice(a - first, b - first), slice(a - first, b - first + 1)
            if self.held is not None:
                u[rows, self.held.columns] = self._held_in(a)
            self._sweep(times[states], u[rows], x[states], seeds[states], lam, by_u[rows], read)
            if self.held is not None:
                added += self._take_samples_back(a, by_u[rows], lam)
        if first == 0:
            lam += seeds[0]
        if self.readings is not None:
            at = x[:-1], turned[:-1]
            added += self.readings.by_parameters(self.directions, by_u, *at, added.size)
        for k, direction in self._fed_otherwise.items():
            for weight, other in direction.nearby:
                added[k] += weight * np.sum(by_u * self._inputs(other.system, times))
        return added, ((times[1:] + times[:-1]) / 2, by_u)

    def _sweep(
        self,
        times: Vector,
        u: Array,
        x: Array,
        seeds: Array,
        lam: Vector,
        by_u: Array,
        read: Read | None,
    ) -> None:
        """Go backwards in machine code, see `DirectorSweep.back`."""
        done = self.sweep.back(times, u, x, seeds, lam, by_u, read)
        if done < times.size - 1:
            t = float(times[times.size - 2 - done])
            raise NoDerivativeError(
                f"step at t = {t:g} s: the tangent is singular, or the motion is so sensitive "
                "that its gradient overflows; take a shorter run"
            )

    # -- controllers --------------------------------------------------------------------------

    def _sampled(self, point: Checkpoint, x: Array, turned: Array) -> dict[int, Moment]:
        """Return the moments of a segment at which controllers change what they hold.

        By the number of the step that begins there. What is measured at all of them is kept.
        """
        run, held, memory, clock = self.run, self.held, point.held, self.run.problem.clock
        found: dict[int, Moment] = {}
        if held is None or memory is None:
            return found
        first = clock.before + point.first
        times = clock.span(first, first + len(x) - 1)
        rows = [k for k in range(len(x) - 1) if k == 0 or held.changes(point.first + k)]
        x, turned = x[rows], turned[rows]
        known = held.measured(x, turned)
        for row, k in enumerate(rows):
            n, t, y = point.first + k, float(times[k]), [each[row] for each in known]
            found[n] = memory, n, t, x[row], turned[row]
            memory = held.decided(memory, n, t, y.__getitem__)
        self.rows = {n: row for row, n in enumerate(found)}
        nearby = {problem for each in self.directions.values() for _, problem in each.nearby}
        self.looks = {p: run.held_of(p).measured(x, turned) for p in {run.problem, *nearby}}
        return found

    def _held_after(self, n: int, problem: Problem) -> Vector:
        """Return what controllers of a model near by hold after a moment."""
        memory, _, t, _, _ = self.samples[n]
        y = [each[self.rows[n]] for each in self.looks[problem]]
        return self.run.held_of(problem).decided(memory, n, t, y.__getitem__)[0]

    def _held_in(self, n: int) -> Vector:
        """Return what controllers put into ports from step n on."""
        run, held = self.run, self.run.held
        assert held is not None
        last = n if n in self.samples else max(k for k in self.samples if k < n)
        found: Vector = self._held_after(last, run.problem)[held.places]
        return found

    def _take_samples_back(self, n: int, by_u: Array, lam: Vector) -> Vector:
        """Make lam, a gradient after controllers have changed what they hold, one before.

        With that by their inputs from there on. Returns what parameters of controllers add.
        """
        run, held = self.run, self.run.held
        assert held is not None
        np.add.at(self.nu, held.places, by_u[:, held.columns].sum(axis=0))
        if n not in self.samples:
            return np.zeros(len(self.directions))
        at = self.samples[n]
        of = [each.of(lambda p: self._held_after(n, p)) for each in self.directions.values()]
        added = np.array([np.sum(self.nu * each) for each in of])
        self.nu, by_x = held.back(self.nu, *at, run.linear.sizes)
        lam += by_x
        return added

    def _inputs(self, system: PHSystem, times: Vector) -> Array:
        """Return the inputs of all steps, and where drives lead to."""
        return self.sweep.inputs(system, inputs_of(system, times), times)

    @cached_property
    def _fed_otherwise(self) -> dict[int, Direction]:
        """Directions with other inputs in some of their models near by."""
        return {
            k: direction
            for k, direction in self.directions.items()
            if any(self._feeds_others(problem) for _, problem in direction.nearby)
        }

    def _feeds_others(self, problem: Problem) -> bool:
        """Tell whether another problem has other inputs."""
        ports = zip(self.run.problem.system.ports, problem.system.ports, strict=True)
        return not all(_same(port.signal, other.signal) for port, other in ports)

    def _forwards(self) -> Iterator[tuple[Array, Array]]:
        """Take the whole run; yield states and angles of every segment, its first ones included."""
        run, problem = self.run, self.run.problem
        if run.held is not None:
            run.held.restore(run.held.start)
        totals, first = run.totals(), 0
        x, turned = problem.x, problem.turned
        while first < problem.clock.steps:
            memory = self.engine.memory()
            held = None if run.held is None else run.held.memory()
            self.checkpoints.append(Checkpoint(first, x, turned, memory, held, totals.copy()))
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
