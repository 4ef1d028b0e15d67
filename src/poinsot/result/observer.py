"""Observers, which compute records from the saved states of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from poinsot.result.history import Columns, History
from poinsot.result.records import Array, Lazy, Observation

#: A function of some columns of many states, (states, columns) to (states, ...).
Look: TypeAlias = tuple[Callable[[Array], Array], Columns]
#: A number that belongs to a state (n,).
Number: TypeAlias = Callable[[Array], float]


class Rows(NamedTuple):
    """Constraints: violations, and the sizes of their terms; (states, rows) each, or (rows,).

    Round-off is in proportion to `noisy`: velocities are differences of positions over h, and have
    a share of theirs. `names` say what each row belongs to. `energy` (states,) or a number [J] is
    the work of their forces along the sizes of their terms.
    """

    error: Array
    size: Array
    noisy: Array
    names: Sequence[str] = ()
    energy: Array | float = 0.0


class Poses(NamedTuple):
    """Where bodies are: positions (states, bodies, 3) [m], rotations (states, bodies, 3, 3)."""

    position: Array
    rotation: Array


#: Constraints that belong to a state (n,), which a step of size h [s] led to.
RowsOf: TypeAlias = Callable[[Array, float], Rows]


class Observer:
    """Looks at the saved states of a run; by default there is nothing to see."""

    @property
    def undetermined(self) -> Sequence[str]:
        """Names of the joints whose reactions are one of many."""
        return ()

    @property
    def remarks(self) -> Sequence[str]:
        """What is odd about the numbers of a model, though it can be run."""
        return ()

    def of_general_steps(self) -> "Observer":
        """Return what looks at time steps of any system, if it matters; by default itself."""
        return self

    def observe(self, history: History) -> Observation:
        """Return what there is to see; what takes time, when it is asked for."""
        return Observation()

    def survey(self, history: History) -> Observation:
        """Return the same for those who want to see everything: all of it is computed at once."""
        return self.observe(history)

    def poses(self, x: Array) -> Poses | None:
        """Return where bodies are in states (k, n); None: there are none, or nobody knows."""
        return None

    def constraints(self, ends: Array, means: Array, h: Array) -> Mapping[str, Rows]:
        """Return how well constraints hold over steps of sizes h (k,), by names of `Observation`.

        States at the ends of the steps and at their midpoints are (k, n) each.
        """
        return {}


@dataclass(frozen=True, eq=False)
class StateObserver(Observer):
    """Numbers and constraints by name, each a function of one whole state; see `Observation`.

    `energies` and `ends` are at the saved times, `middle` at the midpoints of steps.
    """

    n: int
    energies: Mapping[str, Number]
    ends: Mapping[str, RowsOf]
    middle: Mapping[str, RowsOf] = field(default_factory=dict)

    def observe(self, history: History) -> Observation:
        """Return energies and the largest violations of constraints."""
        everything = slice(0, self.n)

        def looks(numbers: Mapping[str, Number]) -> dict[str, Look]:
            return {name: (_each(one), everything) for name, one in numbers.items()}

        def middle(look: Callable[[Array], Array]) -> Array:
            return history.over_steps(lambda x, *_: (look(x),), everything)[0]

        return Observation(
            whole=lazily(
                looks({name: _largest(rows) for name, rows in self.ends.items()}),
                history,
                {n: partial(middle, _each(_largest(rows))) for n, rows in self.middle.items()},
            ),
            energies=lazily(looks(self.energies), history),
        )

    def constraints(self, ends: Array, means: Array, h: Array) -> dict[str, Rows]:
        """Return the rows of each state."""
        looks = [(name, rows, ends) for name, rows in self.ends.items()]
        looks += [(name, rows, means) for name, rows in self.middle.items()]
        return {name: _stacked(rows, x, h) for name, rows, x in looks}


def _largest(rows: RowsOf) -> Number:
    """Return what gives the largest violation of a state."""
    return lambda x: float(np.max(abs(rows(x, 1.0).error), initial=0.0))


def _stacked(rows: RowsOf, x: Array, h: Array) -> Rows:
    """Return the rows of many states."""
    each = [rows(state, step) for state, step in zip(x, h.tolist(), strict=True)]
    error, size, noisy, names, energy = zip(*each, strict=True)
    return Rows(np.stack(error), np.stack(size), np.stack(noisy), names[0], np.array(energy))


def _each(one: Number) -> Callable[[Array], Array]:
    return lambda rows: np.array([one(row) for row in rows], dtype=float)


def lazily(
    looks: Mapping[str, Look],
    history: History,
    others: Mapping[str, Callable[[], Array]] | None = None,
) -> Lazy[Array]:
    """Return arrays by name, each a look at the saved states when it is asked for, or another."""

    def look(name: str) -> Array:
        if name not in looks:
            return (others or {})[name]()
        function, columns = looks[name]
        return history.over_times(lambda x: (function(x),), columns)[0]

    return Lazy([*looks, *(others or {})], look)
