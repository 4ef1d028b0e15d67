"""Events in a run: found after every step, located within it, and acted upon.

An engine takes many steps, every one of them is looked at, and where a function has changed its
sign the engine goes back to the step before. The event is where a single step of a length between
zero and h ends on the zero of the function, so that it belongs to the motion of the scheme itself,
with balances as exact as anywhere. Another step of the rest of h leads back to the times of before.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from poinsot.parts.events import Trigger
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Block, Clock, Memory, Totals
from poinsot.ph.stages import EPS
from poinsot.ph.system import PHSystem
from poinsot.result.history import Saved
from poinsot.run.engine import Engine
from poinsot.run.event_log import EventLog
from poinsot.run.phases import PhasedEngine
from poinsot.run.problem import Problem
from poinsot.run.trials import Trials, due, single
from poinsot.systems.measuring import Measurement

Flags = NDArray[np.bool_]

#: Events nearer to each other, or to an end of their step, than this part of it are there together.
TOGETHER = 1e-9
#: A root is located to this part of a step, as far as round-off lets it.
LOCATED = 1e-14
#: A function rests at the zero of its event as long as it is no larger than this part of what it
#: changed by in that step: one that stays there, as of a joint that was locked, has no more events.
RESTING = 1e-6
#: In so many halves of a step it is seen whether a function has left the zero it began on.
HALVES = 20
#: Steps of a block, all of which are looked at, take no more memory than this [bytes].
ROOM = 2**24


class Triggers:
    """The functions of all events of a run."""

    def __init__(self, triggers: Sequence[Trigger], system: PHSystem) -> None:
        self.triggers = triggers
        self.measurements = [Measurement(system, trigger.channels) for trigger in triggers]
        self.moves = np.array([trigger.moves for trigger in triggers])
        self.directions = np.array([trigger.event.direction for trigger in triggers])

    def over(self, times: Vector, x: Array, turned: Array) -> Array:
        """Return all functions at states; (states, events)."""
        pairs = zip(self.triggers, self.measurements, strict=True)
        columns = [trigger.values(times, measure.over(x, turned)) for trigger, measure in pairs]
        return np.column_stack(columns)

    def of(self, block: Block) -> Array:
        """Return all functions at the ends of steps; (steps, events)."""
        saved = block.saved
        return self.over(saved.time, saved.x, saved.turned)

    def require_finite(self, t: float, x: Vector, turned: Vector, values: Vector) -> None:
        """Refuse values that are not finite."""
        for k in np.flatnonzero(~np.isfinite(values)).tolist():
            raise self.triggers[k].refusal(t, self.measurements[k](x, turned))


class WatchedEngine(Engine):
    """An engine whose steps are looked at for events.

    Parameters
    ----------
    engine : Engine
        What takes the steps.
    triggers : Triggers
        What is looked for.
    log : EventLog
        What was found.
    t, turned
        Time [s], and angles counted over turns [rad], at the start.
    """

    def __init__(
        self, engine: Engine, triggers: Triggers, log: EventLog, t: float, turned: Vector
    ) -> None:
        self.engine, self.triggers, self.log = engine, triggers, log
        self.name, self.first_block = engine.name, engine.first_block
        self.most = max(1, ROOM // (16 * engine.x.size))
        #: The functions now, and on which side of zero each of them is; 0: on none so far.
        self.values = triggers.over(np.array([t]), engine.x[None], turned[None])[0]
        triggers.require_finite(t, engine.x, turned, self.values)
        self.sides = np.sign(self.values)
        #: Which events happened just now, at the beginning of the step to come.
        self.fresh = np.zeros(self.sides.size, dtype=bool)
        #: How far functions may be from the zero on which they rest; 0: they do not.
        self.bands = np.zeros(self.sides.size)
        #: The time that was reached within a step [s].
        self.within = np.nan
        #: The number of a step that is known to have an event.
        self.expected = -1.0

    @property
    def x(self) -> Vector:
        """The state."""
        return self.engine.x

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from another state."""
        self.engine.start(x, turned)

    def memory(self) -> Memory:
        """Return what the engine carries, and where the functions are."""
        own = {
            "event values": self.values.copy(),
            "event sides": self.sides.copy(),
            "event fresh": self.fresh.astype(float),
            "event bands": self.bands.copy(),
            "event within": np.array([self.within, self.expected]),
        }
        return self.engine.memory() | own | self.log.memory()

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        self.engine.restore(memory)
        self.values, self.sides = memory["event values"].copy(), memory["event sides"].copy()
        self.fresh, self.bands = memory["event fresh"] > 0, memory["event bands"].copy()
        self.within, self.expected = memory["event within"].tolist()
        self.log.restore(memory)

    def undisturbed(self) -> AbstractContextManager[list[int]]:
        """Return in what context steps are taken."""
        return self.engine.undisturbed()

    def advance(
        self, clock: Clock, first: int, steps: int, save_every: int, totals: Totals
    ) -> Block:
        """Take steps up to the one with the next event, or that one up to the event."""
        whole, split = len(clock.fractions), self._split
        piece = single(clock, first, self.within, clock.at(first + whole)) if split else clock
        trials = Trials(self.engine, first, whole, totals)
        alone = split or first == self.expected
        block, after = trials.take(piece, whole if alone else min(steps, self.most * whole))
        values = self.triggers.of(block)
        clear = self._before_event(values)
        if clear == 0:
            return self._to_event(clock, trials, self._functions(block))
        if clear < len(values):
            self.expected = first + clear * whole
            block, after = trials.take(piece, clear * whole)
        trials.accept(after)
        self._go_on(values[: len(block.saved.time)])
        return due(block, first, whole, save_every, clock.steps)

    # -- sides --------------------------------------------------------------------------------

    @property
    def _split(self) -> bool:
        """Whether the last event was within a step."""
        return not np.isnan(self.within)

    def _outside(self, values: Array) -> Array:
        """Return on which sides functions are that do not rest on zero; (..., events)."""
        return np.where(abs(values) < self.bands, self.sides, np.sign(values))

    def _signs(self, row: Vector) -> Vector:
        """Return on which sides functions are at the end of a step.

        Velocities across constraints change their sign from step to step, by an error of order h^2.
        So they are not looked at between an event of their own and the end of its step.
        """
        blind = self.fresh & self.triggers.moves & self._split
        return np.where(blind, self.sides, self._outside(row))

    def _happen(self, signs: Vector) -> Flags:
        """Tell which events happen in a step that leads to these sides."""
        before, wanted = self.sides, self.triggers.directions
        crossed = (before != 0) & (signs != before)
        return np.asarray(crossed & ((wanted == 0) | (wanted == -before)))

    def _pass_quiet(self, values: Array, first: int) -> int:
        """Go on while every function stays on its side; return the number of the next step."""
        quiet = np.all(self._outside(values[first:]) == self.sides, axis=1)
        after = first + (quiet.size if quiet.all() else int(np.argmin(quiet)))
        if after > first:
            self._leave(np.max(abs(values[first:after]), axis=0))
            self._pass(values[after - 1])
        return after

    def _leave(self, sizes: Vector) -> None:
        """Note which functions are too large to rest on zero any more."""
        self.bands = np.where(sizes > self.bands, 0.0, self.bands)

    def _pass(self, row: Vector) -> None:
        """Go to the end of a step in which nothing happens."""
        signs = self._signs(row)
        crossed = (self.sides != 0) & (signs != self.sides)
        self.sides = np.where(crossed, -self.sides, np.where(self.sides == 0, signs, self.sides))
        self.values, self.fresh, self.within = row, np.zeros_like(self.fresh), np.nan
        self._leave(abs(row))

    def _before_event(self, values: Array) -> int:
        """Return how many steps there are before the first one with an event."""
        state = self.values, self.sides, self.fresh, self.within, self.bands
        found = self._go_on(values)
        self.values, self.sides, self.fresh, self.within, self.bands = state
        return found

    def _go_on(self, values: Array) -> int:
        """Go to the first step with an event, or to the end; return how many steps are before."""
        found = self._pass_quiet(values, 0)
        while found < len(values):
            row = values[found]
            if not np.all(np.isfinite(row)) or self._happen(self._signs(row)).any():
                break
            self._pass(row)
            found = self._pass_quiet(values, found + 1)
        return found

    # -- an event -----------------------------------------------------------------------------

    def _to_event(self, clock: Clock, trials: Trials, end: Vector) -> Block:
        """Take a step up to the first event in it; `end` are the functions at its end."""
        first, whole = trials.first, trials.whole
        t0 = self.within if self._split else clock.at(first)
        t1 = clock.at(first + whole)
        near, known = TOGETHER * (t1 - clock.at(first)), {t1: end}

        def at(t: float) -> Vector:
            """Return the functions at the end of a step to time t."""
            if t not in known:
                known[t] = self._functions(trials.take(single(clock, first, t0, t), whole)[0])
            return known[t]

        crossed = self._happen(self._signs(end))
        times = np.full(crossed.size, np.inf)
        for k in np.flatnonzero(crossed).tolist():
            times[k] = self._time(k, at, t0, t1)
        t = float(max(times.min(), t0 + near))
        if t > t1 - near:
            t = t1
        block, after = trials.take(single(clock, first, t0, t), whole)
        row, sides = self._functions(block), self.sides
        bands = RESTING * np.maximum(abs(self.values), abs(end))
        touched = crossed & np.isinf(times)
        happened = (times <= t + near) | (self._happen(self._signs(row)) & ~touched)
        trials.accept(after)
        self._pass(row)
        self.sides, self.fresh = np.where(happened, -sides, self.sides), happened
        self.bands = np.where(happened, bands, self.bands)
        added = self._do(happened, t, trials.totals)
        block = replace(block, saved=self._changed(block.saved, added, happened))
        if t == t1:
            return block
        self.within = t
        return replace(block, steps=0)

    def _functions(self, block: Block) -> Vector:
        """Return all functions at the end of a step."""
        saved = block.saved
        row: Vector = self.triggers.of(block)[0]
        self.triggers.require_finite(saved.time[0], saved.x[0], saved.turned[0], row)
        return row

    def _time(self, k: int, at: Callable[[float], Vector], t0: float, t1: float) -> float:
        """Return when a function reaches zero in a step from t0 to t1 [s].

        Infinity, if it is at zero at the beginning and does not leave it to its new side.
        """
        low, start = t0, float(self.values[k])
        if self.fresh[k] or np.sign(start) != self.sides[k]:
            for j in range(1, HALVES + 1):
                low = t0 + (t1 - t0) / 2**j
                start = float(at(low)[k])
                if np.sign(start) == self.sides[k]:
                    break
            else:
                return np.inf

        def function(t: float) -> float:
            return start if t == low else float(at(t)[k])

        return float(brentq(function, low, t1, xtol=LOCATED * (t1 - t0), rtol=4 * EPS))

    def _changed(self, saved: Saved, added: float, happened: Flags) -> Saved:
        """Return the step that ends in an event, with what has changed at its end."""
        if not added:
            return saved
        changed, rest = replace(saved, energy=saved.energy + added), RESTING * abs(self.values)
        changed = replace(changed, x=self.engine.x[None])
        self.values = self.triggers.over(changed.time, changed.x, changed.turned)[0]
        self.bands = np.where(abs(self.values) < rest, rest, self.bands)
        new = np.sign(self.values)
        self.sides = np.where(happened | (new == 0), self.sides, new)
        return changed

    def _do(self, happened: Flags, t: float, totals: Totals) -> float:
        """Note what happened, and do what it asks for; return the energy that it adds [J]."""
        whole = 0.0
        for k in np.flatnonzero(happened).tolist():
            trigger, added = self.triggers.triggers[k], 0.0
            if isinstance(self.engine, PhasedEngine):
                added = self.engine.change(trigger.event.actions, t, totals)
            self.log.note(trigger.name, t, added)
            whole += added
            if "stop" in trigger.event.actions and not self.stopped:
                self.stopped = f"event '{trigger.name}' at t = {t:.9g} s"
        return whole


def watched(engine: Engine, problem: Problem, log: EventLog) -> WatchedEngine:
    """Return an engine that looks for the events of a problem, from its start on."""
    triggers = Triggers(problem.triggers, problem.system)
    return WatchedEngine(engine, triggers, log, problem.clock.start, problem.turned)
