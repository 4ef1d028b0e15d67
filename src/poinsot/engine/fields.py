"""Potentials of many points and directions of bodies, by laws that give the discrete gradient."""

from poinsot.engine.algebra import (
    Array,
    Mat,
    Vec,
    add,
    combine,
    cross,
    gather,
    gather_matrix,
    matrix,
    multiply,
    scale,
    size,
    skew_times,
    times,
    vector,
)
from poinsot.engine.cayley import lever
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.laws import call_law
from poinsot.engine.parts import (
    DIRECTORS,
    HALF,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    RR,
    Fields,
    R,
    T,
    Work,
)


@kernel
def fields_act(
    fields: Fields,
    body_places: Array,
    h: float,
    state: Array,
    stage: Array,
    work: Work,
    tiles: Array,
    arms_at: int,
) -> None:
    """Add residuals to work.x (nodes, 3), and tiles unless None.

    Forces have the lever arms of the directors in column `arms_at` of the stage.
    """
    given, found, x, sizes = work.given, work.found, work.x, work.sizes
    for k in range(fields.laws.size):
        first, last = fields.first[k, 0], fields.first[k + 1, 0]
        count = 3 * (last - first)
        for i in range(first, last):
            start, middle = _vector(fields, i, state), _vector(fields, i, stage)
            j = 3 * (i - first)
            for n in range(3):
                given[j + n] = start[n]
                given[count + j + n] = 2.0 * middle[n] - start[n]
        call_law(fields.laws[k], given, found)
        for i in range(first, last):
            b, j = fields.bodies[i], 1 + 3 * (i - first)
            rho = combine(vector(fields.numbers, i, 1), matrix(stage, b, DIRECTORS))
            z = found[j], found[j + 1], found[j + 2]
            arm = combine(vector(fields.numbers, i, 1), matrix(stage, b, arms_at))
            force, torque = scale(h * fields.numbers[i, 0], z), scale(h, cross(arm, z))
            gather(x, body_places[b, T], 0, force)
            gather(x, body_places[b, R], 0, torque)
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], size(force))
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], size(torque))
            if tiles is not None:
                P = times(0.5 * h * h, lever(vector(stage, b, HALF), rho))
                gather_matrix(tiles, body_places[b, RR], 0, skew_times(z, P))
        if tiles is not None:
            _add_stiffness(fields, k, h, stage, found, tiles)


@inline
def _vector(fields: Fields, i: int, motion: Array) -> Vec:
    b = fields.bodies[i]
    rho = combine(vector(fields.numbers, i, 1), matrix(motion, b, DIRECTORS))
    return add(scale(fields.numbers[i, 0], vector(motion, b, POSITION)), rho)


@kernel
def _add_stiffness(
    fields: Fields, k: int, h: float, stage: Array, found: Array, tiles: Array
) -> None:
    """Add h (I; [rho_i]) dz_i/da_j (h I, -h P_j) for all pairs of vectors of a field."""
    numbers, bodies = fields.numbers, fields.bodies
    first, last, place = fields.first[k, 0], fields.first[k + 1, 0], fields.first[k, 1]
    count = 3 * (last - first)
    for i in range(first, last):
        rho = combine(vector(numbers, i, 1), matrix(stage, bodies[i], DIRECTORS))
        for j in range(first, last):
            b = bodies[j]
            rho_j = combine(vector(numbers, j, 1), matrix(stage, b, DIRECTORS))
            slope = times(h * h, _slope(found, 1 + count, count, i - first, j - first))
            by_v = times(numbers[j, 0], slope)
            by_w = times(-1.0, multiply(slope, lever(vector(stage, b, HALF), rho_j)))
            pair = fields.pairs[place]
            gather_matrix(tiles, pair[0], 0, times(numbers[i, 0], by_v))
            gather_matrix(tiles, pair[1], 0, times(numbers[i, 0], by_w))
            gather_matrix(tiles, pair[2], 0, skew_times(rho, by_v))
            gather_matrix(tiles, pair[3], 0, skew_times(rho, by_w))
            place += 1


@inline
def _slope(found: Array, start: int, count: int, i: int, j: int) -> Mat:
    """Return block (i, j) of a matrix (count, count) that starts at a place."""
    a = start + 3 * i * count + 3 * j
    b = a + count
    c = b + count
    return (
        (found[a], found[a + 1], found[a + 2]),
        (found[b], found[b + 1], found[b + 2]),
        (found[c], found[c + 1], found[c + 2]),
    )


@kernel
def field_energy(fields: Fields, state: Array, work: Work) -> float:
    """Return the energy of all fields [J]."""
    total = 0.0
    for k in range(fields.laws.size):
        first, last = fields.first[k, 0], fields.first[k + 1, 0]
        for i in range(first, last):
            at, j = _vector(fields, i, state), 3 * (i - first)
            for n in range(3):
                work.given[j + n] = work.given[3 * (last - first) + j + n] = at[n]
        call_law(fields.laws[k], work.given, work.found)
        total += work.found[0]
    return total
