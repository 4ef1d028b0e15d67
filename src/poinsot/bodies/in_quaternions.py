"""Rigid bodies in unit quaternions over a step: inertia and weight, and the motion at its end.

    translation   2 m (v - v0) + h grad V
    rotation      L_1 - L_0 = R_1 Pi_1 - R_0 Pi_0

The bodies turn by the Cayley map of w as in directors, and Pi_1 follows from w by Livens' or
Hamilton's equations, see `turning`.
"""

from poinsot.bodies.in_directors import place_at_midpoint, translate
from poinsot.bodies.livens_unknowns import livens_unknowns
from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    apply,
    axpy,
    combine,
    dot,
    minus,
    multiply,
    put,
    put_matrix,
    put_tile,
    scale,
    size,
    sub,
    times,
    transposed,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.quaternions import (
    directors_of,
    dot_quat,
    inner,
    product,
    put_quat,
    quat_at,
    unit_quat,
)
from poinsot.kernels.step import enlarge
from poinsot.kernels.tables import FULL, LIVENS, QUAT, SHORTEST, Part, R, Spins, frame, twist
from poinsot.kernels.terms import NONE
from poinsot.kernels.turning import (
    after,
    arms_of,
    hamilton,
    livens,
    momentum_of,
    turn_of,
    velocity_of,
    weighted,
)


@inline
def _is_group(bodies: Part, b: int) -> bool:
    """Tell whether a body is a group of elastic coordinates: without inertia, and without turns."""
    numbers, places = bodies
    is_group: bool = numbers[b, tables.MASS2] == 0.0 and places[b, R] == places[numbers.shape[0], R]
    return is_group


