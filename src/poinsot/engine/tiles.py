"""Sparse LU of a matrix of 3x3 tiles: analysed once, factorised every step.

The matrix is a graph: a node is three equations and three unknowns, an edge a pair of tiles. Which
tiles meet in the elimination is worked out once, as lists of places; factorising then is nothing
but products of 3x3 matrices. Pivots are tiles; no rows are exchanged between tiles.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine.ordering import least_degree, waiting
from poinsot.kernels.algebra import (
    Array,
    apply,
    inverse,
    inverse_by_rows,
    less,
    matrix,
    multiply,
    put,
    put_matrix,
    sub,
    vector,
)
from poinsot.kernels.kernel import kernel
from poinsot.kernels.nodes import Graph, Places, Tiles
from poinsot.kernels.tables import Index1, Index2

#: Columns of the schedule's pivots and entries.
PIVOT, NODE, FIRST = range(3)
LOWER, UPPER, OTHER = range(3)


class Schedule(NamedTuple):
    """The elimination as lists.

    `pivots` (P + 1, 3): diagonal tile, node, and first entry of each pivot; `entries` (k, 3): the
    tiles below and right of the pivot, and their node; `updates`: the tiles that all products of
    lower and upper ones are subtracted from, in order.
    """

    pivots: Index2
    entries: Index2
    updates: Index1


class Pattern(NamedTuple):
    """The tiles of a matrix: their number, the place of each, and the schedule of elimination."""

    tiles: int
    place: Places
    schedule: Schedule


def analyse(nodes: int, edges: ArrayLike, after: Sequence[Sequence[int]]) -> Pattern:
    """Return the tiles of a matrix with these edges, and how to eliminate them.

    `after` as in `least_degree`. Tiles are numbered as the elimination meets them: the pivot's own,
    then, for each node that it meets, those below and right of the pivot.
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
    lower = pivot + 2 * np.arange(pivot.size) + 1
    keys = np.concatenate([order * (nodes + 1), other * nodes + order[pivot]])
    keys = np.concatenate([keys, order[pivot] * nodes + other])
    places = np.concatenate([own, lower, lower + 1])
    sorting = np.argsort(keys)
    place = Places(nodes, keys[sorting], places[sorting])
    # All products of an entry below the pivot with one to the right of it.
    products = counts[pivot]
    entry = np.repeat(np.arange(pivot.size), products)
    third = np.arange(entry.size) - np.repeat(
        np.cumsum(products) - products - first[pivot], products
    )
    schedule = Schedule(
        _index(np.append(own, 0), np.append(order, 0), first),
        _index(lower, lower + 1, other),
        place(other[entry], other[third]).astype(np.uint32),
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
    body_nodes = [range(i, j) for i, j in pairwise(first)]
    wait = waiting(ends, body_nodes)
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
    schedule.entries[:, OTHER] = back[schedule.entries[:, OTHER]]
    return Tiles(pattern.tiles, pattern.place, number), schedule


def _index(*columns: NDArray[np.intp]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.uint32)


@kernel
def factorise(schedule: Schedule, tiles: Array, x: Array, hardly: bool) -> None:
    """Replace tiles (count, 9) by their factors: pivots by their inverses, lower ones by L.

    The right-hand side x (nodes, 3) becomes L^-1 x on the way. `hardly`: some equations repeat
    others, so that pivots are hardly regular.
    """
    pivots, entries, updates = schedule
    k = 0
    for p in range(pivots.shape[0] - 1):
        A, xp = matrix(tiles, pivots[p, PIVOT], 0), vector(x, pivots[p, NODE], 0)
        diagonal = inverse_by_rows(A) if hardly else inverse(A)
        put_matrix(tiles, pivots[p, PIVOT], 0, diagonal)
        first, last = pivots[p, FIRST], pivots[p + 1, FIRST]
        for i in range(first, last):
            L, node = multiply(matrix(tiles, entries[i, LOWER], 0), diagonal), entries[i, OTHER]
            put_matrix(tiles, entries[i, LOWER], 0, L)
            put(x, node, 0, sub(vector(x, node, 0), apply(L, xp)))
            for j in range(first, last):
                place = updates[k]
                U = matrix(tiles, entries[j, UPPER], 0)
                put_matrix(tiles, place, 0, less(matrix(tiles, place, 0), L, U))
                k += 1


@kernel
def reduce(schedule: Schedule, tiles: Array, x: Array) -> None:
    """Replace x (nodes, 3) by L^-1 x, tiles being factors."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 1):
        xp = vector(x, pivots[p, NODE], 0)
        for i in range(pivots[p, FIRST], pivots[p + 1, FIRST]):
            node = entries[i, OTHER]
            pushed = apply(matrix(tiles, entries[i, LOWER], 0), xp)
            put(x, node, 0, sub(vector(x, node, 0), pushed))


@kernel
def solve(schedule: Schedule, tiles: Array, x: Array) -> None:
    """Replace x (nodes, 3) by U^-1 x, tiles being factors."""
    pivots, entries = schedule.pivots, schedule.entries
    for p in range(pivots.shape[0] - 2, -1, -1):
        xp = vector(x, pivots[p, NODE], 0)
        # The unknowns found last come last: nothing has to wait for them.
        for i in range(pivots[p + 1, FIRST], pivots[p, FIRST], -1):
            known = vector(x, entries[i - 1, OTHER], 0)
            xp = sub(xp, apply(matrix(tiles, entries[i - 1, UPPER], 0), known))
        put(x, pivots[p, NODE], 0, apply(matrix(tiles, pivots[p, PIVOT], 0), xp))
