"""What every gallery example consists of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.model import Model
from poinsot.model.coordinates import fits
from poinsot.ph import PHSystem
from poinsot.result import Result, SimulationError
from poinsot.run import simulate
from poinsot.schemes.records import find_scheme
from poinsot.systems.livens import LagrangianSystem
from poinsot.viz.formats import require_film
from poinsot.viz.pictures import animate
from poinsot.viz.style import Figure


@dataclass(frozen=True)
class Check:
    """A computed number, the expected one, and where that comes from."""

    what: str
    ours: float
    theirs: float
    tolerance: float
    source: str

    @property
    def passed(self) -> bool:
        """Whether the two differ by no more than the tolerance."""
        return abs(self.ours - self.theirs) <= self.tolerance

    def __str__(self) -> str:
        """One line."""
        verdict = "ok" if self.passed else "FAILED"
        return (
            f"{verdict:<7}{self.what}: {self.ours:.9g}, expected {self.theirs:.9g} "
            f"± {self.tolerance:.2g} ({self.source})"
        )


def vanishing(what: str, values: ArrayLike, tolerance: float, source: str = "theory") -> Check:
    """Return the check that numbers vanish: of the largest one, without its sign."""
    return Check(what, float(np.max(np.abs(values))), 0.0, tolerance, source)


def compare(
    names: Iterable[str], ours: ArrayLike, theirs: ArrayLike, tolerance: float, source: str
) -> list[Check]:
    """Return a check of each of several numbers; `names` are those of all of them, in order."""
    numbers = zip(names, np.ravel(ours).tolist(), np.ravel(theirs).tolist(), strict=True)
    return [Check(name, own, other, tolerance, source) for name, own, other in numbers]


def as_far_as_it_goes(model: Model | PHSystem | LagrangianSystem, **options: Any) -> Result:
    """Simulate, see `poinsot.simulate`; return what there is if a step has no solution."""
    try:
        return simulate(model, **options)
    except SimulationError as error:
        if error.result is None:
            raise
        return error.result


@dataclass(frozen=True)
class Example:
    """A published case: what it is, how it is run by default, and how it is checked.

    `scheme`, `h` [s] and `t_end` [s] are those of the source; `check` judges a run of that case.
    `look` gives bodies to a system that has none, so that it can be seen.
    Its `name` is that under which the gallery lists it.
    """

    title: str
    source: str
    scheme: str
    h: float
    t_end: float
    model: Callable[[], Model | PHSystem | LagrangianSystem]
    check: Callable[[Result], Sequence[Check]]
    plot: Callable[[Result], "Figure"]
    animate: Callable[[Result, Path], None] | None = None
    x0: Mapping[str, ArrayLike] | None = None
    look: Callable[[Result], Result] | None = None
    name: str = ""

    def describe(self) -> str:
        """Return title and source."""
        return f"{self.title} ({self.source})"

    def seen(self, result: Result) -> Result:
        """Return a run with bodies to look at, if there are any."""
        return result if self.look is None else self.look(result)

    def film(self, result: Result, path: Path) -> None:
        """Write an animation."""
        if self.animate is not None:
            self.animate(result, path)
        else:
            animate(self.seen(result), path)

    def require_film(self, path: Path) -> None:
        """Refuse a film in a format that cannot be written."""
        require_film(path)

    def run(
        self,
        *,
        scheme: str | None = None,
        coordinates: str | None = None,
        h: float | None = None,
        t_end: float | None = None,
        **options: Any,
    ) -> Result:
        """Simulate the published case, or a variation of it; other options as in `simulate`.

        Coordinates that the published scheme does not suit bring their own one.
        """
        suits = coordinates is None or fits(find_scheme(self.scheme), coordinates)
        return simulate(
            self.model(),
            scheme=self.scheme if scheme is None and suits else scheme,
            coordinates=coordinates,
            h=self.h if h is None else h,
            t_end=self.t_end if t_end is None else t_end,
            x0=self.x0,
            **options,
        )
