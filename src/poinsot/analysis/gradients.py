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

from poinsot.analysis.losses import Bound, Formula, Loss, between, split
from poinsot.analysis.variations import Chosen, Direction, Studied, Variations, equations_of
from poinsot.errors import InputError, NoDerivativeError, PoinsotError
from poinsot.inputs import positive
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.linear_steps import COEFFICIENTS, STEP, Linearisation, LinearStep
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
#: So many numbers of states are measured at once.
AT_ONCE = 2**20
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
    def vector(self) -> Vector:
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
    def matrix(self) -> Array:
        """The Jacobian: a row for each number and time, a column for each number of parameters.

        Rows go through what was asked for, then through times, then through components.
        """
        rows = []
        for name, values in self.values.items():
            columns = [each.reshape(values.size, -1) for each in self.by[name].values()]
            rows.append(np.column_stack(columns))
        return np.concatenate(rows)

    @property
    def vector(self) -> Vector:
        """The values in the order of the rows of `matrix`."""
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
        `value`, derivatives by parameter, and all of them as one `vector`.

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
    """A step that was taken: its equations, their solution, the angles [rad] at its start."""

    equations: StageEquations
    w: Vector
    turned: Vector
    number: int


class _Run:
    """A run whose steps can be looked at again, some at a time, from either end."""

    def __init__(self, variations: Variations, engine: str, newton: Newton, memory: float) -> None:
        self.variations, self.problem = variations, variations.problem
        problem, self.newton, self.asked = variations.problem, newton, engine
        if problem.sampled.controllers:
            name = problem.sampled.controllers[0].name
            raise NoDerivativeError(
                f"controller '{name}' samples what it reads, whose derivatives are not known; "
                "give its law as a system, or as a controller in continuous time"
            )
        system, clock = problem.system, problem.clock
        self.every = max(1, int(np.ceil(16 * system.n * clock.whole / memory)))
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
        while done < clock.steps:
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
        taken = []
        for k in range(whole):
            t, h = (ends[k] + ends[k + 1]) / 2, ends[k + 1] - ends[k]
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
            taken.append(_Taken(stage_equations(system, *known), found.x, turned, n))
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
            there = equations_of(problem, base, taken.turned)
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

    def measuring(self, channels: Sequence[Channel]) -> Callable[[Problem], "_Measured"]:
        """Return what measures channels of states, with angles near those of the run."""
        made: dict[int, _Measured] = {}

        def of(problem: Problem) -> _Measured:
            if id(problem) not in made:
                made[id(problem)] = _Measured(problem.system, channels)
            return made[id(problem)]

        return of


class _Measured:
    """Channels of states, with angles that follow from these."""

    def __init__(self, system: PHSystem, channels: Sequence[Channel]) -> None:
        self.measure = Measurement(system, channels)
        #: Of each angle that is measured, its place among all, and what computes it.
        self.angles: list[tuple[int, Callable[[Array], Array]]] = []
        for channel in channels:
            if channel.kind == "coordinate" and channel.unit == "rad":
                self.angles.append(self.measure.angle(channel))

    def __call__(self, x: Array, turned: Array) -> Array:
        """Return what is measured at states (k, n), whose angles are near these (k, angles)."""
        if self.angles:
            turned = turned.copy()
            for k, angle in self.angles:
                turned[:, k] = counted(angle(x), turned[:, k])
        return self.measure.over(x, turned)


