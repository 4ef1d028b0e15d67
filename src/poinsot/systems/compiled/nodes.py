"""What a mechanism consists of for the compiled engine, and which nodes of its matrix meet."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.engine.ordering import has_loops
from poinsot.frames.forms import GROUND, Forms, members
from poinsot.systems.compiled import acts
from poinsot.systems.compiled.equations import Equations, group_equations
from poinsot.systems.compiled.places import Graph, Tiles, arrange
from poinsot.systems.compiled.products import Struts, lines, struts
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism

Real = NDArray[np.float64]

#: A body with more points than this keeps its translation as a node: a hub.
HUB = 3


@dataclass(frozen=True, eq=False)
class Turning:
    """How bodies in quaternions turn: the equations, the lever arms, and auxiliary nodes.

    `inertia` (bodies, 3) are principal moments [kg m^2], `unknowns` those of bodies, `first` is the
    column of x with the first multiplier of joints.
    """

    inertia: Real
    unknowns: Unknowns
    form: int
    mean: bool
    auxiliary: int
    first: int


@dataclass(frozen=True, eq=False)
class Nodes:
    """The parts of a mechanism and the nodes that they meet.

    In the plain form or in the stabilised one (`stabilised`); with a `turning`, in quaternions.

    A machine that may be `decoupled` leaves out of its matrix, where joints close loops, how the
    reactions of joints turn with the OTHER body and what ties turns and translations: terms of
    order h^2. Elimination is much cheaper, and Newton's method converges almost as fast unless the
    step is large.
    """

    mechanism: Mechanism
    layout: Layout
    stabilised: bool = False
    decoupled: bool = False
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
    def _pulls(self) -> list[acts.Pull]:
        return acts.pulls(self.mechanism)

    @cached_property
    def struts(self) -> Struts:
        """The coordinates that springs, dampers and motors act along."""
        along = [pull.along for pull in self._pulls]
        forms = Forms([each.forms.onto(each.bodies) for each in along], self.count)
        charts = [pull.chart for pull in self._pulls]
        return struts(lines(forms, [each.forms.m for each in along]), charts)

    @property
    def pulls(self) -> list[acts.Pull]:
        """What acts along the struts, one after the other."""
        return [self._pulls[k] for k in self.struts.order.tolist()]

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
        return len(self._pulls) if any(pull.dry for pull in self._pulls) else 0

    @cached_property
    def fields(self) -> list[acts.FieldAct]:
        """Potentials of many points and directions."""
        return acts.fields(self.mechanism)

    @cached_property
    def condensed(self) -> NDArray[np.bool_]:
        """Bodies whose translation meets nothing but a few points of joints; the ground last."""
        condensed = np.ones(self.count + 1, dtype=bool)
        rows, struts = self.joints.rows.at, self.struts
        condensed[rows.ends[rows.moves]] = False
        condensed[struts.ends[struts.moves]] = False
        touched = [contact_row.body for contact_row in self.joints.contacts]
        touched += [load.body for load in self.loads if load.moves]
        touched += [drag.body for drag in self.drags if drag.moves]
        touched += [body for act in self.fields for body, moves, _ in act.vectors if moves]
        condensed[touched] = False
        ends = self.joints.points.at.ends % (self.count + 1)
        points = np.bincount(ends.reshape(-1), minlength=self.count + 1)
        condensed &= points <= HUB
        # A body that does not turn may have no other node.
        condensed[:GROUND] &= self.mechanism.unknowns.turns | (points[:GROUND] > 0)
        condensed[GROUND] = False
        if self.stabilised:
            condensed[:] = False
        return condensed

    @cached_property
    def graph(self) -> Graph:
        """Which nodes meet."""
        points, rows = self.joints.points, self.joints.rows
        turns = self.mechanism.unknowns.turns
        graph = Graph(turns, self.joints.groups, self.stabilised, self.auxiliary)
        everyone = np.arange(self.count)
        if self.auxiliary:
            graph.meet(graph.motion(everyone)[:, 1], graph.auxiliaries(everyone))
        if self.stabilised:
            for motion, momentum in zip(
                graph.motion(everyone).T, graph.momentum(everyone).T, strict=True
            ):
                graph.meet(motion, momentum)
        nodes = graph.position(points.joint), graph.velocity(points.joint)
        for bodies in points.at.ends.T:
            met = graph.of_bodies(bodies, moves=~self.condensed[bodies])
            for together in [met] if self.stabilised else met.T:
                graph.meet(together, *nodes)
        graph.meet(self._on_slim(graph))
        nodes = graph.position(rows.joint), graph.velocity(rows.joint)
        met = np.hstack([graph.of_bodies(end, moves=rows.at.moves) for end in rows.at.ends.T])
        for together in met.T if self.parted else [met]:
            graph.meet(together, *nodes)
        for contact_row in self.joints.contacts:
            graph.meet(graph.of_bodies([contact_row.body]), graph.position([contact_row.joint]))
        struts = self.struts
        graph.meet(*(graph.of_bodies(bodies, moves=struts.moves) for bodies in struts.ends.T))
        acting: list[acts.Load | acts.DragAct] = [*self.loads, *self.drags]
        for act in acting:
            graph.meet(graph.of_bodies([act.body], moves=act.moves))
        for field in self.fields:
            bodies, moves = zip(
                *((body, bool(moves)) for body, moves, _ in field.vectors), strict=True
            )
            graph.meet(graph.of_bodies(bodies, moves=moves).reshape(1, -1))
        return graph

    def _on_slim(self, graph: Graph) -> NDArray[np.intp]:
        """Return the nodes of points on each condensed body, the ground's where there are fewer."""
        at = self.joints.points
        body, joint = at.at.ends.T.reshape(-1), np.tile(at.joint, 2)
        order = np.argsort(body, kind="stable")
        order = order[self.condensed[body[order]]]
        counts = np.bincount(body[order], minlength=self.count)
        table = np.full((self.count, HUB), graph.nodes)
        table[members(counts)] = graph.position(joint[order])
        return table

    @cached_property
    def parted(self) -> bool:
        """Whether the matrix lacks what ties nodes of bodies to each other by reactions."""
        return self.decoupled and has_loops(self.joints.pairs[0], self.count)

    @property
    def auxiliary(self) -> int:
        """How many nodes a body has besides translation and rotation."""
        return 0 if self.turning is None else self.turning.auxiliary

    @cached_property
    def tiles(self) -> Tiles:
        """The tiles of the Newton matrix."""
        return arrange(self.graph, self.condensed[:-1], *self.joints.pairs)
