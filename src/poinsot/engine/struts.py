"""Springs, dampers and motors along one coordinate of two bodies.

The coordinate chi(s) is a chart of a form s of points, c a·r or c r·r with r = r_B - r_A, or of one
or two forms of directions, s = N : D_A D_B^T. All that acts along it puts a tension t on each form,
whose pull is t times the gradient of s at the midpoint; the tangent follows from how t depends on s
at the midpoint and at the end. Vectors of a body at both ends of a step are x -+ a x x.
"""

from math import pi, tau
from typing import TypeAlias

from poinsot.engine.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axial,
    axpy,
    combine,
    cross,
    dot,
    gather,
    gather_matrix,
    matrix,
    minus,
    multiply,
    outer,
    plus,
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
from poinsot.engine.cayley import cayley, lever, turn_back, turned
from poinsot.engine.charts import (
    ANGLE,
    LENGTH,
    LINEAR,
    Pair,
    Square,
    chart_bend,
    chart_secant,
    chart_slope,
    chart_value,
)
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.laws import call_law
from poinsot.engine.parts import (
    CHART,
    COEFFICIENT,
    DIRECTION_A,
    DIRECTORS,
    FIRST,
    FORM_0,
    FORM_1,
    HALF,
    KIND,
    LAST,
    LOST_POWER,
    OF_ROTATION,
    OF_TRANSLATION,
    POINT_A,
    POINT_B,
    PORT,
    POSITION,
    ROLE,
    STRUT_PAIR,
    A,
    Acts,
    B,
    Part,
    R,
    T,
    V,
    Work,
)
from poinsot.engine.resistance import friction
from poinsot.engine.terms import (
    DOT,
    OFFSET,
    RA_RA,
    RA_RB,
    RB_RA,
    RB_RB,
    UNIT,
    gather_blocks,
)

SPRING, DAMPER, MOTOR, SERVO = 0, 1, 2, 3

#: Forms at the start, at the middle, at the end, and their increments.
Forms: TypeAlias = tuple[Pair, Pair, Pair, Pair]
#: Tensions, and their slopes with respect to the forms at the midpoint and at the end.
Tension: TypeAlias = tuple[Pair, Square, Square]

FLAT: Square = ((0.0, 0.0), (0.0, 0.0))


@kernel
def struts_act(
    struts: Part,
    acts: Acts,
    body_places: Array,
    t: float,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    arms_at: int,
) -> None:
    """Add residuals to work.x (nodes, 3), and tiles unless None.

    Forces have the lever arms of the directors in column `arms_at` of the stage. Sets outputs y of
    motors and inputs u of servos; adds up the power lost.
    """
    for k in range(struts.places.shape[0]):
        if struts.places[k, KIND] == DOT:
            _turning(struts, acts, k, body_places, t, h, stage, work, u, y, tiles, arms_at)
        else:
            _straight(struts, acts, k, body_places, t, h, stage, work, u, y, tiles, arms_at)


