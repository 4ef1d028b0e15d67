"""A run whose steps can be looked at again, from either end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.held import Held, Memory, Moment
from poinsot.analysis.measured import Measured
from poinsot.analysis.variations import Chosen, Direction, Studied, Variations, equations_of
from poinsot.errors import InputError, NoDerivativeError, PoinsotError
from poinsot.inputs import positive
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.linear_steps import Linearisation, LinearStep, differences
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.newton import NewtonFailure, solve
from poinsot.ph.runner import Block, Totals, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton, StageEquations, require_newton
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel
from poinsot.run.engine import Engine
from poinsot.run.engines import ENGINES, choose_engine
from poinsot.run.problem import Compilable, Problem
from poinsot.systems.measuring import Measurement

#: So much memory do the states of a run take at most [bytes]; others are computed again.
MEMORY = 2**28
#: So many steps are looked at together.
TOGETHER = 256
#: Derivatives that stages give are checked in every so many steps.
CHECKED = 64


class Options(TypedDict, total=False):
    """How a run is taken, besides its step and end; see `gradient`."""

    t_start: float
    scheme: str | Scheme | None
    coordinates: str | None
    x0: ArrayLike | Mapping[str, ArrayLike] | None
    inputs: Mapping[str, Signal | ArrayLike] | None
    engine: str
    newton: Newton | None
    memory: float


@dataclass(frozen=True, eq=False)
class Taken:
    """A step that was taken: its equations, their solution, the angles [rad] at its start.

    `number` counts all substeps; t is the time at its start [s], and `memory` what controllers held
    before that.
    """

    equations: StageEquations
    w: Vector
    turned: Vector
    number: int
    t: float
    memory: Memory | None


class Run:
    """A run whose steps can be looked at again, some at a time, from either end."""

    def __init__(self, variations: Variations, engine: str, newton: Newton, memory: float) -> None:
        self.variations, self.problem = variations, variations.problem
        problem, self.newton, self.asked = variations.problem, newton, engine
        self.memory = memory
        self._held: dict[Problem, Held] = {}
        self.held = self.held_of(problem) if problem.sampled.controllers else None
        #: What controllers hold before each of the steps from which states are kept.
        self.memories: list[Memory] = []
        self._rows: tuple[Array, Array] | None = None
        system, clock, size = problem.system, problem.clock, problem.system.n
        if self.held is not None:
            size += sum(each.size for each in self.held.start)
        self.every = max(1, int(np.ceil(16 * size * clock.whole / memory)))
        whole = len(clock.fractions)
        self.times = clock.span(clock.before, clock.steps)[::whole]
        self.linear = Linearisation(system.sizes(problem.x), ~system.algebraic)

    @classmethod
    def of(
        cls,
        model: Studied,
        chosen: Chosen,
        *,
        h: float,
        t_end: float,
        t_start: float = 0.0,
        scheme: str | Scheme | None = None,
        coordinates: str | None = None,
        x0: Any = None,
        inputs: Mapping[str, Signal | ArrayLike] | None = None,
        engine: str = "auto",
        newton: Newton | None = None,
        memory: float = MEMORY,
    ) -> "Run":
        """Return the run that a user asks for."""
        if engine not in ENGINES:
            raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")

        def pose(made: PHSystem | Compilable, start: Any, trusted: bool) -> Problem:
            span = h, t_start, t_end
            return Problem.of(made, scheme, coordinates, span, start, None, inputs, trusted=trusted)

        options = Newton() if newton is None else require_newton(newton)
        room = positive(memory, "memory")
        return cls(Variations(model, chosen, pose, inputs, x0), engine, options, room)

    def held_of(self, problem: Problem) -> Held:
        """Return the controllers of a run."""
        if problem not in self._held:
            self._held[problem] = Held(problem)
        return self._held[problem]

    # -- forwards -----------------------------------------------------------------------------

    @property
    def rows(self) -> tuple[Array, Array]:
        """States and angles after every `self.every` steps, from the start on."""
        if self._rows is None:
            self.look(lambda x, turned: x[:, :0])
        assert self._rows is not None
        return self._rows

    def look(self, measure: Callable[[Array, Array], Array]) -> Array:
        """Take the run; return what is measured at the start and after every step.

        Some of the states are kept, see `rows`.
        """
        x, turned = self.problem.x[None], self.problem.turned[None]
        found, kept = [measure(x, turned)], [(x, turned)]
        for first, x, turned in self.blocks():
            found.append(measure(x, turned))
            due = (first + 1 + np.arange(len(x))) % self.every == 0
            kept.append((x[due], turned[due]))
        xs, turns = (np.concatenate(each) for each in zip(*kept, strict=True))
        self._rows = xs, turns
        return np.concatenate(found)

    def blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the number of the first step, states at the ends of steps, and angles."""
        clock, whole = self.problem.clock, len(self.problem.clock.fractions)
        asked = self.asked if self.held is None else "reference"
        engine, totals, done, segment = self.engine(asked), self.totals(), 0, self.every * whole
        if self.held is not None:
            self.held.restore(self.held.start)
            self.memories = []
        while done < clock.steps:
            count = min(TOGETHER * whole, clock.steps - done)
            if self.held is not None:
                count = min(count, segment - done % segment)
                if done % segment == 0:
                    self.memories.append(self.held.memory())
            block = self.advance(engine, done, count, whole, totals)
            yield done // whole, block.saved.x.copy(), block.saved.turned.copy()
            done += block.steps

    def engine(self, asked: str) -> Engine:
        """Return what takes the steps of the run, at its start."""
        return choose_engine(self.problem, asked, self.newton)

    def totals(self) -> Totals:
        """Return sums over steps, before the first one."""
        problem, system = self.problem, self.problem.system
        supplied = np.zeros(len(system.ports) + len(system.connected))
        energy = system.near(problem.turned).H(problem.x)
        return Totals(energy, 0.0, supplied, problem.turned)

    def advance(
        self, engine: Engine, first: int, count: int, save_every: int, totals: Totals
    ) -> Block:
        """Take up to so many substeps; one that fails has no derivative."""
        clock = self.problem.clock
        try:
            block = engine.advance(clock, first, count, save_every, totals)
        except (NewtonFailure, PoinsotError) as error:
            t = float(clock.at(first))
            raise NoDerivativeError(
                f"the step from t = {t:g} s fails, so that there is no run to derive: {error}"
            ) from error
        if block.split_steps:
            raise NoDerivativeError(
                f"a step before t = {block.reached:g} s was taken in pieces, whose sizes "
                "change with parameters; take smaller steps"
            )
        return block

    def step(
        self, n: int, x: Vector, turned: Vector, x1: Vector | None, memory: Memory | None
    ) -> tuple[list[Taken], Memory | None]:
        """Return step n from x, in its substeps, and what controllers hold then.

        Its end is near x1 if that is known; before it they hold `memory`.
        """
        problem, clock = self.problem, self.problem.clock
        whole = len(clock.fractions)
        ends = clock.span(clock.before + n * whole, clock.before + (n + 1) * whole)
        taken = []
        for k in range(whole):
            start, end, number, before = float(ends[k]), float(ends[k + 1]), n * whole + k, memory
            if self.held is not None and memory is not None:
                memory = self.held.take(memory, number, start, x, turned)
            system, t, h = problem.system.near(turned), (start + end) / 2, end - start
            known = problem.scheme, t, x, system.u_of_step(t, h), h
            equations = stage_equations(system.remembering(), *known)
            guess = equations.guess
            if x1 is not None and whole == 1:
                guess = equations.guess_of(x1)
            try:
                found = solve(equations.evaluate, guess, self.newton, equations.labels)
            except NewtonFailure as failure:
                raise NoDerivativeError(
                    f"the step from t = {start:g} s fails: {failure.reason}"
                ) from None
            own = stage_equations(system, *known)
            taken.append(Taken(own, found.x, turned, number, start, before))
            x, _ = equations.finish(found.x)
            turned = counted(system.angles(x), turned)
        return taken, memory

    def segment(self, first: int, last: int) -> tuple[list[list[Taken]], Array, Array]:
        """Return steps from `first` to `last`, and all states and angles there; (steps + 1, ...).

        The first is one of those after which states are kept.
        """
        xs, turns = self.rows
        states, angles, steps = [], [], []
        memory: Memory | None = None
        for n in range(first, last):
            if n % self.every == 0:
                k = n // self.every
                x, turned = xs[k], turns[k]
                memory = None if self.held is None else self.memories[k]
            states.append(x)
            angles.append(turned)
            end = xs[n + 1] if self.every == 1 else None
            step, memory = self.step(n, x, turned, end, memory)
            steps.append(step)
            x, _ = step[-1].equations.finish(step[-1].w)
            turned = counted(self.problem.system.angles(x), step[-1].turned)
        return steps, np.array([*states, x]), np.array([*angles, turned])

    def segments(self) -> list[tuple[int, int]]:
        """Return the first step of each segment, and the one after its last."""
        size, steps = self.every * -(-TOGETHER // self.every), self.problem.clock.whole
        return [(k, min(k + size, steps)) for k in range(0, steps, size)]

    def by_start(self, directions: Sequence[Direction], nu: Vector) -> Vector:
        """Return the derivative by parameters of a gradient nu by what is held at the start."""
        starts = [each.of(lambda p: self.held_of(p).start[0]) for each in directions]
        return np.array([nu @ each if isinstance(each, np.ndarray) else 0.0 for each in starts])

    # -- steps and parameters -----------------------------------------------------------------

    def linear_step(self, taken: Taken) -> LinearStep:
        """Return the linear map of a step."""
        t = taken.equations.t
        try:
            return self.linear(taken.equations, taken.w, check=taken.number % CHECKED == 0)
        except NoDerivativeError as error:
            raise NoDerivativeError(f"step at t = {t:g} s: {error}") from None

    def by(self, directions: Sequence[Direction], taken: Taken) -> tuple[Array, Array]:
        """Return dF and dM by parameters, a column each."""
        base, w = taken.equations, taken.w
        dF = np.zeros((w.size, len(directions)))
        dM = np.zeros((base.x0.size, len(directions)))
        own: list[tuple[Vector, Vector | float]] = []

        def ends(problem: Problem) -> tuple[Vector, Vector | float]:
            if problem is self.problem and own:
                return own[0]
            columns = None if self.held is None else self.held.columns
            there = equations_of(problem, base, taken.turned, columns)
            end = there.finish(w)[0] if base.ends_by_parameters else 0.0
            if problem is self.problem:
                own.append((there.residual(w), end))
                return own[0]
            return there.residual(w), end

        for k, direction in enumerate(directions):
            for weight, problem in direction.nearby:
                F, M = ends(problem)
                dF[:, k] += weight * F
                dM[:, k] += weight * M
        return dF, dM

    def by_samples(self, directions: Sequence[Direction], *at: *Moment) -> Array:
        """Return the derivative of what controllers hold by parameters, a column each.

        After they have taken samples at a moment, see `Held.take`.
        """
        assert self.held is not None
        found = np.zeros((self.held.start[0].size, len(directions)))
        for k, direction in enumerate(directions):
            for weight, problem in direction.nearby:
                found[:, k] += weight * self.held_of(problem).take(*at)[0]
        return found

    def by_inputs(self, taken: Taken) -> tuple[Array, Array]:
        """Return dF and dM by all inputs of the system; (unknowns, m) and (n, m)."""
        base, w = taken.equations, taken.w

        def ends(u: Vector) -> Vector:
            there = base.with_inputs(u)
            end = there.finish(w)[0] if base.ends_by_parameters else np.zeros(base.x0.size)
            return np.concatenate([there.residual(w), end])

        # Laws of controllers need not be linear in what they measure.
        found = differences(ends, base.u, np.maximum(1.0, abs(base.u)))
        return found[: w.size], found[w.size :]

    # -- what is measured ---------------------------------------------------------------------

    def measuring(self, channels: Sequence[Channel]) -> Callable[[PHSystem], "Measured"]:
        """Return what measures channels of states, with angles near those of the run."""
        made = WeakKeyDictionary[PHSystem, Measured]()

        def of(system: PHSystem) -> Measured:
            if system not in made:
                made[system] = Measured(Measurement(system, channels))
            return made[system]

        return of
