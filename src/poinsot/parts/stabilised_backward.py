"""Constraints of the stabilised form over a step backwards, see `engine.backward`.

With mu the gradient by residuals, all that a constraint adds to mu times residuals is a sum of
products of its vectors, which are linear in its numbers: at the midpoint x, at the end 2 x - x_0,
their rates at the start, and those at the end. The gradient by these is that by its numbers. How it
depends on frames follows from the step taken back.
"""

from typing import TypeAlias

from poinsot.kernels import tables, terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    cross,
    dot,
    gather,
    matrix,
    scale,
    sub,
    vector,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import (
    DIRECTORS,
    KIND,
    POSITION,
    RATES,
    VELOCITY,
    A,
    B,
    Part,
    R,
    T,
    frame,
    rates,
    twist_at_end,
)
from poinsot.kernels.terms import COEFFICIENT, NODE, SLOT
from poinsot.parts.stabilised_constraints import (
    CONSTANT,
    ON_A,
    VELOCITY_NODE,
    Vectors,
    slopes,
    speeds_of,
    vectors_of,
    weighted_sum,
)

#: Gradients by r, a and b, see `slopes`; and a virtual motion of A and B, as velocities.
Slopes: TypeAlias = tuple[Vec, Vec, Vec]
Twists: TypeAlias = tuple[Vec, Vec, Vec, Vec]
#: Gradients by a, b, rho_A and rho_B.
Own: TypeAlias = tuple[Vec, Vec, Vec, Vec]