@kernel
def _straight(
    struts: Part,
    acts: Acts,
    k: int,
    body_places: Array,
    t: float,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    arms_at: int,
) -> None:
    """Act along a form of points.

    The force n = ds/dr on B has the torque rho_B x n there, and n x (r + rho_A) on A.
    """
    numbers, at, x, sizes = struts.numbers, struts.places[k], work.x, work.sizes
    first, second, c, offset = at[A], at[B], numbers[k, COEFFICIENT], at[KIND] == OFFSET
    half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
    X_A, X_B = vector(numbers, k, POINT_A), vector(numbers, k, POINT_B)
    D_A, D_B = matrix(stage, first, DIRECTORS), matrix(stage, second, DIRECTORS)
    rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
    reach = sub(add(vector(stage, second, POSITION), rho_B), vector(stage, first, POSITION))
    r = sub(reach, rho_A)
    # Half of what r and a change by over the step.
    dr = scale(0.5 * h, sub(vector(stage, second, V), vector(stage, first, V)))
    dr = sub(add(dr, cross(half_B, rho_B)), cross(half_A, rho_A))
    a, da = scale(2.0, r), scale(2.0, dr)
    bend = 2.0 * c
    if offset:
        a, bend = combine(vector(numbers, k, DIRECTION_A), D_A), 0.0
        da = cross(half_A, a)
    n, dn, p, dp = scale(c, a), scale(c, da), scale(c, r), scale(c, dr)
    middle, second_order = dot(p, a), dot(dp, da)
    step = 2.0 * (dot(n, dr) + dot(p, da)) if offset else 2.0 * dot(n, dr)
    if not offset:
        middle, second_order = 0.5 * middle, 0.5 * second_order
    low, high = middle + second_order - 0.5 * step, middle + second_order + 0.5 * step
    forms = (low, 0.0), (middle, 0.0), (high, 0.0), (step, 0.0)
    if at[CHART] == LENGTH:
        tension, dt_middle, dt_end = _tension(
            acts, at, LENGTH, forms, t, h, work, u, y, tiles is not None
        )
    else:
        tension, dt_middle, dt_end = _tension(
            acts, at, LINEAR, forms, t, h, work, u, y, tiles is not None
        )
    torque_A, torque_B = cross(n, reach), cross(rho_B, n)
    if arms_at != DIRECTORS:
        L_A, L_B = matrix(stage, first, arms_at), matrix(stage, second, arms_at)
        torque_A, torque_B = cross(n, combine(X_A, L_A)), cross(combine(X_B, L_B), n)
        if offset:
            torque_A = add(torque_A, cross(combine(vector(numbers, k, DIRECTION_A), L_A), p))
    push = h * tension[0]
    gather(x, body_places[first, T], 0, scale(-push, n))
    gather(x, body_places[first, R], 0, scale(push, torque_A))
    gather(x, body_places[second, T], 0, scale(push, n))
    gather(x, body_places[second, R], 0, scale(push, torque_B))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], abs(push) * size(n))
    torque = abs(push) * max(size(torque_A), size(torque_B))
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torque)
    if tiles is not None:
        # The tension changes by n_t (dv_B - dv_A) + on_A dw_A + on_B dw_B; times h.
        both, end = h * h * (0.5 * dt_middle[0][0] + dt_end[0][0]), h * h * dt_end[0][0]
        n_t = axpy(end, dn, scale(both, n))
        on_A, on_B = cross(turn_back(half_A, n_t), rho_A), cross(rho_B, turn_back(half_B, n_t))
        if offset:
            on_A = add(on_A, cross(a, turn_back(half_A, axpy(end, dp, scale(both, p)))))
        # The force changes by nu (dv_B - dv_A) + N_A dw_A + N_B dw_B besides, rho_B by P_B dw_B.
        f, nu = 0.5 * h * push, 0.5 * h * push * bend
        P_B = times(-f, lever(half_B, rho_B))
        N_A, N_B = times(f * bend, lever(half_A, rho_A)), times(bend, P_B)
        if offset:
            N_A = times(-f * c, lever(half_A, a))
        n_x_P_B = skew_times(n, P_B)
        gather_blocks(
            tiles,
            at[STRUT_PAIR:],
            (
                plus(outer(n, n_t), times(nu, UNIT)),
                plus(outer(n, on_A), N_A),
                plus(outer(n, on_B), N_B),
            ),
            (
                plus(outer(torque_A, n_t), skew(axpy(f, n, scale(-nu, reach)))),
                minus(outer(torque_A, on_A), skew_times(reach, N_A)),
                plus(outer(torque_A, on_B), minus(n_x_P_B, skew_times(reach, N_B))),
            ),
            (
                plus(outer(torque_B, n_t), skew(scale(nu, rho_B))),
                plus(outer(torque_B, on_A), skew_times(rho_B, N_A)),
                plus(outer(torque_B, on_B), minus(skew_times(rho_B, N_B), n_x_P_B)),
            ),
        )


