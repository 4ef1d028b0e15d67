r"""Steps as large as an error allows: segments of steps, which are accepted or taken again.

From where a run has come to, a segment is taken in steps of size 2 h and, from the same beginning,
in twice as many of size h. With p the order of the scheme and s the sizes of states by nature, the
latter are off by about

.. math:: e = \frac{1}{2^p - 1} \max_i \frac{|x_i^{h} - x_i^{2h}|}{s_i}

Inputs that are functions of time add what is told in `impulses`. Steps are accepted if e is no more
than the part of the tolerance that falls to the segment by its length, so that what all segments
are off adds up to the tolerance. Every accepted step is a step of the scheme and keeps what this
keeps.

Both ways consist of pairs of steps: those of the midpoint rule under constraints turn round what
velocities are off across the constraints, and only pairs compare.
"""

import signal
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from math import ceil, inf

import numpy as np

from poinsot.errors import InputError, LargeStepError
from poinsot.inputs import number
from poinsot.ph.matrices import Vector
from poinsot.ph.newton import NewtonFailure
from poinsot.ph.runner import Block, Clock, Memory, Totals
from poinsot.run.engine import Engine
from poinsot.run.impulses import Impulses
from poinsot.run.loop import Loop
from poinsot.run.problem import Problem
from poinsot.run.recorder import Facts, Recorder
from poinsot.run.step_size import STEPS, StepSize

#: A tolerance below this part of states drowns in round-off; and what an error is known to.
LEAST, ROUND_OFF = 1e-12, 1e-13
#: An error below this part that smaller steps leave as it was, but for this factor, is round-off.
NOISE, STALLED = 1e-8, 0.7
#: With every segment, what is taken for round-off becomes less again by this factor.
FADES = 0.95
#: Where a law jumps, a segment may take this part of the tolerance.
SHARE = 0.01
#: Steps are no smaller than this part of the run; and so many of them there are at least.
SMALLEST, FEWEST = 1e-12, 100
#: More steps than a run has: none of them are saved.
NEVER = 2**40


def require_tolerance(tolerance: float | None, h_max: float | None) -> None:
    """Refuse a tolerance or a largest step that makes no sense; None: there is none."""
    if tolerance is not None and not LEAST <= number(tolerance, "tolerance") < 1:
        raise InputError(
            f"the tolerance is {tolerance:g}; it must be relative, less than 1 and at least "
            f"{LEAST:g}, because smaller errors are round-off"
        )
    if h_max is not None and number(h_max, "h_max") <= 0:
        raise InputError(f"h_max is {h_max:g} s; it must be positive")


def require_adaptive(problem: Problem, tolerance: float | None, h_max: float | None) -> None:
    """Refuse what makes no sense, and with a tolerance what needs steps of one size."""
    require_tolerance(tolerance, h_max)
    if tolerance is None:
        if h_max is not None:
            raise InputError("h_max is for adaptive steps; give tolerance=..., too")
        return
    if problem.triggers:
        raise InputError(
            f"event '{problem.triggers[0].name}': events need a constant step size; leave out "
            "tolerance or the events"
        )
    sampled = problem.sampled
    for follows, each in zip(sampled.following, sampled.controllers, strict=True):
        if not follows:
            raise InputError(
                f"controller '{each.name}' is sampled every {each.period:g} s, which needs a "
                "constant step size; leave out tolerance, or use a controller in continuous time, "
                "without 'every'"
            )


@dataclass(frozen=True, eq=False)
class _Taken:
    """Steps that were taken: where they lead, their blocks, and the sums after them."""

    x: Vector
    blocks: list[Block]
    totals: Totals


