r"""Rigid bodies in directors over a step backwards, see `engine.backward`.

With :math:`C = (I - [a])^{-1}`, a = h w / 2, directors at the midpoint are d = C d0, and a step
ends at

    r1 = r0 + h v,   d1 = 2 d - d0,   v1 = 2 v - v0,   V1 = 2 w x d - V0.

A change of w turns d by C (da x d), and a gradient g by d is one C^T g by d0 and d x C^T g by a.
"""

from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    cross,
    dot,
    gather,
    inverse_by_rows,
    matrix,
    minus,
    outer,
    plus,
    put,
    put_matrix,
    scale,
    sub,
    times,
    trace,
    vector,
)
from poinsot.kernels.cayley import turn_back
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.tables import COORDINATES, DIRECTORS, POSITION, RATES, SPUN, Part
from poinsot.kernels.terms import UNIT

#: Columns of coordinates, and of their rates, that directors begin with.
TURN = 3


@arithmetic
def vector_at(x: Array, at: int) -> Vec:
    """Return three numbers of a vector."""
    return x[at], x[at + 1], x[at + 2]


@arithmetic
def put_at(x: Array, at: int, a: Vec) -> None:
    """Store three numbers in a vector."""
    x[at], x[at + 1], x[at + 2] = a[0], a[1], a[2]


@arithmetic
def gather_at(x: Array, at: int, a: Vec) -> None:
    """Add three numbers to a vector."""
    x[at] += a[0]
    x[at + 1] += a[1]
    x[at + 2] += a[2]


@arithmetic
def matrix_at(x: Array, at: int) -> Mat:
    """Return nine numbers of a vector."""
    return vector_at(x, at), vector_at(x, at + 3), vector_at(x, at + 6)


@arithmetic
def put_matrix_at(x: Array, at: int, A: Mat) -> None:
    """Store nine numbers in a vector."""
    put_at(x, at, A[0])
    put_at(x, at + 3, A[1])
    put_at(x, at + 6, A[2])


@arithmetic
def _gather_matrix_at(x: Array, at: int, A: Mat) -> None:
    """Add nine numbers to a vector."""
    gather_at(x, at, A[0])
    gather_at(x, at + 3, A[1])
    gather_at(x, at + 6, A[2])


