r"""Gradients and sensitivities of simulations, exact to the discrete map.

A run is a chain of maps x_{n+1} = Phi_n(x_n, p), each known by its stage equations. A gradient of
one number goes through the chain once, backwards (the discrete adjoint); sensitivities of many
numbers go forwards, one column for each parameter. Both need one linear system a step, with the
matrix of Newton's method at its solution [HLW06, VI.9].
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.held import Held, Memory
from poinsot.analysis.losses import Bound, Formula, Loss, between, split
from poinsot.analysis.measured import Measured
from poinsot.analysis.variations import Chosen, Direction, Studied, Variations, equations_of
from poinsot.errors import InputError, NoDerivativeError, PoinsotError
from poinsot.inputs import positive
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.linear_steps import Linearisation, LinearStep
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.newton import NewtonFailure, solve
from poinsot.ph.runner import Totals, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel, find_channel
from poinsot.run.engines import ENGINES, choose_engine
from poinsot.run.problem import Compilable, Problem
from poinsot.systems.measuring import Measurement

#: So much memory do the states of a run take at most [bytes]; others are computed again.
MEMORY = 2**28
#: So many steps are looked at together.
TOGETHER = 256
#: Derivatives that stages give are checked in every so many steps.
CHECKED = 64


@dataclass(frozen=True, eq=False)
class Gradient:
    """A number that a run was judged by, and its derivatives.

    Parameters
    ----------
    value : float
        The loss.
    by : mapping
        Parameter -> derivative, in the shape of the parameter.
    """

    value: float
    by: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return the derivative by a parameter."""
        return self.by[name]

    @property
    def flat(self) -> Vector:
        """All derivatives, one after the other."""
        return np.concatenate([np.zeros(0), *(each.reshape(-1) for each in self.by.values())])


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """What was measured in a run, and its derivatives by parameters, over time.

    Parameters
    ----------
    time : (times,)
        The ends of steps, and the start [s].
    values : mapping
        What was asked for -> its values, (times, ...).
    by : mapping
        The same -> parameter -> derivative, (times, ..., and the shape of the parameter).
    """

    time: Vector
    values: Mapping[str, Array]
    by: Mapping[str, Mapping[str, Array]]

    def __getitem__(self, name: str) -> Mapping[str, Array]:
        """Return the derivatives of something that was asked for, by parameter."""
        return self.by[name]

    def at(self, times: ArrayLike) -> "Sensitivities":
        """Return the same at other times, linear in between."""
        at = np.asarray(times, dtype=float).reshape(-1)
        before, part = between(self.time, at)

        def look(values: Array) -> Array:
            weight = part.reshape(-1, *(1,) * (values.ndim - 1))
            return np.asarray((1 - weight) * values[before] + weight * values[before + 1])

        return Sensitivities(
            at,
            {name: look(values) for name, values in self.values.items()},
            {w: {p: look(each) for p, each in own.items()} for w, own in self.by.items()},
        )

    @property
    def jacobian(self) -> Array:
        """The Jacobian: a row for each number and time, a column for each number of parameters.

        Rows go through what was asked for, then through times, then through components.
        """
        rows = []
        for name, values in self.values.items():
            columns = [each.reshape(values.size, -1) for each in self.by[name].values()]
            rows.append(np.column_stack(columns))
        return np.concatenate(rows)

    @property
    def flat(self) -> Vector:
        """The values in the order of the rows of `jacobian`."""
        return np.concatenate([values.reshape(-1) for values in self.values.values()])


