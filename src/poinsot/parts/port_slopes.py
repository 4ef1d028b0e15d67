"""Outputs of ports over a step backwards: their slopes by frames at the midpoint, and by numbers.

An output y = n·(v_B - v_A) + t_A·w_A + t_B·w_B depends on velocities, and n, t_A and t_B on frames;
see `port_rows`.
"""

from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axial,
    combine,
    cross,
    dot,
    gather,
    matrix,
    multiply,
    outer,
    plus,
    put,
    scale,
    skew,
    sub,
    times,
    trace,
    transposed,
    vector,
)
from poinsot.kernels.cayley import turn_back
from poinsot.kernels.charts import ANGLE, chart_bend, chart_slope
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import DIRECTORS, KIND, POSITION, A, B, frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT, ZERO
from poinsot.parts.constraints_backward import give
from poinsot.parts.load_motion import AXES, BODY_FORCE, BODY_TORQUE, POINT, TORQUE
from poinsot.parts.network_table import (
    COMPONENT,
    FORCE,
    SLOPE_A,
    SLOPE_B,
    TORQUE_A,
    TORQUE_B,
    Networks,
)
from poinsot.parts.port_rows import LOAD, SLIDE, TURN
from poinsot.parts.turning_forms import FORM_0, FORM_1, product


@kernel
def slope_by_unknowns(table: Networks, i: int, step: Step) -> None:
    """Set how the output of row i changes with v and w of A and B, once the row is set."""
    at, work, stage, half_h = table.places[i], table.work, step.stage, 0.5 * step.h
    by_r, by_A, by_B = _by_frames(table, i, step)
    n = add(vector(work, i, FORCE), scale(half_h, by_r))
    (_, D_A), (_, D_B) = frame(stage, at[A]), frame(stage, at[B])
    turn_A = scale(half_h, _turned(half_turn(stage, at[A]), D_A, by_A))
    turn_B = scale(half_h, _turned(half_turn(stage, at[B]), D_B, by_B))
    put(work, i, SLOPE_A, scale(-1.0, n))
    put(work, i, SLOPE_A + 3, add(vector(work, i, TORQUE_A), turn_A))
    put(work, i, SLOPE_B, n)
    put(work, i, SLOPE_B + 3, add(vector(work, i, TORQUE_B), turn_B))


@arithmetic
def _turned(a: Vec, D: Mat, by: Mat) -> Vec:
    """Return what a slope by directors at the midpoint is by a = h w / 2."""
    turns = [cross(d, turn_back(a, g)) for d, g in zip(D, by, strict=True)]
    return add(add(turns[0], turns[1]), turns[2])


@inline
def _by_frames(table: Networks, i: int, step: Step) -> tuple[Vec, Mat, Mat]:
    """Return the slopes of an output by r_B, against that by r_A, and by directors of A and B."""
    numbers, at, stage = table.numbers, table.places[i], step.stage
    (_, D_A), (_, D_B) = frame(stage, at[A]), frame(stage, at[B])
    if at[KIND] == TURN:
        Y_0, Y_1 = _turning(numbers, i, at, stage)
        N_0, N_1 = matrix(numbers, i, FORM_0), matrix(numbers, i, FORM_1)
        on_A = plus(_on_first(N_0, Y_0, D_B), _on_first(N_1, Y_1, D_B))
        return NONE, on_A, plus(_on_second(N_0, Y_0, D_A), _on_second(N_1, Y_1, D_A))
    if at[KIND] == SLIDE:
        n, speed, by_rho = _sliding(numbers, i, at, stage)
        along = scale(numbers[i, terms.COEFFICIENT], vector(numbers, i, terms.DIRECTION_A))
        _, w_A = twist(stage, at[A])
        X_B = vector(numbers, i, terms.POINT_B)
        return cross(w_A, n), outer(along, speed), outer(X_B, by_rho)
    by_t, by_rho = _loading(numbers, i, at, stage)
    axis = _axis(matrix(numbers, i, AXES), at[COMPONENT])
    return NONE, ZERO, plus(outer(axis, by_t), outer(vector(numbers, i, POINT), by_rho))


