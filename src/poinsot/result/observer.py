"""What there is to see in the saved states of a run besides them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from poinsot.result.history import Columns, History
from poinsot.result.records import Array, Lazy, Observation

#: A function of some columns of many states, (states, columns) to (states, ...).
Look: TypeAlias = tuple[Callable[[Array], Array], Columns]
#: A number that belongs to a state (n,).
Number: TypeAlias = Callable[[Array], float]


class Observer:
    """Looks at the saved states of a run; by default there is nothing to see."""

    def observe(self, history: History) -> Observation:
        """Return what there is to see; what takes time, when it is asked for."""
        return Observation()

    def survey(self, history: History) -> Observation:
        """Return the same for those who want to see everything: all of it is computed at once."""
        return self.observe(history)


@dataclass(frozen=True, eq=False)
class StateObserver(Observer):
    """Numbers by name, each a function of one whole state (n,); see `Observation`.

    `energies` and `whole` are at the saved times, `middle` at the midpoints of steps.
    """

    n: int
    energies: Mapping[str, Number]
    whole: Mapping[str, Number]
    middle: Mapping[str, Number] = field(default_factory=dict)

    def observe(self, history: History) -> Observation:
        """Return energies and violations of constraints."""
        everything = slice(0, self.n)

        def looks(numbers: Mapping[str, Number]) -> dict[str, Look]:
            return {name: (_each(one), everything) for name, one in numbers.items()}

        def middle(look: Callable[[Array], Array]) -> Array:
            return history.over_steps(lambda x, *_: (look(x),), everything)[0]

        return Observation(
            whole=lazily(
                looks(self.whole),
                history,
                {name: partial(middle, _each(one)) for name, one in self.middle.items()},
            ),
            energies=lazily(looks(self.energies), history),
        )


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
