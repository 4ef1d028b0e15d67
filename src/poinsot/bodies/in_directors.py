"""Rigid bodies in directors over a step: inertia and weight, and the motion at its end.

With the Euler values E_i, the directors d_i at the midpoint and their rates V_i at the start,

    translation   2 m (v - v0) + h grad V
    rotation      sum_i 2 E_i d_i x (w x d_i - V_i) = 2 (tr A - A) w - 2 sum_i E_i d_i x V_i

with A = sum_i E_i d_i d_i^T. The multipliers of rigidity are normal to this motion and drop out.
What counts is how velocities change in a step. Rounding them as a whole would let the energy walk
away at random: the unknowns are dv = v - v0 and dw = w - w0 with w0 of the step before, the rates
are V_i = w0 x d_i0 + U_i, and with e_i = d_i - d_i0, found as such,

    w x d_i - V_i = dw x d_i + w0 x e_i - U_i,    V_i1 = w x d_i1 + dw x d_i0 - U_i

In the stabilised form (GGL) velocities at the end are unknowns, too. Directors stay orthonormal at
both ends of a step, and so do their rates: d_1 is the Cayley image of d_0 by w, and
V_1 = w_1 x d_1. The multipliers of rigidity drop out of the kinematic equations by crossing them
with the directors at the midpoint, and what they leave in the momentum equations, sum_i X_i x V_i
with X_i = E_i (d_i1 - d_i0 - h V_i), completes these to the angular momentum:

    kinematics    m (v - (v0 + v1) / 2),   sum_i E_i d_i x (w x d_i - (V_i0 + V_i1) / 2)
    momentum      m (v1 - v0) + h grad V,  sum_i E_i (d_i1 x V_i1 - d_i0 x V_i0)
"""

from functools import reduce
from typing import TypeAlias

from poinsot.kernels import tables
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    cross,
    dot,
    matrix,
    minus,
    multiply,
    plus,
    put,
    put_matrix,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    transposed,
    vector,
)
from poinsot.kernels.cayley import cayley, change_rows, lever, turned
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.lanes import (
    ABREAST,
    Lane,
    Places4,
    across,
    greatest,
    larger,
    largest_of,
    last_of,
    matrix_of,
    places_of,
    put_across,
    put_lanes,
    put_tiles,
    size_of,
    total,
    vector_of,
)
from poinsot.kernels.step import enlarge
from poinsot.kernels.tables import DV, DW, Part, frame, rates, twist, twist_at_end
from poinsot.kernels.terms import UNIT

#: Of bodies side by side: position, directors, U and w0 at the start; v, w, dv and dw.
Motion: TypeAlias = tuple[tuple[Vec, Mat, Mat, Vec], tuple[Vec, Vec, Vec, Vec]]
#: 2 m, 2 E and the weight.
Inertia: TypeAlias = tuple[Lane, Vec, Vec]
#: a = h w / 2, what directors gain, and these at the midpoint.
Turn: TypeAlias = tuple[Vec, Mat, Mat]

# -- inertia and weight ----------------------------------------------------------------------------


@arithmetic
def place_at_midpoint(b: int, h: float, state: Array, stage: Array) -> tuple[Vec, Mat, Mat, Mat]:
    """Place a body; return a = h w / 2, its directors at the start, what they gain, their sum."""
    (v, w), (position, D0) = twist(stage, b), frame(state, b)
    a = scale(0.5 * h, w)
    gain = change_rows(a, D0)
    D = plus(D0, gain)
    put(stage, b, tables.HALF, a)
    put(stage, b, tables.POSITION, axpy(0.5 * h, v, position))
    put_matrix(stage, b, tables.DIRECTORS, D)
    return a, D0, gain, D


@inline
def translate(bodies: Part, b: int, h: float, v: Vec, dv: Vec, x: Array) -> float:
    """Set the residual of translation, whose tile is constant; return the size of its terms."""
    numbers, places = bodies
    mass2, weight = numbers[b, tables.MASS2], vector(numbers, b, tables.WEIGHT)
    put(x, places[b, tables.T], 0, axpy(mass2, dv, scale(h, weight)))
    terms: float = mass2 * (2.0 * size(v) + size(dv)) + abs(h) * size(weight)
    return terms


