r"""Measured numbers on the way back: what gradients by them are by states.

They are linear or bilinear in frames of two bodies and their rates, but for angles, atan2(s, c).
"""

from typing import Any

from poinsot.bodies.directors_backward import TURN, gather_at, matrix_at, vector_at
from poinsot.engine.job import Machine
from poinsot.engine.turn_counters import COSINE, FORM
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    combine,
    cross,
    dot,
    scale,
    sub,
    vector,
)
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.sampling import (
    ANGLE,
    ANGLE_RATE,
    AXIS,
    COMPONENT,
    FIRST,
    MULTIPLIER,
    POSITION,
    REACTION,
    ROTATION,
    SECOND,
    STATE,
    TERM,
    TERMS_END,
    VELOCITY,
    WHICH,
    Sampling,
)
from poinsot.kernels.tables import COORDINATES, KIND, A, B, Index2, R
from poinsot.kernels.terms import (
    COEFFICIENT,
    DIRECTION_A,
    DIRECTION_B,
    NONE,
    POINT_A,
    POINT_B,
    UNIT,
)


@kernel
def measure_back(
    table: Sampling, machine: Machine, places: Index2, row: int, nu: float, x: Array, lam: Array
) -> None:
    """Add to lam, a gradient by states x, what it is by a measured number whose gradient is nu."""
    at, bodies = table.channels[row], machine.bodies.places
    if at[KIND] == STATE:  # of a network, which come last
        parts: Any = machine.parts
        lam[lam.size - parts.PortNetworks.states.shape[1] + at[WHICH]] += nu
    elif at[KIND] == REACTION:
        for k in range(0 + at[TERM], 0 + at[TERMS_END]):
            _reaction_back(table, bodies, places, k, nu, x, lam)
    elif at[KIND] == ANGLE or at[KIND] == ANGLE_RATE:
        _turning_back(machine, at[WHICH], at[KIND] == ANGLE, nu, x, lam)
    elif at[KIND] < POSITION:
        _distance_back(table, bodies, row, nu, x, lam)
    else:
        _motion_back(table, bodies, row, nu, x, lam)


@inline
def _moving(places: Array, b: int, x: Array) -> tuple[Vec, Mat, Vec, Mat]:
    """Return position and directors of a body, and their velocities, of a state."""
    count = places.shape[0] - 1
    r, D, v, U = NONE, UNIT, NONE, (NONE, NONE, NONE)
    if b < count:
        q, n = 0 + places[b, COORDINATES], 0 + places[count, COORDINATES]
        r, v = vector_at(x, q), vector_at(x, q + n)
        if places[b, R] < places[count, R]:
            D, U = matrix_at(x, q + TURN), matrix_at(x, q + n + TURN)
    return r, D, v, U


@inline
def _gather_motion(
    places: Array, b: int, rates: bool, share: float, g: Vec, X: Vec, lam: Array
) -> None:
    """Add the gradient of (share r + X_i d_i)·g of a body, or the same with velocities."""
    count = places.shape[0] - 1
    if b < count:
        q = 0 + places[b, COORDINATES]
        if rates:
            q += 0 + places[count, COORDINATES]
        gather_at(lam, q, scale(share, g))
        if places[b, R] < places[count, R]:
            for i in range(3):
                gather_at(lam, q + TURN + 3 * i, scale(X[i], g))


@kernel
def _distance_back(
    table: Sampling, places: Array, row: int, nu: float, x: Array, lam: Array
) -> None:
    """Go back over a displacement along a direction of body A or of the world, or its rate."""
    numbers, at = table.numbers, table.channels[row]
    r_A, D_A, v_A, U_A = _moving(places, at[A], x)
    r_B, D_B, v_B, U_B = _moving(places, at[B], x)
    X_A, X_B = vector(numbers, row, POINT_A), vector(numbers, row, POINT_B)
    own = vector(numbers, row, DIRECTION_A)
    r = sub(add(r_B, combine(X_B, D_B)), add(r_A, combine(X_A, D_A)))
    dr = sub(add(v_B, combine(X_B, U_B)), add(v_A, combine(X_A, U_A)))
    a, da, turns = own, NONE, at[KIND] < AXIS
    if turns:
        a, da = combine(own, D_A), combine(own, U_A)
    c, rated = nu * numbers[row, COEFFICIENT], at[KIND] % 2 == 1
    if rated:
        by_r, by_dr, by_a, by_da = scale(c, da), scale(c, a), scale(c, dr), scale(c, r)
        _gather_motion(places, at[B], True, 1.0, by_dr, X_B, lam)
        _gather_motion(places, at[A], True, 1.0, scale(-1.0, by_dr), X_A, lam)
    else:
        by_r, by_a, by_da = scale(c, a), scale(c, r), NONE
    _gather_motion(places, at[B], False, 1.0, by_r, X_B, lam)
    _gather_motion(places, at[A], False, 1.0, scale(-1.0, by_r), X_A, lam)
    if turns:
        _gather_motion(places, at[A], False, 0.0, by_a, own, lam)
        _gather_motion(places, at[A], True, 0.0, by_da, own, lam)


