"""The equations of joints in groups of up to three, one for each node of the Newton matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.mechanics.compiled.products import Kind, Product, product
from poinsot.mechanics.forms import GROUND, Form
from poinsot.mechanics.layout import Layout
from poinsot.mechanics.mechanism import Mechanism

#: Equations of a node.
SLOTS = 3


@dataclass(frozen=True, eq=False)
class Point:
    """Three equations r_B - r_A = 0; `joint` counts groups of up to three equations."""

    at: Product
    joint: int


@dataclass(frozen=True, eq=False)
class Row:
    """One equation, its group and its slot there, and the constant that it keeps."""

    at: Product
    constant: float
    joint: int
    slot: int


def group_equations(
    mechanism: Mechanism, layout: Layout
) -> tuple[list[Point], list[Row], list[tuple[int, int]]]:
    """Return points, rows, and the (group, slot) of every equation of the joints."""
    points: list[Point] = []
    rows: list[Row] = []
    places: list[tuple[int, int]] = []
    group = 0
    for joint in layout.joints:
        equations = [_equation(mechanism.constraints.forms[row]) for row in joint.rows]
        if _meet_in_a_point([at for at, _ in equations[:SLOTS]]):
            points.append(Point(equations[0][0], group))
            places += [(group, slot) for slot in range(SLOTS)]
            equations, group = equations[SLOTS:], group + 1
        for k, (at, constant) in enumerate(equations):
            rows.append(Row(at, constant, group + k // SLOTS, k % SLOTS))
            places.append((group + k // SLOTS, k % SLOTS))
        group += -(-len(equations) // SLOTS)
    return points, rows, places


def _equation(form: Form) -> tuple[Product, float]:
    (term,) = form.terms
    return product(*term), -form.c


def _meet_in_a_point(equations: Sequence[Product]) -> bool:
    """Tell whether three equations are r_B - r_A = 0, one for each axis of the world."""
    return (
        len(equations) == SLOTS
        and all(p.kind in (Kind.AXIS, Kind.OFFSET) for p in equations)
        and np.array_equal([p.a for p in equations], np.eye(SLOTS))
        and (equations[0].kind == Kind.AXIS or equations[0].A == GROUND)
    )
