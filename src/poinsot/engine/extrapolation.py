"""Guesses for the next step, by polynomials through the last ones."""

from typing import TypeAlias

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
from poinsot.kernels.kernel import arithmetic, inline, kernel

#: Squares of what guesses of order 1 to 4, and of the last one, lack.
Lacks: TypeAlias = tuple[Four, Four, Four, Four, Four]
#: Rows of what is remembered: the last values and four differences.
ROWS = 5
#: Orders are 0 to 4, and this.
ALTERNATING = 5


@kernel
def extrapolate(
    past: Array, x: Array, start: int, first: int, order: int, reverses: bool, number: int
) -> int:
    """Guess the next values of x, from row `start` and column `first` on, by a polynomial.

    Returns the best order for the guess after that.

    `past` (n, 5, 4 for each 3 columns) are the last values and their backward differences D1 ...
    D4, brought up to date here. A guess of order k is the sum of the first k, and the next
    difference is about what it lacks: the order with the smallest one is the best. `ALTERNATING` is
    the cubic polynomial beside a part that changes its sign from step to step, if any `reverses`:
    of this part a, D4 is 16 a, and what the cubic polynomial makes of it is 15 a.
    """
    weights, zero = _weights(order), wide((0.0, 0.0, 0.0))
    lacks = zero, zero, zero, zero, zero
    for i in range(start, x.shape[0]):
        for k in range(past.shape[2] // 4):
            at, j, recent = 4 * k, first + 3 * k, past[i]
            a = wide(vector(x, i, j))
            d1 = sub_four(a, four(recent, 0, at))
            d2 = sub_four(d1, four(recent, 1, at))
            d3 = sub_four(d2, four(recent, 2, at))
            d4 = sub_four(d3, four(recent, 3, at))
            lacks = _add_lacks(lacks, d2, d3, d4, four(recent, 4, at))
            put_four(recent, 0, at, a)
            put_four(recent, 1, at, d1)
            put_four(recent, 2, at, d2)
            put_four(recent, 3, at, d3)
            put_four(recent, 4, at, d4)
            put(x, i, j, three(_sum(weights, a, d1, d2, d3, d4)))
    return _best(lacks, reverses)


@kernel
def extrapolate_in_a_ring(
    past: Array, x: Array, start: int, first: int, order: int, reverses: bool, number: int
) -> int:
    """Do what `extrapolate` does, and write less: `past` are the last values themselves.

    Those before the last one are a ring of four; `number` is that of the step, from 0 on.
    """
    weights, zero = _weights(order), wide((0.0, 0.0, 0.0))
    lacks = zero, zero, zero, zero, zero
    second, third = 1 + (number + 3) % 4, 1 + (number + 2) % 4
    fourth, fifth = 1 + (number + 1) % 4, 1 + number % 4
    for i in range(start, x.shape[0]):
        for k in range(past.shape[2] // 4):
            at, j, recent = 4 * k, first + 3 * k, past[i]
            a, b, c = wide(vector(x, i, j)), four(recent, 0, at), four(recent, second, at)
            d, e, f = four(recent, third, at), four(recent, fourth, at), four(recent, fifth, at)
            put_four(recent, 0, at, a)
            put_four(recent, fifth, at, b)
            d1, c1, e1 = sub_four(a, b), sub_four(b, c), sub_four(c, d)
            f1, g1 = sub_four(d, e), sub_four(e, f)
            d2, c2, e2, f2 = sub_four(d1, c1), sub_four(c1, e1), sub_four(e1, f1), sub_four(f1, g1)
            d3, c3, e3 = sub_four(d2, c2), sub_four(c2, e2), sub_four(e2, f2)
            d4, last = sub_four(d3, c3), sub_four(c3, e3)
            lacks = _add_lacks(lacks, d2, d3, d4, last)
            put(x, i, j, three(_sum(weights, a, d1, d2, d3, d4)))
    return _best(lacks, reverses)


@inline
def _weights(order: int) -> tuple[float, float, float, float]:
    """Return the weights of differences in a guess."""
    w1, w2 = 1.0 if order > 0 else 0.0, 1.0 if order > 1 else 0.0
    w3, w4 = 1.0 if order > 2 else 0.0, 1.0 if order == 4 else 0.0
    if order == ALTERNATING:
        w4 = -1.0
    return w1, w2, w3, w4


@arithmetic
def _add_lacks(lacks: Lacks, d2: Four, d3: Four, d4: Four, last: Four) -> Lacks:
    """Add the squares of what guesses of each order lack."""
    first, second, third, fourth, alternating = lacks
    return (
        add_squares(first, d2),
        add_squares(second, d3),
        add_squares(third, d4),
        add_squares(fourth, sub_four(d4, last)),
        add_squares(alternating, add_four(d4, last)),
    )


@arithmetic
def _sum(
    w: tuple[float, float, float, float], a: Four, d1: Four, d2: Four, d3: Four, d4: Four
) -> Four:
    """Return a guess."""
    guess = axpy_four(w[1], d2, axpy_four(w[0], d1, a))
    return axpy_four(w[3], d4, axpy_four(w[2], d3, guess))


@inline
def _best(lacks: Lacks, reverses: bool) -> int:
    """Return the order that lacks least."""
    lack_1, lack_2, lack_3, lack_4, lack_5 = lacks
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
