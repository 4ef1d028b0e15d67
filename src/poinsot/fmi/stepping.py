"""A model that is simulated step by step with held inputs, and can be restored to earlier times."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from poinsot.errors import InputError
from poinsot.model import Model, Simulation
from poinsot.parts.drives import Drive
from poinsot.ph.matrices import Vector
from poinsot.ph.motions import ByRate
from poinsot.ph.ports import Port
from poinsot.ph.runner import Clock, Memory
from poinsot.ph.signals import Constant
from poinsot.ph.stages import Newton
from poinsot.run.plan import Plan
from poinsot.run.run import Run

#: A step is a multiple of another one if it is so but for this part of it.
ROUNDED = 1e-9


def inputs_of(model: Model) -> dict[str, Vector]:
    """Return what can be put into a model from outside, and what it is at the start.

    Ports that are open, or fed by a constant, which includes drives at a constant rate.
    """
    own = own_ports(model)
    own -= {port.name for each in model.controllers.values() for port in each.drives}
    ports = model.compile().ports
    return {port.name: _start(port) for port in ports if port.name in own and _takes(port)}


def own_ports(model: Model) -> set[str]:
    """Return the names of the ports that were added to a model, and those of its systems."""
    return {*model.ports, *(port.name for each in model.systems.values() for port in each.ports)}


def _takes(port: Port) -> bool:
    signal = port.signal.rate if isinstance(port.signal, ByRate) else port.signal
    return port.takes_inputs and (signal is None or isinstance(signal, Constant))


def _start(port: Port) -> Vector:
    return np.zeros(port.size) if port.signal is None else port.u(0.0)


class Held(Constant):
    """An input that is held until it is set again."""


@dataclass(frozen=True)
class Snapshot:
    """All that later steps and outputs depend on: numbers by name, and arrays."""

    counts: dict[str, Any]
    arrays: Memory


class Stepping:
    """A run of a model that is asked for one stretch of time after the other.

    Parameters
    ----------
    model : Model
        What is simulated; its drives at constant rates are exchanged for held ones.
    simulation : Simulation
        How: scheme, step [s], coordinates, engine, tolerances of Newton's method.
    inputs : mapping
        Values at the start of the inputs of ports by name, see `inputs_of`.
    t_start : float
        When it begins [s].
    """

    def __init__(
        self, model: Model, simulation: Simulation, inputs: Mapping[str, Vector], t_start: float
    ) -> None:
        assert simulation.step is not None
        self.h = simulation.step
        self.held = {name: Held(np.array(u, dtype=float)) for name, u in inputs.items()}
        fed = dict(self.held)
        for name, port in model.ports.items():
            if name in fed and isinstance(port, Drive):
                model.ports[name] = replace(port, rate=fed.pop(name))
        plan = Plan(
            self.h,
            t_start,
            t_start + self.h,
            simulation.coordinates,
            1,
            simulation.newton or Newton(),
            asked=simulation.engine,
        )
        run = Run.of(model, plan, simulation.scheme, None, fed, None, keep=False)
        self.problem, self.engine = run.problem, run.loop.engine
        self.system, self.recorder = run.problem.system, run.loop.recorder
        self.ports = {port.name: k for k, port in enumerate(self.recorder.ports)}
        self._widths = np.cumsum([0, *(port.size for port in self.recorder.ports)])
        self._mean = self._y()

    # -- going on ---------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """How far it is [s]."""
        return float(self.recorder.reached)

    @property
    def stopped(self) -> str:
        """Why it does not go on, if an event has stopped it."""
        return self.engine.stopped

    def advance(self, span: float) -> None:
        """Go on for so long [s]; the last step is shorter if this is no multiple of the step.

        Raises what a step fails with, and is back where it was.
        """
        before = self.snapshot()
        try:
            self._advance(span)
        except BaseException:
            self.restore(before)
            raise

    def _advance(self, span: float) -> None:
        recorder, engine, h = self.recorder, self.engine, self.h
        count = max(1, ceil(span / h * (1 - 1e-12) - ROUNDED))
        whole = abs(count * h - span) <= ROUNDED * span
        sampled = [c for c in self.problem.sampled.controllers if c.every is not None]
        if not whole and sampled:
            raise InputError(
                f"{span:g} s is not a multiple of the step h = {h:g} s, at which controller "
                f"'{sampled[0].name}' is sampled; choose a multiple of it"
            )
        start, fractions = self.time, self.problem.scheme.substeps
        clock = Clock(start, start + span, h, count, fractions, recorder.done)
        recorder.in_steps(h)
        times, outputs = [np.array([start])], [np.zeros((0, self._widths[-1]))]
        while recorder.done < clock.steps and not engine.stopped:
            first = recorder.done
            with engine.undisturbed():
                block = engine.advance(clock, first, clock.steps - first, 1, recorder.totals)
                recorder.extend(block)
            times.append(block.saved.time)
            outputs.append(np.asarray(block.saved.columns()["y"]))
        recorder.finish()
        recorder.forget()
        passed = np.diff(np.concatenate(times))
        if passed.size:
            self._mean = passed @ np.concatenate(outputs) / passed.sum()

    # -- what there is to see ---------------------------------------------------------------------

    @property
    def x(self) -> Vector:
        """The state."""
        return np.asarray(self.recorder.table.rows("x", *self._last)[0])

    @property
    def turned(self) -> Vector:
        """The angles of joints, counted over turns [rad]."""
        return self.recorder.totals.turn

    @property
    def _last(self) -> tuple[int, int]:
        count = len(self.recorder.table)
        return count - 1, count

    def total(self, name: str) -> float:
        """Return `energy`, `dissipated` or `balance_error` [J]."""
        return float(self.recorder.table.rows(name, *self._last)[0])

    def energy_through(self, port: str) -> float:
        """Return the energy that was put in through a port since the start [J]."""
        return float(self.recorder.totals.supplied[self.ports[port]])

    def output(self, port: str) -> Vector:
        """Return the output of a port: of a drive its mean over the last stretch, else as it is."""
        k = self.ports[port]
        if self.recorder.ports[k].driven:
            return np.asarray(self._mean[self._widths[k] : self._widths[k + 1]])
        return np.asarray(self._y()[self._widths[k] : self._widths[k + 1]])

    def _y(self) -> Vector:
        """Return the outputs of outer ports in the state that was reached, zeros for others."""
        system, found = self.system.near(self.turned), np.zeros(self._widths[-1])
        x = self.x
        found[: system.m] = system.y(x, system.z(x))
        return found

    # -- back -------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return a copy of everything."""
        counts, arrays = self.recorder.memory()
        kept = {f"recorder {name}": array for name, array in arrays.items()}
        kept |= {f"engine {name}": array for name, array in self.engine.memory().items()}
        kept |= {f"input {name}": held.value.copy() for name, held in self.held.items()}
        return Snapshot(counts, kept | {"mean": self._mean.copy()})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back, or on, to where a snapshot of the same model was taken."""
        parts: dict[str, Memory] = {"recorder": {}, "engine": {}, "input": {}}
        for key, array in snapshot.arrays.items():
            kind, _, name = key.partition(" ")
            if kind in parts:
                parts[kind][name] = array
        self.recorder.restore(snapshot.counts, parts["recorder"])
        self.engine.restore(parts["engine"])
        for name, value in parts["input"].items():
            self.held[name].value[...] = value
        self._mean = snapshot.arrays["mean"].copy()
