r"""Sampled controllers on the way back: from gradients by what they hold to what they measure.

At the beginning of a step a law finds its outputs u and its next states from what it is given, the
time, what it measures, y(x), and its states:

.. math:: \nu_y = u_y^\top \nu_u, \qquad \lambda \leftarrow \lambda + y_x^\top \nu_y .

Outputs at a limit depend on nothing, or on those before if the limit is one of rates. What is
measured is linear or bilinear in the frames of two bodies and their rates, but for angles.
"""

from math import inf
from typing import NamedTuple

import numpy as np

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
from poinsot.kernels.laws import call_law
from poinsot.kernels.sampling import (
    ANGLE,
    ANGLE_RATE,
    AXIS,
    CHANGE,
    CHANNEL,
    COMPONENT,
    DELAY,
    EVERY,
    FIRST,
    GIVEN,
    GIVEN_END,
    HIGH,
    LOW,
    MEMORY,
    MULTIPLIER,
    OUTPUT,
    OUTPUTS_END,
    POSITION,
    REACTION,
    RING,
    ROTATION,
    SECOND,
    SIGNAL,
    SLOTS,
    STATES,
    TERM,
    TERMS_END,
    VELOCITY,
    WHICH,
    Sampling,
    no_controllers,
)
from poinsot.kernels.tables import COORDINATES, KIND, A, Addresses, B, Index2, R, Real1, Real2
from poinsot.kernels.terms import (
    COEFFICIENT,
    DIRECTION_A,
    DIRECTION_B,
    NONE,
    POINT_A,
    POINT_B,
    UNIT,
)

#: Laws without slopes are asked at differences over this part of a number's size.
STEP = 5e-6


class Decisions(NamedTuple):
    """What controllers were given and have decided in steps, and gradients by it.

    `trace` (steps, ...) is that of `table` in these steps, the first of which has a `number` in the
    run. The functions at `slopes` (controllers,) find what laws find, and then its slopes by
    all that these are given but the time; 0: they are found by differences.

    `given`, `ring`, `held` and `last` are the gradients by these arrays of the table; `by_outputs`
    and `by_states` (steps, ...) those by what was decided, at its places among `last` and `given`.
    `own`, `found`, `other` and `by` have room for a law.
    """

    table: Sampling
    trace: Real2
    number: int
    slopes: Addresses
    given: Real1
    ring: Real1
    held: Real1
    last: Real1
    by_outputs: Real2
    by_states: Real2
    own: Real1
    found: Real1
    other: Real1
    by: Real1


def no_decisions() -> Decisions:
    """Return those of no controllers."""
    none, nothing = np.zeros(0), np.zeros((0, 0))
    nowhere = np.zeros(0, dtype=np.int64)
    lists, tables = [none] * 4, [nothing] * 2
    return Decisions(no_controllers(), nothing, 0, nowhere, *lists, *tables, *lists)


@kernel
def take_decisions_back(
    decisions: Decisions,
    machine: Machine,
    places: Index2,
    n: int,
    x: Array,
    by_u: Array,
    lam: Array,
) -> None:
    """Go back over the beginning of step n, at a state x, whose inputs have the gradient `by_u`.

    Add to lam, the gradient by x, what it is by what controllers measure there.
    """
    table, number = decisions.table, decisions.number + n
    controllers = table.controllers.shape[0]
    for k in range(table.columns.size):
        decisions.held[table.driving[k]] += by_u[table.columns[k]]
    for c in range(controllers):
        at = table.controllers[c]
        outputs = at[OUTPUTS_END] - at[OUTPUT]
        if number >= at[DELAY]:
            slot = ((number - at[DELAY]) // at[EVERY]) % at[SLOTS]
            for i in range(outputs):
                decisions.ring[at[RING] + slot * outputs + i] += decisions.held[at[OUTPUT] + i]
                decisions.held[at[OUTPUT] + i] = 0.0
    for k in range(controllers):
        c = controllers - 1 - k
        if number % table.controllers[c, EVERY] == 0:
            _take_decision_back(decisions, machine, places, c, n, x, lam)


@kernel
def _take_decision_back(
    decisions: Decisions, machine: Machine, places: Index2, c: int, n: int, x: Array, lam: Array
) -> None:
    """Go back over the call of a law."""
    table, trace = decisions.table, decisions.trace[n]
    at = table.controllers[c]
    first, given = 0 + at[GIVEN], 0 + at[GIVEN_END] - at[GIVEN]
    outputs, states = 0 + at[OUTPUTS_END] - at[OUTPUT], 0 + at[GIVEN_END] - at[STATES]
    slot = ((decisions.number + n) // at[EVERY]) % at[SLOTS]
    found, by = decisions.found, decisions.by
    own = decisions.own[:given]
    for i in range(given):
        own[i] = trace[first + i]
    _find_slopes(decisions, c, own, outputs + states)
    for i in range(outputs):
        k = at[OUTPUT] + i
        place = at[RING] + slot * outputs + i
        nu = decisions.last[k] + decisions.ring[place]
        decisions.last[k], decisions.ring[place], by[i] = 0.0, 0.0, 0.0
        decisions.by_outputs[n, k] = nu
        value, change, before = found[i], table.limits[k, CHANGE], trace[table.given.size + k]
        reached = min(max(value, before - change), before + change) if change < inf else value
        if table.limits[k, LOW] <= reached <= table.limits[k, HIGH]:
            if reached == value:
                by[i] = nu
            else:
                decisions.last[k] = nu
    for i in range(states):
        place = at[STATES] + i
        by[outputs + i] = decisions.given[place]
        decisions.by_states[n, place] = decisions.given[place]
        decisions.given[place] = 0.0
    for j in range(given - 1):
        nu = 0.0
        for i in range(outputs + states):
            nu += by[i] * found[outputs + states + i * (given - 1) + j]
        if first + 1 + j < at[STATES]:
            _measure_back(decisions, machine, places, 0 + at[CHANNEL] + j, nu, x, lam)
        else:
            decisions.given[first + 1 + j] += nu


@kernel
def _find_slopes(decisions: Decisions, c: int, own: Array, count: int) -> None:
    """Set so many numbers that a law finds, and behind them their slopes, row by row."""
    found, other, columns = decisions.found, decisions.other, own.size - 1
    if decisions.slopes[c] != 0:
        call_law(decisions.slopes[c], own, found[: count * own.size], False)
    else:
        law = decisions.table.laws[c]
        call_law(law, own, found[:count], False)
        for j in range(columns):
            here = own[1 + j]
            step = STEP * max(1.0, abs(here))
            for i in range(count):
                found[count + i * columns + j] = 0.0
            for way in range(4):
                sign, far = 1.0 - 2.0 * (way % 2), 1.0 + way // 2
                weight = sign * (2.0 / 3.0 if way < 2 else -1.0 / 12.0) / step
                own[1 + j] = here + sign * far * step
                call_law(law, own, other[:count], False)
                for i in range(count):
                    found[count + i * columns + j] += weight * other[i]
            own[1 + j] = here


# -- what is measured ------------------------------------------------------------------------------


@kernel
def _measure_back(
    decisions: Decisions,
    machine: Machine,
    places: Index2,
    row: int,
    nu: float,
    x: Array,
    lam: Array,
) -> None:
    """Add to gradients what they are by a measured number whose gradient is nu."""
    table, bodies = decisions.table, machine.bodies.places
    at = table.channels[row]
    if at[KIND] == SIGNAL:
        decisions.last[at[WHICH]] += nu
    elif at[KIND] == MEMORY:
        decisions.given[at[WHICH]] += nu
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
