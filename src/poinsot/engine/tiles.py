"""Sparse LU of a matrix of 3x3 tiles: analysed once, factorised every step.

The matrix is a graph: a node is three equations and three unknowns, an edge a pair of tiles. Which
tiles meet in the elimination is worked out once, as lists of places; factorising then is nothing
but products of 3x3 matrices. Pivots are tiles; no rows are exchanged between tiles.
"""

import math
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine.ordering import least_degree, waiting
from poinsot.kernels.algebra import (
    Array,
    Columns,
    Four,
    Mat,
    Vec,
    add_four,
    adjugate,
    apply,
    apply_columns,
    columns,
    four,
    gather,
    inverse_by_rows,
    less,
    put,
    put_columns,
    put_four,
    scale_four,
    sub,
    three,
    tile,
    tile_columns,
    transposed,
    vector,
    wide,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Places, Tiles
from poinsot.kernels.tables import Index1, Rows4, Rows12, Triples

#: A pivot has an inverse that is not good enough if it cancels so much, see `_cancels`.
ROUGH = 1e4

#: How often solutions are refined where that is asked for.
REFINED = 3

#: Columns of the schedule's pivots.
PIVOT, NODE, FIRST = range(3)


class Schedule(NamedTuple):
    """The elimination as lists.

    `pivots` (P + 1, 3): diagonal tile, node, and first entry of each pivot; `entries` (k,): the
    nodes that it meets, whose tiles below and then right of the pivot follow its own; `updates`:
    the tiles that all products of lower and upper ones are subtracted from, in order.
    """

    pivots: Triples
    entries: Index1
    updates: Index1


class Template(NamedTuple):
    """What tiles hold before bodies and joints add to them: `tiles` (k, 12) at `places`.

    The others hold zero.
    """

    tiles: Rows12
    places: Index1


class Refinement(NamedTuple):
    """Room to refine solutions, or none: the matrix before it is factorised, `right` and `lacking`.

    These (nodes, 4) are the right-hand side, and what a solution lacks.
    """

    matrix: Rows12
    right: Rows4
    lacking: Rows4


class Pattern(NamedTuple):
    """The tiles of a matrix: their number, the place of each, and the schedule of elimination."""

    tiles: int
    place: Places
    schedule: Schedule


def analyse(nodes: int, edges: ArrayLike, after: Sequence[Sequence[int]]) -> Pattern:
    """Return the tiles of a matrix with these edges, and how to eliminate them.

    `after` as in `least_degree`. Tiles are numbered as elimination and solution meet them: the
    pivot's own, then all those below it, then all those right of it.
    """
    pairs = np.asarray(edges, dtype=np.intp).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    ends = np.searchsorted(both[:, 0], np.arange(nodes + 1)).tolist()
    others = both[:, 1].tolist()
    neighbours = [set(others[i:j]) for i, j in pairwise(ends)]
    order = np.array(least_degree(neighbours, after), dtype=np.intp)
    rank = np.zeros(nodes, dtype=np.intp)
    rank[order] = np.arange(order.size)
    counts = np.array([len(neighbours[node]) for node in order.tolist()], dtype=np.intp)
    pivot = np.repeat(np.arange(order.size), counts)
    other = np.fromiter(chain.from_iterable(neighbours[k] for k in order.tolist()), np.intp)
    other = other[np.lexsort([rank[other], pivot])]
    first = np.append(0, np.cumsum(counts))
    own = np.arange(order.size) + 2 * first[:-1]
    lower = own[pivot] + 1 + np.arange(pivot.size) - first[pivot]
    upper = lower + counts[pivot]
    keys = np.concatenate([order * (nodes + 1), other * nodes + order[pivot]])
    keys = np.concatenate([keys, order[pivot] * nodes + other])
    places = np.concatenate([own, lower, upper])
    sorting = np.argsort(keys)
    place = Places(nodes, keys[sorting], places[sorting])
    # All products of an entry below the pivot (`third`) with one to the right of it (`entry`).
    products = counts[pivot]
    entry = np.repeat(np.arange(pivot.size), products)
    third = np.arange(entry.size) - np.repeat(
        np.cumsum(products) - products - first[pivot], products
    )
    schedule = Schedule(
        _index(np.append(own, 0), np.append(order, 0), first),
        other.astype(np.uint32),
        place(other[third], other[entry]).astype(np.uint32),
    )
    return Pattern(keys.size, place, schedule)


def arrange(
    graph: Graph, ends: Sequence[Sequence[int]], joint: Sequence[int]
) -> tuple[Tiles, Schedule]:
    """Return the tiles of a graph, and the order of elimination.

    `ends` are the bodies of every joint, the ground left out; `joint` is that of every group of
    equations.
    """
    kept = np.ones(graph.nodes, dtype=bool)
    kept[graph.motion(np.flatnonzero(graph.condensed[:-1]))[:, 0]] = False
    count = int(kept.sum())
    number = np.append(np.where(kept, np.cumsum(kept) - 1, count), count)
    # The nodes of a body follow each other.
    first = np.append(0, np.cumsum(kept))[graph.first].tolist()
    # Parts of a body are eliminated with it.
    body_nodes: list[list[int]] = [[] for _ in graph.owner]
    for owner, (i, j) in zip(graph.owner.tolist(), pairwise(first), strict=True):
        body_nodes[owner] += range(i, j)
    owners = [[b if b < 0 else int(graph.owner[b]) for b in bodies] for bodies in ends]
    wait = waiting(owners, body_nodes)
    after: list[tuple[int, ...]] = [()] * first[-1]
    if graph.auxiliary:
        # A rotation is hardly determined by itself while auxiliary unknowns of the body are there.
        turning = np.flatnonzero(graph.turns)
        rotations = number[graph.motion(turning)[:, 1]]
        for node, auxiliaries in zip(
            rotations.tolist(), number[graph.auxiliaries(turning)], strict=True
        ):
            after[node] = tuple(auxiliaries.tolist())
    after += [wait[k] for k in joint for _ in range(graph.forms)]
    pattern = analyse(count, number[graph.edges], after)
    back, schedule = np.flatnonzero(kept).astype(np.uint32), pattern.schedule
    schedule.pivots[:-1, NODE] = back[schedule.pivots[:-1, NODE]]
    schedule.entries[:] = back[schedule.entries]
    return Tiles(pattern.tiles, pattern.place, number), schedule


def _index(*columns: NDArray[np.intp]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.uint32)


def aligned(*shape: int) -> NDArray[np.float64]:
    """Return zeros that begin with a line of the cache: no column of a tile lies in two lines."""
    size, line = math.prod(shape), 8
    room = np.zeros(size + line)
    start = -room.ctypes.data // room.itemsize % line
    return room[start : start + size].reshape(shape)


def pack(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return matrices (count, 3, 3) as tiles (count, 12)."""
    tiles = aligned(len(matrices), 12)
    tiles.reshape(-1, 3, 4)[:, :, :3] = matrices.swapaxes(1, 2)
    return tiles


@kernel
def clear(template: Template, tiles: Array) -> None:
    """Set tiles to the template."""
    zero = wide((0.0, 0.0, 0.0))
    for i in range(tiles.shape[0]):
        put_columns(tiles, i, (zero, zero, zero))
    for k in range(template.places.size):
        put_columns(tiles, template.places[k], columns(template.tiles, k))


@inline
def row_of(pivots: Array, p: int) -> tuple[int, int, int, int]:
    """Return node, first entry, number of entries and tile of a pivot, as numbers with a sign."""
    first = 0 + pivots[p, FIRST]
    return 0 + pivots[p, NODE], first, pivots[p + 1, FIRST] - first, 0 + pivots[p, PIVOT]


@kernel
def factorise(schedule: Schedule, tiles: Array, x: Array, hardly: bool) -> None:
    """Replace tiles by their factors: pivots by their inverses, those right of them by U, below L.

    Both have units on their diagonals, the matrix is L D U: nothing that `reduce` and `solve` find
    has to wait for a pivot. The right-hand side x (nodes, 4) becomes L^-1 x on the way. `hardly`:
    pivots may be hardly regular, since some equations repeat others, springs are much stiffer than
    inertia, or bodies slender: cofactors would cancel.
    """
    pivots, entries, updates = schedule
    k = 0
    for p in range(pivots.shape[0] - 1):
        node, first, count, pivot = row_of(pivots, p)
        # Products go on with the adjugate; division by the determinant takes longer than they do.
        A, own = tile(tiles, pivot), columns(tiles, pivot)
        by_rows, d = (inverse_by_rows(A), 1.0) if hardly else adjugate(A)
        d, D = 1.0 / d, transposed(by_rows)
        inverse = wide(D[0]), wide(D[1]), wide(D[2])
        rough = hardly and _cancels(A, by_rows) > ROUGH
        put_columns(tiles, pivot, _scaled(d, inverse))
        lower, upper = pivot + 1, pivot + 1 + count
        for j in range(count):
            B = tile_columns(tiles, upper + j)
            U = (
                apply_columns(inverse, B[0]),
                apply_columns(inverse, B[1]),
                apply_columns(inverse, B[2]),
            )
            if rough:
                U = (
                    _refined(inverse, own, B[0], U[0]),
                    _refined(inverse, own, B[1], U[1]),
                    _refined(inverse, own, B[2], U[2]),
                )
            put_columns(tiles, upper + j, _scaled(d, U))
        for j in range(count):
            u = tile_columns(tiles, upper + j)
            for i in range(count):
                L, C = columns(tiles, lower + i), columns(tiles, updates[k])
                C = less(C[0], L, u[0]), less(C[1], L, u[1]), less(C[2], L, u[2])
                put_columns(tiles, updates[k], C)
                k += 1
        known = vector(x, node, 0)
        for i in range(count):
            L = columns(tiles, lower + i)
            L = apply_columns(L, D[0]), apply_columns(L, D[1]), apply_columns(L, D[2])
            L = _scaled(d, L)
            put_columns(tiles, lower + i, L)
            _subtract(x, entries, first + i, L, known)


@arithmetic
def _cancels(A: Mat, inverse: Mat) -> float:
    """Return by how much elimination of the others reduces a diagonal entry: A_ii A^-1_ii, at most.

    That is so whatever the units of rows and columns.
    """
    rest = max(abs(A[0][0] * inverse[0][0]), abs(A[1][1] * inverse[1][1]))
    return max(rest, abs(A[2][2] * inverse[2][2]))


@arithmetic
def _subtract(x: Array, entries: Array, i: int, L: Columns, known: Vec) -> None:
    """Subtract L times what is known from the row of an entry."""
    other = entries[i]
    put_four(x, other, 0, less(four(x, other, 0), L, known))


@arithmetic
def _refined(inverse: Columns, A: Columns, b: Vec, u: Four) -> Four:
    """Return a solution u of A u = b, found by the inverse, after one step of refinement.

    Where a spring is stiffer than inertia by a factor c, an inverse leaves eps c of u along the
    spring, which other tiles multiply by c; what is refined leaves eps.
    """
    return add_four(u, apply_columns(inverse, three(less(wide(b), A, three(u)))))


@arithmetic
def _scaled(d: float, A: Columns) -> Columns:
    return scale_four(d, A[0]), scale_four(d, A[1]), scale_four(d, A[2])


@kernel
def reduce(schedule: Schedule, tiles: Array, x: Array) -> None:
    """Replace x (nodes, 4) by L^-1 x, tiles being factors."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 1):
        node, first, count, pivot = row_of(pivots, p)
        known = vector(x, node, 0)
        for i in range(count):
            _subtract(x, entries, first + i, columns(tiles, pivot + 1 + i), known)


@kernel
def solve(schedule: Schedule, tiles: Array, x: Array) -> None:
    """Replace x (nodes, 4) by (D U)^-1 x, tiles being factors."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 2, -1, -1):
        node, first, count, pivot = row_of(pivots, p)
        xp = apply_columns(columns(tiles, pivot), vector(x, node, 0))
        last, upper = first + count, pivot + 1 + 2 * count
        # The unknowns found last come last: nothing has to wait for them.
        for i in range(1, count + 1):
            xp = less(xp, columns(tiles, upper - i), _known(x, entries, last - i))
        put_four(x, node, 0, xp)


@kernel
def solve_transposed(schedule: Schedule, tiles: Array, x: Array) -> None:
    """Replace x (nodes, 4) by A^-T x, tiles being the factors of A = L D U."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 1):
        node, first, count, pivot = row_of(pivots, p)
        known = vector(x, node, 0)
        for i in range(count):
            other, U = 0 + entries[first + i], tile_columns(tiles, pivot + 1 + count + i)
            put(x, other, 0, sub(vector(x, other, 0), apply(U, known)))
    for p in range(pivots.shape[0] - 2, -1, -1):
        node, first, count, pivot = row_of(pivots, p)
        found = apply(tile_columns(tiles, pivot), vector(x, node, 0))
        for i in range(1, count + 1):
            L = tile_columns(tiles, pivot + 1 + count - i)
            found = sub(found, apply(L, _known(x, entries, first + count - i)))
        put(x, node, 0, found)


@kernel
def multiply_transposed(schedule: Schedule, tiles: Array, x: Array, found: Array) -> None:
    """Add A^T x to found (nodes, 4), of tiles that are not factorised."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 1):
        node, first, count, pivot = row_of(pivots, p)
        own = vector(x, node, 0)
        gather(found, node, 0, apply(tile_columns(tiles, pivot), own))
        for i in range(count):
            other = 0 + entries[first + i]
            L = tile_columns(tiles, pivot + 1 + i)
            U = tile_columns(tiles, pivot + 1 + count + i)
            gather(found, node, 0, apply(L, vector(x, other, 0)))
            gather(found, other, 0, apply(U, own))


@arithmetic
def _known(x: Array, entries: Array, i: int) -> Vec:
    """Return the unknowns of an entry."""
    return vector(x, entries[i], 0)


@kernel
def keep(source: Array, target: Array) -> None:
    """Copy an array to a target of the same shape, or to none."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


@kernel
def refine(schedule: Schedule, tiles: Array, room: Refinement, x: Array) -> None:
    """Bring a solution x closer to that of A x = right, where there is room for it.

    Of a light body between heavy ones velocities follow from constraints, while elimination finds
    them from small differences of forces, divided by its mass: digits are lost that are regained
    here, where everything is as small as the correction itself.
    """
    pivots, entries, lacking = schedule.pivots, schedule.entries, room.lacking
    for _ in range(REFINED if room.matrix.shape[0] > 0 else 0):
        keep(room.right, lacking)
        for p in range(pivots.shape[0] - 1):
            node, first, count, pivot = row_of(pivots, p)
            own, rest = vector(x, node, 0), four(lacking, node, 0)
            rest = less(rest, columns(room.matrix, pivot), own)
            for i in range(count):
                L, other = columns(room.matrix, pivot + 1 + i), entries[first + i]
                U = columns(room.matrix, pivot + 1 + count + i)
                rest = less(rest, U, vector(x, other, 0))
                put_four(lacking, other, 0, less(four(lacking, other, 0), L, own))
            put_four(lacking, node, 0, rest)
        reduce(schedule, tiles, lacking)
        solve(schedule, tiles, lacking)
        for p in range(pivots.shape[0] - 1):
            node = pivots[p, NODE]
            put_four(x, node, 0, add_four(four(x, node, 0), four(lacking, node, 0)))


@kernel
def refine_transposed(schedule: Schedule, tiles: Array, room: Refinement, x: Array) -> None:
    """Bring a solution x closer to that of A^T x = right, where there is room for it."""
    pivots, lacking = schedule.pivots, room.lacking
    for _ in range(REFINED if room.matrix.shape[0] > 0 else 0):
        for i in range(lacking.shape[0]):
            put_four(lacking, i, 0, wide((0.0, 0.0, 0.0)))
        multiply_transposed(schedule, room.matrix, x, lacking)
        for i in range(lacking.shape[0]):
            put(lacking, i, 0, sub(vector(room.right, i, 0), vector(lacking, i, 0)))
        solve_transposed(schedule, tiles, lacking)
        for p in range(pivots.shape[0] - 1):
            gather(x, pivots[p, NODE], 0, vector(lacking, pivots[p, NODE], 0))
