"""Driven coordinates in the compiled engine: constraints of joints whose rates are inputs.

A drive pulls like a spring whose force is the multiplier, along the secant of the chart; what is
left to do is the row that says how far the coordinate moves over the step, and both derivatives.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from poinsot.frames.places import local
from poinsot.frames.products import lines, struts
from poinsot.frames.stacks import Forms
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axial,
    axpy,
    combine,
    cross,
    dot,
    matrix,
    minus,
    multiply,
    plus,
    put,
    put_column,
    put_row,
    scale,
    skew_times,
    sub,
    times,
    times_skew,
    transposed,
    vector,
)
from poinsot.kernels.cayley import cayley, lever, turn_back
from poinsot.kernels.charts import ANGLE, chart_secant, chart_slope
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, enlarge
from poinsot.kernels.tables import (
    DIRECTORS,
    KIND,
    OF_CLOSURE,
    A,
    Acts,
    B,
    Index2,
    frame,
    half_turn,
    twist,
)
from poinsot.kernels.terms import DOT, NONE
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, real
from poinsot.parts.struts import (
    FORM_0,
    FORM_1,
    Pull,
    coordinate,
    forms_turning,
    go_on,
    lost,
    product,
    struts_act,
)
from poinsot.parts.tensions import SPRING, Along
from poinsot.ph.matrices import Vector

#: Columns of drives: input; the one with the mean rate, before that with the coordinate at the
#: start, if it is prescribed (1) and not the rate alone (0); node of the multiplier; tiles of the
#: node with (T_A, R_A, T_B, R_B), column and row.
PORT, RATE, HELD, NODE, COLUMN, ROW = 0, 1, 2, 3, 4, 8


class Driving(NamedTuple):
    """Driven coordinates: springs along them, one each, and the places of their rows."""

    along: Along
    places: Index2


@kernel
def driven_rows(drives: Driving, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; set inputs u, the rates asked for, and outputs y."""
    along, places = drives.along, drives.places
    for k in range(places.shape[0]):
        along.acts.numbers[k, 0] = step.multiplier[places[k, NODE], 0] / step.h
    struts_act(along, step, tiles)
    for k in range(places.shape[0]):
        at, u = places[k], step.u
        rate = u[at[RATE]]
        if at[HELD] == 1:
            rate += step.drift * (u[at[RATE] + 1] - along.chi[0, k])
        u[at[PORT]], step.y[at[PORT]] = rate, -along.acts.numbers[k, 0]
        if along.places[k, KIND] == DOT:
            moved = _turning(along, at, k, step, tiles)
        else:
            moved = _sliding(along, at, k, step, tiles)
        put(step.x, at[NODE], 0, (moved / step.h - rate, 0.0, 0.0))
        enlarge(step.sizes, OF_CLOSURE, abs(rate))


