r"""How the beginning of a run changes with many parameters, from few models.

Most numbers of tables depend on one part of a model: inertia on a body, points and directions on a
joint. So one number of every part is changed at once, as columns of a sparse Jacobian are found
together [CPR74]. Two models, with changes c_k and r_k c_k of the parameters p_k, tell which
parameter a number T is linear in by the ratio of their differences, as r_k is different for each

.. math:: \frac{T(p + r c) - T(p)}{T(p + c) - T(p)} = r_k, \qquad
          \frac{\partial T}{\partial p_k} = \frac{T(p + c) - T(p)}{c_k} .

With changes -c_k, the same goes for squares. Otherwise derivatives are differences of fourth order,
and models in which half of the parameters change tell which one it is. Where numbers depend on
several parameters, the group is divided, down to single parameters.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from poinsot.analysis.gradients.beginnings import (
    Beginning,
    Places,
    Slope,
    Tables,
    together,
)
from poinsot.analysis.variations import CENTRAL, PART, Entry, Variations
from poinsot.errors import PoinsotError
from poinsot.model import Model
from poinsot.model.compiling import compiled_near
from poinsot.model.initial import equations_near, equations_of
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.stages import EPS
from poinsot.ph.system import PHSystem
from poinsot.systems.compiled.backward import Tabulated
from poinsot.systems.form import MechanismForm

#: Differences are round-off up to so many times that of the numbers.
NOISE = 64 * EPS
#: Ratios of differences are known that well, where these are well above round-off.
KNOWN = 1e-10
#: All parameters change by this part of their sizes at once, to confirm what was found; starts then
#: differ from what their derivatives tell by no more than this part of the difference.
SMALL, BENT = 1e-2 * PART, 1e-3
#: Changes of a parameter, and weights of what they make for a derivative of fourth order.
MULTIPLES, WEIGHTS = tuple(CENTRAL), np.array(list(CENTRAL.values()))


#: By which parameter each number changes, and by how much, see `linear`.
Told: TypeAlias = tuple[Places, Array] | None
#: What tells that, of differences, their round-off, r and c.
Tell: TypeAlias = Callable[[Array, Vector, Vector, Vector], Told]


class Beside(NamedTuple):
    """Models with other values of a number, with weights for derivatives, and that of the start."""

    weights: tuple[float, ...]
    begun: tuple[Beginning, ...]
    dx0: Vector


class Compressed:
    """Derivatives by those numbers of parameters that few models tell.

    Parameters
    ----------
    variations : Variations
        The run, and what it depends on.
    look : function
        Returns the tables of a system; None: they have another structure.
    same : function
        Tells whether what is measured of a state is the same in another system.
    """

    def __init__(
        self,
        variations: Variations,
        look: Callable[[Tabulated], Tables | None],
        same: Callable[[Tabulated], bool],
    ) -> None:
        self.variations, self.look, self.same = variations, look, same
        #: By which of `variations.numbers`.
        self.slopes: dict[int, Slope] = {}
        self.base = base = self._begun(variations.model)
        if base is not None and base.suits_joints:
            for group in groups(variations.numbers):
                self._find(base, group)
            if not self._starts_as_told(base):
                self.slopes = {}

    def beside(self, k: int) -> Beside | None:
        """Return models with other values of one number, which may measure otherwise.

        None if they are to be built as a whole.
        """
        if self.base is None:
            return None
        change = self._change(k)
        ways = [np.array([m * change]) for m in MULTIPLES]
        begun = self._changed(self.base, [k], ways)
        if begun is None:
            return None
        dx0 = np.zeros(self.base.n)
        dx0[self.base.states] = WEIGHTS @ np.array([each.x for each in begun]) / change
        return Beside(tuple(WEIGHTS / change), tuple(begun), dx0)

    def _find(self, base: Beginning, group: Sequence[int]) -> None:
        """Find the slopes by these numbers of parameters, but for those that change measures."""
        first = self._alike(base, group)
        if first is None and len(group) > 1:
            group = [k for k in group if self._alike(base, [k])]
            first = self._alike(base, group) if group else None
        if first is not None:
            self._divide(base, group, first)

    def _alike(self, base: Beginning, group: Sequence[int]) -> Beginning | None:
        """Return a run with other values of some numbers; None if it begins or measures otherwise.

        The values differ by the usual changes.
        """
        changes = np.array([self._change(k) for k in group])
        more = self._changed(base, group, [changes])
        return more[0] if more and self._measures_same(base, more[0]) else None

    def _change(self, k: int) -> float:
        """Return the usual change of a number."""
        return PART * self.variations.size(self.variations.numbers[k])

    def _divide(
        self, base: Beginning, group: Sequence[int], first: Beginning | None = None
    ) -> None:
        """Find the slopes by numbers, as far as each changes numbers of its own."""
        found = self._together(base, group, first)
        if found is not None:
            self.slopes |= found
        elif len(group) > 1:
            half = len(group) // 2
            self._divide(base, group[:half])
            self._divide(base, group[half:])

    def _together(
        self, base: Beginning, group: Sequence[int], first: Beginning | None
    ) -> dict[int, Slope] | None:
        """Return the slopes by some numbers of parameters, or None; the first change is known."""
        count = len(group)
        c = np.array([self._change(k) for k in group])
        r = 2 + np.arange(count) / count
        ones, bits = np.ones(count), range((count - 1).bit_length())
        halves = [(np.arange(count) >> bit & 1).astype(float) for bit in bits]
        tried: tuple[tuple[Tell, list[Vector]], ...] = (
            (linear, [ones, r] if first is None else [r]),
            (quadratic, [-ones]),
            (smooth, [2 * ones, -2 * ones, *halves]),
        )
        begun, told = [base] if first is None else [base, first], None
        for tell, factors in tried:
            more = self._changed(base, group, [each * c for each in factors])
            if more is None:
                return None
            begun += more
            places = together(begun)
            here = base.numbers(places)
            differences = np.array([each.numbers(places) - here for each in begun[1:]])
            told = tell(differences, NOISE * base.sizes(places), r, c)
            if told is not None:
                break
        if told is None:
            return None
        owner, values = told
        slopes = base.slopes(owner, values, WEIGHTS, c, places)
        # What seems to change nothing may change numbers that are as small as round-off.
        return {
            k: slope for j, (k, slope) in enumerate(zip(group, slopes, strict=True)) if j in owner
        }

    def _measures_same(self, base: Beginning, other: Beginning) -> bool:
        """Tell whether the same is measured: of momenta, velocities depend on masses."""
        has_velocities = isinstance(base.system, MechanismForm)
        if has_velocities and other.system.layout is base.system.layout:
            return True
        return self.same(other.system)

    def _starts_as_told(self, base: Beginning) -> bool:
        """Tell whether a run with small changes of all parameters starts where slopes tell."""
        if not base.moves and not any(slope.dx0.any() for slope in self.slopes.values()):
            return True
        sizes = [self.variations.size(self.variations.numbers[k]) for k in self.slopes]
        changes = SMALL * np.array(sizes)
        there = self._changed(base, [*self.slopes], [changes])
        if there is None:
            return False
        told = np.array([slope.dx0[base.states] for slope in self.slopes.values()]).T @ changes
        found = there[0].x - base.x
        scale = base.system.sizes(self.variations.problem.x[base.states])
        motion = slice(base.system.view.motion)
        off, much = (np.max(abs(each / scale)[motion]) for each in (found - told, found))
        return bool(off <= BENT * much + NOISE)

    def _changed(
        self, base: Beginning, group: Sequence[int], changes: Iterable[Vector]
    ) -> list[Beginning] | None:
        """Return runs with other values of some numbers, if they begin as this one does."""
        found, numbers = [], [self.variations.numbers[k] for k in group]
        for each in changes:
            new = {number: way for number, way in zip(numbers, each.tolist(), strict=True) if way}
            try:
                begun = self._near(base, new)
            except PoinsotError:
                return None
            if begun is None:
                return None
            found.append(begun)
        return found

    def _near(self, base: Beginning, changes: Mapping[Entry, float]) -> Beginning | None:
        """Return a run with other values of some numbers; None: bodies are not in their places."""
        model, own = self.variations.near(changes), self.variations.model
        if model is None or not isinstance(own, Model):
            return None
        equations = equations_near(model, base.equations)
        system = compiled_near(model, own, base.system)
        tables = self.look(system)
        return None if tables is None else base.near(system, equations, tables)

    def _begun(self, model: object) -> Beginning | None:
        """Return what the run begins with; None if its start is not that of a model's joints."""
        problem = self.variations.problem
        system, states = host_of(problem.system)
        if not isinstance(model, Model) or not isinstance(system, Tabulated):
            return None
        equations, tables = equations_of(model), self.look(system)
        elastic = len(equations.movable) < len(equations.bodies)
        if equations.singular or elastic or tables is None:
            return None
        frames = system.directors(problem.x[states])
        known = states, problem.system.n, frames, equations, tables
        return Beginning(system, *known, model.projection is not None)


