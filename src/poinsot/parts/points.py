"""Common points of two bodies, r_B - r_A = 0, three equations at once.

    v_B + w_B x rho_B - v_A - w_A x rho_A = 0,    force mu on B, torque rho_B x mu

With rho = C rho_0 the velocity w x rho changes by C (dw x rho) = -P dw, P = C [rho], because it is
2 (rho - rho_0) / h; the torque rho x mu changes by (h/2) [mu] P dw.

In the stabilised form the multiplier gamma of positions moves points by kinematics, -gamma on B
with -rho_B x gamma, and acts on the momentum as h rho_B' x gamma; mu of velocities acts as in the
plain form. Both equations are taken at the end of the step: for quadratic constraints that is the
same, and does not drift.
"""

from typing import ClassVar

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.products import Kind
from poinsot.frames.stacks import members
from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    add_tile,
    axpy,
    combine,
    cross,
    gather,
    matrix,
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
from poinsot.kernels.step import Step, measure, push
from poinsot.kernels.tables import (
    CONDENSED,
    DIRECTORS,
    HALF,
    KR,
    KR_KR,
    KT,
    MASS2,
    OF_POSITION,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    R_R,
    RATES,
    RR,
    V1,
    W1,
    A,
    B,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.kernels.terms import UNIT
from poinsot.parts.equations import (
    G_K,
    H_K,
    H_M,
    K_G,
    M_G,
    M_H,
    NODE,
    SLOTS,
    VELOCITY_NODE,
    stabilised_places,
)
from poinsot.parts.family import Assembly, Family, Indices, Kernels, Real, index, real

#: Columns of numbers: where points are on either body. Of places, after the node: tiles of
#: rotations (R_A, R_B) with it, column and row.
ON_A, ON_B = 0, 3
COLUMN, ROW = 5, 7
#: A body with more points than this keeps its translation as a node: a hub.
HUB = 3


@kernel
def point_gaps(points: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps r_B - r_A (nodes, 3) at the start of a step are from those to be kept."""
    numbers, places = points
    for k in range(numbers.shape[0]):
        first, second = places[k, A], places[k, B]
        on_A = combine(vector(numbers, k, ON_A), matrix(state, first, DIRECTORS))
        on_B = combine(vector(numbers, k, ON_B), matrix(state, second, DIRECTORS))
        r_A = add(vector(state, first, POSITION), on_A)
        r_B, node = add(vector(state, second, POSITION), on_B), places[k, NODE]
        put(gap, node, 0, sub(sub(r_B, r_A), vector(kept, node, 0)))


@kernel
def common_points(points: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, stage, arms_at, bodies, x = step.h, step.stage, step.arms_at, step.bodies, step.x
    numbers, places = points
    forces, torques = 0.0, 0.0
    for k in range(numbers.shape[0]):
        first, second, node = places[k, A], places[k, B], places[k, NODE]
        rho_A = combine(vector(numbers, k, ON_A), matrix(stage, first, DIRECTORS))
        rho_B = combine(vector(numbers, k, ON_B), matrix(stage, second, DIRECTORS))
        mu = vector(step.multiplier, node, 0)
        v_A = add(vector(stage, first, V), cross(vector(stage, first, W), rho_A))
        v_B = add(vector(stage, second, V), cross(vector(stage, second, W), rho_B))
        put(x, node, 0, axpy(step.drift, vector(step.gap, node, 0), sub(v_B, v_A)))
        arm_A, arm_B = rho_A, rho_B
        if arms_at != DIRECTORS:
            arm_A = combine(vector(numbers, k, ON_A), matrix(stage, first, arms_at))
            arm_B = combine(vector(numbers, k, ON_B), matrix(stage, second, arms_at))
        push(step, first, scale(-1.0, mu), cross(mu, arm_A))
        push(step, second, mu, cross(arm_B, mu))
        if tiles is not None:
            P_A = lever(vector(stage, first, HALF), rho_A)
            P_B = lever(vector(stage, second, HALF), rho_B)
            put_tile(tiles, places[k, COLUMN], skew(scale(-1.0, arm_A)))
            put_tile(tiles, places[k, COLUMN + 1], skew(arm_B))
            put_tile(tiles, places[k, ROW], P_A)
            put_tile(tiles, places[k, ROW + 1], times(-1.0, P_B))
            pull = scale(0.5 * h, mu)
            add_tile(tiles, bodies[first, RR], skew_times(scale(-1.0, pull), P_A))
            add_tile(tiles, bodies[second, RR], skew_times(pull, P_B))
            forces = max(forces, size(mu))
            torques = max(torques, size(mu) * max(size(rho_A), size(rho_B)))
    measure(step, forces, torques)


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


@kernel
def stabilised_points(points: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, x, sizes, multiplier = step.h, step.x, step.sizes, step.multiplier
    numbers, places = points
    for k in range(numbers.shape[0]):
        at = places[k]
        gamma, mu = vector(multiplier, at[NODE], 0), vector(multiplier, at[VELOCITY_NODE], 0)
        put(x, at[NODE], 0, (0.0, 0.0, 0.0))
        put(x, at[VELOCITY_NODE], 0, (0.0, 0.0, 0.0))
        _side(-1.0, points, k, 0, gamma, mu, step, tiles)
        _side(1.0, points, k, 1, gamma, mu, step, tiles)
        if tiles is not None:
            reach = max(size(vector(numbers, k, ON_A)), size(vector(numbers, k, ON_B)))
            sizes[OF_POSITION] = max(sizes[OF_POSITION], reach / h)
            sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], size(mu), size(gamma))
            sizes[OF_ROTATION] = max(sizes[OF_ROTATION], size(mu) * reach, size(gamma) * reach)


@kernel
def _side(
    sign: float, points: Part, k: int, side: int, gamma: Vec, mu: Vec, step: Step, tiles: Array
) -> None:
    """Add what one body of point k contributes and feels: A (side 0) or B (side 1)."""
    h, state, stage, x, bodies = step.h, step.state, step.stage, step.x, step.bodies
    at = points.places[k]
    b, X, shift = at[A + side], vector(points.numbers, k, ON_A + 3 * side), 2 * side
    rho0, rho = combine(X, matrix(state, b, DIRECTORS)), combine(X, matrix(stage, b, DIRECTORS))
    rho1, w1 = sub(scale(2.0, rho), rho0), vector(stage, b, W1)
    rate = scale(0.5, add(combine(X, matrix(state, b, RATES)), cross(w1, rho1)))
    position = sub(scale(2.0, vector(stage, b, POSITION)), vector(state, b, POSITION))
    gather(x, at[NODE], 0, scale(sign / h, add(position, rho1)))
    gather(x, at[VELOCITY_NODE], 0, scale(sign, add(vector(stage, b, V1), cross(w1, rho1))))
    gather(x, bodies[b, KT], 0, scale(-sign, gamma))
    gather(x, bodies[b, KR], 0, scale(-sign, cross(rho, gamma)))
    gather(x, bodies[b, T], 0, scale(sign, mu))
    torque = add(cross(rho, mu), scale(h, cross(rate, gamma)))
    gather(x, bodies[b, R], 0, scale(sign, torque))
    if tiles is not None:
        P, one = lever(vector(stage, b, HALF), rho), times(sign, UNIT)
        turned = times(h, skew_times(w1, P))
        put_tile(tiles, at[K_G + shift], times(-1.0, one))
        put_tile(tiles, at[K_G + shift + 1], skew(scale(-sign, rho)))
        put_tile(tiles, at[M_G + shift + 1], skew(scale(sign * h, rate)))
        put_tile(tiles, at[M_H + shift], one)
        put_tile(tiles, at[M_H + shift + 1], skew(scale(sign, rho)))
        put_tile(tiles, at[G_K + shift], one)
        put_tile(tiles, at[G_K + shift + 1], times(-sign, P))
        put_tile(tiles, at[H_K + shift + 1], times(-sign, turned))
        put_tile(tiles, at[H_M + shift], one)
        put_tile(tiles, at[H_M + shift + 1], skew(scale(-sign, rho1)))
        by_gamma = times(-0.5 * h * sign, skew_times(gamma, P))
        add_tile(tiles, bodies[b, KR_KR], by_gamma)
        add_tile(tiles, bodies[b, RR], times(0.5 * h * sign, skew_times(mu, P)))
        by_rate = times(0.5 * h * sign, skew_times(gamma, turned))
        add_tile(tiles, bodies[b, RR], by_rate)
        by_end = times(0.5 * h * sign, skew_times(gamma, skew(rho1)))
        add_tile(tiles, bodies[b, R_R], by_end)


class Points(Family):
    """Common points of two bodies, which joints begin with."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(
        common_points, stabilised_points, point_gaps, fold=fold, unfold=unfold
    )
    loads: ClassVar = False

    def __init__(self, assembly: Assembly) -> None:
        self.count = assembly.count
        self.at, self.joint = assembly.joints.points.at, assembly.joints.points.joint

    def __len__(self) -> int:
        """Return their number."""
        return self.joint.size

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
        node, R = graph.position(joint)[:, None], graph.motion(at.ends)[:, :, 1]
        kind, met = np.full_like(joint, Kind.AXIS), (tiles.table(R, node), tiles.table(node, R))
        return Part(numbers, index(kind, graph.ends(at.ends), 0 * joint, node, *met))

    def add_mobility(self, size: Real, by_force: Real, by_torque: Real) -> None:
        """Add 1/m, and the square of the lever arm over the inertia, of both bodies."""
        reach = np.column_stack([(X**2).sum(axis=1) for X in (self.at.XA, self.at.XB)])
        each = by_force[self.at.ends] + reach * by_torque[self.at.ends]
        size[self.joint] = each.sum(axis=1)[:, None]

    def add_constants(self, template: Real, graph: Graph, tiles: Tiles, mass: Real) -> None:
        """Add how points meet translations, and what is left where these are eliminated."""
        if graph.stabilised:
            return
        node, body = np.tile(graph.position(self.joint), 2), self.at.ends.T.reshape(-1)
        sign = np.repeat([-1.0, 1.0], self.joint.size)
        condensed = graph.condensed[body]
        kept = (body != GROUND) & ~condensed
        T = graph.motion(body[kept])[:, 0]
        for places in (tiles.at(T, node[kept]), tiles.at(node[kept], T)):
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
