"""Constraints that are products of vectors of two bodies: axes, slides and rods of joints.

Up to three equations that differ in one vector only are one row here: b_i·a with axis a on A and
directions b_i on B (DOT), n_i·r with directions n_i on A (OFFSET), r = r_B - r_A; or one equation c
r·r (DISTANCE). Their reactions are summed to one force or torque. With a' = h w / 2, a vector of a
body at the end of the step is x + a' x x, and C^T rotates it back to x.
"""

from typing import ClassVar

import numpy as np

from poinsot.frames.products import Kind
from poinsot.frames.stacks import members
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    add,
    add_tile,
    axpy,
    combine,
    cross,
    dot,
    gather,
    minus,
    put_column,
    put_row,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import ahead, lever, turn_back
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, measure_closure, measure_reaction, push
from poinsot.kernels.tables import DIRECTORS, KIND, A, B, Part, R, frame, half_turn, twist
from poinsot.kernels.terms import (
    CONSTANT,
    COUNT,
    DISTANCE,
    DOT,
    NODE,
    NONE,
    SLOT,
    UNIT,
    VARIED,
    gather_blocks,
)
from poinsot.parts.constraints_backward import rows_backward
from poinsot.parts.equations import SLOTS
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, real
from poinsot.parts.stabilised_backward import stabilised_rows_backward
from poinsot.parts.stabilised_constraints import stabilised_places, stabilised_rows

#: Columns of places after node and slot: tiles of the node with (T_A, R_A, T_B, R_B), column and
#: row; tiles of these four with each other, 16 of them.
COLUMN, ROW, PAIR = 6, 10, 14


