"""Elastic bodies in floating frames over a step: the equations of `systems.floating.steps`.

The floating frame is a body without inertia of its own, in whose state v and Omega are in body axes
(columns VELOCITY and MOMENTUM). Elastic coordinates come in groups of three, each a body that does
not turn: its position is u, its velocity v_f. A frame that is carried is a body whose twist follows,
t_C = L w: it has nodes of motion, where this is an equation, and nodes of momentum, where the sum of
forces on it is one.
"""

from typing import NamedTuple

from poinsot.bodies.in_directors import place_at_midpoint
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
    put_matrix,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    times_skew,
    trace,
    transposed,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step, look_inside, measure
from poinsot.kernels.tables import LOST_POWER, Index2, Part, Real2, frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT, ZERO

#: Of elastic bodies: mass, first moment, inertia, gradient of gravity for a mass of one.
MASS, STATIC, INERTIA, PULL = 0, 1, 4, 13
#: The frame; whether momenta depend on the deformation, and whether it is damped; where groups,
#: pairs, fields, carried frames and axial strains begin; nodes T and R; tiles TT, TR, RT, RR.
FRAME, DEFORMED, DAMPED, GROUPS, PAIRS, FIELDS, CARRIED, STRAINS, NODE_T, NODE_R, OWN = range(11)
#: Of groups: S and C, and the integrals of rho x_a phi_b, row by row; the axes along which its
#: coordinates move points, if each has one. The body, its node, and its tiles (T, g), (R, g),
#: (g, T), (g, R).
S_AT, C_AT, X_AT, AXES_AT = 0, 9, 18, 45
ROW, NODE, T_G, R_G, G_T, G_R = range(6)
#: Of pairs of groups: M, K, D, and the integrals of rho times both shape functions, where each
#: coordinate moves points along one axis. Both groups, and their tile. Where coordinates move points
#: in any direction, fields have the integrals of rho phi × phi, and those of rho phi_a phi_b for
#: ab = xx, yy, zz, yz, zx, xy, in the order of pairs.
M_AT, K_AT, D_AT, N_AT = 0, 9, 18, 27
LEFT, RIGHT, TILE = range(3)
TWICE = 27
#: Of carried frames: the point. The body, its first link and crossing; nodes of motion, of momentum;
#: tiles (motion T, T), (motion T, R), (motion R, R), and (T, momentum T), (R, momentum T),
#: (R, momentum R).
BODY, LINKS, CROSSINGS, MOTION, MOMENTUM, CARRYING = 0, 1, 2, 3, 5, 7
#: Of links: Y and Theta of a group at a frame. The group, and tiles (motion T, g), (motion R, g),
#: (g, momentum T), (g, momentum R).
Y_AT, THETA_AT = 0, 9
GROUP, LINK_TILES = 0, 1
#: Of axial strains: stiffness. The first member, the first bend. Of members: the linear part; the
#: group. Of bends: the quadratic part; both members, and the tile.
MEMBERS, BENDS = 0, 1
#: Room of a group: what matrices make of u0, v_f0 (found with the matrix) and of v_f.
CROSS_U, CROSS_V0, TWICE_U, SPARE, CROSS_V, TWICE_V = 0, 9, 18, 36, 54, 63
K_U, M_V0, SUMS_U, SUMS_V0, SUMS_END = 81, 84, 87, 96, 105
K_V, M_V, D_V, SUMS_V, WIDTH = 105, 108, 111, 114, 123


class Elastics(NamedTuple):
    """Elastic bodies: numbers and places of all that they consist of, and room to work in."""

    bodies: Part
    groups: Part
    pairs: Part
    fields: Real2
    carried: Part
    links: Part
    crossings: Index2
    strains: Part
    members: Part
    bends: Part
    room: Real2
    pulls: Real2


@arithmetic
def _spread(D: Mat, x: Vec) -> Vec:
    """Return what a vector in body axes is in world axes."""
    return combine(x, D)


# -- integrals over the deformed body --------------------------------------------------------------


@inline
def _moments(groups: Part, g: int, u: Vec) -> Mat:
    """Return the sum of X_ab u over a group."""
    numbers = groups.numbers
    return (
        apply(matrix(numbers, g, X_AT), u),
        apply(matrix(numbers, g, X_AT + 9), u),
        apply(matrix(numbers, g, X_AT + 18), u),
    )


@arithmetic
def _symmetric(A: Mat) -> Mat:
    """Return A + A^T."""
    return plus(A, transposed(A))


@arithmetic
def _turned(E: Mat) -> Mat:
    """Return tr(E) I - E."""
    return minus(times(trace(E), UNIT), E)


@arithmetic
def _mixed(a: Vec, b: Vec) -> Mat:
    """Return (a·b) I - (a b^T + b a^T) / 2."""
    return minus(times(dot(a, b), UNIT), times(0.5, plus(outer(a, b), outer(b, a))))


