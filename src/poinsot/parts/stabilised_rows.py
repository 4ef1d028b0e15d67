"""Constraints that are products of vectors of two bodies, in the stabilised form.

    kinematics  -gamma g,    momentum  mu g + h gamma g',    s = constant,    s' = 0

with g the pull of the term at the midpoint and g' its change along the mean of the rates at both
ends; the last two at the end of the step.
"""

from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    combine,
    cross,
    gather,
    matrix,
    put_column,
    put_row,
    scale,
    size,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import leading, turn_back
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import (
    HALF,
    KIND,
    KR,
    KT,
    OF_POSITION,
    OF_ROTATION,
    OF_TRANSLATION,
    RATES,
    V1,
    VELOCITY,
    W1,
    A,
    B,
    Part,
    R,
    T,
)
from poinsot.kernels.terms import (
    COEFFICIENT,
    DIRECTION_A,
    DIRECTION_B,
    POINT_A,
    POINT_B,
    UNIT,
    Pull,
    Vectors,
    add_change,
    beyond,
    change,
    pull,
    rate,
    slopes,
    value,
    vectors,
)
from poinsot.parts.equations import (
    G_K,
    H_K,
    H_M,
    K_G,
    M_G,
    M_H,
    NODE,
    SLOT,
    VELOCITY_NODE,
)

#: The constant that an equation keeps.
CONSTANT = 13
#: Tiles of kinematics (K) and momentum (M) of A and B with each other.
K_K, M_K, M_M = 31, 47, 63


@kernel
def stabilised_rows(rows: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, state, stage, multiplier = step.h, step.state, step.stage, step.multiplier
    x, sizes, bodies = step.x, step.sizes, step.bodies
    numbers, places = rows
    for k in range(numbers.shape[0]):
        at, kind, c = places[k], places[k, KIND], numbers[k, COEFFICIENT]
        first, second, slot = at[A], at[B], at[SLOT]
        gamma, mu = multiplier[at[NODE], slot], multiplier[at[VELOCITY_NODE], slot]
        start, middle = vectors(rows, k, state), vectors(rows, k, stage)
        end = beyond(middle, start)
        v_A, w_A = vector(stage, first, V1), vector(stage, first, W1)
        v_B, w_B = vector(stage, second, V1), vector(stage, second, W1)
        rates_1 = _rates(kind, end, v_A, w_A, v_B, w_B)
        rates = _mean(_rates_at_start(rows, k, state), rates_1)
        g, g1 = pull(kind, c, middle), pull(kind, c, end)
        along = _pull_along(kind, c, middle, rates)
        x[at[NODE], slot] = (value(kind, c, end) - numbers[k, CONSTANT]) / h
        x[at[VELOCITY_NODE], slot] = rate(g1, v_A, w_A, v_B, w_B)
        _push(x, bodies, first, second, KT, KR, -gamma, g)
        _push(x, bodies, first, second, T, R, mu, g)
        _push(x, bodies, first, second, T, R, h * gamma, along)
        if tiles is not None:
            half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
            M_A, M_B = leading(h, half_A), leading(h, half_B)
            _put_columns(tiles, at[K_G:], slot, -1.0, g)
            _put_columns(tiles, at[M_G:], slot, h, along)
            _put_columns(tiles, at[M_H:], slot, 1.0, g)
            _put_rows(tiles, at[G_K:], slot, change(kind, c, middle, end, half_A, half_B))
            _put_rows(tiles, at[H_M:], slot, g1)
            drag = _change_of_rate(kind, c, h, middle, end, rates_1, w_A, w_B, half_A, half_B)
            _put_rows(tiles, at[H_K:], slot, drag)
            half, nu = 0.5 * h, c * h * gamma
            add_change(kind, -c * gamma, middle, middle, M_A, M_B, half, at[K_K:], tiles)
            add_change(kind, c * mu, middle, middle, M_A, M_B, half, at[M_K:], tiles)
            add_change(kind, nu, rates, middle, M_A, M_B, half, at[M_K:], tiles, 0.0)
            spun_A, spun_B = skew_times(w_A, M_A), skew_times(w_B, M_B)
            add_change(kind, nu, middle, middle, spun_A, spun_B, 0.0, at[M_K:], tiles)
            mean = times(-0.5, UNIT)
            add_change(kind, nu, middle, end, mean, mean, 0.5, at[M_M:], tiles)
            force = (abs(mu) + abs(gamma)) * size(g[0])
            torque = (abs(mu) + abs(gamma)) * max(size(g[1]), size(g[3]))
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], force)
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torque)
            reach = max(size(g[1]), size(g[3]))
            sizes[OF_POSITION] = max(sizes[OF_POSITION], reach / h)


