"""Constraints that are products of vectors of two bodies: axes, slides and rods of joints.

Up to three equations that differ in one vector only are one row here: b_i·a with axis a on A and
directions b_i on B (DOT), n_i·r with directions n_i on A (OFFSET), r = r_B - r_A; or it is one
equation c r·r (DISTANCE). Their reactions are summed up to one force or torque. With a' = h w / 2 a
vector of a body at the end of the step is x + a' x x, and C^T turns it back to x.
"""

from poinsot.engine.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    combine,
    cross,
    dot,
    gather,
    gather_matrix,
    matrix,
    minus,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.engine.cayley import lever, turn_back
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.parts import (
    COEFFICIENT,
    COLUMN,
    CONSTANT,
    COUNT,
    DIRECTION_A,
    DIRECTORS,
    HALF,
    KIND,
    NODE,
    OF_ROTATION,
    OF_TRANSLATION,
    POINT_A,
    POINT_B,
    POSITION,
    ROW,
    ROW_PAIR,
    SLOT,
    VARIED,
    A,
    B,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.engine.terms import (
    DISTANCE,
    DOT,
    NONE,
    RA_RA,
    RA_RB,
    RB_RA,
    RB_RB,
    UNIT,
    gather_blocks,
)


@kernel
def row_gaps(rows: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps s - constant (nodes, 3) at the start of a step are from those kept."""
    numbers, places = rows
    for k in range(numbers.shape[0]):
        at = places[k]
        D_A, D_B = matrix(state, at[A], DIRECTORS), matrix(state, at[B], DIRECTORS)
        node, slot, frame = at[NODE], at[SLOT], D_A
        if at[KIND] == DOT:
            frame, other = D_B, combine(vector(numbers, k, DIRECTION_A), D_A)
        else:
            other = _between(rows, k, state, D_A, D_B)
        for i in range(at[COUNT]):
            varied = combine(vector(numbers, k, VARIED + 3 * i), frame)
            if at[KIND] == DISTANCE:
                varied = scale(numbers[k, COEFFICIENT], other)
            s = dot(varied, other) - numbers[k, CONSTANT + i]
            gap[node, slot + i] = s - kept[node, slot + i]


@inline
def _between(rows: Part, k: int, motion: Array, D_A: Mat, D_B: Mat) -> Vec:
    """Return r."""
    numbers, at = rows.numbers, rows.places[k]
    r_A = add(vector(motion, at[A], POSITION), combine(vector(numbers, k, POINT_A), D_A))
    r_B = add(vector(motion, at[B], POSITION), combine(vector(numbers, k, POINT_B), D_B))
    return sub(r_B, r_A)


@kernel
def constraint_rows(
    rows: Part,
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

    Forces have the lever arms of the directors in column `arms_at` of the stage.
    """
    for k in range(rows.numbers.shape[0]):
        for i in range(rows.places[k, COUNT]):
            node, slot = rows.places[k, NODE], rows.places[k, SLOT] + i
            x[node, slot] = drift * gap[node, slot]
        if rows.places[k, KIND] == DOT:
            _directions(rows, k, body_places, h, stage, multiplier, x, tiles, sizes, arms_at)
        else:
            _points(rows, k, body_places, h, stage, multiplier, x, tiles, sizes, arms_at)


@inline
def _directions(
    rows: Part,
    k: int,
    body_places: Array,
    h: float,
    stage: Array,
    multiplier: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
    arms_at: int,
) -> None:
    """Keep directions b_i of B across an axis a of A.

    The torque on A is a x t with t = sum mu_i b_i, the opposite on B.
    """
    numbers, at = rows.numbers, rows.places[k]
    first, second, node, slot, count = at[A], at[B], at[NODE], at[SLOT], at[COUNT]
    D_A, D_B = matrix(stage, first, DIRECTORS), matrix(stage, second, DIRECTORS)
    a = combine(vector(numbers, k, DIRECTION_A), D_A)
    along, X_t = cross(sub(vector(stage, first, W), vector(stage, second, W)), a), NONE
    half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
    arm, torque = a, 0.0
    if arms_at != DIRECTORS:
        arm = combine(vector(numbers, k, DIRECTION_A), matrix(stage, first, arms_at))
    if tiles is not None:
        P_a, back = lever(half_A, a), turn_back(half_B, add(a, cross(half_A, a)))
    for i in range(count):
        X, mu = vector(numbers, k, VARIED + 3 * i), multiplier[node, slot + i]
        b = combine(X, D_B)
        X_t = axpy(mu, X, X_t)
        x[node, slot + i] += dot(b, along)
        if tiles is not None:
            on_A, on_B = cross(arm, b), cross(b, a)
            if arms_at != DIRECTORS:
                on_B = cross(combine(X, matrix(stage, second, arms_at)), a)
            put_column(tiles, at[COLUMN + 1], slot + i, on_A)
            put_column(tiles, at[COLUMN + 3], slot + i, on_B)
            end = add(b, cross(half_B, b))
            put_row(tiles, at[ROW + 1], slot + i, scale(-1.0, combine(end, P_a)))
            put_row(tiles, at[ROW + 3], slot + i, cross(b, back))
            torque = max(torque, abs(mu) * max(size(on_A), size(on_B)))
    t = combine(X_t, D_B)
    arm_t = t
    if arms_at != DIRECTORS:
        arm_t = combine(X_t, matrix(stage, second, arms_at))
    gather(x, body_places[first, R], 0, cross(arm, t))
    gather(x, body_places[second, R], 0, cross(arm_t, a))
    if tiles is not None:
        sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torque)
        turned_A = skew_times(scale(0.5 * h, t), P_a)
        turned_B = skew_times(scale(0.5 * h, a), lever(half_B, t))
        pair = at[ROW_PAIR:]
        gather_matrix(tiles, pair[RA_RA], 0, turned_A)
        gather_matrix(tiles, pair[RB_RB], 0, turned_B)
        if pair[RA_RB] < tiles.shape[0] - 1:
            gather_matrix(tiles, pair[RA_RB], 0, times(-1.0, turned_B))
            gather_matrix(tiles, pair[RB_RA], 0, times(-1.0, turned_A))


@inline
def _points(
    rows: Part,
    k: int,
    body_places: Array,
    h: float,
    stage: Array,
    multiplier: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
    arms_at: int,
) -> None:
    """Keep r across directions n_i of A, or its length; the force on B is t = sum mu_i n_i.

    It has the torque rho_B x t on B and t x (r + rho_A) on A.
    """
    numbers, at = rows.numbers, rows.places[k]
    first, second, node, slot, count = at[A], at[B], at[NODE], at[SLOT], at[COUNT]
    rod, c = at[KIND] == DISTANCE, numbers[k, COEFFICIENT]
    X_A, X_B = vector(numbers, k, POINT_A), vector(numbers, k, POINT_B)
    D_A, D_B = matrix(stage, first, DIRECTORS), matrix(stage, second, DIRECTORS)
    L_A, L_B = matrix(stage, first, arms_at), matrix(stage, second, arms_at)
    rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
    reach = sub(add(vector(stage, second, POSITION), rho_B), vector(stage, first, POSITION))
    r = sub(reach, rho_A)
    v, w_A, w_B = vector(stage, second, V), vector(stage, first, W), vector(stage, second, W)
    v = sub(v, vector(stage, first, V))
    u = sub(add(v, cross(w_B, rho_B)), cross(w_A, reach))
    X_t, t = NONE, NONE
    for i in range(count):
        X, mu = vector(numbers, k, VARIED + 3 * i), multiplier[node, slot + i]
        n = scale(2.0 * c, r) if rod else combine(X, D_A)
        X_t, t = axpy(mu, X, X_t), axpy(mu, n, t)
        x[node, slot + i] += dot(n, u)
    torque_A, torque_B = cross(t, reach), cross(rho_B, t)
    if arms_at != DIRECTORS:
        torque_A = add(cross(t, combine(X_A, L_A)), cross(combine(X_t, L_A), r))
        torque_B = cross(combine(X_B, L_B), t)
    gather(x, body_places[first, T], 0, scale(-1.0, t))
    gather(x, body_places[first, R], 0, torque_A)
    gather(x, body_places[second, T], 0, t)
    gather(x, body_places[second, R], 0, torque_B)
    if tiles is not None:
        half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
        dr = axpy(0.5 * h, v, sub(cross(half_B, rho_B), cross(half_A, rho_A)))
        back, P_B = turn_back(half_A, add(r, dr)), lever(half_B, rho_B)
        for i in range(count):
            X = vector(numbers, k, VARIED + 3 * i)
            n = scale(2.0 * c, r) if rod else combine(X, D_A)
            end = scale(2.0 * c, add(r, dr)) if rod else add(n, cross(half_A, n))
            on_A, on_B = cross(n, reach), cross(rho_B, n)
            if arms_at != DIRECTORS:
                on_A = add(cross(n, combine(X_A, L_A)), cross(combine(X, L_A), r))
                on_B = cross(combine(X_B, L_B), n)
            by_A = cross(n, add(back, rho_A))
            if rod:
                by_A = cross(scale(2.0 * c, back), rho_A)
            put_column(tiles, at[COLUMN], slot + i, scale(-1.0, n))
            put_column(tiles, at[COLUMN + 1], slot + i, on_A)
            put_column(tiles, at[COLUMN + 2], slot + i, n)
            put_column(tiles, at[COLUMN + 3], slot + i, on_B)
            put_row(tiles, at[ROW], slot + i, scale(-1.0, end))
            put_row(tiles, at[ROW + 1], slot + i, by_A)
            put_row(tiles, at[ROW + 2], slot + i, end)
            put_row(tiles, at[ROW + 3], slot + i, scale(-1.0, combine(end, P_B)))
            mu = abs(multiplier[node, slot + i])
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], mu * size(n))
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], mu * max(size(on_A), size(on_B)))
        # The force t changes by nu (dv_B - dv_A) + N_A dw_A + N_B dw_B, and rho_B by R_B dw_B.
        f, bend = 0.5 * h, 2.0 * c * multiplier[node, slot] if rod else 0.0
        nu, R_B = f * bend, times(-f, P_B)
        N_A = lever(half_A, scale(bend, rho_A) if rod else scale(-1.0, t))
        N_A, N_B = times(f, N_A), times(bend, R_B)
        t_x_R_B = skew_times(t, R_B)
        gather_blocks(
            tiles,
            at[ROW_PAIR:],
            (times(nu, UNIT), N_A, N_B),
            (
                skew(axpy(f, t, scale(-nu, reach))),
                times(-1.0, skew_times(reach, N_A)),
                minus(t_x_R_B, skew_times(reach, N_B)),
            ),
            (
                skew(scale(nu, rho_B)),
                skew_times(rho_B, N_A),
                minus(skew_times(rho_B, N_B), t_x_R_B),
            ),
        )


@inline
def put_column(tiles: Array, place: int, slot: int, a: Vec) -> None:
    """Store a in a column of a tile."""
    tiles[place, slot] = a[0]
    tiles[place, 3 + slot] = a[1]
    tiles[place, 6 + slot] = a[2]


@inline
def put_row(tiles: Array, place: int, slot: int, a: Vec) -> None:
    """Store a in a row of a tile."""
    tiles[place, 3 * slot] = a[0]
    tiles[place, 3 * slot + 1] = a[1]
    tiles[place, 3 * slot + 2] = a[2]