@kernel
def begin_bodies(state: Array, stage: Array) -> None:
    """Note what the guess has more than v at the start of the step, and than w of the last one."""
    for b in range(state.shape[0]):
        v, w = twist(stage, b)
        put(stage, b, tables.DV, sub(v, vector(state, b, tables.VELOCITY)))
        put(stage, b, tables.DW, sub(w, vector(state, b, tables.SPUN)))


@kernel
def free_bodies(
    bodies: Part,
    h: float,
    length: float,
    state: Array,
    stage: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 4), and tiles unless None."""
    numbers, places = bodies
    count, forces, torques, speeds = numbers.shape[0], 0.0, 0.0, 0.0
    for group in range((count + ABREAST - 1) // ABREAST):
        rows = _group(ABREAST * group, count - 1)
        motion, inertia = _motion(state, stage, rows), _inertia(numbers, rows)
        turn = _place(h, motion, stage, rows)
        _spin_up(h, motion, inertia, turn, x, places, rows)
        if tiles is not None:
            force, torque, speed = _rotate(h, length, motion, inertia, turn, tiles, places, rows)
            forces, torques = max(forces, force), max(torques, torque)
            speeds = max(speeds, speed)
    enlarge(sizes, tables.LASTING + tables.OF_TRANSLATION, forces)
    enlarge(sizes, tables.LASTING + tables.OF_ROTATION, torques)
    enlarge(sizes, tables.LASTING + tables.OF_CLOSURE, speeds)


@inline
def _group(k: int, last: int) -> Places4:
    """Return four bodies from k on; the last one fills up the last group."""
    return k, min(k + 1, last), min(k + 2, last), min(k + 3, last)


@arithmetic
def _motion(state: Array, stage: Array, rows: Places4) -> Motion:
    known = across(state, rows, 0, 7)
    position, D0 = vector_of(known, tables.POSITION), matrix_of(known, tables.DIRECTORS)
    U, w0 = matrix_of(known, tables.RATES), vector_of(known, tables.SPUN)
    unknown = across(stage, rows, tables.V, 3)
    v, w, dv, dw = (vector_of(unknown, at - tables.V) for at in (tables.V, tables.W, DV, DW))
    return (position, D0, U, w0), (v, w, dv, dw)


@arithmetic
def _inertia(numbers: Array, rows: Places4) -> Inertia:
    columns = across(numbers, rows, 0, 1) + across(numbers, rows, tables.WEIGHT - 1, 1)
    return columns[0], vector_of(columns, tables.EULER2), vector_of(columns, 5)


@arithmetic
def _place(h: float, motion: Motion, stage: Array, rows: Places4) -> Turn:
    """Place bodies at the midpoint."""
    (position, D0, _, _), (v, w, _, _) = motion
    a, position = scale(0.5 * h, w), axpy(0.5 * h, v, position)
    gain = change_rows(a, D0)
    D = plus(D0, gain)
    # Four columns at a time, of which the last one is the first of v.
    put_across(stage, rows, tables.POSITION, (*position, *D[0], *D[1], *D[2], *a, v[0]))
    return a, gain, D


@arithmetic
def _spin_up(
    h: float, motion: Motion, inertia: Inertia, turn: Turn, x: Array, places: Array, rows: Places4
) -> None:
    """Set the residuals of translation and rotation."""
    (_, _, U, w0), (_, _, dv, dw) = motion
    (mass2, E2, weight), (_, gain, D) = inertia, turn
    put_lanes(x, places_of(places, rows, tables.T), axpy(mass2, dv, scale(h, weight)))
    z = minus(plus(_spinning(dw, D), _spinning(w0, gain)), U)
    torque = reduce(add, [cross(m, change) for m, change in zip(_weighted(E2, D), z, strict=True)])
    put_lanes(x, places_of(places, rows, tables.R), torque)


@arithmetic
def _rotate(
    h: float,
    length: float,
    motion: Motion,
    inertia: Inertia,
    turn: Turn,
    tiles: Array,
    places: Array,
    rows: Places4,
) -> tuple[float, float, float]:
    """Set the derivative of rotation's residual with respect to w; return the sizes of terms.

    Because h w x d_i = 2 (d_i - d_i0), the residual is the sum of -(2/h) 2 E_i d_i x z_i with
    z_i = d_i0 + (h/2) V_i0, which does not change in a step. (It is not computed like that: what is
    left of the large terms is small.)
    """
    (_, D0, U, w0), (v, w, dv, _) = motion
    (mass2, E2, weight), (a, _, D) = inertia, turn
    V0 = plus(_spinning(w0, D0), U)
    z = plus(times(0.5 * h, V0), D0)
    slope = turned(cayley(a), multiply(transposed(_weighted(E2, D)), z))
    put_tiles(tiles, places_of(places, rows, tables.RR), times(-1.0, slope))
    force = mass2 * (2.0 * size_of(v) + size_of(dv)) + abs(h) * size_of(weight)
    torque = size_of(E2) * (size_of(w) + largest_of(V0))
    speed = larger(size_of(v), length * size_of(w))
    return greatest(force), greatest(torque), greatest(speed)


@arithmetic
def _weighted(E: Vec, D: Mat) -> Mat:
    """Return directors times E_i."""
    return scale(E[0], D[0]), scale(E[1], D[1]), scale(E[2], D[2])


# -- the stabilised form ---------------------------------------------------------------------------


@kernel
def stabilised_bodies(
    bodies: Part,
    h: float,
    length: float,
    state: Array,
    stage: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 3), and tiles unless None."""
    numbers, places = bodies
    for b in range(numbers.shape[0]):
        (v, w), (v1, w1), (v0, V0) = twist(stage, b), twist_at_end(stage, b), rates(state, b)
        a, D0, _, D = place_at_midpoint(b, h, state, stage)
        m, E = 0.5 * numbers[b, tables.MASS2], scale(0.5, vector(numbers, b, tables.EULER2))
        at, weight = places[b], vector(numbers, b, tables.WEIGHT)
        put(x, at[tables.KT], 0, scale(m, sub(v, scale(0.5, add(v0, v1)))))
        put(x, at[tables.T], 0, axpy(m, sub(v1, v0), scale(h, weight)))
        kinematics, momentum = stabilised_rotation(E, w, w1, D0, D, V0)
        put(x, at[tables.KR], 0, kinematics)
        put(x, at[tables.R], 0, momentum)
        if tiles is not None:
            K_K, K_M, M_K, M_M = _stabilised_slopes(h, a, E, w, w1, D0, D, V0)
            put_tile(tiles, at[tables.KT_KT], times(m, UNIT))
            put_tile(tiles, at[tables.KT_T], times(-0.5 * m, UNIT))
            put_tile(tiles, at[tables.T_T], times(m, UNIT))
            put_tile(tiles, at[tables.KR_KR], K_K)
            put_tile(tiles, at[tables.KR_R], K_M)
            put_tile(tiles, at[tables.RR], M_K)
            put_tile(tiles, at[tables.R_R], M_M)
            push = m * (size(v) + size(v1) + size(v0)) + abs(h) * size(weight)
            spin = size(w) + size(w1) + max(size(V0[0]), size(V0[1]), size(V0[2]))
            enlarge(sizes, tables.LASTING + tables.OF_TRANSLATION, push)
            enlarge(sizes, tables.LASTING + tables.OF_ROTATION, size(E) * spin)
            enlarge(sizes, tables.LASTING + tables.OF_CLOSURE, max(size(v), length * size(w)))
            way = size(vector(state, b, tables.POSITION)) / abs(h)
            enlarge(sizes, tables.LASTING + tables.OF_POSITION, max(size(v), way))


