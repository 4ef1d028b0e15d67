"""Constrained strains of rods in the compiled engine.

An equation has directions a on A and b on B and, for the relative rotation of the sections, u_A and
u_B:

    (a + b)·r / 2 - (a·u_B + u_A·b) / 6,    r = r_B - r_A .

Its force on B is (a + b) / 2, its torque on A is a x P - u_A x b / 6 with P = r / 2 - u_B / 6.
"""

from typing import ClassVar

import numpy as np

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    combine,
    cross,
    dot,
    minus,
    plus,
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
from poinsot.kernels.cayley import ahead, lever
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, measure_reaction, push
from poinsot.kernels.tables import DIRECTORS, Part, frame, half_turn, twist
from poinsot.kernels.terms import NONE, ZERO, gather_blocks
from poinsot.parts.equations import SLOTS
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, real

#: Columns of numbers: u on A and on B, then a, b and a constant for each of up to three equations.
#: Of places: bodies A and B, how many equations, node of the multipliers, tiles of the node with
#: (T_A, R_A, T_B, R_B), column and row; tiles of these four with each other.
DISPLACED_A, DISPLACED_B, EQUATIONS, ALONG_B, CONSTANT, EACH = 0, 3, 6, 3, 6, 7
FIRST, SECOND, COUNT, NODE, COLUMN, ROW, PAIR = 0, 1, 2, 3, 4, 8, 12
#: The share that turns have in an equation.
TURN = 1.0 / 6.0


@arithmetic
def _torque(a: Vec, u_A: Vec, b: Vec, P: Vec) -> Vec:
    """Return the torque on A of directions a and b, u_A on A, and P = r / 2 - u_B / 6."""
    return axpy(-TURN, cross(u_A, b), cross(a, P))


@arithmetic
def _towards(r: Vec, u: Vec) -> Vec:
    """Return r / 2 - u / 6."""
    return axpy(-TURN, u, scale(0.5, r))


