"""Linear networks over a step backwards, by their matrices; see `network_backward`."""

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel
from poinsot.kernels.step import Step
from poinsot.parts.network_table import (
    ALGEBRAIC,
    BY_OUT,
    COLUMN,
    IN,
    MATRICES,
    MIDDLE,
    NU,
    OPEN,
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


@kernel
def outputs_back_by_matrices(table: Networks, k: int, h: float, lam: Array) -> None:
    """Set the gradient by outputs of the one by states after the step, lam at its end."""
    at, m, work = table.networks[k], table.matrices, table.work
    n, count = at[STATES_END] - at[STATE], at[ROWS_END] - at[ROW]
    w = count + at[OPEN]
    B_ = at[MATRICES] + 3 * n * n
    _by_states(table, k, lam)
    _by_equations(table, k)
    for j in range(count):
        total = 0.0
        for i in range(n):
            total += h * m[B_ + i * w + j] * table.states[NU, at[STATE] + i]
        work[at[ROW] + j, BY_OUT] = total


@kernel
def back_by_matrices(
    table: Networks, by: Networks, k: int, step: Step, lam: Array, by_u: Array
) -> None:
    r"""Go back by a step, from the gradients sigma by states after it and p by inputs of rows.

    With :math:`\nu` by the equations of :math:`\xi`,

    .. math:: (2 E - h M)^\top \nu = \xi_\sigma - O_\xi^\top p, \qquad
              \eta = h B^\top \nu - O_w^\top p, \qquad \sigma \leftarrow 2 E^\top \nu - \sigma .
    """
    at, x, m, work = table.networks[k], table.states, table.matrices, table.work
    first, n = at[STATE], at[STATES_END] - at[STATE]
    row, count, h = at[ROW], at[ROWS_END] - at[ROW], step.h
    w, E = count + at[OPEN], at[MATRICES]
    M, B_ = E + n * n, E + 3 * n * n
    O = B_ + n * w
    _by_states(table, k, lam)
    for r in range(count):
        for j in range(n):
            x[RESIDUAL, first + j] -= m[O + r * (n + w) + j] * work[row + r, IN]
    _by_equations(table, k)
    for j in range(w):
        total = 0.0
        for i in range(n):
            total += h * m[B_ + i * w + j] * x[NU, first + i]
        for r in range(count):
            total -= m[O + r * (n + w) + n + j] * work[row + r, IN]
        if j < count:
            work[row + j, BY_OUT] = total
        elif by_u.size > 0:
            by_u[at[COLUMN] + at[THROUGH] - at[OPEN] + j - count] = total
    tail = lam.size - x.shape[1] + first
    for j in range(n):
        total = 0.0 if x[ALGEBRAIC, first + j] == 1.0 else -lam[tail + j]
        for i in range(n):
            total += 2.0 * m[E + i * n + j] * x[NU, first + i]
        lam[tail + j] = total
    s = by.matrices
    for i in range(n):
        nu = x[NU, first + i]
        for j in range(n):
            middle = x[MIDDLE, first + j]
            s[E + i * n + j] -= 2.0 * nu * (middle - x[START, first + j])
            s[M + i * n + j] += h * nu * middle
        for j in range(w):
            s[B_ + i * w + j] += h * nu * outer_input(table, k, j, step)
    for r in range(count):
        p = work[row + r, IN]
        for j in range(n + w):
            value = x[MIDDLE, first + j] if j < n else outer_input(table, k, j - n, step)
            s[O + r * (n + w) + j] -= p * value


@kernel
def _by_states(table: Networks, k: int, lam: Array) -> None:
    """Set what the gradient by states after the step, at the end of lam, is by the midpoint."""
    at, x = table.networks[k], table.states
    tail = lam.size - x.shape[1]
    for i in range(at[STATE], at[STATES_END]):
        x[RESIDUAL, i] = (1.0 if x[ALGEBRAIC, i] == 1.0 else 2.0) * lam[tail + i]


@kernel
def _by_equations(table: Networks, k: int) -> None:
    """Set the gradient by the equations of states at the midpoint of that by these."""
    at, x, m = table.networks[k], table.states, table.matrices
    first, n = at[STATE], at[STATES_END] - at[STATE]
    inverse = at[MATRICES] + 2 * n * n
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += m[inverse + j * n + i] * x[RESIDUAL, first + j]
        x[NU, first + i] = total
