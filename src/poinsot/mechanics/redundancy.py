"""Repeated constraints: found by rank at generic configurations, loop by loop.

Four parallel hinges close a planar loop in space and lock three directions twice. Which rows repeat
others cannot be told where the mechanism happens to be singular, so two configurations are tried
that lie away from the start: a row is repeated only if it depends on earlier rows at both.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
from numpy.typing import NDArray

from poinsot.mechanics.forms import Forms
from poinsot.mechanics.twists import assemble_position, joint_matrix, move
from poinsot.ph.dependence import dependent_rows
from poinsot.ph.equations import independent, shortest_solution
from poinsot.ph.matrices import Vector

#: How far from the start the generic configurations are looked for [m or rad].
REACH = 0.3
#: A row is dependent if what is new in it is smaller than this part of its length.
DEPENDENT = 1e-7
#: Part of a random motion that must be left by the joints if they leave any freedom.
FREE = 1e-9


def find_repeated(forms: Forms, q: Vector, *, seed: int = 0) -> NDArray[np.bool_]:
    """Return which of the joints' constraints repeat earlier ones; shape (m,).

    If all are independent at q, they are so nearly everywhere, and no other place is asked.
    """
    if independent(joint_matrix(forms, q), DEPENDENT, width=6):
        return np.zeros(forms.m, dtype=bool)
    random = np.random.default_rng(seed)
    places = [place for _ in range(2) if (place := _elsewhere(forms, q, random)) is not None]
    jacobians = [joint_matrix(forms, place) for place in places or [q]]
    repeated = np.ones(forms.m, dtype=bool)
    for J in jacobians:
        repeated &= dependent_rows(J, DEPENDENT, width=6)
    return repeated


def find_loops(ends: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the loops of joints as lists of their numbers; `ends` are the two bodies of each.

    Two joints are in one loop if a closed path leads through both: the blocks of the graph of
    bodies and joints, found by depth-first search (Hopcroft and Tarjan, Comm. ACM 16, 1973). A
    joint that is in no closed path, as in a chain, is left out.

    Constraints of different loops never repeat each other, even if the loops share a body or the
    ground: a combination of one loop's constraints that involves the shared body alone does no
    work when the loop moves as one rigid body, so it is zero.
    """
    if _is_forest(ends):
        return []
    joints_of: dict[int, list[tuple[int, int]]] = {}
    for joint, (a, b) in enumerate(ends):
        joints_of.setdefault(a, []).append((joint, b))
        joints_of.setdefault(b, []).append((joint, a))
    loops, reached = [], set[int]()
    for body in joints_of:
        if body not in reached:
            loops += _blocks_from(body, joints_of, reached)
    return sorted(loops)


def _is_forest(ends: Sequence[tuple[int, int]]) -> bool:
    """Tell whether no closed path leads through any joints: one joint less than bodies a tree."""
    bodies, places = np.unique(np.array(ends, dtype=np.intp).reshape(-1, 2), return_inverse=True)
    a, b = places.reshape(-1, 2).T
    graph = sp.coo_array((np.ones(a.size), (a, b)), shape=(bodies.size, bodies.size))
    trees = sp.csgraph.connected_components(graph, directed=False, return_labels=False)
    return bool(a.size == bodies.size - trees)


def _blocks_from(
    root: int, joints_of: dict[int, list[tuple[int, int]]], reached: set[int]
) -> list[list[int]]:
    """Return the blocks of more than one joint that hang together with a body.

    Every body has a rank, the time when it was reached, and a `low`: the earliest rank that a
    closed path leads back to from it or from below. A block is complete when the search comes
    back to a body from one whose `low` is no earlier.
    """
    rank, low = {root: 0}, {root: 0}
    path: list[int] = []
    found: list[list[int]] = []
    search = [(root, -1, iter(joints_of[root]))]
    while search:
        body, arrival, others = search[-1]
        for joint, other in others:
            if other not in rank:
                path.append(joint)
                rank[other] = low[other] = len(rank)
                search.append((other, joint, iter(joints_of[other])))
                break
            if joint != arrival and rank[other] < rank[body]:
                path.append(joint)
                low[body] = min(low[body], rank[other])
        else:
            search.pop()
            if not search:
                break
            parent = search[-1][0]
            low[parent] = min(low[parent], low[body])
            if low[body] >= rank[parent]:
                block = [path.pop()]
                while block[-1] != arrival:
                    block.append(path.pop())
                if len(block) > 1:
                    found.append(sorted(block))
    reached.update(rank)
    return found


def _elsewhere(forms: Forms, q: Vector, random: np.random.Generator) -> Vector | None:
    """Return a configuration of the mechanism away from q; None if it cannot move."""
    J, reach = joint_matrix(forms, q), REACH
    for _ in range(6):
        wish = random.standard_normal(q.size // 2)
        twists = wish - shortest_solution(J, J @ wish, width=6)
        if np.linalg.norm(twists) <= FREE * np.linalg.norm(wish):
            return None
        moved = move(q, twists * (reach / np.max(abs(twists))))
        place = assemble_position(forms, moved, 1e-11)
        if place is not None:
            return place
        reach /= 3
    return None
