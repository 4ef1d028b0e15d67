r"""Networks at ports over a step backwards, see `engine.backward`.

A network makes inputs u(x0, y) and states at the end x1(x0, y) of those at the start and the
outputs y of its ports. With the gradients sigma by x1 and mu by residuals, of which -h b is that by
an input along b, and p = F_u^T mu = -h b·mu

.. math:: K^\top \mu = \dots + \frac{\partial y}{\partial w}^\top x_{1, y}^\top \sigma, \qquad
          \eta = x_{1, y}^\top \sigma - u_y^\top p, \qquad
          \sigma \leftarrow x_{1, x_0}^\top \sigma - u_{x_0}^\top p

where K has h b u_y y_w in it, w are the unknowns, and eta is the gradient by y: what it is by
frames and numbers of rows follows from `port_slopes`.
"""

from poinsot.kernels.algebra import Array, add_tile, dot, gather, outer, scale, sub, vector
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.parts.network_matrices import solve_by_matrices
from poinsot.parts.network_matrices_backward import back_by_matrices, outputs_back_by_matrices
from poinsot.parts.network_steps import begin_by_code, solve_by_code
from poinsot.parts.network_steps_backward import back_by_code, outputs_back_by_code
from poinsot.parts.network_table import (
    ALGEBRAIC,
    BY_CODE,
    BY_MATRICES,
    BY_OUT,
    END,
    FORCE,
    IN,
    INPUT,
    MIDDLE,
    MOMENTA,
    MOTIONS,
    PAIRS,
    RESIDUAL,
    ROW,
    ROWS_END,
    SLOPE,
    SLOPE_A,
    SLOPE_B,
    START,
    TORQUE_A,
    TORQUE_B,
    WAY,
    Networks,
)
from poinsot.parts.port_rows import look_along
from poinsot.parts.port_slopes import give_outputs, slope_by_unknowns


@kernel
def recall_networks(table: Networks, state: Array, x0: Array, x1: Array) -> None:
    """Set the states over a step, which come last in those of the run."""
    x = table.states
    first = x0.size - x.shape[1]
    for i in range(x.shape[1]):
        start, end = x0[first + i], x1[first + i]
        x[START, i], x[END, i], x[RESIDUAL, i] = start, end, end - start
        x[MIDDLE, i] = end if x[ALGEBRAIC, i] == 1.0 else 0.5 * (start + end)
    for k in range(table.networks.shape[0]):
        if table.networks[k, WAY] == BY_CODE:
            begin_by_code(table, k)


@kernel
def close_ports_exactly(table: Networks, step: Step, tiles: Array) -> None:
    """Set the inputs of ports, and add to tiles, with how rows turn."""
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        for i in range(at[ROW], at[ROWS_END]):
            look_along(table, i, step)
            slope_by_unknowns(table, i, step)
        if at[WAY] == BY_MATRICES:
            solve_by_matrices(table, k, step)
        else:
            solve_by_code(table, k, step, True)
        for i in range(at[ROW], at[ROWS_END]):
            step.u[table.places[i, INPUT]] = table.work[i, IN]
        _couple(table, k, step, tiles)


@kernel
def _couple(table: Networks, k: int, step: Step, tiles: Array) -> None:
    """Add -h b S y_w."""
    at, work = table.networks[k], table.work
    count, S = at[ROWS_END] - at[ROW], at[SLOPE]
    for i in range(count):
        for j in range(count):
            gain = -step.h * table.matrices[S + i * count + j]
            if gain != 0.0:
                a, b = at[ROW] + i, at[ROW] + j
                pairs = table.pairs[at[PAIRS] + i * count + j]
                _add_row(tiles, pairs, 0, work, a, FORCE, -gain, b)
                _add_row(tiles, pairs, 4, work, a, TORQUE_A, gain, b)
                _add_row(tiles, pairs, 8, work, a, FORCE, gain, b)
                _add_row(tiles, pairs, 12, work, a, TORQUE_B, gain, b)


@inline
def _add_row(
    tiles: Array, pairs: Array, first: int, work: Array, a: int, at: int, gain: float, b: int
) -> None:
    """Add a vector of row a times the slopes of row b by (v_A, w_A, v_B, w_B)."""
    along = scale(gain, vector(work, a, at))
    add_tile(tiles, pairs[first], outer(along, vector(work, b, SLOPE_A)))
    add_tile(tiles, pairs[first + 1], outer(along, vector(work, b, SLOPE_A + 3)))
    add_tile(tiles, pairs[first + 2], outer(along, vector(work, b, SLOPE_B)))
    add_tile(tiles, pairs[first + 3], outer(along, vector(work, b, SLOPE_B + 3)))


@kernel
def begin_networks_back(table: Networks, step: Step, lam: Array, mu: Array) -> None:
    """Add to mu what lam, by states after the step, is by the unknowns of bodies."""
    work, places = table.work, table.places
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        if at[WAY] == BY_MATRICES:
            outputs_back_by_matrices(table, k, step.h, lam)
        else:
            outputs_back_by_code(table, k, lam)
        for i in range(at[ROW], at[ROWS_END]):
            _give(work, places, i, work[i, BY_OUT], mu)


@kernel
def give_ends_of_networks(table: Networks, step: Step, ends: Array) -> None:
    """Subtract what the gradients by outputs are by the unknowns of the step taken back."""
    for i in range(table.work.shape[0]):
        slope_by_unknowns(table, i, step)
        _give(table.work, table.places, i, -table.work[i, BY_OUT], ends)


@inline
def _give(work: Array, places: Array, i: int, eta: float, to: Array) -> None:
    """Add to nodes what eta times the output of row i is by unknowns."""
    gather(to, places[i, MOTIONS], 0, scale(eta, vector(work, i, SLOPE_A)))
    gather(to, places[i, MOTIONS + 1], 0, scale(eta, vector(work, i, SLOPE_A + 3)))
    gather(to, places[i, MOTIONS + 2], 0, scale(eta, vector(work, i, SLOPE_B)))
    gather(to, places[i, MOTIONS + 3], 0, scale(eta, vector(work, i, SLOPE_B + 3)))


@kernel
def end_networks_back(
    table: Networks,
    by: Networks,
    step: Step,
    lam: Array,
    mu: Array,
    frames: Array,
    by_u: Array,
) -> None:
    """Make lam by states after the step that by those before it; set the gradient by inputs."""
    work = table.work
    for k in range(table.networks.shape[0]):
        at = table.networks[k]
        for i in range(at[ROW], at[ROWS_END]):
            work[i, IN] = _by_input(table, i, step.h, mu)
            if by_u.size > 0:
                by_u[table.places[i, INPUT]] = 0.0
        if at[WAY] == BY_MATRICES:
            back_by_matrices(table, by, k, step, lam, by_u)
        else:
            back_by_code(table, k, lam, by_u)
        for i in range(at[ROW], at[ROWS_END]):
            give_outputs(table, by, i, work[i, BY_OUT], step, frames)


@inline
def _by_input(table: Networks, i: int, h: float, mu: Array) -> float:
    """Return what mu times residuals is by the input of row i."""
    work, places = table.work, table.places
    T_A, R_A = vector(mu, places[i, MOMENTA], 0), vector(mu, places[i, MOMENTA + 1], 0)
    T_B, R_B = vector(mu, places[i, MOMENTA + 2], 0), vector(mu, places[i, MOMENTA + 3], 0)
    along = dot(vector(work, i, FORCE), sub(T_B, T_A))
    turn = dot(vector(work, i, TORQUE_A), R_A) + dot(vector(work, i, TORQUE_B), R_B)
    return -h * (along + turn)
