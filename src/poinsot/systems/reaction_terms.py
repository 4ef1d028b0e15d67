r"""Reactions of joints as sums of products, which the compiled engine can measure.

.. math:: r = \sum_k c_k\, \lambda_{m_k} f_{a_k} f_{b_k}

A reaction is linear in the multipliers of its joint, and of second degree in the frames f of the
bodies: forces on directors are linear in these, moments have lever arms besides. Its coefficients
follow from its values where no more than two coordinates are not zero.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import WIDTH
from poinsot.systems.observer import Joints

#: Parts of the largest coefficient that are round-off.
ROUNDED = 1e-15


class Term(NamedTuple):
    """A coefficient, a multiplier by its place in x, two factors by body and coordinate."""

    coefficient: float
    multiplier: int
    first: tuple[int, int]
    second: tuple[int, int]


#: The first coordinate of the first director of the ground.
ONE = (GROUND, 3)


def reaction_terms(joints: Joints, side: str) -> list[tuple[Term, ...]] | None:
    """Return the terms of a reaction of the first joint, component by component.

    None if multipliers do not tell: they are one of many where constraints repeat each other, and
    those of rolling act at a place of their own.
    """
    (joint,) = joints.joints
    if not joint.complete or joint.contact is not None:
        return None
    n, m = WIDTH * joints.bodies.size, joints.multipliers.size
    pairs = [*combinations(range(n), 2)]
    i, j = np.array(pairs).T
    units = np.eye(n)
    f = np.vstack([np.zeros((1, n)), units, 2 * units, units[i] + units[j]])
    blocks = np.repeat(f, m, axis=0).reshape(-1, joints.bodies.size, 4, 3)
    values = joints.reaction(blocks, np.tile(np.eye(m), (len(f), 1)), side).reshape(len(f), m, 3)
    none, once, twice, both = np.split(values, np.cumsum([1, n, n]))
    square = (twice - 2 * once + none) / 2
    coefficients = np.concatenate(
        [none, once - none - square, square, both - once[i] - once[j] + none]
    )
    named = [(int(body), k) for body in joints.bodies for k in range(WIDTH)]
    factors = [(ONE, ONE), *((at, ONE) for at in named), *((at, at) for at in named)]
    factors += [(named[a], named[b]) for a, b in pairs]
    least = ROUNDED * abs(coefficients).max(initial=0.0)
    found: list[list[Term]] = [[], [], []]
    for k, row, component in np.argwhere(abs(coefficients) > least).tolist():
        c, at = float(coefficients[k, row, component]), int(joints.multipliers[row])
        found[component].append(Term(c, at, *factors[k]))
    return [tuple(terms) for terms in found]
