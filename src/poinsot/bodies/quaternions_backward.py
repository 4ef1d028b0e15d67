r"""Rigid bodies in unit quaternions over a step backwards, see `engine.backward`.

A state has position, directors, velocity, and angular velocity Omega in body axes of every body.
With :math:`C = (I - [a])^{-1}`, a = h w / 2, directors at the midpoint are d = C d0, and in
Hamilton's form with mean lever arms a step ends at

    r1 = r0 + h v,   d1 = (2 C - 1) d0,   v1 = 2 v - v0,   Omega_1 = 2 R_0^T w - Omega_0.

A change of w turns directors at the end by h (1 + [a]) dw / (1 + a·a). The residuals of bodies
are those of `in_quaternions`, with L = R J Omega,

    2 m (v - v0) + h grad V,   L_1 - L_0.

In a gradient by a state, that by a small turn in world axes is where the first director is.
"""

from poinsot.bodies.directors_backward import (
    gather_at,
    matrix_at,
    moment,
    put_at,
    turn_at_start,
    vector_at,
)
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    combine,
    cross,
    dot,
    each,
    gather,
    matrix,
    put,
    put_matrix,
    scale,
    sub,
    vector,
)
from poinsot.kernels.cayley import turn_back
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.tables import (
    DIRECTORS,
    EULER2,
    MASS2,
    MOMENTUM,
    POSITION,
    SPIN,
    VELOCITY,
    WEIGHT,
    Part,
    R,
    Spins,
    T,
    twist,
)

#: Columns of a body in a state after those of its velocity, and how many there are.
OMEGA, WIDTH = 15, 18
#: Where gradients by a small turn are, and those by moments of inertia in a row of numbers.
TURN, MOMENTS = DIRECTORS, EULER2


@kernel
def load_turning(
    places: Array,
    spins: Spins,
    h: float,
    x0: Array,
    x1: Array,
    state: Array,
    ahead: Array,
    stage: Array,
) -> None:
    """Set both ends of a step, and its unknowns, from states there."""
    count = state.shape[0] - 1
    ground = places[count, R]
    _load_end(places, spins, x0, state)
    _load_end(places, spins, x1, ahead)
    for b in range(count):
        v0, v1 = vector(state, b, VELOCITY), vector(ahead, b, VELOCITY)
        put(stage, b, tables.V, scale(0.5, add(v0, v1)))
        if places[b, R] < ground:
            D0, D1 = matrix(state, b, DIRECTORS), matrix(ahead, b, DIRECTORS)
            put(stage, b, tables.W, scale(2.0 / h, _half_turn(D0, D1)))


@kernel
def _load_end(places: Array, spins: Spins, x: Array, motion: Array) -> None:
    """Set the motion of all bodies at an end of a step."""
    count = motion.shape[0] - 1
    for b in range(count):
        at = WIDTH * b
        put(motion, b, POSITION, vector_at(x, at + POSITION))
        put(motion, b, VELOCITY, vector_at(x, at + VELOCITY))
        if places[b, R] < places[count, R]:
            Omega = vector_at(x, at + OMEGA)
            put_matrix(motion, b, DIRECTORS, matrix_at(x, at + DIRECTORS))
            put(motion, b, SPIN, Omega)
            put(motion, b, MOMENTUM, each(vector(spins.inertia, b, 0), Omega))


@arithmetic
def _half_turn(D0: Mat, D1: Mat) -> Vec:
    """Return a = tan(angle/2) n of the turn from D0 to D1, of orthonormal rows."""
    trace = dot(D0[0], D1[0]) + dot(D0[1], D1[1]) + dot(D0[2], D1[2])
    return scale(1.0 / (1.0 + trace), moment(D0, D1))


