"""From one step to the next: the end of a step, its energy, and the guess for the next."""

from poinsot.kernels.algebra import (
    Array,
    Four,
    Mat,
    add,
    add_squares,
    axpy,
    axpy_four,
    cross,
    dot,
    four,
    gather,
    matrix,
    put,
    put_four,
    put_matrix,
    scale,
    sub,
    sub_four,
    three,
    vector,
    wide,
)
from poinsot.kernels.cayley import turn
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.tables import (
    DIRECTORS,
    EULER2,
    FLAT,
    MASS2,
    POSITION,
    RATES,
    V1,
    VELOCITY,
    W1,
    WEIGHT,
    Part,
    V,
    W,
)


@kernel
def move(
    bodies: Part, stabilised: Array, h: float, state: Array, stage: Array, ahead: Array
) -> float:
    """Set the motion at the end of a step; return kinetic energy and that of gravity [J].

    q1 = q0 + h v,  v1 = 2 v - v0, for positions and for directors, whose rates are w x d; in the
    stabilised form (`stabilised` is not None) velocities at the end are unknowns themselves.
    """
    numbers, places = bodies
    H = 0.0
    for b in range(numbers.shape[0]):
        v, w = vector(stage, b, V), vector(stage, b, W)
        a, D0, V0 = scale(0.5 * h, w), matrix(state, b, DIRECTORS), matrix(state, b, RATES)
        D = turn(a, D0[0]), turn(a, D0[1]), turn(a, D0[2])
        position = axpy(h, v, vector(state, b, POSITION))
        D1 = _beyond(D, D0)
        if stabilised is None:
            velocity = sub(scale(2.0, v), vector(state, b, VELOCITY))
            rates = _beyond((cross(w, D[0]), cross(w, D[1]), cross(w, D[2])), V0)
            if places[b, FLAT] < 3:
                rates = _without_mass(places[b, FLAT], D1, rates)
        else:
            velocity, w1 = vector(stage, b, V1), vector(stage, b, W1)
            rates = cross(w1, D1[0]), cross(w1, D1[1]), cross(w1, D1[2])
        put(ahead, b, POSITION, position)
        put(ahead, b, VELOCITY, velocity)
        put_matrix(ahead, b, DIRECTORS, D1)
        put_matrix(ahead, b, RATES, rates)
        E2 = vector(numbers, b, EULER2)
        spin = E2[0] * dot(rates[0], rates[0]) + E2[1] * dot(rates[1], rates[1])
        spin += E2[2] * dot(rates[2], rates[2])
        H += 0.25 * (numbers[b, MASS2] * dot(velocity, velocity) + spin)
        H += dot(vector(numbers, b, WEIGHT), position)
    return H


@arithmetic
def _beyond(middle: Mat, start: Mat) -> Mat:
    """Return what lies as far behind the middle as the start lies before it."""
    return (
        sub(scale(2.0, middle[0]), start[0]),
        sub(scale(2.0, middle[1]), start[1]),
        sub(scale(2.0, middle[2]), start[2]),
    )


@inline
def _without_mass(k: int, D: Mat, V: Mat) -> Mat:
    """Give director k the rate that follows from d_k = d_i x d_j."""
    if k == 0:
        return add(cross(V[1], D[2]), cross(D[1], V[2])), V[1], V[2]
    if k == 1:
        return V[0], add(cross(V[2], D[0]), cross(D[2], V[0])), V[2]
    return V[0], V[1], add(cross(V[0], D[1]), cross(D[0], V[1]))


@kernel
def straighten(bodies: int, state: Array) -> None:
    """Take back what round-off has done to the directors: D (3 - D^T D) / 2."""
    for b in range(bodies):
        D = matrix(state, b, DIRECTORS)
        x, y = 0.5 * (1.0 - dot(D[0], D[0])), 0.5 * (1.0 - dot(D[1], D[1]))
        z = 0.5 * (1.0 - dot(D[2], D[2]))
        p, q, r = -0.5 * dot(D[0], D[1]), -0.5 * dot(D[0], D[2]), -0.5 * dot(D[1], D[2])
        gather(state, b, DIRECTORS, add(axpy(x, D[0], scale(p, D[1])), scale(q, D[2])))
        gather(state, b, DIRECTORS + 3, add(axpy(y, D[1], scale(p, D[0])), scale(r, D[2])))
        gather(state, b, DIRECTORS + 6, add(axpy(z, D[2], scale(q, D[0])), scale(r, D[1])))


@kernel
def extrapolate(past: Array, x: Array, start: int, first: int, order: int) -> int:
    """Guess the next values of x, from row `start` and column `first` on, by a polynomial.

    Returns the best order for the guess after that.

    `past` (n, 5, 4 for each 3 columns) are the last values and their backward differences D1 ...
    D4, brought up to date here. A guess of order k is the sum of the first k, and the next
    difference is about what it lacks: the order with the smallest one is the best.
    """
    zero = wide((0.0, 0.0, 0.0))
    w1, w2 = 1.0 if order > 0 else 0.0, 1.0 if order > 1 else 0.0
    w3, w4 = 1.0 if order > 2 else 0.0, 1.0 if order > 3 else 0.0
    lack_1, lack_2, lack_3, lack_4 = zero, zero, zero, zero
    for i in range(start, x.shape[0]):
        for k in range(past.shape[2] // 4):
            at, j, recent = 4 * k, first + 3 * k, past[i]
            a = wide(vector(x, i, j))
            d1 = sub_four(a, four(recent, 0, at))
            d2 = sub_four(d1, four(recent, 1, at))
            d3 = sub_four(d2, four(recent, 2, at))
            d4 = sub_four(d3, four(recent, 3, at))
            d5 = sub_four(d4, four(recent, 4, at))
            put_four(recent, 0, at, a)
            put_four(recent, 1, at, d1)
            put_four(recent, 2, at, d2)
            put_four(recent, 3, at, d3)
            put_four(recent, 4, at, d4)
            lack_1, lack_2 = add_squares(lack_1, d2), add_squares(lack_2, d3)
            lack_3, lack_4 = add_squares(lack_3, d4), add_squares(lack_4, d5)
            guess = axpy_four(w2, d2, axpy_four(w1, d1, a))
            guess = axpy_four(w4, d4, axpy_four(w3, d3, guess))
            put(x, i, j, three(guess))
    best, lack = 1, _total(lack_1)
    if _total(lack_2) < lack:
        best, lack = 2, _total(lack_2)
    if _total(lack_3) < lack:
        best, lack = 3, _total(lack_3)
    return 4 if _total(lack_4) < lack else best


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
