"""Repeated constraints: found by rank at generic configurations, and left out of the solve.

Four parallel hinges close a planar loop in space and lock three directions twice. Which rows repeat
others cannot be told where the mechanism happens to be singular, so two configurations are tried
that lie away from the start: a row is repeated only if it depends on earlier rows at both.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.mechanics.forms import Forms
from poinsot.mechanics.twists import assemble_position, jacobian, move
from poinsot.ph.matrices import Vector

#: How far from the start the generic configurations are looked for [m or rad].
REACH = 0.3
#: A row is dependent if what is new in it is smaller than this part of its length.
DEPENDENT = 1e-7


@dataclass(frozen=True)
class Rank:
    """Which rows are repeated, and how many degrees of freedom are left."""

    repeated: NDArray[np.bool_]
    freedoms: int


def find_rank(forms: Forms, q: Vector, *, seed: int = 0) -> Rank:
    """Return the repeated rows of the joints' constraints, and the degrees of freedom."""
    random = np.random.default_rng(seed)
    places = [place for _ in range(2) if (place := _elsewhere(forms, q, random)) is not None]
    jacobians = [jacobian(forms, place) for place in places or [q]]
    bases = [np.zeros((0, 6 * forms.bodies)) for _ in jacobians]
    repeated = np.zeros(forms.m, dtype=bool)
    for k in range(forms.m):
        news = [_new_part(J[k], basis) for J, basis in zip(jacobians, bases, strict=True)]
        if all(new is None for new in news):
            repeated[k] = True
            continue
        bases = [
            basis if new is None else np.vstack([basis, new])
            for basis, new in zip(bases, news, strict=True)
        ]
    return Rank(repeated, 6 * forms.bodies - max(basis.shape[0] for basis in bases))


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