@kernel
def load_motion(places: Array, x0: Array, x1: Array, state: Array, stage: Array) -> None:
    """Set the start of a step and its unknowns from states (q, v, ...) at both ends.

    The mean velocity of a director is w x d; one without mass has no velocity of its own.
    """
    count = state.shape[0] - 1
    n, ground = 0 + places[count, COORDINATES], places[count, tables.R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        v0 = vector_at(x0, q + n)
        v = scale(0.5, add(v0, vector_at(x1, q + n)))
        put(state, b, POSITION, vector_at(x0, q))
        put(state, b, tables.VELOCITY, v0)
        put(stage, b, tables.V, v)
        put(stage, b, tables.DV, sub(v, v0))
        if places[b, tables.R] < ground:
            D0, V0 = matrix_at(x0, q + TURN), matrix_at(x0, q + n + TURN)
            D = times(0.5, plus(D0, matrix_at(x1, q + TURN)))
            V = times(0.5, plus(V0, matrix_at(x1, q + n + TURN)))
            w = _spin(places[b, tables.FLAT], D, V)
            put_matrix(state, b, DIRECTORS, D0)
            put_matrix(state, b, RATES, minus(V0, _spinning(w, D0)))
            put(state, b, SPUN, w)
            put(stage, b, tables.W, w)
            put(stage, b, tables.DW, (0.0, 0.0, 0.0))


@inline
def _spin(flat: int, D: Mat, V: Mat) -> Vec:
    """Return the angular velocity w of rates w x d, of which one does not count if it is `flat`."""
    x = 0.0 if flat == 0 else 1.0
    y = 0.0 if flat == 1 else 1.0
    z = 0.0 if flat == 2 else 1.0
    return _solved((scale(x, D[0]), scale(y, D[1]), scale(z, D[2])), D, V)


@arithmetic
def spin_of(D: Mat, V: Mat) -> Vec:
    """Return the angular velocity w of rates w x d."""
    return _solved(D, D, V)


@arithmetic
def _solved(X: Mat, D: Mat, V: Mat) -> Vec:
    A = plus(plus(outer(X[0], D[0]), outer(X[1], D[1])), outer(X[2], D[2]))
    return apply(inverse_by_rows(minus(times(trace(A), UNIT), A)), moment(X, V))


@arithmetic
def moment(D: Mat, G: Mat) -> Vec:
    """Return the sum of d_i x g_i."""
    return add(add(cross(D[0], G[0]), cross(D[1], G[1])), cross(D[2], G[2]))


@arithmetic
def _spinning(w: Vec, D: Mat) -> Mat:
    return cross(w, D[0]), cross(w, D[1]), cross(w, D[2])


@kernel
def clear_backward(mu: Array, frames: Array) -> None:
    """Set gradients by residuals and by frames at the midpoint to zero."""
    for i in range(mu.shape[0]):
        for j in range(4):
            mu[i, j] = 0.0
    for i in range(frames.shape[0]):
        for j in range(tables.VELOCITY):
            frames[i, j] = 0.0


@kernel
def begin_backward(places: Array, h: float, x1: Array, stage: Array, lam: Array, mu: Array) -> None:
    """Go from the gradient lam by the end of a step x1 to that by its unknowns, mu (nodes, 4).

    What it is by the start with unchanged unknowns is left in lam.
    """
    count = stage.shape[0] - 1
    n, ground = 0 + places[count, COORDINATES], places[count, tables.R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        rate = q + n
        by_v1 = vector_at(lam, rate)
        put(mu, places[b, tables.T], 0, axpy(h, vector_at(lam, q), scale(2.0, by_v1)))
        put_at(lam, rate, scale(-1.0, by_v1))
        if places[b, tables.R] < ground:
            if places[b, tables.FLAT] < 3:
                _give_back(places[b, tables.FLAT], x1, q + TURN, rate + TURN, lam)
            w, a, D = (
                vector(stage, b, tables.W),
                vector(stage, b, tables.HALF),
                matrix(stage, b, DIRECTORS),
            )
            by_D1, by_V1 = matrix_at(lam, q + TURN), matrix_at(lam, rate + TURN)
            by_w, by_D0 = _turned_back(h, w, a, D, by_D1, by_V1)
            put(mu, places[b, tables.R], 0, by_w)
            put_matrix_at(lam, q + TURN, by_D0)
            put_matrix_at(lam, rate + TURN, times(-1.0, by_V1))


@arithmetic
def _turned_back(h: float, w: Vec, a: Vec, D: Mat, by_D1: Mat, by_V1: Mat) -> tuple[Vec, Mat]:
    """Return the gradients by w and by directors at the start."""
    x = turn_back(a, scale(2.0, add(by_D1[0], cross(by_V1[0], w))))
    y = turn_back(a, scale(2.0, add(by_D1[1], cross(by_V1[1], w))))
    z = turn_back(a, scale(2.0, add(by_D1[2], cross(by_V1[2], w))))
    T = x, y, z
    G = plus(times(2.0, by_V1), times(0.5 * h, T))
    return moment(D, G), minus(T, by_D1)


@inline
def _give_back(k: int, x1: Array, d: int, rate: int, lam: Array) -> None:
    """Give the gradient by the rate of director k to those it follows from: d_k = d_i x d_j."""
    i, j = (k + 1) % 3, (k + 2) % 3
    c = vector_at(lam, rate + 3 * k)
    d_i, d_j = vector_at(x1, d + 3 * i), vector_at(x1, d + 3 * j)
    V_i, V_j = vector_at(x1, rate + 3 * i), vector_at(x1, rate + 3 * j)
    gather_at(lam, rate + 3 * i, cross(d_j, c))
    gather_at(lam, d + 3 * j, cross(c, V_i))
    gather_at(lam, d + 3 * i, cross(V_j, c))
    gather_at(lam, rate + 3 * j, cross(c, d_i))
    put_at(lam, rate + 3 * k, (0.0, 0.0, 0.0))


@kernel
def end_backward(
    bodies: Part,
    by_bodies: Array,
    h: float,
    x0: Array,
    stage: Array,
    mu: Array,
    frames: Array,
    lam: Array,
) -> float:
    """Subtract the derivatives of mu times residuals from the gradient lam by the start x0.

    And from that by the numbers of bodies; `frames` are derivatives by frames at the midpoint that
    parts have added. Returns a sum of mu, which shows whether it is a number.
    """
    numbers, places = bodies
    count, total = numbers.shape[0], 0.0
    n, ground = 0 + places[count, COORDINATES], places[count, tables.R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        push, mass2 = vector(mu, places[b, tables.T], 0), numbers[b, tables.MASS2]
        by_bodies[b, tables.MASS2] -= dot(push, vector(stage, b, tables.DV))
        gather(by_bodies, b, tables.WEIGHT, scale(-h, push))
        gather_at(lam, q + n, scale(mass2, push))
        gather_at(lam, q, scale(-1.0, vector(frames, b, POSITION)))
        total += push[0] + push[1] + push[2]
        if places[b, tables.R] < ground:
            spin, E2 = vector(mu, places[b, tables.R], 0), vector(numbers, b, tables.EULER2)
            total += spin[0] + spin[1] + spin[2]
            w, a, D = (
                vector(stage, b, tables.W),
                vector(stage, b, tables.HALF),
                matrix(stage, b, DIRECTORS),
            )
            V0 = matrix_at(x0, q + n + TURN)
            by_E2, by_V0, by_D = _spun_back(E2, w, D, V0, spin)
            gather(by_bodies, b, tables.EULER2, scale(-1.0, by_E2))
            by_D = plus(by_D, matrix(frames, b, DIRECTORS))
            _gather_matrix_at(lam, q + n + TURN, by_V0)
            back = turn_back(a, by_D[0]), turn_back(a, by_D[1]), turn_back(a, by_D[2])
            _gather_matrix_at(lam, q + TURN, times(-1.0, back))
    return total


@kernel
def subtract_ends(
    places: Array, h: float, state: Array, stage: Array, ends: Array, lam: Array
) -> None:
    """Subtract derivatives by the start that are known by both ends of a step, see `by_ends`.

    With the gradients g by motions of a body over the step, and g' by those over the step taken
    back, that by its turn at the start is (1 + a·a) C^T (g + g') / h; `ends` are their sums.
    """
    count = stage.shape[0] - 1
    ground = places[count, tables.R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        gather_at(lam, q, scale(-1.0 / h, vector(ends, places[b, tables.T], 0)))
        if places[b, tables.R] < ground:
            D0, a = matrix(state, b, DIRECTORS), vector(stage, b, tables.HALF)
            g = turn_at_start(h, a, vector(ends, places[b, tables.R], 0))
            _gather_matrix_at(lam, q + TURN, times(-0.5, _spinning(g, D0)))


@arithmetic
def turn_at_start(h: float, a: Vec, g: Vec) -> Vec:
    """Return the gradient by a turn at the start of that by w, the unknowns being held."""
    return scale((1.0 + dot(a, a)) / h, turn_back(a, g))


@kernel
def turn_around(stage: Array) -> None:
    """Let the motion over a step be that of the step taken back."""
    for b in range(stage.shape[0]):
        put(stage, b, tables.HALF, scale(-1.0, vector(stage, b, tables.HALF)))


@kernel
def place_end(places: Array, x1: Array, ahead: Array) -> None:
    """Set the frames at the end of a step from the state there."""
    count = ahead.shape[0] - 1
    ground = places[count, tables.R]
    for b in range(count):
        q = 0 + places[b, COORDINATES]
        put(ahead, b, POSITION, vector_at(x1, q))
        if places[b, tables.R] < ground:
            put_matrix(ahead, b, DIRECTORS, matrix_at(x1, q + TURN))


@arithmetic
def _spun_back(E2: Vec, w: Vec, D: Mat, V0: Mat, spin: Vec) -> tuple[Vec, Mat, Mat]:
    """Return what the residual of rotation times `spin` is by 2 E_i, -V_i0 and d_i."""
    z = minus(_spinning(w, D), V0)
    c = cross(spin, D[0]), cross(spin, D[1]), cross(spin, D[2])
    by_V0 = scale(E2[0], c[0]), scale(E2[1], c[1]), scale(E2[2], c[2])
    by_D = (
        scale(E2[0], add(cross(z[0], spin), cross(c[0], w))),
        scale(E2[1], add(cross(z[1], spin), cross(c[1], w))),
        scale(E2[2], add(cross(z[2], spin), cross(c[2], w))),
    )
    return (dot(c[0], z[0]), dot(c[1], z[1]), dot(c[2], z[2])), by_V0, by_D
