"""Inertia and weight of free bodies over a step.

With the Euler values E_i, the directors d_i at the midpoint and their rates V_i at the start,

    translation   2 m (v - v0) + h grad V
    rotation      sum_i 2 E_i d_i x (w x d_i - V_i) = 2 (tr A - A) w - 2 sum_i E_i d_i x V_i

with A = sum_i E_i d_i d_i^T. The multipliers of rigidity are normal to this motion and drop out.
"""

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    cross,
    matrix,
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
from poinsot.kernels.cayley import cayley, turn, turned
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.tables import (
    CONDENSED,
    DIRECTORS,
    EULER2,
    HALF,
    MASS2,
    OF_CLOSURE,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    RATES,
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


@kernel
def free_bodies(
    bodies: Part, h: float, state: Array, stage: Array, x: Array, tiles: Array, sizes: Array
) -> None:
    """Place the bodies at the midpoint; set residuals in x (nodes, 3), and tiles unless None."""
    numbers, places = bodies
    forces, torques, speeds = 0.0, 0.0, 0.0
    for b in range(numbers.shape[0]):
        v, w, v0 = vector(stage, b, V), vector(stage, b, W), vector(state, b, VELOCITY)
        a = scale(0.5 * h, w)
        D0, V0 = matrix(state, b, DIRECTORS), matrix(state, b, RATES)
        D = turn(a, D0[0]), turn(a, D0[1]), turn(a, D0[2])
        put(stage, b, HALF, a)
        put(stage, b, POSITION, axpy(0.5 * h, v, vector(state, b, POSITION)))
        put_matrix(stage, b, DIRECTORS, D)
        mass2, E2, weight = (
            numbers[b, MASS2],
            vector(numbers, b, EULER2),
            vector(numbers, b, WEIGHT),
        )
        put(x, places[b, T], 0, axpy(mass2, sub(v, v0), scale(h, weight)))
        M = scale(E2[0], D[0]), scale(E2[1], D[1]), scale(E2[2], D[2])
        spun = cross(M[0], sub(cross(w, D[0]), V0[0]))
        spun = add(spun, cross(M[1], sub(cross(w, D[1]), V0[1])))
        spun = add(spun, cross(M[2], sub(cross(w, D[2]), V0[2])))
        put(x, places[b, R], 0, spun)
        if tiles is not None:
            put_tile(tiles, places[b, RR], _rotation(h, a, D0, M, V0))
            if not places[b, CONDENSED]:
                diagonal = (mass2, 0.0, 0.0), (0.0, mass2, 0.0), (0.0, 0.0, mass2)
                put_tile(tiles, places[b, TT], diagonal)
            push = mass2 * (size(v) + size(v0)) + h * size(weight)
            spin = size(w) + max(size(V0[0]), size(V0[1]), size(V0[2]))
            forces = max(forces, push)
            torques = max(torques, size(E2) * spin)
            speeds = max(speeds, size(v), size(w))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], forces)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torques)
    sizes[OF_CLOSURE] = max(sizes[OF_CLOSURE], speeds)


@arithmetic
def _rotation(h: float, a: Vec, D0: Mat, M: Mat, V0: Mat) -> Mat:
    """Return the derivative of the rotation's residual with respect to w.

    M are the directors times 2 E_i. Because h w x d_i = 2 (d_i - d_i0), the residual is the sum of
    -(2/h) 2 E_i d_i x z_i with z_i = d_i0 + (h/2) V_i0, which does not change in a step. (It is not
    computed like that: what is left of the large terms is small.)
    """
    K = outer(M[0], axpy(0.5 * h, V0[0], D0[0]))
    K = plus(K, outer(M[1], axpy(0.5 * h, V0[1], D0[1])))
    K = plus(K, outer(M[2], axpy(0.5 * h, V0[2], D0[2])))
    return times(-1.0, turned(cayley(a), K))