class AdaptiveLoop(Loop):
    """A run whose steps are as large as a tolerance allows.

    Parameters
    ----------
    engine, recorder, facts
        As of any `Loop`.
    tolerance : float
        What all steps may be off together, as a part of the sizes of states.
    h_max : float or None
        Steps are no larger than this [s]; None: than a small part of the run.
    """

    def __init__(
        self,
        engine: Engine,
        recorder: Recorder,
        facts: Facts,
        tolerance: float,
        h_max: float | None,
    ) -> None:
        super().__init__(engine, recorder, facts)
        self.tolerance, self.span = tolerance, facts.t_end - recorder.reached
        largest = self.span / FEWEST if h_max is None else h_max
        self.size = StepSize(min(facts.h, largest), largest, facts.scheme.order)
        self.impulses = Impulses(recorder.system, self.span)
        #: Sizes of states so far, and the least error that a segment is allowed.
        self.sizes, self.noise = recorder.system.error_sizes(engine.x), ROUND_OFF

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on, besides the recorder."""
        return super().memory() | {
            "step size": np.array([*astuple(self.size), self.noise]),
            "sizes of states": self.sizes.copy(),
            "sizes of inputs": self.impulses.largest.copy(),
        }

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        super().restore(memory)
        *size, self.noise = memory["step size"].tolist()
        pairs = zip(fields(StepSize), size, strict=True)
        self.size = StepSize(*(int(x) if field.type is int else x for field, x in pairs))
        self.sizes = memory["sizes of states"].copy()
        self.impulses.largest = memory["sizes of inputs"].copy()

    def advance(self, clock: Clock, told: Callable[[int], None]) -> None:
        """Go from the start of a clock to its end, of whose steps only the first size counts."""
        recorder, system, size = self.recorder, self.recorder.system, self.size
        span, refused = self.span, inf
        shown = int(clock.steps * (recorder.reached - clock.start) / span)
        while recorder.reached < clock.end:
            t = recorder.reached
            segment, count = self._segment(t, clock, size)
            part = max(count * segment.h / span, SHARE * size.jumps)
            allowed = max(self.tolerance * part, self.noise)
            start, failure = self.engine.memory(), None
            try:
                coarse = self._take(_doubled(segment), count // 2, NEVER)
                self.engine.restore(start)
                fine = self._take(segment, count, recorder.save_every)
                reached = np.maximum(self.sizes, system.error_sizes(fine.x))
                error = self._error(fine.x, coarse.x, reached)
                times = t + segment.h * np.arange(count + 1.0)
                error = max(error, self.impulses.error(times))
            except (NewtonFailure, LargeStepError) as unsolved:
                failure, error = unsolved, inf
            except Exception:
                if size.units == 1:
                    raise
                self.engine.restore(start)
                size.units = 1  # to come as near to it as possible
                continue
            if size.refused and STALLED * refused < error < NOISE:
                self.noise = max(self.noise, 2 * refused, 2 * error)
                allowed = max(allowed, self.noise)
            ratio = error / allowed
            if not ratio <= 1:
                self.engine.restore(start)
                refused = error
                recorder.rejected_steps += count
                size.refuse(ratio)
                if size.h < SMALLEST * span:
                    raise self._given_up(size.h, failure)
                continue
            recorder.in_steps(segment.h)
            recorder.totals = fine.totals
            for block in fine.blocks:
                recorder.extend(block)
            size.accept(ratio)
            self.sizes, self.noise = reached, max(FADES * self.noise, ROUND_OFF)
            done = int(clock.steps * (recorder.reached - clock.start) / span)
            told(done - shown)
            shown = done
            if self.stream is not None:
                self.stream.poll()

    def _segment(self, t: float, clock: Clock, size: StepSize) -> tuple[Clock, int]:
        """Return the clock of the next segment, and how many steps this has.

        The clock has one more, unless the run ends with the segment.
        """
        left = max(1, ceil((clock.end - t) / (STEPS * size.h) * (1 - 1e-9)))
        before, fractions = self.recorder.done, clock.fractions
        if size.units >= left:
            size.h = (clock.end - t) / (STEPS * left)
            return Clock(t, clock.end, size.h, STEPS * left, fractions, before), STEPS * left
        count = STEPS * size.units
        end = t + (count + 1) * size.h
        return Clock(t, end, size.h, count + 1, fractions, before), count

    def _take(self, clock: Clock, steps: int, save_every: int) -> _Taken:
        """Take so many steps of a clock; the recorder does not know of them yet."""
        totals, n = self.recorder.totals.copy(), clock.before
        end, blocks = n + steps * len(clock.fractions), []
        while n < end:
            with self.engine.undisturbed() as interrupts:
                block = self.engine.advance(clock, n, end - n, save_every, totals)
            if interrupts:
                signal.raise_signal(signal.SIGINT)
            blocks.append(block)
            n += block.steps
        return _Taken(self.engine.x, blocks, totals)

    def _error(self, fine: Vector, coarse: Vector, sizes: Vector) -> float:
        """Return what a state is off, as a part of its size."""
        moving = ~self.recorder.system.algebraic & (sizes > 0)
        gap = abs(fine - coarse)[moving] / sizes[moving]
        return float(np.max(gap, initial=0.0)) / (2.0**self.facts.scheme.order - 1.0)

    def _given_up(self, h: float, failure: NewtonFailure | LargeStepError | None) -> Exception:
        if isinstance(failure, NewtonFailure):
            failure.reason += f", also in steps of {h:.1g} s"
        return failure or InputError(
            f"the tolerance {self.tolerance:g} needs steps below {h:.1g} s here; check laws for "
            "repeated jumps, or increase the tolerance"
        )


def _doubled(segment: Clock) -> Clock:
    """Return the clock of steps of twice the size, and one more than are taken."""
    h, whole = 2 * segment.h, segment.whole // 2 + 1
    return Clock(
        segment.start, segment.start + whole * h, h, whole, segment.fractions, segment.before
    )