@kernel
def begin_turning(
    places: Array, h: float, state: Array, stage: Array, lam: Array, mu: Array
) -> None:
    """Go from the gradient lam by the end of a step to that by its unknowns, mu (nodes, 4).

    What it is by the start with unchanged unknowns is left in lam, of rotations in the end.
    """
    count = stage.shape[0] - 1
    ground = places[count, R]
    for b in range(count):
        at = WIDTH * b
        by_v1 = vector_at(lam, at + VELOCITY)
        put(mu, places[b, T], 0, axpy(h, vector_at(lam, at + POSITION), scale(2.0, by_v1)))
        put_at(lam, at + VELOCITY, scale(-1.0, by_v1))
        if places[b, R] < ground:
            a, D0 = vector(stage, b, tables.HALF), matrix(state, b, DIRECTORS)
            turn, by_Omega = vector_at(lam, at + TURN), vector_at(lam, at + OMEGA)
            by_end = scale(h / (1.0 + dot(a, a)), sub(turn, cross(a, turn)))
            put(mu, places[b, R], 0, axpy(2.0, combine(by_Omega, D0), by_end))


@kernel
def end_turning(
    bodies: Part,
    spins: Spins,
    by_bodies: Array,
    h: float,
    state: Array,
    ahead: Array,
    stage: Array,
    mu: Array,
    frames: Array,
    lam: Array,
) -> float:
    """Make lam the gradient by the start of a step: subtract mu times derivatives of residuals.

    And subtract those by the numbers of bodies; `frames` are derivatives by frames at the midpoint
    that parts have added. Returns a sum of mu, which shows whether it is a number.
    """
    numbers, places = bodies
    count, total = numbers.shape[0], 0.0
    ground = places[count, R]
    for b in range(count):
        at, push, (v, w) = WIDTH * b, vector(mu, places[b, T], 0), twist(stage, b)
        by_bodies[b, MASS2] -= dot(push, sub(v, vector(state, b, VELOCITY)))
        gather(by_bodies, b, WEIGHT, scale(-h, push))
        gather_at(lam, at + VELOCITY, scale(numbers[b, MASS2], push))
        gather_at(lam, at + POSITION, scale(-1.0, vector(frames, b, POSITION)))
        total += push[0] + push[1] + push[2]
        if places[b, R] < ground:
            spin, J, a = (
                vector(mu, places[b, R], 0),
                vector(spins.inertia, b, 0),
                vector(stage, b, tables.HALF),
            )
            D0, D1 = matrix(state, b, DIRECTORS), matrix(ahead, b, DIRECTORS)
            Omega0, Omega1 = vector(state, b, SPIN), vector(ahead, b, SPIN)
            L0, L1 = combine(each(J, Omega0), D0), combine(each(J, Omega1), D1)
            on_0, on_1 = apply(D0, spin), apply(D1, spin)
            gather(by_bodies, b, MOMENTS, sub(each(on_0, Omega0), each(on_1, Omega1)))
            by_Omega = sub(vector_at(lam, at + OMEGA), each(J, on_1))
            turn = sub(vector_at(lam, at + TURN), cross(L1, spin))
            # The turn at the start goes on to the end, and turns what Omega_1 is seen from.
            back = sub(scale(2.0, turn_back(a, turn)), turn)
            back = add(back, cross(scale(2.0, combine(by_Omega, D0)), w))
            back = sub(add(back, cross(L0, spin)), _by_turn(a, D0, matrix(frames, b, DIRECTORS)))
            put_at(lam, at + TURN, back)
            put_at(lam, at + OMEGA, sub(each(J, on_0), by_Omega))
            total += spin[0] + spin[1] + spin[2]
    return total


@arithmetic
def _by_turn(a: Vec, D0: Mat, G: Mat) -> Vec:
    """Return the gradient by a turn at the start of one by directors at the midpoint."""
    back = turn_back(a, G[0]), turn_back(a, G[1]), turn_back(a, G[2])
    return moment(D0, back)


@kernel
def subtract_turning(places: Array, h: float, stage: Array, ends: Array, lam: Array) -> None:
    """Subtract derivatives by the start that are known by both ends, see `subtract_ends`."""
    count = stage.shape[0] - 1
    ground = places[count, R]
    for b in range(count):
        at = WIDTH * b
        gather_at(lam, at + POSITION, scale(-1.0 / h, vector(ends, places[b, T], 0)))
        if places[b, R] < ground:
            a = vector(stage, b, tables.HALF)
            turn = turn_at_start(h, a, vector(ends, places[b, R], 0))
            gather_at(lam, at + TURN, scale(-1.0, turn))