@inline
def _doubled(room: Array, g: int, at: int, u: Vec) -> Mat:
    """Return the matrix of u·N_ab u of a group, from N_ab u at a place of its room."""
    xx, yy = dot(vector(room, g, at), u), dot(vector(room, g, at + 3), u)
    zz = dot(vector(room, g, at + 6), u)
    yz, zx = dot(vector(room, g, at + 9), u), dot(vector(room, g, at + 12), u)
    xy = dot(vector(room, g, at + 15), u)
    return (xx, xy, zx), (xy, yy, yz), (zx, yz, zz)


@inline
def _weighed(W: Mat, room: Array, g: int, at: int) -> Vec:
    """Return the sum of W_ab N_ab u of a group, W symmetric."""
    total = scale(W[0][0], vector(room, g, at))
    total = axpy(W[1][1], vector(room, g, at + 3), total)
    total = axpy(W[2][2], vector(room, g, at + 6), total)
    total = axpy(2.0 * W[1][2], vector(room, g, at + 9), total)
    total = axpy(2.0 * W[2][0], vector(room, g, at + 12), total)
    return axpy(2.0 * W[0][1], vector(room, g, at + 15), total)


@inline
def _weighed_moments(W: Mat, groups: Part, g: int) -> Vec:
    """Return the sum of W_ab X_ab of a group."""
    numbers = groups.numbers
    total = combine(W[0], matrix(numbers, g, X_AT))
    total = add(total, combine(W[1], matrix(numbers, g, X_AT + 9)))
    return add(total, combine(W[2], matrix(numbers, g, X_AT + 18)))


@inline
def _along(Omega: Vec, room: Array, g: int, at: int) -> Vec:
    """Return the sum of Omega_i times three vectors."""
    return combine(Omega, matrix(room, g, at))


@inline
def _turning(groups: Part, g: int, Omega: Vec, room: Array, at: int, second: float) -> Mat:
    """Return the derivative of J(u) Omega by u of a group, N_ab u at a place of its room."""
    numbers = groups.numbers
    X0, X1 = matrix(numbers, g, X_AT), matrix(numbers, g, X_AT + 9)
    X2 = matrix(numbers, g, X_AT + 18)
    f = 2.0 * second
    xx = axpy(f, vector(room, g, at), scale(2.0, X0[0]))
    yy = axpy(f, vector(room, g, at + 3), scale(2.0, X1[1]))
    zz = axpy(f, vector(room, g, at + 6), scale(2.0, X2[2]))
    yz = axpy(f, vector(room, g, at + 9), add(X1[2], X2[1]))
    zx = axpy(f, vector(room, g, at + 12), add(X2[0], X0[2]))
    xy = axpy(f, vector(room, g, at + 15), add(X0[1], X1[0]))
    total = add(add(xx, yy), zz)
    return (
        sub(scale(Omega[0], total), combine(Omega, (xx, xy, zx))),
        sub(scale(Omega[1], total), combine(Omega, (xy, yy, yz))),
        sub(scale(Omega[2], total), combine(Omega, (zx, yz, zz))),
    )


# -- matrices times vectors ------------------------------------------------------------------------


@inline
def _clear(room: Array, first: int, last: int, at: int, end: int) -> None:
    for g in range(first, last):
        for k in range(at, end):
            room[g, k] = 0.0


@inline
def _along_axes(N: Mat, D: Mat, v: Vec) -> Mat:
    """Return, for each row of N, the sum of N_kl v_l times the axis of coordinate l."""
    x, y, z = scale(v[0], D[0]), scale(v[1], D[1]), scale(v[2], D[2])
    return multiply(N, (x, y, z))


@inline
def _expand(table: Elastics, n: int, sums_at: int, cross_at: int, twice_at: int) -> None:
    """Find integrals with phi × phi and phi_a phi_b, where each coordinate has an axis."""
    at, room = table.bodies.places, table.room
    for g in range(at[n, GROUPS], at[n + 1, GROUPS]):
        D, t = matrix(table.groups.numbers, g, AXES_AT), matrix(room, g, sums_at)
        for k in range(3):
            d, s = D[k], t[k]
            c = cross(d, s)
            for i in range(3):
                room[g, cross_at + 3 * i + k] = c[i]
            room[g, twice_at + k] = d[0] * s[0]
            room[g, twice_at + 3 + k] = d[1] * s[1]
            room[g, twice_at + 6 + k] = d[2] * s[2]
            room[g, twice_at + 9 + k] = 0.5 * (d[1] * s[2] + d[2] * s[1])
            room[g, twice_at + 12 + k] = 0.5 * (d[2] * s[0] + d[0] * s[2])
            room[g, twice_at + 15 + k] = 0.5 * (d[0] * s[1] + d[1] * s[0])


@kernel
def _by_fields(table: Elastics, n: int, motion: Array, column: int, cross_at: int, twice_at: int) -> None:
    """The same where coordinates move points in any direction."""
    at, pairs, fields, room = table.bodies.places, table.pairs, table.fields, table.room
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], cross_at, cross_at + 9)
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], twice_at, twice_at + 18)
    for k in range(at[n, FIELDS], at[n + 1, FIELDS]):
        pair = pairs.places[k - at[n, FIELDS] + at[n, PAIRS]]
        left, row = pair[LEFT], table.groups.places[pair[RIGHT], ROW]
        v = vector(motion, row, column)
        for i in range(3):
            gather(room, left, cross_at + 3 * i, apply(matrix(fields, k, 9 * i), v))
        for i in range(6):
            gather(room, left, twice_at + 3 * i, apply(matrix(fields, k, TWICE + 9 * i), v))


