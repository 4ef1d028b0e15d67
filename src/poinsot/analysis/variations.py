"""Simulations near a simulation: the same model with perturbed parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.analysis.losses import between
from poinsot.errors import InputError, NoDerivativeError, did_you_mean
from poinsot.inputs import named, numbers
from poinsot.model import Model
from poinsot.model.parameters import Parameters
from poinsot.model.wiring import Wiring
from poinsot.parts.fields import Field
from poinsot.parts.forces import SpringDamper
from poinsot.parts.stops import JointStop
from poinsot.parts.transmissions import Cam
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.signals import Constant, Signal, Table, as_signal
from poinsot.ph.stages import Evaluation, StageEquations
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Known
from poinsot.run.problem import Compilable, Problem

#: What is derived by: paths of a model, or names of what a function builds it of, with values.
Chosen: TypeAlias = str | Sequence[str] | Mapping[str, ArrayLike]
#: A model, a system, or a function that makes one of values by name.
Studied: TypeAlias = PHSystem | Compilable | Callable[[dict[str, Any]], PHSystem | Compilable]

#: Parameters are changed by this part of their size: builds are known to about 1e-12.
PART = 1e-3
#: Weights of values at multiples of the change, for a derivative of fourth order; where one side
#: is none, such as that of negative friction, the others are taken.
CENTRAL = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
ONE_SIDED = {0: -25 / 12, 1: 4.0, 2: -3.0, 3: 4 / 3, 4: -1 / 4}
#: Residuals differ by no more than this part of their terms where a parameter is linear in them.
ROUNDED = 1e-11
#: Starts bend by no more than this part of their sizes where they are linear in a parameter.
BENT = 1e-14
#: A number of a parameter: the name of this, and where in its value.
Entry: TypeAlias = tuple[str, tuple[int, ...]]
INPUTS, INITIAL, PORTS = "inputs.", "initial.", "ports."
#: Matrices that stay symmetric: entries off the diagonal change in pairs, by half each.
SYMMETRIC = frozenset({"inertia", "stiffness", "damping", "M", "K", "Q", "R"})


@dataclass(frozen=True, eq=False)
class Direction:
    """One number of a parameter: runs nearby, whose weighted sum is a derivative.

    Parameters
    ----------
    name : str
        The parameter.
    nearby : tuple
        Weights and problems; the run itself may be among them.
    dx0 : (n,)
        The derivative of the start.
    """

    name: str
    nearby: tuple[tuple[float, Problem], ...]
    dx0: Vector

    def of(self, f: Callable[[Problem], Any]) -> Any:
        """Return the derivative of what is computed of a run."""
        return sum(weight * f(problem) for weight, problem in self.nearby)


@dataclass(frozen=True, eq=False)
class Samples:
    """An input given by numbers, in which steps are linear: a constant or a table.

    Parameters
    ----------
    name : str
        The parameter.
    piece : slice
        Which inputs of the system it is.
    shape : tuple
        Its own shape.
    times : (k,) or None
        Those of a table.
    """

    name: str
    piece: slice
    shape: tuple[int, ...]
    times: Vector | None

    def weights(self, t: Vector) -> Array:
        """Return by how much each sample counts at some times; (times, samples)."""
        if self.times is None or self.times.size == 1:
            return np.ones((t.size, 1))
        inside = np.clip(t, self.times[0], self.times[-1])
        before, part = between(self.times, inside)
        found, rows = np.zeros((t.size, self.times.size)), np.arange(t.size)
        found[rows, before], found[rows, before + 1] = 1 - part, part
        return found

    def gathered(self, t: Vector, du: Array) -> Array:
        """Return the gradient by samples of that by the inputs (times, m) of many steps."""
        return np.asarray((self.weights(t).T @ du[:, self.piece]).reshape(self.shape))

    def columns(self, t: float, m: int) -> Array:
        """Return the derivative of the inputs at a time by all samples; (m, samples * size)."""
        size, weights = self.piece.stop - self.piece.start, self.weights(np.array([t]))[0]
        found = np.zeros((m, weights.size, size))
        found[self.piece] = np.einsum("k,ij->ikj", weights, np.eye(size))
        return found.reshape(m, -1)


class Variations:
    """A run, and what it depends on.

    `problem` is the run itself, `values` are those of the parameters by name, `known` the channels
    that can be measured, and `samples` the parameters that are inputs.
    """

    def __init__(
        self,
        model: Studied,
        chosen: Chosen,
        pose: Callable[[PHSystem | Compilable, Any, bool], Problem],
        inputs: Mapping[str, Signal | ArrayLike] | None,
        x0: Any,
    ) -> None:
        self._pose, self._x0, given = pose, x0, _chosen(chosen)
        self._parameters: Parameters | None = None
        fed = named(inputs, "inputs", "{'motor': 2.0}")
        signals = {f"{INPUTS}{port}": as_signal(each) for port, each in fed.items()}
        own = {name: value for name, value in given.items() if name not in signals}
        self._build = self._builder(model, own)
        found = {name: value for name, value in self._values.items() if value is not None}
        for name in own:
            if name not in found:
                raise InputError(f"parameter '{name}' has no value in the model; give one")
        built = self._build({})
        self.known = _known(built)
        #: A function may put its numbers anywhere: into a law, or an input that begins later.
        self.by_paths = isinstance(model, Model)
        self.smooth = isinstance(model, Model) and not _has_edges(model)
        self.model = built
        self.problem = self._problem_of(built, {}, trusted=False)
        self.smooth = self.smooth and not self.problem.sampled.controllers
        self._refuse_events()
        self.samples: dict[str, Samples] = {}
        for name in given:
            if name in signals:
                self.samples[name] = self._sampled(name, signals[name])
                found[name] = self._number_of(signals[name])
        self.values = {name: found[name] for name in given}

    # -- models by values ---------------------------------------------------------------------

    def _builder(
        self, model: Studied, own: Mapping[str, Array | None]
    ) -> Callable[[Mapping[str, Array]], PHSystem | Compilable]:
        """Return what makes a model of other values of some parameters."""
        if isinstance(model, Model):
            parameters = Parameters.of(model, own)
            now = {name: given for name, given in own.items() if given is not None}
            self._values = {**parameters.values, **now}
            self._parameters = there = parameters.at(now)
            return lambda values: there.model(values) if now or values else model
        if isinstance(model, PHSystem | Compilable):
            for name in own:
                if not isinstance(model, PHSystem) or not name.startswith(INITIAL):
                    raise InputError(
                        f"no parameter '{name}' of '{getattr(model, 'name', 'it')}'; give a "
                        "function that returns the model for values by name"
                    )
            start = model.state(self._x0 or {}) if isinstance(model, PHSystem) else np.zeros(0)
            self._values = {
                name: start[self._entries(model, name)] if given is None else given
                for name, given in own.items()
                if isinstance(model, PHSystem)
            }
            return lambda values: model
        if not callable(model):
            raise InputError(
                "expected a Model, a LagrangianSystem, a PHSystem, or a function that returns one "
                f"for values by name, got {model!r}"
            )
        missing = [name for name, given in own.items() if given is None]
        if missing:
            raise InputError(
                f"parameter '{missing[0]}' has no value; for a function that returns models, give "
                "with_respect_to as a mapping of names to values"
            )
        now, function = {k: v for k, v in own.items() if v is not None}, model
        self._values = dict(own)
        return lambda values: function(
            {name: _plain(value) for name, value in {**now, **values}.items()}
        )

    @staticmethod
    def _entries(system: PHSystem, name: str) -> slice:
        """Return the place of a state in x by the parameter that it is the start of."""
        state = name.removeprefix(INITIAL)
        if state not in system.slices:
            raise InputError(f"no parameter '{name}'; {did_you_mean(state, system.slices)}")
        return system.slices[state]

    def _problem_of(
        self, built: PHSystem | Compilable, values: Mapping[str, Array], *, trusted: bool
    ) -> Problem:
        x0 = self._x0
        if isinstance(built, PHSystem):
            start = built.state({} if x0 is None else x0)
            for name, value in {**self._values, **values}.items():
                if name.startswith(INITIAL) and value is not None:
                    start[self._entries(built, name)] = value
            x0 = start
        return self._pose(built, x0, trusted)

    def _refuse_events(self) -> None:
        for trigger in self.problem.triggers:
            if any(action != "record" for action in trigger.event.actions):
                raise NoDerivativeError(
                    f"event '{trigger.name}' ends the run or changes the model at a time that "
                    "depends on parameters; derivatives are available for runs without such "
                    "events, remove it"
                )

    # -- inputs -------------------------------------------------------------------------------

    def _sampled(self, name: str, signal: Any) -> Samples:
        port, system = name.removeprefix(INPUTS), self.problem.system
        if not isinstance(signal, Constant | Table) or system.port(port).driven:
            raise InputError(
                f"parameter '{name}': give the input as a force or torque by numbers or a Table; "
                "derivatives with respect to functions of time and prescribed motions are not "
                "available"
            )
        times = signal.times if isinstance(signal, Table) else None
        shape = self._number_of(signal).shape
        return Samples(name, system.port_slices[port], shape, times)

    @staticmethod
    def _number_of(signal: Any) -> Array:
        return signal.values if isinstance(signal, Table) else np.asarray(signal.value)

    # -- directions ---------------------------------------------------------------------------

    @cached_property
    def numbers(self) -> tuple[Entry, ...]:
        """All numbers of all parameters that are no inputs, one after the other."""
        return tuple(
            (name, index)
            for name, value in self.values.items()
            if name not in self.samples
            for index in np.ndindex(value.shape)
        )

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """Those of all numbers."""
        return tuple(self.direction(entry) for entry in self.numbers)

    def size(self, entry: Entry) -> float:
        """Return how large a number is, or those beside it."""
        return float(np.max(abs(self.values[entry[0]]), initial=0.0)) or 1.0

    def direction(self, entry: Entry) -> Direction:
        """Return the direction of one number."""
        (name, index), size = entry, self.size(entry)
        refused: InputError | None = None
        for change, weights in (
            (PART * size, CENTRAL),
            (PART * size, ONE_SIDED),
            (-PART * size, ONE_SIDED),
        ):
            problems = {0: self.problem}
            try:
                for k in (1, 2):
                    problems[k] = self.changed({entry: k * change})[1]
                linear = self._linear(name, change, problems)
                if linear is not None:
                    return linear
                for k in weights.keys() - problems.keys():
                    problems[k] = self.changed({entry: k * change})[1]
            except InputError as error:
                refused = refused or error
                continue
            nearby = tuple((weight / change, problems[k]) for k, weight in weights.items())
            return Direction(name, nearby, np.asarray(sum(c * each.x for c, each in nearby)))
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise NoDerivativeError(
            f"parameter '{where}' cannot be changed by {PART:g} of its size, {size:g}, in either "
            f"direction: {refused}"
        )

    def changed(self, changes: Mapping[Entry, float]) -> tuple[PHSystem | Compilable, Problem]:
        """Return the model with other values of some numbers, and its run."""
        values = self._changed_values(changes)
        model, system = self._build(values), self.problem.system
        other = self._problem_of(model, values, trusted=True)
        if other.system.labels != system.labels or other.system.m != system.m:
            names = ", ".join(f"'{name}'" for name in values)
            raise NoDerivativeError(
                f"parameter {names} changes the structure of the model (its states depend on the "
                "value); choose another parameter"
            )
        return model, other

    def near(self, changes: Mapping[Entry, float]) -> Model | None:
        """Return the model with other values of some numbers, parts with others built again.

        Its start is not looked at. None: see `Parameters.near`.
        """
        if self._parameters is None or not isinstance(self.model, Model):
            return None
        return self._parameters.near(self.model, self._changed_values(changes))

    def _changed_values(self, changes: Mapping[Entry, float]) -> dict[str, Array]:
        """Return the values of the parameters some of whose numbers change."""
        values = {name: self.values[name].copy() for name, _ in changes}
        for (name, index), change in changes.items():
            value = values[name]
            if value.ndim == 2 and name.rpartition(".")[2] in SYMMETRIC:
                value[index] += change / 2
                value[index[::-1]] += change / 2
            else:
                value[index] += change
        return values

    def _linear(
        self, name: str, change: float, problems: Mapping[int, Problem]
    ) -> Direction | None:
        """Return the direction if start and residuals are linear in the parameter.

        For residuals that is seen anywhere, unless something has an edge: stops act on one side
        only, inputs may begin later.
        """
        if not self.smooth or name.startswith(PORTS):
            return None
        x = [problems[k].x for k in (0, 1, 2)]
        bend = abs(x[2] - 2 * x[1] + x[0]) / self.problem.system.sizes(x[0])
        if np.any(bend > ROUNDED * abs(change) + BENT):
            return None
        dx0 = (x[2] - x[0]) / (2 * change)
        if name.startswith(INITIAL):
            return Direction(name, (), dx0)
        try:
            for base, w, here in self._trials:
                if base.ends_by_parameters:
                    return None
                one, two = (residual(problems[k], base, w, self.problem.turned) for k in (1, 2))
                bend = abs(two - 2 * one + here.F)
                if np.any(bend > ROUNDED * (here.sizes + abs(two - here.F))):
                    return None
        except (ArithmeticError, InputError, np.linalg.LinAlgError):
            return None
        factor = 1 / (2 * change)
        return Direction(name, ((factor, problems[2]), (-factor, self.problem)), dx0)

    @cached_property
    def _trials(self) -> list[tuple[StageEquations, Vector, Evaluation]]:
        """Steps of the run from states anywhere: equations, unknowns, and their residuals."""
        problem, random = self.problem, np.random.default_rng(0)
        system, x, clock, found = problem.system, problem.x, problem.clock, []
        for n in {0, clock.steps // 2, clock.steps - 1}:
            start = x + 0.1 * system.sizes(x) * random.standard_normal(system.n)
            t = clock.at(n) + clock.h / 2
            u = system.u_of_step(t, clock.h)
            base = stage_equations(system, problem.scheme, t, start, u, clock.h)
            w = base.guess + 0.1 * random.standard_normal(base.guess.size)
            found.append((base, w, base.evaluate(w)))
        return found


def _has_edges(model: Model) -> bool:
    """Tell whether a part may have several laws, so that one state does not show all of them."""
    forces, transmissions = model.forces.values(), model.transmissions.values()
    return (
        any(isinstance(force, JointStop | Field) for force in forces)
        or any(isinstance(force, SpringDamper) and force.has_law for force in forces)
        or any(isinstance(each, Cam) or not each.lossless for each in transmissions)
    )


def residual(problem: Problem, base: StageEquations, w: Vector, turned: Vector) -> Vector:
    """Return the residual that another problem has in a step."""
    return equations_of(problem, base, turned).residual(w)


def equations_of(
    problem: Problem,
    base: StageEquations,
    turned: Vector,
    held: NDArray[np.intp] | None = None,
) -> StageEquations:
    """Return the equations of the same step in another problem; some inputs are held."""
    system, t, h = problem.system.near(turned), base.t, base.h
    u = system.u_of_step(t, h)
    if held is not None:
        u[held] = base.u[held]
    return stage_equations(system, problem.scheme, t, base.x0, u, h).alike(base)


def _chosen(chosen: Chosen) -> dict[str, Array | None]:
    """Return names with values, None where none were given."""
    if isinstance(chosen, Mapping):
        return {name: numbers(each, f"parameter '{name}'") for name, each in chosen.items()}
    names = [chosen] if isinstance(chosen, str) else chosen
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"with_respect_to: expected paths such as 'bodies.rod.mass', got {chosen!r}"
        )
    return dict.fromkeys(names)


def _plain(value: Array) -> Any:
    return float(value) if value.ndim == 0 else value.copy()


def _known(model: PHSystem | Compilable) -> Known:
    """Return the channels of a model, or the states of a system."""
    if isinstance(model, Model):
        return Wiring(model).channels
    if isinstance(model, PHSystem):
        return Known(states={state.name: (state.size, state.unit) for state in model.states})
    raise InputError(
        f"derivatives need a Model or a PHSystem, not {model!r}; convert a LagrangianSystem by "
        ".port_hamiltonian()"
    )