@kernel
def quaternion_bodies(
    bodies: Part,
    spins: Spins,
    auxiliary: int,
    h: float,
    length: float,
    state: Array,
    stage: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 3), and tiles unless None."""
    places = bodies.places
    forces, torques, speeds = 0.0, 0.0, 0.0
    for b in range(bodies.numbers.shape[0]):
        if _is_group(bodies, b):
            put(x, places[b, tables.T], 0, NONE)
            continue
        (v, w), J = twist(stage, b), vector(spins.inertia, b, 0)
        a, D0, _, D = place_at_midpoint(b, h, state, stage)
        D1 = minus(times(2.0, D), D0)
        if not spins.mean:
            put_matrix(stage, b, tables.ARMS, arms_of(a, D))
        force = translate(bodies, b, h, v, sub(v, vector(state, b, tables.VELOCITY)), x)
        if bodies.numbers[b, tables.MASS2] == 0.0:
            # A body without inertia of its own, see `in_floating_frames`.
            put(x, places[b, R], 0, NONE)
            continue
        Pi0, local = vector(state, b, tables.MOMENTUM), apply(D0, a)
        turned = turn_of(local, spins.mean)
        if spins.form == LIVENS:
            Pi1, slopes = livens(h, J, turned, velocity_of(state, b), momentum_of(state, b))
        else:
            Pi1, slopes = hamilton(h, J, turned, local, Pi0)
        put(x, places[b, R], 0, sub(combine(Pi1, D1), combine(Pi0, D0)))
        if tiles is not None:
            # L_1 = R_1 Pi_1 changes with both; a_j is (h/2) d_j·w at the start.
            by_Pi = multiply(transposed(multiply(slopes, D1)), D0)
            by_R = times(h, lever(a, combine(Pi1, D)))
            put_tile(tiles, places[b, tables.RR], minus(times(0.5 * h, by_Pi), by_R))
            forces, torques = max(forces, force), max(torques, size(J) * size(w) + size(Pi0))
            speeds = max(speeds, size(v), length * size(w))
        if auxiliary != SHORTEST:
            full, node = auxiliary == FULL, places[b, R]
            livens_unknowns(spins, full, b, h, turned, D0, state, stage, node, x, tiles)
    enlarge(sizes, tables.LASTING + tables.OF_TRANSLATION, forces)
    enlarge(sizes, tables.LASTING + tables.OF_ROTATION, torques)
    enlarge(sizes, tables.LASTING + tables.OF_CLOSURE, speeds)


@kernel
def move_quaternions(
    bodies: Part, spins: Spins, h: float, state: Array, stage: Array, ahead: Array
) -> float:
    """Set the motion at the end of a step; return kinetic energy and that of gravity [J].

    Of Livens' equations the generalised energy p·v - T [KB24, eq. (74)].
    """
    H, numbers = 0.0, bodies.numbers
    for b in range(numbers.shape[0]):
        (v, w), (position, D0), J = twist(stage, b), frame(state, b), vector(spins.inertia, b, 0)
        position = axpy(h, v, position)
        velocity = sub(scale(2.0, v), vector(state, b, tables.VELOCITY))
        put(ahead, b, tables.POSITION, position)
        put(ahead, b, tables.VELOCITY, velocity)
        if _is_group(bodies, b):
            continue
        a = scale(0.5 * h, apply(D0, w))
        turn = turn_of(a, spins.mean)
        delta = turn[0]
        quat = unit_quat(product(quat_at(state, b, QUAT), delta))
        put_quat(ahead, b, QUAT, quat)
        put_matrix(ahead, b, tables.DIRECTORS, directors_of(quat))
        if numbers[b, tables.MASS2] == 0.0:
            H += dot(vector(numbers, b, tables.WEIGHT), position)
            continue
        if spins.form == LIVENS:
            nu1, _, pi1 = after(h, J, turn, velocity_of(state, b), momentum_of(state, b))
            Omega, Pi = scale(2.0, inner(delta, nu1)), scale(0.5, inner(delta, pi1))
            slip, share = dot_quat(delta, nu1), dot_quat(delta, pi1)
            H += share * slip + dot(Pi, Omega) - 0.5 * dot(weighted(J, Omega), Omega)
        else:
            Pi = hamilton(h, J, turn, a, vector(state, b, tables.MOMENTUM))[0]
            Omega, slip, share = (Pi[0] / J[0], Pi[1] / J[1], Pi[2] / J[2]), 0.0, 0.0
            H += 0.5 * dot(Pi, Omega)
        ahead[b, tables.SLIP], ahead[b, tables.SHARE] = slip, share
        put(ahead, b, tables.SPIN, Omega)
        put(ahead, b, tables.MOMENTUM, Pi)
        H += 0.25 * numbers[b, tables.MASS2] * dot(velocity, velocity)
        H += dot(vector(numbers, b, tables.WEIGHT), position)
    return H


@kernel
def save_quaternions(
    bodies: Part, spins: Spins, state: Array, before: Array, x: Array, middle: Array
) -> None:
    """Write q, v and p, or q and p, of all bodies at the end of a step, and their mean over it."""
    places, count = bodies.places, bodies.numbers.shape[0]
    blocks = 3 if spins.form == LIVENS else 2
    for b in range(count):
        for k in range(blocks):
            at = k * places[count, tables.COORDINATES] + places[b, tables.COORDINATES]
            kind = 2 if k == blocks - 1 else k
            _write(bodies, state, b, kind, at, x)
            _write(bodies, before, b, kind, at, middle)
            for i in range(7 if places[b, R] < places[count, R] else 3):
                middle[at + i] = 0.5 * (middle[at + i] + x[at + i])


@inline
def _write(bodies: Part, state: Array, b: int, kind: int, at: int, row: Array) -> None:
    """Write position, velocity or momentum (kind 0, 1, 2) of a body to a row."""
    quat, translation = quat_at(state, b, QUAT), vector(state, b, tables.VELOCITY)
    rotation = quat
    if kind == 0:
        translation = vector(state, b, tables.POSITION)
    elif kind == 1:
        rotation = product(quat, velocity_of(state, b))
    else:
        # What has no inertia of its own keeps velocities in the place of momenta.
        mass = 0.5 * bodies.numbers[b, tables.MASS2]
        translation = scale(1.0 if mass == 0.0 else mass, translation)
        rotation = product(quat, momentum_of(state, b))
    row[at], row[at + 1], row[at + 2] = translation
    if bodies.places[b, R] < bodies.places[bodies.numbers.shape[0], R]:
        row[at + 3] = rotation[0]
        row[at + 4], row[at + 5], row[at + 6] = rotation[1]
