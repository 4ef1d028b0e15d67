"""Constraints of two bodies in the stabilised form: common points and products of vectors.

    kinematics  -gamma g,    momentum  mu g + h gamma g',    s = constant,    s' = 0

with g the generalised forces of a unit multiplier at the midpoint and g' their change along the
mean of the rates at both ends; the last two at the end of the step: for quadratic constraints that
is the same, and does not drift.

Of a point the multiplier gamma of positions moves it by kinematics, -gamma on B with
-rho_B x gamma, and acts on the momentum as h rho_B' x gamma; mu of velocities acts as in the plain
form. A product s of vectors has the slopes

    n = ds/dr,    p = ds/da,    q = ds/db

and its forces are -n and a x p - rho_A x n on A, n and b x q + rho_B x n on B.
"""

from typing import TypeAlias

import numpy as np

from poinsot.frames.products import Index, Products
from poinsot.kernels import tables, terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    axpy,
    combine,
    cross,
    dot,
    gather,
    matrix,
    put,
    put_column,
    put_row,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    times_skew,
    vector,
)
from poinsot.kernels.cayley import leading, lever, turn_back
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, enlarge, measure_closure, measure_reaction
from poinsot.kernels.tables import (
    KIND,
    LASTING,
    OF_POSITION,
    POSITION,
    VELOCITY,
    A,
    B,
    Part,
    R,
    T,
    frame,
    half_turn,
    rates,
    twist_at_end,
)
from poinsot.kernels.terms import DOT, NONE, OFFSET, UNIT, gather_blocks

#: Columns of places, in the stabilised form of all constraints: nodes of positions and velocities,
#: the slot in both; tiles of either node with kinematics (K) and momentum (M) of A and B.
NODE, SLOT, VELOCITY_NODE, K_G, M_G, M_H, G_K, H_K, H_M = 4, 5, 6, 7, 11, 15, 19, 23, 27
#: Of products, besides: tiles of kinematics and momentum of A and B with each other.
K_K, M_K, M_M = 31, 47, 63
#: Columns of numbers: where a point is on either body; the constant that a product keeps.
ON_A, ON_B = 0, 3
CONSTANT = 13

#: The vectors of a term: a, b, rho_A, rho_B, r.
Vectors: TypeAlias = tuple[Vec, Vec, Vec, Vec, Vec]
#: What acts on A and B: force and torque on A, force and torque on B.
Pull: TypeAlias = tuple[Vec, Vec, Vec, Vec]


def stabilised_places(graph: Graph, tiles: Tiles, at: Products, joint: Index, slot: Index) -> Index:
    """Return what equations of the stabilised form meet besides pairs of bodies."""
    K, M, table = graph.pair(at.ends, moving=True), graph.pair(at.ends), tiles.table
    G, H = graph.position(joint)[:, None], graph.velocity(joint)[:, None]
    columns = table(K, G), table(M, G), table(M, H)
    rows = table(G, K), table(H, K), table(H, M)
    return np.column_stack([at.kind, graph.ends(at.ends), 0 * joint, G, slot, H, *columns, *rows])


# -- common points ---------------------------------------------------------------------------------