@kernel
def _prepare(table: Elastics, n: int, state: Array) -> None:
    """Find what matrices make of u and v_f at the start of a step."""
    at, groups, pairs, room = table.bodies.places, table.groups, table.pairs, table.room
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], K_U, SUMS_END)
    for k in range(at[n, PAIRS], at[n + 1, PAIRS]):
        left, right = pairs.places[k, LEFT], pairs.places[k, RIGHT]
        row, numbers = groups.places[right, ROW], pairs.numbers
        u, v = vector(state, row, tables.POSITION), vector(state, row, tables.VELOCITY)
        gather(room, left, K_U, apply(matrix(numbers, k, K_AT), u))
        gather(room, left, M_V0, apply(matrix(numbers, k, M_AT), v))
        N, D = matrix(numbers, k, N_AT), matrix(groups.numbers, right, AXES_AT)
        _gather_matrix(room, left, SUMS_U, _along_axes(N, D, u))
        _gather_matrix(room, left, SUMS_V0, _along_axes(N, D, v))
    if at[n, FIELDS] == at[n + 1, FIELDS]:
        _expand(table, n, SUMS_U, CROSS_U, TWICE_U)
        _expand(table, n, SUMS_V0, CROSS_V0, SPARE)
    else:
        _by_fields(table, n, state, tables.POSITION, CROSS_U, TWICE_U)
        _by_fields(table, n, state, tables.VELOCITY, CROSS_V0, SPARE)


@inline
def _gather_matrix(room: Array, g: int, at: int, A: Mat) -> None:
    gather(room, g, at, A[0])
    gather(room, g, at + 3, A[1])
    gather(room, g, at + 6, A[2])


@kernel
def _multiply(table: Elastics, n: int, stage: Array) -> None:
    """Find what matrices make of v_f over a step."""
    at, groups, pairs, room = table.bodies.places, table.groups, table.pairs, table.room
    _clear(room, at[n, GROUPS], at[n + 1, GROUPS], K_V, WIDTH)
    damped = at[n, DAMPED] == 1
    for k in range(at[n, PAIRS], at[n + 1, PAIRS]):
        left, right = pairs.places[k, LEFT], pairs.places[k, RIGHT]
        v, numbers = vector(stage, groups.places[right, ROW], tables.V), pairs.numbers
        gather(room, left, K_V, apply(matrix(numbers, k, K_AT), v))
        gather(room, left, M_V, apply(matrix(numbers, k, M_AT), v))
        if damped:
            gather(room, left, D_V, apply(matrix(numbers, k, D_AT), v))
        N, D = matrix(numbers, k, N_AT), matrix(groups.numbers, right, AXES_AT)
        _gather_matrix(room, left, SUMS_V, _along_axes(N, D, v))
    if at[n, FIELDS] == at[n + 1, FIELDS]:
        _expand(table, n, SUMS_V, CROSS_V, TWICE_V)
    else:
        _by_fields(table, n, stage, tables.V, CROSS_V, TWICE_V)


# -- frames that are carried -----------------------------------------------------------------------


@inline
def _at_place(table: Elastics, c: int, state: Array, stage: Array) -> tuple[Vec, Vec, Vec, Vec]:
    """Return X and theta/2 of a carried frame at the start, and how they change: Y v_f, Theta v_f."""
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
def _turn_of(
    h: float, a: Vec, D0: Mat, b0: Vec, turned: Vec
) -> tuple[Vec, Vec, float, float, Vec]:
    """Return g, k, sigma, den, n with omega_C = omega + (2/h) g, see `bodies.attached`."""
    db = scale(0.5 * h, turned)
    n = add(db, cross(b0, db))
    den = 1.0 / (1.0 + dot(b0, add(b0, db)))
    k = scale(den, _spread(D0, n))
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
            X0, b0, moved, turned = _at_place(table, c, state, stage)
            X1 = axpy(h, moved, X0)
            arm = scale(0.5, add(_spread(D0, X0), _spread(D1, X1)))
            y = _spread(D0, moved)
            g = _turn_of(h, a, D0, b0, turned)[0]
            row = table.carried.places[c, BODY]
            put(stage, row, tables.V, add(add(v, cross(w, arm)), add(y, cross(a, y))))
            put(stage, row, tables.W, axpy(2.0 / h, g, w))
            place_at_midpoint(row, h, state, stage)


# -- residuals and tiles ---------------------------------------------------------------------------


@kernel
def elastic_bodies(table: Elastics, step: Step, tiles: Array) -> None:
    """Add residuals of elastic bodies and what acts on carried frames, and tiles unless None."""
    for n in range(table.bodies.numbers.shape[0]):
        if tiles is not None:
            _prepare(table, n, step.state)
        _multiply(table, n, step.stage)
        _balance(table, n, step, tiles)
        _stretch(table, n, step, tiles)
        _gather_forces(table, n, step, tiles)


