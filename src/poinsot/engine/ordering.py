"""The order of elimination: least degree first, as far as pivots stay regular.

A body may be taken at any time: its block is definite. A joint's block is zero to begin with and
becomes definite by the bodies that are eliminated before it, so it has to wait: in a loop, until
all of its bodies are gone; in a branch that hangs on a single joint, only until the body on the
branch's side is gone, because constraints of a tree never repeat each other. The latter keeps the
many joints of a hub apart.
"""

import heapq
from collections.abc import Sequence

#: Waits for nothing.
FREE = 0


def waiting(
    ends: Sequence[Sequence[int]], body_nodes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return, for every joint, the nodes that must be eliminated before it.

    `ends` are the bodies of every joint (the ground left out), `body_nodes` the nodes of each body.
    """
    child = _branches(ends, len(body_nodes))
    return [
        tuple(
            node
            for body in (bodies if child[k] is None else (child[k],))
            if body is not None
            for node in body_nodes[body]
        )
        for k, bodies in enumerate(ends)
    ]


def _branches(ends: Sequence[Sequence[int]], bodies: int) -> list[int | None]:
    """Return the body that hangs on each joint and on no other, after cutting leaves repeatedly."""
    joints: list[set[int]] = [set() for _ in range(bodies)]
    for k, pair in enumerate(ends):
        for body in pair:
            joints[body].add(k)
    child: list[int | None] = [None] * len(ends)
    leaves = [body for body in range(bodies) if len(joints[body]) == 1]
    while leaves:
        leaf = leaves.pop()
        if not joints[leaf]:
            continue
        (k,) = joints[leaf]
        child[k] = leaf
        for body in ends[k]:
            joints[body].discard(k)
            if len(joints[body]) == 1:
                leaves.append(body)
    return child


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
    # Of equal degree, nodes that wait for none (bodies) come first, then the older entry.
    ticket = iter(range(1 << 62))
    heap = [
        (len(neighbours[k]), len(after[k]) > 0, next(ticket), k)
        for k in range(len(neighbours))
        if blocked[k] == FREE
    ]
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
        changed = set(around)
        for other in around:
            neighbours[other].discard(node)
        for other in around:
            neighbours[other] |= around - {other}
        for other in frees.get(node, ()):
            blocked[other] -= 1
            changed.add(other)
        for other in changed:
            if blocked[other] == FREE and not done[other]:
                entry = (len(neighbours[other]), len(after[other]) > 0, next(ticket), other)
                heapq.heappush(heap, entry)
    return order
