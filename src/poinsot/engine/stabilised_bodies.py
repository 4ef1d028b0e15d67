"""Inertia of free bodies in the stabilised form (GGL), condensed to twelve unknowns a body.

Directors stay orthonormal at both ends of a step, and so do their rates: d_1 is the Cayley image of
d_0 by w, and V_1 = w_1 x d_1. The multipliers of rigidity drop out of the kinematic equations by
crossing them with the directors at the midpoint, and what they leave in the momentum equations,
sum_i X_i x V_i with X_i = E_i (d_i1 - d_i0 - h V_i), completes these to the angular momentum:

    kinematics    m (v - (v0 + v1) / 2),   sum_i E_i d_i x (w x d_i - (V_i0 + V_i1) / 2)
    momentum      m (v1 - v0) + h grad V,  sum_i E_i (d_i1 x V_i1 - d_i0 x V_i0)
"""

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    cross,
    matrix,
    minus,
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
    vector,
)
from poinsot.kernels.cayley import lever, turn
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.tables import (
    DIRECTORS,
    EULER2,
    HALF,
    KR,
    KR_KR,
    KR_R,
    KT,
    KT_KT,
    KT_T,
    MASS2,
    OF_CLOSURE,
    OF_POSITION,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    R_R,
    RATES,
    RR,
    T_T,
    V1,
    VELOCITY,
    W1,
    WEIGHT,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.kernels.terms import UNIT

ZERO: Mat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@kernel
def stabilised_bodies(
    bodies: Part, h: float, state: Array, stage: Array, x: Array, tiles: Array, sizes: Array
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 3), and tiles unless None."""
    numbers, places = bodies
    for b in range(numbers.shape[0]):
        v, w, v1, w1 = (
            vector(stage, b, V),
            vector(stage, b, W),
            vector(stage, b, V1),
            vector(stage, b, W1),
        )
        v0, a, m = vector(state, b, VELOCITY), scale(0.5 * h, w), 0.5 * numbers[b, MASS2]
        D0, V0 = matrix(state, b, DIRECTORS), matrix(state, b, RATES)
        D = turn(a, D0[0]), turn(a, D0[1]), turn(a, D0[2])
        put(stage, b, HALF, a)
        put(stage, b, POSITION, axpy(0.5 * h, v, vector(state, b, POSITION)))
        put_matrix(stage, b, DIRECTORS, D)
        weight, E = vector(numbers, b, WEIGHT), scale(0.5, vector(numbers, b, EULER2))
        put(x, places[b, KT], 0, scale(m, sub(v, scale(0.5, add(v0, v1)))))
        put(x, places[b, T], 0, axpy(m, sub(v1, v0), scale(h, weight)))
        kinematics, momentum = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        K_K, K_M, M_K, M_M = ZERO, ZERO, ZERO, ZERO
        for i in range(3):
            d, d0, rate = D[i], D0[i], V0[i]
            d1 = sub(scale(2.0, d), d0)
            z = add(rate, cross(w1, d1))
            part = cross(d, sub(cross(w, d), scale(0.5, z)))
            kinematics = axpy(E[i], part, kinematics)
            momentum = axpy(E[i], sub(cross(d1, cross(w1, d1)), cross(d0, rate)), momentum)
            if tiles is not None:
                P = lever(a, d)
                K_K = plus(K_K, times(E[i], _kinematic(h, w, w1, d, z, P)))
                K_M = plus(K_M, times(0.5 * E[i], skew_times(d, skew(d1))))
                M_M = minus(M_M, times(E[i], skew_times(d1, skew(d1))))
                turned = minus(skew_times(cross(w1, d1), P), skew_times(d1, skew_times(w1, P)))
                M_K = plus(M_K, times(E[i] * h, turned))
        put(x, places[b, KR], 0, kinematics)
        put(x, places[b, R], 0, momentum)
        if tiles is not None:
            put_tile(tiles, places[b, KT_KT], times(m, UNIT))
            put_tile(tiles, places[b, KT_T], times(-0.5 * m, UNIT))
            put_tile(tiles, places[b, T_T], times(m, UNIT))
            put_tile(tiles, places[b, KR_KR], K_K)
            put_tile(tiles, places[b, KR_R], K_M)
            put_tile(tiles, places[b, RR], M_K)
            put_tile(tiles, places[b, R_R], M_M)
            push = m * (size(v) + size(v1) + size(v0)) + h * size(weight)
            spin = size(w) + size(w1) + max(size(V0[0]), size(V0[1]), size(V0[2]))
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], push)
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], size(E) * spin)
            sizes[OF_CLOSURE] = max(sizes[OF_CLOSURE], size(v), size(w))
            way = size(vector(state, b, POSITION)) / h
            sizes[OF_POSITION] = max(sizes[OF_POSITION], size(v), way)


@arithmetic
def _kinematic(h: float, w: Vec, w1: Vec, d: Vec, z: Vec, P: Mat) -> Mat:
    """Return how d x (w x d - z/2) changes with w; d changes by -(h/2) P dw, d1 by -h P dw."""
    speed = sub(cross(w, d), scale(0.5, z))
    by_d = minus(skew_times(speed, P), skew_times(d, skew_times(w, P)))
    by_end = skew_times(d, skew_times(w1, P))
    return minus(times(0.5 * h, plus(by_d, by_end)), skew_times(d, skew(d)))