@kernel
def _balance(table: Elastics, n: int, step: Step, tiles: Array) -> None:
    """Add what momenta gain beyond elastic, inertial and damping forces."""
    numbers, at, groups, room = table.bodies.numbers, table.bodies.places, table.groups, table.room
    h, state, stage, x, b = step.h, step.state, step.stage, step.x, at[n, FRAME]
    deformed = at[n, DEFORMED] == 1
    second = 1.0 if deformed else 0.0
    first, last = at[n, GROUPS], at[n + 1, GROUPS]
    m, pull = numbers[n, MASS], vector(numbers, n, PULL)
    (V, w), (_, D0), a = twist(stage, b), frame(state, b), half_turn(stage, b)
    D = matrix(stage, b, tables.DIRECTORS)
    D1 = minus(times(2.0, D), D0)
    v0, O0 = vector(state, b, tables.VELOCITY), vector(state, b, tables.MOMENTUM)
    v, O = apply(D0, sub(V, cross(a, V))), apply(D0, w)
    v1, O1 = sub(scale(2.0, v), v0), sub(scale(2.0, O), O0)
    # Sums over groups.
    s0, moved, E0, E1 = vector(numbers, n, STATIC), NONE, ZERO, ZERO
    Sv0, Cv0, Sv, Cv, bent0, bent1 = NONE, NONE, NONE, NONE, NONE, NONE
    X_v = ZERO
    for g in range(first, last):
        row = groups.places[g, ROW]
        u, nu0 = vector(state, row, tables.POSITION), vector(state, row, tables.VELOCITY)
        nu = vector(stage, row, tables.V)
        nu1 = sub(scale(2.0, nu), nu0)
        S, C = matrix(groups.numbers, g, S_AT), matrix(groups.numbers, g, C_AT)
        s0, moved = add(s0, apply(S, u)), add(moved, apply(S, nu))
        Sv0, Cv0 = add(Sv0, apply(S, nu0)), add(Cv0, apply(C, nu0))
        Sv, Cv = add(Sv, apply(S, nu)), add(Cv, apply(C, nu))
        if deformed:
            X_u, X_n = _moments(groups, g, u), _moments(groups, g, nu)
            square = _doubled(room, g, TWICE_U, u)
            E0 = plus(E0, plus(_symmetric(X_u), square))
            change = plus(times(2.0, _doubled(room, g, TWICE_U, nu)), times(h, _doubled(room, g, TWICE_V, nu)))
            E1 = plus(E1, times(h, plus(_symmetric(X_n), change)))
            y0 = matrix(room, g, CROSS_U)
            y1 = plus(y0, times(h, matrix(room, g, CROSS_V)))
            bent0, bent1 = add(bent0, apply(y0, nu0)), add(bent1, apply(y1, nu1))
        else:
            X_v = plus(X_v, _moments(groups, g, nu))
    s1, E1 = axpy(h, moved, s0), plus(E0, E1)
    Sv1, Cv1 = sub(scale(2.0, Sv), Sv0), sub(scale(2.0, Cv), Cv0)
    still = vector(numbers, n, STATIC)
    t0, t1 = (s0, s1) if deformed else (still, still)
    J = matrix(numbers, n, INERTIA)
    J0, J1 = plus(J, _turned(E0)), plus(J, _turned(E1))
    p_t0 = add(scale(m, v0), add(cross(O0, t0), Sv0))
    p_t1 = add(scale(m, v1), add(cross(O1, t1), Sv1))
    p_r0 = add(cross(t0, v0), add(apply(J0, O0), sub(Cv0, bent0)))
    p_r1 = add(cross(t1, v1), add(apply(J1, O1), sub(Cv1, bent1)))
    P0, P1 = _spread(D0, p_t0), _spread(D1, p_t1)
    mean = scale(0.5, add(P0, P1))
    arm = scale(0.5, add(_spread(D0, s0), _spread(D1, s1)))
    turned = sub(sub(_spread(D1, p_r1), _spread(D0, p_r0)), scale(h, cross(mean, V)))
    turned = axpy(h, cross(arm, pull), turned)
    if not deformed:
        force = add(cross(v, Sv), apply(minus(X_v, times(trace(X_v), UNIT)), O))
        turned = axpy(-h, _spread(D0, force), turned)
    gather(x, at[n, NODE_T], 0, sub(P1, P0))
    gather(x, at[n, NODE_R], 0, turned)
    lifted = apply(D0, sub(pull, cross(a, pull)))
    W = _mixed(O0, O1)
    dv, dO = sub(v1, v0), sub(O1, O0)
    swept = scale(0.5, add(cross(v0, O1), cross(v1, O0)))
    forces, inside, lost = 0.0, 0.0, 0.0
    for g in range(first, last):
        row, node = groups.places[g, ROW], groups.places[g, NODE]
        S, C = matrix(groups.numbers, g, S_AT), matrix(groups.numbers, g, C_AT)
        nu = vector(stage, row, tables.V)
        gained = add(combine(dv, S), combine(dO, C))
        gained = axpy(2.0, sub(vector(room, g, M_V), vector(room, g, M_V0)), gained)
        elastic = axpy(0.5 * h, vector(room, g, K_V), vector(room, g, K_U))
        damped = vector(room, g, D_V)
        pushed = NONE
        if deformed:
            y0 = _along(O0, room, g, CROSS_U)
            y1 = axpy(h, _along(O1, room, g, CROSS_V), _along(O1, room, g, CROSS_U))
            gained = sub(gained, sub(y1, y0))
            pushed = combine(swept, S)
            pushed = add(pushed, add(_weighed_moments(W, groups, g), _weighed(W, room, g, TWICE_U)))
            pushed = axpy(0.5 * h, _weighed(W, room, g, TWICE_V), pushed)
            coriolis = sub(_along(O0, room, g, CROSS_V), scale(0.5, _along(O0, room, g, CROSS_V0)))
            coriolis = axpy(0.5, _along(O1, room, g, CROSS_V0), coriolis)
            pushed = add(pushed, coriolis)
        else:
            still = combine(cross(O, v), S)
            still = sub(still, _weighed_moments(_mixed(O, O), groups, g))
            pushed = sub(_along(O, room, g, CROSS_V), still)
        inner = add(elastic, sub(damped, pushed))
        inner = add(inner, combine(lifted, S))
        gather(x, node, 0, axpy(h, inner, gained))
        terms = size(vector(room, g, M_V)) + size(vector(room, g, M_V0))
        forces = max(forces, terms + h * (size(elastic) + size(pushed)))
        inside = max(inside, h * (size(vector(room, g, K_U)) + h * size(vector(room, g, K_V))))
        lost += dot(nu, damped)
    momentum = m * (size(V) + size(v0)) + size(Sv0)
    spin = size(p_r0) + size(p_r1)
    measure(step, max(momentum, forces), spin + h * size(mean) * size(V))
    look_inside(step, inside, 0.0, 0.0)
    step.sizes[LOST_POWER] += lost
    if tiles is None:
        return
    # -- tiles ------------------------------------------------------------------------------
    R1 = transposed(D1)
    B, Bw = minus(D0, times_skew(D0, a)), times(0.5 * h, times_skew(D0, V))
    s_1 = skew(t1)
    t_V, t_w = times(2.0 * m, B), minus(times(2.0 * m, Bw), times(2.0, multiply(s_1, D0)))
    r_V = times(2.0, multiply(s_1, B))
    r_w = plus(times(2.0, multiply(s_1, Bw)), times(2.0, multiply(J1, D0)))
    P_V, P_w = multiply(R1, t_V), multiply(R1, t_w)
    P_w = minus(P_w, times(h, lever(a, _spread(D, p_t1))))
    L_w = minus(multiply(R1, r_w), times(h, lever(a, _spread(D, p_r1))))
    half, weight = scale(0.5 * h, V), scale(h, pull)
    R_V = plus(multiply(R1, r_V), skew_times(half, P_V))
    R_V = minus(R_V, times(h, skew(mean)))
    R_w = plus(L_w, skew_times(half, P_w))
    R_w = plus(R_w, times(0.5 * h, skew_times(weight, lever(a, _spread(D, s1)))))
    if not deformed:
        back = times(-h, transposed(D0))
        by_v, by_O = times(-1.0, skew(Sv)), minus(X_v, times(trace(X_v), UNIT))
        R_V = plus(R_V, multiply(back, multiply(by_v, B)))
        R_w = plus(R_w, multiply(back, plus(multiply(by_v, Bw), multiply(by_O, D0))))
    own = at[n]
    add_tile(tiles, own[OWN], P_V)
    add_tile(tiles, own[OWN + 1], P_w)
    add_tile(tiles, own[OWN + 2], R_V)
    add_tile(tiles, own[OWN + 3], R_w)
    lowered = times(0.5 * h * h, multiply(D0, skew(pull)))
    for g in range(first, last):
        S, C = matrix(groups.numbers, g, S_AT), matrix(groups.numbers, g, C_AT)
        t_g, r_g = times(2.0, S), times(2.0, C)
        f_V = multiply(transposed(S), times(2.0, B))
        f_w = multiply(transposed(S), plus(times(2.0, Bw), lowered))
        if deformed:
            cross_v = matrix(room, g, CROSS_V)
            y1 = plus(matrix(room, g, CROSS_U), times(h, cross_v))
            C1 = minus(C, y1)
            t_g = plus(t_g, times(h, skew_times(O1, S)))
            # At the end of the step: N u1 = N u0 + h N v_f.
            by_u = _turning(groups, g, O1, room, TWICE_U, 1.0)
            by_u = plus(by_u, times(h, _turning_second(O1, room, g, TWICE_V)))
            cross_1 = minus(times(2.0, cross_v), matrix(room, g, CROSS_V0))
            by_u = plus(by_u, minus(cross_1, skew_times(v1, S)))
            r_g = plus(times(2.0, C1), times(h, by_u))
            push = _turning(groups, g, O0, room, TWICE_U, 1.0)
            push = plus(push, times(0.5 * h, _turning_second(O0, room, g, TWICE_V)))
            push = plus(push, minus(matrix(room, g, CROSS_V0), skew_times(v0, S)))
            swept_S = transposed(skew_times(O0, S))
            f_V = minus(f_V, times(h, multiply(swept_S, B)))
            f_w = minus(f_w, times(h, multiply(swept_S, Bw)))
            f_w = plus(f_w, multiply(transposed(minus(times(2.0, C1), times(h, push))), D0))
        else:
            f_w = plus(f_w, multiply(transposed(r_g), D0))
            by_u = _turning(groups, g, O, room, TWICE_U, 0.0)
            cross_v = matrix(room, g, CROSS_V)
            f_v = times(h, multiply(transposed(S), skew(O)))
            f_O = times_skew(transposed(S), v)
            f_O = times(-h, plus(f_O, transposed(plus(by_u, cross_v))))
            f_V = plus(f_V, multiply(f_v, B))
            f_w = plus(f_w, plus(multiply(f_v, Bw), multiply(f_O, D0)))
        P_g = multiply(R1, t_g)
        R_g = plus(multiply(R1, r_g), skew_times(half, P_g))
        R_g = minus(R_g, times(0.5 * h, skew_times(weight, multiply(R1, S))))
        if not deformed:
            by_nu = plus(skew_times(v, S), _turning_first(groups, g, O))
            R_g = minus(R_g, times(h, multiply(transposed(D0), by_nu)))
        add_tile(tiles, groups.places[g, T_G], P_g)
        add_tile(tiles, groups.places[g, R_G], R_g)
        add_tile(tiles, groups.places[g, G_T], f_V)
        add_tile(tiles, groups.places[g, G_R], f_w)
    _stiffen(table, n, h, O0, O1, W, O, tiles)