def gradient(
    model: Studied,
    of: Loss,
    with_respect_to: Chosen,
    *,
    h: float,
    t_end: float,
    t_start: float = 0.0,
    scheme: str | Scheme | None = None,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    engine: str = "auto",
    newton: Newton | None = None,
    memory: float = MEMORY,
) -> Gradient:
    r"""Return a loss of a simulated motion, and its derivatives by parameters.

    The derivatives are those of the numbers that `simulate` computes, whatever the step: with
    stage equations F(w; x0, p) = 0 and x1 = M(w; x0, p), one sweep backwards takes

    .. math:: F_w^\top \mu = M_w^\top \lambda_1, \qquad
              \lambda_0 = M_x^\top \lambda_1 - F_x^\top \mu, \qquad
              \frac{dL}{dp} \mathrel{+}= M_p^\top \lambda_1 - F_p^\top \mu

    through all steps. It costs one linear system a step, however many parameters there are.

    Parameters
    ----------
    model : Model, PHSystem or function
        What is simulated; or a function that makes it of values by name, for parameters that
        change several things at once.
    of : Loss
        What it is judged by: `Final`, `Integral`, `Squares`, `FunctionOf`, or a sum of these.
    with_respect_to : sequence of str, or mapping
        Paths of a model as in its file, such as `"bodies.rod.mass"`, `"joints.A.point"`,
        `"forces.spring.stiffness"`, `"initial.rod.velocity"`; `"inputs.motor"` where `inputs` has
        numbers or a `Table`, its samples; `"initial.angle"`, a state of a system. A mapping gives
        them values. Those of a function that makes models are the names that it reads.
    h, t_end, t_start, scheme, coordinates, x0, inputs, engine, newton
        As to `simulate`.
    memory : float
        So much do saved states take at most [bytes]; of longer runs, steps between are computed
        again.

    Returns
    -------
    Gradient
        `value`, derivatives by parameter, and all of them as one vector, `flat`.

    Raises
    ------
    NoDerivativeError
        Where there is no derivative: a step that failed or had to be taken in pieces, an event
        that ends the run or changes the model, a value that cannot be changed.
    """
    if not isinstance(of, Loss):
        raise InputError(f"of: expected a loss such as ps.analysis.Final(...), got {of!r}")
    run = _Run.of(
        model,
        with_respect_to,
        (h, t_start, t_end),
        scheme,
        coordinates,
        x0,
        inputs,
        engine,
        newton,
        memory,
    )
    bound = of.bound(run.variations.known)
    return _Backward(run, bound).gradient()


def sensitivities(
    model: Studied,
    of: str | Sequence[str],
    with_respect_to: Chosen,
    *,
    h: float,
    t_end: float,
    t_start: float = 0.0,
    scheme: str | Scheme | None = None,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    engine: str = "auto",
    newton: Newton | None = None,
    memory: float = MEMORY,
) -> Sensitivities:
    """Return channels of a simulated motion over time, and their derivatives by parameters.

    Exact to the discrete map, like `gradient`; for few parameters and many numbers, such as the
    Jacobian of a fit.

    Parameters
    ----------
    of : str or sequence of str
        Channels as in `Model.add_sensor`, or formulas of them.
    model, with_respect_to, h, t_end, t_start, scheme, coordinates, x0, inputs
        As to `gradient`.
    engine, newton, memory
        As to `gradient`.
    """
    run = _Run.of(
        model,
        with_respect_to,
        (h, t_start, t_end),
        scheme,
        coordinates,
        x0,
        inputs,
        engine,
        newton,
        memory,
    )
    return _Forward(run, [of] if isinstance(of, str) else list(of)).sensitivities()


@dataclass(frozen=True, eq=False)
class _Taken:
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


