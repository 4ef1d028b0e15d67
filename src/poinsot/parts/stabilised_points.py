"""Common points of two bodies in the stabilised form: r_B - r_A = 0 at the end, and its rate.

The multiplier gamma of positions moves points by kinematics, -gamma on B with -rho_B x gamma, and
acts on the momentum as h rho_B' x gamma; mu of velocities acts as in the plain form. Both equations
are taken at the end of the step: for quadratic constraints that is the same, and does not drift.
"""

import numpy as np

from poinsot.frames.products import Index, Products
from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    add_tile,
    combine,
    cross,
    gather,
    matrix,
    put,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.tables import (
    DIRECTORS,
    HALF,
    KR,
    KR_KR,
    KT,
    OF_POSITION,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    R_R,
    RATES,
    RR,
    V1,
    W1,
    A,
    Part,
    R,
    Step,
    T,
)
from poinsot.kernels.terms import UNIT

#: Where points are on either body.
ON_A, ON_B = 0, 3
#: Of places, in the stabilised form of all constraints: nodes of positions and velocities, the
#: slot in both; tiles of either node with kinematics (K) and momentum (M) of A and B.
NODE, SLOT, VELOCITY_NODE, K_G, M_G, M_H, G_K, H_K, H_M = 4, 5, 6, 7, 11, 15, 19, 23, 27


def stabilised_places(graph: Graph, tiles: Tiles, at: Products, joint: Index, slot: Index) -> Index:
    """Return what equations of the stabilised form meet besides pairs of bodies."""
    K, M, table = graph.pair(at.ends, moving=True), graph.pair(at.ends), tiles.table
    G, H = graph.position(joint)[:, None], graph.velocity(joint)[:, None]
    columns = table(K, G), table(M, G), table(M, H)
    rows = table(G, K), table(H, K), table(H, M)
    return np.column_stack([at.kind, graph.ends(at.ends), 0 * joint, G, slot, H, *columns, *rows])


@kernel
def stabilised_points(points: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, x, sizes, multiplier = step.h, step.x, step.sizes, step.multiplier
    numbers, places = points
    for k in range(numbers.shape[0]):
        at = places[k]
        gamma, mu = vector(multiplier, at[NODE], 0), vector(multiplier, at[VELOCITY_NODE], 0)
        put(x, at[NODE], 0, (0.0, 0.0, 0.0))
        put(x, at[VELOCITY_NODE], 0, (0.0, 0.0, 0.0))
        _side(-1.0, points, k, 0, gamma, mu, step, tiles)
        _side(1.0, points, k, 1, gamma, mu, step, tiles)
        if tiles is not None:
            reach = max(size(vector(numbers, k, ON_A)), size(vector(numbers, k, ON_B)))
            sizes[OF_POSITION] = max(sizes[OF_POSITION], reach / h)
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], size(mu), size(gamma))
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], size(mu) * reach, size(gamma) * reach)


@kernel
def _side(
    sign: float, points: Part, k: int, side: int, gamma: Vec, mu: Vec, step: Step, tiles: Array
) -> None:
    """Add what one body of point k contributes and feels: A (side 0) or B (side 1)."""
    h, state, stage, x, bodies = step.h, step.state, step.stage, step.x, step.bodies
    at = points.places[k]
    b, X, shift = at[A + side], vector(points.numbers, k, ON_A + 3 * side), 2 * side
    rho0, rho = combine(X, matrix(state, b, DIRECTORS)), combine(X, matrix(stage, b, DIRECTORS))
    rho1, w1 = sub(scale(2.0, rho), rho0), vector(stage, b, W1)
    rate = scale(0.5, add(combine(X, matrix(state, b, RATES)), cross(w1, rho1)))
    position = sub(scale(2.0, vector(stage, b, POSITION)), vector(state, b, POSITION))
    gather(x, at[NODE], 0, scale(sign / h, add(position, rho1)))
    gather(x, at[VELOCITY_NODE], 0, scale(sign, add(vector(stage, b, V1), cross(w1, rho1))))
    gather(x, bodies[b, KT], 0, scale(-sign, gamma))
    gather(x, bodies[b, KR], 0, scale(-sign, cross(rho, gamma)))
    gather(x, bodies[b, T], 0, scale(sign, mu))
    torque = add(cross(rho, mu), scale(h, cross(rate, gamma)))
    gather(x, bodies[b, R], 0, scale(sign, torque))
    if tiles is not None:
        P, one = lever(vector(stage, b, HALF), rho), times(sign, UNIT)
        turned = times(h, skew_times(w1, P))
        put_tile(tiles, at[K_G + shift], times(-1.0, one))
        put_tile(tiles, at[K_G + shift + 1], skew(scale(-sign, rho)))
        put_tile(tiles, at[M_G + shift + 1], skew(scale(sign * h, rate)))
        put_tile(tiles, at[M_H + shift], one)
        put_tile(tiles, at[M_H + shift + 1], skew(scale(sign, rho)))
        put_tile(tiles, at[G_K + shift], one)
        put_tile(tiles, at[G_K + shift + 1], times(-sign, P))
        put_tile(tiles, at[H_K + shift + 1], times(-sign, turned))
        put_tile(tiles, at[H_M + shift], one)
        put_tile(tiles, at[H_M + shift + 1], skew(scale(-sign, rho1)))
        by_gamma = times(-0.5 * h * sign, skew_times(gamma, P))
        add_tile(tiles, bodies[b, KR_KR], by_gamma)
        add_tile(tiles, bodies[b, RR], times(0.5 * h * sign, skew_times(mu, P)))
        by_rate = times(0.5 * h * sign, skew_times(gamma, turned))
        add_tile(tiles, bodies[b, RR], by_rate)
        by_end = times(0.5 * h * sign, skew_times(gamma, skew(rho1)))
        add_tile(tiles, bodies[b, R_R], by_end)
