"""Elastic bodies in floating frames over a step: the equations of `systems.floating.steps`.

The floating frame is a body without inertia of its own; v and Omega of its state are in body axes
(columns VELOCITY and MOMENTUM). Elastic coordinates are in groups of three, each a body without
rotation: its position is u, its velocity v_f. A carried frame is a body whose twist follows,
t_C = L w: it has nodes of motion with this equation, and nodes of momentum with the sum of forces
on it.
"""

from poinsot.bodies.carried_frames import (
    at_place,
    gather_forces,
    square,
)
from poinsot.bodies.elastic_integrals import (
    along,
    doubled,
    in_world,
    mixed,
    moments,
    multiply_rates,
    prepare,
    stiffen,
    symmetric,
    tensor,
    turning,
    turning_first,
    turning_second,
    weighed,
    weighed_moments,
)
from poinsot.bodies.elastic_strains import (
    stretch,
    stretched,
)
from poinsot.bodies.elastic_table import (
    BODY,
    C_AT,
    CARRIED,
    CROSS_U,
    CROSS_V,
    CROSS_V0,
    D_V,
    DEFORMED,
    FRAME,
    G_R,
    G_T,
    GROUPS,
    INERTIA,
    K_U,
    K_V,
    M_V,
    M_V0,
    MASS,
    NODE,
    NODE_R,
    NODE_T,
    OWN,
    PULL,
    R_G,
    ROW,
    S_AT,
    STATIC,
    T_G,
    TWICE_U,
    TWICE_V,
    Elastics,
)
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
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
    plus,
    put,
    put_matrix,
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
from poinsot.kernels.kernel import kernel
from poinsot.kernels.step import Step, look_inside, measure
from poinsot.kernels.tables import LOST_POWER, frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT, ZERO


@kernel
def begin_elastic(table: Elastics, state: Array) -> None:
    """Find what matrices make of u and v_f at the start of a step, unless that is known."""
    if table.ready[0] == 0:
        for n in range(table.bodies.numbers.shape[0]):
            prepare(table, n, state)
    table.ready[0] = 0


@kernel
def accept_elastic(table: Elastics) -> None:
    """Begin the next step with what the energy at the end of this one was found of."""
    table.ready[0] = 1


@kernel
def elastic_bodies(table: Elastics, step: Step, tiles: Array) -> None:
    """Add residuals of elastic bodies and what acts on carried frames, and tiles unless None."""
    for n in range(table.bodies.numbers.shape[0]):
        multiply_rates(table, n, step.stage)
        _balance(table, n, step, tiles)
        stretch(table, n, step, tiles)
        gather_forces(table, n, step, tiles)


