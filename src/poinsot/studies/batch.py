r"""Many runs in machine code, from the numbers that each begins with; no model is built.

What a single run is judged by, `run.exactness`, is compared here with less than all of what is in
play: |H|, twice the kinetic energy of translation, weight, and what was supplied and dissipated.
A run that passes so would pass there. All others, and those that a first attempt of the compiled
engine does not solve, are taken again as single runs are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from threading import local

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import job, machine_code
from poinsot.kernels import tables
from poinsot.ph.stages import EPS
from poinsot.result.channels import Channel
from poinsot.run.exactness import MULTIPLE
from poinsot.studies.measures import Measures
from poinsot.studies.numbers import Numbers
from poinsot.studies.outcomes import DONE, Outcomes
from poinsot.systems.compiled.image import room, words_of
from poinsot.systems.measuring import Measurement

Array = NDArray[np.float64]

#: Saved states are measured so many at a time.
TOGETHER = 4096


@dataclass(frozen=True, eq=False)
class End:
    """Where a run ends: how many steps were taken, saved rows, and the motion of bodies there.

    `bodies` are their inertia and weight.
    """

    taken: int
    saved: job.Saved
    reached: Array
    bodies: Array


class Runs(ABC):
    """What takes runs from the numbers in which they differ; `job` is that of one of them."""

    job: job.Job

    @property
    def rows(self) -> int:
        """How many steps are saved."""
        return -(-(self.job.times.size - 1) // self.job.save_every)

    @abstractmethod
    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs with numbers varied (runs, entries), each until the next one."""