@kernel
def stabilised_points(points: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, x, multiplier = step.h, step.x, step.multiplier
    numbers, places = points
    for k in range(numbers.shape[0]):
        at = places[k]
        gamma, mu = vector(multiplier, at[NODE], 0), vector(multiplier, at[VELOCITY_NODE], 0)
        put(x, at[NODE], 0, NONE)
        put(x, at[VELOCITY_NODE], 0, NONE)
        _side(-1.0, points, k, 0, gamma, mu, step, tiles)
        _side(1.0, points, k, 1, gamma, mu, step, tiles)
        if tiles is not None:
            reach = max(size(vector(numbers, k, ON_A)), size(vector(numbers, k, ON_B)))
            force = max(size(mu), size(gamma))
            measure_reaction(step, force, force * reach)
            enlarge(step.sizes, OF_POSITION, reach / abs(h))
            enlarge(step.sizes, LASTING + OF_POSITION, reach / abs(h))


@kernel
def _side(
    sign: float, points: Part, k: int, side: int, gamma: Vec, mu: Vec, step: Step, tiles: Array
) -> None:
    """Add what one body of point k contributes and feels: A (side 0) or B (side 1)."""
    h, state, stage, x, bodies = step.h, step.state, step.stage, step.x, step.bodies
    at = points.places[k]
    b, X, shift = at[A + side], vector(points.numbers, k, ON_A + 3 * side), 2 * side
    (r0, D0), (_, V0) = frame(state, b), rates(state, b)
    (r, D), (v1, w1) = frame(stage, b), twist_at_end(stage, b)
    rho = combine(X, D)
    rho1, position = sub(scale(2.0, rho), combine(X, D0)), sub(scale(2.0, r), r0)
    rate = scale(0.5, add(combine(X, V0), cross(w1, rho1)))
    gather(x, at[NODE], 0, scale(sign / h, add(position, rho1)))
    gather(x, at[VELOCITY_NODE], 0, scale(sign, add(v1, cross(w1, rho1))))
    gather(x, bodies[b, tables.KT], 0, scale(-sign, gamma))
    gather(x, bodies[b, tables.KR], 0, scale(-sign, cross(rho, gamma)))
    gather(x, bodies[b, T], 0, scale(sign, mu))
    torque = add(cross(rho, mu), scale(h, cross(rate, gamma)))
    gather(x, bodies[b, R], 0, scale(sign, torque))
    if tiles is not None:
        P, one = lever(half_turn(stage, b), rho), times(sign, UNIT)
        turned = times(h, skew_times(w1, P))
        put_tile(tiles, at[K_G + shift], times(-1.0, one))
        put_tile(tiles, at[K_G + shift + 1], skew(scale(-sign, rho)))
        put_tile(tiles, at[M_G + shift + 1], skew(scale(sign * h, rate)))
        put_tile(tiles, at[M_H + shift], one)
        put_tile(tiles, at[M_H + shift + 1], skew(scale(sign, rho)))
        put_tile(tiles, at[G_K + shift], one)
        put_tile(tiles, at[G_K + shift + 1], times(-sign, P))
        put_tile(tiles, at[H_K + shift + 1], times(-sign, turned))
        put_tile(tiles, at[H_M + shift], one)
        put_tile(tiles, at[H_M + shift + 1], skew(scale(-sign, rho1)))
        by_gamma = times(-0.5 * h * sign, skew_times(gamma, P))
        add_tile(tiles, bodies[b, tables.KR_KR], by_gamma)
        add_tile(tiles, bodies[b, tables.RR], times(0.5 * h * sign, skew_times(mu, P)))
        by_rate = times(0.5 * h * sign, skew_times(gamma, turned))
        add_tile(tiles, bodies[b, tables.RR], by_rate)
        by_end = times(0.5 * h * sign, skew_times(gamma, skew(rho1)))
        add_tile(tiles, bodies[b, tables.R_R], by_end)


# -- products of vectors ---------------------------------------------------------------------------


@kernel
def stabilised_rows(rows: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, state, stage, multiplier = step.h, step.state, step.stage, step.multiplier
    x, bodies = step.x, step.bodies
    numbers, places = rows
    for k in range(numbers.shape[0]):
        at, kind, c = places[k], places[k, KIND], numbers[k, terms.COEFFICIENT]
        first, second, slot = at[A], at[B], at[SLOT]
        gamma, mu = multiplier[at[NODE], slot], multiplier[at[VELOCITY_NODE], slot]
        middle = vectors_of(rows, k, stage, POSITION)
        end = weighted_sum(2.0, middle, -1.0, vectors_of(rows, k, state, POSITION))
        (v_A, w_A), (v_B, w_B) = twist_at_end(stage, first), twist_at_end(stage, second)
        speeds_1 = speeds_of(end, v_A, w_A, v_B, w_B)
        speeds = weighted_sum(0.5, vectors_of(rows, k, state, VELOCITY), 0.5, speeds_1)
        g, g1 = _pull(kind, c, middle), _pull(kind, c, end)
        along = _pull_along(kind, c, middle, speeds)
        x[at[NODE], slot] = (_value(kind, c, end) - numbers[k, CONSTANT]) / h
        g1_A, g1_B = dot(g1[0], v_A) + dot(g1[1], w_A), dot(g1[2], v_B) + dot(g1[3], w_B)
        x[at[VELOCITY_NODE], slot] = g1_A + g1_B
        _push(x, bodies, first, second, tables.KT, tables.KR, -gamma, g)
        _push(x, bodies, first, second, T, R, mu, g)
        _push(x, bodies, first, second, T, R, h * gamma, along)
        if tiles is not None:
            half_A, half_B = half_turn(stage, first), half_turn(stage, second)
            M_A, M_B = leading(h, half_A), leading(h, half_B)
            _put_columns(tiles, at[K_G:], slot, -1.0, g)
            _put_columns(tiles, at[M_G:], slot, h, along)
            _put_columns(tiles, at[M_H:], slot, 1.0, g)
            _put_rows(tiles, at[G_K:], slot, _change(kind, c, middle, end, half_A, half_B))
            _put_rows(tiles, at[H_M:], slot, g1)
            drag = _change_of_rate(kind, c, h, middle, end, speeds_1, w_A, w_B, half_A, half_B)
            _put_rows(tiles, at[H_K:], slot, drag)
            half, nu = 0.5 * h, c * h * gamma
            _add_change(kind, -c * gamma, middle, middle, M_A, M_B, half, at[K_K:], tiles)
            _add_change(kind, c * mu, middle, middle, M_A, M_B, half, at[M_K:], tiles)
            _add_change(kind, nu, speeds, middle, M_A, M_B, half, at[M_K:], tiles, 0.0)
            spun_A, spun_B = skew_times(w_A, M_A), skew_times(w_B, M_B)
            _add_change(kind, nu, middle, middle, spun_A, spun_B, 0.0, at[M_K:], tiles)
            mean = times(-0.5, UNIT)
            _add_change(kind, nu, middle, end, mean, mean, 0.5, at[M_M:], tiles)
            force, reach = abs(mu) + abs(gamma), max(size(g[1]), size(g[3]))
            measure_reaction(step, force * size(g[0]), force * reach)
            reach *= step.speeds[at[NODE], slot]
            measure_closure(step, reach * max(size(w_A), size(w_B)))
            enlarge(step.sizes, OF_POSITION, reach / abs(h))
            enlarge(step.sizes, LASTING + OF_POSITION, reach / abs(h))


@inline
def vectors_of(rows: Part, k: int, motion: Array, at: int) -> Vectors:
    """Return the vectors of term k; `at` is where in a motion positions are, or their rates."""
    numbers, first, second = rows.numbers, rows.places[k, A], rows.places[k, B]
    D_A, D_B = matrix(motion, first, at + 3), matrix(motion, second, at + 3)
    a = combine(vector(numbers, k, terms.DIRECTION_A), D_A)
    if rows.places[k, KIND] == DOT:
        return a, combine(vector(numbers, k, terms.DIRECTION_B), D_B), NONE, NONE, NONE
    rho_A = combine(vector(numbers, k, terms.POINT_A), D_A)
    rho_B = combine(vector(numbers, k, terms.POINT_B), D_B)
    r_A, r_B = add(vector(motion, first, at), rho_A), add(vector(motion, second, at), rho_B)
    return a, NONE, rho_A, rho_B, sub(r_B, r_A)


@arithmetic
def weighted_sum(f: float, x: Vectors, g: float, y: Vectors) -> Vectors:
    """Return f x + g y."""
    a, b, rho_A, rho_B, r = (axpy(f, i, scale(g, j)) for i, j in zip(x, y, strict=True))
    return a, b, rho_A, rho_B, r


@arithmetic
def speeds_of(at: Vectors, v_A: Vec, w_A: Vec, v_B: Vec, w_B: Vec) -> Vectors:
    """Return the rates of the vectors of a term on bodies that move."""
    a, b, rho_A, rho_B, _ = at
    along_A, along_B = cross(w_A, rho_A), cross(w_B, rho_B)
    r = sub(add(v_B, along_B), add(v_A, along_A))
    return cross(w_A, a), cross(w_B, b), along_A, along_B, r


@inline
def _value(kind: int, c: float, at: Vectors) -> float:
    """Return s."""
    a, b, _, _, r = at
    if kind == DOT:
        return c * dot(a, b)
    return c * dot(a, r) if kind == OFFSET else c * dot(r, r)


@inline
def slopes(kind: int, c: float, at: Vectors) -> tuple[Vec, Vec, Vec]:
    """Return n, p, q: the slopes of s by r, a and b."""
    a, b, _, _, r = at
    if kind == DOT:
        return NONE, scale(c, b), scale(c, a)
    if kind == OFFSET:
        return scale(c, a), scale(c, r), NONE
    return scale(2.0 * c, r), NONE, NONE


@inline
def _pull(kind: int, c: float, at: Vectors) -> Pull:
    """Return the generalised forces of a unit tension: the gradient of s."""
    a, _, rho_A, rho_B, _ = at
    n, p, _ = slopes(kind, c, at)
    if kind == DOT:
        torque = cross(a, p)
        return NONE, torque, NONE, scale(-1.0, torque)
    return scale(-1.0, n), sub(cross(a, p), cross(rho_A, n)), n, cross(rho_B, n)


@inline
def _change(kind: int, c: float, middle: Vectors, at: Vectors, half_A: Vec, half_B: Vec) -> Pull:
    """Return what turns changes of (v_A, w_A, v_B, w_B) into that of s, per h (h/2 at the middle).

    A vector x = C x0 changes with w along C (dw x x), so a slope is turned back by C^T first.
    """
    a, b, rho_A, rho_B, _ = middle
    n, p, q = slopes(kind, c, at)
    if kind == DOT:
        return NONE, cross(a, turn_back(half_A, p)), NONE, cross(b, turn_back(half_B, q))
    torque_A = cross(rho_A, turn_back(half_A, n))
    torque_B = cross(rho_B, turn_back(half_B, n))
    return (
        scale(-1.0, n),
        sub(cross(a, turn_back(half_A, p)), torque_A),
        n,
        torque_B,
    )


@inline
def _add_change(
    kind: int,
    c: float,
    at: Vectors,
    source: Vectors,
    M_A: Mat,
    M_B: Mat,
    unit: float,
    pair: Array,
    tiles: Array,
    forces: float = 1.0,
) -> None:
    """Add to tiles how c times the pull at `at` changes with (v_A, w_A, v_B, w_B).

    A vector x of a body changes by M [x] dw, with x from `source`, a position by `unit` dv. The
    change of forces, which are linear in the vectors, is taken `forces` times.
    """
    a, b, rho_A, rho_B, r = at
    if kind == DOT:
        on_A = times(c, skew_times(b, times_skew(M_A, source[0])))
        on_B = times(c, skew_times(a, times_skew(M_B, source[1])))
        add_tile(tiles, pair[terms.RA_RA], times(-1.0, on_A))
        add_tile(tiles, pair[terms.RB_RB], times(-1.0, on_B))
        if pair[terms.RA_RB] < tiles.shape[0] - 1:
            add_tile(tiles, pair[terms.RA_RB], on_B)
            add_tile(tiles, pair[terms.RB_RA], on_A)
    elif kind == OFFSET:
        d_a, d_B = times(c, times_skew(M_A, source[0])), times(c, times_skew(M_B, source[3]))
        across, on_B = times(c * unit, skew(a)), skew_times(a, d_B)
        add_tile(tiles, pair[terms.TA_RA], times(-forces, d_a))
        add_tile(tiles, pair[terms.TB_RA], times(forces, d_a))
        add_tile(tiles, pair[terms.RA_TA], times(-1.0, across))
        add_tile(tiles, pair[terms.RA_RA], times(-1.0, skew_times(add(r, rho_A), d_a)))
        add_tile(tiles, pair[terms.RA_TB], across)
        add_tile(tiles, pair[terms.RA_RB], on_B)
        add_tile(tiles, pair[terms.RB_RA], skew_times(rho_B, d_a))
        add_tile(tiles, pair[terms.RB_RB], times(-1.0, on_B))
    else:
        c *= 2.0
        d_A, d_B = times(c, times_skew(M_A, source[2])), times(c, times_skew(M_B, source[3]))
        gather_blocks(
            tiles,
            pair,
            (times(c * unit * forces, UNIT), times(-forces, d_A), times(forces, d_B)),
            (
                skew(scale(-c * unit, rho_A)),
                skew_times(add(r, rho_A), d_A),
                times(-1.0, skew_times(rho_A, d_B)),
            ),
            (
                skew(scale(c * unit, rho_B)),
                times(-1.0, skew_times(rho_B, d_A)),
                skew_times(sub(rho_B, r), d_B),
            ),
        )


@inline
def _pull_along(kind: int, c: float, at: Vectors, speeds: Vectors) -> Pull:
    """Return how the pull changes along the speeds of the vectors."""
    (n, p, q), (dn, dp, dq) = slopes(kind, c, at), slopes(kind, c, speeds)
    on_A = add(cross(speeds[0], p), cross(at[0], dp))
    on_A = sub(on_A, add(cross(speeds[2], n), cross(at[2], dn)))
    on_B = add(cross(speeds[1], q), cross(at[1], dq))
    on_B = add(on_B, add(cross(speeds[3], n), cross(at[3], dn)))
    return scale(-1.0, dn), on_A, dn, on_B


@inline
def _change_of_rate(
    kind: int,
    c: float,
    h: float,
    middle: Vectors,
    end: Vectors,
    speeds: Vectors,
    w_A: Vec,
    w_B: Vec,
    half_A: Vec,
    half_B: Vec,
) -> Pull:
    """Return how s' at the end changes with (v_A, w_A, v_B, w_B) of the step.

    s' = n·r' + p·a' + q·b' with x' = w_1 x x_1; a vector at the end changes by h C (dw x x), so
    that n' - w_1 x n, and p and q alike, act on it.
    """
    (n, p, q), (dn, dp, dq) = slopes(kind, c, end), slopes(kind, c, speeds)
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
