"""Runs in blocks: a compiled engine takes many steps at once, and comes back now and then."""

import signal
import time
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from poinsot.engine import machine_code
from poinsot.errors import BuildError, InputError
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.runner import Clock, Runner
from poinsot.ph.system import PHSystem
from poinsot.result import Array
from poinsot.run.interrupts import held_back
from poinsot.run.progress import Progress
from poinsot.run.recorder import Recorder

#: A block should take about so long [s]: progress is shown and Ctrl-C heard in between.
PAUSE = 0.1
#: What comes before and after its steps may take so many times as long, if blocks are to be larger.
BESIDES = 4
#: Steps of the first block times states: a matter of milliseconds.
FIRST = 100_000
#: Saved steps of a block take no more memory than this [bytes].
ROOM = 32 * 2**20


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
    whole = len(clock.fractions)
    count = 1 if runner.calls_python else max(1, FIRST // system.n)
    largest = max(1, ROOM * recorder.save_every // (16 * system.n))
    while recorder.done < clock.steps:
        first = recorder.done
        count = min(max(count // whole, 1) * whole, largest * whole, clock.steps - first)
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
            spent = max(block.seconds, elapsed / BESIDES, 1e-6)
            count = int(np.clip(count * PAUSE / spent, 1, 8 * count))


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
        warnings.warn(f"{failure} to say so; the reference engine runs this", stacklevel=3)
        return False
    return True


def _inputs(system: PHSystem, times: Array) -> Array:
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
