"""What takes some runs of a study, in this process or in another one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from poinsot.run.opening import Opening
from poinsot.studies import single
from poinsot.studies.batch import Arena, Batch, Runs
from poinsot.studies.cases import Cases
from poinsot.studies.measures import Measures
from poinsot.studies.numbers import NoPolynomialsError, Numbers
from poinsot.studies.outcomes import Outcomes
from poinsot.studies.polynomials import Polynomials

Array = NDArray[np.float64]

#: States at which it is compared what systems measure; and to what part of its size [-].
STATES, ALIKE = 3, 1e-12


@dataclass(frozen=True, eq=False)
class Recipe:
    """`Numbers` without the run that they belong to, which is opened again from its parameters."""

    row: Array
    base: Array
    columns: NDArray[np.intp]
    low: Array
    high: Array
    polynomials: Polynomials
    places: NDArray[np.intp]

    @classmethod
    def of(cls, numbers: Numbers, row: Array) -> "Recipe":
        """Return the recipe of numbers, one of whose runs has parameters row."""
        own = numbers.columns, numbers.low, numbers.high, numbers.polynomials, numbers.places
        return cls(row, numbers.base, *own)

    def numbers(self, opening: Opening) -> Numbers:
        """Return the numbers again."""
        own = self.columns, self.low, self.high, self.polynomials, self.places
        return Numbers(opening, self.base, *own)


@dataclass(frozen=True, eq=False)
class Worker:
    """Takes runs of a study.

    Parameters
    ----------
    key : str
        Tells studies apart: a process prepares once for each.
    cases, measures : Cases, Measures
        The runs, and what is kept of them.
    samples : int
        How many states are saved of each at most.
    recipe : Recipe or None
        How runs begin in machine code; None: every model is built.
    by : callable
        What takes runs from the numbers in which they differ: a subclass of `Runs`.
    """

    key: str
    cases: Cases
    measures: Measures
    samples: int
    recipe: Recipe | None
    by: Callable[[Numbers], Runs] = Arena

    def take(self, runs: NDArray[np.intp], rows: Array) -> Outcomes:
        """Take runs by their numbers, with parameters rows (k, numbers)."""
        into = Outcomes.empty(runs, self.samples, self.measures.width)
        left = list(range(len(runs)))
        if self.recipe is not None:
            left = self._batch(self.recipe).take(rows, into)
        for k in left:
            into.clear(k)
            single.take(self.cases, self.measures, rows[k], into, k)
        return into

    def prepare(self, recipe: Recipe) -> None:
        """Prepare this process; raises `NotVectorisedError` if there is no kernel for the runs."""
        self._batch(recipe).prepare()

    def _batch(self, recipe: Recipe) -> Batch:
        with _LOCK:
            if (self.key, self.by) not in _PREPARED:
                opening = self.cases.opening(recipe.row)
                assert opening is not None
                _PREPARED.clear()
                made = Batch(recipe.numbers(opening), self.measures, self.by)
                _PREPARED[self.key, self.by] = made
            return _PREPARED[self.key, self.by]


#: What this process is prepared for.
_PREPARED: dict[tuple[str, Callable[[Numbers], Runs]], Batch] = {}
_LOCK = Lock()


class Alike:
    """Opens runs whose systems measure the same, and have the same constraints, at any state."""

    def __init__(self, cases: Cases, measures: Measures) -> None:
        self.cases, self.measures, self.seen = cases, measures, list[Array]()
        self.states: tuple[Array, Array] | None = None

    def __call__(self, row: Array) -> Opening | None:
        """Return the beginning of a run; raise `NoPolynomialsError` if it is seen differently."""
        opening = self.cases.opening(row)
        if opening is None:
            return None
        problem = opening.run.problem
        x, turned = problem.x, problem.turned
        if self.states is None:
            random = partial(np.random.default_rng(0).normal, scale=0.3)
            x = x + random(size=(STATES, x.size))
            self.states = x, turned + random(size=(STATES, turned.size))
        states, angles = self.states
        if states.shape[1] != problem.x.size or angles.shape[1] != turned.size:
            return None
        observer, h = opening.run.loop.recorder.observer, np.full(STATES, problem.clock.h)
        rows, look = (
            observer.constraints(states, states[::-1], h),
            self.measures.look(problem.system),
        )
        found = [look.over(states, angles)]
        for channel in self.measures.reactions:
            if not look.determines(channel.owner):
                raise NoPolynomialsError(
                    f"the reaction of joint '{channel.owner}' is one of many that its loop allows"
                )
            found.append(look.mean_reaction(channel, states, states[::-1], h))
        found += [each for own in rows.values() for each in (own.error, own.noisy)]
        if not self.seen:
            self.seen = found
        pairs = zip(self.seen, found, strict=True)
        same = all(
            a.shape == b.shape and np.all(abs(a - b) <= ALIKE * np.max(abs(a), initial=0.0))
            for a, b in pairs
        )
        if not same:
            raise NoPolynomialsError("what is seen of a state depends on the parameters")
        return opening


def recipe_of(cases: Cases, measures: Measures, rows: Array) -> tuple[Recipe | None, str]:
    """Return how runs with parameters rows begin; None: models are built, and why."""
    try:
        numbers = Numbers.of(Alike(cases, measures), rows, cases.parts)
    except NoPolynomialsError as error:
        return None, str(error)
    row = rows[0].copy()
    row[numbers.columns] = numbers.polynomials.nodes[:, 0]
    return Recipe.of(numbers, row), ""
