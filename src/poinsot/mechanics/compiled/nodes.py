"""What a mechanism consists of for the compiled engine, and which nodes of its matrix meet."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.ordering import has_loops
from poinsot.mechanics.compiled import acts
from poinsot.mechanics.compiled.equations import Equations, Point, Row, group_equations
from poinsot.mechanics.compiled.places import Graph, Tiles, arrange
from poinsot.mechanics.compiled.products import Kind, Product
from poinsot.mechanics.forms import GROUND
from poinsot.mechanics.layout import Layout
from poinsot.mechanics.mechanism import Mechanism

Real = NDArray[np.float64]

#: A body with more points than this keeps its translation as a node: a hub.
HUB = 3


@dataclass(frozen=True, eq=False)
class Turning:
    """How bodies in quaternions turn: the form of the equations, the levers, and spare nodes.

    `inertia` (bodies, 3) are principal moments [kg m^2], `first` is the column of x with the first
    multiplier of joints.
    """

    inertia: Real
    form: int
    mean: bool
    spare: int
    first: int


@dataclass(frozen=True, eq=False)
class Nodes:
    """The parts of a mechanism and the nodes that they meet.

    In the plain form or in the stabilised one (`twice`); with a `turning`, in quaternions.

    A machine that may be `lean` leaves out of its matrix, where joints close loops, how the
    reactions of joints turn with the OTHER body and what ties turns and translations: terms of
    order h^2. Elimination is much cheaper, and Newton's method converges almost as fast unless the
    step is large.
    """

    mechanism: Mechanism
    layout: Layout
    twice: bool = False
    lean: bool = False
    turning: Turning | None = None

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.layout.bodies)

    @cached_property
    def joints(self) -> Equations:
        """The equations of the joints."""
        return group_equations(self.mechanism, self.layout)

    @cached_property
    def struts(self) -> list[acts.Strut]:
        """Coordinates that springs, dampers and motors act along."""
        return acts.struts(self.mechanism)

    @property
    def pulls(self) -> list[acts.Pull]:
        """What acts along the struts, one after the other."""
        return [pull for strut in self.struts for pull in strut.pulls]

    @cached_property
    def loads(self) -> list[acts.Load]:
        """Ports on single bodies."""
        return acts.loads(self.mechanism)

    @cached_property
    def drags(self) -> list[acts.DragAct]:
        """Drag on single bodies."""
        return acts.drags(self.mechanism)

    @property
    def remembering(self) -> int:
        """How many of the pulls need a memory: all, if one of them is dry friction."""
        return len(self.pulls) if any(pull.dry for pull in self.pulls) else 0

    @cached_property
    def fields(self) -> list[acts.FieldAct]:
        """Potentials of many points and directions."""
        return acts.fields(self.mechanism)

    @cached_property
    def slim(self) -> NDArray[np.bool_]:
        """Bodies whose translation meets nothing but a few points of joints; the ground last."""
        slim = np.ones(self.count + 1, dtype=bool)
        points, rows = self.joints.points, self.joints.rows
        touched = [body for row in rows if row.at.kind != Kind.DOT for body in ends_of(row.at)]
        touched += [body for strut in self.struts if strut.moves for body in strut.ends]
        touched += [skid.body for skid in self.joints.skids]
        touched += [load.body for load in self.loads if load.moves]
        touched += [drag.body for drag in self.drags if drag.moves]
        touched += [body for act in self.fields for body, moves, _ in act.vectors if moves]
        slim[touched] = False
        ends = np.array([ends_of(point.at) for point in points], dtype=int).reshape(-1)
        counts = np.bincount(ends % (self.count + 1), minlength=self.count + 1)
        slim &= counts <= HUB
        slim[GROUND] = False
        if self.twice:
            slim[:] = False
        return slim

    @cached_property
    def graph(self) -> Graph:
        """Which nodes meet."""
        points, rows = self.joints.points, self.joints.rows
        joints = max((joint for joint, _ in self.joints.places), default=-1) + 1
        graph = Graph(self.count, joints, self.twice, self.spare)
        for body in range(self.count if self.spare else 0):
            graph.meet((graph.motion(body)[1], *graph.spares(body)))
        for body in range(self.count if self.twice else 0):
            for pair in zip(graph.motion(body), graph.momentum(body), strict=True):
                graph.meet(pair)
        on_slim: dict[int, list[int]] = {}
        for point in points:
            nodes = graph.position(point.joint), graph.velocity(point.joint)
            for body in ends_of(point.at):
                slim = body != GROUND and bool(self.slim[body])
                bodies = graph.of_bodies([body], moves=not slim)
                for together in [bodies] if self.twice else ([node] for node in bodies):
                    graph.meet((*together, *nodes))
                if slim:
                    on_slim.setdefault(body, []).append(nodes[0])
        for group in on_slim.values():
            graph.meet(group)
        for row in rows:
            nodes = graph.position(row.joint), graph.velocity(row.joint)
            bodies = graph.of_bodies(ends_of(row.at), moves=row.at.kind != Kind.DOT)
            for together in ([node] for node in bodies) if self.parted else [bodies]:
                graph.meet((*together, *nodes))
        for skid in self.joints.skids:
            graph.meet((*graph.of_bodies([skid.body]), graph.position(skid.joint)))
        for strut in self.struts:
            graph.meet(graph.of_bodies(strut.ends, moves=strut.moves))
        for load in self.loads:
            graph.meet(graph.of_bodies([load.body], moves=load.moves))
        for drag in self.drags:
            graph.meet(graph.of_bodies([drag.body], moves=drag.moves))
        for act in self.fields:
            graph.meet(
                node
                for body, moves, _ in act.vectors
                for node in graph.of_bodies([body], moves=bool(moves))
            )
        return graph

    @cached_property
    def _ends(self) -> list[list[int]]:
        """The bodies of every group of equations, the ground left out."""
        equations: list[Point | Row] = [*self.joints.points, *self.joints.rows]
        bodies = {equation.joint: ends_of(equation.at) for equation in equations}
        bodies |= {skid.joint: (GROUND, skid.body) for skid in self.joints.skids}
        return [[b for b in bodies[k] if b != GROUND] for k in range(len(bodies))]

    @cached_property
    def parted(self) -> bool:
        """Whether the matrix lacks what ties nodes of bodies to each other by reactions."""
        if not self.lean:
            return False
        pairs = sorted({tuple(sorted(pair)) for pair in self._ends})
        return has_loops(pairs, self.count)

    @property
    def spare(self) -> int:
        """How many nodes a body has besides translation and rotation."""
        return 0 if self.turning is None else self.turning.spare

    @cached_property
    def tiles(self) -> Tiles:
        """The tiles of the Newton matrix."""
        return arrange(self.graph, self.slim[:-1], self._ends)


def ends_of(p: Product) -> tuple[int, int]:
    """Return the bodies A and B of a product."""
    return p.A, p.B