@kernel
def row_gaps(rows: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps s - constant (nodes, 3) at the start of a step are from those kept."""
    numbers, places = rows
    for k in range(numbers.shape[0]):
        at = places[k]
        (r_A, D_A), (r_B, D_B) = frame(state, at[A]), frame(state, at[B])
        node, slot, axes = at[NODE], at[SLOT], D_A
        if at[KIND] == DOT:
            axes, other = D_B, combine(vector(numbers, k, terms.DIRECTION_A), D_A)
        else:
            rho_A = combine(vector(numbers, k, terms.POINT_A), D_A)
            rho_B = combine(vector(numbers, k, terms.POINT_B), D_B)
            other = sub(add(r_B, rho_B), add(r_A, rho_A))
        for i in range(at[COUNT]):
            varied = combine(vector(numbers, k, VARIED + 3 * i), axes)
            if at[KIND] == DISTANCE:
                varied = scale(numbers[k, terms.COEFFICIENT], other)
            s = dot(varied, other) - numbers[k, CONSTANT + i]
            gap[node, slot + i] = s - kept[node, slot + i]


@kernel
def constraint_rows(rows: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    for k in range(rows.numbers.shape[0]):
        for i in range(rows.places[k, COUNT]):
            node, slot = rows.places[k, NODE], rows.places[k, SLOT] + i
            step.x[node, slot] = step.drift * step.gap[node, slot]
        if rows.places[k, KIND] == DOT:
            _directions(rows, k, step, tiles)
        else:
            _points(rows, k, step, tiles)


@inline
def _directions(rows: Part, k: int, step: Step, tiles: Array) -> None:
    """Keep directions b_i of B across an axis a of A.

    The torque on A is a x t with t = sum mu_i b_i, the opposite on B.
    """
    h, stage, multiplier, x, bodies = step.h, step.stage, step.multiplier, step.x, step.bodies
    numbers, at, mean = rows.numbers, rows.places[k], step.arms_at == DIRECTORS
    first, second, node, slot, count = at[A], at[B], at[NODE], at[SLOT], at[COUNT]
    (_, D_A), (_, D_B), X_a = (
        frame(stage, first),
        frame(stage, second),
        vector(numbers, k, terms.DIRECTION_A),
    )
    (_, w_A), (_, w_B) = twist(stage, first), twist(stage, second)
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    a, torque, X_t = combine(X_a, D_A), 0.0, NONE
    along, arm_a = cross(sub(w_A, w_B), a), a if mean else arm(step, first, X_a)
    if tiles is not None:
        P_a, back = lever(half_A, a), turn_back(half_B, ahead(half_A, a))
    for i in range(count):
        X, mu = vector(numbers, k, VARIED + 3 * i), multiplier[node, slot + i]
        b = combine(X, D_B)
        X_t = axpy(mu, X, X_t)
        x[node, slot + i] += dot(b, along)
        if tiles is not None:
            on_A, on_B = cross(arm_a, b), cross(b if mean else arm(step, second, X), a)
            put_column(tiles, at[COLUMN + 1], slot + i, on_A)
            put_column(tiles, at[COLUMN + 3], slot + i, on_B)
            end = add(b, cross(half_B, b))
            put_row(tiles, at[ROW + 1], slot + i, scale(-1.0, combine(end, P_a)))
            put_row(tiles, at[ROW + 3], slot + i, cross(b, back))
            torque = max(torque, abs(mu) * max(size(on_A), size(on_B)))
    t = combine(X_t, D_B)
    arm_t = t if mean else arm(step, second, X_t)
    gather(x, bodies[first, R], 0, cross(arm_a, t))
    gather(x, bodies[second, R], 0, cross(arm_t, a))
    if tiles is not None:
        measure_reaction(step, 0.0, torque)
        turned_A = skew_times(scale(0.5 * h, t), P_a)
        turned_B = skew_times(scale(0.5 * h, a), lever(half_B, t))
        pair = at[PAIR:]
        add_tile(tiles, pair[terms.RA_RA], turned_A)
        add_tile(tiles, pair[terms.RB_RB], turned_B)
        if pair[terms.RA_RB] < tiles.shape[0] - 1:
            add_tile(tiles, pair[terms.RA_RB], times(-1.0, turned_B))
            add_tile(tiles, pair[terms.RB_RA], times(-1.0, turned_A))


@inline
def _points(rows: Part, k: int, step: Step, tiles: Array) -> None:
    """Keep r across directions n_i of A, or its length; the force on B is t = sum mu_i n_i.

    It has the torque rho_B x t on B and t x (r + rho_A) on A.
    """
    h, stage, multiplier, x = step.h, step.stage, step.multiplier, step.x
    numbers, at, mean = rows.numbers, rows.places[k], step.arms_at == DIRECTORS
    first, second, node, slot, count = at[A], at[B], at[NODE], at[SLOT], at[COUNT]
    rod, c = at[KIND] == DISTANCE, numbers[k, terms.COEFFICIENT]
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    rho_A, rho_B, v = combine(X_A, D_A), combine(X_B, D_B), sub(v_B, v_A)
    reach = sub(add(r_B, rho_B), r_A)
    r, u = sub(reach, rho_A), sub(add(v, cross(w_B, rho_B)), cross(w_A, reach))
    X_t, t = NONE, NONE
    for i in range(count):
        X, mu = vector(numbers, k, VARIED + 3 * i), multiplier[node, slot + i]
        n = scale(2.0 * c, r) if rod else combine(X, D_A)
        X_t, t = axpy(mu, X, X_t), axpy(mu, n, t)
        x[node, slot + i] += dot(n, u)
    torque_A, torque_B = cross(t, reach), cross(rho_B, t)
    if not mean:
        torque_A = add(cross(t, arm(step, first, X_A)), cross(arm(step, first, X_t), r))
        torque_B = cross(arm(step, second, X_B), t)
    push(step, first, scale(-1.0, t), torque_A)
    push(step, second, t, torque_B)
    if tiles is not None:
        half_A, half_B = half_turn(stage, first), half_turn(stage, second)
        dr = axpy(0.5 * h, v, sub(cross(half_B, rho_B), cross(half_A, rho_A)))
        back, P_B = turn_back(half_A, add(r, dr)), lever(half_B, rho_B)
        for i in range(count):
            X = vector(numbers, k, VARIED + 3 * i)
            n = scale(2.0 * c, r) if rod else combine(X, D_A)
            end = scale(2.0 * c, add(r, dr)) if rod else add(n, cross(half_A, n))
            on_A, on_B = cross(n, reach), cross(rho_B, n)
            if not mean:
                on_A = add(cross(n, arm(step, first, X_A)), cross(arm(step, first, X), r))
                on_B = cross(arm(step, second, X_B), n)
            by_A = cross(n, add(back, rho_A))
            if rod:
                by_A = cross(scale(2.0 * c, back), rho_A)
            put_column(tiles, at[COLUMN], slot + i, scale(-1.0, n))
            put_column(tiles, at[COLUMN + 1], slot + i, on_A)
            put_column(tiles, at[COLUMN + 2], slot + i, n)
            put_column(tiles, at[COLUMN + 3], slot + i, on_B)
            put_row(tiles, at[ROW], slot + i, scale(-1.0, end))
            put_row(tiles, at[ROW + 1], slot + i, by_A)
            put_row(tiles, at[ROW + 2], slot + i, end)
            put_row(tiles, at[ROW + 3], slot + i, scale(-1.0, combine(end, P_B)))
            mu = abs(multiplier[node, slot + i])
            measure_reaction(step, mu * size(n), mu * max(size(on_A), size(on_B)))
            fastest = max(size(w_A) * size(on_A), size(w_B) * size(on_B))
            measure_closure(step, step.speeds[node, slot + i] * fastest)
        # The force t changes by nu (dv_B - dv_A) + N_A dw_A + N_B dw_B, and rho_B by R_B dw_B.
        f, bend = 0.5 * h, 2.0 * c * multiplier[node, slot] if rod else 0.0
        nu, R_B = f * bend, times(-f, P_B)
        N_A = lever(half_A, scale(bend, rho_A) if rod else scale(-1.0, t))
        N_A, N_B = times(f, N_A), times(bend, R_B)
        t_x_R_B = skew_times(t, R_B)
        gather_blocks(
            tiles,
            at[PAIR:],
            (times(nu, UNIT), N_A, N_B),
            (
                skew(axpy(f, t, scale(-nu, reach))),
                times(-1.0, skew_times(reach, N_A)),
                minus(t_x_R_B, skew_times(reach, N_B)),
            ),
            (
                skew(scale(nu, rho_B)),
                skew_times(rho_B, N_A),
                minus(skew_times(rho_B, N_B), t_x_R_B),
            ),
        )


class Rows(Family):
    """Constraints of joints that are products of vectors, but for common points."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(
        constraint_rows,
        stabilised_rows,
        row_gaps,
        backward=rows_backward,
        backward_stabilised=stabilised_rows_backward,
    )
    loads: ClassVar = False

    def __init__(self, assembly: Assembly) -> None:
        self.rows = assembly.joints.rows

    def __len__(self) -> int:
        """Return the number of equations."""
        return self.rows.joint.size

    @property
    def moved(self) -> Indices:
        """The bodies of all but dot products."""
        at = self.rows.at
        ends = at.ends[at.moves].reshape(-1)
        return ends[ends >= 0]

    @property
    def linear(self) -> bool:
        """Whether all are dot products."""
        return not np.any(self.rows.at.moves)

    @property
    def lacking(self) -> bool:
        """Whether there are any."""
        return len(self) > 0

    def meet(self, graph: Graph) -> None:
        """Join both bodies with the multipliers, and with each other unless decoupled."""
        at, joint = self.rows.at, self.rows.joint
        nodes = graph.position(joint), graph.velocity(joint)
        met = np.hstack([graph.of_bodies(end, moves=at.moves) for end in at.ends.T])
        for together in met.T if graph.decoupled else [met]:
            graph.meet(together, *nodes)

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return equations, up to three that differ in one vector as one row."""
        rows, table, at = self.rows, tiles.table, self.rows.at
        M, K = graph.pair(at.ends), graph.pair(at.ends, moving=True)
        if graph.stabilised:
            pairs = table(K, K), table(M, K), table(M, M)
            places = stabilised_places(graph, tiles, at, rows.joint, rows.slot)
            return Part(real(at.numbers, rows.constant), index(places, *pairs))
        first = np.flatnonzero(rows.begins)
        count = np.diff(np.append(first, rows.joint.size))
        alike, inner = members(count)
        constants, vectors = np.zeros((first.size, SLOTS)), np.zeros((first.size, SLOTS, 3))
        constants[alike, inner] = rows.constant
        varied = np.where((at.kind == Kind.DOT)[:, None], at.b, at.a)
        vectors[alike, inner] = at.coefficient[:, None] * varied
        node, M, K = graph.position(rows.joint[first])[:, None], M[first], K[first]
        own = at.kind[first], graph.ends(at.ends[first]), count, node, rows.slot[first]
        numbers = real(at.numbers[first], constants, vectors.reshape(-1, 9))
        return Part(numbers, index(*own, table(M, node), table(node, K), table(M, K)))