@arithmetic
def _rates(kind: int, at: Vectors, v_A: Vec, w_A: Vec, v_B: Vec, w_B: Vec) -> Vectors:
    """Return the rates of the vectors of a term on bodies that move."""
    a, b, rho_A, rho_B, _ = at
    along_A, along_B = cross(w_A, rho_A), cross(w_B, rho_B)
    r = sub(add(v_B, along_B), add(v_A, along_A))
    return cross(w_A, a), cross(w_B, b), along_A, along_B, r


@arithmetic
def _rates_at_start(rows: Part, k: int, state: Array) -> Vectors:
    """Return the rates at the start of the step, which are kept for every director."""
    numbers, first, second = rows.numbers, rows.places[k, A], rows.places[k, B]
    D_A, D_B = matrix(state, first, RATES), matrix(state, second, RATES)
    a = combine(vector(numbers, k, DIRECTION_A), D_A)
    b = combine(vector(numbers, k, DIRECTION_B), D_B)
    rho_A = combine(vector(numbers, k, POINT_A), D_A)
    rho_B = combine(vector(numbers, k, POINT_B), D_B)
    v_A, v_B = vector(state, first, VELOCITY), vector(state, second, VELOCITY)
    return a, b, rho_A, rho_B, sub(add(v_B, rho_B), add(v_A, rho_A))


@arithmetic
def _mean(x: Vectors, y: Vectors) -> Vectors:
    return (
        scale(0.5, add(x[0], y[0])),
        scale(0.5, add(x[1], y[1])),
        scale(0.5, add(x[2], y[2])),
        scale(0.5, add(x[3], y[3])),
        scale(0.5, add(x[4], y[4])),
    )


@inline
def _pull_along(kind: int, c: float, at: Vectors, rates: Vectors) -> Pull:
    """Return how the pull changes along the rates of the vectors."""
    (n, p, q), (dn, dp, dq) = slopes(kind, c, at), slopes(kind, c, rates)
    on_A = add(cross(rates[0], p), cross(at[0], dp))
    on_A = sub(on_A, add(cross(rates[2], n), cross(at[2], dn)))
    on_B = add(cross(rates[1], q), cross(at[1], dq))
    on_B = add(on_B, add(cross(rates[3], n), cross(at[3], dn)))
    return scale(-1.0, dn), on_A, dn, on_B


@inline
def _change_of_rate(
    kind: int,
    c: float,
    h: float,
    middle: Vectors,
    end: Vectors,
    rates: Vectors,
    w_A: Vec,
    w_B: Vec,
    half_A: Vec,
    half_B: Vec,
) -> Pull:
    """Return how s' at the end changes with (v_A, w_A, v_B, w_B) of the step.

    s' = n·r' + p·a' + q·b' with x' = w_1 x x_1; a vector at the end changes by h C (dw x x), so
    that n' - w_1 x n, and p and q alike, act on it.
    """
    (n, p, q), (dn, dp, dq) = slopes(kind, c, end), slopes(kind, c, rates)
    p, q = turn_back(half_A, sub(dp, cross(w_A, p))), turn_back(half_B, sub(dq, cross(w_B, q)))
    n_A, n_B = turn_back(half_A, sub(dn, cross(w_A, n))), turn_back(half_B, sub(dn, cross(w_B, n)))
    on_A = sub(cross(middle[0], p), cross(middle[2], n_A))
    on_B = add(cross(middle[1], q), cross(middle[3], n_B))
    return scale(-h, dn), scale(h, on_A), scale(h, dn), scale(h, on_B)


@arithmetic
def _push(
    x: Array, bodies: Array, first: int, second: int, to: int, ro: int, f: float, g: Pull
) -> None:
    """Add f times a pull to the nodes of two bodies, in columns `to` and `ro` of their places."""
    gather(x, bodies[first, to], 0, scale(f, g[0]))
    gather(x, bodies[first, ro], 0, scale(f, g[1]))
    gather(x, bodies[second, to], 0, scale(f, g[2]))
    gather(x, bodies[second, ro], 0, scale(f, g[3]))


@arithmetic
def _put_columns(tiles: Array, places: Array, slot: int, f: float, g: Pull) -> None:
    put_column(tiles, places[0], slot, scale(f, g[0]))
    put_column(tiles, places[1], slot, scale(f, g[1]))
    put_column(tiles, places[2], slot, scale(f, g[2]))
    put_column(tiles, places[3], slot, scale(f, g[3]))


@arithmetic
def _put_rows(tiles: Array, places: Array, slot: int, g: Pull) -> None:
    put_row(tiles, places[0], slot, g[0])
    put_row(tiles, places[1], slot, g[1])
    put_row(tiles, places[2], slot, g[2])
    put_row(tiles, places[3], slot, g[3])