@kernel
def strain_gaps(strains: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far gaps (nodes, 3) at the start of a step are from those kept."""
    numbers, places = strains
    for k in range(numbers.shape[0]):
        (r_A, D_A), (r_B, D_B) = frame(state, places[k, FIRST]), frame(state, places[k, SECOND])
        r, node = sub(r_B, r_A), places[k, NODE]
        u_A = combine(vector(numbers, k, DISPLACED_A), D_A)
        u_B = combine(vector(numbers, k, DISPLACED_B), D_B)
        for i in range(places[k, COUNT]):
            at = EQUATIONS + EACH * i
            a = combine(vector(numbers, k, at), D_A)
            b = combine(vector(numbers, k, at + ALONG_B), D_B)
            s = dot(a, _towards(r, u_B)) + dot(b, _towards(r, u_A)) - numbers[k, at + CONSTANT]
            gap[node, i] = s - kept[node, i]


@kernel
def strains_act(strains: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    stage, numbers, multiplier = step.stage, strains.numbers, step.multiplier
    mean = step.arms_at == DIRECTORS
    for k in range(numbers.shape[0]):
        at = strains.places[k]
        first, second, node = at[FIRST], at[SECOND], at[NODE]
        (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
        (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
        r, v = sub(r_B, r_A), sub(v_B, v_A)
        X_A, X_B = vector(numbers, k, DISPLACED_A), vector(numbers, k, DISPLACED_B)
        u_A, u_B = combine(X_A, D_A), combine(X_B, D_B)
        P, Q = _towards(r, u_B), _towards(r, u_A)
        U_A, U_B = (u_A, u_B) if mean else (arm(step, first, X_A), arm(step, second, X_B))
        A, B = NONE, NONE
        for i in range(at[COUNT]):
            column = EQUATIONS + EACH * i
            X_a, X_b = vector(numbers, k, column), vector(numbers, k, column + ALONG_B)
            a, b, mu = combine(X_a, D_A), combine(X_b, D_B), multiplier[node, i]
            A, B = axpy(mu, X_a, A), axpy(mu, X_b, B)
            turned = dot(_torque(a, u_A, b, P), w_A) + dot(_torque(b, u_B, a, Q), w_B)
            step.x[node, i] = 0.5 * dot(add(a, b), v) + turned + step.drift * step.gap[node, i]
            if tiles is not None:
                arm_a, arm_b = (a, b) if mean else (arm(step, first, X_a), arm(step, second, X_b))
                e = scale(0.5, add(a, b))
                on_A, on_B = _torque(arm_a, U_A, b, P), _torque(arm_b, U_B, a, Q)
                put_column(tiles, at[COLUMN], i, scale(-1.0, e))
                put_column(tiles, at[COLUMN + 1], i, on_A)
                put_column(tiles, at[COLUMN + 2], i, e)
                put_column(tiles, at[COLUMN + 3], i, on_B)
                measure_reaction(step, abs(mu) * size(e), abs(mu) * max(size(on_A), size(on_B)))
        a, b = combine(A, D_A), combine(B, D_B)
        arm_a, arm_b = (a, b) if mean else (arm(step, first, A), arm(step, second, B))
        F = scale(0.5, add(a, b))
        push(step, first, scale(-1.0, F), _torque(arm_a, U_A, b, P))
        push(step, second, F, _torque(arm_b, U_B, a, Q))
        if tiles is not None:
            _rows(strains, k, step, tiles, axpy(0.5 * step.h, v, r))
            _blocks(at, step, tiles, (a, b), (u_A, u_B), (P, Q))


@inline
def _rows(strains: Part, k: int, step: Step, tiles: Array, r1: Vec) -> None:
    """Store how equations change with velocities, by vectors at the end of the step."""
    numbers, at = strains.numbers, strains.places[k]
    first, second = at[FIRST], at[SECOND]
    (_, D_A), (_, D_B) = frame(step.stage, first), frame(step.stage, second)
    half_A, half_B = half_turn(step.stage, first), half_turn(step.stage, second)
    u_A = combine(vector(numbers, k, DISPLACED_A), D_A)
    u_B = combine(vector(numbers, k, DISPLACED_B), D_B)
    P, Q = _towards(r1, ahead(half_B, u_B)), _towards(r1, ahead(half_A, u_A))
    lever_A, lever_B = lever(half_A, u_A), lever(half_B, u_B)
    for i in range(at[COUNT]):
        column = EQUATIONS + EACH * i
        a = combine(vector(numbers, k, column), D_A)
        b = combine(vector(numbers, k, column + ALONG_B), D_B)
        a1, b1 = ahead(half_A, a), ahead(half_B, b)
        e = scale(0.5, add(a1, b1))
        by_A = axpy(TURN, combine(b1, lever_A), scale(-1.0, combine(P, lever(half_A, a))))
        by_B = axpy(TURN, combine(a1, lever_B), scale(-1.0, combine(Q, lever(half_B, b))))
        put_row(tiles, at[ROW], i, scale(-1.0, e))
        put_row(tiles, at[ROW + 1], i, by_A)
        put_row(tiles, at[ROW + 2], i, e)
        put_row(tiles, at[ROW + 3], i, by_B)


@inline
def _blocks(
    at: Array,
    step: Step,
    tiles: Array,
    along: tuple[Vec, Vec],
    displaced: tuple[Vec, Vec],
    towards: tuple[Vec, Vec],
) -> None:
    """Add to tiles how reactions change; `along` are the sums of multipliers times a and b."""
    (a, b), (u_A, u_B), (P, Q), f = along, displaced, towards, 0.5 * step.h
    half_A, half_B = half_turn(step.stage, at[FIRST]), half_turn(step.stage, at[SECOND])
    # Vectors of A change by -f C [a] dw_A.
    by_a, by_b = times(-f, lever(half_A, a)), times(-f, lever(half_B, b))
    by_u_A, by_u_B = times(-f, lever(half_A, u_A)), times(-f, lever(half_B, u_B))
    gather_blocks(
        tiles,
        at[PAIR:],
        (ZERO, times(0.5, by_a), times(0.5, by_b)),
        (skew(scale(0.5 * f, a)), _own(P, b, by_a, by_u_A), _other(a, u_A, by_b, by_u_B)),
        (skew(scale(0.5 * f, b)), _other(b, u_B, by_a, by_u_A), _own(Q, a, by_b, by_u_B)),
    )


@arithmetic
def _own(P: Vec, b: Vec, by_a: Mat, by_u: Mat) -> Mat:
    """Return how a torque changes with the turn of its own body."""
    return minus(times(TURN, skew_times(b, by_u)), skew_times(P, by_a))


@arithmetic
def _other(a: Vec, u: Vec, by_b: Mat, by_u: Mat) -> Mat:
    """Return how a torque changes with the turn of the other body."""
    return times(-TURN, plus(skew_times(a, by_u), skew_times(u, by_b)))


class StrainRows(Family):
    """Strains of rods that are held."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(strains_act, gaps=strain_gaps)
    loads: ClassVar = False

    def __init__(self, assembly: Assembly) -> None:
        self.held = assembly.joints.strains

    def __len__(self) -> int:
        """Return the number of equations."""
        return self.held.joint.size

    @property
    def moved(self) -> Indices:
        """The sections."""
        return np.asarray(self.held.ends.reshape(-1))

    def meet(self, graph: Graph) -> None:
        """Join both sections with the multipliers, and with each other."""
        nodes = [graph.of_bodies(bodies) for bodies in self.held.ends.T]
        graph.meet(*nodes, graph.position(self.held.joint))

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return the equations of each element as one row."""
        held, table = self.held, tiles.table
        joint, first, count = np.unique(held.joint, return_index=True, return_counts=True)
        each = np.zeros((joint.size, SLOTS, EACH))
        each[np.repeat(np.arange(joint.size), count), held.slot] = np.column_stack(
            [held.a, held.b, held.constant]
        )
        ends, node = held.ends[first], graph.position(joint)[:, None]
        M, K = graph.pair(ends), graph.pair(ends, moving=True)
        numbers = real(held.u_A[first], held.u_B[first], each.reshape(-1, SLOTS * EACH))
        own = graph.ends(ends), count, node
        return Part(numbers, index(*own, table(M, node), table(node, K), table(M, K)))
