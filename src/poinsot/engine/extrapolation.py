"""Guesses for the next step, by polynomials through the last ones."""

from poinsot.kernels.algebra import (
    Array,
    Four,
    add_four,
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
from poinsot.kernels.kernel import arithmetic, kernel

#: Rows of what is remembered: the last values and four differences.
ROWS = 5
#: Orders are 0 to 4, and this.
ALTERNATING = 5


@kernel
def extrapolate(past: Array, x: Array, start: int, first: int, order: int, reverses: bool) -> int:
    """Guess the next values of x, from row `start` and column `first` on, by a polynomial.

    Returns the best order for the guess after that.

    `past` (n, 5, 4 for each 3 columns) are the last values and their backward differences D1 ...
    D4, brought up to date here. A guess of order k is the sum of the first k, and the next
    difference is about what it lacks: the order with the smallest one is the best. `ALTERNATING` is
    the cubic polynomial beside a part that changes its sign from step to step, if any `reverses`:
    of this part a, D4 is 16 a, and what the cubic polynomial makes of it is 15 a.
    """
    zero = wide((0.0, 0.0, 0.0))
    w1, w2 = 1.0 if order > 0 else 0.0, 1.0 if order > 1 else 0.0
    w3, w4 = 1.0 if order > 2 else 0.0, 1.0 if order == 4 else 0.0
    if order == ALTERNATING:
        w4 = -1.0
    lack_1, lack_2, lack_3, lack_4, lack_5 = zero, zero, zero, zero, zero
    for i in range(start, x.shape[0]):
        for k in range(past.shape[2] // 4):
            at, j, recent = 4 * k, first + 3 * k, past[i]
            a = wide(vector(x, i, j))
            d1 = sub_four(a, four(recent, 0, at))
            d2 = sub_four(d1, four(recent, 1, at))
            d3 = sub_four(d2, four(recent, 2, at))
            d4 = sub_four(d3, four(recent, 3, at))
            last = four(recent, 4, at)
            put_four(recent, 0, at, a)
            put_four(recent, 1, at, d1)
            put_four(recent, 2, at, d2)
            put_four(recent, 3, at, d3)
            put_four(recent, 4, at, d4)
            lack_1, lack_2 = add_squares(lack_1, d2), add_squares(lack_2, d3)
            lack_3, lack_4 = add_squares(lack_3, d4), add_squares(lack_4, sub_four(d4, last))
            lack_5 = add_squares(lack_5, add_four(d4, last))
            guess = axpy_four(w2, d2, axpy_four(w1, d1, a))
            guess = axpy_four(w4, d4, axpy_four(w3, d3, guess))
            put(x, i, j, three(guess))
    best, lack = 1, _total(lack_1)
    if _total(lack_2) < lack:
        best, lack = 2, _total(lack_2)
    if _total(lack_3) < lack:
        best, lack = 3, _total(lack_3)
    if _total(lack_4) < lack:
        best, lack = 4, _total(lack_4)
    return ALTERNATING if reverses and _total(lack_5) < lack else best


@arithmetic
def _total(a: Four) -> float:
    b = three(a)
    return b[0] + b[1] + b[2]


@kernel
def go_back(past: Array, x: Array, first: int) -> None:
    """Guess that nothing changes: a polynomial may lead astray."""
    for i in range(x.shape[0]):
        for k in range(past.shape[2] // 4):
            put(x, i, first + 3 * k, vector(past[i], 0, 4 * k))
