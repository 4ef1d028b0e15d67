"""Angles of joints counted over turns, without computing them."""

from math import atan2, tau

from poinsot.kernels.algebra import Array, combine, dot, vector
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.tables import A, B, Part, frame
from poinsot.kernels.terms import COEFFICIENT, DIRECTION_A, DIRECTION_B

COSINE, SINE = 0, 1
#: Column of terms: which of them it is part of.
FORM = 3


@kernel
def count_turns(
    turn_counters: Array, terms: Part, before: Array, state: Array, turns: Array
) -> None:
    """Count turns since the state before; `turns` (2, turn_counters) are sine and full turns.

    An angle in (-pi, pi] jumps where its sine changes sign on the side of negative cosines: there
    the line from one (cosine, sine) to the next passes the axis.
    """
    for k in range(turn_counters.shape[0]):
        first, last, s0 = turn_counters[k, 0], turn_counters[k, 1], turns[0, k]
        s1 = _form(first, last, SINE, terms, state)
        if (s1 < 0.0) != (s0 < 0.0):
            c0 = _form(first, last, COSINE, terms, before)
            c1 = _form(first, last, COSINE, terms, state)
            if (c0 * s1 - c1 * s0) * (s1 - s0) < 0.0:
                turns[1, k] += 1.0 if s1 < 0.0 else -1.0
        turns[0, k] = s1


@kernel
def read_turns(turn_counters: Array, terms: Part, state: Array, turns: Array, row: Array) -> None:
    """Set the angles of all turn_counters, followed over turns [rad]."""
    for k in range(turn_counters.shape[0]):
        c = _form(turn_counters[k, 0], turn_counters[k, 1], COSINE, terms, state)
        row[k] = atan2(turns[0, k], c) + tau * turns[1, k]


@inline
def _form(first: int, last: int, form: int, terms: Part, state: Array) -> float:
    """Return cosine or sine of an angle."""
    total, (numbers, places) = 0.0, terms
    for j in range(first, last):
        if places[j, FORM] == form:
            (_, D_A), (_, D_B) = frame(state, places[j, A]), frame(state, places[j, B])
            a = combine(vector(numbers, j, DIRECTION_A), D_A)
            total += numbers[j, COEFFICIENT] * dot(a, combine(vector(numbers, j, DIRECTION_B), D_B))
    return total
