"""Constraints of joints over a step backwards, see `engine.backward`.

With mu the gradient by residuals, a constraint s with the multiplier m adds to mu times residuals

    n s'(v, w) + m s'(mu_T, mu_R),

n being mu of its own equation and s' its change along a motion of both bodies: forces do work
along mu as they do along (v, w). Its derivatives by frames at the midpoint are added to `frames`,
those by its numbers subtracted from `by`.
"""

from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    combine,
    cross,
    dot,
    gather,
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
    A,
    B,
    Part,
    R,
    T,
    frame,
    twist,
)
from poinsot.kernels.terms import COUNT, DISTANCE, DOT, NODE, NONE, SLOT, VARIED
from poinsot.parts.stabilised_constraints import ON_A, ON_B


@arithmetic
def give(frames: Array, b: int, X: Vec, D: Mat, slope: Vec, by: Array, k: int, at: int) -> None:
    """Give the slope of a vector X of a body to its directors, and to X itself."""
    gather(frames, b, DIRECTORS, scale(X[0], slope))
    gather(frames, b, DIRECTORS + 3, scale(X[1], slope))
    gather(frames, b, DIRECTORS + 6, scale(X[2], slope))
    gather(by, k, at, (-dot(D[0], slope), -dot(D[1], slope), -dot(D[2], slope)))


@kernel
def points_backward(
    points: Part, by: Part, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through common points."""
    stage, bodies, (numbers, places) = step.stage, step.bodies, points
    for k in range(numbers.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, NODE]
        X_A, X_B = vector(numbers, k, ON_A), vector(numbers, k, ON_B)
        (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
        (_, w_A), (_, w_B) = twist(stage, first), twist(stage, second)
        n, m = vector(mu, node, 0), vector(step.multiplier, node, 0)
        spin_A, spin_B = vector(mu, bodies[first, R], 0), vector(mu, bodies[second, R], 0)
        slope_A = scale(-1.0, add(cross(n, w_A), cross(m, spin_A)))
        give(frames, first, X_A, D_A, slope_A, by.numbers, k, ON_A)
        slope_B = add(cross(n, w_B), cross(m, spin_B))
        give(frames, second, X_B, D_B, slope_B, by.numbers, k, ON_B)


@kernel
def rows_backward(rows: Part, by: Part, step: Step, mu: Array, frames: Array, by_u: Array) -> None:
    """Go through products of vectors."""
    for k in range(rows.numbers.shape[0]):
        if rows.places[k, KIND] == DOT:
            _directions(rows, by.numbers, k, step, mu, frames)
        else:
            _points(rows, by.numbers, k, step, mu, frames)


@inline
def _directions(rows: Part, by: Array, k: int, step: Step, mu: Array, frames: Array) -> None:
    """Of directions b_i on B and an axis a on A: the sum of b_i · (n_i w + m_i mu_R) x a."""
    stage, numbers, at, bodies = step.stage, rows.numbers, rows.places[k], step.bodies
    first, second, node, slot = at[A], at[B], at[NODE], at[SLOT]
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    (_, w_A), (_, w_B) = twist(stage, first), twist(stage, second)
    w = sub(w_A, w_B)
    spin = sub(vector(mu, bodies[first, R], 0), vector(mu, bodies[second, R], 0))
    X_a = vector(numbers, k, terms.DIRECTION_A)
    a, by_a = combine(X_a, D_A), NONE
    for i in range(at[COUNT]):
        X = vector(numbers, k, VARIED + 3 * i)
        b = combine(X, D_B)
        c = axpy(mu[node, slot + i], w, scale(step.multiplier[node, slot + i], spin))
        by_a = add(by_a, cross(b, c))
        give(frames, second, X, D_B, cross(c, a), by, k, VARIED + 3 * i)
    give(frames, first, X_a, D_A, by_a, by, k, terms.DIRECTION_A)


@inline
def _points(rows: Part, by: Array, k: int, step: Step, mu: Array, frames: Array) -> None:
    """Of directions n_i on A, or 2 c r: the sum of n_i · (u + p), u how r changes, p along mu."""
    stage, numbers, at, bodies = step.stage, rows.numbers, rows.places[k], step.bodies
    first, second, node, slot = at[A], at[B], at[NODE], at[SLOT]
    rod, c = at[KIND] == DISTANCE, numbers[k, terms.COEFFICIENT]
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    push = sub(vector(mu, bodies[second, T], 0), vector(mu, bodies[first, T], 0))
    spin_A, spin_B = vector(mu, bodies[first, R], 0), vector(mu, bodies[second, R], 0)
    rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
    reach = sub(add(r_B, rho_B), r_A)
    r = sub(reach, rho_A)
    u = add(sub(v_B, v_A), sub(cross(w_B, rho_B), cross(w_A, reach)))
    p = add(push, sub(cross(spin_B, rho_B), cross(spin_A, reach)))
    f, t, by_r = NONE, NONE, NONE
    for i in range(at[COUNT]):
        X, m = vector(numbers, k, VARIED + 3 * i), step.multiplier[node, slot + i]
        slope = axpy(mu[node, slot + i], u, scale(m, p))
        n = scale(2.0 * c, r) if rod else combine(X, D_A)
        f, t = axpy(mu[node, slot + i], n, f), axpy(m, n, t)
        if rod:
            by_r = scale(2.0 * c, slope)
            by[k, terms.COEFFICIENT] -= 2.0 * dot(r, slope)
        else:
            give(frames, first, X, D_A, slope, by, k, VARIED + 3 * i)
    by_reach = sub(by_r, add(cross(f, w_A), cross(t, spin_A)))
    by_B = add(by_reach, add(cross(f, w_B), cross(t, spin_B)))
    gather(frames, first, POSITION, scale(-1.0, by_reach))
    gather(frames, second, POSITION, by_reach)
    give(frames, first, X_A, D_A, scale(-1.0, by_r), by, k, terms.POINT_A)
    give(frames, second, X_B, D_B, by_B, by, k, terms.POINT_B)
