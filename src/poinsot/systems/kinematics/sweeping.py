r"""Move a joint coordinate, with the mechanism on its branch.

With the rows K of joints, transmissions and drives, and c of the coordinate, motions satisfy

.. math:: \begin{bmatrix} K \\ c \end{bmatrix} w = \begin{bmatrix} 0 \\ \dot\chi \end{bmatrix} ,

and if there are several, the one that moves the least mass is taken. Steps are predicted along w
and
then closed; a step whose w differs too much from the previous one is halved, to stay on the branch.
Where K loses rank, as in the flat position of a parallelogram, the path continues straight; where K
keeps its rank but both together lose it, as at a dead centre, the coordinate is at its limit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from poinsot.parts.driven import Driven
from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.systems.kinematics.tethers import Tethered
from poinsot.systems.kinematics.trajectories import Held

#: Longest step and least [rad, or lengths of the mechanism].
LONGEST, SHORTEST = 0.15, 1e-11
#: How far a step may be from where it was predicted, and the cosine between its ends' motions.
OFF, STRAIGHT = 0.2, 0.95
#: Singular values of rows of length one are lost below this.
LOST = 1e-6
#: Below these, rows hardly tell one branch from another, and the place is the singular one.
BRANCHING, THERE = 1e-4, 1e-6
#: How near to each other places are between which a singular one is interpolated.
LOCATED = 1e-4
#: An eigenvalue is negative if its imaginary part is a smaller part of it: of two it is round-off.
PAIRED = 0.1
#: Part of a dependency that a joint must have to be named.
NAMED = 1e-3


@dataclass(frozen=True, eq=False)
class Singular:
    """A position that was met in which the rows of joints depend on each other.

    Parameters
    ----------
    value : float
        Where the coordinate is [rad or m].
    lost : int
        By how much the rank of the joints' equations is less than elsewhere.
    joints : tuple of str
        Those whose equations depend on each other there.
    """

    value: float
    lost: int
    joints: tuple[str, ...]

    def near(self, other: "Singular", unit: float) -> bool:
        """Return whether both are the same, found from two sides."""
        return abs(self.value - other.value) <= 10 * LOCATED * unit

    def __str__(self) -> str:
        """One line."""
        names = ", ".join(f"'{name}'" for name in self.joints)
        return f"{self.value:.9g}: joints {names}, rank {self.lost} less"


@dataclass(frozen=True, eq=False)
class Station:
    """A place with the coordinate at a value, and how it moves on: w for a rate of one; (k,)."""

    place: Tethered
    value: float
    w: Vector

    @property
    def rows(self) -> Array:
        """K in the metric of the masses, rows of length one, without that of the coordinate."""
        return self.all_rows[:-1]

    @cached_property
    def all_rows(self) -> Array:
        """The same with that of the coordinate, which comes last."""
        rows: Array = dense(_rows(self.place)) @ dense(self.place.roots)
        lengths = row_lengths(rows)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]

    def weakest(self, rank: int) -> float:
        """Return the smallest singular value that is not always zero."""
        return float(self.factors[1][rank - 1]) if rank else 1.0

    def losses(self, there: "Station", rank: int) -> tuple[Vector, Array]:
        r"""Return at which parts of the way to a place nearby rows lose rank, and which; (m, n).

        With singular vectors of the rows here, :math:`K_0 = U S V^\top`, those on the way are
        singular where :math:`1 + t\,(\mu - 1) = 0`, for the eigenvalues :math:`\mu < 0` of
        :math:`U^\top K_1 V S^{-1}`.
        """
        U, s, Vt = self.factors
        eigenvalues, left = np.linalg.eig((U[:, :rank].T @ there.rows @ Vt[:rank].T / s[:rank]).T)
        negative = eigenvalues.real < -abs(eigenvalues.imag) / PAIRED
        parts = 1.0 / (1.0 - eigenvalues.real[negative])
        return parts, np.asarray(U[:, :rank] @ left[:, negative])

    @cached_property
    def factors(self) -> tuple[Array, Vector, Array]:
        """Singular vectors and values of these."""
        U, s, Vt = np.linalg.svd(self.rows, full_matrices=False)
        return U, s, Vt


def held(place: Tethered, value: float) -> Tethered:
    """Return the same with the coordinate, the last of those that are led, at a value."""
    *others, inlet = place.held.inlets
    assert isinstance(inlet.driven, Driven)
    inlet = replace(inlet, direction=replace(inlet.driven, motion=Held(value)))
    return replace(place, held=replace(place.held, inlets=(*others, inlet)))


def _rows(place: Tethered) -> Matrix:
    """Return joints, transmissions, drives and the coordinate on motions."""
    return place.twists.by(place.gaps()[1])


@dataclass(frozen=True, eq=False)
class Path:
    """The way of a coordinate from a place on; `unit` is a length of the mechanism, or 1 rad."""

    joints: Sequence[str]
    unit: float

    def begin(self, place: Tethered, value: float) -> Station | None:
        """Return the first station; None: the coordinate cannot move there."""
        w = self._motion(place)
        return None if w is None else Station(place, value, w)

    def to(self, here: Station, aim: float, rank: int) -> Iterator[Station]:
        """Yield stations on the way to a value, up to the last one that there is.

        `rank` is that of the joints' equations.
        """
        step, sign = LONGEST * self.unit, float(np.sign(aim - here.value))
        while here.value != aim:
            left = abs(aim - here.value)
            value = aim if step >= left else here.value + sign * step
            there = self.step(here, value, rank)
            if there is None:
                step = min(step, left) / 2
                if step < SHORTEST * self.unit:
                    return
                continue
            step = min(1.5 * step, LONGEST * self.unit)
            here = there
            yield here

    def step(self, here: Station, value: float, rank: int) -> Station | None:
        """Return the station at a value nearby; None: it is not on the same branch."""
        change = here.w * (value - here.value)
        predicted = here.place.step(change)
        place = held(here.place, value).closed(predicted)
        if place is None or not self._near(here.place, predicted, place.f):
            return None
        there = Station(place.polished(), value, here.w)
        if there.weakest(rank) <= BRANCHING:
            return there  # where rows hardly tell the motion, it is that before
        w = self._motion(there.place)
        if w is None or _cosine(here.place, here.w, w) < STRAIGHT:
            return None
        return replace(there, w=w)

    def _near(self, place: Tethered, predicted: Vector, found: Vector) -> bool:
        """Return whether bodies are where they were predicted, as a part of the step."""
        return place.distance(predicted, found) <= OFF * place.distance(place.f, predicted)

    def _motion(self, place: Tethered) -> Vector | None:
        """Return w for a rate of one; None: the rows do not determine it."""
        K = _rows(place)
        rate = np.zeros(K.shape[0])
        rate[-1] = 1.0
        w = place.shortest(K, rate)
        sizes = np.maximum(abs(K) @ abs(w), 1.0)
        return w if np.max(abs(K @ w - rate) / sizes) <= LOST else None

    # -- singular positions -------------------------------------------------------------------

    def singular(self, one: Station, other: Station, rank: int) -> list[Singular]:
        """Return the singular positions between two stations, and at the second one."""
        if rank == 0 or one.weakest(rank) <= THERE:
            return []  # at the first one it is known
        if other.weakest(rank) <= THERE:
            U, s, _ = other.factors
            lost = max(1, int(np.sum(s[:rank] <= BRANCHING)))
            return [Singular(other.value, lost, self._parts(U[:, rank - lost : rank]))]
        parts, rows = one.losses(other, rank)
        if not parts.size:
            return []
        if abs(other.value - one.value) > LOCATED * self.unit:
            middle = self.step(one, (one.value + other.value) / 2, rank)
            if middle is not None:
                return self.singular(one, middle, rank) + self.singular(middle, other, rank)
        value = one.value + (other.value - one.value) * float(np.mean(parts))
        return [Singular(value, parts.size, self._parts(rows))]

    def dead_centre(self, at: Station, rank: int) -> tuple[str, ...]:
        """Return the joints that hold the coordinate at its limit: its row depends on theirs."""
        return self._parts(np.linalg.svd(at.all_rows)[0][:-1, rank, None])

    def _parts(self, U: Array) -> tuple[str, ...]:
        """Return the joints whose rows have a part in some dependencies; (rows, k)."""
        largest = np.max(abs(U), axis=1)
        names = [name for name, part in zip(self.joints, largest, strict=True) if part > NAMED]
        return tuple(dict.fromkeys(names))


def rank_of(station: Station) -> int:
    """Return the rank of the joints' equations."""
    s = station.factors[1]
    return int(np.sum(s > LOST * max(1.0, float(np.max(s, initial=0.0)))))


def _cosine(place: Tethered, one: Vector, other: Vector) -> float:
    """Return the cosine between two motions, in the metric of the masses."""
    M = place.masses()
    a, b = (float(w @ M @ w) for w in (one, other))
    return float(one @ M @ other / np.sqrt(a * b))
