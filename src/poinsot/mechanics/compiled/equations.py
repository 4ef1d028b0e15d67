"""The equations of joints in groups of up to three, one for each node of the Newton matrix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from poinsot.engine.skids import BALL, BLADE, FORWARDS, HEIGHT, SIDEWAYS
from poinsot.mechanics.compiled.products import Kind, Product, product
from poinsot.mechanics.contacts import Ball, Blade, Contact, Disc, Vector3
from poinsot.mechanics.forms import GROUND, Form, Height
from poinsot.mechanics.layout import Layout
from poinsot.mechanics.mechanism import Mechanism

#: Equations of a node.
SLOTS = 3
NONE = (0.0, 0.0, 0.0)


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


@dataclass(frozen=True, eq=False)
class Skid:
    """One row of a contact: its kind, its vectors, its group and its slot there; see the kernel.

    `held` is the constant that a height keeps.
    """

    kind: int
    body: int
    edge: Vector3
    spot: Vector3
    normal: Vector3
    base: Vector3
    held: float
    joint: int = 0
    slot: int = 0


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of joints, and the (group, slot) of each multiplier."""

    points: list[Point]
    rows: list[Row]
    skids: list[Skid]
    places: list[tuple[int, int]]


def group_equations(mechanism: Mechanism, layout: Layout) -> Equations:
    """Return the equations of joints; those of contacts come last among their places."""
    points: list[Point] = []
    rows: list[Row] = []
    skids: list[Skid] = []
    places: list[tuple[int, int]] = []
    slipping: list[tuple[int, int]] = []
    group = 0
    for joint in layout.joints:
        if joint.contact is not None:
            forms = [mechanism.constraints.forms[row] for row in joint.rows]
            for slot, form in enumerate(forms):
                if isinstance(form, Height):
                    skids.append(replace(_height(form, joint.b), joint=group, slot=slot))
                else:
                    rows.append(Row(*_equation(form), group, slot))
                places.append((group, slot))
            for slot, skid in enumerate(_slips(joint.contact), start=len(forms)):
                skids.append(replace(skid, joint=group, slot=slot))
                slipping.append((group, slot))
            group += 1
            continue
        equations = [_equation(mechanism.constraints.forms[row]) for row in joint.rows]
        if _meet_in_a_point([at for at, _ in equations[:SLOTS]]):
            points.append(Point(equations[0][0], group))
            places += [(group, slot) for slot in range(SLOTS)]
            equations, group = equations[SLOTS:], group + 1
        taken = 0
        for _, alike in groupby(equations, key=lambda equation: alike_in(equation[0])):
            run = list(alike)
            if taken + len(run) > SLOTS:
                group, taken = group + 1, 0
            for slot, (at, constant) in enumerate(run, start=taken):
                rows.append(Row(at, constant, group, slot))
                places.append((group, slot))
            taken += len(run)
        group += taken > 0
    return Equations(points, rows, skids, places + slipping)


def alike_in(p: Product) -> tuple[object, ...]:
    """Return what equations have in common that differ in one vector only."""
    if p.kind == Kind.DOT:
        return p.kind, p.A, p.B, *p.a
    return p.kind, p.A, p.B, *p.XA, *p.XB


def _height(form: Height, body: int) -> Skid:
    (_, X), (_, a) = form.r.weights[0], form.a.weights[0]
    x, y, z = form.r.constant
    return Skid(HEIGHT, body, a[1:], X[1:], form.n, (-x, -y, -z), -form.c)


def _slips(contact: Contact) -> list[Skid]:
    """Return the velocities that a contact forbids."""
    (body,), X = contact.bodies, contact.X
    if isinstance(contact, Blade):
        return [Skid(BLADE, body, contact.n, X, NONE, NONE, 0.0)]
    if isinstance(contact, Ball):
        return [Skid(BALL, body, NONE, X, e, contact.arm, 0.0) for e in contact.along]
    assert isinstance(contact, Disc)
    kinds = (FORWARDS, SIDEWAYS)[: contact.rows]
    return [Skid(kind, body, contact.a, X, contact.N, contact.base, 0.0) for kind in kinds]


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
