"""Sampled controllers: what they measure, when their laws are called, and what they hold.

At the beginning of every so many steps a law is called once with the time and what is measured at
that instant; its outputs are limited, kept in a ring until a delay is over, and held.
"""

from math import inf, nan
from typing import NamedTuple

import numpy as np

from poinsot.kernels.algebra import Mat, Vec, add, combine, cross, dot, scale, sub, vector
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import call_law
from poinsot.kernels.tables import KIND, Addresses, Index1, Index2, Real1, Real2, Signed1
from poinsot.kernels.terms import COEFFICIENT, DIRECTION_A, NONE, POINT_A, POINT_B

#: Kinds of measured numbers: an angle over turns, and its rate; a displacement along a direction of
#: body A or of the world, and its rate; of body A: position, velocity, a column of the rotation,
#: angular velocity; a state of a network; what controllers put out last, and a state of one; the
#: reaction of a joint.
ANGLE, ANGLE_RATE, OFFSET, OFFSET_RATE, AXIS, AXIS_RATE = range(6)
POSITION, VELOCITY, ROTATION, SPIN, STATE, SIGNAL, MEMORY, REACTION = range(6, 14)
#: Columns of channels, after kind, A and B: component; turn counter, state, output or number given.
COMPONENT, WHICH = 3, 4
#: Of reactions: the first term and the one after the last.
TERM, TERMS_END = COMPONENT, WHICH
#: Columns of terms of reactions: the multiplier, and body and column in a state of two factors.
MULTIPLIER, FIRST, SECOND = 0, 1, 3
#: Columns of controllers: steps between samples, steps of delay, places in the ring; the first
#: channel and the one after the last; the first number given and the first of its states, and the
#: one after the last; the first number found; the first output and the one after the last; the
#: first number of the ring.
EVERY, DELAY, SLOTS, CHANNEL, CHANNELS_END, GIVEN, STATES, GIVEN_END = range(8)
FOUND, OUTPUT, OUTPUTS_END, RING = range(8, 12)
#: Columns of outputs: least and greatest value, and by how much it may change between samples.
LOW, HIGH, CHANGE = range(3)


class Sampling(NamedTuple):
    """Controllers, one row each; their laws; what these are given and find; what is held.

    `sampled` (controllers,) is the number of the step in which each was called last, -1: never;
    `held` (outputs,) is what they put out now, of which those that are `driving` go into `columns`
    of u, `last` what they decided upon last. Angles of turn counters begin at `base` [rad].
    Reactions are sums of `pulls` (terms,), each times a multiplier and two coordinates of frames by
    `factors` (terms, 5), of the step before, whose size `past` (1,) [s] is known where a block of
    steps begins.

    If `trace` (steps, ...) has a row for a step, what laws were given there is written to it, then
    `last` before they were called, then `held`.
    """

    controllers: Index2
    laws: Addresses
    sampled: Signed1
    given: Real1
    found: Real1
    ring: Real1
    limits: Real2
    columns: Index1
    driving: Index1
    held: Real1
    last: Real1
    numbers: Real2
    channels: Index2
    base: Real1
    pulls: Real1
    factors: Index2
    past: Real1
    trace: Real2


def no_controllers() -> Sampling:
    """Return the tables of no controllers."""
    none, nowhere = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Sampling(
        controllers=np.zeros((0, 12), dtype=np.uint32),
        laws=nowhere,
        sampled=nowhere,
        given=none,
        found=none,
        ring=none,
        limits=np.zeros((0, 3)),
        columns=np.zeros(0, dtype=np.uint32),
        driving=np.zeros(0, dtype=np.uint32),
        held=none,
        last=none,
        numbers=np.zeros((0, 13)),
        channels=np.zeros((0, 5), dtype=np.uint32),
        base=none,
        pulls=none,
        factors=np.zeros((0, 5), dtype=np.uint32),
        past=np.zeros(1),
        trace=np.zeros((0, 0)),
    )


