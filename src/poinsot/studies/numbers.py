r"""The numbers of runs as functions of parameters, so that most models need not be built.

What a run begins with, see `run.opening`, are mostly polynomials of low degree: inertia is linear
in masses, kinetic energy quadratic in velocities, weight the product of mass and gravity. They are
found from a few models that are built completely, and compared with others. Where all agree to
round-off, the numbers of any other run follow by one product of matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError
from poinsot.kernels import tables
from poinsot.kernels.tables import EULER2, MASS2, WEIGHT
from poinsot.ph.stages import EPS
from poinsot.ph.system import PHSystem
from poinsot.run.opening import Opening
from poinsot.studies.polynomials import Polynomials, interpolate, nodes_between, varying
from poinsot.systems.compiled.image import Image
from poinsot.systems.compiled.machine import Tables, radii_of_gyration
from poinsot.systems.mechanism import scales_of_rates

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

#: Numbers that differ by no more than so many times the round-off of their kind are the same; those
#: of the motion at the start, which equations of joints complete, by more.
ALIKE, COMPLETED = 256, 8192
#: So many models are built to compare with.
TESTS = 6
#: At least so many models may be built, at most so many, and one for so many runs.
LEAST, MOST, EVERY = 24, 240, 8
BODIES = "machine.bodies.numbers"
#: With what Newton's method begins: that of another run does as well.
GUESSED = ("carried.multiplier", "carried.past_multiplier")
#: What follows from inertia, and is no polynomial.
DERIVED = {
    "machine.gyration": "_radii",
    "machine.template.tiles": "_tiles",
    "machine.length": "_lengths",
    "machine.speeds": "_speeds",
}


class NoPolynomialsError(Exception):
    """The numbers of runs are no polynomials of the parameters, or there are too few runs."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers with which runs of one structure begin, as functions of parameters.

    Parameters
    ----------
    opening : Opening
        One of the runs, which has all that they have in common.
    base : (size,)
        Memory, state and angles at its start, see `Opening.numbers`.
    columns : (variables,)
        Which numbers of a row of parameters change.
    low, high : (variables,)
        Between which values of these the polynomials hold.
    polynomials : Polynomials
        The entries at `places`, as functions of these.
    places : (entries,)
        Where the numbers are that change.
    built : int
        How many models were built to find that.
    """

    opening: Opening
    base: Array
    columns: Places
    low: Array
    high: Array
    polynomials: Polynomials
    places: Places
    built: int = 0

    @classmethod
    def of(
        cls,
        opening: Callable[[Array], Opening | None],
        rows: Array,
        parts: Sequence[str] | None = None,
    ) -> "Numbers":
        """Return the numbers of runs with parameters rows (runs, numbers).

        `parts` are those of the model that each number belongs to. Raises `NoPolynomialsError` if
        each of these models must be built.
        """
        return _Search(opening, rows, parts or [""] * rows.shape[1]).found()

    @property
    def image(self) -> Image:
        """Where everything is in the memory of a run."""
        return self.opening.image

    def covers(self, rows: Array) -> Flags:
        """Tell which rows of parameters (runs, numbers) are between the ends of what is known."""
        own = rows[:, self.columns]
        return np.asarray(np.all((own >= self.low) & (own <= self.high), axis=1))

    def at(self, rows: Array) -> Array:
        """Return the numbers at `places` of runs with parameters rows; (runs, entries)."""
        found = self.polynomials(rows[:, self.columns])
        inertia = self._inertia(found)
        for name, function in DERIVED.items():
            where = _places(self.image, name)
            own = np.flatnonzero(np.isin(self.places, where))
            if own.size:
                derived = getattr(self, function)(inertia).reshape(len(rows), -1)
                found[:, own] = derived[:, self.places[own] - where[0]]
        return found

    def whole(self, rows: Array) -> Array:
        """Return all numbers of runs; (runs, size)."""
        found = np.tile(self.base, (len(rows), 1))
        found[:, self.places] = self.at(rows)
        return found

    def sound(self, found: Array) -> Flags:
        """Tell which runs have numbers (runs, entries) that bodies may have; not all is looked at.

        Masses are positive, and so are principal values of Euler tensors.
        """
        sizes, before = self._inertia(found), self.base[self._bodies][:, MASS2:WEIGHT]
        able = (sizes > 0) | ((sizes >= 0) & (before == 0))
        return np.asarray(able.all(axis=(1, 2)) & np.isfinite(found).all(axis=1))

    def _inertia(self, found: Array) -> Array:
        """Return masses and principal values of bodies, twice each; (runs, bodies, 4)."""
        where = self._bodies[:, MASS2:WEIGHT]
        inertia = np.tile(self.base[where], (len(found), 1, 1))
        body, column = np.nonzero(np.isin(where, self.places))
        inertia[:, body, column] = found[:, np.searchsorted(self.places, where[body, column])]
        return inertia

    @cached_property
    def _bodies(self) -> Places:
        """Where the inertia of bodies is."""
        return _places(self.image, BODIES).reshape(self.image.fields[BODIES].shape)

    @cached_property
    def _tables(self) -> Tables:
        return self.opening.runner.plan

    @cached_property
    def _frames(self) -> Array:
        """The frames of bodies at the start."""
        return self.opening.runner.system.directors(self.opening.run.problem.x)

    def _radii(self, inertia: Array) -> Array:
        """Return the least and the greatest radius of gyration of bodies [m]; (runs, 2)."""
        turns = self._tables.mechanism.unknowns.turns
        return radii_of_gyration(inertia[:, :, MASS2], inertia[:, :, EULER2:], turns)

    def _lengths(self, inertia: Array) -> Array:
        """Return the longest lever arms of joints, or radii of gyration [m]; (runs,)."""
        mechanism = self._tables.mechanism
        arms = mechanism.lever_arms(self._frames)
        with np.errstate(divide="ignore", invalid="ignore"):  # of what is no body
            across = np.sqrt(inertia[:, :, EULER2:].sum(axis=2) / inertia[:, :, MASS2])
        return np.asarray(np.maximum(np.max(arms, initial=0.0), across.max(axis=1)))

    def _speeds(self, inertia: Array) -> Array:
        """Return what makes rates of constraints speeds; (runs, nodes, 3)."""
        squares = self._tables.mechanism.rate_squares(self._frames)
        return self._tables.placed(scales_of_rates(self._lengths(inertia), *squares))

    def _tiles(self, inertia: Array) -> Array:
        """Return what tiles hold beforehand: linear in masses and their inverses; (runs, ...)."""
        bodies, by_inverse, by_mass = self._terms
        base = self.base[_places(self.image, "machine.template.tiles")]
        before, now = self.base[self._bodies][bodies, MASS2] / 2, inertia[:, bodies, MASS2] / 2
        found = np.tile(base, (len(now), 1))
        with np.errstate(divide="ignore"):
            change = 1 / now - 1 / before
        # Sums whose order does not depend on how many runs there are.
        for k in range(len(bodies)):
            found += change[:, k, None] * by_inverse[k] + (now - before)[:, k, None] * by_mass[k]
        return found

    @cached_property
    def _terms(self) -> tuple[Places, Array, Array]:
        """The bodies whose masses change, and their factors in tiles; (bodies, entries) each."""
        bodies = np.flatnonzero(np.isin(self._bodies[:, MASS2], self.places))
        filled = self.opening.job.machine.template.places
        terms = self._tables.template_terms(filled, bodies)
        by_inverse, by_mass = (each.reshape(len(bodies), -1) for each in terms)
        return bodies, by_inverse, by_mass


def _places(image: Image, name: str) -> Places:
    """Return where the numbers of an array are."""
    field = image.fields[name]
    return field.first + np.arange(field.words)


class _Search:
    """Finds polynomials: builds models, and compares."""

    def __init__(
        self, opening: Callable[[Array], Opening | None], rows: Array, parts: Sequence[str]
    ) -> None:
        self.open, self.rows, self.parts = opening, rows, parts
        self.columns = np.flatnonzero(np.any(rows != rows[0], axis=0))
        self.known: dict[bytes, Array] = {}
        self.first: Opening | None = None
        self.most = min(MOST, max(LEAST, len(rows) // EVERY))

    def found(self) -> Numbers:
        """Return the numbers, or raise `NoPolynomialsError`."""
        own = self.rows[:, self.columns]
        low, high = own.min(axis=0), own.max(axis=0)
        try:
            return self._between(low, high)
        except PoinsotError:
            low, high = self._valid(own)
        try:
            return self._between(low, high)
        except PoinsotError as error:
            raise NoPolynomialsError(str(error)) from error

    def value(self, point: Array) -> Array:
        """Return the numbers of the model with these values of what changes."""
        key = point.tobytes()
        if key not in self.known:
            if len(self.known) >= self.most:
                raise NoPolynomialsError(f"more than {self.most} models would have to be built")
            row = self.rows[0].copy()
            row[self.columns] = point
            opened = self.open(row)
            if opened is None:
                raise NoPolynomialsError("machine code alone cannot take these runs")
            if self.first is None:
                self.first = opened
            others = self.first.image.differences(opened.job)
            if not np.array_equal(opened.job.times, self.first.job.times):
                others.append("times")
            if others:
                raise NoPolynomialsError(f"models differ in structure: {', '.join(others[:3])}")
            self.known[key] = np.where(self._numbers, opened.numbers(self.first.image), 0.0)
        return self.known[key]

    def _between(self, low: Array, high: Array) -> Numbers:
        nodes = nodes_between(low, high)
        own = self.rows[:, self.columns]
        own = own[np.all((own >= low) & (own <= high), axis=1)]
        order = np.random.default_rng(0).permutation(len(own))
        base = self.value(nodes[:, 0])
        ends = [self.value(self._one(nodes, k)) for k in range(len(nodes))]
        tests = [(point, self.value(point)) for point in own[order[:TESTS]]]
        assert self.first is not None
        image = self.first.image
        known = np.array([base, *ends, *(value for _, value in tests)])
        alike = EPS * _sizes(self.first, known)
        derived = np.concatenate([_places(image, name) for name in DERIVED])
        guessed = self._guessed()
        alike[derived] = alike[guessed] = np.inf

        def agree(a: Array, b: Array) -> Flags:
            with np.errstate(invalid="ignore"):
                return np.asarray((abs(a - b) <= alike) | (a == b))

        found, wrong = interpolate(self.value, nodes, tests, agree, self.most)
        if wrong.any():
            named = image.describe(int(np.flatnonzero(wrong)[0]))
            raise NoPolynomialsError(f"{named} is no polynomial of the parameters")
        changing = varying(self.known.values())
        changing[guessed] = False
        if self.first.runner.system.mechanism.elastic:
            changing[derived] = False
        places = np.flatnonzero(changing)
        found.surpluses = [surplus[places] for surplus in found.surpluses]
        begun = self.first.numbers(image)
        made = Numbers(self.first, begun, self.columns, low, high, found, places, len(self.known))
        self._require_derived(made, derived)
        self._require_pairs(own)
        return made

    def _require_pairs(self, own: Array) -> None:
        """Build models with numbers of a part farthest apart: some must be less than others.

        Between which values a number may be by itself is known.
        """
        for i, j in combinations(range(len(self.columns)), 2):
            part, other = (self.parts[self.columns[k]] for k in (i, j))
            if part and part == other:
                apart = own[:, i] - own[:, j]
                for k in (np.argmin(apart), np.argmax(apart)):
                    try:
                        self.value(own[k])
                    except PoinsotError as error:
                        raise NoPolynomialsError(str(error)) from error

    def _require_derived(self, numbers: Numbers, derived: Places) -> None:
        """Compare what follows from inertia with that of models that were built."""
        own = np.flatnonzero(np.isin(numbers.places, derived))
        where = numbers.places[own]
        points = np.array([np.frombuffer(key) for key in self.known])
        rows = np.tile(self.rows[0], (len(points), 1))
        rows[:, self.columns] = points
        known = np.array([value[where] for value in self.known.values()])
        allowed = ALIKE * EPS * np.max(abs(known), axis=0, initial=0.0)
        if np.any(abs(numbers.at(rows)[:, own] - known) > allowed):
            raise NoPolynomialsError("where joints are changes with the parameters")

    def _guessed(self) -> Places:
        """Return where multipliers are, which every step finds anew."""
        assert self.first is not None
        image, n = self.first.image, self.first.run.problem.x.size
        state = image.size + np.arange(self.first.runner.system.view.motion, n)
        return np.concatenate([*(_places(image, name) for name in GUESSED), state])

    @staticmethod
    def _one(nodes: Array, k: int) -> Array:
        point = nodes[:, 0].copy()
        point[k] = nodes[k, 1]
        return point

    @cached_property
    def _numbers(self) -> Flags:
        """Which entries are floating-point numbers that are finite: others have no polynomials."""
        assert self.first is not None
        image, begun = self.first.image, self.first.numbers(self.first.image)
        state = np.ones(begun.size - image.size, dtype=bool)
        found = np.concatenate([image.numbers, state])
        found[found] = np.isfinite(begun[found])
        return found

    def _valid(self, own: Array) -> tuple[Array, Array]:
        """Return between which values models can be built, as far as one after the other tells."""
        middle = np.median(own, axis=0)
        low, high = own.min(axis=0), own.max(axis=0)

        def able(k: int, value: float) -> bool:
            point = middle.copy()
            point[k] = value
            try:
                self.value(point)
            except PoinsotError:
                return False
            return True

        if not able(0, float(middle[0])):
            raise NoPolynomialsError("the model with mean values cannot be built")
        for k in range(len(middle)):
            values = np.unique(own[:, k])
            inside = int(np.searchsorted(values, middle[k]))
            below, above = values[:inside][::-1], values[inside:]
            low[k] = _furthest(below, partial(able, k), middle[k])
            high[k] = _furthest(above, partial(able, k), middle[k])
        return low, high


def _furthest(values: Array, able: Callable[[float], bool], there: float) -> float:
    """Return the last of some values that is good, if none after it is; or where they begin."""
    good, bad = -1, len(values)
    if bad and able(float(values[-1])):
        return float(values[-1])
    while bad - good > 1:
        middle = (good + bad) // 2
        if able(float(values[middle])):
            good = middle
        else:
            bad = middle
    return float(values[good]) if good >= 0 else float(there)


def _sizes(opening: Opening, vectors: Array) -> Array:
    """Return by how many eps numbers may differ that are the same; (size,)."""
    sizes: Array = ALIKE * np.max(abs(vectors), axis=0)
    image, problem = opening.image, opening.run.problem
    for name, field in image.fields.items():
        own = sizes[field.first : field.first + field.words]
        if name == "state":
            last = tables.SHARE if opening.job.machine.spins is not None else tables.ROUNDED
            ends = 0, tables.DIRECTORS, tables.VELOCITY, tables.RATES, last, field.shape[-1]
            columns = own.reshape(field.shape)
            for piece in map(slice, ends, ends[1:]):
                columns[:, piece] = COMPLETED / ALIKE * np.max(columns[:, piece])
        elif name.startswith("carried."):
            own[:] = COMPLETED / ALIKE * _together(own.reshape(field.shape)).reshape(-1)
        if name == "carried.gap":
            own[:] = np.max(own, initial=0.0) + COMPLETED * opening.job.machine.length
        if name == "carried.turns":
            own[:] = COMPLETED
        if name == "sums":
            own[:] += COMPLETED * PHSystem.in_play(problem.system, 0.0, problem.x, problem.clock.h)
    state = sizes[image.size : image.size + problem.x.size]
    kinds: dict[tuple[str, bool], list[int]] = {}
    for name, piece in problem.system.slices.items():
        what = name.rpartition(".")[2]
        for k in range(piece.start, piece.stop):
            kinds.setdefault((what, k - piece.start < 3), []).append(k)
    for places in kinds.values():
        state[places] = COMPLETED / ALIKE * np.max(state[places])
    sizes[image.size + problem.x.size :] = COMPLETED
    return sizes


def _together(sizes: Array) -> Array:
    """Return the greatest sizes of vectors in the same columns of all rows."""
    width = next((w for w in (3, 4) if sizes.shape[-1] % w == 0), sizes.shape[-1])
    if not sizes.size:
        return sizes
    vectors = sizes.reshape(-1, sizes.shape[-1] // width, width)
    return np.array(np.broadcast_to(vectors.max(axis=(0, 2))[None, :, None], vectors.shape))
