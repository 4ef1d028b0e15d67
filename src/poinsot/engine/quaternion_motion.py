"""The end of a step in quaternions, its energy, and what is saved of it."""

from poinsot.engine.job import LIVENS, Spins
from poinsot.engine.livens_bodies import momentum_of, velocity_of
from poinsot.kernels.algebra import (
    Array,
    Vec,
    axpy,
    dot,
    matrix,
    put,
    put_matrix,
    scale,
    sub,
    vector,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.quaternions import (
    directors_of,
    dot_quat,
    inner,
    product,
    put_quat,
    quat_at,
    unit_quat,
)
from poinsot.kernels.tables import (
    COORDINATES,
    DIRECTORS,
    MASS2,
    MOMENTUM,
    POSITION,
    QUAT,
    SHARE,
    SLIP,
    SPIN,
    VELOCITY,
    WEIGHT,
    Part,
    R,
    V,
    W,
)
from poinsot.kernels.turning import (
    hamilton,
    mean_momentum,
    momentum_after,
    turn_of,
    velocity_after,
)


@kernel
def move_quaternions(
    bodies: Part, spins: Spins, h: float, state: Array, stage: Array, ahead: Array
) -> float:
    """Set the motion at the end of a step; return kinetic energy and that of gravity [J].

    Of Livens' equations the generalised energy p·v - T [KB24, eq. (74)].
    """
    H, numbers, inertia = 0.0, bodies.numbers, spins.inertia
    for b in range(numbers.shape[0]):
        v, w, J = vector(stage, b, V), vector(stage, b, W), vector(inertia, b, 0)
        position = axpy(h, v, vector(state, b, POSITION))
        velocity = sub(scale(2.0, v), vector(state, b, VELOCITY))
        D0 = matrix(state, b, DIRECTORS)
        a = scale(0.5 * h, (dot(D0[0], w), dot(D0[1], w), dot(D0[2], w)))
        turn = turn_of(a, spins.mean)
        delta = turn[0]
        quat = unit_quat(product(quat_at(state, b, QUAT), delta))
        put(ahead, b, POSITION, position)
        put(ahead, b, VELOCITY, velocity)
        put_quat(ahead, b, QUAT, quat)
        put_matrix(ahead, b, DIRECTORS, directors_of(quat))
        if spins.form == LIVENS:
            nu0, pi0 = velocity_of(state, b), momentum_of(state, b)
            nu1 = velocity_after(h, turn, nu0)
            pi1 = momentum_after(delta, mean_momentum(J, vector(state, b, SPIN), delta, nu1), pi0)
            Omega, Pi = scale(2.0, inner(delta, nu1)), scale(0.5, inner(delta, pi1))
            slip, share = dot_quat(delta, nu1), dot_quat(delta, pi1)
            H += share * slip + dot(Pi, Omega) - 0.5 * _quadratic(J, Omega)
        else:
            Pi = hamilton(h, J, turn, a, vector(state, b, MOMENTUM))[0]
            Omega, slip, share = (Pi[0] / J[0], Pi[1] / J[1], Pi[2] / J[2]), 0.0, 0.0
            H += 0.5 * dot(Pi, Omega)
        ahead[b, SLIP], ahead[b, SHARE] = slip, share
        put(ahead, b, SPIN, Omega)
        put(ahead, b, MOMENTUM, Pi)
        H += 0.25 * numbers[b, MASS2] * dot(velocity, velocity)
        H += dot(vector(numbers, b, WEIGHT), position)
    return H


@arithmetic
def _quadratic(J: Vec, a: Vec) -> float:
    """Return a·J a."""
    return J[0] * a[0] * a[0] + J[1] * a[1] * a[1] + J[2] * a[2] * a[2]


@kernel
def save_quaternions(
    bodies: Part, spins: Spins, state: Array, before: Array, x: Array, middle: Array
) -> None:
    """Write q, v and p, or q and p, of all bodies at the end of a step, and their mean over it."""
    places, count = bodies.places, bodies.numbers.shape[0]
    blocks = 3 if spins.form == LIVENS else 2
    for b in range(count):
        for k in range(blocks):
            at = k * places[count, COORDINATES] + places[b, COORDINATES]
            kind = 2 if k == blocks - 1 else k
            _write(bodies, state, b, kind, at, x)
            _write(bodies, before, b, kind, at, middle)
            for i in range(7 if places[b, R] < places[count, R] else 3):
                middle[at + i] = 0.5 * (middle[at + i] + x[at + i])


@inline
def _write(bodies: Part, state: Array, b: int, kind: int, at: int, row: Array) -> None:
    """Write position, velocity or momentum (kind 0, 1, 2) of a body to a row."""
    quat, translation = quat_at(state, b, QUAT), vector(state, b, VELOCITY)
    rotation = quat
    if kind == 0:
        translation = vector(state, b, POSITION)
    elif kind == 1:
        rotation = product(quat, velocity_of(state, b))
    else:
        translation = scale(0.5 * bodies.numbers[b, MASS2], translation)
        rotation = product(quat, momentum_of(state, b))
    row[at], row[at + 1], row[at + 2] = translation
    if bodies.places[b, R] < bodies.places[bodies.numbers.shape[0], R]:
        row[at + 3] = rotation[0]
        row[at + 4], row[at + 5], row[at + 6] = rotation[1]