@inline
def _turning_first(groups: Part, g: int, O: Vec) -> Mat:
    """Return X_ab O_b - O_a X_cc of a group, rows a."""
    numbers = groups.numbers
    X0, X1 = matrix(numbers, g, X_AT), matrix(numbers, g, X_AT + 9)
    X2 = matrix(numbers, g, X_AT + 18)
    total = add(add(X0[0], X1[1]), X2[2])
    return (
        sub(combine(O, X0), scale(O[0], total)),
        sub(combine(O, X1), scale(O[1], total)),
        sub(combine(O, X2), scale(O[2], total)),
    )


@inline
def _turning_second(Omega: Vec, room: Array, g: int, at: int) -> Mat:
    """Return what N_ab u alone adds to the derivative of J(u) Omega by u."""
    xx, yy = vector(room, g, at), vector(room, g, at + 3)
    zz, yz = vector(room, g, at + 6), vector(room, g, at + 9)
    zx, xy = vector(room, g, at + 12), vector(room, g, at + 15)
    total, twice = add(add(xx, yy), zz), scale(2.0, Omega)
    return (
        sub(scale(twice[0], total), combine(twice, (xx, xy, zx))),
        sub(scale(twice[1], total), combine(twice, (xy, yy, yz))),
        sub(scale(twice[2], total), combine(twice, (zx, yz, zz))),
    )


