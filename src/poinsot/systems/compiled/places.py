"""Which nodes meet, and where their tiles are.

The translation of a body that meets nothing but points of joints is eliminated beforehand, where
2 m I stands for itself: it only leaves constants between those points.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine.ordering import waiting
from poinsot.engine.parts import Schedule
from poinsot.engine.tiles import NODE, OTHER, Pattern, analyse

Index = NDArray[np.intp]


@dataclass(eq=False)
class Graph:
    """The nodes of a mechanism and the edges between them, collected part by part.

    First come those of bodies: translation, and rotation where it `turns`, in the stabilised form
    (`stabilised`) of kinematics and of momentum, and `auxiliary` ones; then those of joints, one
    for each three equations, in the stabilised form one for positions and one for velocities. The
    ground's comes last. Bodies and joints are given by arrays of their numbers.
    """

    turns: NDArray[np.bool_]
    joints: int
    stabilised: bool = False
    auxiliary: int = 0
    _met: list[Index] = field(default_factory=list)

    @property
    def forms(self) -> int:
        """How often every equation is there."""
        return 2 if self.stabilised else 1

    @property
    def of_body(self) -> int:
        """How many nodes a body has at most."""
        return 2 * self.forms + self.auxiliary

    @cached_property
    def first(self) -> Index:
        """The first node of each body, and that of joints; (bodies + 1,)."""
        return np.append(0, np.cumsum(np.where(self.turns, self.of_body, self.forms)))

    @property
    def first_joint(self) -> int:
        """The first node of joints."""
        return int(self.first[-1])

    @property
    def nodes(self) -> int:
        """Number of nodes without the ground's."""
        return self.first_joint + self.forms * self.joints

    def motion(self, bodies: ArrayLike) -> Index:
        """Return the nodes of translation and rotation that say how bodies move; (..., 2)."""
        return self._nodes[np.asarray(bodies, dtype=np.intp)][..., :2]

    def momentum(self, bodies: ArrayLike) -> Index:
        """Return the nodes of translation and rotation where forces act; (..., 2)."""
        last = 2 * self.forms
        return self._nodes[np.asarray(bodies, dtype=np.intp)][..., last - 2 : last]

    def auxiliaries(self, bodies: ArrayLike) -> Index:
        """Return the auxiliary nodes of bodies, which follow their rotation; (..., auxiliary)."""
        return self._nodes[np.asarray(bodies, dtype=np.intp)][..., 2 * self.forms :]

    @cached_property
    def _nodes(self) -> Index:
        """All nodes of bodies; one that does not turn has the ground's for what it lacks.

        Translation and rotation in each form, then the auxiliary ones; (bodies + 1, of_body).
        """
        nodes = np.full((self.turns.size + 1, self.of_body), self.nodes)
        translation = np.arange(0, 2 * self.forms, 2)
        nodes[:-1][self.turns] = self.first[:-1][self.turns, None] + np.arange(self.of_body)
        still = np.flatnonzero(~self.turns)[:, None]
        nodes[still, translation] = self.first[still] + np.arange(self.forms)
        return nodes

    def position(self, joints: ArrayLike) -> Index:
        """Return the nodes of joints' equations, of positions in the stabilised form."""
        return self.first_joint + self.forms * np.asarray(joints)

    def velocity(self, joints: ArrayLike) -> Index:
        """Return the nodes of joints' equations, of velocities in the stabilised form."""
        return self.position(joints) + self.forms - 1

    def of_bodies(self, bodies: ArrayLike, *, moves: ArrayLike = True) -> Index:
        """Return all nodes of bodies, or only those of rotation, the ground's for others; (.., 4).

        `moves` tells of every body which; one that has fewer nodes has some of them stabilised.
        """
        nodes = np.stack([self.motion(bodies), self.momentum(bodies)], axis=-1)
        nodes[..., 0, :] = np.where(np.asarray(moves)[..., None], nodes[..., 0, :], self.nodes)
        return nodes.reshape(*nodes.shape[:-2], 4)

    def meet(self, *nodes: ArrayLike) -> None:
        """Join nodes with each other, all that are in one row of arrays put side by side."""
        table = np.column_stack([np.asarray(each) for each in nodes])
        i, j = np.triu_indices(table.shape[1], 1)
        self._met.append(np.stack([table[:, i], table[:, j]], axis=-1).reshape(-1, 2))

    @property
    def edges(self) -> Index:
        """All pairs of nodes that meet, each once; (edges, 2)."""
        met = np.sort(np.concatenate([np.zeros((0, 2), dtype=np.intp), *self._met]), axis=1)
        low, high = met[(met[:, 0] < met[:, 1]) & (met[:, 1] < self.nodes)].T
        return np.column_stack(np.divmod(np.unique(low * self.nodes + high), self.nodes))


@dataclass(frozen=True, eq=False)
class Tiles:
    """Where tiles are, and the order of elimination; one more tile collects what nobody reads.

    `number` is what nodes are called in the pattern; none that is left out is found there.
    """

    pattern: Pattern
    number: Index
    schedule: Schedule

    @property
    def count(self) -> int:
        """Number of tiles."""
        return self.pattern.tiles

    def at(self, i: ArrayLike, j: ArrayLike) -> Index:
        """Return the places of tiles (i, j), the auxiliary one for those that are not there."""
        return self.pattern.place(self.number[np.asarray(i)], self.number[np.asarray(j)])

    def table(self, rows: Index, columns: Index) -> Index:
        """Return the places of tiles in all rows (k, r) and columns (k, c); (k, r c)."""
        places = self.at(rows[:, :, None], columns[:, None, :])
        return places.reshape(len(rows), rows.shape[1] * columns.shape[1])


def arrange(
    graph: Graph, condensed: NDArray[np.bool_], ends: Sequence[Sequence[int]], joint: Sequence[int]
) -> Tiles:
    """Return the tiles of a graph without the translations of condensed bodies.

    `ends` are the bodies of every joint, the ground left out; `joint` is that of every group of
    equations.
    """
    kept = np.ones(graph.nodes, dtype=bool)
    kept[graph.motion(np.flatnonzero(condensed))[:, 0]] = False
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
    return Tiles(pattern, number, schedule)