@kernel
def _turning(
    struts: Part,
    acts: Acts,
    k: int,
    body_places: Array,
    t: float,
    h: float,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    arms_at: int,
) -> None:
    """Act along forms of directions.

    With K = sum c a b^T the form is tr K, and its torque on A the axial vector sum c a x b, the
    opposite on B.
    """
    at, x, sizes = struts.places[k], work.x, work.sizes
    first, second = at[A], at[B]
    half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
    D_A, D_B = matrix(stage, first, DIRECTORS), matrix(stage, second, DIRECTORS)
    N_0, N_1 = matrix(struts.numbers, k, FORM_0), matrix(struts.numbers, k, FORM_1)
    K_0, K_1 = _product(N_0, D_A, D_B), _product(N_1, D_A, D_B)
    m_0, m_1, apart = axial(K_0), axial(K_1), sub(half_A, half_B)
    middle = trace(K_0), trace(K_1)
    step = 2.0 * dot(m_0, apart), 2.0 * dot(m_1, apart)
    # Both ends are as far from the middle, but for (a_A x a)·(a_B x b).
    both = dot(half_A, half_B)
    low = middle[0] * (1.0 + both) - dot(half_B, apply(K_0, half_A)) - 0.5 * step[0]
    other = middle[1] * (1.0 + both) - dot(half_B, apply(K_1, half_A)) - 0.5 * step[1]
    forms = (low, other), middle, (low + step[0], other + step[1]), step
    tension, dt_middle, dt_end = _tension(
        acts, at, at[CHART], forms, t, h, work, u, y, tiles is not None
    )
    on_A, on_B = (m_0, m_1), (scale(-1.0, m_0), scale(-1.0, m_1))
    if arms_at != DIRECTORS:
        L_A, L_B = matrix(stage, first, arms_at), matrix(stage, second, arms_at)
        on_A = axial(_product(N_0, L_A, D_B)), axial(_product(N_1, L_A, D_B))
        on_B = (
            scale(-1.0, axial(_product(N_0, D_A, L_B))),
            scale(-1.0, axial(_product(N_1, D_A, L_B))),
        )
    push = h * tension[0], h * tension[1]
    gather(x, body_places[first, R], 0, axpy(push[0], on_A[0], scale(push[1], on_A[1])))
    gather(x, body_places[second, R], 0, axpy(push[0], on_B[0], scale(push[1], on_B[1])))
    torque = abs(push[0]) * size(m_0) + abs(push[1]) * size(m_1)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torque)
    if tiles is not None:
        C_A, C_B = cayley(half_A), cayley(half_B)
        # How tension f changes with w_A, times h: by K of a at the middle and b at the end; etc.
        end_0, end_1 = minus(K_0, times_skew(K_0, half_B)), minus(K_1, times_skew(K_1, half_B))
        K_f = _weighted(h, dt_middle[0], dt_end[0], K_0, K_1, end_0, end_1)
        K_g = _weighted(h, dt_middle[1], dt_end[1], K_0, K_1, end_0, end_1)
        by_A = axial(multiply(K_f, C_A)), axial(multiply(K_g, C_A))
        end_0, end_1 = plus(K_0, skew_times(half_A, K_0)), plus(K_1, skew_times(half_A, K_1))
        K_f = _weighted(h, dt_middle[0], dt_end[0], K_0, K_1, end_0, end_1)
        K_g = _weighted(h, dt_middle[1], dt_end[1], K_0, K_1, end_0, end_1)
        by_B = axial(multiply(transposed(K_f), C_B)), axial(multiply(transposed(K_g), C_B))
        pulled = plus(times(0.5 * h * push[0], K_0), times(0.5 * h * push[1], K_1))
        turned_A, turned_B = turned(C_A, pulled), turned(C_B, transposed(pulled))
        ground, pair = body_places.shape[0] - 1, at[STRUT_PAIR:]
        if first != ground:
            gather_matrix(tiles, pair[RA_RA], 0, plus(_outers(on_A, by_A), turned_A))
        if second != ground:
            gather_matrix(tiles, pair[RB_RB], 0, plus(_outers(on_B, by_B), turned_B))
            if first != ground:
                gather_matrix(tiles, pair[RA_RB], 0, minus(_outers(on_A, by_B), turned_B))
                gather_matrix(tiles, pair[RB_RA], 0, minus(_outers(on_B, by_A), turned_A))