@kernel
def _balance(table: Elastics, n: int, step: Step, tiles: Array) -> None:
    """Add what momenta gain beyond elastic, inertial and damping forces."""
    numbers, at, groups, room = table.bodies.numbers, table.bodies.places, table.groups, table.room
    h, state, stage, x, b = step.h, step.state, step.stage, step.x, at[n, FRAME]
    deformed = at[n, DEFORMED] == 1
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
            X_u, X_n = moments(groups, g, u), moments(groups, g, nu)
            square = doubled(room, g, TWICE_U, u)
            E0 = plus(E0, plus(symmetric(X_u), square))
            change = plus(
                times(2.0, doubled(room, g, TWICE_U, nu)), times(h, doubled(room, g, TWICE_V, nu))
            )
            E1 = plus(E1, times(h, plus(symmetric(X_n), change)))
            y0 = matrix(room, g, CROSS_U)
            y1 = plus(y0, times(h, matrix(room, g, CROSS_V)))
            bent0, bent1 = add(bent0, apply(y0, nu0)), add(bent1, apply(y1, nu1))
        else:
            X_v = plus(X_v, moments(groups, g, nu))
    s1, E1 = axpy(h, moved, s0), plus(E0, E1)
    Sv1, Cv1 = sub(scale(2.0, Sv), Sv0), sub(scale(2.0, Cv), Cv0)
    still = vector(numbers, n, STATIC)
    t0, t1 = (s0, s1) if deformed else (still, still)
    J = matrix(numbers, n, INERTIA)
    J0, J1 = plus(J, tensor(E0)), plus(J, tensor(E1))
    p_t0 = add(scale(m, v0), add(cross(O0, t0), Sv0))
    p_t1 = add(scale(m, v1), add(cross(O1, t1), Sv1))
    p_r0 = add(cross(t0, v0), add(apply(J0, O0), sub(Cv0, bent0)))
    p_r1 = add(cross(t1, v1), add(apply(J1, O1), sub(Cv1, bent1)))
    P0, P1 = in_world(D0, p_t0), in_world(D1, p_t1)
    mean = scale(0.5, add(P0, P1))
    arm = scale(0.5, add(in_world(D0, s0), in_world(D1, s1)))
    turned = sub(sub(in_world(D1, p_r1), in_world(D0, p_r0)), scale(h, cross(mean, V)))
    turned = axpy(h, cross(arm, pull), turned)
    gyroscopic = NONE
    if not deformed:
        force = add(cross(v, Sv), apply(minus(X_v, times(trace(X_v), UNIT)), O))
        gyroscopic = in_world(D, force)
        turned = axpy(-h, gyroscopic, turned)
    gather(x, at[n, NODE_T], 0, sub(P1, P0))
    gather(x, at[n, NODE_R], 0, turned)
    lifted = apply(D0, sub(pull, cross(a, pull)))
    W = mixed(O0, O1)
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
            before = along(O0, room, g, CROSS_U)
            after = axpy(h, along(O1, room, g, CROSS_V), along(O1, room, g, CROSS_U))
            gained = sub(gained, sub(after, before))
            pushed = combine(swept, S)
            pushed = add(pushed, add(weighed_moments(W, groups, g), weighed(W, room, g, TWICE_U)))
            pushed = axpy(0.5 * h, weighed(W, room, g, TWICE_V), pushed)
            coriolis = sub(along(O0, room, g, CROSS_V), scale(0.5, along(O0, room, g, CROSS_V0)))
            coriolis = axpy(0.5, along(O1, room, g, CROSS_V0), coriolis)
            pushed = add(pushed, coriolis)
        else:
            still = combine(cross(O, v), S)
            still = sub(still, weighed_moments(mixed(O, O), groups, g))
            pushed = sub(along(O, room, g, CROSS_V), still)
        inner = add(elastic, sub(damped, pushed))
        inner = add(inner, combine(lifted, S))
        gather(x, node, 0, axpy(h, inner, gained))
        terms = size(vector(room, g, M_V)) + size(vector(room, g, M_V0))
        forces = max(forces, terms + abs(h) * (size(elastic) + size(pushed)))
        inside = max(
            inside, abs(h) * (size(vector(room, g, K_U)) + abs(h) * size(vector(room, g, K_V)))
        )
        lost += dot(nu, damped)
    momentum = m * (size(V) + size(v0)) + size(Sv0)
    spin = size(p_r0) + size(p_r1)
    measure(step, max(momentum, forces), spin + abs(h) * size(mean) * size(V))
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
    P_w = minus(P_w, times(h, lever(a, in_world(D, p_t1))))
    L_w = minus(multiply(R1, r_w), times(h, lever(a, in_world(D, p_r1))))
    half, weight = scale(0.5 * h, V), scale(h, pull)
    R_V = plus(multiply(R1, r_V), skew_times(half, P_V))
    R_V = minus(R_V, times(h, skew(mean)))
    R_w = plus(L_w, skew_times(half, P_w))
    R_w = plus(R_w, times(0.5 * h, skew_times(weight, lever(a, in_world(D, s1)))))
    if not deformed:
        back = times(-h, transposed(D))
        by_v, by_O = times(-1.0, skew(Sv)), minus(X_v, times(trace(X_v), UNIT))
        R_V = plus(R_V, multiply(back, multiply(by_v, B)))
        R_w = plus(R_w, multiply(back, plus(multiply(by_v, Bw), multiply(by_O, D0))))
        R_w = plus(R_w, times(0.5 * h * h, lever(a, gyroscopic)))
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
            by_u = turning(groups, g, O1, room, TWICE_U, 1.0)
            by_u = plus(by_u, times(h, turning_second(O1, room, g, TWICE_V)))
            cross_1 = minus(times(2.0, cross_v), matrix(room, g, CROSS_V0))
            by_u = plus(by_u, minus(cross_1, skew_times(v1, S)))
            r_g = plus(times(2.0, C1), times(h, by_u))
            push = turning(groups, g, O0, room, TWICE_U, 1.0)
            push = plus(push, times(0.5 * h, turning_second(O0, room, g, TWICE_V)))
            push = plus(push, minus(matrix(room, g, CROSS_V0), skew_times(v0, S)))
            swept_S = transposed(skew_times(O0, S))
            f_V = minus(f_V, times(h, multiply(swept_S, B)))
            f_w = minus(f_w, times(h, multiply(swept_S, Bw)))
            f_w = plus(f_w, multiply(transposed(minus(times(2.0, C1), times(h, push))), D0))
        else:
            f_w = plus(f_w, multiply(transposed(r_g), D0))
            by_u = turning(groups, g, O, room, TWICE_U, 0.0)
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
            by_nu = plus(skew_times(v, S), turning_first(groups, g, O))
            R_g = minus(R_g, times(h, multiply(transposed(D), by_nu)))
        add_tile(tiles, groups.places[g, T_G], P_g)
        add_tile(tiles, groups.places[g, R_G], R_g)
        add_tile(tiles, groups.places[g, G_T], f_V)
        add_tile(tiles, groups.places[g, G_R], f_w)
    stiffen(table, n, h, O0, O1, W, O, tiles)