@arithmetic
def stabilised_rotation(E: Vec, w: Vec, w1: Vec, D0: Mat, D: Mat, V0: Mat) -> tuple[Vec, Vec]:
    """Return the residuals of rotation: kinematics and momentum."""
    kinematics, momentum = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for e, d0, d, rate in zip(E, D0, D, V0, strict=True):
        d1 = sub(scale(2.0, d), d0)
        mean = scale(0.5, add(rate, cross(w1, d1)))
        kinematics = axpy(e, cross(d, sub(cross(w, d), mean)), kinematics)
        momentum = axpy(e, sub(cross(d1, cross(w1, d1)), cross(d0, rate)), momentum)
    return kinematics, momentum


@arithmetic
def _stabilised_slopes(
    h: float, a: Vec, E: Vec, w: Vec, w1: Vec, D0: Mat, D: Mat, V0: Mat
) -> tuple[Mat, Mat, Mat, Mat]:
    """Return the derivatives of kinematics by w and w1, and those of momentum.

    A director d changes by -(h/2) P dw, d1 by -h P dw.
    """
    slopes = []
    for e, d0, d, rate in zip(E, D0, D, V0, strict=True):
        d1, P = sub(scale(2.0, d), d0), lever(a, d)
        speed = sub(cross(w, d), scale(0.5, add(rate, cross(w1, d1))))
        by_d = minus(skew_times(speed, P), skew_times(d, skew_times(w, P)))
        by_end = skew_times(d, skew_times(w1, P))
        K_K = minus(times(0.5 * h, plus(by_d, by_end)), skew_times(d, skew(d)))
        M_K = minus(skew_times(cross(w1, d1), P), skew_times(d1, skew_times(w1, P)))
        K_M, M_M = skew_times(d, skew(d1)), skew_times(d1, skew(d1))
        slopes.append((times(e, K_K), times(0.5 * e, K_M), times(e * h, M_K), times(-e, M_M)))
    K_K, K_M, M_K, M_M = (reduce(plus, each) for each in zip(*slopes, strict=True))
    return K_K, K_M, M_K, M_M


