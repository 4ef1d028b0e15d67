r"""Sampled controllers on the way back: from gradients by what they hold to what they measure.

At the beginning of a step a law finds its outputs u and its next states from what it is given, the
time, what it measures, y(x), and its states:

.. math:: \nu_y = u_y^\top \nu_u, \qquad \lambda \leftarrow \lambda + y_x^\top \nu_y .

Outputs at a limit depend on nothing, or on those before if the limit is one of rates.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from poinsot.engine.job import Machine
from poinsot.engine.measure_backward import measure_back
from poinsot.kernels.algebra import (
    Array,
)
from poinsot.kernels.kernel import kernel
from poinsot.kernels.laws import call_law
from poinsot.kernels.sampling import (
    CHANGE,
    CHANNEL,
    DELAY,
    EVERY,
    GIVEN,
    GIVEN_END,
    HIGH,
    LOW,
    MEMORY,
    OUTPUT,
    OUTPUTS_END,
    RING,
    SIGNAL,
    SLOTS,
    STATES,
    WHICH,
    Sampling,
    no_controllers,
)
from poinsot.kernels.tables import KIND, Addresses, Index2, Real1, Real2

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


def take_decisions(decisions: Decisions, first: int, last: int) -> Decisions:
    """Return those of some of the steps."""
    rows = slice(first, last)
    return decisions._replace(
        trace=decisions.trace[rows],
        number=decisions.number + first,
        by_outputs=decisions.by_outputs[rows],
        by_states=decisions.by_states[rows],
    )


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
        row = 0 + at[CHANNEL] + j
        if first + 1 + j >= at[STATES]:
            decisions.given[first + 1 + j] += nu
        elif table.channels[row, KIND] == SIGNAL:
            decisions.last[table.channels[row, WHICH]] += nu
        elif table.channels[row, KIND] == MEMORY:
            decisions.given[table.channels[row, WHICH]] += nu
        else:
            measure_back(table, machine, places, row, nu, x, lam)


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