@kernel
def _motion_back(table: Sampling, places: Array, row: int, nu: float, x: Array, lam: Array) -> None:
    """Go back over a position, a velocity, a column of the rotation or an angular velocity."""
    numbers, at = table.numbers, table.channels[row]
    kind, component = at[KIND], at[COMPONENT]
    e = (
        nu if component == 0 else 0.0,
        nu if component == 1 else 0.0,
        nu if component == 2 else 0.0,
    )
    if kind < ROTATION:
        X = vector(numbers, row, POINT_A)
        _gather_motion(places, at[A], kind == VELOCITY, 1.0, e, X, lam)
    elif kind == ROTATION:
        own = vector(numbers, row, DIRECTION_A)
        _gather_motion(places, at[A], False, 0.0, e, own, lam)
    else:
        count, half = places.shape[0] - 1, scale(0.5, e)
        _, D, _, U = _moving(places, at[A], x)
        if places[at[A], R] < places[count, R]:
            q = 0 + places[at[A], COORDINATES] + TURN
            rate = q + places[count, COORDINATES]
            for i in range(3):
                gather_at(lam, q + 3 * i, cross(U[i], half))
                gather_at(lam, rate + 3 * i, cross(half, D[i]))


@kernel
def _turning_back(
    machine: Machine, k: int, is_angle: bool, nu: float, x: Array, lam: Array
) -> None:
    """Go back over the angle of a turn counter, atan2(s, c), or its rate."""
    numbers, terms = machine.turn_counter_terms
    places = machine.bodies.places
    first, last = 0 + machine.turn_counters[k, 0], 0 + machine.turn_counters[k, 1]
    c, s, dc, ds = 0.0, 0.0, 0.0, 0.0
    for j in range(first, last):
        _, D_A, _, U_A = _moving(places, terms[j, A], x)
        _, D_B, _, U_B = _moving(places, terms[j, B], x)
        X_A, X_B = vector(numbers, j, DIRECTION_A), vector(numbers, j, DIRECTION_B)
        a, b, coefficient = combine(X_A, D_A), combine(X_B, D_B), numbers[j, COEFFICIENT]
        value = coefficient * dot(a, b)
        rate = coefficient * (dot(combine(X_A, U_A), b) + dot(a, combine(X_B, U_B)))
        if terms[j, FORM] == COSINE:
            c, dc = c + value, dc + rate
        else:
            s, ds = s + value, ds + rate
    square = c * c + s * s
    by_c, by_s, by_dc, by_ds = -nu * s / square, nu * c / square, 0.0, 0.0
    if not is_angle:
        turning = (c * ds - s * dc) / square
        by_dc, by_ds = by_c, by_s
        by_c = nu * (ds - 2.0 * c * turning) / square
        by_s = -nu * (dc + 2.0 * s * turning) / square
    for j in range(first, last):
        _, D_A, _, U_A = _moving(places, terms[j, A], x)
        _, D_B, _, U_B = _moving(places, terms[j, B], x)
        X_A, X_B = vector(numbers, j, DIRECTION_A), vector(numbers, j, DIRECTION_B)
        coefficient = numbers[j, COEFFICIENT]
        value, rate = coefficient * by_s, coefficient * by_ds
        if terms[j, FORM] == COSINE:
            value, rate = coefficient * by_c, coefficient * by_dc
        a, b, da, db = combine(X_A, D_A), combine(X_B, D_B), combine(X_A, U_A), combine(X_B, U_B)
        by_a, by_b = axpy(value, b, scale(rate, db)), axpy(value, a, scale(rate, da))
        _gather_motion(places, terms[j, A], False, 0.0, by_a, X_A, lam)
        _gather_motion(places, terms[j, B], False, 0.0, by_b, X_B, lam)
        _gather_motion(places, terms[j, A], True, 0.0, scale(rate, b), X_A, lam)
        _gather_motion(places, terms[j, B], True, 0.0, scale(rate, a), X_B, lam)


@kernel
def _reaction_back(
    table: Sampling, bodies: Array, places: Index2, k: int, nu: float, x: Array, lam: Array
) -> None:
    """Go back over a term of a reaction, of the multipliers of the step before."""
    of, pull = table.factors[k], table.pulls[k]
    column, first, second = 0 + places[of[MULTIPLIER], 2], of[FIRST + 1], of[SECOND + 1]
    a, b = _factor(bodies, of[FIRST], first, x), _factor(bodies, of[SECOND], second, x)
    lam[column] += nu * pull * a * b
    _gather_factor(bodies, of[FIRST], first, nu * pull * x[column] * b, lam)
    _gather_factor(bodies, of[SECOND], second, nu * pull * x[column] * a, lam)


@inline
def _factor(bodies: Array, b: int, column: int, x: Array) -> float:
    """Return a coordinate of the frame of a body, those of the ground being fixed."""
    if b < bodies.shape[0] - 1:
        return float(x[0 + bodies[b, COORDINATES] + column])
    return 1.0 if column == 3 or column == 7 or column == 11 else 0.0


@inline
def _gather_factor(bodies: Array, b: int, column: int, nu: float, lam: Array) -> None:
    if b < bodies.shape[0] - 1:
        lam[0 + bodies[b, COORDINATES] + column] += nu
