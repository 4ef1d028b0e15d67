"""Common points of two bodies, r_B - r_A = 0, three equations at once.

    v_B + w_B x rho_B - v_A - w_A x rho_A = 0,    force mu on B, torque rho_B x mu

With rho = C rho_0 the velocity w x rho changes by C (dw x rho) = -P dw, P = C [rho], because it is
2 (rho - rho_0) / h; the torque rho x mu changes by (h/2) [mu] P dw.
"""

from poinsot.engine.algebra import (
    Array,
    add,
    axpy,
    combine,
    cross,
    gather,
    gather_matrix,
    matrix,
    put,
    put_matrix,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.engine.cayley import lever
from poinsot.engine.kernel import kernel
from poinsot.engine.parts import (
    CONDENSED,
    DIRECTORS,
    HALF,
    MASS2,
    OF_ROTATION,
    OF_TRANSLATION,
    ON_A,
    ON_B,
    POINT_COLUMN,
    POINT_NODE,
    POINT_ROW,
    POSITION,
    RR,
    A,
    B,
    Part,
    R,
    T,
    V,
    W,
)


@kernel
def gaps(points: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps r_B - r_A (nodes, 3) at the start of a step are from those to be kept."""
    numbers, places = points
    for k in range(numbers.shape[0]):
        first, second = places[k, A], places[k, B]
        on_A = combine(vector(numbers, k, ON_A), matrix(state, first, DIRECTORS))
        on_B = combine(vector(numbers, k, ON_B), matrix(state, second, DIRECTORS))
        r_A = add(vector(state, first, POSITION), on_A)
        r_B, node = add(vector(state, second, POSITION), on_B), places[k, POINT_NODE]
        put(gap, node, 0, sub(sub(r_B, r_A), vector(kept, node, 0)))


@kernel
def common_points(
    points: Part,
    body_places: Array,
    h: float,
    drift: float,
    gap: Array,
    stage: Array,
    multiplier: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
    arms_at: int,
) -> None:
    """Add residuals to x (nodes, 3), and tiles unless None; `drift` times the gap is taken back.

    The force has the lever arms of the directors in column `arms_at` of the stage.
    """
    numbers, places = points
    forces, torques = 0.0, 0.0
    for k in range(numbers.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, POINT_NODE]
        rho_A = combine(vector(numbers, k, ON_A), matrix(stage, first, DIRECTORS))
        rho_B = combine(vector(numbers, k, ON_B), matrix(stage, second, DIRECTORS))
        mu = vector(multiplier, node, 0)
        v_A = add(vector(stage, first, V), cross(vector(stage, first, W), rho_A))
        v_B = add(vector(stage, second, V), cross(vector(stage, second, W), rho_B))
        put(x, node, 0, axpy(drift, vector(gap, node, 0), sub(v_B, v_A)))
        arm_A, arm_B = rho_A, rho_B
        if arms_at != DIRECTORS:
            arm_A = combine(vector(numbers, k, ON_A), matrix(stage, first, arms_at))
            arm_B = combine(vector(numbers, k, ON_B), matrix(stage, second, arms_at))
        gather(x, body_places[first, T], 0, scale(-1.0, mu))
        gather(x, body_places[first, R], 0, cross(mu, arm_A))
        gather(x, body_places[second, T], 0, mu)
        gather(x, body_places[second, R], 0, cross(arm_B, mu))
        if tiles is not None:
            P_A = lever(vector(stage, first, HALF), rho_A)
            P_B = lever(vector(stage, second, HALF), rho_B)
            put_matrix(tiles, places[k, POINT_COLUMN], 0, skew(scale(-1.0, arm_A)))
            put_matrix(tiles, places[k, POINT_COLUMN + 1], 0, skew(arm_B))
            put_matrix(tiles, places[k, POINT_ROW], 0, P_A)
            put_matrix(tiles, places[k, POINT_ROW + 1], 0, times(-1.0, P_B))
            push = scale(0.5 * h, mu)
            gather_matrix(tiles, body_places[first, RR], 0, skew_times(scale(-1.0, push), P_A))
            gather_matrix(tiles, body_places[second, RR], 0, skew_times(push, P_B))
            forces = max(forces, size(mu))
            torques = max(torques, size(mu) * max(size(rho_A), size(rho_B)))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], forces)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torques)


@kernel
def fold(points: Part, bodies: Part, x: Array) -> None:
    """Eliminate the translation of condensed bodies from the right-hand side x (nodes, 3)."""
    places, of_body, numbers = points.places, bodies.places, bodies.numbers
    for k in range(places.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, POINT_NODE]
        if of_body[first, CONDENSED]:
            gather(x, node, 0, scale(1.0 / numbers[first, MASS2], vector(x, of_body[first, T], 0)))
        if of_body[second, CONDENSED]:
            push = vector(x, of_body[second, T], 0)
            gather(x, node, 0, scale(-1.0 / numbers[second, MASS2], push))


@kernel
def unfold(points: Part, bodies: Part, x: Array) -> None:
    """Recover the translation of condensed bodies from the solution x (nodes, 3)."""
    places, of_body, numbers = points.places, bodies.places, bodies.numbers
    for k in range(places.shape[0]):
        first, second, mu = places[k, A], places[k, B], vector(x, places[k, POINT_NODE], 0)
        if of_body[first, CONDENSED]:
            gather(x, of_body[first, T], 0, mu)
        if of_body[second, CONDENSED]:
            gather(x, of_body[second, T], 0, scale(-1.0, mu))
    for b in range(numbers.shape[0]):
        if of_body[b, CONDENSED]:
            node = of_body[b, T]
            put(x, node, 0, scale(1.0 / numbers[b, MASS2], vector(x, node, 0)))
