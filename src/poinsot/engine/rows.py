"""Constraints that are products of vectors of two bodies: axes, slides and rods of joints."""

from poinsot.engine.algebra import Array, Vec, gather, scale, size, vector
from poinsot.engine.cayley import leading
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.parts import (
    COEFFICIENT,
    COLUMN,
    CONSTANT,
    DIRECTORS,
    HALF,
    KIND,
    NODE,
    OF_ROTATION,
    OF_TRANSLATION,
    ROW,
    ROW_PAIR,
    SLOT,
    A,
    B,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.engine.terms import (
    add_change,
    arms,
    beyond,
    change,
    pull,
    pull_on,
    rate,
    value,
    vectors,
)


@kernel
def row_gaps(rows: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps s - constant (nodes, 3) at the start of a step are from those kept."""
    numbers, places = rows
    for k in range(numbers.shape[0]):
        s = value(places[k, KIND], numbers[k, COEFFICIENT], vectors(rows, k, state))
        node, slot = places[k, NODE], places[k, SLOT]
        gap[node, slot] = s - numbers[k, CONSTANT] - kept[node, slot]


@kernel
def constraint_rows(
    rows: Part,
    body_places: Array,
    h: float,
    drift: float,
    gap: Array,
    state: Array,
    stage: Array,
    multiplier: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
    levers: int,
) -> None:
    """Add residuals to x (nodes, 3), and tiles unless None; `drift` times the gap is taken back.

    Forces have the lever arms of the directors in column `levers` of the stage.
    """
    numbers, places = rows
    forces, torques = 0.0, 0.0
    for k in range(numbers.shape[0]):
        kind, c, at = places[k, KIND], numbers[k, COEFFICIENT], places[k]
        first, second, node, slot = at[A], at[B], at[NODE], at[SLOT]
        middle = vectors(rows, k, stage)
        g = pull(kind, c, middle)
        v_A, w_A = vector(stage, first, V), vector(stage, first, W)
        v_B, w_B = vector(stage, second, V), vector(stage, second, W)
        x[node, slot] = rate(g, v_A, w_A, v_B, w_B) + drift * gap[node, slot]
        if levers != DIRECTORS:
            g = pull_on(kind, c, middle, arms(rows, k, stage, levers))
        mu = multiplier[node, slot]
        gather(x, body_places[first, T], 0, scale(mu, g[0]))
        gather(x, body_places[first, R], 0, scale(mu, g[1]))
        gather(x, body_places[second, T], 0, scale(mu, g[2]))
        gather(x, body_places[second, R], 0, scale(mu, g[3]))
        if tiles is not None:
            half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
            end = beyond(middle, vectors(rows, k, state))
            d = change(kind, c, middle, end, half_A, half_B)
            put_column(tiles, at[COLUMN], slot, g[0])
            put_column(tiles, at[COLUMN + 1], slot, g[1])
            put_column(tiles, at[COLUMN + 2], slot, g[2])
            put_column(tiles, at[COLUMN + 3], slot, g[3])
            put_row(tiles, at[ROW], slot, d[0])
            put_row(tiles, at[ROW + 1], slot, d[1])
            put_row(tiles, at[ROW + 2], slot, d[2])
            put_row(tiles, at[ROW + 3], slot, d[3])
            M_A, M_B = leading(h, half_A), leading(h, half_B)
            pair = at[ROW_PAIR:]
            add_change(kind, c * mu, middle, middle, M_A, M_B, 0.5 * h, pair, tiles)
            forces = max(forces, abs(mu) * size(g[0]))
            torques = max(torques, abs(mu) * max(size(g[1]), size(g[3])))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], forces)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torques)


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
