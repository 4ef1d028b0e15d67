"""Redundant constraints of mechanisms with elastic bodies.

Four parallel hinges close a loop of rigid links with three redundant constraints. Links that bend
in all directions make them independent, planar ones do not. As for loops of rigid bodies, a row is
redundant if it depends on earlier rows at two configurations away from the start.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.dependence import dependent_rows, unit_rows
from poinsot.ph.equations import independent, shortest_solution
from poinsot.ph.matrices import Matrix, Vector, dense, diagonal
from poinsot.systems.floating.bodies import FloatingBodies
from poinsot.systems.redundancy import DEPENDENT, FREE, kept_rows

#: How far from the start other configurations are looked for [rad or lengths].
REACH = 0.1
#: Newton's method: how often, and up to which gap, as a part of the length of the mechanism.
ITERATIONS, CLOSED = 20, 1e-11


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Which rows of K repeat others, and which of them to keep where.

    Parameters
    ----------
    bodies : FloatingBodies
        The mechanism.
    repeated : (m,)
        Rows that depend on others nearly everywhere.
    sizes : (k,)
        How large velocities are: the mechanism's length for translations, 1 for rotations.
    """

    bodies: FloatingBodies
    repeated: NDArray[np.bool_]
    sizes: Vector

    @classmethod
    def none(cls, bodies: FloatingBodies) -> "Redundancy":
        """Return that of independent constraints."""
        return cls(bodies, np.zeros(bodies.m, dtype=bool), np.ones(bodies.k))

    @classmethod
    def at(cls, bodies: FloatingBodies, zeta: Vector, length: float) -> "Redundancy":
        """Return what is repeated in a mechanism of this length [m], from a place of it on."""
        sizes = bodies.sizes(np.full(bodies.count, length))
        K = bodies.K(zeta) @ diagonal(sizes)
        repeated = np.zeros(bodies.m, dtype=bool)
        if not independent(K, DEPENDENT):
            random = np.random.default_rng(0)
            tried = [_elsewhere(bodies, zeta, sizes, random) for _ in range(2)]
            repeated[:] = True
            for place in [place for place in tried if place is not None] or [zeta]:
                repeated &= dependent_rows(bodies.K(place) @ diagonal(sizes), DEPENDENT)
        return cls(bodies, repeated, sizes)

    def independent(self, zeta: Vector) -> Matrix | None:
        """Return T, whose rows take independent constraints out of all; None: all are."""
        if not self.repeated.any():
            return None
        kept = kept_rows(self.bodies.K(zeta) @ diagonal(self.sizes), self.repeated)
        return np.eye(self.bodies.m)[kept]

    def smallest(self, K: Matrix, lam: Vector) -> Vector:
        """Return the smallest multipliers that move bodies like `lam` does, K^T lam unchanged."""
        if not self.repeated.any():
            return lam
        rows, lengths = unit_rows(dense(K @ diagonal(self.sizes)))
        U = np.linalg.svd(dense(rows))[0][:, np.count_nonzero(~self.repeated) :]
        return np.asarray(lam - U @ (U.T @ (lengths * lam)) / lengths)


def _elsewhere(
    bodies: FloatingBodies, zeta: Vector, sizes: Vector, random: np.random.Generator
) -> Vector | None:
    """Return a configuration away from zeta in which joints are closed; None: it cannot move."""
    K, reach = bodies.K(zeta) @ diagonal(sizes), REACH
    for _ in range(4):
        wish = random.standard_normal(bodies.k)
        w = wish - shortest_solution(K, K @ wish)
        if np.linalg.norm(w) <= FREE * np.linalg.norm(wish):
            return None
        place = _closed(bodies, bodies.moved(zeta, sizes * w * reach / np.max(abs(w))), sizes)
        if place is not None:
            return place
        reach /= 3
    return None


def _closed(bodies: FloatingBodies, zeta: Vector, sizes: Vector) -> Vector | None:
    """Return the nearest configuration in which joints are closed; None: none is found."""
    for _ in range(ITERATIONS):
        gap = bodies.held.gap(bodies.directors(zeta))
        if np.max(abs(gap), initial=0.0) <= CLOSED * np.max(sizes):
            return zeta
        w = shortest_solution(bodies.K(zeta) @ diagonal(sizes), gap)
        zeta = bodies.moved(zeta, -sizes * w)
    return None
