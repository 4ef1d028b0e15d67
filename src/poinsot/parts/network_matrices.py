"""Linear networks in the compiled engine, by their matrices."""

import numpy as np

from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.parts.network_table import (
    ALGEBRAIC,
    END,
    ENERGY,
    IN,
    LOST,
    MATRICES,
    MIDDLE,
    OPEN,
    OUTPUTS,
    RESIDUAL,
    ROW,
    ROWS_END,
    START,
    STATE,
    STATES_END,
    THROUGH,
    Networks,
    outer_input,
)
from poinsot.ph.linear_network import LinearNetwork
from poinsot.ph.matrices import Vector

#: So often is a solution refined.
REFINED = 2


@kernel
def solve_by_matrices(table: Networks, k: int, step: Step) -> None:
    """Solve for the states at the midpoint, 2 E (xi - x0) = h (M xi + B w), and set inputs."""
    at, x, m = table.networks[k], table.states, table.matrices
    first, n = at[STATE], at[STATES_END] - at[STATE]
    count = at[ROWS_END] - at[ROW]
    w, h = count + at[OPEN], step.h
    E = at[MATRICES]
    M, inverse = E + n * n, E + 2 * n * n
    B_ = E + 3 * n * n
    O = B_ + n * w
    P = O + (count + 2 * at[THROUGH]) * (n + w)
    for _ in range(REFINED):
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += 2.0 * m[E + i * n + j] * (x[START, first + j] - x[MIDDLE, first + j])
                total += h * m[M + i * n + j] * x[MIDDLE, first + j]
            for j in range(w):
                total += h * m[B_ + i * w + j] * outer_input(table, k, j, step)
            x[RESIDUAL, first + i] = total
        for i in range(n):
            for j in range(n):
                x[MIDDLE, first + i] += m[inverse + i * n + j] * x[RESIDUAL, first + j]
    for i in range(count):
        table.work[at[ROW] + i, IN] = _row_of(table, k, O + i * (n + w), n, w, step)
    lost = 0.0
    for i in range(n + w):
        s = x[MIDDLE, first + i] if i < n else outer_input(table, k, i - n, step)
        lost += s * _row_of(table, k, P + i * (n + w), n, w, step)
    table.left[k, LOST] = lost


@inline
def _row_of(table: Networks, k: int, place: int, n: int, w: int, step: Step) -> float:
    """Return a row of a matrix, from that place on, times s = (xi, w)."""
    m, first, total = table.matrices, table.networks[k, STATE], 0.0
    for j in range(n):
        total += m[place + j] * table.states[MIDDLE, first + j]
    for j in range(w):
        total += m[place + n + j] * outer_input(table, k, j, step)
    return total


@kernel
def end_by_matrices(table: Networks, k: int, step: Step) -> None:
    """Set the states after the step, what went through ports, and the energy."""
    at, x, m = table.networks[k], table.states, table.matrices
    first, n = at[STATE], at[STATES_END] - at[STATE]
    count, through = at[ROWS_END] - at[ROW], at[THROUGH]
    w = count + at[OPEN]
    O = at[MATRICES] + 3 * n * n + n * w + count * (n + w)
    Q = O + 2 * through * (n + w) + (n + w) * (n + w)
    for i in range(n):
        middle, x0 = x[MIDDLE, first + i], x[START, first + i]
        x[END, first + i] = middle if x[ALGEBRAIC, first + i] == 1.0 else 2.0 * middle - x0
    for i in range(2 * through):
        table.left[k, OUTPUTS + i] = _row_of(table, k, O + i * (n + w), n, w, step)
    energy = 0.0
    for i in range(n):
        for j in range(n):
            energy += 0.5 * x[END, first + i] * m[Q + i * n + j] * x[END, first + j]
    table.left[k, ENERGY] = energy


def matrices_of(linear: LinearNetwork, h: float) -> Vector:
    """Return all matrices of a linear network one after the other, in the order of the kernels."""
    linear = linear.over(h)
    inverse, S = linear.solved(h)
    matrices = linear.E, linear.M, inverse, linear.B, linear.O, linear.P, linear.Q, S
    return np.concatenate([each.reshape(-1) for each in matrices])
