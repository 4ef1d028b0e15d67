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
    """What a run leaves behind: how many steps were taken, rows that were saved, and where it is.

    `bodies` are the inertia and weight of bodies, `reached` is their motion after the last step.
    """

    taken: int
    saved: job.Saved
    bodies: Array
    reached: Array


class Runs(ABC):
    """What takes runs from the numbers in which they differ."""

    @abstractmethod
    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs with numbers varied (runs, entries), each until the next."""


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

    def ends(self, varied: Array) -> Iterator[End]:
        """Yield the ends of runs."""
        own = self.job
        for row in varied:
            self.memory[:] = self.begun
            self.memory[self.places] = row[self.inside]
            taken, kept = self.kernel.at(self.words)
            saved = job.Saved(*(array[:kept] for array in self.saved))
            reached = (own.state, own.ahead, own.before)[(own.times.size - 1) % 3]
            yield End(taken, saved, own.machine.bodies.numbers, reached)


@dataclass(frozen=True, eq=False)
class Batch:
    """Runs of one structure in machine code, and what is kept of them."""

    numbers: Numbers
    measures: Measures
    runs: Callable[[Numbers], Runs] = Arena

    @cached_property
    def _threads(self) -> local:
        return local()

    @property
    def _runs(self) -> Runs:
        if not hasattr(self._threads, "runs"):
            self._threads.runs = self.runs(self.numbers)
        own: Runs = self._threads.runs
        return own

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
        times = self.numbers.opening.job.times
        steps = times.size - 1
        samples = into.time.shape[1]
        many = max(1, TOGETHER // samples)
        good, waiting = list[int](), list[tuple[int, Array, Array, Array]]()
        last = np.zeros((2, *x0.shape))
        angles = self.numbers.opening.runner.system.angles
        for k, end in enumerate(self._runs.ends(varied)):
            saved, sums = end.saved, end.saved.sums
            if end.taken < steps or not self._balanced(end, steps):
                continue
            place, kept = able[k], len(sums)
            last[0, k], last[1, k] = saved.x[-1], saved.stage[-1]
            base = turned0[k] - angles(x0[k])
            x = np.concatenate([x0[k][None], saved.x])
            turned = np.concatenate([turned0[k][None], base + saved.turns])
            start = np.zeros((1, sums.shape[1]))
            start[0, job.ENERGY] = sums[-1, job.START]
            waiting.append((place, x, turned, np.concatenate([start, sums])))
            into.time[place, : kept + 1] = np.append(times[0], times[saved.step + 1])
            into.balance_error[place] = sums[-1, job.ERROR]
            into.iterations[place] = sums[-1, job.ITERATIONS]
            good.append(k)
            if len(waiting) == many:
                self._measure(waiting, into)
                waiting.clear()
        self._measure(waiting, into)
        good = self._closed(good, x0, last, steps)
        into.status[able[good]] = DONE
        return good

    def _measure(self, runs: list[tuple[int, Array, Array, Array]], into: Outcomes) -> None:
        """Write what was measured of some runs: places, states, angles and sums."""
        if not runs:
            return
        places, x, turned, sums = zip(*runs, strict=True)
        joined = np.concatenate(sums)
        energies = {
            "energy": joined[:, job.ENERGY],
            "dissipated": joined[:, job.LOST],
            "balance_error": joined[:, job.BALANCE],
        }
        found = self.measures.table(self._look, np.concatenate(x), np.concatenate(turned), energies)
        first = 0
        for place, own in zip(places, x, strict=True):
            into.table[place, : len(own)] = found[first : first + len(own)]
            first += len(own)

    def _balanced(self, end: End, steps: int) -> bool:
        """Tell whether the balance of a run is kept to round-off of what is certainly in play."""
        bodies, state = end.bodies, end.reached[:-1]
        all_sums, sums = end.saved.sums, end.saved.sums[-1]
        moving = bodies[:, tables.MASS2] / 2 @ (state[:, tables.VELOCITY : tables.RATES] ** 2)
        lifted = abs(bodies[:, tables.WEIGHT :] * state[:, : tables.DIRECTORS])
        energy = max(abs(sums[job.START]), np.max(abs(all_sums[:, job.ENERGY])))
        beside = abs(sums[job.LOST]) + np.sum(abs(sums[job.SUPPLIED :]))
        scale = energy + np.sum(moving) + np.sum(lifted) + beside
        return bool(sums[job.ERROR] <= MULTIPLE * EPS * sqrt(steps) * scale)

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