@inline
def _product(N: Mat, D_A: Mat, D_B: Mat) -> Mat:
    """Return K, the sum of N_ij times director i of A and director j of B."""
    K = plus(outer(D_A[0], combine(N[0], D_B)), outer(D_A[1], combine(N[1], D_B)))
    return plus(K, outer(D_A[2], combine(N[2], D_B)))


@inline
def _weighted(
    h: float, by_middle: Pair, by_end: Pair, K_0: Mat, K_1: Mat, end_0: Mat, end_1: Mat
) -> Mat:
    """Return the sum of both forms, each by its slopes at the middle and at the end."""
    middle = plus(times(0.5 * h * h * by_middle[0], K_0), times(0.5 * h * h * by_middle[1], K_1))
    return plus(middle, plus(times(h * h * by_end[0], end_0), times(h * h * by_end[1], end_1)))


@inline
def _outers(a: tuple[Vec, Vec], b: tuple[Vec, Vec]) -> Mat:
    return plus(outer(a[0], b[0]), outer(a[1], b[1]))


@inline
def _tension(
    acts: Acts,
    at: Array,
    chart: int,
    forms: Forms,
    t: float,
    h: float,
    work: Work,
    u: Array,
    y: Array,
    slopes: bool,
) -> Tension:
    """Return the tensions of all that acts along a coordinate, and their slopes if wanted."""
    tension, by_middle, by_end = (0.0, 0.0), FLAT, FLAT
    for k in range(at[FIRST], at[LAST]):
        if acts.places[k, ROLE] == SPRING:
            one, middle, end = _spring(acts, k, chart, forms, work)
        else:
            one, middle, end = _flow(acts, k, chart, forms, t, h, work, u, y, slopes)
        tension = tension[0] + one[0], tension[1] + one[1]
        by_middle, by_end = _sum(by_middle, middle), _sum(by_end, end)
    return tension, by_middle, by_end


@inline
def _sum(a: Square, b: Square) -> Square:
    return (
        (a[0][0] + b[0][0], a[0][1] + b[0][1]),
        (a[1][0] + b[1][0], a[1][1] + b[1][1]),
    )


@inline
def _spring(acts: Acts, k: int, chart: int, forms: Forms, work: Work) -> Tension:
    """Return the tension of a spring, its mean force times the secant of the chart."""
    start, _, end, step = forms
    b, db = chart_secant(chart, start, end, step)
    chi, dchi = chart_value(chart, start), b[0] * step[0] + b[1] * step[1]
    force, stiffness, rest = vector(acts.numbers, k, 0)
    mean, slope = force + stiffness * (chi + 0.5 * dchi - rest), 0.5 * stiffness
    if acts.laws[k] != 0:
        given, found = work.given, work.found
        given[0], given[1] = chi, dchi
        call_law(acts.laws[k], given, found)
        mean, slope = found[0], found[1]
    d = chart_slope(chart, end)
    by_end = (
        (b[0] * slope * d[0] + mean * db[0][0], b[0] * slope * d[1] + mean * db[0][1]),
        (b[1] * slope * d[0] + mean * db[1][0], b[1] * slope * d[1] + mean * db[1][1]),
    )
    return (mean * b[0], mean * b[1]), FLAT, by_end


