r"""Singular positions, where the motion of a loop of joints branches.

A motion through q with twists t satisfies J t = 0 and, one derivative later,

.. math:: J\,\dot t = -Q(t), \qquad Q(t) = \frac{d}{ds} J\bigl(q(s)\bigr)\,t

with Q quadratic in t. Where rows of J are dependent, this has a solution only if
:math:`n^\top Q(t) = 0` for all n with :math:`n^\top J = 0`. Constraints that are redundant
everywhere
give no condition. In a singular position, such as that of a parallelogram whose four hinges lie on
one line, the remaining motions are branches: a few subspaces of the null space of J, and a motion
is
on one of them (A. Müller, J. Mechanisms Robotics 8, 2016, 041013).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.frames.places import frame_vectors
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import joint_matrix, lever_arms, velocities
from poinsot.ph.dependence import unit_rows
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, dense, is_sparse
from poinsot.systems.redundancy import DEPENDENT, FREE, longest_arm

Array = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

#: A lever arm below this part of the longest one is none.
SHORT = 1e-8
#: Part of Q(t) that may be left without being more than round-off.
LEFT = 1e-5
#: How many joints a message names at most.
NAMED = 12
#: Motions of a loop up to which its branches are looked for one by one.
LISTED = 24
#: So many equations are looked at to explain a step that failed.
MANY = 1000
#: Singular values, of equations of length one, below which they hardly differ from dependent ones.
WEAK = 1e-4
#: What moves in a step by more than this part of the size of its loop is not known any better.
CLOSE = 0.1
#: And if it moves by more than this, joints are nearly open where it is taken to be.
FAR = 0.3
#: Newton's method looks for branches from so many places for each unknown, with so many iterations.
TRIALS, ITERATIONS = 24, 50
#: What is left of equations that are solved.
FOUND = 1e-11
#: Two branches are the same if the cosine of the angle between them differs by less from one.
SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Branching:
    """A loop of joints, by their names, in a singular position.

    `bodies` are the numbers of its bodies, `forms` its equations on them, `q` their frames. `rows`
    (k, 6 bodies), for each branch, are what its motions fulfil besides the joints, in twists of
    these bodies; None if the branches are not a few subspaces, or too many. `own` (k, 6 bodies)
    vanish for the motions that all branches have in common.
    """

    joints: tuple[str, ...]
    bodies: NDArray[np.intp]
    forms: Forms
    q: Vector
    rows: tuple[Array, ...] | None
    own: Array

    @property
    def place(self) -> str:
        """How messages begin."""
        return (
            f"the start is a singular position of joints {named(self.joints)}, where their motion "
            "branches"
        )

    @property
    def columns(self) -> NDArray[np.intp]:
        """Where the twists of its bodies are among all."""
        return (6 * self.bodies[:, None] + np.arange(6)).reshape(-1)

    def below(self, jacobian: Matrix) -> list[Matrix]:
        """Return a jacobian with the rows of each branch below it, as it is if they are unknown."""
        if self.rows is None:
            return [jacobian]
        return [self._below(jacobian, rows) for rows in self.rows]

    def _below(self, jacobian: Matrix, rows: Array) -> Matrix:
        m, bodies = jacobian.shape[0], self.bodies.tolist()
        blocks = np.split(rows, len(bodies), axis=1)
        placed: list[Placed] = [(m, 6 * b, block) for b, block in zip(bodies, blocks, strict=True)]
        return assemble((m + len(rows), jacobian.shape[1]), [(0, 0, jacobian), *placed])

    def leads_on(self, twists: Vector) -> bool:
        """Return whether there is a motion with these twists (6 bodies,), which suit the joints."""
        return _leads_on(self.forms, self.q, twists)


def named(joints: Sequence[str]) -> str:
    """Return the names of joints for a message, not too many of them."""
    names = ", ".join(f"'{name}'" for name in joints[:NAMED])
    more = len(joints) - NAMED
    return f"{names} and {more} more" if more > 0 else names


def find_branching(
    joints: tuple[str, ...], bodies: NDArray[np.intp], forms: Forms, q: Vector
) -> Branching | None:
    """Return the branches of a loop at q; None if it is in no singular position."""
    own = joint_matrix(forms, q)
    (J, _, lengths), arms = measured(own), _arms(own)
    # Bodies with short arms are to turn as fast as they would by themselves.
    wish = np.random.default_rng(0).standard_normal((arms.size, 2, 3))
    wish[:, 1] *= (np.max(arms) / arms)[:, None]
    wish = wish.reshape(-1)
    left = wish - shortest_solution(J, J @ wish, width=6)
    # What cannot move, such as a triangle, has no branches either.
    held = np.linalg.norm(left) <= FREE * np.linalg.norm(wish)
    if held or _leads_on(forms, q, left / lengths):
        return None
    rows, apart = (None, np.eye(lengths.size)) if is_sparse(J) else branches_at(forms, q)
    return Branching(joints, bodies, forms, q, rows, apart)


def singular_rows(
    forms: Forms, q: Vector, repeated: int, moved: Vector
) -> tuple[NDArray[np.intp], int]:
    """Return the equations that depend on each other at q but not elsewhere, and the rank lost.

    Or hardly do not. `repeated` of all depend on others everywhere; q is known but for second
    orders of what bodies have `moved` by to get there, in twists: too far, and nothing is known. Of
    too many equations, none are returned.
    """
    none = np.zeros(0, dtype=np.intp), 0
    if not 0 < forms.m <= MANY:
        return none
    J, rows, lengths = measured(joint_matrix(forms, q))
    reach = float(np.max(abs(lengths * moved))) / float(np.max(lengths))
    if reach > FAR:
        return none
    U, singular, Vt = np.linalg.svd(dense(J))
    rank = int(np.count_nonzero(singular > max(WEAK, min(reach, CLOSE) ** 2)))
    if rank >= forms.m - repeated:
        return none
    # Those that no acceleration satisfies: repeated ones are not among them.
    motion = Vt[rank:].T @ np.random.default_rng(0).standard_normal(lengths.size - rank)
    Q = acceleration(forms, q, motion / lengths)[0] / rows
    left = abs(U[:, rank:] @ (U[:, rank:].T @ Q))
    lost = forms.m - repeated - rank
    return np.flatnonzero(left > LEFT * np.max(left, initial=0.0)), lost


def measured(J: Matrix) -> tuple[Matrix, Vector, Vector]:
    """Return J with rows of length one, what they were divided by, and what makes twists lengths.

    Angular velocities are multiplied by the longest lever arm, so that no unit matters.
    """
    lengths = np.tile(np.repeat([1.0, longest_arm(J)], 3), J.shape[1] // 6)
    scaled: Matrix = J @ sp.diags_array(1 / lengths)
    return *unit_rows(scaled), lengths


def acceleration(forms: Forms, q: Vector, twists: Vector) -> tuple[Vector, Vector]:
    """Return Q(t), the second derivatives of equations at constant twists, and sizes of terms."""
    v, G = velocities(q, twists), forms.G(q)
    turning = frame_vectors(velocities(v, twists)).copy()  # omega x (omega x d)
    turning[:, 0] = 0.0
    slope, turned = forms.slope(v), turning.reshape(-1)
    return slope @ v + G @ turned, abs(slope) @ abs(v) + abs(G) @ abs(turned)


def _leads_on(forms: Forms, q: Vector, twists: Vector) -> bool:
    own = joint_matrix(forms, q)
    (J, rows, _), (Q, sizes) = measured(own), acceleration(forms, q, twists)
    left = Q / rows - J @ shortest_solution(J, Q / rows, width=6)
    # Where nothing turns, all terms are round-off: as large as they are in a motion like this.
    arms, (speeds, turns) = _arms(own), np.moveaxis(abs(twists.reshape(-1, 2, 3)), 1, 0)
    usual = max(np.max(speeds) ** 2 / np.max(arms), np.max(arms[:, None] * turns**2))
    return bool(np.max(abs(left)) <= LEFT * max(usual, np.max(sizes / rows)))


def _arms(J: Matrix) -> Vector:
    """Return the longest lever arm of each body [m]; of what has none, the longest of all."""
    arms, longest = lever_arms(J), longest_arm(J)
    return np.where(arms > SHORT * longest, arms, longest)


def branches_at(
    forms: Forms, q: Vector, rank: int | None = None
) -> tuple[tuple[Array, ...] | None, Array]:
    """Return the rows of all branches, and those of what they do not have in common.

    Near a singular position, too, if the rank is given that equations have there.
    """
    J, rows, lengths = measured(joint_matrix(forms, q))
    U, singular, Vt = np.linalg.svd(dense(J))
    if rank is None:
        rank = int(np.count_nonzero(singular > DEPENDENT * singular[0]))
    N, left = Vt[rank:].T, U[:, rank:].T / rows
    if N.shape[1] > LISTED:
        return None, N.T * lengths
    B = _bilinear(forms, q, left, N / lengths[:, None])
    # Motions that no form says anything about belong to all branches; `own` are the others.
    _, sizes, W = np.linalg.svd(B.reshape(-1, N.shape[1]))
    own = W[: int(np.count_nonzero(sizes > LEFT * sizes[0]))].T
    lines = common_zeros(np.einsum("ai,kab,bj->kij", own, B, own))
    apart = (N @ own).T * lengths
    if lines is None:
        return None, apart
    directions = lines or [np.zeros(own.shape[1])]
    others = [np.linalg.svd(line[None, :])[2][int(line.any()) :] for line in directions]
    return tuple(each @ apart for each in others), apart


def _bilinear(forms: Forms, q: Vector, left: Array, basis: Array) -> Array:
    """Return n^T Q of pairs of motions, Q(s + t) = Q(s) + 2 Q(s, t) + Q(t); (n, basis, basis)."""
    count = basis.shape[1]
    Q = np.empty((left.shape[0], count, count))
    for i in range(count):
        Q[:, i, i] = left @ acceleration(forms, q, basis[:, i])[0]
    for i in range(count):
        for j in range(i):
            both = left @ acceleration(forms, q, basis[:, i] + basis[:, j])[0]
            Q[:, i, j] = Q[:, j, i] = (both - Q[:, i, i] - Q[:, j, j]) / 2
    return Q


def common_zeros(B: Array) -> list[Vector] | None:
    """Return the lines x, of length one, with x·B_k x = 0 for all symmetric B (k, n, n).

    By Newton's method from random places. None if there are more than single lines.
    """
    count, trials = B.shape[1], TRIALS * B.shape[1]
    B = B / np.max(abs(B))
    x = np.random.default_rng(0).standard_normal((trials, count))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(ITERATIONS):
        slopes = np.concatenate([2 * np.einsum("kij,sj->ski", B, x), x[:, None]], axis=1)
        values = np.einsum("ski,si->sk", slopes[:, :-1], x) / 2
        if np.max(abs(values)) <= EPS:
            break
        right = np.concatenate([values, np.zeros((trials, 1))], axis=1)  # along the sphere
        x = x - np.einsum("sik,sk->si", np.linalg.pinv(slopes, rcond=1e-9), right)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    values = np.einsum("kij,si,sj->sk", B, x, x)
    lines: list[Vector] = []
    for zero in x[np.max(abs(values), axis=1) <= FOUND]:
        if np.linalg.matrix_rank(np.einsum("kij,j->ki", B, zero), tol=SAME) < count - 1:
            return None
        if all(1 - abs(line @ zero) > SAME for line in lines):
            lines.append(zero)
    return lines
