r"""Guesses for the substeps of compositions, by weights of the last ones.

The substeps of a composition have different lengths, and go back in time now and then, so that no
polynomial through the last ones is a good guess. But how their solutions differ is known. With
:math:`\gamma` the length of a substep in steps, t the middle of it and E half the sum of
:math:`\gamma^3` over all substeps before it and after it, a velocity is a polynomial of t, more
small ones times :math:`\gamma` (velocities at the ends of substeps), :math:`\gamma^2` (means over
a substep) and E (what substeps were off so far). Impulses of constraints are such polynomials times
:math:`\gamma`, :math:`\gamma^3` and, since velocities across constraints change their sign from
substep to substep, :math:`\pm\gamma^2`. The weights of a substep reproduce all of these; of all
weights that do they are the smallest.
"""

import numpy as np
from numpy.typing import NDArray

from poinsot.kernels.algebra import (
    Array,
    add_squares,
    axpy_four,
    four,
    put,
    put_four,
    sub_four,
    three,
    vector,
    wide,
)
from poinsot.kernels.kernel import kernel

#: So many substeps does a guess look back.
REMEMBERED = 16
#: Rows of what is remembered of a substep's unknowns: the last, its guess, and a ring of them all.
LAST, GUESS, RING = range(3)
#: Terms of the rounded equations for weights that are smaller than this do not count.
ROUNDED = 1e-9


def weights(fractions: tuple[float, ...]) -> Array:
    """Return weights of velocities and of impulses (2, substeps, REMEMBERED), the latest first.

    There are none for steps of a single substep.
    """
    if len(fractions) == 1:
        return np.zeros((2, 0, 0))
    each = range(len(fractions))
    return np.array(
        [[_weights(fractions, k, impulses) for k in each] for impulses in (False, True)]
    )


def _weights(fractions: tuple[float, ...], k: int, impulses: bool) -> NDArray[np.float64]:
    """Return the weights of the substeps before number k, the latest first."""
    substeps = len(fractions)
    before = -(-REMEMBERED // substeps)
    gamma = np.tile(fractions, before + 1)
    passed = np.cumsum(gamma) - gamma / 2
    off = np.cumsum(gamma**3) - gamma**3 / 2
    sign = np.where(np.arange(gamma.size) % 2, 1.0, -1.0)
    last = before * substeps + k
    near = slice(last - REMEMBERED, last + 1)
    t, gamma, off, sign = (a[near] for a in (passed - passed[last], gamma, off, sign))
    one = np.ones_like(t)
    if impulses:
        terms = [gamma, gamma * t, gamma * t**2, sign * gamma**2, sign * gamma**2 * t, gamma**3]
    else:
        terms = [one, t, t**2, t**3, gamma, gamma * t, gamma**2, gamma**2 * t, off]
    rows = np.array(terms)
    rows /= abs(rows).max(axis=1)[:, None]
    found: NDArray[np.float64] = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=ROUNDED)[0]
    return found[::-1]


@kernel
def predict(
    past: Array, x: Array, start: int, first: int, weights: Array, slot: int, trusted: bool
) -> bool:
    """Guess the next values of x, from row `start` and column `first` on; or take the last ones.

    Returns whether weights would have led nearer to the values here than the ones before them.

    `past` (n, RING + REMEMBERED, 4 for each 3 columns) is brought up to date, the ring at `slot`.
    """
    zero = wide((0.0, 0.0, 0.0))
    lack, change = zero, zero
    count = weights.size
    for i in range(start, x.shape[0]):
        for k in range(past.shape[2] // 4):
            at, j, recent = 4 * k, first + 3 * k, past[i]
            a = wide(vector(x, i, j))
            change = add_squares(change, sub_four(a, four(recent, LAST, at)))
            lack = add_squares(lack, sub_four(a, four(recent, GUESS, at)))
            put_four(recent, LAST, at, a)
            put_four(recent, RING + slot, at, a)
            guess = zero
            for age in range(count):
                row = slot - age if age <= slot else slot + count - age
                guess = axpy_four(weights[age], four(recent, RING + row, at), guess)
            put_four(recent, GUESS, at, guess)
            put(x, i, j, three(guess if trusted else a))
    lacking, changing = three(lack), three(change)
    total = lacking[0] + lacking[1] + lacking[2]
    return total < changing[0] + changing[1] + changing[2]