@inline
def _flow(
    acts: Acts,
    k: int,
    chart: int,
    forms: Forms,
    t: float,
    h: float,
    work: Work,
    u: Array,
    y: Array,
    slopes: bool,
) -> Tension:
    """Return the tension of a damper or a motor, which acts along the rate at the midpoint."""
    _, middle, _, step = forms
    role, port, law = acts.places[k, ROLE], acts.places[k, PORT], acts.laws[k]
    given, found = work.given, work.found
    d, bend = chart_slope(chart, middle), chart_bend(chart, middle)
    flow = (d[0] * step[0] + d[1] * step[1]) / h
    # The rate chi' = d·s' changes by m·ds at the midpoint, and by d·ds / h at the end.
    m = (
        (bend[0][0] * step[0] + bend[0][1] * step[1]) / h,
        (bend[1][0] * step[0] + bend[1][1] * step[1]) / h,
    )
    force, by_chi, by_rate = 0.0, 0.0, 0.0
    if role == DAMPER:
        if law != 0:
            given[0] = flow
            call_law(law, given, found)
            force, by_rate = found[0], found[1]
        else:
            force, by_rate = friction(acts.numbers, k, flow, work.memory, slopes)
        work.sizes[LOST_POWER] += force * flow
    else:
        if role == SERVO:
            given[0], given[1], given[2] = t, chart_value(chart, middle), flow
            call_law(law, given, found, slopes)
            u[port], by_chi, by_rate = found[0], -found[1], -found[2]
        force = -u[port]
        y[port] = flow
    # The tension is force d; its slopes are d (by_chi d + by_rate m) + force bend, by_rate d d / h.
    n = by_chi * d[0] + by_rate * m[0], by_chi * d[1] + by_rate * m[1]
    by_middle = (
        (d[0] * n[0] + force * bend[0][0], d[0] * n[1] + force * bend[0][1]),
        (d[1] * n[0] + force * bend[1][0], d[1] * n[1] + force * bend[1][1]),
    )
    g = by_rate / h
    by_end = (g * d[0] * d[0], g * d[0] * d[1]), (g * d[1] * d[0], g * d[1] * d[1])
    return (force * d[0], force * d[1]), by_middle, by_end


@kernel
def stored(struts: Part, acts: Acts, state: Array, work: Work, chi: Array) -> tuple[float, bool]:
    """Return the energy of all springs [J], and whether the law of an angle jumped.

    `chi` (2, acts) are the coordinates one step before, and those of the state.
    """
    total, jumped = 0.0, False
    for j in range(struts.places.shape[0]):
        at = struts.places[j]
        for k in range(at[FIRST], at[LAST]):
            if acts.places[k, ROLE] == SPRING:
                here = _coordinate(struts, j, state)
                energy = _energy(acts, k, work, here)
                if at[CHART] == ANGLE and abs(here - chi[0, k]) > pi:
                    other = _energy(acts, k, work, here + (tau if here < chi[0, k] else -tau))
                    jumped = jumped or abs(other - energy) > 1e-6 * (abs(other) + abs(energy))
                chi[1, k] = here
                total += energy
    return total, jumped


@inline
def _energy(acts: Acts, k: int, work: Work, chi: float) -> float:
    """Return the energy of spring k where its coordinate is chi [J]."""
    force, stiffness, rest = vector(acts.numbers, k, 0)
    energy = force * chi + 0.5 * stiffness * (chi - rest) * (chi - rest)
    if acts.laws[k] != 0:
        work.given[0], work.given[1] = chi, 0.0
        call_law(acts.laws[k], work.given, work.found)
        energy = work.found[2]
    return energy


@inline
def _coordinate(struts: Part, k: int, state: Array) -> float:
    """Return the coordinate of strut k."""
    numbers, at = struts.numbers, struts.places[k]
    first, second = at[A], at[B]
    D_A, D_B = matrix(state, first, DIRECTORS), matrix(state, second, DIRECTORS)
    if at[KIND] == DOT:
        N_0, N_1 = matrix(numbers, k, FORM_0), matrix(numbers, k, FORM_1)
        s = trace(_product(N_0, D_A, D_B)), trace(_product(N_1, D_A, D_B))
        return chart_value(at[CHART], s)
    r_A = add(vector(state, first, POSITION), combine(vector(numbers, k, POINT_A), D_A))
    r_B = add(vector(state, second, POSITION), combine(vector(numbers, k, POINT_B), D_B))
    r = sub(r_B, r_A)
    a = combine(vector(numbers, k, DIRECTION_A), D_A) if at[KIND] == OFFSET else r
    return chart_value(at[CHART], (numbers[k, COEFFICIENT] * dot(a, r), 0.0))
