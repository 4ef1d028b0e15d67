r"""Rigid bodies in the stabilised form over a step backwards, see `engine.backward`.

A step leads from (r, v) and directors that turn with w to the same at its end, by unknowns that are
v and w of the motion and velocities at its end. With a = h w / 2 of the motion, a small turn of its
end is

    (h / (1 + a·a)) (1 + [a]) dw

and one of its start, with the end held, that of -h and -a. Directors take gradients g by their
turn and g' by their angular velocity w as

    (g - c) x d_i / 2,   g' x (w x d_i) / 2 with c what the second term gives to turns.
"""

from poinsot.bodies.directors_backward import (
    TURN,
    matrix_at,
    put_at,
    put_matrix_at,
    spin_of,
    turn_at_start,
    vector_at,
)
from poinsot.bodies.in_directors import stabilised_rotation
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    cross,
    dot,
    gather,
    matrix,
    minus,
    plus,
    put,
    put_matrix,
    scale,
    sub,
    times,
    vector,
)
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.tables import (
    COORDINATES,
    DIRECTORS,
    KR,
    KT,
    POSITION,
    RATES,
    VELOCITY,
    Part,
    R,
    T,
    rates,
    twist,
    twist_at_end,
)
from poinsot.kernels.terms import NONE

ONES = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@kernel
def load_stabilised(
    places: Array, h: float, x0: Array, x1: Array, state: Array, ahead: Array, stage: Array
) -> None:
    """Set both ends of a step, and its unknowns, from states (q, v, ...)."""
    count = state.shape[0] - 1
    n, ground = 0 + places[count, COORDINATES], places[count, R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        r0, r1 = vector_at(x0, q), vector_at(x1, q)
        put(state, b, POSITION, r0)
        put(ahead, b, POSITION, r1)
        put(state, b, VELOCITY, vector_at(x0, q + n))
        put(ahead, b, VELOCITY, vector_at(x1, q + n))
        put(stage, b, tables.V, scale(1.0 / h, sub(r1, r0)))
        put(stage, b, tables.V1, vector_at(x1, q + n))
        if places[b, R] < ground:
            D0, D1 = matrix_at(x0, q + TURN), matrix_at(x1, q + TURN)
            V1 = matrix_at(x1, q + n + TURN)
            put_matrix(state, b, DIRECTORS, D0)
            put_matrix(ahead, b, DIRECTORS, D1)
            put_matrix(state, b, RATES, matrix_at(x0, q + n + TURN))
            put_matrix(ahead, b, RATES, V1)
            gain = times(1.0 / h, minus(D1, D0))
            put(stage, b, tables.W, spin_of(times(0.5, plus(D0, D1)), gain))
            put(stage, b, tables.W1, scale(0.5, _moment(D1, V1)))


@kernel
def begin_stabilised(
    places: Array, h: float, ahead: Array, stage: Array, lam: Array, mu: Array
) -> None:
    """Go from the gradient lam by the end of a step to that by its unknowns, mu (nodes, 4)."""
    count = stage.shape[0] - 1
    n, ground = 0 + places[count, COORDINATES], places[count, R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        put(mu, places[b, KT], 0, scale(h, vector_at(lam, q)))
        put(mu, places[b, T], 0, vector_at(lam, q + n))
        if places[b, R] < ground:
            (_, w), (_, w1) = twist(stage, b), twist_at_end(stage, b)
            D1, a = matrix(ahead, b, DIRECTORS), scale(0.5 * h, w)
            by_D1, by_V1 = matrix_at(lam, q + TURN), matrix_at(lam, q + n + TURN)
            turn = add(_moment(D1, by_D1), _moment(D1, _crossed(by_V1, w1)))
            put(mu, places[b, KR], 0, scale(h / (1.0 + dot(a, a)), sub(turn, cross(a, turn))))
            put(mu, places[b, R], 0, _moment(D1, by_V1))


@kernel
def add_numbers(bodies: Part, by: Array, h: float, state: Array, stage: Array, mu: Array) -> None:
    """Subtract mu times the derivatives of residuals by the numbers of bodies."""
    numbers, places = bodies
    ground = places[numbers.shape[0], R]
    for b in range(numbers.shape[0]):
        (v, w), (v1, w1), (v0, V0) = twist(stage, b), twist_at_end(stage, b), rates(state, b)
        motion, push = vector(mu, places[b, KT], 0), vector(mu, places[b, T], 0)
        slope = dot(motion, sub(v, scale(0.5, add(v0, v1)))) + dot(push, sub(v1, v0))
        by[b, tables.MASS2] -= 0.5 * slope
        gather(by, b, tables.WEIGHT, scale(-h, push))
        if places[b, R] < ground:
            D0, D = matrix(state, b, DIRECTORS), matrix(stage, b, DIRECTORS)
            turn, spin = vector(mu, places[b, KR], 0), vector(mu, places[b, R], 0)
            gather(by, b, tables.EULER2, scale(-0.5, _by_euler(w, w1, D0, D, V0, turn, spin)))


@arithmetic
def _by_euler(w: Vec, w1: Vec, D0: Mat, D: Mat, V0: Mat, turn: Vec, spin: Vec) -> Vec:
    """Return what the residuals of rotation, times turn and spin, are by E_i."""
    found = []
    for one in ONES:
        kinematics, momentum = stabilised_rotation(one, w, w1, D0, D, V0)
        found.append(dot(turn, kinematics) + dot(spin, momentum))
    return found[0], found[1], found[2]


@kernel
def exchange_ends(places: Array, mu: Array, state: Array, stage: Array) -> None:
    """Let the step be the one taken back: the velocities at its end are those at its start.

    And let mu be that of its residuals: momentum changes by the opposite, constraints hold at the
    other end, and do not depend on it.
    """
    count = stage.shape[0] - 1
    for node in range(0 + places[count, tables.BODY_NODES], mu.shape[0]):
        put(mu, node, 0, NONE)
    for b in range(count):
        v0, V0 = rates(state, b)
        put(mu, places[b, T], 0, scale(-1.0, vector(mu, places[b, T], 0)))
        put(stage, b, tables.V1, v0)
        if places[b, R] < places[count, R]:
            put(mu, places[b, R], 0, scale(-1.0, vector(mu, places[b, R], 0)))
            put(stage, b, tables.W1, scale(0.5, _moment(matrix(state, b, DIRECTORS), V0)))


@kernel
def end_stabilised(
    places: Array, h: float, state: Array, stage: Array, ends: Array, lam: Array
) -> float:
    """Set the gradient lam by the start of a step from `ends`: that by the unknowns, taken back.

    Returns a sum of it, which shows whether it is a number.
    """
    count, total = stage.shape[0] - 1, 0.0
    n, ground = 0 + places[count, COORDINATES], places[count, R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        by_r, by_v = scale(1.0 / h, vector(ends, places[b, KT], 0)), vector(ends, places[b, T], 0)
        total += by_r[0] + by_r[1] + by_r[2] + by_v[0] + by_v[1] + by_v[2]
        put_at(lam, q, by_r)
        put_at(lam, q + n, scale(-1.0, by_v))
        if places[b, R] < ground:
            (_, w), (_, w0) = twist(stage, b), twist_at_end(stage, b)
            D0, by_w0 = matrix(state, b, DIRECTORS), scale(-1.0, vector(ends, places[b, R], 0))
            turn = turn_at_start(h, scale(0.5 * h, w), vector(ends, places[b, KR], 0))
            total += by_w0[0] + by_w0[1] + by_w0[2] + turn[0] + turn[1] + turn[2]
            by_V0 = times(0.5, _crossed_with(by_w0, D0))
            turn = sub(turn, _moment(D0, _crossed(by_V0, w0)))
            put_matrix_at(lam, q + TURN, times(0.5, _crossed_with(turn, D0)))
            put_matrix_at(lam, q + n + TURN, by_V0)
    return total


@arithmetic
def _moment(D: Mat, G: Mat) -> Vec:
    """Return the sum of d_i x g_i."""
    return add(add(cross(D[0], G[0]), cross(D[1], G[1])), cross(D[2], G[2]))


@arithmetic
def _crossed(G: Mat, w: Vec) -> Mat:
    """Return g_i x w."""
    return cross(G[0], w), cross(G[1], w), cross(G[2], w)


@arithmetic
def _crossed_with(w: Vec, D: Mat) -> Mat:
    """Return w x d_i."""
    return cross(w, D[0]), cross(w, D[1]), cross(w, D[2])
