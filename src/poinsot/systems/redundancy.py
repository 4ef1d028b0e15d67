"""Repeated constraints: found by rank at generic configurations, loop by loop.

Four parallel hinges close a planar loop in space and lock three directions twice. Which rows repeat
others cannot be told where the mechanism happens to be singular, so two configurations are tried
that lie away from the start: a row is repeated only if it depends on earlier rows at both.

Elsewhere the same rows are left out as long as they are good combinations of those that are kept,
J_out = C J_kept with small C: then no other choice is much better conditioned, because all rows are
(I; C) J_kept (Gu and Eisenstat, SIAM J. Sci. Comput. 17, 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import NDArray

from poinsot.engine.ordering import components, has_loops
from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import assemble_position, in_lengths, joint_matrix, lever_arms, move
from poinsot.ph.dependence import dependent_rows, unit_rows
from poinsot.ph.equations import coefficients, independent, shortest_solution
from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse

#: How far from the start the generic configurations are looked for [lengths of the loop or rad].
REACH = 0.3
#: A row is dependent if what is new in it is smaller than this part of its length.
DEPENDENT = 1e-7
#: Largest coefficient of rows that are left out as combinations of those that are kept.
COEFFICIENT = 5.0
#: What must be new in a row that is kept, if those that were kept before do not do.
PARTS = (0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, DEPENDENT)
#: Shift of inverse iteration, for rows of length one, and how often it is done.
NULL, ITERATIONS = 1e-7, 8
#: Part of a random motion that must be left by the joints if they leave any freedom.
FREE = 1e-9


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop with repeated constraints: the numbers of its `rows` and of its `bodies`.

    `forms` are its constraints on its own bodies; `repeated` tells which of them depend on the
    others nearly everywhere; `length` [m] is its longest lever arm at the start.
    """

    rows: NDArray[np.intp]
    bodies: NDArray[np.intp]
    forms: Forms
    repeated: NDArray[np.bool_]
    length: float

    def jacobian(self, q: Vector) -> Matrix:
        """Return what motions of its bodies violate, these measured by the loop's own length.

        q are the frames of all bodies.
        """
        return in_lengths(joint_matrix(self.forms, local(q, self.bodies)), self.length)

    def independent(self, q: Vector) -> NDArray[np.bool_]:
        """Return which rows to keep at q: as many as are independent, and well conditioned."""
        return kept_rows(self.jacobian(q), self.repeated)

    def best(self, q: Vector) -> NDArray[np.bool_]:
        """Return which rows to keep at q, and for as long as possible from there on."""
        return best_rows(self.jacobian(q), self.repeated)

    def idle(self, q: Vector, lam: Vector) -> Vector:
        """Return the part of its multipliers that moves nothing: the null space of J^T.

        Forces and torques are compared by the work that they do in a motion of the loop's length.
        For many of them by inverse iteration: (S + e)^-1 e with S = J J^T keeps just that part.
        """
        J, lengths = unit_rows(self.jacobian(q))
        lam = lengths * lam
        if not is_sparse(J):
            U = np.linalg.svd(dense(J))[0][:, np.count_nonzero(~self.repeated) :]
            return np.asarray(U @ (U.T @ lam)) / lengths
        S = sp.csc_array(J @ J.T)
        solver = scipy.sparse.linalg.splu(sp.csc_array(S + NULL * sp.eye_array(S.shape[0])))
        for _ in range(ITERATIONS):
            lam = NULL * solver.solve(lam)
        return lam / lengths


