"""Which nodes meet, and where their tiles are.

The translation of a body that meets nothing but points of joints is eliminated beforehand, where
2 m I stands for itself: it only leaves constants between those points.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.frames.forms import GROUND

Index = NDArray[np.intp]


@dataclass(eq=False)
class Graph:
    """The nodes of a mechanism and the edges between them, collected part by part.

    First come those of bodies: translation, and rotation where it `turns`, in the stabilised form
    (`stabilised`) of kinematics and of momentum, and `auxiliary` ones; then those of joints, one
    for each three equations, in the stabilised form one for positions and one for velocities. The
    ground's comes last. Bodies and joints are given by arrays of their numbers.

    The translations of `condensed` bodies (bodies + 1,) meet nothing but points of joints, and are
    left out. A `decoupled` matrix lacks what ties nodes of bodies to each other by reactions.

    Bodies that are `carried` follow the motion of others: they have two nodes of momentum besides
    those of motion; `idle` ones among them, which nothing acts on, have none at all. `owner` is the
    body that each belongs to, itself unless it is a part of one.
    """

    turns: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    idle: NDArray[np.bool_]
    owner: Index
    joints: int
    condensed: NDArray[np.bool_]
    stabilised: bool = False
    decoupled: bool = False
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
        own = np.where(self.turns, self.of_body, self.forms) + 2 * self.carried
        return np.append(0, np.cumsum(np.where(self.idle, 0, own)))

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
        return self._momentum[np.asarray(bodies, dtype=np.intp)]

    @cached_property
    def _momentum(self) -> Index:
        """Nodes of momentum; (bodies + 1, 2)."""
        last = 2 * self.forms
        nodes = self._nodes[:, last - 2 : last].copy()
        further = self.first[:-1][self.carried, None] + self.of_body + np.arange(2)
        nodes[:-1][self.carried] = further
        nodes[:-1][self.idle] = self.nodes
        return nodes

    def auxiliaries(self, bodies: ArrayLike) -> Index:
        """Return the auxiliary nodes of bodies, which follow their rotation; (..., auxiliary)."""
        return self._nodes[np.asarray(bodies, dtype=np.intp)][..., 2 * self.forms :]

    @cached_property
    def _nodes(self) -> Index:
        """All nodes of bodies; for what one lacks that does not turn, or is idle, the ground's.

        Translation and rotation in each form, then the auxiliary ones; (bodies + 1, of_body).
        """
        nodes = np.full((self.turns.size + 1, self.of_body), self.nodes)
        translation = np.arange(0, 2 * self.forms, 2)
        nodes[:-1][self.turns] = self.first[:-1][self.turns, None] + np.arange(self.of_body)
        still = np.flatnonzero(~self.turns)[:, None]
        nodes[still, translation] = self.first[still] + np.arange(self.forms)
        nodes[:-1][self.idle] = self.nodes
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

    def ends(self, bodies: Index) -> Index:
        """Return bodies as kernels count them, the ground last."""
        return np.where(bodies == GROUND, self.turns.size, bodies)

    def pair(self, bodies: Index, *, moving: bool = False) -> Index:
        """Return the nodes T_A, R_A, T_B, R_B (of motion if `moving`) of pairs (k, 2); (k, 4)."""
        nodes = self.motion(bodies) if moving else self.momentum(bodies)
        return nodes.reshape(-1, 4)

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


class Places(NamedTuple):
    """Where the tiles (row, column) are, by `keys` in ascending order: row times `nodes` + column.

    What is not there has the place after the last.
    """

    nodes: int
    keys: Index
    places: Index

    def __call__(self, i: ArrayLike, j: ArrayLike) -> Index:
        """Return the places of tiles (i, j)."""
        rows, columns = np.asarray(i), np.asarray(j)
        known = (rows < self.nodes) & (columns < self.nodes)
        keys = np.where(known, rows * self.nodes + columns, -1)
        if not self.keys.size:
            return np.zeros_like(keys)
        found = np.searchsorted(self.keys, keys).clip(max=self.keys.size - 1)
        return np.where(self.keys[found] == keys, self.places[found], self.keys.size)


@dataclass(frozen=True, eq=False)
class Tiles:
    """Where the `count` tiles of a matrix are; one more collects what nobody reads.

    `number` is what nodes are called in the matrix; none that is left out is found there.
    """

    count: int
    place: Places
    number: Index

    def at(self, i: ArrayLike, j: ArrayLike) -> Index:
        """Return the places of tiles (i, j), the last one for those that are not there."""
        return self.place(self.number[np.asarray(i)], self.number[np.asarray(j)])

    def table(self, rows: Index, columns: Index) -> Index:
        """Return the places of tiles in all rows (k, r) and columns (k, c); (k, r c)."""
        places = self.at(rows[:, :, None], columns[:, None, :])
        return places.reshape(len(rows), rows.shape[1] * columns.shape[1])