@inline
def _turning(along: Along, at: Array, k: int, step: Step, tiles: Array) -> float:
    """Return how far an angle turns; add derivatives to tiles unless None."""
    stage, first, second = step.stage, along.places[k, A], along.places[k, B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    N_0, N_1 = matrix(along.numbers, k, FORM_0), matrix(along.numbers, k, FORM_1)
    K_0, K_1 = product(N_0, D_A, D_B), product(N_1, D_A, D_B)
    start, _, end, ds = forms_turning(K_0, K_1, half_A, half_B)
    b, _ = chart_secant(ANGLE, start, end, ds)
    if tiles is not None:
        on_A = axpy(b[0], axial(K_0), scale(b[1], axial(K_1)))
        on_B = scale(-1.0, on_A)
        if step.arms_at != DIRECTORS:
            L_A, L_B = matrix(stage, first, step.arms_at), matrix(stage, second, step.arms_at)
            on_A = axial(_mixed(b, product(N_0, L_A, D_B), product(N_1, L_A, D_B)))
            on_B = axial(_mixed(b, product(N_0, D_A, L_B), product(N_1, D_A, L_B)))
            on_B = scale(-1.0, on_B)
        K = _mixed(chart_slope(ANGLE, end), K_0, K_1)
        by_A = axial(multiply(minus(K, times_skew(K, half_B)), cayley(half_A)))
        by_B = axial(multiply(transposed(plus(K, skew_times(half_A, K))), cayley(half_B)))
        _put(tiles, at, NONE, on_A, on_B, NONE, by_A, by_B)
    return b[0] * ds[0] + b[1] * ds[1]


@inline
def _mixed(b: tuple[float, float], K_0: Mat, K_1: Mat) -> Mat:
    return plus(times(b[0], K_0), times(b[1], K_1))


@inline
def _sliding(along: Along, at: Array, k: int, step: Step, tiles: Array) -> float:
    """Return how far n·r changes, n on A; add derivatives to tiles unless None."""
    h, stage, numbers = step.h, step.stage, along.numbers
    first, second = along.places[k, A], along.places[k, B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    X_n = scale(numbers[k, terms.COEFFICIENT], vector(numbers, k, terms.DIRECTION_A))
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    rho_A, rho_B, n = combine(X_A, D_A), combine(X_B, D_B), combine(X_n, D_A)
    reach, v = sub(add(r_B, rho_B), r_A), sub(v_B, v_A)
    if tiles is not None:
        r = sub(reach, rho_A)
        dr = axpy(0.5 * h, v, sub(cross(half_B, rho_B), cross(half_A, rho_A)))
        on_A, on_B = cross(n, reach), cross(rho_B, n)
        if step.arms_at != DIRECTORS:
            on_A = add(cross(n, arm(step, first, X_A)), cross(arm(step, first, X_n), r))
            on_B = cross(arm(step, second, X_B), n)
        end = add(n, cross(half_A, n))
        by_A = cross(n, add(turn_back(half_A, add(r, dr)), rho_A))
        by_B = scale(-1.0, combine(end, lever(half_B, rho_B)))
        _put(tiles, at, n, on_A, on_B, end, by_A, by_B)
    return h * dot(n, sub(add(v, cross(w_B, rho_B)), cross(w_A, reach)))


@inline
def _put(
    tiles: Array, at: Array, n: Vec, on_A: Vec, on_B: Vec, end: Vec, by_A: Vec, by_B: Vec
) -> None:
    """Set what the multiplier does to both bodies, and how their motion changes the row."""
    put_column(tiles, at[COLUMN], 0, scale(-1.0, n))
    put_column(tiles, at[COLUMN + 1], 0, on_A)
    put_column(tiles, at[COLUMN + 2], 0, n)
    put_column(tiles, at[COLUMN + 3], 0, on_B)
    put_row(tiles, at[ROW], 0, scale(-1.0, end))
    put_row(tiles, at[ROW + 1], 0, by_A)
    put_row(tiles, at[ROW + 2], 0, end)
    put_row(tiles, at[ROW + 3], 0, by_B)


@kernel
def driven_lost(drives: Driving, state: Array, step: Step) -> bool:
    """Keep coordinates after the step; tell whether an angle cannot be followed."""
    along = drives.along
    for k in range(drives.places.shape[0]):
        along.chi[1, k] = coordinate(along, k, state, along.chi[0, k])
    return lost(along, state, step)


@kernel
def driven_on(drives: Driving) -> None:
    """Go on from the coordinates after the step."""
    go_on(drives.along)


class DrivenRows(Family):
    """Coordinates of joints whose motion is prescribed."""

    Table: ClassVar = Driving
    kernels: ClassVar = Kernels(driven_rows, ended=driven_lost, accept=driven_on)

    def __init__(self, assembly: Assembly) -> None:
        found = [Pull(driven, SPRING, port=port) for port, driven in assembly.drives]
        forms = [driven.forms.onto(driven.bodies) for _, driven in assembly.drives]
        sizes = [driven.forms.m for _, driven in assembly.drives]
        along = lines(Forms(forms, assembly.count), sizes)
        self.struts = struts(along, [pull.chart for pull in found])
        self.order = self.struts.order
        self.drives = [assembly.drives[k] for k in self.order.tolist()]
        self.group = assembly.joints.groups - len(found) + self.order
        self.inputs = sum(inlet.size for inlet in assembly.inlets)
        self.chi = np.zeros((2, len(found)))

    def __len__(self) -> int:
        """Return the number of drives."""
        return len(self.drives)

    @property
    def moved(self) -> Indices:
        """The bodies of all but angles."""
        ends = self.struts.ends[self.struts.moves].reshape(-1)
        return ends[ends >= 0]

    def meet(self, graph: Graph) -> None:
        """Join both bodies with the multiplier, and with each other."""
        moves, node = self.struts.moves, graph.position(self.group)
        graph.meet(*(graph.of_bodies(end, moves=moves) for end in self.struts.ends.T), node)

    def table(self, graph: Graph, tiles: Tiles) -> Driving:
        """Return coordinates, and where their rows are."""
        at, count, table = self.struts, len(self), tiles.table
        M, K = graph.pair(at.ends), graph.pair(at.ends, moving=True)
        acts = Acts(np.zeros((count, 4)), index(np.zeros((count, 2))), addresses([None] * count))
        places = index(at.kind, graph.ends(at.ends), at.chart, at.ranges, table(M, K))
        along = Along(real(at.numbers), places, acts, self.chi, np.zeros((0, 2)))
        node = graph.position(self.group)[:, None]
        port = np.array([port for port, _ in self.drives], dtype=np.intp)
        held = np.array([driven.motion.holds for _, driven in self.drives], dtype=np.intp)
        rate = self.inputs + 2 * self.order
        return Driving(along, index(port, rate, held, node, table(M, node), table(node, K)))

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with the coordinates at q."""
        for k, (_, driven) in enumerate(self.drives):
            self.chi[:, k] = driven.near(angles).value(local(q, driven.bodies))