# -- the end of a step -----------------------------------------------------------------------------


@kernel
def end_elastic(table: Elastics, step: Step, ahead: Array) -> None:
    """Set velocities of floating frames in body axes, and carried frames, at the end of a step."""
    at, h, state, stage = table.bodies.places, step.h, step.state, step.stage
    for n in range(table.bodies.numbers.shape[0]):
        b = at[n, FRAME]
        (V, w), (_, D0) = twist(stage, b), frame(state, b)
        v, O = apply(D0, sub(V, cross(scale(0.5 * h, w), V))), apply(D0, w)
        v0, O0 = vector(state, b, tables.VELOCITY), vector(state, b, tables.MOMENTUM)
        put(ahead, b, tables.VELOCITY, sub(scale(2.0, v), v0))
        put(ahead, b, tables.MOMENTUM, sub(scale(2.0, O), O0))
        position, D1 = frame(ahead, b)
        for c in range(at[n, CARRIED], at[n + 1, CARRIED]):
            X, half, _, _ = at_place(table, c, ahead, stage)
            row = table.carried.places[c, BODY]
            put(ahead, row, tables.POSITION, add(position, in_world(D1, X)))
            f = 2.0 / (1.0 + dot(half, half))
            turn = plus(UNIT, times(f, plus(skew(half), square(half))))
            put_matrix(ahead, row, tables.DIRECTORS, multiply(transposed(turn), D1))


@kernel
def elastic_energy(table: Elastics, state: Array, step: Step) -> float:
    """Return kinetic and elastic energy, and that of gravity beyond the frames' own [J]."""
    total = 0.0
    for n in range(table.bodies.numbers.shape[0]):
        prepare(table, n, state)
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
            E = plus(E, plus(symmetric(moments(groups, g, u)), doubled(room, g, TWICE_U, u)))
            bent = add(bent, apply(matrix(room, g, CROSS_U), nu))
    J = plus(matrix(numbers, n, INERTIA), tensor(E))
    t = s if deformed else vector(numbers, n, STATIC)
    kinetic += m * dot(v, v) + dot(O, apply(J, O))
    kinetic += 2.0 * (dot(v, add(cross(O, t), Sv)) + dot(O, sub(Cv, bent)))
    energy += kinetic + 2.0 * dot(vector(numbers, n, PULL), in_world(D, s))
    total: float = 0.5 * energy + stretched(table, n, state)
    return total
