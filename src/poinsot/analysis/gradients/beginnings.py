"""What the runs of a model begin with: numbers of tables, and velocities that joints complete."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.frames.twists import block_diagonal
from poinsot.model.equations import JointEquations
from poinsot.ph.matrices import Array, Matrix, Vector, is_sparse, nonzero
from poinsot.run.problem import Problem
from poinsot.systems.directors import DirectorForm
from poinsot.systems.rotations.system import RotationSystem
from poinsot.systems.start import CompletedSlopes, complete, given_twists, mass_blocks

Places = NDArray[np.intp]
#: Systems in whose states velocities are numbers of their own, in which they are linear.
WithVelocities: TypeAlias = DirectorForm | RotationSystem

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
    problem : Problem
        The run.
    system : DirectorForm or RotationSystem
        Its system.
    equations : JointEquations
        Those of its joints at the start.
    tables : Tables
        The numbers of its tables.
    projected : bool
        Whether velocities are projected.
    """

    problem: Problem
    system: WithVelocities
    equations: JointEquations
    tables: Tables
    projected: bool

    def fits(self, other: "Beginning") -> bool:
        """Tell whether another run begins at the same place, and has as many numbers."""
        ours, theirs = self.equations, other.equations
        return (
            self.projected is other.projected
            and self.tables.numbers.size == other.tables.numbers.size
            and ours.jacobian.shape == theirs.jacobian.shape
            and np.array_equal(self._given[1], other._given[1])
            and np.array_equal(self._frames, other._frames)
        )

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

    def slope(self, differences: Array, weights: Vector, change: float, places: Places) -> Slope:
        """Return how it depends on a parameter, by how much all numbers differ (4, numbers).

        The weights of these make derivatives by a change of the parameter.
        """
        tables, masses, given = self.tables, self._masses, self._given[0]
        sizes = tables.acting.start, tables.count, places.size, masses.size, given.size
        rates = weights @ differences / change
        numbers, _, dJ, dM, dk, dr = np.split(rates, np.cumsum(sizes))
        dx0 = self._dx0(_matrix(dJ, places, self.equations.jacobian), dM, dk, dr)
        return Slope(change, differences[:, tables.acting], numbers, dx0)

    def _dx0(self, dJ: Matrix, dM: Vector, dk: Vector, dr: Vector) -> Vector:
        """Return the derivative of the state by those of J, masses, what is given, and r."""
        if not (nonzero(dJ) or dM.any() or dk.any() or dr.any()):
            return np.zeros(self.system.n)
        twists, blocks = dk, block_diagonal(dM.reshape(-1, 6, 6))
        for completed in self._stages:
            twists = completed(dJ, blocks, twists, dr)
        found = self.system.state_at(self._frames, twists)
        found[: self.system.view.parts[0].n] = 0.0
        return found

    @cached_property
    def _given(self) -> tuple[Vector, NDArray[np.bool_]]:
        return given_twists(self.equations.movable)

    @cached_property
    def _frames(self) -> Vector:
        return self.system.directors(self.problem.x)

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


def _matrix(entries: Vector, places: Places, like: Matrix) -> Matrix:
    """Return a matrix with entries at some places, of the shape of another."""
    if not is_sparse(like):
        return entries.reshape(like.shape)
    rows, columns = np.divmod(places, like.shape[1])
    return sp.csr_array((entries, (rows, columns)), shape=like.shape)


def together(beginnings: Sequence[Beginning]) -> Places:
    """Return where J of one of them has entries."""
    return np.unique(np.concatenate([each.places for each in beginnings]))
