"""What the runs of a model begin with: numbers of tables, and velocities that joints complete."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.model.equations import JointEquations
from poinsot.ph.matrices import Array, Matrix, Vector, is_sparse
from poinsot.systems.compiled.backward import Tabulated
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.start import (
    CompletedSlopes,
    MatrixSlopes,
    complete,
    given_twists,
    mass_blocks,
)

Places: TypeAlias = NDArray[np.intp]
#: To which parameter each of some numbers belongs, -1 for none, and derivatives by it.
Owned: TypeAlias = tuple[Places, Vector]

#: Inertia changes by this part of itself; none of it is smaller than that, in SI units.
PART, LEAST = 1e-3, 1e-30
#: Twists solve the equations of joints if no more than this part of the speeds is left.
ROUNDED = 1e-10


@dataclass(frozen=True, eq=False)
class Tables:
    """The numbers of tables, and the sizes by which their round-off is judged; (k,) each.

    The last ones, `count` of them, are those of what acts besides bodies and joints.
    """

    numbers: Vector
    sizes: Vector
    count: int

    @property
    def acting(self) -> slice:
        """Where the numbers of what acts are."""
        return slice(self.numbers.size - self.count, self.numbers.size)


@dataclass(frozen=True, eq=False)
class Slope:
    """What a run begins with as a function of a number of a parameter.

    Parameters
    ----------
    change : float
        A change c of that number.
    acting : (4, count)
        By how much numbers of what acts differ, for changes c, -c, 2 c and -2 c.
    numbers : (k,)
        Derivatives of the numbers of bodies and joints in tables.
    dx0 : (n,)
        That of the state at the start.
    """

    change: float
    acting: Array
    numbers: Vector
    dx0: Vector


@dataclass(frozen=True, eq=False)
class Beginning:
    """A run in directors, or with velocities in body axes, before its first step.

    Twists at the start follow from J t = r for the least change of those that are not given, see
    `systems.start`; if they are projected, then of all. As one list of numbers these are the
    tables, entries of J, M, what is given, and r.

    Parameters
    ----------
    system : MechanismForm or QuaternionForm
        Its mechanism.
    states : slice
        Where its states are among all of the run, of which there are `n`.
    frames : (12 bodies,)
        Where bodies are.
    equations : JointEquations
        Those of its joints at the start.
    tables : Tables
        The numbers of its tables.
    projected : bool
        Whether velocities are projected.
    """

    system: Tabulated
    states: slice
    n: int
    frames: Vector
    equations: JointEquations
    tables: Tables
    projected: bool

    def near(self, system: Tabulated, equations: JointEquations, tables: Tables) -> Self | None:
        """Return what begins at the same place; None if it has not as many numbers."""
        other = replace(self, system=system, equations=equations, tables=tables)
        ours, theirs = self.equations, equations
        fits = (
            self.tables.numbers.size == tables.numbers.size
            and ours.jacobian.shape == theirs.jacobian.shape
            and np.array_equal(self._given[1], other._given[1])
        )
        return other if fits else None

    @cached_property
    def x(self) -> Vector:
        """The state at the start, without multipliers."""
        equations = self.equations
        twists = equations.nearest(*self._given) if self.projected else equations.twists
        return self.system.state_at(self.frames, twists)

    @cached_property
    def places(self) -> Places:
        """Where J has entries, counted row by row."""
        J = self.equations.jacobian
        if not is_sparse(J):
            return np.arange(J.shape[0] * J.shape[1])
        rows, columns = sp.coo_array(J).coords
        return np.unique(rows.astype(np.intp) * J.shape[1] + columns)

    def numbers(self, places: Places) -> Vector:
        """Return all numbers, with the entries of J at some places; those elsewhere are zero."""
        given, rates = self._given[0], self.equations.rates
        entries = _entries(self.equations.jacobian, places)
        parts = self.tables.numbers, entries, self._masses.reshape(-1), given, rates
        return np.concatenate(parts)

    def sizes(self, places: Places) -> Vector:
        """Return by what sizes the round-off of these is judged: the largest of a row."""
        J, masses = self.equations.jacobian, self._masses
        row = places // max(1, J.shape[1])
        largest = np.zeros(J.shape[0])
        np.maximum.at(largest, row, abs(_entries(J, places)))
        blocks = np.broadcast_to(abs(masses).max(axis=2, keepdims=True), masses.shape)
        exact = abs(self._given[0]), abs(self.equations.rates)
        return np.concatenate([self.tables.sizes, largest[row], blocks.reshape(-1), *exact])

    def slopes(
        self, owner: Places, differences: Array, weights: Vector, changes: Vector, places: Places
    ) -> list[Slope]:
        """Return how it depends on some parameters, by how much all numbers differ (4, numbers).

        Each number depends on one of them, its `owner`, or on none: -1. The weights of differences
        make derivatives by changes of the parameters (k,).
        """
        tables, masses, given = self.tables, self._masses, self._given[0]
        rates = np.where(owner < 0, 0.0, weights @ differences / changes[owner])
        sizes = tables.acting.start, tables.count, places.size, masses.size, given.size
        pieces = (np.split(each, np.cumsum(sizes)) for each in (owner, rates))
        numbers, _, J, M, k, r = zip(*pieces, strict=True)
        dx0 = self._dx0(J, M, k, r, numbers, places, changes.size)
        own, (by, values) = tables.acting, numbers
        return [
            Slope(
                change,
                np.where(owner[own] == j, differences[:, own], 0.0),
                np.where(by == j, values, 0.0),
                dx0[j],
            )
            for j, change in enumerate(changes.tolist())
        ]

    def _dx0(
        self,
        J: Owned,
        M: Owned,
        given: Owned,
        rates: Owned,
        numbers: Owned,
        places: Places,
        count: int,
    ) -> Array:
        """Return the derivatives of the state by so many parameters; (count, n).

        By those of J, masses, what is given, r, and the numbers of tables.
        """
        found = np.zeros((count, self.n))
        if not (self.moves or given[1].any() or rates[1].any()):
            return found
        bodies, shape = len(self._masses), self.equations.jacobian.shape
        entry = np.arange(36 * bodies)
        row, column = 6 * (entry // 36) + entry % 36 // 6, 6 * (entry // 36) + entry % 6
        dJ = MatrixSlopes.of(*J, *np.divmod(places, shape[1]), shape, count)
        dM = MatrixSlopes.of(*M, row, column, (6 * bodies, 6 * bodies), count)
        dr, twists = _columns(*rates, count), _columns(*given, count)
        for completed in self._stages:
            twists = completed(dJ, dM, twists, dr)
        own = found[:, self.states]
        if isinstance(self.system, QuaternionForm):
            inertia = self._inertia(*numbers, count)
            for j in np.flatnonzero(twists.any(axis=0) | inertia.any(axis=(1, 2))):
                own[j] = self._with_momenta(self.system, twists[:, j], inertia[j])
            return found
        first = self.system.view.parts[0].n
        for j in np.flatnonzero(twists.any(axis=0)):
            own[j, first:] = self.system.state_at(self.frames, twists[:, j])[first:]
        return found

    def _inertia(self, owner: Places, rates: Vector, count: int) -> Array:
        """Return derivatives of (m, E1, E2, E3) of bodies by those of tables in quaternions.

        These have 2 m and principal moments of inertia; (count, bodies, 4).
        """
        bodies = len(self.system.mechanism.inertia)
        by = _columns(owner, rates, count)[: 7 * bodies].T.reshape(count, bodies, 7)
        moments = by[:, :, 1:4]
        euler = moments.sum(axis=2, keepdims=True) / 2 - moments
        return np.concatenate([by[:, :, :1] / 2, euler], axis=2)

    def _with_momenta(self, system: QuaternionForm, twists: Vector, inertia: Array) -> Vector:
        """Return the derivative of a state with momenta by those of twists and of inertia.

        It is bilinear in these.
        """
        mechanism, now = system.mechanism, self._stages[-1].completed
        sizes = np.max(abs(inertia) / np.maximum(mechanism.inertia, LEAST), initial=0.0)
        change, ends = PART / max(1.0, float(sizes)), []
        for way in (change, -change):
            other = replace(mechanism, inertia=mechanism.inertia + way * inertia)
            there = system.with_mechanism(other, system.layout)
            ends.append(there.state_at(self.frames, now + way * twists))
        return np.asarray((ends[0] - ends[1]) / (2 * change))

    @property
    def moves(self) -> bool:
        """Whether anything moves."""
        return any(stage.completed.any() for stage in self._stages)

    @cached_property
    def _given(self) -> tuple[Vector, NDArray[np.bool_]]:
        return given_twists(self.equations.movable)

    @cached_property
    def _masses(self) -> Array:
        return mass_blocks(self.equations.jacobian, self.equations.movable)

    @property
    def suits_joints(self) -> bool:
        """Whether all of these twists solve J t = r: where some are projected, they may not."""
        J, rates, stages = self.equations.jacobian, self.equations.rates, self._stages
        speeds = np.max(
            abs(J) @ np.max([abs(each.completed) for each in stages], axis=0), initial=0
        )
        lacking = [np.max(abs(J @ each.completed - rates), initial=0.0) for each in stages]
        return bool(max(lacking) <= ROUNDED * speeds)

    @cached_property
    def _stages(self) -> list[CompletedSlopes]:
        """How twists follow from those that are given, one after the other."""
        equations, (known, given) = self.equations, self._given
        J, bodies, rates = equations.jacobian, equations.movable, equations.rates
        masks, stages = [given, *([np.zeros_like(given)] if self.projected else [])], []
        for mask in masks:
            found = complete(J, bodies, known, mask, rates)
            stages.append(CompletedSlopes(J, bodies, known, mask, found))
            known = found
        return stages


def _entries(J: Matrix, places: Places) -> Vector:
    """Return the entries of J at some places, counted row by row."""
    if not is_sparse(J):
        return np.asarray(J).reshape(-1)[places]
    rows, columns = np.divmod(places, J.shape[1])
    return np.asarray(sp.csr_array(J)[rows, columns]).reshape(-1)


def _columns(owner: Places, values: Vector, count: int) -> Array:
    """Return values (k,) in the columns of their owners; (k, count)."""
    found, own = np.zeros((values.size, count)), np.flatnonzero(owner >= 0)
    found[own, owner[own]] = values[own]
    return found


def together(beginnings: Sequence[Beginning]) -> Places:
    """Return where J of one of them has entries."""
    return np.unique(np.concatenate([each.places for each in beginnings]))