class _Backward:
    """The discrete adjoint of a loss."""

    def __init__(self, run: _Run, bound: Bound) -> None:
        self.run, self.bound = run, bound
        self.measured = run.measuring(bound.channels)

    def gradient(self) -> Gradient:
        """Return the loss and its derivatives."""
        run, variations = self.run, self.run.variations
        value, slopes = self._value()
        directions, samples = variations.directions, variations.samples
        lam, found = np.zeros(run.problem.system.n), np.zeros(len(directions))
        whole = len(run.problem.clock.fractions)
        du: dict[tuple[int, int], tuple[float, Vector]] = {}
        for first, last in reversed(run.segments()):
            steps, x, turned = run.segment(first, last)
            start = 0 if first == 0 else 1
            g = self._by_states(x[start:], turned[start:], slopes[first + start : last + 1])
            found += self._by_parameters(
                x[start:], turned[start:], slopes[first + start : last + 1], directions
            )
            for n, step in zip(reversed(range(first, last)), reversed(steps), strict=True):
                lam = lam + g[n + 1 - first - start]
                for k, taken in zip(reversed(range(whole)), reversed(step), strict=True):
                    lam, added, by_u = self._back(lam, taken, directions, inputs=bool(samples))
                    found += added
                    if by_u is not None:
                        du[n, k] = taken.equations.t, by_u
            if first == 0:
                lam = lam + g[0]
        found += np.array([lam @ direction.dx0 for direction in directions])
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
        self, lam: Vector, taken: _Taken, directions: Sequence[Direction], *, inputs: bool
    ) -> tuple[Vector, Vector, Vector | None]:
        """Return the gradient by the start of a step, by parameters, and by inputs."""
        run = self.run
        before, mu = run.linear_step(taken).backward(lam)
        dF, dM = run.by(directions, taken)
        added = lam @ dM - mu @ dF
        if not inputs:
            return before, added, None
        by_F, by_M = run.by_inputs(taken)
        return before, added, lam @ by_M - mu @ by_F

    def _by_states(self, x: Array, turned: Array, slopes: Array) -> Array:
        """Return the derivative of the loss by the states of some times; (times, n)."""
        found, some = np.zeros_like(x), np.any(slopes != 0, axis=1)
        if not some.any():
            return found
        measure, sizes = self.measured(self.run.problem), self.run.linear.sizes
        x, turned, slopes = x[some], turned[some], slopes[some]
        shifts = STEP * np.diag(sizes)
        ways = np.concatenate([sign * k * shifts for k in (1, 2) for sign in (1, -1)])
        weights = np.concatenate(
            [np.tile(sign * c, sizes.size) for c in COEFFICIENTS for sign in (1, -1)]
        )
        together = max(1, AT_ONCE // (len(ways) * sizes.size))
        parts = []
        for first in range(0, len(x), together):
            rows = slice(first, first + together)
            there = (x[rows, None] + ways).reshape(-1, sizes.size)
            angles = np.repeat(turned[rows], len(ways), axis=0)
            seen = measure(there, angles).reshape(-1, len(ways), slopes.shape[1])
            change = np.einsum("twc,tc->tw", seen, slopes[rows]) * weights
            parts.append(change.reshape(len(change), -1, sizes.size).sum(axis=1) / (STEP * sizes))
        found[some] = np.concatenate(parts)
        return found

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
        values, slopes = [], []
        for first, last in run.segments():
            steps, x, turned = run.segment(first, last)
            columns = [dx]
            for step in steps:
                for taken in step:
                    dF, dM = self._added(taken, directions, dx.shape[1], m)
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
        measure, sizes = self.measured(self.run.problem), self.run.linear.sizes
        value, count = measure(x, turned), dx.shape[2]
        slopes = np.zeros((*value.shape, count))
        # Differences go as far as they do for a state of its size.
        way = np.max(abs(dx) / sizes[:, None], axis=1)
        way = STEP / np.where(way > 0, way, 1.0)
        shift = np.swapaxes(way[:, None] * dx, 1, 2)
        together = max(1, AT_ONCE // max(1, count * sizes.size))
        for first in range(0, len(x), together):
            rows = slice(first, first + together)
            angles = np.repeat(turned[rows], count, axis=0)
            for k, c in enumerate(COEFFICIENTS, start=1):
                seen = [
                    measure((x[rows, None] + sign * shift[rows]).reshape(-1, sizes.size), angles)
                    for sign in (k, -k)
                ]
                change = (seen[0] - seen[1]).reshape(-1, count, value.shape[1])
                slopes[rows] += c * np.swapaxes(change, 1, 2) / way[rows, None]
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
