"""Networks in the compiled engine, solved by Newton's method in machine code.

`network_code` describes the arguments and results of the machine code. Laws that are called have
slopes by differences, which are kept from step to step: they are computed anew when a step needs
its matrix twice, or when they do not lead to a solution.
"""

from math import inf, nan

import numpy as np

from poinsot.kernels.algebra import Array
from poinsot.kernels.dense import solve_dense
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import VALUES as OF_LAW
from poinsot.kernels.laws import call_at
from poinsot.kernels.step import Step
from poinsot.parts.network_code import END as AT_END
from poinsot.parts.network_code import SIZES as OF_TERMS
from poinsot.parts.network_code import SLOPES as WITH_SLOPES
from poinsot.parts.network_code import VALUES, NetworkCode
from poinsot.parts.network_table import (
    ALGEBRAIC,
    ASKS,
    CALLED,
    CALLED_END,
    END,
    ENERGY,
    EQUATIONS,
    FINDS,
    GAVE,
    GIVEN,
    GIVES,
    IN,
    LOST,
    MEASURED,
    MEASURES,
    MIDDLE,
    OPEN,
    OUTPUTS,
    RESIDUAL,
    ROOM,
    ROW,
    ROWS_END,
    SLOPE,
    SLOPES,
    START,
    STATE,
    STATES_END,
    TAKES,
    TERMS,
    THROUGH,
    TOLD,
    Networks,
    outer_input,
)
from poinsot.ph.derivatives import SINGLE_STEP
from poinsot.ph.network import Network
from poinsot.ph.stages import EPS, ROUND_OFF

#: Residuals this small beside their terms are zero; where they fall no further they may be that
#: large, if they are not to be said to be unsolved.
SOLVED, ACCEPTED = 4 * EPS, 1e-10
#: A residual falls if it becomes less than this part of the one before.
FALLS = 0.1
#: So many iterations are tried.
LIMIT = 25
#: What room begins with: how often the matrix of a step was asked for, and whether slopes of laws
#: are known.
ASKED, KNOWN, FLAGS = 0, 1, 2


@kernel
def solve_by_code(table: Networks, k: int, step: Step, slopes: bool) -> None:
    """Solve for states and what laws give; set the inputs, and their slopes if these are wanted."""
    at, code, room = table.networks[k], table.codes[k], table.room
    count, n = 0 + at[ROWS_END] - at[ROW], 0 + at[STATES_END] - at[STATE]
    given, found, flags, first = 0 + code[GIVEN], 0 + code[FINDS], 0 + code[ROOM], 0 + at[ROW]
    unknowns, equations, place = n + given, 0 + code[EQUATIONS], _unknowns(table, k)
    _give(table, k, step)
    anew = slopes and room[flags + ASKED] > 0.0
    previous, residual, tried = inf, inf, False
    for iteration in range(LIMIT):
        _ask(table, k, found, WITH_SLOPES if slopes or unknowns > 0 else VALUES)
        # Without states only laws that read others are asked again, until all are known.
        if given > 0 and (n > 0 or iteration < 0 + code[CALLED_END] - code[CALLED]):
            _call(table, k, step.t, anew or room[flags + KNOWN] == 0.0)
            anew = False
        if previous == inf or tried:
            _ask(table, k, 0 + code[TERMS], OF_TERMS)
        residual = _residual(table, k)
        if residual - residual != 0.0:
            if iteration > 0:
                break
            _give_up_guess(table, k)
            continue
        stalled = residual > FALLS * previous
        if residual <= SOLVED or (stalled and residual <= ROUND_OFF):
            break
        if stalled and tried and residual <= ACCEPTED:
            break
        tried = anew = stalled
        previous = residual
        _equations(table, k, False)
        solve_dense(room, equations, unknowns, unknowns + 1)
        for i in range(unknowns):
            room[place + i] -= room[equations + i * (unknowns + 1) + unknowns]
    solved = residual <= ACCEPTED
    if not solved:
        room[flags + KNOWN] = 0.0
    for i in range(count):
        table.work[first + i, IN] = room[found + i] if solved else nan
    table.left[k, LOST] = room[found + count]
    if slopes:
        room[flags + ASKED] += 1.0
        _slopes(table, k)