@kernel
def _stiffen(
    table: Elastics, n: int, h: float, O0: Vec, O1: Vec, W: Mat, O: Vec, tiles: Array
) -> None:
    """Add the tiles of pairs of groups."""
    at, pairs, groups = table.bodies.places, table.pairs, table.groups
    deformed = at[n, DEFORMED] == 1
    turning = add(O0, O1) if deformed else O
    c = -0.5 * h * h if deformed else 0.0
    # N_ab is weighed by -h turning × and by c W.
    by_axes = plus(times(h, skew(turning)), times(c, W))
    general = at[n, FIELDS] < at[n + 1, FIELDS]
    for k in range(at[n, PAIRS], at[n + 1, PAIRS]):
        left, right, numbers = pairs.places[k, LEFT], pairs.places[k, RIGHT], pairs.numbers
        A = plus(times(2.0, matrix(numbers, k, M_AT)), times(h, matrix(numbers, k, D_AT)))
        A = plus(A, times(0.5 * h * h, matrix(numbers, k, K_AT)))
        if general:
            row = k - at[n, PAIRS] + at[n, FIELDS]
            A = plus(A, _by_directions(table.fields, row, -h, turning, c, W))
        else:
            D_l = matrix(groups.numbers, left, AXES_AT)
            D_r = matrix(groups.numbers, right, AXES_AT)
            weights = multiply(multiply(D_l, by_axes), transposed(D_r))
            N = matrix(numbers, k, N_AT)
            A = plus(A, (_product(weights[0], N[0]), _product(weights[1], N[1]), _product(weights[2], N[2])))
        add_tile(tiles, pairs.places[k, TILE], A)


