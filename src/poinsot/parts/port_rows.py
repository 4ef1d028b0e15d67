"""Outputs of ports as rows in the compiled engine: y_i = n·(v_B - v_A) + t_A·w_A + t_B·w_B.

All values are at midpoints. A network at ports adds B S B^T to the matrix, the dependence of its
inputs on velocities; the rotation of rows with the bodies, a term of order h, is left out.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poinsot.frames.charts import Angle
from poinsot.frames.directions import Charted, Direction
from poinsot.frames.products import Kind, lines, struts
from poinsot.frames.stacks import Forms
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    add_tile,
    axial,
    axpy,
    combine,
    cross,
    dot,
    matrix,
    outer,
    put,
    scale,
    sub,
    times,
    trace,
    transposed,
    vector,
)
from poinsot.kernels.charts import ANGLE, LINEAR, chart_slope
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.step import Step
from poinsot.kernels.tables import KIND, A, B, frame, twist
from poinsot.kernels.terms import NONE
from poinsot.parts.body_loads import directions_of, kind_of, numbers_of
from poinsot.parts.family import Indices
from poinsot.parts.feedback import Inlet
from poinsot.parts.load_motion import AXES, GENERALISED, POINT, PUBLISHED_TORQUE
from poinsot.parts.network_table import (
    COMPONENT,
    FORCE,
    OUT,
    PAIRS,
    ROW,
    ROWS_END,
    SLOPE,
    TORQUE_A,
    TORQUE_B,
    Networks,
)
from poinsot.parts.turning_forms import FORM_0, FORM_1, product

#: Kinds of rows: along an angle, along an offset; from there on, of the kinds of loads.
TURN, SLIDE, LOAD = 0, 1, 2


@inline
def look_along(table: Networks, i: int, step: Step) -> None:
    """Set row i at the midpoint, and its output."""
    numbers, at, stage, work = table.numbers, table.places[i], step.stage, table.work
    first, second = at[A], at[B]
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    n, on_A, on_B = NONE, NONE, NONE
    if at[KIND] == TURN:
        K_0 = product(matrix(numbers, i, FORM_0), D_A, D_B)
        K_1 = product(matrix(numbers, i, FORM_1), D_A, D_B)
        d = chart_slope(ANGLE, (trace(K_0), trace(K_1)))
        on_A = axpy(d[0], axial(K_0), scale(d[1], axial(K_1)))
        on_B = scale(-1.0, on_A)
    elif at[KIND] == SLIDE:
        rho_B = combine(vector(numbers, i, terms.POINT_B), D_B)
        along = combine(vector(numbers, i, terms.DIRECTION_A), D_A)
        n = scale(numbers[i, terms.COEFFICIENT], along)
        on_A, on_B = cross(n, sub(add(r_B, rho_B), r_A)), cross(rho_B, n)
    else:
        rho, axes = combine(vector(numbers, i, POINT), D_B), matrix(numbers, i, AXES)
        by_force, by_torque = directions_of(at[KIND] - LOAD, axes, D_B, rho)
        n, on_B = transposed(by_force)[0], transposed(by_torque)[0]
        if at[COMPONENT] == 1:
            n, on_B = transposed(by_force)[1], transposed(by_torque)[1]
        if at[COMPONENT] == 2:
            n, on_B = transposed(by_force)[2], transposed(by_torque)[2]
    put(work, i, FORCE, n)
    put(work, i, TORQUE_A, on_A)
    put(work, i, TORQUE_B, on_B)
    work[i, OUT] = dot(n, sub(v_B, v_A)) + dot(on_A, w_A) + dot(on_B, w_B)


@kernel
def couple(table: Networks, k: int, step: Step, tiles: Array) -> None:
    """Add -h B S B^T."""
    at, work = table.networks[k], table.work
    count, S = at[ROWS_END] - at[ROW], at[SLOPE]
    for i in range(count):
        for j in range(count):
            gain = -step.h * table.matrices[S + i * count + j]
            if gain != 0.0:
                a, b = at[ROW] + i, at[ROW] + j
                places = table.pairs[at[PAIRS] + i * count + j]
                n_a, n_b = vector(work, a, FORCE), vector(work, b, FORCE)
                _add_row(tiles, places, 0, scale(-gain, n_a), n_b, work, b)
                _add_row(tiles, places, 4, scale(gain, vector(work, a, TORQUE_A)), n_b, work, b)
                _add_row(tiles, places, 8, scale(gain, n_a), n_b, work, b)
                _add_row(tiles, places, 12, scale(gain, vector(work, a, TORQUE_B)), n_b, work, b)


@inline
def _add_row(tiles: Array, places: Array, first: int, a: Vec, n: Vec, work: Array, b: int) -> None:
    """Add a times the row b of (v_A, w_A, v_B, w_B)."""
    add_tile(tiles, places[first], times(-1.0, outer(a, n)))
    add_tile(tiles, places[first + 1], outer(a, vector(work, b, TORQUE_A)))
    add_tile(tiles, places[first + 2], outer(a, n))
    add_tile(tiles, places[first + 3], outer(a, vector(work, b, TORQUE_B)))


class PortRow(NamedTuple):
    """One output of a port as a row: its bodies, numbers, component and input."""

    kind: int
    ends: tuple[int, int]
    numbers: list[float]
    component: int
    input: int


def row_of(ports: Sequence[tuple[int, Inlet]], k: int, bodies: int) -> PortRow:
    """Return input k as a row."""
    first, inlet = next((at, inlet) for at, inlet in ports if at <= k < at + inlet.size)
    direction = inlet.direction
    if isinstance(direction, Charted):
        chart = ANGLE if isinstance(direction.chart, Angle) else LINEAR
        forms = Forms([direction.forms.onto(direction.bodies)], bodies)
        one = struts(lines(forms, [direction.forms.m]), [chart])
        kind = TURN if one.kind[0] == Kind.DOT else SLIDE
        a, b = one.ends[0].tolist()
        return PortRow(kind, (a, b), one.numbers[0].tolist(), 0, k)
    (body,) = direction.bodies
    numbers = [*numbers_of(inlet), *([0.0] * 6)]
    return PortRow(LOAD + kind_of(direction), (-1, body), numbers, k - first, k)


def closes(inlets: Sequence[Inlet], inputs: Indices) -> bool:
    """Tell whether there are rows for all of these inputs."""
    first = np.cumsum([0, *(inlet.size for inlet in inlets)])
    owners = {int(np.searchsorted(first, k, side="right")) - 1 for k in inputs}
    return all(_has_rows(inlets[k].direction) for k in owners)


def _has_rows(direction: Direction) -> bool:
    if not isinstance(direction, Charted):
        return kind_of(direction) not in (PUBLISHED_TORQUE, GENERALISED)
    bodies = 1 + max(direction.bodies, default=0)
    along = lines(Forms([direction.forms.onto(direction.bodies)], bodies), [direction.forms.m])
    return bool(along.products.kind[0] in (Kind.DOT, Kind.OFFSET))
