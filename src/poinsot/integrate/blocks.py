"""Runs in blocks: a compiled engine takes many steps at once, and comes back now and then."""

import signal
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import machine_code
from poinsot.errors import BuildError, InputError
from poinsot.integrate.clock import Clock
from poinsot.integrate.history import Saved
from poinsot.integrate.interrupts import held_back
from poinsot.integrate.newton import Newton
from poinsot.integrate.progress import Progress
from poinsot.integrate.recorder import Block, Recorder, Totals
from poinsot.integrate.schemes import Scheme
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem

Array = NDArray[np.float64]

#: A block should take about so long [s]: progress is shown and Ctrl-C heard in between.
PAUSE = 0.1
#: Steps of the first block times states: a matter of milliseconds.
FIRST = 100_000
#: Saved steps of a block take no more memory than this [bytes].
ROOM = 32 * 2**20


class Runner(ABC):
    """A system in a compiled engine, with the state it has reached."""

    @property
    @abstractmethod
    def x(self) -> Vector:
        """The state, as far as the engine knows it."""

    @abstractmethod
    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state, with angles followed over turns [rad]."""

    @property
    @abstractmethod
    def calls_python(self) -> bool:
        """Whether some laws are Python functions, which may take any time."""

    @property
    @abstractmethod
    def recovered(self) -> frozenset[str]:
        """Names of the states that the engine leaves out, and `recover` finds."""

    @abstractmethod
    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x of saved steps with all states."""

    @property
    @abstractmethod
    def form(self) -> str:
        """The form of the equations, by the name of its machine code."""

    @abstractmethod
    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on with inputs u (steps, m), as many as can be solved.

        Fewer than asked for: trying again may help. None: it does not.
        """


@singledispatch
def accelerate(
    system: PHSystem, scheme: Scheme, x: Vector, h: float, options: Newton
) -> Runner | None:
    """Return a runner at state x, or None: kinds of systems register what the engine can run."""
    return None


def run_in_blocks(
    runner: Runner,
    system: PHSystem,
    clock: Clock,
    recorder: Recorder,
    bar: Progress,
    step: Callable[[int, Vector], Vector],
    poll: Callable[[], None] = lambda: None,
) -> None:
    """Run to the end; `step` takes a single step where the compiled engine cannot.

    `poll` is called after each block.
    """
    recorder.start_clock()
    count = 1 if runner.calls_python else max(1, FIRST // system.n)
    largest = max(1, ROOM * recorder.save_every // (16 * system.n))
    while recorder.done < clock.steps:
        first = recorder.done
        count = min(count, largest, clock.steps - first)
        u = _inputs(system, clock.span(first, first + count))
        started = time.perf_counter()
        with held_back() as interrupts:
            block = runner.advance(clock, first, u, recorder.save_every, recorder.totals)
            recorder.extend(block)
        bar.advance(block.steps)
        if interrupts:
            signal.raise_signal(signal.SIGINT)
        if block.steps == 0:
            x = step(recorder.done, runner.x)
            recorder.single_steps += 1
            runner.start(x, recorder.totals.turn)
            bar.advance(1)
        elapsed = time.perf_counter() - started
        poll()
        if block.steps < count:
            count = max(1, 2 * block.steps)
        else:
            count = int(np.clip(count * PAUSE / max(elapsed, 1e-6), 1, 8 * count))


def prepare(runner: Runner, *, required: bool, steps: int, step: Callable[[], object]) -> bool:
    """Load machine code, or build it if it is missing; tell whether it is there.

    Unless it is `required`, so many steps may be done sooner in the reference engine, which `step`
    takes one of: what is being built meanwhile is for later runs.
    """
    if machine_code.find(runner.form) is None and not required:
        from poinsot.engine.build import DURATION, in_background

        in_background()
        started = time.perf_counter()
        try:
            step()
        except Exception:  # that engine will say what is wrong
            return False
        if steps * (time.perf_counter() - started) < DURATION:
            return False
    try:
        machine_code.function(runner.form)
    except BuildError as error:
        if required:
            raise
        warnings.warn(f"{error} to say so; the reference engine runs this", stacklevel=3)
        return False
    return True


def _inputs(system: PHSystem, times: Array) -> Array:
    """Return the inputs at the midpoints between times, as far as they can be had; (steps, m)."""
    middle = (times[:-1] + times[1:]) / 2
    if not system.ports:
        return np.zeros((middle.size, 0))
    try:
        return np.hstack([_sampled(port, middle) for port in system.ports])
    except Exception:  # a single step from there will say what is wrong
        rows: list[Vector] = []
        for t in middle:
            try:
                rows.append(system.u(float(t)))
            except Exception:
                break
        return np.array(rows).reshape(len(rows), system.m)


def _sampled(port: Port, times: Array) -> Array:
    """Return the input of a port at many times; a Numba function is called in a compiled loop."""
    if not hasattr(port.signal, "py_func"):
        return port.u_over(times)
    from poinsot.engine.inputs import sample

    u = np.full((times.size, port.size), np.nan)
    sample(port.signal, times, u)
    if not np.all(np.isfinite(u)):
        raise InputError(f"port '{port.name}': the input is not finite")
    return u
