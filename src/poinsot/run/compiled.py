"""The compiled engine: a runner, its machine code, and the reference engine where it fails."""

import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise

import numpy as np

from poinsot.engine import machine_code
from poinsot.errors import BuildError, InputError
from poinsot.interrupts import held_back
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.runner import Block, Clock, Memory, Runner, Totals
from poinsot.ph.system import PHSystem
from poinsot.result import Array
from poinsot.run.engine import Engine
from poinsot.run.reference import ReferenceEngine

#: Steps of the first block times states: a matter of milliseconds.
FIRST = 100_000


class CompiledEngine(Engine):
    """Takes steps in machine code, and a single one by the reference engine where that fails."""

    name = "compiled"

    def __init__(self, runner: Runner, reference: ReferenceEngine) -> None:
        self.runner, self.reference, self.system = runner, reference, reference.system
        self.first_block = 1 if runner.calls_python else max(1, FIRST // self.system.n)

    @property
    def x(self) -> Vector:
        """The state, as far as the engine knows it."""
        return self.runner.x

    def advance(
        self, clock: Clock, first: int, steps: int, save_every: int, totals: Totals
    ) -> Block:
        """Take steps, as many as can be solved; or one by the reference engine."""
        u = inputs_of(self.system, clock.span(first, first + steps))
        block = self.runner.advance(clock, first, u, save_every, totals)
        if block.steps:
            inside = (first + block.steps - clock.before) % len(clock.fractions)
            return replace(block, pending=None) if inside else block
        self.reference.state = self.runner.x
        block = self.reference.advance(clock, first, 1, save_every, totals)
        self.runner.start(self.reference.state, totals.turn)
        return replace(block, single_steps=1)

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state."""
        self.runner.start(x, turned)

    def memory(self) -> Memory:
        """Return what the runner carries from step to step, and the size of pieces."""
        return self.runner.memory() | {"halving": self.reference.halving.memory()}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.runner.restore(memory)
        self.reference.halving.restore(memory["halving"])

    def undisturbed(self) -> AbstractContextManager[list[int]]:
        """Hold interrupts back: machine code would go on with what was not computed."""
        return held_back()


def prepare(runner: Runner, *, required: bool, steps: int, step: Callable[[], object]) -> bool:
    """Load machine code, or build it if it is missing; tell whether it is there.

    Unless it is `required`, so many steps may be done sooner in the reference engine, which `step`
    takes one of: what is being built meanwhile is for later runs.
    """
    try:
        if machine_code.loaded(runner.form) is None and not required:
            from poinsot.engine.build import DURATION, in_background

            in_background()
            started = time.perf_counter()
            try:
                step()
            except Exception:  # that engine will say what is wrong
                return False
            if steps * (time.perf_counter() - started) < DURATION:
                return False
        machine_code.function(runner.form)
    except (BuildError, machine_code.DamagedObjectError, OSError) as error:
        failure = error
        if not isinstance(error, BuildError):  # no process can be started, or a file is gone again
            told = f"{type(error).__name__}: {error}"
            failure = BuildError(
                f"the compiled engine cannot be built here: {told}; use engine='reference'"
            )
        if required:
            raise failure from None
        warnings.warn(f"{failure} to say so; the reference engine runs this", stacklevel=4)
        return False
    return True


def inputs_of(system: PHSystem, times: Array) -> Array:
    """Return the inputs of steps between times, as far as they can be had; (steps, m)."""
    if not system.ports:
        return np.zeros((times.size - 1, 0))
    try:
        return np.hstack([_sampled(port, times) for port in system.ports])
    except Exception:  # a single step from there will say what is wrong
        rows: list[Vector] = []
        for t0, t1 in pairwise(times.tolist()):
            try:
                rows.append(system.u_of_step((t0 + t1) / 2, t1 - t0))
            except Exception:
                break
        return np.array(rows).reshape(len(rows), system.m)


def _sampled(port: Port, times: Array) -> Array:
    """Return the input of a port in steps; a Numba function is called in a compiled loop."""
    if not hasattr(port.signal, "py_func"):
        return port.u_of_steps(times)
    from poinsot.engine.inputs import sample

    middle = (times[:-1] + times[1:]) / 2
    u = np.full((middle.size, port.size), np.nan)
    sample(port.signal, middle, u)
    if not np.all(np.isfinite(u)):
        raise InputError(f"port '{port.name}': the input is not finite")
    return u