@kernel
def _give(table: Networks, k: int, step: Step) -> None:
    """Set what machine code is given but for unknowns, which stay."""
    at, code, room = table.networks[k], table.codes[k], table.room
    first, n = 0 + at[STATE], 0 + at[STATES_END] - at[STATE]
    outer = 0 + at[ROWS_END] - at[ROW] + at[OPEN]
    place = 0 + code[TAKES]
    room[place], room[place + 1] = step.t, step.h
    for j in range(outer):
        room[place + 2 + j] = outer_input(table, k, j, step)
    for i in range(n):
        room[place + 2 + outer + i] = table.states[START, first + i]


@inline
def _ask(table: Networks, k: int, found: int, what: int) -> None:
    """Ask machine code for something, which it writes to the room from there on."""
    given = 0 + table.codes[k, TAKES]
    call_at(table.laws[k], table.room[given:].ctypes.data, table.room[found:].ctypes.data, what)


@inline
def _unknowns(table: Networks, k: int) -> int:
    """Return where unknowns begin in the room."""
    at, code = table.networks[k], table.codes[k]
    n = 0 + at[STATES_END] - at[STATE]
    return int(0 + code[TAKES] + 2 + at[ROWS_END] - at[ROW] + at[OPEN] + n)


@kernel
def _give_up_guess(table: Networks, k: int) -> None:
    """Begin with the states at the start."""
    at, code, room = table.networks[k], table.codes[k], table.room
    place, n, first = _unknowns(table, k), 0 + at[STATES_END] - at[STATE], 0 + at[STATE]
    for i in range(n):
        room[place + i] = table.states[START, first + i]
    for i in range(0 + code[GIVEN]):
        room[place + n + i] = 0.0


@kernel
def _call(table: Networks, k: int, t: float, differences: bool) -> None:
    """Call all laws at what they measure; find their slopes if these are wanted."""
    at, code, room = table.networks[k], table.codes[k], table.room
    count, n = 0 + at[ROWS_END] - at[ROW], 0 + at[STATES_END] - at[STATE]
    width = 0 + code[MEASURED]
    seen, gave = 0 + code[FINDS] + count + 1 + n, 0 + code[GAVE]
    asks, told, slopes = 0 + code[ASKS], 0 + code[TOLD], 0 + code[SLOPES]
    first = 0
    for law in range(0 + code[CALLED], 0 + code[CALLED_END]):
        measures, gives = 0 + table.called_sizes[law, MEASURES], 0 + table.called_sizes[law, GIVES]
        room[asks] = t
        for i in range(measures):
            room[asks + 1 + i] = room[seen + i]
        _call_one(table.called[law], room, asks, told, gives)
        for i in range(gives):
            room[gave + i] = room[told + i]
        for j in range(measures if differences else 0):
            value = room[asks + 1 + j]
            shifted = value + SINGLE_STEP * max(1.0, abs(value))
            room[asks + 1 + j] = shifted
            _call_one(table.called[law], room, asks, told, gives)
            for i in range(gives):
                slope = (room[told + i] - room[gave + i]) / (shifted - value)
                room[slopes + i * width + first + j] = slope
            room[asks + 1 + j] = value
        seen, gave, slopes = seen + measures, gave + gives, slopes + gives * width
        first += measures
    if differences:
        room[0 + code[ROOM] + KNOWN] = 1.0


@inline
def _call_one(law: int, room: Array, asks: int, told: int, gives: int) -> None:
    for i in range(gives):
        room[told + i] = nan
    call_at(law, room[asks:].ctypes.data, room[told:].ctypes.data, OF_LAW)


@kernel
def _residual(table: Networks, k: int) -> float:
    """Return the largest residual over the size of its terms; NaN if there is one."""
    at, code, room = table.networks[k], table.codes[k], table.room
    count, n = 0 + at[ROWS_END] - at[ROW], 0 + at[STATES_END] - at[STATE]
    width = 0 + code[MEASURED]
    found, place = 0 + code[FINDS], _unknowns(table, k)
    largest, whole = 0.0, room[found + count]
    for i in range(count):
        whole += room[found + i]
    for i in range(n):
        F = room[found + count + 1 + i]
        whole += F
        largest = max(largest, _ratio(F, room[0 + code[TERMS] + i]))
    for i in range(0 + code[GIVEN]):
        gave, gives = room[0 + code[GAVE] + i], room[place + n + i]
        size = abs(gave) + abs(gives)
        for j in range(width):
            slope = room[0 + code[SLOPES] + i * width + j]
            size += abs(slope * room[found + count + 1 + n + j])
        whole += gave
        largest = max(largest, _ratio(gives - gave, size))
    return largest if whole - whole == 0.0 else nan


