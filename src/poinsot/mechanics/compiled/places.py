"""Which nodes meet, and where their tiles are.

The translation of a body that meets nothing but points of joints is eliminated beforehand, where
2 m I stands for itself: it only leaves constants between those points.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.ordering import waiting
from poinsot.engine.parts import Schedule
from poinsot.engine.tiles import NODE, OTHER, analyse
from poinsot.mechanics.forms import GROUND

Index = NDArray[np.uint32]


@dataclass(eq=False)
class Graph:
    """The nodes of a mechanism and the edges between them, collected part by part.

    First come those of bodies: translation and rotation, in the stabilised form (`twice`) of
    kinematics and of momentum, and `spare` ones; then those of joints, one for each three
    equations, in the stabilised form one for positions and one for velocities. The ground's comes
    last.
    """

    bodies: int
    joints: int
    twice: bool = False
    spare: int = 0
    edges: set[tuple[int, int]] = field(default_factory=set)

    @property
    def forms(self) -> int:
        """How often every equation is there."""
        return 2 if self.twice else 1

    @property
    def of_body(self) -> int:
        """How many nodes a body has."""
        return 2 * self.forms + self.spare

    @property
    def first_joint(self) -> int:
        """The first node of joints."""
        return self.of_body * self.bodies

    @property
    def nodes(self) -> int:
        """Number of nodes without the ground's."""
        return self.first_joint + self.forms * self.joints

    def motion(self, body: int) -> tuple[int, int]:
        """Return the nodes of translation and rotation that say how a body moves in a step."""
        if body == GROUND:
            return self.nodes, self.nodes
        return self.of_body * body, self.of_body * body + 1

    def momentum(self, body: int) -> tuple[int, int]:
        """Return the nodes of translation and rotation where forces act."""
        T, R = self.motion(body)
        return (T, R) if body == GROUND or not self.twice else (T + 2, R + 2)

    def spares(self, body: int) -> list[int]:
        """Return the spare nodes of a body, which follow its rotation."""
        R = self.motion(body)[1]
        return [] if body == GROUND else list(range(R + 1, R + 1 + self.spare))

    def position(self, joint: int) -> int:
        """Return the node of a joint's equations, of positions in the stabilised form."""
        return self.first_joint + self.forms * joint

    def velocity(self, joint: int) -> int:
        """Return the node of a joint's equations, of velocities in the stabilised form."""
        return self.position(joint) + self.forms - 1

    def of_bodies(self, bodies: Iterable[int], *, moves: bool = True) -> list[int]:
        """Return all nodes of bodies, or only those of rotation."""
        pairs = [pair for body in bodies for pair in (self.motion(body), self.momentum(body))]
        return [node for T, R in pairs for node in ((T, R) if moves else (R,))]

    def meet(self, nodes: Iterable[int]) -> None:
        """Join all of these nodes with each other."""
        present = [node for node in set(nodes) if node != self.nodes]
        self.edges.update((i, j) for i, j in product(present, present) if i < j)


@dataclass(frozen=True, eq=False)
class Tiles:
    """Where tiles are, and the order of elimination; one more tile collects what nobody reads."""

    count: int
    place: dict[tuple[int, int], int]
    schedule: Schedule

    def at(self, i: int, j: int) -> int:
        """Return the place of tile (i, j), or the spare one."""
        return self.place.get((i, j), self.count)

    def column(self, rows: Sequence[int], j: int) -> list[int]:
        """Return the places of some tiles in column j."""
        return [self.at(i, j) for i in rows]

    def row(self, i: int, columns: Sequence[int]) -> list[int]:
        """Return the places of some tiles in row i."""
        return [self.at(i, j) for j in columns]

    def table(self, rows: Sequence[int], columns: Sequence[int]) -> list[int]:
        """Return the places of all tiles in rows and columns, row by row."""
        return [self.at(i, j) for i in rows for j in columns]


def arrange(graph: Graph, slim: NDArray[np.bool_], ends: Sequence[Sequence[int]]) -> Tiles:
    """Return the tiles of a graph without the translations of slim bodies.

    `ends` are the bodies of every joint, without the ground.
    """
    left_out = {graph.motion(int(b))[0] for b in np.flatnonzero(slim)}
    kept = [node for node in range(graph.nodes) if node not in left_out]
    number = {node: k for k, node in enumerate(kept)}
    body_nodes = [
        sorted({number[n] for n in (*graph.of_bodies([b]), *graph.spares(b)) if n in number})
        for b in range(graph.bodies)
    ]
    # Groups of equations between the same two bodies are one joint to the rest.
    pairs = sorted({tuple(sorted(pair)) for pair in ends})
    wait = dict(zip(pairs, waiting(pairs, body_nodes), strict=True))
    joints = [wait[tuple(sorted(pair))] for pair in ends for _ in range(graph.forms)]
    # A rotation is hardly determined by itself while spare unknowns of the body are there.
    spares = {graph.motion(b)[1]: graph.spares(b) for b in range(graph.bodies)}
    inner = [tuple(number[n] for n in spares.get(node, ())) for node in kept]
    after = inner[: len(kept) - len(joints)] + joints
    pattern = analyse(len(kept), ((number[i], number[j]) for i, j in graph.edges), after)
    back = np.array(kept, dtype=np.uint32)
    schedule = pattern.schedule
    schedule.pivots[:-1, NODE] = back[schedule.pivots[:-1, NODE]]
    schedule.entries[:, OTHER] = back[schedule.entries[:, OTHER]]
    place = {(kept[i], kept[j]): k for (i, j), k in pattern.place.items()}
    return Tiles(pattern.tiles, place, schedule)
