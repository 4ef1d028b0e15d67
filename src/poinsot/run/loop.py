"""The time loop: an engine takes steps, a recorder keeps them, and nothing is lost at its end."""

import signal
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from poinsot.errors import PoinsotError
from poinsot.ph.newton import NewtonFailure
from poinsot.ph.runner import Clock, Memory
from poinsot.result import Result, SimulationError, Status
from poinsot.run.engine import PAUSE, Engine
from poinsot.run.progress import Progress
from poinsot.run.recorder import Facts, Recorder

if TYPE_CHECKING:
    from poinsot.run.stream import Stream

#: What comes before and after its steps may take so many times as long, if blocks are to be larger.
BESIDES = 4
#: Saved steps of a block take no more memory than this [bytes].
ROOM = 32 * 2**20


class Loop:
    """A run that goes on, block by block.

    Parameters
    ----------
    engine : Engine
        What takes the steps.
    recorder : Recorder
        What keeps them.
    facts : Facts
        What the result says of the run.

    Attributes
    ----------
    stream : Stream or None
        Where saved steps are written while the run goes on.
    """

    def __init__(self, engine: Engine, recorder: Recorder, facts: Facts) -> None:
        self.engine, self.recorder, self.facts = engine, recorder, facts
        self.stream: Stream | None = None
        self.count = engine.first_block

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on, besides the recorder."""
        return self.engine.memory()

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called, here or in another process with the same run."""
        self.engine.restore(memory)

    def run(self, clock: Clock, progress: bool | None) -> Result:
        """Go to the end of a clock; return the result, also of a run that Ctrl-C has ended.

        Raises `SimulationError`, with the result so far, for whatever else goes wrong.
        """
        recorder, name = self.recorder, self.recorder.system.name
        try:
            with closing(Progress(clock.steps, name, progress, recorder.done)) as bar:
                recorder.start_clock()
                self.advance(clock, bar.advance)
                recorder.finish()
                if self.stream is not None:
                    self.stream.write()
        except KeyboardInterrupt:
            return self.result("interrupted", f"interrupted at t = {recorder.reached:g} s")
        except Exception as error:
            began = f"system '{name}', step {recorder.complete + 1} from t = {recorder.reached:g} s"
            if isinstance(error, NewtonFailure):
                message = f"{began} with h = {clock.h:g} s: {_told(error)}"
                raise SimulationError(message, self.result("failed", message)) from None
            what = "" if isinstance(error, PoinsotError) else f"{type(error).__name__}: "
            message = f"{began}: {what}{error}"
            raise SimulationError(message, self.result("failed", message)) from error
        return self.result("done", self.engine.stopped)

    def advance(self, clock: Clock, told: Callable[[int], None]) -> None:
        """Take all steps of a clock, unless an event stops it.

        How many there were is `told` after each block. In a file there is a checkpoint before the
        last step, which may be shorter than the others: a run to a later end goes on from there.
        """
        engine, recorder = self.engine, self.recorder
        recorder.in_steps(clock.h)
        whole = len(clock.fractions)
        last = clock.steps - whole if self.stream is not None else clock.steps
        largest = max(1, ROOM * recorder.save_every // (16 * recorder.system.n))
        while recorder.done < clock.steps and not engine.stopped:
            first, started = recorder.done, time.perf_counter()
            count = max(self.count // whole, 1) * whole
            count = min(count, largest * whole, (last if first < last else clock.steps) - first)
            with engine.undisturbed() as interrupts:
                block = engine.advance(clock, first, count, recorder.save_every, recorder.totals)
                recorder.extend(block)
            told(block.steps)
            if interrupts:
                signal.raise_signal(signal.SIGINT)
            elapsed = time.perf_counter() - started
            if self.stream is not None and recorder.done <= last:
                self.stream.poll(at_once=recorder.done == last)
            if block.steps < count:
                self.count = max(1, 2 * block.steps)
            else:
                spent = max(block.seconds, elapsed / BESIDES, 1e-6)
                self.count = int(np.clip(count * PAUSE / spent, 1, 8 * count))

    def result(self, status: Status, message: str = "") -> Result:
        """Return everything so far."""
        if self.stream is not None:
            return self.stream.finish(status, message)
        return self.recorder.result(self.facts, status, message)


def _told(failure: NewtonFailure) -> str:
    """Return why Newton's method failed."""
    history = ", ".join(f"{residual:.1e}" for residual in failure.history) or "none"
    told = f"{failure.reason}; worst equation '{failure.worst}', relative residuals {history}"
    return f"{told}; {failure.advice}" if failure.advice else told
