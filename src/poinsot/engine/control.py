"""Sampled controllers in the time loop: they measure a state and set the inputs of a step."""

from math import atan2, tau
from typing import Any

from poinsot.engine.job import Job, Machine
from poinsot.engine.turn_counters import COSINE, FORM
from poinsot.kernels.algebra import Array, Mat, Vec, add, axpy, combine, cross, dot, matrix, vector
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.sampling import (
    ANGLE,
    ANGLE_RATE,
    CHANNEL,
    CHANNELS_END,
    FIRST,
    GIVEN,
    GIVEN_END,
    MEMORY,
    MULTIPLIER,
    OUTPUT,
    OUTPUTS_END,
    REACTION,
    SECOND,
    SIGNAL,
    STATE,
    TERM,
    TERMS_END,
    WHICH,
    Sampling,
    decide,
    hold,
    is_due,
    measure,
)
from poinsot.kernels.tables import (
    KIND,
    RATES,
    SLIP,
    SPIN,
    SPUN,
    VELOCITY,
    A,
    B,
    Spins,
    frame,
)
from poinsot.kernels.terms import COEFFICIENT, DIRECTION_A, DIRECTION_B


@kernel
def control(job: Job, number: int, n: int, state: Array) -> bool:
    """Call controllers that are due at the beginning of a step, and set its inputs.

    `number` is that of the step in the whole run, n in the block. Tell whether no law has failed.
    """
    table = job.sampling
    for c in range(table.controllers.shape[0]):
        if is_due(table, c, number):
            at = table.controllers[c]
            first, place = 0 + at[CHANNEL], 1 + at[GIVEN]
            for i in range(0 + at[CHANNELS_END] - at[CHANNEL]):
                table.given[place + i] = _measured(job, first + i, n, state)
            if n < table.trace.shape[0]:
                _note(table, c, n, job.times[n])
            decide(table, c, number, job.times[n])
    fine = hold(table, number)
    if n < table.trace.shape[0]:
        for k in range(table.held.size):
            table.trace[n, table.given.size + table.last.size + k] = table.held[k]
    for k in range(table.columns.size):
        job.u[n, table.columns[k]] = table.held[table.driving[k]]
    return fine


@kernel
def _note(table: Sampling, c: int, n: int, t: float) -> None:
    """Write down what a law is given at time t [s], and what it put out last."""
    at, row = table.controllers[c], table.trace[n]
    for i in range(0 + at[GIVEN], 0 + at[GIVEN_END]):
        row[i] = table.given[i]
    row[at[GIVEN]] = t
    for k in range(0 + at[OUTPUT], 0 + at[OUTPUTS_END]):
        row[table.given.size + k] = table.last[k]


@kernel
def _measured(job: Job, row: int, n: int, state: Array) -> float:
    """Return a measured number, at the beginning of step n of the block."""
    machine, table = job.machine, job.sampling
    at = table.channels[row]
    if at[KIND] == STATE:
        parts: Any = machine.parts
        return float(parts.PortNetworks.states[0, at[WHICH]])
    if at[KIND] == SIGNAL:
        return float(table.last[at[WHICH]])
    if at[KIND] == MEMORY:
        return float(table.given[at[WHICH]])
    if at[KIND] == REACTION:
        return _reaction(job, 0 + at[TERM], 0 + at[TERMS_END], n, state)
    if at[KIND] == ANGLE or at[KIND] == ANGLE_RATE:
        c, s, dc, ds = _turning(machine, at[WHICH], state)
        if at[KIND] == ANGLE_RATE:
            return float((c * ds - s * dc) / (c * c + s * s))
        whole = job.carried.turns[1, at[WHICH]]
        return float(atan2(s, c) + tau * whole + table.base[at[WHICH]])
    return measure(table, row, _moving(machine, at[A], state), _moving(machine, at[B], state))


@kernel
def _reaction(job: Job, first: int, last: int, n: int, state: Array) -> float:
    """Return a component of a reaction, of the multipliers of the step before."""
    table, places, total = job.sampling, job.places, 0.0
    h = table.past[0] if n == 0 else job.times[n] - job.times[n - 1]
    for k in range(first, last):
        of = table.factors[k]
        at = places[of[MULTIPLIER]]
        lam = job.carried.past_multiplier[at[0], 0, at[1]]
        if at[3] == 1:
            lam /= h
        a, b = state[of[FIRST], of[FIRST + 1]], state[of[SECOND], of[SECOND + 1]]
        total += table.pulls[k] * lam * a * b
    return total


@inline
def _moving(machine: Machine, b: int, state: Array) -> tuple[Vec, Mat, Vec, Mat]:
    """Return position and directors of a body, and their velocities."""
    r, D = frame(state, b)
    return r, D, vector(state, b, VELOCITY), _rates(machine.stabilised, machine.spins, b, D, state)


@inline
def _rates(stabilised: Array, spins: Spins | None, b: int, D: Mat, state: Array) -> Mat:
    """Return the velocities of directors at the beginning of a step."""
    if spins is not None:
        w = combine(vector(state, b, SPIN), D)
        slip = 2.0 * state[b, SLIP]
        return (
            axpy(slip, D[0], cross(w, D[0])),
            axpy(slip, D[1], cross(w, D[1])),
            axpy(slip, D[2], cross(w, D[2])),
        )
    U = matrix(state, b, RATES)
    if stabilised is not None:
        return U
    w = vector(state, b, SPUN)
    return add(cross(w, D[0]), U[0]), add(cross(w, D[1]), U[1]), add(cross(w, D[2]), U[2])


@kernel
def _turning(machine: Machine, k: int, state: Array) -> tuple[float, float, float, float]:
    """Return cosine and sine of the angle of a turn counter, and their rates."""
    c, s, dc, ds = 0.0, 0.0, 0.0, 0.0
    numbers, places = machine.turn_counter_terms
    for j in range(0 + machine.turn_counters[k, 0], machine.turn_counters[k, 1]):
        _, D_A, _, U_A = _moving(machine, places[j, A], state)
        _, D_B, _, U_B = _moving(machine, places[j, B], state)
        X_A, X_B = vector(numbers, j, DIRECTION_A), vector(numbers, j, DIRECTION_B)
        a, b, coefficient = combine(X_A, D_A), combine(X_B, D_B), numbers[j, COEFFICIENT]
        value = coefficient * dot(a, b)
        rate = coefficient * (dot(combine(X_A, U_A), b) + dot(a, combine(X_B, U_B)))
        if places[j, FORM] == COSINE:
            c, dc = c + value, dc + rate
        else:
            s, ds = s + value, ds + rate
    return c, s, dc, ds
