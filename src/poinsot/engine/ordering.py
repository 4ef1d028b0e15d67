"""The order of elimination: least degree first, as far as pivots stay regular.

A body may be taken at any time: its block is definite. A joint's block is zero to begin with and
becomes definite by the bodies that are eliminated before it, so it has to wait for its bodies;
with one exception. Bodies and joints that hang on the rest by a single body, and on the ground by
none, follow that body rigidly whatever it does: all that it does to their constraints they can do
themselves, so that these are independent without it. Their joints need not wait for it. That keeps
apart the branches of a tree, and the closed loops of a vehicle's wheels on its chassis.
"""

import heapq
from collections.abc import Sequence
from itertools import count, pairwise

import numpy as np
import scipy.sparse as sp

#: The ground among bodies.
GROUND = -1
#: Waits for nothing.
FREE = 0


def waiting(
    ends: Sequence[Sequence[int]], body_nodes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return, for every joint, the nodes that must be eliminated before it.

    `ends` are the bodies of every joint, `body_nodes` the nodes of each body. The ground is left
    out where there is one body only; where there are more than two, it is -1.
    """
    carrier = {k: body for body, joints in components(ends, len(body_nodes)) for k in joints}
    return [
        tuple(
            node for body in bodies if body not in (GROUND, carrier[k]) for node in body_nodes[body]
        )
        for k, bodies in enumerate(ends)
    ]


def has_loops(ends: Sequence[Sequence[int]], bodies: int) -> bool:
    """Tell whether joints close loops: a tree has one joint less than bodies and ground."""
    a, b = np.array(_edges(ends, bodies)[0], dtype=np.intp).reshape(-1, 2).T
    graph = sp.coo_array((np.ones(a.size), (a, b)), shape=(bodies + 1, bodies + 1))
    trees, _ = sp.csgraph.connected_components(graph, directed=False)
    return bool(a.size > bodies + 1 - trees)


def _edges(ends: Sequence[Sequence[int]], ground: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Return pairs of bodies that joints tie, and the joint of each pair.

    The other end is the ground where there is one body only. More than two are tied in a circle:
    whatever joins one of them to the rest, they belong together.
    """
    pairs, owner = list[tuple[int, int]](), list[int]()
    for k, bodies in enumerate(ends):
        if len(bodies) > 2:
            tied = [ground if body == GROUND else body for body in bodies]
            pairs += pairwise([*tied, tied[0]])
            owner += [k] * len(tied)
        else:
            pairs.append((bodies[0], bodies[1] if len(bodies) > 1 else ground))
            owner.append(k)
    return pairs, owner


def components(ends: Sequence[Sequence[int]], bodies: int) -> list[tuple[int, list[int]]]:
    """Return the joints of each biconnected component, and the body that it hangs on.

    The ground is number `bodies`. Depth-first search (Hopcroft and Tarjan, Comm. ACM 16, 1973) from
    the ground, then from the bodies with most joints.
    """
    ground, reached = bodies, 0
    pairs, owner = _edges(ends, ground)
    joints: list[list[int]] = [[] for _ in range(bodies + 1)]
    for k, (a, b) in enumerate(pairs):
        joints[a].append(k)
        joints[b].append(k)
    components: list[tuple[int, list[int]]] = []
    found, low, used = [-1] * (bodies + 1), [0] * (bodies + 1), [False] * len(pairs)
    for root in (ground, *sorted(range(bodies), key=lambda body: -len(joints[body]))):
        if found[root] >= 0:
            continue
        found[root] = low[root] = reached
        reached += 1
        path, met = [(root, iter(joints[root]), 0)], list[int]()
        while path:
            body, left, start = path[-1]
            k = next(left, -1)
            if k < 0:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[body])
                    if low[body] >= found[parent]:
                        found_joints = dict.fromkeys(owner[k] for k in met[start:])
                        components.append((parent, list(found_joints)))
                        del met[start:]
            elif not used[k]:
                used[k] = True
                met.append(k)
                other = pairs[k][0] if pairs[k][1] == body else pairs[k][1]
                if found[other] < 0:
                    found[other] = low[other] = reached
                    reached += 1
                    path.append((other, iter(joints[other]), len(met) - 1))
                else:
                    low[body] = min(low[body], found[other])
    return components


def least_degree(neighbours: Sequence[set[int]], after: Sequence[Sequence[int]]) -> list[int]:
    """Return all nodes in the order of elimination; node k comes after the nodes `after[k]`.

    `neighbours` is the graph of the matrix and is used up: in the end it holds, for every node,
    what it was joined to when its turn came.
    """
    blocked = [0] * len(neighbours)
    frees: dict[int, list[int]] = {}
    for k, nodes in enumerate(after):
        for node in set(nodes):
            frees.setdefault(node, []).append(k)
            blocked[k] += 1
    ticket = count()

    def entry(k: int) -> tuple[int, bool, int, int]:
        """Of equal degree, nodes that wait for none (bodies) come first, then the older entry."""
        return len(neighbours[k]), len(after[k]) > 0, next(ticket), k

    heap = [entry(k) for k in range(len(neighbours)) if blocked[k] == FREE]
    heapq.heapify(heap)
    done = [False] * len(neighbours)
    order: list[int] = []
    while heap:
        degree, _, _, node = heapq.heappop(heap)
        if done[node] or degree != len(neighbours[node]):
            continue
        done[node] = True
        order.append(node)
        around = neighbours[node]
        for other in around:
            joined = neighbours[other]
            joined |= around
            joined.remove(node)
            joined.remove(other)
        freed = frees.get(node, ())
        for other in freed:
            blocked[other] -= 1
        for other in around.union(freed):
            if blocked[other] == FREE and not done[other]:
                heapq.heappush(heap, entry(other))
    return order