class _Run:
    """A run whose steps can be looked at again, some at a time, from either end."""

    def __init__(self, variations: Variations, engine: str, newton: Newton, memory: float) -> None:
        self.variations, self.problem = variations, variations.problem
        problem, self.newton, self.asked = variations.problem, newton, engine
        self._held: dict[int, Held] = {}
        self.held = self.held_of(problem) if problem.sampled.controllers else None
        self.memories: list[Memory] = []
        system, clock = problem.system, problem.clock
        self.every = max(1, int(np.ceil(16 * system.n * clock.whole / memory)))
        if (
            self.held is not None
        ):  # what controllers hold is kept for every step, and states with it
            self.every, self.asked = 1, "reference"
        whole = len(clock.fractions)
        self.times = clock.span(clock.before, clock.steps)[::whole]
        self.linear = Linearisation(system.sizes(problem.x), ~system.algebraic)

    @classmethod
    def of(
        cls,
        model: Studied,
        chosen: Chosen,
        span: tuple[float, float, float],
        scheme: str | Scheme | None,
        coordinates: str | None,
        x0: Any,
        inputs: Mapping[str, Signal | ArrayLike] | None,
        engine: str,
        newton: Newton | None,
        memory: float,
    ) -> "_Run":
        if engine not in ENGINES:
            raise InputError(f"no engine '{engine}'; choose from {', '.join(ENGINES)}")

        def pose(made: PHSystem | Compilable, start: Any) -> Problem:
            return Problem.of(made, scheme, coordinates, span, start, None, inputs)

        variations = Variations(model, chosen, pose, inputs, x0)
        return cls(variations, engine, newton or Newton(), positive(memory, "memory"))

    def held_of(self, problem: Problem) -> Held:
        """Return the controllers of a run."""
        if id(problem) not in self._held:
            self._held[id(problem)] = Held(problem)
        return self._held[id(problem)]

    # -- forwards -----------------------------------------------------------------------------

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """States and angles after every `self.every` steps, from the start on."""
        kept = [(self.problem.x, self.problem.turned)]
        for first, x, turned in self.blocks():
            due = (first + 1 + np.arange(len(x))) % self.every == 0
            kept += zip(x[due], turned[due], strict=True)
        xs, turns = zip(*kept, strict=True)
        return np.array(xs), np.array(turns)

    def blocks(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the number of the first step, states at the ends of steps, and angles."""
        problem, clock = self.problem, self.problem.clock
        system, whole = problem.system, len(problem.clock.fractions)
        engine = choose_engine(problem, self.asked, self.newton)
        supplied = np.zeros(len(system.ports) + len(system.connected))
        energy = system.near(problem.turned).H(problem.x)
        totals, done, count = Totals(energy, 0.0, supplied, problem.turned), 0, TOGETHER * whole
        if self.held is not None:
            self.held.restore(self.held.start)
            self.memories, count = [], whole
        while done < clock.steps:
            if self.held is not None:
                self.memories.append(self.held.memory())
            try:
                block = engine.advance(clock, done, min(count, clock.steps - done), whole, totals)
            except (NewtonFailure, PoinsotError) as error:
                t = float(clock.at(done))
                raise NoDerivativeError(
                    f"the step from t = {t:g} s fails, so that there is no run to derive: {error}"
                ) from error
            if block.split_steps:
                raise NoDerivativeError(
                    f"a step before t = {block.reached:g} s was taken in pieces, whose sizes "
                    "change with parameters; take smaller steps"
                )
            yield done // whole, block.saved.x.copy(), block.saved.turned.copy()
            done += block.steps

    def step(self, n: int, x: Vector, turned: Vector, x1: Vector | None) -> list[_Taken]:
        """Return step n from x, in its substeps; its end is near x1 if that is known."""
        problem, clock = self.problem, self.problem.clock
        whole = len(clock.fractions)
        ends = clock.span(clock.before + n * whole, clock.before + (n + 1) * whole)
        taken, memory = [], None if self.held is None else self.memories[n]
        for k in range(whole):
            t, h, number, before = (
                (ends[k] + ends[k + 1]) / 2,
                ends[k + 1] - ends[k],
                n * whole + k,
                memory,
            )
            if self.held is not None and memory is not None:
                memory = self.held.take(memory, number, float(ends[k]), x, turned)
            system = problem.system.near(turned)
            known = problem.scheme, float(t), x, system.u_of_step(float(t), float(h)), float(h)
            equations = stage_equations(system.remembering(), *known)
            guess = equations.guess
            if x1 is not None and whole == 1:
                guess = equations.guess_of(x1)
            try:
                found = solve(equations.evaluate, guess, self.newton, equations.labels)
            except NewtonFailure as failure:
                raise NoDerivativeError(
                    f"the step from t = {ends[k]:g} s fails: {failure.reason}"
                ) from None
            own = stage_equations(system, *known)
            taken.append(_Taken(own, found.x, turned, number, float(ends[k]), before))
            x, _ = equations.finish(found.x)
            turned = counted(system.angles(x), turned)
        return taken

    def segment(self, first: int, last: int) -> tuple[list[list[_Taken]], Array, Array]:
        """Return steps from `first` to `last`, and all states and angles there; (steps + 1, ...).

        The first is one of those after which states are kept.
        """
        xs, turns = self.rows
        states, angles, steps = [], [], []
        for n in range(first, last):
            if n % self.every == 0:
                x, turned = xs[n // self.every], turns[n // self.every]
            states.append(x)
            angles.append(turned)
            step = self.step(n, x, turned, xs[n + 1] if self.every == 1 else None)
            steps.append(step)
            x, _ = step[-1].equations.finish(step[-1].w)
            turned = counted(self.problem.system.angles(x), step[-1].turned)
        return steps, np.array([*states, x]), np.array([*angles, turned])

    def segments(self) -> list[tuple[int, int]]:
        """Return the first step of each segment, and the one after its last."""
        size, steps = self.every * -(-TOGETHER // self.every), self.problem.clock.whole
        return [(k, min(k + size, steps)) for k in range(0, steps, size)]

    # -- steps and parameters -----------------------------------------------------------------

    def linear_step(self, taken: _Taken) -> LinearStep:
        """Return the linear map of a step."""
        t = taken.equations.t
        try:
            return self.linear(taken.equations, taken.w, check=taken.number % CHECKED == 0)
        except NoDerivativeError as error:
            raise NoDerivativeError(f"step at t = {t:g} s: {error}") from None

    def by(self, directions: Sequence[Direction], taken: _Taken) -> tuple[Array, Array]:
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

    def by_samples(self, directions: Sequence[Direction], taken: _Taken) -> Array:
        """Return the derivative of what controllers hold by parameters, a column each."""
        assert self.held is not None
        assert taken.memory is not None
        at = taken.memory, taken.number, taken.t, taken.equations.x0, taken.turned
        found = np.zeros((self.held.start[0].size, len(directions)))
        for k, direction in enumerate(directions):
            for weight, problem in direction.nearby:
                found[:, k] += weight * self.held_of(problem).take(*at)[0]
        return found

    def by_inputs(self, taken: _Taken) -> tuple[Array, Array]:
        """Return dF and dM by all inputs of the system; (unknowns, m) and (n, m)."""
        base, w = taken.equations, taken.w
        F, M = [], []
        for k in range(base.u.size):
            shift = np.zeros(base.u.size)
            shift[k] = max(1.0, abs(base.u[k]))
            up, down = (base.with_inputs(base.u + sign * shift) for sign in (1, -1))
            F.append((up.residual(w) - down.residual(w)) / (2 * shift[k]))
            M.append(np.zeros(base.x0.size))
            if base.ends_by_parameters:
                M[-1] = (up.finish(w)[0] - down.finish(w)[0]) / (2 * shift[k])
        return np.array(F).T, np.array(M).T

    # -- what is measured ---------------------------------------------------------------------

    def measuring(self, channels: Sequence[Channel]) -> Callable[[Problem], "Measured"]:
        """Return what measures channels of states, with angles near those of the run."""
        made: dict[int, Measured] = {}

        def of(problem: Problem) -> Measured:
            if id(problem) not in made:
                made[id(problem)] = Measured(Measurement(problem.system, channels))
            return made[id(problem)]

        return of


class _Backward:
    """The discrete adjoint of a loss."""

    def __init__(self, run: _Run, bound: Bound) -> None:
        self.run, self.bound = run, bound
        self.measured = run.measuring(bound.channels)

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, variations = self.run, self.run.variations
        value, slopes = self._value()
        directions = variations.directions
        lam, found = np.zeros(run.problem.system.n), np.zeros(len(directions))
        nu = np.zeros(0 if run.held is None else run.held.start[0].size)
        whole = len(run.problem.clock.fractions)
        du: dict[tuple[int, int], tuple[float, Vector]] = {}
        for first, last in reversed(run.segments()):
            steps, x, turned = run.segment(first, last)
            start = 0 if first == 0 else 1
            measure, sizes = self.measured(run.problem), run.linear.sizes
            g = measure.back(slopes[first + start : last + 1], x[start:], turned[start:], sizes)
            found += self._by_parameters(
                x[start:], turned[start:], slopes[first + start : last + 1], directions
            )
            for n, step in zip(reversed(range(first, last)), reversed(steps), strict=True):
                lam = lam + g[n + 1 - first - start]
                for k, taken in zip(reversed(range(whole)), reversed(step), strict=True):
                    lam, nu, added, by_u = self._back(lam, nu, taken, directions)
                    found += added
                    if by_u is not None:
                        du[n, k] = taken.equations.t, by_u
            if first == 0:
                lam = lam + g[0]
        found += np.array([lam @ direction.dx0 for direction in directions])
        if run.held is not None:
            starts = [each.of(lambda p: run.held_of(p).start[0]) for each in directions]
            found += np.array([nu @ each if isinstance(each, np.ndarray) else 0 for each in starts])
        return Gradient(value, self._shaped(found, du))

    def _value(self) -> tuple[float, Array]:
        """Return the loss, and its derivatives by what is measured at all times."""
        run, measure = self.run, self.measured(self.run.problem)
        problem = run.problem
        rows = [measure(problem.x[None], problem.turned[None])]
        kept = [(problem.x[None], problem.turned[None])]
        for first, x, turned in run.blocks():
            rows.append(measure(x, turned))
            due = (first + 1 + np.arange(len(x))) % run.every == 0
            kept.append((x[due], turned[due]))
        vars(run)["rows"] = tuple(np.concatenate(each) for each in zip(*kept, strict=True))
        value, slopes = self.bound.evaluate(run.times, np.concatenate(rows))
        if not (np.isfinite(value) and np.all(np.isfinite(slopes))):
            raise NoDerivativeError(f"the loss is {value}, or its slopes are not finite")
        return value, slopes

    def _back(
        self, lam: Vector, nu: Vector, taken: _Taken, directions: Sequence[Direction]
    ) -> tuple[Vector, Vector, Vector, Vector | None]:
        """Return the gradient by the start of a step, and by what is held before it.

        Then what parameters add to it, and the gradient by inputs.
        """
        run = self.run
        before, mu = run.linear_step(taken).backward(lam)
        dF, dM = run.by(directions, taken)
        added = lam @ dM - mu @ dF
        if run.held is None and not run.variations.samples:
            return before, nu, added, None
        by_F, by_M = run.by_inputs(taken)
        by_u = lam @ by_M - mu @ by_F
        if run.held is not None and taken.memory is not None:
            held, x, turned, sizes = run.held, taken.equations.x0, taken.turned, run.linear.sizes
            nu = nu.copy()
            np.add.at(nu, held.places, by_u[held.columns])
            at = taken.memory, taken.number, taken.t, x, turned
            added = added + nu @ run.by_samples(directions, taken)

            def by_states(measure: Measured, weights: Vector) -> Vector:
                return np.asarray(measure.back(weights[None], x[None], turned[None], sizes)[0])

            nu, by_x = held.back(nu, *at, by_states)
            before = before + by_x
        return before, nu, added, by_u

    def _by_parameters(
        self, x: Array, turned: Array, slopes: Array, directions: Sequence[Direction]
    ) -> Vector:
        """Return the derivative of the loss by parameters that change what is measured."""
        some = np.any(slopes != 0, axis=1)
        if not some.any():
            return np.zeros(len(directions))
        x, turned, slopes = x[some], turned[some], slopes[some]
        return np.array(
            [
                np.sum(slopes * direction.of(lambda each: self.measured(each)(x, turned)))
                for direction in directions
            ]
        )

    def _shaped(
        self, found: Vector, du: Mapping[tuple[int, int], tuple[float, Vector]]
    ) -> dict[str, Array]:
        """Return the derivatives in the shapes of their parameters."""
        values, samples, by, first = self.run.variations.values, self.run.variations.samples, {}, 0
        t = np.array([each[0] for each in du.values()])
        by_u = np.array([each[1] for each in du.values()])
        for name, value in values.items():
            if name in samples:
                by[name] = samples[name].gathered(t, by_u)
                continue
            by[name] = found[first : first + value.size].reshape(value.shape)
            first += value.size
        return by


class _Forward:
    """Forward sensitivities: the derivative of the state, a column for each parameter."""

    def __init__(self, run: _Run, asked: Sequence[str]) -> None:
        self.run, self.asked = run, asked
        known, self.looks = run.variations.known, []
        channels: list[Channel] = []
        for text in asked:
            try:
                found: tuple[Channel, ...] = (find_channel(text, known, "sensitivities"),)
                formula = None
            except InputError:
                formula = Formula(text, known, "sensitivities")
                found = formula.channels
            self.looks.append((formula, found))
            channels += found
        self.measured = run.measuring(channels)

    def sensitivities(self) -> Sensitivities:
        """Return everything that was asked for, and its derivatives."""
        run, directions = self.run, self.run.variations.directions
        samples, m = self.run.variations.samples, self.run.problem.system.m
        own = np.array([each.dx0 for each in directions]).reshape(-1, run.problem.system.n).T
        others = sum(run.variations.values[name].size for name in samples)
        dx = np.column_stack([own, np.zeros((len(own), others))])
        dc = np.zeros((0 if run.held is None else run.held.start[0].size, dx.shape[1]))
        if run.held is not None:
            for k, direction in enumerate(directions):
                dc[:, k] = direction.of(lambda each: run.held_of(each).start[0])
        values, slopes = [], []
        for first, last in run.segments():
            steps, x, turned = run.segment(first, last)
            columns = [dx]
            for step in steps:
                for taken in step:
                    dF, dM = self._added(taken, directions, dx.shape[1], m)
                    if run.held is not None and taken.memory is not None:
                        at = taken.memory, taken.number, taken.t, taken.equations.x0, taken.turned
                        dc = run.held.forward(dc, dx, *at, run.linear.sizes)
                        dc[:, : len(directions)] += run.by_samples(directions, taken)
                        by_F, by_M = run.by_inputs(taken)
                        dF += by_F[:, run.held.columns] @ dc[run.held.places]
                        dM += by_M[:, run.held.columns] @ dc[run.held.places]
                    dx, _ = run.linear_step(taken).forward(dx, dF, dM)
                columns.append(dx)
            start = 0 if first == 0 else 1
            value, slope = self._looked(
                x[start:], turned[start:], np.array(columns[start:]), directions
            )
            values.append(value)
            slopes.append(slope)
        return self._named(np.concatenate(values), np.concatenate(slopes))

    def _added(
        self, taken: _Taken, directions: Sequence[Direction], count: int, m: int
    ) -> tuple[Array, Array]:
        """Return what parameters add to F and M, a column each."""
        run, samples = self.run, self.run.variations.samples
        dF, dM = np.zeros((taken.w.size, count)), np.zeros((taken.equations.x0.size, count))
        dF[:, : len(directions)], dM[:, : len(directions)] = run.by(directions, taken)
        if samples:
            by_F, by_M = run.by_inputs(taken)
            du = np.column_stack([s.columns(taken.equations.t, m) for s in samples.values()])
            dF[:, len(directions) :], dM[:, len(directions) :] = by_F @ du, by_M @ du
        return dF, dM

    def _looked(
        self, x: Array, turned: Array, dx: Array, directions: Sequence[Direction]
    ) -> tuple[Array, Array]:
        """Return what is measured (times, size), and its derivatives (times, size, columns)."""
        measure = self.measured(self.run.problem)
        value = measure(x, turned)
        slopes = measure.forward(dx, x, turned, self.run.linear.sizes)
        for j, direction in enumerate(directions):
            slopes[:, :, j] += direction.of(lambda each: self.measured(each)(x, turned))
        return value, slopes

    def _named(self, value: Array, slopes: Array) -> Sensitivities:
        times, first = self.run.times, 0
        values: dict[str, Array] = {}
        by: dict[str, dict[str, Array]] = {}
        for text, (formula, channels) in zip(self.asked, self.looks, strict=True):
            last = first + sum(channel.size for channel in channels)
            number, slope = value[:, first:last], slopes[:, first:last]
            if formula is None:
                shape = channels[0].shape
                values[text] = split(number, channels)[0]
            else:
                found, by_channels = formula(times, number)
                values[text], shape = found, ()
                slope = np.einsum("tc,tcp->tp", by_channels, slope)
            by[text] = self._by_parameter(slope.reshape(times.size, *shape, -1))
            first = last
        return Sensitivities(times, values, by)

    def _by_parameter(self, slope: Array) -> dict[str, Array]:
        """Return columns by parameter: those of inputs come last."""
        variations, found, first = self.run.variations, {}, 0
        order = [n for n in variations.values if n not in variations.samples]
        for name in (*order, *variations.samples):
            shape = variations.values[name].shape
            size = int(np.prod(shape))
            columns = slope[..., first : first + size]
            found[name] = columns.reshape(*slope.shape[:-1], *shape)
            first += size
        return {name: found[name] for name in variations.values}
