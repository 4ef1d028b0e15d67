"""The discrete adjoint in machine code: of runs of mechanisms, by the tables of the engine.

What parameters change are the numbers of tables. One sweep gives the gradient by all of these, and
how they change with a parameter is looked up beside the run, in the models near by.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from poinsot.analysis.gradients.adjoint import Adjoint, alike
from poinsot.analysis.gradients.beginnings import Beginning, Tables
from poinsot.analysis.gradients.compression import WEIGHTS, Compressed
from poinsot.analysis.gradients.decisions import Decided, measured_in_machine_code
from poinsot.analysis.gradients.nearby import Nearby
from poinsot.analysis.gradients.results import Gradient
from poinsot.analysis.gradients.run import TOGETHER, Run
from poinsot.analysis.losses import Bound
from poinsot.analysis.measured import Measured
from poinsot.analysis.variations import Direction
from poinsot.engine.control_backward import Decisions
from poinsot.errors import NoDerivativeError
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.motions import Prescribed
from poinsot.ph.runner import Memory, Totals
from poinsot.ph.signals import Constant, Signal, Table
from poinsot.ph.system import PHSystem
from poinsot.run.compiled import CompiledEngine, inputs_of
from poinsot.run.problem import Problem
from poinsot.systems.compiled.backward import LossSlopes, Tabulated
from poinsot.systems.compiled.sweeps import sweep_of
from poinsot.systems.controlling import Held, Sampled

#: Paths of parameters of controllers begin so.
CONTROLLERS = "controllers."
#: So many steps does machine code take at once: what it reads and writes stays in the cache.
BLOCK = 2048


def _same(a: Signal | None, b: Signal | None) -> bool:
    """Tell whether two inputs are known to be the same."""
    match a, b:
        case Held(), Held():
            return True
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
    totals: Totals


class CompiledBackward(Adjoint):
    """The discrete adjoint of a loss, many steps at a time."""

    def __init__(self, run: Run, bound: Bound) -> None:
        super().__init__(run, bound)
        problem = run.problem
        engine, clock = run.engine(run.asked), problem.clock
        runner = engine.runner if isinstance(engine, CompiledEngine) else None
        times = clock.span(clock.before, clock.before + clock.steps)
        sweep = sweep_of(runner, times)
        if isinstance(sweep, str):
            raise UnableError(f"'{problem.scheme.name}': {sweep}")
        redundant = sweep.runner.system.mechanism.redundant
        if redundant and any(channel.kind == "reaction" for channel in bound.channels):
            raise UnableError("reactions of joints of which some repeat others")
        self.engine, self.sweep = engine, sweep
        #: What the loss measures, as far as machine code has its derivatives.
        self.seen = sweep.rows_of(self.measured(problem.system).measure)
        self.decided: Decided | None = None
        if run.held is not None:
            if not measured_in_machine_code(run.held, sweep):
                raise UnableError("controllers that read what machine code does not measure")
            self.decided = Decided(run, sweep.runner, run.held)
        self.whole = len(problem.clock.fractions)
        # The states of a segment are there together.
        self.block = self.whole * BLOCK
        width = problem.system.n + sweep.runner.sampling.trace.shape[1]
        room = int(run.memory / (8 * width)) // self.whole
        self.size = self.whole * max(TOGETHER, room)
        self.checkpoints: list[Checkpoint] = []
        self._tables: dict[Problem, tuple[Vector, Vector]] = {}

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
        found, acting = Nearby(self.sweep.acting), self.sweep.acting
        for k, nearby in self._numbers.items():
            if any(not np.array_equal(acting, nearby[0][2]) for _, _, acting in nearby):
                found.add(k, ((weight, acting) for weight, _, acting in nearby))
        slopes, problem = self.compressed.slopes, self.run.problem
        if self.run.variations.smooth:
            clock, near = problem.clock, (problem.x, problem.turned)
            times = clock.span(clock.before, clock.before + 1)
            step = times, self._inputs(problem.system, times)
            found.add_together(
                slopes, partial(self.sweep.probe, *step, near, self.run.linear.sizes)
            )
        else:
            for k, slope in slopes.items():
                if slope.acting.any():
                    weights = (WEIGHTS / slope.change).tolist()
                    models = acting + slope.acting
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
                numbers = self._tables.get(problem) or self.sweep.numbers(problem.system)
                if numbers is None:
                    raise UnableError(f"'{direction.name}', which changes the structure of tables")
                found[k].append((weight, *numbers))
        return found

    @property
    def _alone(self) -> bool:
        """Whether the multipliers at the start are measured, which only whole models have."""
        reacts = any(channel.kind == "reaction" for channel in self.bound.channels)
        return reacts and self.run.problem.system.stabilised

    @cached_property
    def compressed(self) -> Compressed:
        """What few models tell of many parameters; multipliers at the start are left to others."""
        alone = self._alone
        sizes = np.concatenate(self.sweep.sizes)

        def look(system: Tabulated) -> Tables | None:
            found = None if alone else self.sweep.numbers(system)
            return found and Tables(np.concatenate(found), sizes, found[1].size)

        def same(mechanism: Tabulated) -> bool:
            system = self._with_mechanism(mechanism)
            return self.measures_same(system) and self._reads_same(system)

        return Compressed(self.run.variations, look, same)

    def _with_mechanism(self, mechanism: Tabulated) -> PHSystem:
        """Return the system of the run with another mechanism."""
        system = self.run.problem.system
        hosting = system.hosting if isinstance(system, Interconnection) else None
        if hosting is None:
            return mechanism
        parts = hosting.whole.parts
        others = (*parts[: hosting.host], mechanism, *parts[hosting.host + 1 :])
        return replace(hosting.whole, parts=others)

    def _reads_same(self, system: PHSystem) -> bool:
        """Tell whether controllers measure the same of another system: seen at states anywhere."""
        if self.run.held is None:
            return True
        x, turned, _ = self._seen
        return all(
            alike(Measured(measure.measure.of(system))(x, turned), measure(x, turned))
            for measure in self.run.held.measures
        )

    @cached_property
    def _deciding(self) -> Mapping[int, Direction]:
        """Directions in which controllers may decide otherwise.

        A path leads to a part of the model, while a function may put its numbers anywhere.
        """

        def decides_alike(direction: Direction) -> bool:
            own = self.run.variations.by_paths and not direction.name.startswith(CONTROLLERS)
            return own and all(self._reads_same(each.system) for _, each in direction.nearby)

        return {k: each for k, each in self.directions.items() if not decides_alike(each)}

    @cached_property
    def directions(self) -> Mapping[int, Direction]:
        """Those of all other numbers of parameters."""
        count, known = len(self.run.variations.numbers), self.compressed.slopes
        return {k: self._direction(k) for k in range(count) if k not in known}

    def _direction(self, k: int) -> Direction:
        """Return the direction of a number, by models that are built in part if possible."""
        variations = self.run.variations
        beside = None if self._alone else self.compressed.beside(k)
        if beside is None:
            return variations.direction(variations.numbers[k])
        problems = map(self._problem_of, beside.begun)
        nearby = tuple(zip(beside.weights, problems, strict=True))
        return Direction(variations.numbers[k][0], nearby, beside.dx0)

    def _problem_of(self, begun: Beginning) -> Problem:
        """Return the run of another mechanism, with the start of this one."""
        problem, tables = self.run.problem, begun.tables
        system = self._with_mechanism(begun.system)
        own = problem.sampled.controllers, system, problem.clock.h, self.whole
        other = replace(problem, system=system, sampled=Sampled(*own))
        self._tables[other] = tables.numbers[: tables.acting.start], tables.numbers[tables.acting]
        return other

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, count = self.run, len(self.run.variations.numbers)
        by_numbers, nearby = self.by_numbers, self.nearby
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
        found += by_numbers @ self.sweep.slopes + nearby.derivatives(self.sweep.by_nearby, count)
        if self.decided is not None:
            found[[*self.directions]] += self.decided.by_start(self.directions.values())
        t, by_u = (np.concatenate(each) for each in zip(*du, strict=True))
        return Gradient(value, self.shaped(found, t, by_u), "compiled")

    def _judged(self) -> tuple[float, Array, Array, Array]:
        """Return the loss, its slopes by what is measured; states and angles of the last segment.

        Takes the whole run.
        """
        measure, whole, rows = self.measured(self.run.problem.system), self.whole, list[Array]()
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
        loss = self._loss_slopes(by_measures, x, turned, own)
        times = clock.span(clock.before + first, clock.before + last)
        u = self._inputs(system, times)
        wanted = run.variations.samples or self._fed_otherwise or self.decided is not None
        by_u = np.zeros((len(u), u.shape[1] if wanted else 0))
        added = self.by_parameters(x[own], turned[own], by_measures)
        if self.decided is None:
            self._sweep(times, u, x, loss, lam, by_u)
        else:
            trace = self.trace[first - self.traced : last - self.traced]
            self.decided.put_inputs(u, trace)
            decisions = self.decided.of_steps(first, trace)
            self._sweep(times, u, x, loss, lam, by_u, decisions)
            starts = x[:-1], turned[:-1]
            for k, more in self.decided.by_parameters(decisions, self._deciding, *starts).items():
                added[k] += more
            by_u[:, self.decided.held.columns] = 0.0
        if first == 0:
            lam += self._by_states(by_measures[:1], x[:1], turned[:1])[0]
        for k, direction in self._fed_otherwise.items():
            for weight, other in direction.nearby:
                added[k] += weight * np.sum(by_u * self._inputs(other.system, times))
        return added, ((times[1:] + times[:-1]) / 2, by_u)

    def _loss_slopes(self, by_measures: Array, x: Array, turned: Array, own: slice) -> LossSlopes:
        """Return the derivatives of the loss by some of the states, of what is measured of them."""
        if self.seen is None:
            by_states = np.zeros_like(x)
            by_states[own] = self._by_states(by_measures, x[own], turned[own])
            return LossSlopes(by_states=by_states)
        by_measured = np.zeros((len(x), by_measures.shape[1]))
        by_measured[own] = by_measures
        return LossSlopes(measured=self.seen, by_measured=by_measured)

    def _by_states(self, by_measures: Array, x: Array, turned: Array) -> Array:
        """Return derivatives by states, of those by what is measured, by differences."""
        system, sizes = self.run.problem.system, self.run.linear.sizes
        return self.measured(system).back(by_measures, x, turned, sizes)

    def _sweep(
        self,
        times: Vector,
        u: Array,
        x: Array,
        loss: LossSlopes,
        lam: Vector,
        by_u: Array,
        decisions: Decisions | None = None,
    ) -> None:
        """Go backwards in machine code, see `MechanismSweep.back`."""
        done = self.sweep.back(times, u, x, loss, lam, by_u, decisions)
        if done < times.size - 1:
            t = float(times[times.size - 2 - done])
            raise NoDerivativeError(
                f"step at t = {t:g} s: the tangent is singular, or the motion is so sensitive "
                "that its gradient overflows; take a shorter run"
            )

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
        if self.decided is not None:
            self.trace, self.traced = self.decided.traced(count), first
        while done < count:
            most = min(self.block, count - done)
            if self.decided is not None:
                self.decided.write_to(self.trace[done : done + most])
            block = self.run.advance(self.engine, first + done, most, 1, totals)
            rows = slice(done + 1, done + 1 + block.steps)
            xs[rows], turns[rows] = block.saved.x, block.saved.turned
            done += block.steps
        if self.decided is not None:
            self.decided.write_to(self.trace[:0])
            if not self.decided.is_complete(first, self.trace):
                raise UnableError("decisions of controllers in steps that were taken singly")
        return xs, turns