@inline
def _ratio(a: float, size: float) -> float:
    return 0.0 if a == 0.0 else abs(a) / max(abs(a), size)


@kernel
def _equations(table: Networks, k: int, by_outputs: bool) -> None:
    """Write the equations for a correction, or for how unknowns follow from all outputs."""
    at, code, room = table.networks[k], table.codes[k], table.room
    count, n = 0 + at[ROWS_END] - at[ROW], 0 + at[STATES_END] - at[STATE]
    given, measured, found = 0 + code[GIVEN], 0 + code[MEASURED], 0 + code[FINDS]
    unknowns, place = n + given, _unknowns(table, k)
    by, width = count + unknowns, unknowns + (count if by_outputs else 1)
    derived = found + count + 1 + n + measured
    for i in range(unknowns):
        row = 0 + code[EQUATIONS] + i * width
        for j in range(by):
            slope = 0.0
            if i < n:
                slope = room[derived + (count + i) * by + j]
            else:
                slope = 1.0 if j == count + i else 0.0
                for l in range(measured):
                    law = room[0 + code[SLOPES] + (i - n) * measured + l]
                    slope -= law * room[derived + (count + n + l) * by + j]
            if j >= count:
                room[row + j - count] = slope
            elif by_outputs:
                room[row + unknowns + j] = slope
        if not by_outputs:
            residual = room[found + count + 1 + i]
            if i >= n:
                residual = room[place + i] - room[0 + code[GAVE] + i - n]
            room[row + unknowns] = residual


@kernel
def _slopes(table: Networks, k: int) -> None:
    """Set how inputs follow from outputs."""
    at, code, room = table.networks[k], table.codes[k], table.room
    count, n = 0 + at[ROWS_END] - at[ROW], 0 + at[STATES_END] - at[STATE]
    unknowns, first = n + code[GIVEN], 0 + code[EQUATIONS]
    by, width = count + unknowns, unknowns + count
    derived = 0 + code[FINDS] + count + 1 + n + code[MEASURED]
    _equations(table, k, True)
    solve_dense(room, first, unknowns, width)
    for i in range(count):
        for j in range(count):
            slope = room[derived + i * by + j]
            for l in range(unknowns):
                follows = room[first + l * width + unknowns + j]
                slope -= room[derived + i * by + count + l] * follows
            table.matrices[0 + at[SLOPE] + i * count + j] = slope


@kernel
def begin_by_code(table: Networks, k: int) -> None:
    """Begin a step where the one before has led to, and as far on."""
    at, code, x, room = table.networks[k], table.codes[k], table.states, table.room
    first, place = 0 + at[STATE], _unknowns(table, k)
    room[0 + code[ROOM] + ASKED] = 0.0
    for i in range(0 + at[STATES_END] - at[STATE]):
        room[place + i] = x[START, first + i] + x[RESIDUAL, first + i]


@kernel
def end_by_code(table: Networks, k: int) -> None:
    """Set the states after the step, what went through ports, and the energy."""
    at, code, x, room = table.networks[k], table.codes[k], table.states, table.room
    first, place, found = 0 + at[STATE], _unknowns(table, k), 0 + code[FINDS]
    for i in range(0 + at[STATES_END] - at[STATE]):
        x0, x1 = x[START, first + i], room[place + i]
        x[END, first + i], x[RESIDUAL, first + i] = x1, x1 - x0
        x[MIDDLE, first + i] = x1 if x[ALGEBRAIC, first + i] == 1.0 else 0.5 * (x0 + x1)
    _ask(table, k, found, AT_END)
    ports = 2 * at[THROUGH]
    for i in range(ports):
        table.left[k, OUTPUTS + i] = room[found + i]
    table.left[k, ENERGY] = room[found + ports]


def room_of(network: Network, code: NetworkCode, first: int, law: int) -> tuple[list[int], int]:
    """Return the columns of machine code whose room begins at a number, and where that ends.

    The first of its laws has the number `law` among all that are called.
    """
    count, n = network.size, network.system.n - network.size
    measured, given = (sum(sizes[k] for sizes in code.sizes) for k in (0, 1))
    takes, finds = code.function.sizes
    unknowns = n + given
    sizes = [FLAGS, takes, finds, n, given, given * measured, unknowns * (unknowns + count + 1)]
    sizes += [1 + max((m for m, _ in code.sizes), default=0), given]
    places = np.cumsum([first, *sizes]).tolist()
    return [law, law + len(code.laws), measured, given, *places[:-1]], places[-1]
