"""Inertia and weight of free bodies in unit quaternions, over a step.

    translation   2 m (v - v0) + h grad V
    rotation      L_1 - L_0 = R_1 Pi_1 - R_0 Pi_0

The bodies turn by the Cayley map of w as in directors, and Pi_1 follows from w by Livens' or
Hamilton's equations, see `turning`.
"""

from poinsot.engine.job import FULL, LIVENS, REDUCED, Spins
from poinsot.engine.livens_bodies import (
    full_unknowns,
    momentum_of,
    reduced_unknown,
    velocity_of,
)
from poinsot.kernels.algebra import (
    Array,
    axpy,
    combine,
    dot,
    matrix,
    minus,
    outer,
    plus,
    put,
    put_matrix,
    put_tile,
    scale,
    size,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import lever, turn
from poinsot.kernels.kernel import kernel
from poinsot.kernels.tables import (
    ARMS,
    CONDENSED,
    DIRECTORS,
    HALF,
    MASS2,
    MOMENTUM,
    OF_CLOSURE,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    RR,
    TT,
    VELOCITY,
    WEIGHT,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.kernels.turning import arms_of, hamilton, livens, turn_of


@kernel
def quaternion_bodies(
    bodies: Part,
    spins: Spins,
    auxiliary: int,
    h: float,
    state: Array,
    stage: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 3), and tiles unless None."""
    (numbers, places), inertia = bodies, spins.inertia
    forces, torques, speeds = 0.0, 0.0, 0.0
    for b in range(numbers.shape[0]):
        v, w, v0 = vector(stage, b, V), vector(stage, b, W), vector(state, b, VELOCITY)
        D0, J, a = matrix(state, b, DIRECTORS), vector(inertia, b, 0), scale(0.5 * h, w)
        D = turn(a, D0[0]), turn(a, D0[1]), turn(a, D0[2])
        D1 = (
            sub(scale(2.0, D[0]), D0[0]),
            sub(scale(2.0, D[1]), D0[1]),
            sub(scale(2.0, D[2]), D0[2]),
        )
        put(stage, b, HALF, a)
        put(stage, b, POSITION, axpy(0.5 * h, v, vector(state, b, POSITION)))
        put_matrix(stage, b, DIRECTORS, D)
        if not spins.mean:
            put_matrix(stage, b, ARMS, arms_of(a, D))
        mass2, weight = numbers[b, MASS2], vector(numbers, b, WEIGHT)
        put(x, places[b, T], 0, axpy(mass2, sub(v, v0), scale(h, weight)))
        Pi0, local = vector(state, b, MOMENTUM), (dot(D0[0], a), dot(D0[1], a), dot(D0[2], a))
        turned = turn_of(local, spins.mean)
        if spins.form == LIVENS:
            nu0, pi0 = velocity_of(state, b), momentum_of(state, b)
            Pi1, slopes = livens(h, J, turned, nu0, pi0)
        else:
            Pi1, slopes = hamilton(h, J, turned, local, Pi0)
        put(x, places[b, R], 0, sub(combine(Pi1, D1), combine(Pi0, D0)))
        if tiles is not None:
            # L_1 = R_1 Pi_1 changes with both; a_j is (h/2) d_j·w at the start.
            by_Pi = outer(combine(slopes[0], D1), D0[0])
            by_Pi = plus(by_Pi, outer(combine(slopes[1], D1), D0[1]))
            by_Pi = plus(by_Pi, outer(combine(slopes[2], D1), D0[2]))
            by_R = times(h, lever(a, combine(Pi1, D)))
            put_tile(tiles, places[b, RR], minus(times(0.5 * h, by_Pi), by_R))
            if not places[b, CONDENSED]:
                diagonal = (mass2, 0.0, 0.0), (0.0, mass2, 0.0), (0.0, 0.0, mass2)
                put_tile(tiles, places[b, TT], diagonal)
            forces = max(forces, mass2 * (size(v) + size(v0)) + h * size(weight))
            torques = max(torques, size(J) * size(w) + size(Pi0))
            speeds = max(speeds, size(v), size(w))
        if auxiliary == REDUCED:
            reduced_unknown(spins, b, h, turned, D0, state, stage, x, tiles)
        if auxiliary == FULL:
            full_unknowns(spins, b, h, turned, D0, state, stage, places[b, R], x, tiles)
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], forces)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torques)
    sizes[OF_CLOSURE] = max(sizes[OF_CLOSURE], speeds)