# -- from one step to the next ---------------------------------------------------------------------


@kernel
def move(bodies: Part, h: float, state: Array, stage: Array, ahead: Array) -> float:
    """Set the motion at the end of a step; return kinetic energy and that of gravity [J].

    q1 = q0 + h v,  v1 = v0 + 2 dv, for positions and for directors. What rounding takes from the
    position comes with the next step: in uniform motion it is always the same.
    """
    numbers, places = bodies
    H, count = 0.0, numbers.shape[0]
    for group in range((count + ABREAST - 1) // ABREAST):
        k, last = ABREAST * group, count - 1
        H += _move(numbers, h, state, stage, ahead, _group(k, last), max(k + ABREAST - count, 0))
    for b in range(count):
        if places[b, tables.FLAT] < 3:
            D1, U = matrix(ahead, b, tables.DIRECTORS), matrix(ahead, b, tables.RATES)
            put_matrix(ahead, b, tables.RATES, _without_mass(places[b, tables.FLAT], D1, U))
    return H


@arithmetic
def _move(
    numbers: Array, h: float, state: Array, stage: Array, ahead: Array, rows: Places4, again: int
) -> float:
    """Move four bodies, of which the last one is there so many times again; return the energy."""
    (position, D0, U, w0), (v, w, dv, dw) = _motion(state, stage, rows)
    v0 = vector_of(across(state, rows, tables.VELOCITY, 1), 0)
    rounded = vector_of(across(state, rows, tables.ROUNDED - 1, 1), 1)
    D1 = plus(D0, times(2.0, change_rows(scale(0.5 * h, w), D0)))
    way = axpy(h, v, rounded)
    place = add(position, way)
    left = sub(way, sub(place, position))
    velocity, w1 = axpy(2.0, dv, v0), add(w0, dw)
    exact = add(dw, sub(dw, sub(w1, w0)))
    U = minus(_spinning(exact, D0), U)
    moved = *place, *D1[0], *D1[1], *D1[2], *velocity, *U[0], *U[1], *U[2], *w1
    put_across(ahead, rows, 0, (*moved, left[0]))
    put_across(ahead, rows, tables.ROUNDED - 1, (w1[2], *left))
    mass2, E2, weight = _inertia(numbers, rows)
    spun = plus(_spinning(w1, D1), U)
    kinetic = mass2 * dot(velocity, velocity)
    for E, rate in zip(E2, spun, strict=True):
        kinetic = kinetic + E * dot(rate, rate)
    energy = 0.25 * kinetic + dot(weight, place)
    return total(energy) - again * last_of(energy)


@kernel
def move_stabilised(bodies: Part, h: float, state: Array, stage: Array, ahead: Array) -> float:
    """Set the motion at the end of a step in the stabilised form; return the energies of `move`.

    Velocities at the end are unknowns themselves.
    """
    numbers = bodies.numbers
    H = 0.0
    for b in range(numbers.shape[0]):
        (v, w), (position, D0) = twist(stage, b), frame(state, b)
        D1 = plus(D0, times(2.0, change_rows(scale(0.5 * h, w), D0)))
        way = axpy(h, v, vector(state, b, tables.ROUNDED))
        place = add(position, way)
        velocity, w1 = twist_at_end(stage, b)
        spun = _spinning(w1, D1)
        put(ahead, b, tables.POSITION, place)
        put(ahead, b, tables.ROUNDED, sub(way, sub(place, position)))
        put_matrix(ahead, b, tables.DIRECTORS, D1)
        put(ahead, b, tables.VELOCITY, velocity)
        put_matrix(ahead, b, tables.RATES, spun)
        squares = dot(spun[0], spun[0]), dot(spun[1], spun[1]), dot(spun[2], spun[2])
        spin = dot(vector(numbers, b, tables.EULER2), squares)
        H += 0.25 * (numbers[b, tables.MASS2] * dot(velocity, velocity) + spin)
        H += dot(vector(numbers, b, tables.WEIGHT), place)
    return H


@arithmetic
def _spinning(w: Vec, D: Mat) -> Mat:
    """Return the rates w x d of directors."""
    return cross(w, D[0]), cross(w, D[1]), cross(w, D[2])


@inline
def _without_mass(k: int, D: Mat, V: Mat) -> Mat:
    """Give director k the rate that follows from d_k = d_i x d_j."""
    if k == 0:
        return add(cross(V[1], D[2]), cross(D[1], V[2])), V[1], V[2]
    if k == 1:
        return V[0], add(cross(V[2], D[0]), cross(D[2], V[0])), V[2]
    return V[0], V[1], add(cross(V[0], D[1]), cross(D[0], V[1]))


@kernel
def straighten(bodies: int, state: Array) -> None:
    """Take back what round-off has done to the directors: D (3 - D^T D) / 2, columns being d_i."""
    for b in range(bodies):
        D = matrix(state, b, tables.DIRECTORS)
        lacking = times(0.5, minus(UNIT, multiply(D, transposed(D))))
        put_matrix(state, b, tables.DIRECTORS, plus(D, multiply(lacking, D)))


@kernel
def save_directors(
    places: Array, past: Array, stabilised: Array, state: Array, before: Array, x: Array, mid: Array
) -> None:
    """Write q and v of all bodies at the end of a step, and their mean over it.

    In the plain form w x d is the more exact mean rate of directors, where one without mass has
    none of its own; the last w is in `past`.
    """
    count = state.shape[0] - 1
    n, ground = places[count, tables.COORDINATES], places[count, tables.R]
    for b in range(count):
        # Of a table without signs: plus 0 makes it an integer that loops can count from.
        q, turns = 0 + places[b, tables.COORDINATES], places[b, tables.R] < ground
        rate = q + n
        for i in range(tables.VELOCITY if turns else tables.DIRECTORS):
            j = tables.VELOCITY + i
            x[q + i], x[rate + i] = state[b, i], state[b, j]
            mid[q + i] = 0.5 * (before[b, i] + state[b, i])
            mid[rate + i] = 0.5 * (before[b, j] + state[b, j])
        if stabilised is None and turns:
            w = past[b, 0, 4], past[b, 0, 5], past[b, 0, 6]
            w1, U = vector(state, b, tables.SPUN), matrix(state, b, tables.RATES)
            for k in range(3):
                i, j = q + 3 + 3 * k, rate + 3 + 3 * k
                d, d1 = (mid[i], mid[i + 1], mid[i + 2]), (x[i], x[i + 1], x[i + 2])
                mid[j], mid[j + 1], mid[j + 2] = cross(w, d)
                x[j], x[j + 1], x[j + 2] = add(cross(w1, d1), U[k])