class Arena(Runs):
    """The memory in which runs take place, one after the other; every thread has its own."""

    def __init__(self, numbers: Numbers) -> None:
        image, asked = numbers.image, numbers.opening.job
        self.begun = numbers.base[: image.size]
        self.memory = room(image.size)
        self.memory[:] = self.begun
        self.saved = asked.saved._replace(
            **{name: np.zeros_like(array) for name, array in asked.saved._asdict().items()}
        )
        self.job = image.over(self.memory, saved=self.saved, times=asked.times)
        self.words = words_of(self.job)
        self.kernel = machine_code.function(numbers.opening.runner.form)
        self.inside = np.flatnonzero(numbers.places < image.size)
        self.places = numbers.places[self.inside]
        #: Numbers outside of arrays are among the words of the call.
        self.loose = image.loose(self.places)

    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs."""
        own, bodies = self.job, self.job.machine.bodies.numbers
        reached = (own.state, own.ahead, own.before)[(own.times.size - 1) % 3]
        for row in varied:
            self.memory[:] = self.begun
            self.memory[self.places] = row[self.inside]
            word, place = self.loose
            self.words[word] = self.memory[place].view(np.int64)
            yield End(self.kernel.at(self.words)[0], self.saved, reached, bodies)


@dataclass(eq=False)
class Group:
    """Runs that have been taken, and are looked at together.

    States `x`, angles `turned` and `sums` (runs, samples, ...) begin with the start; `stage` holds
    the midpoints of the steps before them, or the last one alone, `reached` the motion of bodies
    at the end.
    """

    room: int
    x: Array
    turned: Array
    sums: Array
    stage: Array
    reached: Array
    bodies: Array
    numbers: list[int]

    @classmethod
    def of(cls, runs: int, by: Runs, *, midpoints: bool) -> "Group":
        """Return room for some runs, with all of their midpoints or the last ones alone."""
        saved, samples = by.job.saved, by.rows + 1
        sizes = (each.shape[1] for each in (saved.x, saved.turns, saved.sums))
        x, turned, sums = (np.zeros((runs, samples, size)) for size in sizes)
        reached, bodies = by.job.state, by.job.machine.bodies.numbers
        moved = np.zeros((runs, reached.shape[0] - 1, tables.RATES))
        own = np.zeros((runs, *bodies.shape))
        stage = np.full((runs, samples if midpoints else 1, x.shape[2]), np.nan)
        return cls(runs, x, turned, sums, stage, moved, own, [])

    @property
    def runs(self) -> NDArray[np.intp]:
        """Their numbers."""
        return np.array(self.numbers, dtype=np.intp)

    def add(self, end: End, number: int, x0: Array, turned0: Array, base: Array) -> None:
        """Take in a run that was taken to its end, with angles on top of others."""
        k, saved, rows = len(self.numbers), end.saved, self.x.shape[1] - 1
        self.x[k, 0], self.x[k, 1:] = x0, saved.x[:rows]
        self.turned[k, 0], self.turned[k, 1:] = turned0, base + saved.turns[:rows]
        self.sums[k, 0, job.ENERGY] = saved.sums[rows - 1, job.START]
        self.sums[k, 1:] = saved.sums[:rows]
        count = max(1, self.stage.shape[1] - 1)
        self.stage[k, -count:] = saved.stage[rows - count : rows]
        self.reached[k] = end.reached[:-1, : tables.RATES]
        self.bodies[k] = end.bodies
        self.numbers.append(number)

    def balanced(self, steps: int) -> NDArray[np.intp]:
        """Return those whose balance is kept to round-off of what is certainly in play."""
        count = len(self.numbers)
        sums, state, bodies = self.sums[:count], self.reached[:count], self.bodies[:count]
        squares = np.sum(state[:, :, tables.VELOCITY :] ** 2, axis=2)
        moving = np.sum(bodies[:, :, tables.MASS2] / 2 * squares, axis=1)
        lifted = abs(bodies[:, :, tables.WEIGHT :] * state[:, :, : tables.DIRECTORS])
        ended = sums[:, -1]
        beside = abs(ended[:, job.LOST]) + np.sum(abs(ended[:, job.SUPPLIED :]), axis=1)
        energy = np.max(abs(sums[:, :, job.ENERGY]), axis=1)
        scale = energy + moving + np.sum(lifted, axis=(1, 2)) + beside
        return np.flatnonzero(ended[:, job.ERROR] <= MULTIPLE * EPS * sqrt(steps) * scale)


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs of one structure in machine code, and what is kept of them."""

    numbers: Numbers
    measures: Measures
    by: Callable[[Numbers], Runs] = Arena

    @cached_property
    def _threads(self) -> local:
        return local()

    @property
    def _runs(self) -> Runs:
        if not hasattr(self._threads, "runs"):
            self._threads.runs = self.by(self.numbers)
        own: Runs = self._threads.runs
        return own

    def prepare(self) -> None:
        """Prepare this thread."""
        assert self._runs

    @cached_property
    def _look(self) -> Measurement:
        return self.measures.look(self.numbers.opening.run.problem.system)

    def take(self, rows: Array, into: Outcomes) -> list[int]:
        """Take runs with parameters rows; return those that are to be taken as single runs."""
        numbers, opening = self.numbers, self.numbers.opening
        able = np.flatnonzero(numbers.covers(rows))
        varied = numbers.at(rows[able])
        able, varied = able[sound := numbers.sound(varied)], varied[sound]
        whole = np.tile(numbers.base[numbers.image.size :], (len(able), 1))
        beside = numbers.places >= numbers.image.size
        whole[:, numbers.places[beside] - numbers.image.size] = varied[:, beside]
        n = opening.run.problem.x.size
        x0, turned0 = whole[:, :n], whole[:, n:]
        solved = self._solve(varied, x0, turned0, able, into)
        left = set(range(len(rows))) - {int(able[k]) for k in solved}
        return sorted(left)

    def _solve(
        self, varied: Array, x0: Array, turned0: Array, able: NDArray[np.intp], into: Outcomes
    ) -> list[int]:
        """Take runs from their numbers, and measure them; return which of them are good."""
        by, good, last = self._runs, list[int](), np.zeros((2, *x0.shape))
        steps, samples = by.job.times.size - 1, by.rows + 1
        many, ends = max(1, TOGETHER // by.rows), by.ends(varied)
        for first in range(0, len(able), many):
            count = min(many, len(able) - first)
            group = Group.of(count, by, midpoints=bool(self.measures.reactions))
            for k, end in zip(range(first, first + group.room), ends, strict=False):
                if end.taken == steps:
                    base = turned0[k] - self._angles(x0[k])
                    group.add(end, k, x0[k], turned0[k], base)
            kept = group.balanced(steps)
            if not kept.size:
                continue
            runs = group.runs[kept]
            last[0, runs], last[1, runs] = group.x[kept, -1], group.stage[kept, -1]
            place = able[runs]
            into.table[place, :samples] = self._measured(group, kept)
            into.time[place, :samples] = self._times
            into.balance_error[place] = group.sums[kept, -1, job.ERROR]
            into.iterations[place] = group.sums[kept, -1, job.ITERATIONS]
            good += runs.tolist()
        good = self._closed(good, x0, last, steps)
        into.status[able[good]] = DONE
        return good

    @cached_property
    def _times(self) -> Array:
        """When states are saved [s], the start included."""
        asked = self.numbers.opening.job
        steps = asked.times.size - 1
        number = np.append(np.arange(0, steps, asked.save_every), steps)
        return np.asarray(asked.times[number])

    def _angles(self, x0: Array) -> Array:
        """Return the angles of joints at a start, within half a turn [rad]."""
        system = self.numbers.opening.runner.system
        positions = x0[: system.view.parts[0].n]
        known: tuple[Array, Array] | None = getattr(self._threads, "angles", None)
        if known is None or not np.array_equal(known[0], positions):
            known = self._threads.angles = positions.copy(), system.angles(x0)
        return known[1]

    def _measured(self, group: "Group", kept: NDArray[np.intp]) -> Array:
        """Return what is measured of some runs of a group; (runs, samples, width)."""
        rows = len(kept) * group.x.shape[1]
        x, turned, sums = (
            each[kept].reshape(rows, each.shape[2]) for each in (group.x, group.turned, group.sums)
        )
        energies = {
            "energy": sums[:, job.ENERGY],
            "dissipated": sums[:, job.LOST],
            "balance_error": sums[:, job.BALANCE],
        }
        h = np.full(rows, self.numbers.opening.run.problem.clock.h)

        def reaction(channel: Channel) -> Array:
            means = group.stage[kept].reshape(rows, group.x.shape[2])
            return self._look.mean_reaction(channel, means, x, h)

        found = self.measures.table(self._look, x, turned, energies, reaction)
        return found.reshape(len(kept), group.x.shape[1], self.measures.width)

    def _closed(self, good: list[int], x0: Array, last: Array, steps: int) -> list[int]:
        """Return those runs whose constraints are kept to round-off at their ends."""
        run = self.numbers.opening.run
        system, observer = run.problem.system, run.loop.recorder.observer
        h, count = run.problem.clock.h, len(good)
        if not count:
            return good
        absent = np.zeros(system.n, dtype=bool)
        for name in run.loop.facts.recovered & system.slices.keys():
            absent[system.slices[name]] = True
        ends = np.where(absent, 0.0, np.concatenate([x0[good], last[0, good]]))
        means = np.where(absent, 0.0, np.concatenate([x0[good], last[1, good]]))
        with np.errstate(all="ignore"):
            found = observer.constraints(ends, means, np.full(2 * count, h))
        fine = np.ones(count, dtype=bool)
        for name, rows in found.items():
            if name == "velocity_constraint_error" and not run.problem.scheme.stabilised:
                continue
            error = abs(rows.error[count:])
            if name == "constraint_error":
                error = np.minimum(error, abs(rows.error[count:] - rows.error[:count]))
            sizes = np.maximum(abs(rows.noisy[count:]), abs(rows.noisy[:count]))
            fine &= np.all((error <= MULTIPLE * EPS * sqrt(steps) * sizes) | (sizes == 0), axis=1)
        return [k for k, kept in zip(good, fine, strict=True) if kept]
