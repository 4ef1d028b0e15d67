r"""How the beginning of a run changes with many parameters, from few models.

Most numbers of tables depend on one part of a model: inertia on a body, points and directions on a
joint. So one number of every part is changed at once, as columns of a sparse Jacobian are found
together [CPR74]. Two models, with changes c_k and r_k c_k of the parameters k, tell by the ratio of
two differences which parameter a number depends on, as r_k is different for each

.. math:: \frac{T(p + r c) - T(p)}{T(p + c) - T(p)} = r_k, \qquad
          \frac{\partial T}{\partial p_k} = \frac{T(p + r c) - T(p)}{r_k c_k} .

It is none of these ratios where a number depends on several of them, or is not linear. Then there
are models with half of these parameters each, down to single ones, which are left to others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis.gradients.beginnings import Beginning, Tables, together
from poinsot.analysis.variations import PART, Entry, Variations
from poinsot.errors import PoinsotError
from poinsot.model import Model
from poinsot.model.initial import equations_of
from poinsot.ph.matrices import Vector
from poinsot.ph.stages import EPS
from poinsot.run.problem import Problem
from poinsot.systems.directors import DirectorForm

#: Differences are round-off up to so many times that of the numbers.
NOISE = 64 * EPS
#: Ratios of differences are known that well, where these are well above round-off.
KNOWN = 1e-10
#: Starts differ from what their derivatives tell by no more than this part of the difference.
BENT = 30 * PART


@dataclass(frozen=True, eq=False)
class Slope:
    """Derivatives by a number of a parameter: of numbers of tables (k,), and of the start (n,)."""

    numbers: Vector
    dx0: Vector


class Compressed:
    """Derivatives by those numbers of parameters that few models tell.

    Parameters
    ----------
    variations : Variations
        The run, and what it depends on.
    look : function
        Returns the tables of a problem; None: they have another structure.
    same : function
        Tells whether what is measured of a state is the same in another problem.
    """

    def __init__(
        self,
        variations: Variations,
        look: Callable[[Problem], Tables | None],
        same: Callable[[Problem], bool],
    ) -> None:
        self.variations, self.look, self.same = variations, look, same
        #: By which of `variations.numbers`.
        self.slopes: dict[int, Slope] = {}
        if self._base is not None:
            for group in groups(variations.numbers):
                self._find(self._base, group)

    def _find(self, base: Beginning, group: Sequence[int]) -> None:
        """Find the slopes by these numbers of parameters, as far as they are linear."""
        found = self._from_two(base, group)
        if found is not None:
            self.slopes |= found
        elif len(group) > 1:
            half = len(group) // 2
            self._find(base, group[:half])
            self._find(base, group[half:])

    def _from_two(self, base: Beginning, group: Sequence[int]) -> dict[int, Slope] | None:
        """Return the slopes by some numbers of parameters from two models, or None."""
        numbers = [self.variations.numbers[k] for k in group]
        changes = np.array([PART * self.variations.size(each) for each in numbers])
        ratios = 2 + np.arange(len(group)) / len(group)
        there = []
        for factors in (changes, ratios * changes):
            begun = self._changed(dict(zip(numbers, factors.tolist(), strict=True)))
            if begun is None or not begun.fits(base):
                return None
            there.append(begun)
        if not self.same(there[1].problem):
            return None
        places = together([base, *there])
        here, sizes = base.numbers(places), base.sizes(places)
        one, two = (each.numbers(places) - here for each in there)
        owner = owners(one, two, ratios, sizes)
        if owner is None:
            return None
        found = {}
        for j, (k, way) in enumerate(zip(group, (ratios * changes).tolist(), strict=True)):
            slopes = np.where(owner == j, two / way, 0.0)
            found[k] = Slope(slopes[: base.tables.numbers.size], base.dx0(slopes, places))
        told = sum(
            way * each.dx0 for way, each in zip(ratios * changes, found.values(), strict=True)
        )
        return found if self._starts(there[1].problem, told) else None

    def _starts(self, problem: Problem, told: Vector) -> bool:
        """Tell whether another run starts where derivatives tell, but for their curvature."""
        here = self.variations.problem
        sizes, change = here.system.sizes(here.x), problem.x - here.x
        much = np.max(abs(change) / sizes, initial=0.0)
        return bool(np.max(abs(change - told) / sizes, initial=0.0) <= BENT * much + NOISE)

    @cached_property
    def _base(self) -> Beginning | None:
        """The run itself."""
        return self._begun(self.variations.model, self.variations.problem)

    def _changed(self, changes: Mapping[Entry, float]) -> Beginning | None:
        """Return the run with other values of some numbers, if there is one."""
        try:
            return self._begun(*self.variations.changed(changes))
        except PoinsotError:
            return None

    def _begun(self, model: object, problem: Problem) -> Beginning | None:
        """Return what a run begins with; None if its start is not that of a model's joints."""
        system, tables = problem.system, self.look(problem)
        if not isinstance(model, Model) or not isinstance(system, DirectorForm) or tables is None:
            return None
        equations = equations_of(model)
        elastic = len(equations.movable) < len(equations.bodies)
        if model.projection is not None or equations.singular or elastic:
            return None
        return Beginning(problem, system, equations, tables)


def groups(numbers: Sequence[Entry]) -> list[list[int]]:
    """Return the places of numbers of parameters in groups, with at most one of each part.

    Weights change with gravity and with masses, which are not in one group.
    """
    found: list[list[int]] = []
    known = [_part_and_kind(name) for name, _ in numbers]
    for k, (part, kind) in enumerate(known):
        for group in found:
            parts, kinds = zip(*(known[j] for j in group), strict=True)
            if part not in parts and not {"gravity", "mass"} <= {kind, *kinds}:
                group.append(k)
                break
        else:
            found.append([k])
    return found


def _part_and_kind(name: str) -> tuple[str, str]:
    """Return the part that a parameter belongs to, and whether it changes weights."""
    section, _, rest = name.partition(".")
    kind = {"gravity": "gravity", "bodies": "mass"}.get(section, "")
    if "inertia" in rest.split("."):
        kind = ""
    return (section if kind == "gravity" else f"{section}.{rest.partition('.')[0]}"), kind


def owners(one: Vector, two: Vector, ratios: Vector, sizes: Vector) -> NDArray[np.intp] | None:
    """Return by which parameter each number changes, -1 for none; (numbers,).

    `one` and `two` (numbers,) are differences, `ratios` those of each parameter, in order, and
    `sizes` (numbers,) what the round-off of numbers is judged by. None: some number is not linear
    in one of the parameters.
    """
    noise = NOISE * sizes
    changed = np.flatnonzero((abs(one) > noise) | (abs(two) > noise))
    found = np.full(one.size, -1)
    if changed.size:
        a, b = one[changed], two[changed]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(a == 0, np.inf, b / a)
        middle = (ratios[1:] + ratios[:-1]) / 2
        own = np.searchsorted(middle, ratio)
        unsure = 2 * noise[changed] + KNOWN * abs(b)
        apart = np.min(np.diff(ratios), initial=1.0) * abs(a)
        if np.any(abs(b - ratios[own] * a) > unsure) or np.any(apart < 4 * unsure):
            return None
        found[changed] = own
    return found
