"""Frames carried by elastic bodies: their motion over a step, and the forces that they transmit.

The equations are those of `attached`.
"""

from poinsot.bodies.elastic_integrals import (
    in_world,
)
from poinsot.bodies.elastic_table import (
    BODY,
    CARRIED,
    CARRYING,
    CROSSINGS,
    FRAME,
    G_R,
    GROUP,
    LEFT,
    LINK_TILES,
    LINKS,
    MOMENTUM,
    MOTION,
    NODE,
    NODE_R,
    NODE_T,
    OWN,
    R_G,
    RIGHT,
    ROW,
    THETA_AT,
    TILE,
    Y_AT,
    Elastics,
)
from poinsot.bodies.in_directors import (
    place_at_midpoint,
)
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    apply,
    axpy,
    combine,
    cross,
    dot,
    gather,
    matrix,
    minus,
    multiply,
    outer,
    plus,
    put,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    times,
    times_skew,
    transposed,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step, measure_closure
from poinsot.kernels.tables import frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT


@inline
def at_place(table: Elastics, c: int, state: Array, stage: Array) -> tuple[Vec, Vec, Vec, Vec]:
    """Return X and theta/2 of a carried frame at the start, and their rates Y v_f, Theta v_f."""
    links, groups = table.links, table.groups
    X, b, moved, turned = vector(table.carried.numbers, c, 0), NONE, NONE, NONE
    for k in range(table.carried.places[c, LINKS], table.carried.places[c + 1, LINKS]):
        row = groups.places[links.places[k, GROUP], ROW]
        u, v = vector(state, row, tables.POSITION), vector(stage, row, tables.V)
        Y, Theta = matrix(links.numbers, k, Y_AT), matrix(links.numbers, k, THETA_AT)
        X, b = add(X, apply(Y, u)), axpy(0.5, apply(Theta, u), b)
        moved, turned = add(moved, apply(Y, v)), add(turned, apply(Theta, v))
    return X, b, moved, turned


@arithmetic
def _turn_of(h: float, a: Vec, D0: Mat, b0: Vec, turned: Vec) -> tuple[Vec, Vec, float, float, Vec]:
    """Return g, k, sigma, den, n with omega_C = omega + (2/h) g, see `bodies.attached`."""
    db = scale(0.5 * h, turned)
    n = add(db, cross(b0, db))
    den = 1.0 / (1.0 + dot(b0, add(b0, db)))
    k = scale(den, in_world(D0, n))
    sigma = 1.0 / (1.0 - dot(a, k))
    g = scale(sigma, add(add(k, cross(a, k)), scale(dot(a, k), a)))
    return g, k, sigma, den, n


@kernel
def place_carried(table: Elastics, step: Step) -> None:
    """Set the twists of carried frames, and place them at the midpoint."""
    at, h, state, stage = table.bodies.places, step.h, step.state, step.stage
    for n in range(table.bodies.numbers.shape[0]):
        b = at[n, FRAME]
        (v, w), (_, D0), a = twist(stage, b), frame(state, b), half_turn(stage, b)
        D1 = minus(times(2.0, matrix(stage, b, tables.DIRECTORS)), D0)
        for c in range(at[n, CARRIED], at[n + 1, CARRIED]):
            X0, b0, moved, turned = at_place(table, c, state, stage)
            X1 = axpy(h, moved, X0)
            arm = scale(0.5, add(in_world(D0, X0), in_world(D1, X1)))
            y = in_world(D0, moved)
            g = _turn_of(h, a, D0, b0, turned)[0]
            row = table.carried.places[c, BODY]
            put(stage, row, tables.V, add(add(v, cross(w, arm)), add(y, cross(a, y))))
            put(stage, row, tables.W, axpy(2.0 / h, g, w))
            place_at_midpoint(row, h, state, stage)