@arithmetic
def _product(a: Vec, b: Vec) -> Vec:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@inline
def _by_directions(fields: Array, k: int, f: float, turning: Vec, c: float, W: Mat) -> Mat:
    """Return the integrals of a pair, those of phi × phi times f turning, others times c W."""
    A = times(f * turning[0], matrix(fields, k, 0))
    A = plus(A, times(f * turning[1], matrix(fields, k, 9)))
    A = plus(A, times(f * turning[2], matrix(fields, k, 18)))
    A = plus(A, times(c * W[0][0], matrix(fields, k, TWICE)))
    A = plus(A, times(c * W[1][1], matrix(fields, k, TWICE + 9)))
    A = plus(A, times(c * W[2][2], matrix(fields, k, TWICE + 18)))
    A = plus(A, times(2.0 * c * W[1][2], matrix(fields, k, TWICE + 27)))
    A = plus(A, times(2.0 * c * W[2][0], matrix(fields, k, TWICE + 36)))
    return plus(A, times(2.0 * c * W[0][1], matrix(fields, k, TWICE + 45)))


@kernel
def _stretch(table: Elastics, n: int, step: Step, tiles: Array) -> None:
    """Add what axial forces in a bent beam do."""
    at, strains, members, bends = table.bodies.places, table.strains, table.members, table.bends
    groups, h, state, stage, x = table.groups, step.h, step.state, step.stage, step.x
    room = table.pulls
    for e in range(at[n, STRAINS], at[n + 1, STRAINS]):
        stiffness, l0, dl, q0, q1 = strains.numbers[e, 0], 0.0, 0.0, 0.0, 0.0
        first, last = strains.places[e, MEMBERS], strains.places[e + 1, MEMBERS]
        for k in range(first, last):
            put(room, k, 0, NONE)
            put(room, k, 3, NONE)
        for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
            left, right = bends.places[k, LEFT], bends.places[k, RIGHT]
            row, A = groups.places[members.places[right, 0], ROW], matrix(bends.numbers, k, 0)
            gather(room, left, 0, apply(A, vector(state, row, tables.POSITION)))
            gather(room, left, 3, apply(A, vector(stage, row, tables.V)))
        for k in range(first, last):
            row, e_k = groups.places[members.places[k, 0], ROW], vector(members.numbers, k, 0)
            u, nu = vector(state, row, tables.POSITION), vector(stage, row, tables.V)
            A_u, A_v = vector(room, k, 0), vector(room, k, 3)
            l0, dl, q0 = l0 + dot(e_k, u), dl + dot(e_k, nu), q0 + 0.5 * dot(A_u, u)
            q1 += h * dot(A_u, nu) + 0.5 * h * h * dot(A_v, nu)
        q = q0 + 0.5 * q1
        pull = stiffness * (l0 + 0.5 * h * dl + q)
        for k in range(first, last):
            node = groups.places[members.places[k, 0], NODE]
            mid = axpy(0.5 * h, vector(room, k, 3), vector(room, k, 0))
            gradient = axpy(stiffness * q, vector(members.numbers, k, 0), scale(pull, mid))
            gather(x, node, 0, scale(h, gradient))
        if tiles is not None:
            f = 0.5 * h * h
            for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
                left, right = bends.places[k, LEFT], bends.places[k, RIGHT]
                e_l, e_r = vector(members.numbers, left, 0), vector(members.numbers, right, 0)
                mid = axpy(0.5 * h, vector(room, left, 3), vector(room, left, 0))
                end = axpy(h, vector(room, right, 3), vector(room, right, 0))
                A = times(stiffness, plus(outer(add(e_l, mid), end), outer(mid, e_r)))
                A = plus(A, times(pull, matrix(bends.numbers, k, 0)))
                add_tile(tiles, bends.places[k, TILE], times(f, A))


@kernel
def _gather_forces(table: Elastics, n: int, step: Step, tiles: Array) -> None:
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
        X0, b0, moved, turned = _at_place(table, c, state, stage)
        X1 = axpy(h, moved, X0)
        arm = scale(0.5, add(_spread(D0, X0), _spread(D1, X1)))
        g, k, sigma, den, n_b = _turn_of(h, a, D0, b0, turned)
        force, torque = vector(x, place[MOMENTUM], 0), vector(x, place[MOMENTUM + 1], 0)
        for node in range(4):
            put(x, place[MOTION + node], 0, NONE)
        gather(x, at[n, NODE_T], 0, force)
        gather(x, at[n, NODE_R], 0, add(cross(arm, force), torque))
        # T = sigma den A R0 (1 + [b0])
        back = plus(UNIT, skew(b0))
        T = times(sigma * den, multiply(A, multiply(transposed(D0), back)))
        pushed, bent = apply(B, force), combine(torque, T)
        for j in range(place[LINKS], carried.places[c + 1, LINKS]):
            Y, Theta = matrix(links.numbers, j, Y_AT), matrix(links.numbers, j, THETA_AT)
            node = groups.places[links.places[j, GROUP], NODE]
            gather(x, node, 0, add(combine(pushed, Y), combine(bent, Theta)))
        if tiles is not None:
            by_w, by_v = times(-0.5 * h, lever(a, _spread(D, X1))), times(0.5 * h, transposed(D1))
            V_w = plus(skew(scale(-1.0, arm)), skew_times(w, by_w))
            V_w = minus(V_w, times(0.5 * h, skew(_spread(D0, moved))))
            V_v = plus(transposed(B), skew_times(w, by_v))
            rank = plus(outer(add(g, a), k), times(dot(a, k), UNIT))
            w_w = plus(UNIT, times(sigma, minus(rank, skew(k))))
            k_b = multiply(transposed(D0), minus(back, outer(scale(den, n_b), b0)))
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


