"""Springs, dampers and motors along one coordinate over a step backwards, see `engine.backward`.

With mu the gradient by residuals, tensions t on forms s add h t·sigma to mu times residuals, sigma
being how the forms at the midpoint change along mu. Tensions depend on the forms s_0, s, s_1 at the
start, at the middle and at the end, and on the increment ds; these, and sigma, are sums of products
of vectors at the midpoint, of which a gives a -+ a_A x a at both ends. So one gradient by these
vectors is that by frames, and that by numbers. Slopes by the start of a step are those by the end
of the step taken back.
"""

from typing import TypeAlias

from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axial,
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
    scale,
    skew,
    sub,
    times,
    transposed,
    vector,
)
from poinsot.kernels.charts import (
    LENGTH,
    LINEAR,
    Pair,
    Square,
    chart_bend,
    chart_near,
    chart_secant,
    chart_slope,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.laws import call_law
from poinsot.kernels.step import Step
from poinsot.kernels.tables import (
    DIRECTORS,
    KIND,
    POSITION,
    A,
    B,
    R,
    T,
    frame,
    half_turn,
    twist,
)
from poinsot.kernels.terms import DIRECTION_A, DOT, OFFSET, UNIT
from poinsot.parts.constraints_backward import give
from poinsot.parts.formula_laws import LAW, OF_STEPS, mean_and_slope
from poinsot.parts.resistance import friction, friction_by_numbers, friction_slope
from poinsot.parts.stops import (
    mean_push,
    push_by_numbers,
    resistance_at,
    resistance_by_numbers,
)
from poinsot.parts.tensions import (
    CHART,
    CUSHION,
    DAMPER,
    FIRST,
    LAST,
    PORT,
    ROLE,
    SERVO,
    SPRING,
    STOP,
    Along,
    Forms,
)
from poinsot.parts.turning_forms import FORM_0, FORM_1, forms_turning, product

#: What mu times residuals is by both forms: by sigma, h t; at the middle, as sums of all; at both
#: ends, as sums of these; and by ds, with what the ends add.
Weights: TypeAlias = tuple[Pair, Pair, Pair, Pair]

NOTHING: Pair = (0.0, 0.0)


@kernel
def struts_backward(
    struts: Along, by: Along, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through all coordinates."""
    for k in range(struts.places.shape[0]):
        if struts.places[k, KIND] == DOT:
            _turning(struts, by, k, step, mu, frames, by_u)
        else:
            _straight(struts, by, k, step, mu, frames, by_u)


@kernel
def _straight(
    struts: Along, by: Along, k: int, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through a form c a·r of points, a direction on A or r itself; b and p are a', r' along mu.

    Of its middle m, its ends are m + c da·dr -+ ds/2, ds = 2 c (a·dr + da·r), and sigma is
    c (a·p + b·r).
    """
    h, stage, numbers, at, bodies = (
        step.h,
        step.stage,
        struts.numbers,
        struts.places[k],
        step.bodies,
    )
    first, second, c, offset = at[A], at[B], numbers[k, terms.COEFFICIENT], at[KIND] == OFFSET
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, _), (v_B, _) = twist(stage, first), twist(stage, second)
    push = sub(vector(mu, bodies[second, T], 0), vector(mu, bodies[first, T], 0))
    spin_A, spin_B = vector(mu, bodies[first, R], 0), vector(mu, bodies[second, R], 0)
    rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
    r = sub(add(r_B, rho_B), add(r_A, rho_A))
    dr = axpy(0.5 * h, sub(v_B, v_A), sub(cross(half_B, rho_B), cross(half_A, rho_A)))
    p = add(push, sub(cross(spin_B, rho_B), cross(spin_A, rho_A)))
    X_a = vector(numbers, k, DIRECTION_A)
    a, da, b, f = r, dr, p, 2.0 * c
    if offset:
        a, f = combine(X_a, D_A), c
        da, b = cross(half_A, a), cross(spin_A, a)
    middle, second_order, ds = dot(a, r), dot(da, dr), 2.0 * (dot(a, dr) + dot(da, r))
    sigma = dot(a, p) + dot(b, r)
    low, high = c * (middle + second_order - 0.5 * ds), c * (middle + second_order + 0.5 * ds)
    forms = (low, 0.0), (c * middle, 0.0), (high, 0.0), (c * ds, 0.0)
    if at[CHART] == LENGTH:
        weights = _weights(struts, by, at, LENGTH, forms, (c * sigma, 0.0), step, by_u)
    else:
        weights = _weights(struts, by, at, LINEAR, forms, (c * sigma, 0.0), step, by_u)
    pull, all_three, both, turn = weights[0][0], weights[1][0], weights[2][0], 2.0 * weights[3][0]
    by.numbers[k, terms.COEFFICIENT] -= (
        all_three * middle + both * second_order + 0.5 * turn * ds + pull * sigma
    )
    by_r = scale(f, axpy(all_three, a, axpy(turn, da, scale(pull, b))))
    by_dr, by_p = scale(f, axpy(both, da, scale(turn, a))), scale(f * pull, a)
    if offset:
        by_a = axpy(all_three, r, axpy(turn, dr, scale(pull, p)))
        by_da = axpy(both, dr, scale(turn, r))
        by_a = add(by_a, add(cross(by_da, half_A), cross(scale(pull, r), spin_A)))
        give(frames, first, X_a, D_A, scale(c, by_a), by.numbers, k, DIRECTION_A)
    gather(frames, first, POSITION, scale(-1.0, by_r))
    gather(frames, second, POSITION, by_r)
    by_A = add(by_r, add(cross(by_dr, half_A), cross(by_p, spin_A)))
    by_B = add(by_r, add(cross(by_dr, half_B), cross(by_p, spin_B)))
    give(frames, first, X_A, D_A, scale(-1.0, by_A), by.numbers, k, terms.POINT_A)
    give(frames, second, X_B, D_B, by_B, by.numbers, k, terms.POINT_B)


@kernel
def _turning(
    struts: Along, by: Along, k: int, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through forms of directions, N : D_A D_B^T, with gradients Z by the sums K of a b^T."""
    stage, numbers, at, bodies = step.stage, struts.numbers, struts.places[k], step.bodies
    first, second = at[A], at[B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    N_0, N_1 = matrix(numbers, k, FORM_0), matrix(numbers, k, FORM_1)
    K_0, K_1 = product(N_0, D_A, D_B), product(N_1, D_A, D_B)
    spin = sub(vector(mu, bodies[first, R], 0), vector(mu, bodies[second, R], 0))
    sigma = dot(axial(K_0), spin), dot(axial(K_1), spin)
    forms = forms_turning(K_0, K_1, half_A, half_B)
    pull, all_three, both, turn = _weights(struts, by, at, at[CHART], forms, sigma, step, by_u)
    ends = minus(times(dot(half_A, half_B), UNIT), outer(half_B, half_A))
    apart = sub(half_B, half_A)
    Z_0 = _by_product(pull[0], all_three[0], both[0], turn[0], spin, ends, apart)
    Z_1 = _by_product(pull[1], all_three[1], both[1], turn[1], spin, ends, apart)
    _give(frames, first, second, N_0, D_A, D_B, Z_0, by.numbers, k, FORM_0)
    _give(frames, first, second, N_1, D_A, D_B, Z_1, by.numbers, k, FORM_1)


@arithmetic
def _by_product(
    pull: float, all_three: float, both: float, turn: float, spin: Vec, ends: Mat, apart: Vec
) -> Mat:
    """Return the gradient by K, of which forms are the trace, and axial vectors times others."""
    across = skew(axpy(2.0 * turn, apart, scale(-pull, spin)))
    return plus(plus(times(all_three, UNIT), times(both, ends)), across)


@arithmetic
def _give(
    frames: Array,
    first: int,
    second: int,
    N: Mat,
    D_A: Mat,
    D_B: Mat,
    Z: Mat,
    by: Array,
    k: int,
    at: int,
) -> None:
    """Give the gradient Z by D_A^T N D_B to directors, and to N itself."""
    Z_B = multiply(D_A, Z)
    by_A, by_B = multiply(multiply(N, D_B), transposed(Z)), multiply(transposed(N), Z_B)
    by_N = multiply(Z_B, transposed(D_B))
    _gather_matrix(frames, first, DIRECTORS, by_A)
    _gather_matrix(frames, second, DIRECTORS, by_B)
    _gather_matrix(by, k, at, times(-1.0, by_N))


@arithmetic
def _gather_matrix(a: Array, i: int, at: int, B: Mat) -> None:
    gather(a, i, at, B[0])
    gather(a, i, at + 3, B[1])
    gather(a, i, at + 6, B[2])


# -- what acts along coordinates -------------------------------------------------------------------


@inline
def _weights(
    along: Along,
    by: Along,
    at: Array,
    chart: int,
    forms: Forms,
    sigma: Pair,
    step: Step,
    by_u: Array,
) -> Weights:
    """Return the gradient by forms and sigma; subtract that by numbers of what acts."""
    pull, by_start, by_middle, by_end, by_ds = NOTHING, NOTHING, NOTHING, NOTHING, NOTHING
    for k in range(at[FIRST], at[LAST]):
        role = along.acts.places[k, ROLE]
        if role in (SPRING, STOP):
            one, start, end = _spring(along, by.acts.numbers, k, chart, forms, sigma, step)
            by_start, by_end = _plus(by_start, start), _plus(by_end, end)
        else:
            numbers = by.acts.numbers
            one, middle, change = _flow(along, numbers, k, chart, forms, sigma, step, by_u)
            by_middle, by_ds = _plus(by_middle, middle), _plus(by_ds, change)
        pull = _plus(pull, one)
    both = _plus(by_start, by_end)
    turn = 0.5 * (by_end[0] - by_start[0]), 0.5 * (by_end[1] - by_start[1])
    return pull, _plus(by_middle, both), both, _plus(by_ds, turn)


@arithmetic
def _plus(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


@arithmetic
def _times(a: Pair, B: Square) -> Pair:
    """Return B^T a."""
    return a[0] * B[0][0] + a[1] * B[1][0], a[0] * B[0][1] + a[1] * B[1][1]


@inline
def _spring(
    along: Along, by: Array, k: int, chart: int, forms: Forms, sigma: Pair, step: Step
) -> tuple[Pair, Pair, Pair]:
    """Go through a spring or a stop, h f b·sigma: f its mean force, b the secant of the chart.

    Returns the gradients by sigma, and by the forms at the start and at the end.
    """
    (start, _, end, ds), acts, h = forms, along.acts, step.h
    given, found = step.given, step.found
    b, db_end = chart_secant(chart, start, end, ds)
    _, db_start = chart_secant(chart, end, start, (-ds[0], -ds[1]))
    chi, dchi = along.chi[0, k], b[0] * ds[0] + b[1] * ds[1]
    chi_1, g = chi + dchi, h * (b[0] * sigma[0] + b[1] * sigma[1])
    force, stiffness, rest = vector(acts.numbers, k, 0)
    stretch = chi + 0.5 * dchi - rest
    mean, by_start, by_end = force + stiffness * stretch, 0.5 * stiffness, 0.5 * stiffness
    if acts.places[k, ROLE] == STOP:
        mean, by_end = mean_push(acts.numbers, k, chi, dchi)
        by_start = mean_push(acts.numbers, k, chi_1, -dchi)[1]
        gather(by, k, 0, scale(-g, push_by_numbers(acts.numbers, k, chi, dchi)))
    elif acts.laws[k] == 0:
        gather(by, k, 0, scale(-g, (1.0, stretch, -stiffness)))
    elif acts.places[k, LAW] == OF_STEPS:
        given[0], given[1] = chi_1, -dchi
        call_law(acts.laws[k], given, found, True)
        by_start = found[1]
        given[0], given[1] = chi, dchi
        call_law(acts.laws[k], given, found, True)
        mean, by_end = found[0], found[1]
    else:
        by_start = mean_and_slope(acts, k, chi_1, -dchi, given, found)[1]
        mean, by_end = mean_and_slope(acts, k, chi, dchi, given, found)
    f = h * mean
    by_b, d_0, d_1 = (
        (f * sigma[0], f * sigma[1]),
        chart_slope(chart, start),
        chart_slope(chart, end),
    )
    n_0, n_1 = (
        (g * by_start * d_0[0], g * by_start * d_0[1]),
        (g * by_end * d_1[0], g * by_end * d_1[1]),
    )
    return (
        (f * b[0], f * b[1]),
        _plus(n_0, _times(by_b, db_start)),
        _plus(n_1, _times(by_b, db_end)),
    )


@inline
def _flow(
    along: Along,
    by: Array,
    k: int,
    chart: int,
    forms: Forms,
    sigma: Pair,
    step: Step,
    by_u: Array,
) -> tuple[Pair, Pair, Pair]:
    """Go through a damper or a motor, h f d·sigma: its force f, d the slope of the chart.

    Returns the gradients by sigma, by the forms at the middle, and by ds.
    """
    (_, middle, _, ds), acts, h = forms, along.acts, step.h
    role, port, law, given, found = (
        acts.places[k, ROLE],
        acts.places[k, PORT],
        acts.laws[k],
        step.given,
        step.found,
    )
    d, bend = chart_slope(chart, middle), chart_bend(chart, middle)
    rate = (d[0] * ds[0] + d[1] * ds[1]) / h
    m = _times((ds[0] / h, ds[1] / h), bend)
    g = h * (d[0] * sigma[0] + d[1] * sigma[1])
    force, by_chi, by_rate = 0.0, 0.0, 0.0
    if role == DAMPER:
        if law != 0:
            given[0] = rate
            call_law(law, given, found, True)
            force, by_rate = found[0], found[1]
        else:
            force, _ = friction(acts.numbers, k, rate, along.memory, False)
            by_rate = friction_slope(acts.numbers, k, rate)
            _take(by, k, g, friction_by_numbers(acts.numbers, k, rate))
    elif role == CUSHION:
        chi = chart_near(chart, middle, along.chi[0, k])
        force, by_chi, by_rate = resistance_at(acts.numbers, k, chi, rate)
        _take(by, k, g, resistance_by_numbers(acts.numbers, k, chi, rate))
    elif role == SERVO:
        chi = chart_near(chart, middle, along.chi[0, k])
        given[0], given[1], given[2] = step.t, chi, rate
        call_law(law, given, found, True)
        force, by_chi, by_rate = -found[0], -found[1], -found[2]
    else:
        force = -step.u[port]
        if by_u.size > 0:
            by_u[port] += g
    n = g * (by_chi * d[0] + by_rate * m[0]), g * (by_chi * d[1] + by_rate * m[1])
    f = h * force
    by_d, by_ds = _times((f * sigma[0], f * sigma[1]), bend), g * by_rate / h
    return (f * d[0], f * d[1]), _plus(n, by_d), (by_ds * d[0], by_ds * d[1])


@arithmetic
def _take(by: Array, k: int, g: float, slopes: tuple[float, float, float, float]) -> None:
    """Subtract derivatives by four numbers."""
    by[k, 0] -= g * slopes[0]
    by[k, 1] -= g * slopes[1]
    by[k, 2] -= g * slopes[2]
    by[k, 3] -= g * slopes[3]
