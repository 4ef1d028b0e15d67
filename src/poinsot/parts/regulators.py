"""Controllers in continuous time: their laws with slopes, and the channels that they read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from poinsot.errors import InputError, failure
from poinsot.parts.control_laws import ControlLaw, PythonLaw, as_numbers, control_law, sums
from poinsot.parts.controllers import Controller
from poinsot.parts.state_spaces import StateSpace
from poinsot.ph.derivatives import single_differences
from poinsot.ph.formula_rows import FormulaRows
from poinsot.ph.graphs import Graph
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.operations import Rows
from poinsot.ph.ports import Port
from poinsot.ph.regulators import MEASURED, Reading, RegulatorLaw
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Channel


@dataclass(frozen=True, eq=False)
class Limited(RegulatorLaw):
    """A law of (y, x) that gives (u, x'), its outputs u between limits."""

    controller: Controller

    def __call__(self, t: float, m: Vector) -> Vector:
        """Return the inputs at time t [s]."""
        found, sizes = self._asked(self.value, t, m), self.controller.sizes
        if not np.all(np.isfinite(found)):
            raise self._refusal(f"gives {found.tolist()}", t, m)
        low, high = self.controller.limits.T
        found[: sizes.outputs] = np.clip(found[: sizes.outputs], low, high)
        return found

    def _asked(self, what: Callable[[float, Vector], Array], t: float, m: Vector) -> Array:
        """Return the value or slopes of the law; what goes wrong is said with its name."""
        try:
            return what(t, m)
        except Exception as error:
            raise self._refusal(failure(error), t, m) from error

    def _refusal(self, why: str, t: float, m: Vector) -> InputError:
        y = m[: self.controller.sizes.measured]
        return InputError(
            f"controller '{self.controller.name}': its law {why}, at t = {t:g} s with "
            f"y = {y.tolist()}"
        )

    def slopes(self, t: float, m: Vector) -> Array:
        """Return du/dm; outputs at a limit stay there."""
        found, outputs = self._asked(self.dvalue, t, m), self.controller.sizes.outputs
        value, (low, high) = self._asked(self.value, t, m)[:outputs], self.controller.limits.T
        found[:outputs][(value < low) | (value > high)] = 0.0
        return found

    def limited(self, graph: Graph, found: Rows) -> Rows:
        """Return outputs between their limits, then rates of states."""
        rows = list(found)
        for k, (low, high) in enumerate(self.controller.limits.tolist()):
            rows[k] = graph.apply("max", rows[k], graph.number(low)) if isfinite(low) else rows[k]
            rows[k] = graph.apply("min", rows[k], graph.number(high)) if isfinite(high) else rows[k]
        return rows

    @property
    def called(self) -> ControlLaw:
        """The law without limits, called as that of a sampled controller is."""
        sizes, value = self.controller.sizes, self.value

        def function(t: float, y: Vector, *x: Vector) -> Any:
            found = value(t, np.concatenate([y, *x]))
            return (found[: sizes.outputs], found[sizes.outputs :]) if x else found

        return PythonLaw(function, sizes)

    def value(self, t: float, m: Vector) -> Vector:
        """Return (u, x') without limits."""
        raise NotImplementedError

    def dvalue(self, t: float, m: Vector) -> Array:
        """Return its derivative by (y, x), by differences."""
        value = self.value(t, m).tolist()
        columns = single_differences(
            lambda at: self.value(t, np.array(at)).tolist(), m.tolist(), value, range(m.size)
        )
        return np.array(columns).reshape(m.size, len(value)).T


class ByFunction(Limited):
    """A Python or Numba function u = f(t, y), or (u, x') = f(t, y, x)."""

    def value(self, t: float, m: Vector) -> Vector:
        """Return what it gives."""
        law, sizes = self.controller.law, self.controller.sizes
        if not sizes.states:
            return np.array(as_numbers(law(t, m), sizes.outputs, ""))
        found = law(t, m[: sizes.measured], m[sizes.measured :])
        if not isinstance(found, tuple) or len(found) != 2:
            raise InputError(f"gives {found!r}, expected a pair (u, x')")
        u = as_numbers(found[0], sizes.outputs, "")
        return np.array([*u, *as_numbers(found[1], sizes.states, " for the rates of its states")])

    @property
    def called(self) -> ControlLaw:
        """The function itself."""
        return control_law(self.controller.law, self.controller.sizes, 0.0)


class BySystem(Limited):
    """A port-Hamiltonian system by negative feedback: u = -y(x), and its inputs are measured."""

    def rows(self, graph: Graph, t: int, m: Rows) -> Rows | None:
        """Return (u, inputs) as operations, if the system has such."""
        own, measured = self.controller.law.operations, self.controller.sizes.measured
        if own is None:
            return None
        y, x = m[:measured], m[measured:]
        u = [graph.minus(graph.number(0.0), row) for row in own.y(graph, x, own.z(graph, x))]
        return self.limited(graph, [*u, *y])

    def value(self, t: float, m: Vector) -> Vector:
        """Return (u, inputs)."""
        system, measured = self.controller.law, self.controller.sizes.measured
        x = m[measured:]
        return np.concatenate([-system.y(x, system.z(x)), m[:measured]])


class ByFormulas(Limited):
    """Formulas of (t, y, x), with exact slopes."""

    @cached_property
    def formulas(self) -> FormulaRows:
        """The formulas; those of a state space are sums."""
        law = self.controller.law
        return sums(law) if isinstance(law, StateSpace) else law

    @cached_property
    def _slopes(self) -> Any:
        graph, rows = self.formulas.graph, self.formulas.rows
        count = len(self.formulas.variables)
        return graph.program(*(graph.slope(row, k) for row in rows for k in range(1, count)))

    def rows(self, graph: Graph, t: int, m: Rows) -> Rows:
        """Return their operations."""
        return self.limited(graph, graph.include(self.formulas.program, [t, *m]))

    def value(self, t: float, m: Vector) -> Vector:
        """Return what they give."""
        return np.array(self.formulas.program(*map(np.float64, (t, *m))), dtype=float)

    def dvalue(self, t: float, m: Vector) -> Array:
        """Return exact slopes."""
        found = self._slopes(*map(np.float64, (t, *m)))
        return np.array(found, dtype=float).reshape(len(self.formulas.rows), m.size)

    @property
    def gains(self) -> Array | None:
        """The matrices of a state space, unless there are limits."""
        law = self.controller.law
        if not isinstance(law, StateSpace) or np.isfinite(self.controller.limits).any():
            return None
        return np.block([[law.D, law.C], [law.B, law.A]])


def reading(channel: Channel, port: str) -> Reading:
    """Return how a channel is read, with the port whose output is its rate or the state's name."""
    match channel.kind, channel.which:
        case "state", _:
            return Reading("state", channel.owner, channel.size)
        case "signal", _:
            return Reading("held", "", channel.size)
        case "coordinate", _:
            return Reading("integral", port, 1)
        case "motion", "rotation":
            return Reading("rotation", port, channel.size)
        case "motion", "position":
            return Reading("integral", port, channel.size)
    return Reading("rate", port, channel.size)


def measuring(controller: Controller, h: float) -> list[Controller]:
    """Return what measures the beginning of every step of size h [s] for a continuous controller.

    None if it needs nothing of that.
    """
    known = [channel for channel in controller.reads if reading(channel, "").starts]
    size = sum(channel.size for channel in known)
    if not size:
        return []
    names = tuple(f"y_{k}" for k in range(size))
    graph = Graph()
    rows = tuple(graph.variable(1 + k) for k in range(size))
    port = Port(f"{controller.name}.{MEASURED}", size)
    return [
        replace(
            controller,
            law=FormulaRows(("t", *names), graph, rows, ()),
            reads=tuple(known),
            drives=(port,),
            every=h,
            limits=np.tile([-np.inf, np.inf], (size, 1)),
            rate_limits=np.full(size, np.inf),
            states=np.zeros(0),
            state_names=(),
            outputs=None,
        )
    ]


def regulator_law(controller: Controller) -> Limited:
    """Return the law of a controller in continuous time."""
    kinds: list[tuple[Any, Callable[[Controller], Limited]]] = [
        (PHSystem, BySystem),
        (FormulaRows | StateSpace, ByFormulas),
    ]
    made = (make for kind, make in kinds if isinstance(controller.law, kind))
    return next(made, ByFunction)(controller)
