"""The table that kernels have of networks at the ports of a mechanism."""

from typing import NamedTuple

from poinsot.kernels.kernel import inline
from poinsot.kernels.step import Step
from poinsot.kernels.tables import Addresses, Index2, Real2, Written1, Written2

#: Columns of work: force n on B, torques on A and B; output; input. On the way back also slopes of
#: the output by all unknowns of A and B, and the gradient by the output.
FORCE, TORQUE_A, TORQUE_B, OUT, IN = 0, 3, 6, 9, 10
SLOPE_A, SLOPE_B, BY_OUT = 11, 17, 23
#: Columns of rows, after kind, A and B: the component of a load, the input; nodes of translation
#: and rotation of A and B where forces act, and those that say how they move.
COMPONENT, INPUT, MOMENTA, MOTIONS = 3, 4, 5, 9
#: Columns of networks: rows from, to; states from, to; how many inputs of ports that are left
#: open; the first number of matrices, and that of du/dy; the first pair of rows; the first column
#: of u and y, with how many numbers pass through ports; by what it is solved.
ROW, ROWS_END, STATE, STATES_END, OPEN, MATRICES, SLOPE, PAIRS, COLUMN, THROUGH, WAY = range(11)
#: Ways to solve a network: by its matrices, by machine code of its equations, in Python.
BY_MATRICES, BY_CODE, BY_CALL = range(3)
#: Rows of states: at the start, at the midpoint, at the end; residuals, or what a step is expected
#: to change; 1 where algebraic; gradients by their equations.
START, MIDDLE, END, RESIDUAL, ALGEBRAIC, NU = range(6)
#: Columns of what a network leaves, before its ports: energy at the end [J], power lost [W].
ENERGY, LOST, OUTPUTS = 0, 1, 2
#: Columns of machine code: laws that it leaves to be called from, to; how many numbers these
#: measure and give; where its room begins, and in it what it is given and finds, the sizes of
#: equations, what laws gave, their slopes, equations, what a law is given and finds.
CALLED, CALLED_END, MEASURED, GIVEN, ROOM, TAKES, FINDS, TERMS, GAVE, SLOPES, EQUATIONS = range(11)
ASKS, TOLD = 11, 12
#: Columns of these laws: how many numbers each measures and gives.
MEASURES, GIVES = 0, 1


class Networks(NamedTuple):
    """Networks: rows with their numbers and room for them, states, matrices, tiles of pairs.

    `left` holds what a network leaves after a step: its energy, the power lost, and inputs and
    outputs of its ports, one row each. `laws` are the addresses of machine code and of functions of
    Python; `codes` are about machine code, `room` is its room, and `called` are laws that it leaves
    to be called.

    On the way back `backs` are addresses of machine code of slopes by what a step begins with, and
    `products` of what is derived, both of every network made of expressions; `others` are those of
    models near by, as many for each model, of which `by_others` is the gradient. `given` and `told`
    are room for these.
    """

    numbers: Real2
    places: Index2
    work: Written2
    networks: Index2
    states: Written2
    matrices: Written1
    left: Written2
    pairs: Index2
    laws: Addresses
    codes: Index2
    room: Written1
    called: Addresses
    called_sizes: Index2
    backs: Addresses
    products: Addresses
    others: Addresses
    by_others: Written1
    given: Written1
    told: Written1


@inline
def outer_input(table: Networks, k: int, j: int, step: Step) -> float:
    """Return number j of w = (outputs of the rows, inputs of ports that are left open)."""
    at = table.networks[k]
    count = at[ROWS_END] - at[ROW]
    if j < count:
        return float(table.work[at[ROW] + j, OUT])
    return float(step.u[at[COLUMN] + at[THROUGH] - at[OPEN] + j - count])
