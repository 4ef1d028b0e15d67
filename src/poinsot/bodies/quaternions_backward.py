r"""Rigid bodies in unit quaternions over a step backwards, see `engine.backward`.

A state has position, directors and velocity of every body, and then what its rotation is seen from
the body: slip, Omega, share and Pi, see `turns_backward`. In Hamilton's form that is Omega alone.
With :math:`C = (I - [a])^{-1}`, a = h w / 2, directors at the midpoint are d = C d0, and with mean
lever arms a step ends at

    r1 = r0 + h v,   d1 = (2 C - 1) d0,   v1 = 2 v - v0.

A change of w turns directors at the end by h (1 + [a]) dw / (1 + a·a). The residuals of bodies are

    2 m (v - v0) + h grad V,   L_1 - L_0,   L = R Pi.

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
from poinsot.bodies.turns_backward import Rotation, turned_back
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
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.tables import (
    DIRECTORS,
    EULER2,
    HAMILTON,
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
SLIP, OMEGA, SHARE, PI, WIDTH = 15, 16, 19, 20, 23
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
            Omega, Pi = vector_at(x, at + OMEGA), vector_at(x, at + PI)
            put_matrix(motion, b, DIRECTORS, matrix_at(x, at + DIRECTORS))
            motion[b, tables.SLIP], motion[b, tables.SHARE] = x[at + SLIP], x[at + SHARE]
            put(motion, b, SPIN, Omega)
            if spins.form == HAMILTON:
                Pi = each(vector(spins.inertia, b, 0), Omega)
            put(motion, b, MOMENTUM, Pi)


@arithmetic
def _half_turn(D0: Mat, D1: Mat) -> Vec:
    """Return a = tan(angle/2) n of the turn from D0 to D1, of orthonormal rows."""
    trace = dot(D0[0], D1[0]) + dot(D0[1], D1[1]) + dot(D0[2], D1[2])
    return scale(1.0 / (1.0 + trace), moment(D0, D1))


@kernel
def begin_turning(
    places: Array, spins: Spins, h: float, state: Array, stage: Array, lam: Array, mu: Array
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
            a, turn = vector(stage, b, tables.HALF), vector_at(lam, at + TURN)
            by_a, _, _ = turned_back(spins, b, h, state, stage, _rotation(lam, at))
            by_end = scale(h / (1.0 + dot(a, a)), sub(turn, cross(a, turn)))
            by_w = scale(0.5 * h, combine(by_a, matrix(state, b, DIRECTORS)))
            put(mu, places[b, R], 0, add(by_w, by_end))


@arithmetic
def _rotation(lam: Array, at: int) -> Rotation:
    """Return the gradient by slip, Omega, share and Pi."""
    return lam[at + SLIP], vector_at(lam, at + OMEGA), lam[at + SHARE], vector_at(lam, at + PI)


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
        at, push, (v, _) = WIDTH * b, vector(mu, places[b, T], 0), twist(stage, b)
        by_bodies[b, MASS2] -= dot(push, sub(v, vector(state, b, VELOCITY)))
        gather(by_bodies, b, WEIGHT, scale(-h, push))
        gather_at(lam, at + VELOCITY, scale(numbers[b, MASS2], push))
        gather_at(lam, at + POSITION, scale(-1.0, vector(frames, b, POSITION)))
        total += push[0] + push[1] + push[2]
        if places[b, R] < ground:
            spin, a = vector(mu, places[b, R], 0), vector(stage, b, tables.HALF)
            D0, D1 = matrix(state, b, DIRECTORS), matrix(ahead, b, DIRECTORS)
            on_0, on_1 = apply(D0, spin), apply(D1, spin)
            by_end = _less(spins, b, by_bodies, ahead, 1.0, on_1, _rotation(lam, at))
            by_a, by_start, by_J = turned_back(spins, b, h, state, stage, by_end)
            by_start = _less(spins, b, by_bodies, state, -1.0, on_0, by_start)
            L0 = combine(vector(state, b, MOMENTUM), D0)
            L1 = combine(vector(ahead, b, MOMENTUM), D1)
            turn = sub(vector_at(lam, at + TURN), cross(L1, spin))
            # The turn at the start goes on to the end, and turns what w is seen from.
            back = sub(scale(2.0, turn_back(a, turn)), turn)
            back = add(back, cross(combine(by_a, D0), a))
            back = sub(add(back, cross(L0, spin)), _by_turn(a, D0, matrix(frames, b, DIRECTORS)))
            gather(by_bodies, b, MOMENTS, by_J)
            put_at(lam, at + TURN, back)
            lam[at + SLIP], lam[at + SHARE] = by_start[0], by_start[2]
            put_at(lam, at + OMEGA, by_start[1])
            put_at(lam, at + PI, by_start[3])
            total += spin[0] + spin[1] + spin[2]
    return total


@inline
def _less(
    spins: Spins, b: int, by_bodies: Array, motion: Array, sign: float, spin: Vec, by: Rotation
) -> Rotation:
    """Subtract what angular momentum, times a sign and spin, is by a rotation, and by J."""
    slip, Omega, share, Pi = by
    less = scale(-sign, spin)
    if spins.form == HAMILTON:
        gather(by_bodies, b, MOMENTS, each(less, vector(motion, b, SPIN)))
        return slip, add(Omega, each(vector(spins.inertia, b, 0), less)), share, Pi
    return slip, Omega, share, add(Pi, less)


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
