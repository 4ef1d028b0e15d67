"""Runs in blocks: a compiled engine takes many steps at once, and comes back now and then."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.runner import Clock, Runner
from poinsot.errors import InputError
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem
from poinsot.run.interrupts import held_back
from poinsot.run.progress import Progress
from poinsot.run.recorder import Recorder

Array = NDArray[np.float64]

#: A block should take about so long [s]: progress is shown and Ctrl-C heard in between.
PAUSE = 0.1
#: Steps of the first block times states: a matter of milliseconds.
FIRST = 100_000
#: What takes longer is explained [s].
PATIENCE = 1.5
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
    with _patience(f"compiling the engine for '{system.name}'; it is kept for later runs"):
        runner.compile()
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


@contextmanager
def _patience(message: str) -> Iterator[None]:
    """Say what takes so long, if it does; only compiling ever takes more than a second."""
    timer = threading.Timer(PATIENCE, lambda: print(f"poinsot: {message}", file=sys.stderr))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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
