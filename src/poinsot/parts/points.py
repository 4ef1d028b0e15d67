"""Common points of two bodies, r_B - r_A = 0, three equations at once.

    v_B + w_B x rho_B - v_A - w_A x rho_A = 0,    force mu on B, torque rho_B x mu

With rho = C rho_0 the velocity w x rho changes by C (dw x rho) = -P dw, P = C [rho], because it is
2 (rho - rho_0) / h; the torque rho x mu changes by (h/2) [mu] P dw.
"""

from typing import ClassVar

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.products import Kind
from poinsot.frames.stacks import members
from poinsot.kernels.algebra import (
    Array,
    add,
    add_tile,
    axpy,
    combine,
    cross,
    gather,
    put,
    put_tile,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, measure_reaction, push
from poinsot.kernels.tables import (
    CONDENSED,
    DIRECTORS,
    MASS2,
    RR,
    A,
    B,
    Part,
    T,
    frame,
    half_turn,
    twist,
)
from poinsot.parts.constraints_backward import points_backward
from poinsot.parts.equations import SLOTS
from poinsot.parts.family import Assembly, Family, Indices, Kernels, Real, index, real
from poinsot.parts.stabilised_backward import stabilised_points_backward
from poinsot.parts.stabilised_constraints import (
    NODE,
    ON_A,
    ON_B,
    stabilised_places,
    stabilised_points,
)

#: Columns of places, after the node: tiles of rotations (R_A, R_B) with it, column and row.
COLUMN, ROW = 5, 7
#: A body with more points than this keeps its translation as a node: a hub.
HUB = 3


@kernel
def point_gaps(points: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps r_B - r_A (nodes, 3) at the start of a step are from those to be kept."""
    numbers, places = points
    for k in range(numbers.shape[0]):
        (r_A, D_A), (r_B, D_B) = frame(state, places[k, A]), frame(state, places[k, B])
        r_A = add(r_A, combine(vector(numbers, k, ON_A), D_A))
        r_B = add(r_B, combine(vector(numbers, k, ON_B), D_B))
        put(gap, places[k, NODE], 0, sub(sub(r_B, r_A), vector(kept, places[k, NODE], 0)))


@kernel
def common_points(points: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, stage, bodies, (numbers, places) = step.h, step.stage, step.bodies, points
    forces, torques = 0.0, 0.0
    for k in range(numbers.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, NODE]
        X_A, X_B = vector(numbers, k, ON_A), vector(numbers, k, ON_B)
        (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
        (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
        rho_A, rho_B, mu = combine(X_A, D_A), combine(X_B, D_B), vector(step.multiplier, node, 0)
        apart = sub(add(v_B, cross(w_B, rho_B)), add(v_A, cross(w_A, rho_A)))
        put(step.x, node, 0, axpy(step.drift, vector(step.gap, node, 0), apart))
        arm_A, arm_B = rho_A, rho_B
        if step.arms_at != DIRECTORS:
            arm_A, arm_B = arm(step, first, X_A), arm(step, second, X_B)
        push(step, first, scale(-1.0, mu), cross(mu, arm_A))
        push(step, second, mu, cross(arm_B, mu))
        if tiles is not None:
            P_A, P_B = lever(half_turn(stage, first), rho_A), lever(half_turn(stage, second), rho_B)
            put_tile(tiles, places[k, COLUMN], skew(scale(-1.0, arm_A)))
            put_tile(tiles, places[k, COLUMN + 1], skew(arm_B))
            put_tile(tiles, places[k, ROW], P_A)
            put_tile(tiles, places[k, ROW + 1], times(-1.0, P_B))
            pull = scale(0.5 * h, mu)
            add_tile(tiles, bodies[first, RR], skew_times(scale(-1.0, pull), P_A))
            add_tile(tiles, bodies[second, RR], skew_times(pull, P_B))
            forces = max(forces, size(mu))
            torques = max(torques, size(mu) * max(size(rho_A), size(rho_B)))
    measure_reaction(step, forces, torques)


@kernel
def fold(points: Part, bodies: Part, x: Array) -> None:
    """Eliminate the translation of condensed bodies from the right-hand side x (nodes, 3)."""
    places, of_body, numbers = points.places, bodies.places, bodies.numbers
    for k in range(places.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, NODE]
        if of_body[first, CONDENSED]:
            gather(x, node, 0, scale(1.0 / numbers[first, MASS2], vector(x, of_body[first, T], 0)))
        if of_body[second, CONDENSED]:
            pushed = vector(x, of_body[second, T], 0)
            gather(x, node, 0, scale(-1.0 / numbers[second, MASS2], pushed))


@kernel
def unfold(points: Part, bodies: Part, x: Array) -> None:
    """Recover the translation of condensed bodies from the solution x (nodes, 3)."""
    places, of_body, numbers = points.places, bodies.places, bodies.numbers
    for k in range(places.shape[0]):
        first, second, mu = places[k, A], places[k, B], vector(x, places[k, NODE], 0)
        if of_body[first, CONDENSED]:
            gather(x, of_body[first, T], 0, mu)
        if of_body[second, CONDENSED]:
            gather(x, of_body[second, T], 0, scale(-1.0, mu))
    for b in range(numbers.shape[0]):
        if of_body[b, CONDENSED]:
            node = of_body[b, T]
            put(x, node, 0, scale(1.0 / numbers[b, MASS2], vector(x, node, 0)))


class Points(Family):
    """Common points of two bodies, which joints begin with."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(
        common_points,
        stabilised_points,
        point_gaps,
        fold=fold,
        unfold=unfold,
        backward=points_backward,
        backward_stabilised=stabilised_points_backward,
    )
    loads: ClassVar = False

    def __init__(self, assembly: Assembly) -> None:
        self.count = assembly.count
        self.at, self.joint = assembly.joints.points.at, assembly.joints.points.joint

    def __len__(self) -> int:
        """Return their number."""
        return self.joint.size

    @property
    def linear(self) -> bool:
        """They are, as long as forces act where they did."""
        return True

    @property
    def moved(self) -> Indices:
        """Bodies with many of them: hubs."""
        ends = self.at.ends % (self.count + 1)
        return np.flatnonzero(np.bincount(ends.reshape(-1), minlength=self.count + 1) > HUB)

    def meet(self, graph: Graph) -> None:
        """Join each body with the point, and the points of condensed bodies with each other."""
        nodes = graph.position(self.joint), graph.velocity(self.joint)
        for bodies in self.at.ends.T:
            met = graph.of_bodies(bodies, moves=~graph.condensed[bodies])
            for together in [met] if graph.stabilised else met.T:
                graph.meet(together, *nodes)
        graph.meet(self._on_condensed(graph))

    def _on_condensed(self, graph: Graph) -> Indices:
        """Return the nodes of points on each condensed body, the ground's where there are fewer."""
        body, joint = self.at.ends.T.reshape(-1), np.tile(self.joint, 2)
        order = np.argsort(body, kind="stable")
        order = order[graph.condensed[body[order]]]
        counts = np.bincount(body[order], minlength=self.count)
        table = np.full((self.count, HUB), graph.nodes)
        table[members(counts)] = graph.position(joint[order])
        return table

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return where points are on either body; kind, bodies, node and tiles."""
        at, joint = self.at, self.joint
        numbers = real(at.XA, at.XB)
        if graph.stabilised:
            return Part(numbers, index(stabilised_places(graph, tiles, at, joint, 0 * joint)))
        node, KR = graph.position(joint)[:, None], graph.motion(at.ends)[:, :, 1]
        R, kind = graph.momentum(at.ends)[:, :, 1], np.full_like(joint, Kind.AXIS)
        met = tiles.table(R, node), tiles.table(node, KR)
        return Part(numbers, index(kind, graph.ends(at.ends), 0 * joint, node, *met))

    def add_constants(self, template: Real, graph: Graph, tiles: Tiles, mass: Real) -> None:
        """Add how points meet translations, and what is left where these are eliminated."""
        if graph.stabilised:
            return
        node, body = np.tile(graph.position(self.joint), 2), self.at.ends.T.reshape(-1)
        sign = np.repeat([-1.0, 1.0], self.joint.size)
        condensed = graph.condensed[body]
        kept = (body != GROUND) & ~condensed
        T, KT = graph.momentum(body[kept])[:, 0], graph.motion(body[kept])[:, 0]
        for places in (tiles.at(T, node[kept]), tiles.at(node[kept], KT)):
            np.add.at(template, places, sign[kept, None, None] * np.eye(SLOTS))
        # Points on the same condensed body, each with each.
        order = np.argsort(body, kind="stable")
        order = order[condensed[order]]
        counts = np.bincount(body[order], minlength=self.count)[body[order]]
        one, inner = members(counts)
        start = np.searchsorted(body[order], body[order])
        one, other = order[one], order[start[one] + inner]
        inverse = sign[one] * sign[other] / (2 * mass[body[one]])
        places = tiles.at(node[one], node[other])
        np.add.at(template, places, -inverse[:, None, None] * np.eye(SLOTS))