def host_of(system: PHSystem) -> tuple[PHSystem, slice]:
    """Return the mechanism that networks are joined to, if there are any, and its states."""
    hosting = system.hosting if isinstance(system, Interconnection) else None
    return (system, slice(0, system.n)) if hosting is None else (hosting.system, hosting.states)


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
    section, *rest = name.split(".")
    if section == "gravity":
        return section, section
    kind = "mass" if {"mass", "density"} & {*rest} else ""
    return ".".join([section, *rest[:1]]), kind


def linear(differences: Array, noise: Vector, r: Vector, c: Vector) -> Told:
    """Return by which parameter each number changes, -1 for none, and by how much.

    That is (4, numbers) for changes by `MULTIPLES` of c. `differences` (2, numbers) are those for
    changes c and r c, with r in order; below `noise` (numbers,) they are round-off. None: some
    number is not linear in one of the parameters.
    """
    return quadratic(np.array([*differences, -differences[0]]), noise, r, c)


def quadratic(differences: Array, noise: Vector, r: Vector, c: Vector) -> Told:
    """Return the same where numbers are polynomials of degree two, by changes c, r c and -c."""
    one, two, back = differences
    owner = np.full(one.size, -1)
    slope, bend = (one - back) / 2, (one + back) / 2
    changed = np.flatnonzero(np.any(abs(differences) > noise, axis=0))
    d, e, f = slope[changed], bend[changed], two[changed]
    # The change that is r times as large is r d + r^2 e.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 2 * f / (d + np.copysign(np.sqrt(d * d + 4 * e * f), d))
    own = np.searchsorted((r[1:] + r[:-1]) / 2, np.nan_to_num(ratio))
    unsure = 8 * noise[changed] + KNOWN * (abs(d) + abs(e))
    apart = np.min(np.diff(r), initial=1.0) * abs(d + 2 * r[own] * e)
    if np.any(abs(r[own] * d + r[own] ** 2 * e - f) > unsure) or np.any(apart < 4 * unsure):
        return None
    owner[changed] = own
    return owner, np.array([k * slope + k * k * bend for k in MULTIPLES])


def smooth(differences: Array, noise: Vector, r: Vector, c: Vector) -> Told:
    """Return the same where numbers are smooth functions of one parameter each.

    `differences` are those for changes c, r c, -c, 2 c, -2 c, and then for changes c of those
    parameters alone whose places have a certain bit. None: some number depends on several.
    """
    multiples, halves = differences[[0, 2, 3, 4]], differences[5:]
    changed = np.any(abs(differences) > noise, axis=0)
    whole, none = (abs(halves - each) <= 2 * noise for each in (multiples[0], 0.0))
    sure = (abs(multiples[0]) > 8 * noise) & np.all(whole | none, axis=0)
    owner = np.where(changed, (1 << np.arange(len(halves))) @ (whole & ~none), -1)
    if np.any(changed & ~sure) or np.any(owner >= c.size):
        return None
    return owner, multiples