@kernel
def stabilised_points_backward(
    points: Part, by: Part, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through common points."""
    for k in range(points.numbers.shape[0]):
        _side(-1.0, points, by.numbers, k, 0, step, mu)
        _side(1.0, points, by.numbers, k, 1, step, mu)


@inline
def _side(sign: float, points: Part, by: Array, k: int, side: int, step: Step, mu: Array) -> None:
    """Go through what one body of a point contributes and feels, see `stabilised_points`."""
    h, bodies, at = step.h, step.bodies, points.places[k]
    b, multiplier = at[A + side], step.multiplier
    (_, D0), (_, V0) = frame(step.state, b), rates(step.state, b)
    (_, D), (_, w1) = frame(step.stage, b), twist_at_end(step.stage, b)
    gamma, pull = vector(multiplier, at[NODE], 0), vector(multiplier, at[VELOCITY_NODE], 0)
    gap, speed = vector(mu, at[NODE], 0), vector(mu, at[VELOCITY_NODE], 0)
    turn, spin = vector(mu, bodies[b, tables.KR], 0), vector(mu, bodies[b, R], 0)
    by_rho = sub(cross(pull, spin), cross(gamma, turn))
    by_rate = scale(0.5 * h, cross(gamma, spin))
    by_end = axpy(1.0 / h, gap, cross(add(speed, by_rate), w1))
    by_X = add(apply(D, axpy(2.0, by_end, by_rho)), apply(V0, by_rate))
    gather(by, k, ON_A + 3 * side, scale(-sign, sub(by_X, apply(D0, by_end))))


@kernel
def stabilised_rows_backward(
    rows: Part, by: Part, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through products of vectors, see `stabilised_rows`.

    P(x, y) is how a product changes along y from x, and along x from y.
    """
    h, state, stage = step.h, step.state, step.stage
    for k in range(rows.numbers.shape[0]):
        at, kind, c = rows.places[k], rows.places[k, KIND], rows.numbers[k, COEFFICIENT]
        first, second, slot = at[A], at[B], at[SLOT]
        gamma, pull = step.multiplier[at[NODE], slot], step.multiplier[at[VELOCITY_NODE], slot]
        gap, speed = mu[at[NODE], slot] / h, mu[at[VELOCITY_NODE], slot]
        middle = vectors_of(rows, k, stage, POSITION)
        end = weighted_sum(2.0, middle, -1.0, vectors_of(rows, k, state, POSITION))
        (v_A, w_A), (v_B, w_B) = twist_at_end(stage, first), twist_at_end(stage, second)
        speeds_1 = speeds_of(end, v_A, w_A, v_B, w_B)
        speeds = weighted_sum(0.5, vectors_of(rows, k, state, VELOCITY), 0.5, speeds_1)
        along = _twists(mu, step.bodies, first, second, T, R)
        moving = _twists(mu, step.bodies, first, second, tables.KT, tables.KR)
        mixed = _add(-gamma, moving, pull, along)
        here, pushed = speeds_of(middle, *mixed), speeds_of(middle, *along)
        spun = _spun(speeds, along)
        # gap s(end) + speed P(end, speeds_1) + P(middle, here)
        # + f (P(speeds, pushed) + P(middle, spun)), with f = h gamma.
        by_end, by_middle = slopes(kind, c, end), slopes(kind, c, middle)
        by_speeds, f = slopes(kind, c, speeds), h * gamma
        total = 0.5 * gap * _product(by_end, end) + speed * _product(by_end, speeds_1)
        total += _product(by_middle, here)
        total += f * (_product(by_speeds, pushed) + _product(by_middle, spun))
        by.numbers[k, COEFFICIENT] -= total / c
        by.numbers[k, CONSTANT] += gap
        # By vectors of A and B at the midpoint, rates at the start and at the end, and at the end.
        M = _add(1.0, _own(slopes(kind, c, here)), f, _own(slopes(kind, c, spun)))
        M = _add(1.0, M, 1.0, _turned(_own(by_middle), mixed))
        M = _add(1.0, M, f, _turned(_own(by_speeds), along))
        V0 = _add(0.5 * f, _own(slopes(kind, c, pushed)), 0.5 * f, _turned(_own(by_middle), along))
        V1 = _add(1.0, V0, speed, _own(by_end))
        E = _add(gap, _own(by_end), speed, _own(slopes(kind, c, speeds_1)))
        E = _add(1.0, E, 1.0, _turned(V1, (v_A, w_A, v_B, w_B)))
        M = _add(1.0, M, 2.0, E)
        D_A, D_B = matrix(stage, first, DIRECTORS), matrix(stage, second, DIRECTORS)
        _take(by.numbers, k, M, D_A, D_B)
        D_A, D_B = matrix(state, first, DIRECTORS), matrix(state, second, DIRECTORS)
        _take(by.numbers, k, _add(-1.0, E, 0.0, E), D_A, D_B)
        _take(by.numbers, k, V0, matrix(state, first, RATES), matrix(state, second, RATES))


@arithmetic
def _product(slope: Slopes, at: Vectors) -> float:
    """Return P of the vectors that slopes are of, and of others."""
    return dot(slope[0], at[4]) + dot(slope[1], at[0]) + dot(slope[2], at[1])


@arithmetic
def _own(slope: Slopes) -> Own:
    """Return slopes by a, b, rho_A and rho_B, the last of which r is made of."""
    n, p, q = slope
    return p, q, scale(-1.0, n), n


@arithmetic
def _add(f: float, x: Own, g: float, y: Own) -> Own:
    """Return f x + g y."""
    a, b, rho_A, rho_B = (axpy(f, i, scale(g, j)) for i, j in zip(x, y, strict=True))
    return a, b, rho_A, rho_B


@arithmetic
def _turned(by_rates: Own, twists: Twists) -> Own:
    """Return the gradient by vectors from that by their rates, w x x."""
    (a, b, rho_A, rho_B), (_, w_A, _, w_B) = by_rates, twists
    return cross(a, w_A), cross(b, w_B), cross(rho_A, w_A), cross(rho_B, w_B)


@arithmetic
def _spun(at: Vectors, twists: Twists) -> Vectors:
    """Return the rates of vectors that turn with bodies, r by those of both points."""
    (a, b, rho_A, rho_B, _), (_, w_A, _, w_B) = at, twists
    on_A, on_B = cross(w_A, rho_A), cross(w_B, rho_B)
    return cross(w_A, a), cross(w_B, b), on_A, on_B, sub(on_B, on_A)


@arithmetic
def _twists(mu: Array, bodies: Array, first: int, second: int, to: int, ro: int) -> Twists:
    """Return mu of two bodies, at nodes in columns `to` and `ro` of their places."""
    return (
        vector(mu, bodies[first, to], 0),
        vector(mu, bodies[first, ro], 0),
        vector(mu, bodies[second, to], 0),
        vector(mu, bodies[second, ro], 0),
    )


@arithmetic
def _take(by: Array, k: int, found: Own, D_A: Mat, D_B: Mat) -> None:
    """Subtract the gradient by vectors, given in directors, from that by numbers."""
    a, b, rho_A, rho_B = found
    gather(by, k, terms.DIRECTION_A, scale(-1.0, apply(D_A, a)))
    gather(by, k, terms.DIRECTION_B, scale(-1.0, apply(D_B, b)))
    gather(by, k, terms.POINT_A, scale(-1.0, apply(D_A, rho_A)))
    gather(by, k, terms.POINT_B, scale(-1.0, apply(D_B, rho_B)))
