"""Repeated constraints: found by rank at generic configurations.

Four parallel hinges close a planar loop in space and lock three directions twice. Which rows repeat
others cannot be told where the mechanism happens to be singular, so two configurations are tried
that lie away from the start: a row is repeated only if it depends on earlier rows at both.
"""

from collections.abc import Sequence

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.mechanics.forms import GROUND, Forms
from poinsot.mechanics.twists import assemble_position, jacobian, move
from poinsot.ph.matrices import Vector

#: How far from the start the generic configurations are looked for [m or rad].
REACH = 0.3
#: A row is dependent if what is new in it is smaller than this part of its length.
DEPENDENT = 1e-7


def find_repeated(forms: Forms, q: Vector, *, seed: int = 0) -> NDArray[np.bool_]:
    """Return which of the joints' constraints repeat earlier ones; shape (m,)."""
    random = np.random.default_rng(seed)
    repeated = np.zeros(forms.m, dtype=bool)
    if not forms.m:
        return repeated
    places = [place for _ in range(2) if (place := _elsewhere(forms, q, random)) is not None]
    jacobians = [jacobian(forms, place) for place in places or [q]]
    bases = [np.zeros((0, 6 * forms.bodies)) for _ in jacobians]
    for k in range(forms.m):
        news = [_new_part(J[k], basis) for J, basis in zip(jacobians, bases, strict=True)]
        repeated[k] = all(new is None for new in news)
        bases = [
            basis if new is None else np.vstack([basis, new])
            for basis, new in zip(bases, news, strict=True)
        ]
    return repeated


def in_loops(ends: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which joints may be part of a loop; `ends` are their bodies, -1 for the ground.

    A body with a single joint is not: it is cut off with that joint, again and again. Constraints
    outside of loops never repeat each other, and a long chain needs no rank at all.
    """
    joints_of: dict[int, set[int]] = {}
    for k, pair in enumerate(ends):
        for body in pair:
            joints_of.setdefault(body, set()).add(k)
    left = np.ones(len(ends), dtype=bool)
    leaves = [body for body, joints in joints_of.items() if len(joints) == 1 and body != GROUND]
    while leaves:
        (joint,) = joints_of[leaves.pop()] or {-1}
        if joint < 0:
            continue
        left[joint] = False
        for body in ends[joint]:
            joints_of[body].discard(joint)
            if len(joints_of[body]) == 1 and body != GROUND:
                leaves.append(body)
    return left


def _new_part(row: Vector, basis: NDArray[np.float64]) -> Vector | None:
    """Return the unit vector of what a row adds to an orthonormal basis; None if nothing."""
    new = row - basis.T @ (basis @ row)
    new = new - basis.T @ (basis @ new)
    size = float(np.linalg.norm(new))
    if size <= DEPENDENT * float(np.linalg.norm(row)):
        return None
    return np.asarray(new / size)


def _elsewhere(forms: Forms, q: Vector, random: np.random.Generator) -> Vector | None:
    """Return a configuration of the mechanism away from q; None if it cannot move."""
    reach = REACH
    for _ in range(6):
        free = scipy.linalg.null_space(jacobian(forms, q), rcond=1e-9)
        if free.shape[1] == 0:
            return None
        twists = free @ random.standard_normal(free.shape[1])
        moved = move(q, twists * (reach / np.max(abs(twists))))
        place = assemble_position(forms, moved, 1e-11)
        if place is not None:
            return place
        reach /= 3
    return None
