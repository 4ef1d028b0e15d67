r"""Networks of expressions over a step backwards, in machine code; see `network_backward`.

At the solution of F(w, y, x0) = 0, with inputs u(w, y, x0) and states w at the end of a step,

.. math:: F_w^\top \nu = \sigma - u_w^\top p, \qquad \eta = -F_y^\top \nu - u_y^\top p, \qquad
          \sigma \leftarrow -(\nu \cdot F + p \cdot u)_{x_0} .

Slopes by w and y are those of Newton's method; machine code of its own has those by x0, by inputs
of ports that are left open, and the product itself, which tells what other numbers of it change.
"""

from poinsot.kernels.algebra import Array
from poinsot.kernels.dense import solve_dense
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.laws import VALUES, call_at
from poinsot.parts.network_table import (
    BY_OUT,
    COLUMN,
    EQUATIONS,
    FINDS,
    IN,
    MEASURED,
    NU,
    OPEN,
    ROW,
    ROWS_END,
    STATE,
    STATES_END,
    TAKES,
    THROUGH,
    Networks,
)


@kernel
def outputs_back_by_code(table: Networks, k: int, lam: Array) -> None:
    """Set the gradient by outputs of the one by states after the step, lam at its end."""
    at = table.networks[k]
    for i in range(at[ROW], at[ROWS_END]):
        table.work[i, IN] = 0.0
    _by_equations(table, k, lam)
    _by_outputs(table, k)


@kernel
def back_by_code(table: Networks, k: int, lam: Array, by_u: Array) -> None:
    """Go back by a step, from the gradients sigma by states after it and p by inputs of rows."""
    at, given, told = table.networks[k], table.given, table.told
    first, n = 0 + at[STATE], 0 + at[STATES_END] - at[STATE]
    row, count, open_ = 0 + at[ROW], 0 + at[ROWS_END] - at[ROW], 0 + at[OPEN]
    _by_equations(table, k, lam)
    _by_outputs(table, k)
    takes, known = 0 + table.codes[k, TAKES], 2 + count + open_ + 2 * n
    for i in range(known):
        given[i] = table.room[takes + i]
    for i in range(n):
        given[known + i] = table.states[NU, first + i]
    for i in range(count):
        given[known + n + i] = table.work[row + i, IN]
    _ask(table, table.backs[k])
    if by_u.size > 0:
        for j in range(open_):
            by_u[0 + at[COLUMN] + at[THROUGH] - open_ + j] = -told[j]
    tail = lam.size - table.states.shape[1] + first
    for j in range(n):
        lam[tail + j] = -told[open_ + j]
    _by_others(table, k)


@kernel
def _by_others(table: Networks, k: int) -> None:
    """Add what the product is in models near by to the gradient by these."""
    networks, own, known = table.networks.shape[0], 0.0, False
    for model in range(table.by_others.size):
        address = table.others[model * networks + k]
        if address != table.products[k]:
            if not known:
                _ask(table, table.products[k])
                own, known = table.told[0], True
            _ask(table, address)
            table.by_others[model] -= table.told[0] - own


@inline
def _ask(table: Networks, address: int) -> None:
    call_at(address, table.given.ctypes.data, table.told.ctypes.data, VALUES)


@kernel
def _by_equations(table: Networks, k: int, lam: Array) -> None:
    """Set the gradient by equations of those by states after the step, and by inputs of rows."""
    at, code, room, work = table.networks[k], table.codes[k], table.room, table.work
    first, n = 0 + at[STATE], 0 + at[STATES_END] - at[STATE]
    row, count = 0 + at[ROW], 0 + at[ROWS_END] - at[ROW]
    by, width, equations = count + n, n + 1, 0 + code[EQUATIONS]
    derived = 0 + code[FINDS] + count + 1 + n + code[MEASURED]
    tail = lam.size - table.states.shape[1] + first
    for i in range(n):
        total = lam[tail + i]
        for r in range(count):
            total -= room[derived + r * by + count + i] * work[row + r, IN]
        for j in range(n):
            room[equations + i * width + j] = room[derived + (count + j) * by + count + i]
        room[equations + i * width + n] = total
    solve_dense(room, equations, n, width)
    for i in range(n):
        table.states[NU, first + i] = room[equations + i * width + n]


@kernel
def _by_outputs(table: Networks, k: int) -> None:
    """Set the gradient by outputs of those by equations, and by inputs of rows."""
    at, code, room, work = table.networks[k], table.codes[k], table.room, table.work
    first, n = 0 + at[STATE], 0 + at[STATES_END] - at[STATE]
    row, count = 0 + at[ROW], 0 + at[ROWS_END] - at[ROW]
    by, derived = count + n, 0 + code[FINDS] + count + 1 + n + code[MEASURED]
    for j in range(count):
        total = 0.0
        for i in range(n):
            total -= room[derived + (count + i) * by + j] * table.states[NU, first + i]
        for r in range(count):
            total -= room[derived + r * by + j] * work[row + r, IN]
        work[row + j, BY_OUT] = total