# -- the end of a step -----------------------------------------------------------------------------


@kernel
def end_elastic(table: Elastics, step: Step, ahead: Array) -> None:
    """Set velocities of floating frames in body axes, and carried frames, at the end of a step."""
    at, h, state, stage = table.bodies.places, step.h, step.state, step.stage
    for n in range(table.bodies.numbers.shape[0]):
        b = at[n, FRAME]
        (V, w), (_, D0), a = twist(stage, b), frame(state, b), half_turn(stage, b)
        v, O = apply(D0, sub(V, cross(scale(0.5 * h, w), V))), apply(D0, w)
        v0, O0 = vector(state, b, tables.VELOCITY), vector(state, b, tables.MOMENTUM)
        put(ahead, b, tables.VELOCITY, sub(scale(2.0, v), v0))
        put(ahead, b, tables.MOMENTUM, sub(scale(2.0, O), O0))
        position, D1 = frame(ahead, b)
        for c in range(at[n, CARRIED], at[n + 1, CARRIED]):
            X, half, _, _ = _at_place(table, c, ahead, stage)
            row = table.carried.places[c, BODY]
            put(ahead, row, tables.POSITION, add(position, _spread(D1, X)))
            f = 2.0 / (1.0 + dot(half, half))
            turn = plus(UNIT, times(f, plus(skew(half), _square(half))))
            put_matrix(ahead, row, tables.DIRECTORS, multiply(transposed(turn), D1))


@arithmetic
def _square(b: Vec) -> Mat:
    """Return [b]^2."""
    return minus(outer(b, b), times(dot(b, b), UNIT))


@kernel
def elastic_energy(table: Elastics, state: Array, step: Step) -> float:
    """Return kinetic and elastic energy, and that of gravity beyond the frames' own [J]."""
    total = 0.0
    for n in range(table.bodies.numbers.shape[0]):
        _prepare(table, n, state)
        total += _energy(table, n, state)
    return total


@kernel
def _energy(table: Elastics, n: int, state: Array) -> float:
    numbers, at, groups, room = table.bodies.numbers, table.bodies.places, table.groups, table.room
    b, deformed = at[n, FRAME], at[n, DEFORMED] == 1
    v, O = vector(state, b, tables.VELOCITY), vector(state, b, tables.MOMENTUM)
    D, m = matrix(state, b, tables.DIRECTORS), numbers[n, MASS]
    s, Sv, Cv, E = vector(numbers, n, STATIC), NONE, NONE, ZERO
    bent, energy, kinetic = NONE, 0.0, 0.0
    for g in range(at[n, GROUPS], at[n + 1, GROUPS]):
        row = groups.places[g, ROW]
        u, nu = vector(state, row, tables.POSITION), vector(state, row, tables.VELOCITY)
        S, C = matrix(groups.numbers, g, S_AT), matrix(groups.numbers, g, C_AT)
        s, Sv, Cv = add(s, apply(S, u)), add(Sv, apply(S, nu)), add(Cv, apply(C, nu))
        energy += dot(u, vector(room, g, K_U))
        kinetic += dot(nu, vector(room, g, M_V0))
        if deformed:
            E = plus(E, plus(_symmetric(_moments(groups, g, u)), _doubled(room, g, TWICE_U, u)))
            bent = add(bent, apply(matrix(room, g, CROSS_U), nu))
    J = plus(matrix(numbers, n, INERTIA), _turned(E))
    t = s if deformed else vector(numbers, n, STATIC)
    kinetic += m * dot(v, v) + dot(O, apply(J, O))
    kinetic += 2.0 * (dot(v, add(cross(O, t), Sv)) + dot(O, sub(Cv, bent)))
    energy += kinetic + 2.0 * dot(vector(numbers, n, PULL), _spread(D, s))
    return 0.5 * energy + _stretched(table, n, state)


@kernel
def _stretched(table: Elastics, n: int, state: Array) -> float:
    """Return the energy of axial forces in a bent beam [J]."""
    at, strains, members, bends = table.bodies.places, table.strains, table.members, table.bends
    groups, total = table.groups, 0.0
    for e in range(at[n, STRAINS], at[n + 1, STRAINS]):
        l, q = 0.0, 0.0
        for k in range(strains.places[e, MEMBERS], strains.places[e + 1, MEMBERS]):
            row = groups.places[members.places[k, 0], ROW]
            l += dot(vector(members.numbers, k, 0), vector(state, row, tables.POSITION))
        for k in range(strains.places[e, BENDS], strains.places[e + 1, BENDS]):
            left = groups.places[members.places[bends.places[k, LEFT], 0], ROW]
            right = groups.places[members.places[bends.places[k, RIGHT], 0], ROW]
            A = matrix(bends.numbers, k, 0)
            u = vector(state, right, tables.POSITION)
            q += 0.5 * dot(vector(state, left, tables.POSITION), apply(A, u))
        total += strains.numbers[e, 0] * (l * q + 0.5 * q * q)
    return total