def kept_rows(J: Matrix, repeated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows of J to keep: all but repeated ones, unless these are bad combinations.

    In a singular position none do better, but those that are independent elsewhere lead out of it.
    """
    J, kept = unit_rows(J)[0], ~repeated
    return kept if _combines(J[kept], J[repeated]) else best_rows(J, repeated)


def best_rows(J: Matrix, repeated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows of J to keep, as many as are not repeated: those that combine others best.

    In a singular position those that are independent elsewhere are as good.
    """
    J, kept = unit_rows(J)[0], ~repeated
    best = _best_rows(J, int(np.sum(kept)))
    return best if independent(J[best], DEPENDENT, width=6) else kept


def _best_rows(J: Matrix, count: int) -> NDArray[np.bool_]:
    """Return which rows of J, of length one, to keep: others are small combinations of them."""
    kept = np.zeros(J.shape[0], dtype=bool)
    if not is_sparse(J):
        # Of rows that are as good as each other the first is taken, whatever their round-off.
        longer = np.linspace(1.0, 0.9, kept.size)
        kept[scipy.linalg.qr(longer * dense(J).T, mode="r", pivoting=True)[1][:count]] = True
        return kept
    for part in PARTS:
        kept = ~dependent_rows(J, part, width=6)
        if np.count_nonzero(kept) >= count:
            break
    # Of more than are independent, those that come first.
    kept[np.flatnonzero(kept)[count:]] = False
    return kept


def _combines(kept: Matrix, others: Matrix) -> bool:
    """Return whether the other rows are combinations of the kept ones with small coefficients.

    Of many, sums with random signs are tried instead of single ones.
    """
    count = others.shape[0]
    few = np.eye(count)
    if is_sparse(others):
        few = np.random.default_rng(0).choice([-1.0, 1.0], (count, 2))
    found = coefficients(kept, np.asarray(others.T @ few))
    return found is not None and float(np.max(abs(found), initial=0.0)) <= COEFFICIENT


def longest_arm(J: Matrix) -> float:
    """Return the longest lever arm in the rows of a joint matrix [m]; 1 if none has any."""
    return float(np.max(lever_arms(J), initial=0.0)) or 1.0


def find_repeated(
    forms: Forms, q: Vector, *, branches: Sequence[Matrix] = (), seed: int = 0
) -> tuple[NDArray[np.bool_], float]:
    """Return which of the joints' constraints repeat earlier ones, (m,), and their longest arm [m].

    If all are independent at q, they are so nearly everywhere, and no other place is asked. In a
    singular position, a way from there leads along one of the `branches`: rows on twists that its
    motions fulfil besides the joints.
    """
    J = joint_matrix(forms, q)
    length = longest_arm(J)
    if independent(in_lengths(J, length), DEPENDENT, width=6):
        return np.zeros(forms.m, dtype=bool), length
    random = np.random.default_rng(seed)
    along = [branches[k::2][:1] or branches[:1] for k in range(2)]
    tried = [_elsewhere(forms, q, length, random, branch) for branch in along]
    places = [place for place in tried if place is not None]
    repeated = np.ones(forms.m, dtype=bool)
    for place in places or [q]:
        J = in_lengths(joint_matrix(forms, place), length)
        repeated &= dependent_rows(J, DEPENDENT, width=6)
    return repeated, length


def find_loops(ends: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the loops of joints as lists of their numbers; `ends` are the two bodies of each.

    Two joints are in one loop if a closed path leads through both: the blocks of the graph of
    bodies and joints, see `components`. A joint that is in no closed path, as in a chain, is left
    out.

    Constraints of different loops never repeat each other, even if the loops share a body or the
    ground: a combination of one loop's constraints that involves the shared body alone does no
    work when the loop moves as one rigid body, so it is zero.
    """
    moving = [[body for body in pair if body != GROUND] for pair in ends]
    bodies = 1 + max((max(pair) for pair in ends), default=GROUND)
    if not has_loops(moving, bodies):
        return []
    return sorted(sorted(loop) for _, loop in components(moving, bodies) if len(loop) > 1)


def _elsewhere(
    forms: Forms,
    q: Vector,
    length: float,
    random: np.random.Generator,
    branch: Sequence[Matrix],
) -> Vector | None:
    """Return a configuration of the mechanism away from q; None if it cannot move."""
    J, reach = in_lengths(joint_matrix(forms, q), length), REACH
    for rows in branch:
        J = np.vstack([dense(J), dense(in_lengths(rows, length))])
    for _ in range(6):
        wish = random.standard_normal(q.size // 2)
        twists = wish - shortest_solution(J, J @ wish, width=6)
        if np.linalg.norm(twists) <= FREE * np.linalg.norm(wish):
            return None
        moved = move(q, twists * (reach / np.max(abs(twists))), length)
        place = assemble_position(forms, moved, length)
        if place is not None:
            return place
        reach /= 3
    return None
