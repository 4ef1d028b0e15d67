"""Sparse LU of a matrix of 3x3 tiles: analysed once, factorised every step.

The matrix is a graph: a node is three equations and three unknowns, an edge a pair of tiles. Which
tiles meet in the elimination is worked out once, as lists of places; factorising then is nothing
but products of 3x3 matrices. Pivots are tiles; no rows are exchanged between tiles.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from poinsot.engine.algebra import (
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
from poinsot.engine.kernel import kernel
from poinsot.engine.ordering import least_degree
from poinsot.engine.parts import Schedule

#: Columns of the schedule's pivots and entries.
PIVOT, NODE, FIRST = range(3)
LOWER, UPPER, OTHER = range(3)


class Pattern(NamedTuple):
    """The tiles of a matrix: their number, the place of each (row, column), and the schedule."""

    tiles: int
    place: dict[tuple[int, int], int]
    schedule: Schedule


def analyse(
    nodes: int, edges: Iterable[tuple[int, int]], after: Sequence[Sequence[int]]
) -> Pattern:
    """Return the tiles of a matrix and how to eliminate them; `after` as in `least_degree`."""
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for i, j in edges:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    order = least_degree(neighbours, after)
    rank = {node: k for k, node in enumerate(order)}
    place: dict[tuple[int, int], int] = {}
    around = [sorted(neighbours[node], key=rank.__getitem__) for node in order]
    for node, others in zip(order, around, strict=True):
        place[node, node] = len(place)
        for other in others:
            place[other, node] = len(place)
            place[node, other] = len(place)
    pivots: list[tuple[int, int, int]] = []
    entries: list[tuple[int, int, int]] = []
    updates: list[int] = []
    for node, others in zip(order, around, strict=True):
        pivots.append((place[node, node], node, len(entries)))
        for other in others:
            entries.append((place[other, node], place[node, other], other))
            updates += [place[other, third] for third in others]
    pivots.append((0, 0, len(entries)))
    schedule = Schedule(
        np.array(pivots, dtype=np.uint32),
        np.array(entries, dtype=np.uint32).reshape(-1, 3),
        np.array(updates, dtype=np.uint32),
    )
    return Pattern(len(place), place, schedule)


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
        for i in range(pivots[p + 1, FIRST] - 1, pivots[p, FIRST] - 1, -1):
            pulled = apply(matrix(tiles, entries[i, UPPER], 0), vector(x, entries[i, OTHER], 0))
            xp = sub(xp, pulled)
        put(x, pivots[p, NODE], 0, apply(matrix(tiles, pivots[p, PIVOT], 0), xp))