@kernel
def give_outputs(table: Networks, by: Networks, i: int, eta: float, step: Step, to: Array) -> None:
    """Subtract from `to`, by frames, and add to `by`, what eta times the output of row i is."""
    numbers, at, stage = table.numbers, table.places[i], step.stage
    first, second = at[A], at[B]
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    if at[KIND] == TURN:
        _, by_A, by_B = _by_frames(table, i, step)
        _gather_matrix(to, first, DIRECTORS, times(-eta, by_A))
        _gather_matrix(to, second, DIRECTORS, times(-eta, by_B))
        Y_0, Y_1 = _turning(numbers, i, at, stage)
        _gather_matrix(by.numbers, i, FORM_0, times(eta, _by_form(Y_0, D_A, D_B)))
        _gather_matrix(by.numbers, i, FORM_1, times(eta, _by_form(Y_1, D_A, D_B)))
    elif at[KIND] == SLIDE:
        n, speed, by_rho = _sliding(numbers, i, at, stage)
        X, c = vector(numbers, i, terms.DIRECTION_A), numbers[i, terms.COEFFICIENT]
        _, w_A = twist(stage, first)
        by_r = scale(-eta, cross(w_A, n))
        gather(to, first, POSITION, scale(-1.0, by_r))
        gather(to, second, POSITION, by_r)
        by.numbers[i, terms.COEFFICIENT] += eta * dot(combine(X, D_A), speed)
        give(to, first, X, D_A, scale(-eta * c, speed), by.numbers, i, terms.DIRECTION_A)
        X_B = vector(numbers, i, terms.POINT_B)
        give(to, second, X_B, D_B, scale(-eta, by_rho), by.numbers, i, terms.POINT_B)
    else:
        by_t, by_rho = _loading(numbers, i, at, stage)
        give(to, second, vector(numbers, i, POINT), D_B, scale(-eta, by_rho), by.numbers, i, POINT)
        for k in range(3):
            column = AXES + 3 * k + at[COMPONENT]
            gather(to, second, DIRECTORS + 3 * k, scale(-eta * numbers[i, column], by_t))
            by.numbers[i, column] += eta * dot(vector(stage, second, DIRECTORS + 3 * k), by_t)


@inline
def _turning(numbers: Array, i: int, at: Array, stage: Array) -> tuple[Mat, Mat]:
    """Return the slopes of an angle's rate, d(s)·s', by both forms K, of which s are the traces."""
    (_, D_A), (_, D_B) = frame(stage, at[A]), frame(stage, at[B])
    (_, w_A), (_, w_B) = twist(stage, at[A]), twist(stage, at[B])
    w = sub(w_A, w_B)
    K_0 = product(matrix(numbers, i, FORM_0), D_A, D_B)
    K_1 = product(matrix(numbers, i, FORM_1), D_A, D_B)
    s, ds = (trace(K_0), trace(K_1)), (dot(axial(K_0), w), dot(axial(K_1), w))
    d, bend = chart_slope(ANGLE, s), chart_bend(ANGLE, s)
    Y_0 = plus(times(-d[0], skew(w)), times(bend[0][0] * ds[0] + bend[0][1] * ds[1], UNIT))
    Y_1 = plus(times(-d[1], skew(w)), times(bend[1][0] * ds[0] + bend[1][1] * ds[1], UNIT))
    return Y_0, Y_1


@arithmetic
def _on_first(N: Mat, Y: Mat, D_B: Mat) -> Mat:
    """Return the slope by directors of A of Y : K, K the sum of N_ij a_i b_j^T."""
    return multiply(N, multiply(D_B, transposed(Y)))


@arithmetic
def _on_second(N: Mat, Y: Mat, D_A: Mat) -> Mat:
    """Return that by directors of B."""
    return multiply(transposed(N), multiply(D_A, Y))


@arithmetic
def _by_form(Y: Mat, D_A: Mat, D_B: Mat) -> Mat:
    """Return that by N."""
    return multiply(D_A, multiply(Y, transposed(D_B)))


@inline
def _sliding(numbers: Array, i: int, at: Array, stage: Array) -> tuple[Vec, Vec, Vec]:
    """Return n, and the slopes of an offset's rate by n and by the arm rho of B."""
    (r_A, D_A), (r_B, D_B) = frame(stage, at[A]), frame(stage, at[B])
    (v_A, w_A), (v_B, w_B) = twist(stage, at[A]), twist(stage, at[B])
    rho = combine(vector(numbers, i, terms.POINT_B), D_B)
    n = scale(numbers[i, terms.COEFFICIENT], combine(vector(numbers, i, terms.DIRECTION_A), D_A))
    reach = sub(add(r_B, rho), r_A)
    speed = sub(add(v_B, cross(w_B, rho)), add(v_A, cross(w_A, reach)))
    return n, speed, cross(n, sub(w_B, w_A))


@inline
def _loading(numbers: Array, i: int, at: Array, stage: Array) -> tuple[Vec, Vec]:
    """Return the slopes of a component of a load's output by its axis and by the arm rho."""
    (_, D), (v, w) = frame(stage, at[B]), twist(stage, at[B])
    rho, kind = combine(vector(numbers, i, POINT), D), at[KIND] - LOAD
    if kind == TORQUE:
        return NONE, NONE
    if kind == BODY_TORQUE:
        return w, NONE
    axis = _axis(UNIT, at[COMPONENT])
    if kind == BODY_FORCE:
        axis = combine(_axis(matrix(numbers, i, AXES), at[COMPONENT]), D)
        return add(v, cross(w, rho)), cross(axis, w)
    return NONE, cross(axis, w)


@inline
def _axis(axes: Mat, component: int) -> Vec:
    """Return a column of a matrix."""
    columns = transposed(axes)
    if component == 1:
        return columns[1]
    return columns[2] if component == 2 else columns[0]


@arithmetic
def _gather_matrix(a: Array, i: int, at: int, M: Mat) -> None:
    """Add a matrix to row i of an array, from column `at` on."""
    gather(a, i, at, M[0])
    gather(a, i, at + 3, M[1])
    gather(a, i, at + 6, M[2])