@inline
def is_due(table: Sampling, c: int, number: int) -> bool:
    """Tell whether a controller is to be called at the beginning of that step."""
    return bool(number % table.controllers[c, EVERY] == 0 and table.sampled[c] != number)


@kernel
def decide(table: Sampling, c: int, number: int, t: float) -> None:
    """Call a law at time t [s], once what it measures is in place; limit its outputs, keep them."""
    at = table.controllers[c]
    given, found = table.given, table.found
    first, outputs = 0 + at[FOUND], at[OUTPUTS_END] - at[OUTPUT]
    states = at[GIVEN_END] - at[STATES]
    given[at[GIVEN]] = t
    for i in range(outputs + states):
        found[first + i] = nan
    call_law(
        table.laws[c],
        given[at[GIVEN] : at[GIVEN_END]],
        found[first : first + outputs + states],
        False,
    )
    table.sampled[c] = number
    slot = (number // at[EVERY]) % at[SLOTS]
    for i in range(outputs):
        k = at[OUTPUT] + i
        change, value = table.limits[k, CHANGE], found[first + i]
        if change < inf:
            value = min(max(value, table.last[k] - change), table.last[k] + change)
        value = min(max(value, table.limits[k, LOW]), table.limits[k, HIGH])
        if found[first + i] - found[first + i] != 0.0:
            value = nan
        table.last[k] = value
        table.ring[at[RING] + slot * outputs + i] = value
    total = 0.0
    for i in range(outputs + states):
        total += found[first + i]
    if total - total == 0.0:
        for i in range(states):
            given[at[STATES] + i] = found[first + outputs + i]


@kernel
def hold(table: Sampling, number: int) -> bool:
    """Set what controllers put out in that step; tell whether all that laws found is finite."""
    total = 0.0
    for c in range(table.controllers.shape[0]):
        at = table.controllers[c]
        outputs = at[OUTPUTS_END] - at[OUTPUT]
        if number >= at[DELAY]:
            slot = ((number - at[DELAY]) // at[EVERY]) % at[SLOTS]
            for i in range(outputs):
                table.held[at[OUTPUT] + i] = table.ring[at[RING] + slot * outputs + i]
    for i in range(table.found.size):
        total += table.found[i]
    return bool(total - total == 0.0)


@kernel
def measure(
    table: Sampling,
    row: int,
    first: tuple[Vec, Mat, Vec, Mat],
    second: tuple[Vec, Mat, Vec, Mat],
) -> float:
    """Return a measured number, of the frames of bodies A and B with their rates."""
    numbers, at = table.numbers, table.channels[row]
    (r_A, D_A, v_A, U_A), (r_B, D_B, v_B, U_B) = first, second
    kind, found = at[KIND], NONE
    if kind < POSITION:
        X_A, X_B = vector(numbers, row, POINT_A), vector(numbers, row, POINT_B)
        a, da = vector(numbers, row, DIRECTION_A), NONE
        if kind < AXIS:
            a, da = combine(a, D_A), combine(a, U_A)
        r = sub(add(r_B, combine(X_B, D_B)), add(r_A, combine(X_A, D_A)))
        c = numbers[row, COEFFICIENT]
        dr = sub(add(v_B, combine(X_B, U_B)), add(v_A, combine(X_A, U_A)))
        if kind % 2 == 0:
            return float(c * dot(a, r))
        return float(c * (dot(a, dr) + dot(da, r)))
    if kind == POSITION:
        found = add(r_A, combine(vector(numbers, row, POINT_A), D_A))
    elif kind == VELOCITY:
        found = add(v_A, combine(vector(numbers, row, POINT_A), U_A))
    elif kind == ROTATION:
        found = combine(vector(numbers, row, DIRECTION_A), D_A)
    else:
        spun = add(cross(D_A[0], U_A[0]), add(cross(D_A[1], U_A[1]), cross(D_A[2], U_A[2])))
        found = scale(0.5, spun)
    if at[COMPONENT] == 0:
        return found[0]
    return found[1] if at[COMPONENT] == 1 else found[2]