@kernel
def gather_forces(table: Elastics, n: int, step: Step, tiles: Array) -> None:
    """Hand on what acts on carried frames; set how they follow, unless tiles are None."""
    at, carried, links, groups = table.bodies.places, table.carried, table.links, table.groups
    h, state, stage, x, b = step.h, step.state, step.stage, step.x, at[n, FRAME]
    (_, w), (_, D0), a = twist(stage, b), frame(state, b), half_turn(stage, b)
    D = matrix(stage, b, tables.DIRECTORS)
    D1 = minus(times(2.0, D), D0)
    B = minus(D0, times_skew(D0, a))
    A = plus(plus(UNIT, skew(a)), outer(a, a))
    for c in range(at[n, CARRIED], at[n + 1, CARRIED]):
        place = carried.places[c]
        X0, b0, moved, turned = at_place(table, c, state, stage)
        X1 = axpy(h, moved, X0)
        arm = scale(0.5, add(in_world(D0, X0), in_world(D1, X1)))
        g, k, sigma, den, n_b = _turn_of(h, a, D0, b0, turned)
        force, torque = vector(x, place[MOMENTUM], 0), vector(x, place[MOMENTUM + 1], 0)
        for node in range(4):
            put(x, place[MOTION + node], 0, NONE)
        gather(x, at[n, NODE_T], 0, force)
        gather(x, at[n, NODE_R], 0, add(cross(arm, force), torque))
        # T = sigma den A R0 (1 + [b]), with the mean b of both ends.
        back = plus(UNIT, skew(axpy(0.25 * h, turned, b0)))
        T = times(sigma * den, multiply(A, multiply(transposed(D0), back)))
        pushed, bent = apply(B, force), combine(torque, T)
        for j in range(place[LINKS], carried.places[c + 1, LINKS]):
            Y, Theta = matrix(links.numbers, j, Y_AT), matrix(links.numbers, j, THETA_AT)
            node = groups.places[links.places[j, GROUP], NODE]
            gather(x, node, 0, add(combine(pushed, Y), combine(bent, Theta)))
        if tiles is not None:
            V_C, w_C = twist(stage, place[BODY])
            measure_closure(step, max(size(V_C), step.length * size(w_C)))
            by_w, by_v = times(-0.5 * h, lever(a, in_world(D, X1))), times(0.5 * h, transposed(D1))
            V_w = plus(skew(scale(-1.0, arm)), skew_times(w, by_w))
            V_w = minus(V_w, times(0.5 * h, skew(in_world(D0, moved))))
            V_v = plus(transposed(B), skew_times(w, by_v))
            rank = plus(outer(add(g, a), k), times(dot(a, k), UNIT))
            w_w = plus(UNIT, times(sigma, minus(rank, skew(k))))
            k_b = plus(UNIT, minus(skew(b0), outer(scale(den, n_b), b0)))
            k_b = multiply(transposed(D0), k_b)
            k_b = times(den, k_b)
            w_v = multiply(times(sigma, plus(A, outer(g, a))), k_b)
            put_tile(tiles, place[CARRYING], times(-1.0, UNIT))
            put_tile(tiles, place[CARRYING + 1], times(-1.0, V_w))
            put_tile(tiles, place[CARRYING + 2], times(-1.0, w_w))
            put_tile(tiles, place[CARRYING + 3], UNIT)
            put_tile(tiles, place[CARRYING + 4], skew(arm))
            put_tile(tiles, place[CARRYING + 5], UNIT)
            add_tile(tiles, at[n, OWN + 3], times(-1.0, skew_times(force, by_w)))
            turning = plus(plus(skew(torque), outer(a, torque)), times(dot(a, torque), UNIT))
            by_a = multiply(multiply(transposed(back), D0), times(sigma * den, turning))
            by_a = plus(by_a, times(sigma, outer(bent, k)))
            by_b = times(sigma, outer(bent, combine(a, k_b)))
            by_b = minus(by_b, times(den, outer(bent, b0)))
            pulled = apply(D0, combine(torque, A))
            by_b = plus(by_b, times(0.5 * sigma * den, skew(pulled)))
            for j in range(place[LINKS], carried.places[c + 1, LINKS]):
                Y, Theta = matrix(links.numbers, j, Y_AT), matrix(links.numbers, j, THETA_AT)
                to, group = links.places[j], links.places[j, GROUP]
                Y_T, Theta_T = transposed(Y), transposed(Theta)
                put_tile(tiles, to[LINK_TILES], times(-1.0, multiply(V_v, Y)))
                put_tile(tiles, to[LINK_TILES + 1], times(-1.0, multiply(w_v, Theta)))
                put_tile(tiles, to[LINK_TILES + 2], multiply(Y_T, B))
                put_tile(tiles, to[LINK_TILES + 3], multiply(Theta_T, transposed(T)))
                f = skew_times(force, multiply(by_v, Y))
                add_tile(tiles, groups.places[group, R_G], times(-1.0, f))
                g_w = multiply(Y_T, multiply(D0, skew(force)))
                g_w = plus(g_w, multiply(Theta_T, by_a))
                add_tile(tiles, groups.places[group, G_R], times(0.5 * h, g_w))
            crossings = table.crossings
            for j in range(place[CROSSINGS], carried.places[c + 1, CROSSINGS]):
                left, right = crossings[j, LEFT], crossings[j, RIGHT]
                inner = multiply(by_b, matrix(links.numbers, right, THETA_AT))
                outer_ = multiply(transposed(matrix(links.numbers, left, THETA_AT)), inner)
                add_tile(tiles, crossings[j, TILE], times(0.5 * h, outer_))


@arithmetic
def square(b: Vec) -> Mat:
    """Return [b]^2."""
    return minus(outer(b, b), times(dot(b, b), UNIT))
