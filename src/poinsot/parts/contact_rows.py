"""Rows of contacts with a plane in the compiled engine: no slip, and the height of a disc.

A row constrains the velocity e·v + t·w of its body: the force of a unit multiplier is e, its torque
about the centre of mass t. With the body-fixed vectors a (axis or edge) and X (centre), the normal
N of the plane and the height h = N·(position + X - base) of the centre,

    BLADE      e = a,               t = X x e
    BALL       e = N,               t = (X + base) x e   (N along the plane, base the arm)
    FORWARDS   e = a x N,           t = -h a + X x e
    SIDEWAYS   e = a - (a·N) N,     t = h a x N + X x e
    HEIGHT     e = h N,             t = a x (a·N) N + X x e  (a as long as the radius)

The last one is the gradient of (h^2 + (a·N)^2) / 2, which is satisfied exactly.
"""

from math import sqrt
from typing import ClassVar, TypeAlias

import numpy as np

from poinsot.frames.forms import Height
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    axpy,
    combine,
    cross,
    dot,
    minus,
    outer,
    plus,
    put_column,
    put_row,
    scale,
    size,
    skew_times,
    sub,
    times,
    times_skew,
    vector,
)
from poinsot.kernels.cayley import leading
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, measure_reaction, push
from poinsot.kernels.tables import KIND, Part, frame, half_turn, twist
from poinsot.kernels.terms import NONE, ZERO
from poinsot.parts.contacts import Ball, Blade, Disc
from poinsot.parts.equations import Slip
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, rows

#: Columns of numbers: edge or axis a and spot X in director axes; normal and base in world axes; a
#: constant that is held. Of places, after the kind: body, node and slot of the multiplier, tiles of
#: (T, R) with the node, column and row; tiles of (T, R) with each other.
EDGE, SPOT, NORMAL, BASE, HELD = 0, 3, 6, 9, 12
BODY, NODE, SLOT, COLUMN, ROW, OWN = 1, 2, 3, 4, 6, 8

#: A disc lies where its centre is lower than this part of its radius.
LYING = 1e-3
BLADE, BALL, FORWARDS, SIDEWAYS, HEIGHT = 0, 1, 2, 3, 4

#: Where a contact is: a, X, N, base, and the height.
Place: TypeAlias = tuple[Vec, Vec, Vec, Vec, float]


@arithmetic
def _place(contacts: Part, k: int, motion: Array) -> Place:
    numbers, (position, D) = contacts.numbers, frame(motion, contacts.places[k, BODY])
    a, X = combine(vector(numbers, k, EDGE), D), combine(vector(numbers, k, SPOT), D)
    N, base = vector(numbers, k, NORMAL), vector(numbers, k, BASE)
    return a, X, N, base, dot(N, sub(add(position, X), base))


@inline
def _wrench(kind: int, at: Place) -> tuple[Vec, Vec]:
    """Return e and t."""
    a, X, N, base, h = at
    if kind == BLADE:
        return a, cross(X, a)
    if kind == BALL:
        return N, cross(add(X, base), N)
    if kind == FORWARDS:
        e = cross(a, N)
        return e, axpy(-h, a, cross(X, e))
    if kind == SIDEWAYS:
        e = axpy(-dot(a, N), N, a)
        return e, axpy(h, cross(a, N), cross(X, e))
    e = scale(h, N)
    return e, axpy(dot(a, N), cross(a, N), cross(X, e))


@inline
def _changes(kind: int, at: Place, e: Vec, da: Mat, dX: Mat, unit: float) -> tuple[Mat, Mat, Mat]:
    """Return how e and t change with w, and t with v; e changes with v by `unit` N N^T or not.

    Body-fixed vectors change by da and dX times dw, the position by `unit` dv.
    """
    a, X, N, _, h = at
    if kind == BALL:
        return ZERO, times(-1.0, skew_times(e, dX)), ZERO
    dh = combine(N, dX)
    if kind == BLADE:
        de, roll, lift = da, ZERO, ZERO
    elif kind == FORWARDS:
        de = times(-1.0, skew_times(N, da))
        roll, lift = times(-1.0, plus(outer(a, dh), times(h, da))), outer(scale(-unit, a), N)
    elif kind == SIDEWAYS:
        forwards = cross(a, N)
        de = minus(da, outer(N, combine(N, da)))
        roll = minus(outer(forwards, dh), times(h, skew_times(N, da)))
        lift = outer(scale(unit, forwards), N)
    else:
        de = outer(N, dh)
        roll = outer(cross(a, N), combine(N, da))
        roll = minus(roll, skew_times(scale(dot(a, N), N), da))
        lift = outer(scale(unit, cross(X, N)), N)
    return de, plus(roll, minus(skew_times(X, de), skew_times(e, dX))), lift


@kernel
def contact_gaps(contacts: Part, state: Array, kept: Array, gap: Array) -> None:
    """Set how far the heights of discs (nodes, 3) at the start of a step are from those kept."""
    numbers, places = contacts
    for k in range(numbers.shape[0]):
        node, slot = places[k, NODE], places[k, SLOT]
        if places[k, KIND] == HEIGHT:
            a, _, N, _, h = _place(contacts, k, state)
            s = 0.5 * (h * h + dot(a, N) * dot(a, N))
            gap[node, slot] = s - numbers[k, HELD] - kept[node, slot]


@kernel
def lies(contacts: Part, state: Array, step: Step) -> bool:
    """Tell whether a disc lies on the plane, or has gone through it."""
    for k in range(contacts.places.shape[0]):
        if contacts.places[k, KIND] == HEIGHT:
            a, _, _, _, h = _place(contacts, k, state)
            if h < LYING * sqrt(dot(a, a)):
                return True
    return False


@kernel
def contacts_act(contacts: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, stage, x = step.h, step.stage, step.x
    places = contacts.places
    forces, torques = 0.0, 0.0
    for k in range(places.shape[0]):
        kind, b, own = places[k, KIND], places[k, BODY], places[k, OWN:]
        node, slot = places[k, NODE], places[k, SLOT]
        at, (v, w) = _place(contacts, k, stage), twist(stage, b)
        e, t = _wrench(kind, at)
        x[node, slot] = dot(e, v) + dot(t, w)
        if kind == HEIGHT:
            x[node, slot] += step.drift * step.gap[node, slot]
        mu = step.multiplier[node, slot]
        push(step, b, scale(mu, e), scale(mu, t))
        if tiles is not None:
            M, N = leading(h, half_turn(stage, b)), at[2]
            da, dX, unit = times_skew(M, at[0]), times_skew(M, at[1]), 0.5 * h
            de, dt, lift = _changes(kind, at, e, da, dX, unit)
            by_v = add(e, combine(w, lift))
            if kind == HEIGHT:
                by_v = axpy(unit * dot(N, v), N, by_v)
                add_tile(tiles, own[0], times(mu * unit, outer(N, N)))
            put_column(tiles, places[k, COLUMN], slot, e)
            put_column(tiles, places[k, COLUMN + 1], slot, t)
            put_row(tiles, places[k, ROW], slot, by_v)
            by_w = add(t, add(combine(v, de), combine(w, dt)))
            put_row(tiles, places[k, ROW + 1], slot, by_w)
            add_tile(tiles, own[1], times(mu, de))
            add_tile(tiles, own[2], times(mu, lift))
            add_tile(tiles, own[3], times(mu, dt))
            forces = max(forces, abs(mu) * size(e))
            torques = max(torques, abs(mu) * size(t))
    measure_reaction(step, forces, torques)


class ContactRows(Family):
    """Rows of contacts with a plane of the ground."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(contacts_act, gaps=contact_gaps, ended=lies)
    loads: ClassVar = False

    def __init__(self, assembly: Assembly) -> None:
        self.slips = assembly.joints.slips

    def __len__(self) -> int:
        """Return their number."""
        return len(self.slips)

    @property
    def moved(self) -> Indices:
        """Their bodies."""
        return np.array([slip.body for slip in self.slips], dtype=np.intp)

    def meet(self, graph: Graph) -> None:
        """Join body and multiplier."""
        joint = np.array([slip.joint for slip in self.slips], dtype=np.intp)
        graph.meet(graph.of_bodies(self.moved), graph.position(joint))

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return the kind and the vectors of every row; body, multiplier and tiles."""
        body, table = self.moved, tiles.table
        kinds = np.array([_kind(slip) for slip in self.slips], dtype=np.intp)
        places = np.array([(slip.joint, slip.slot) for slip in self.slips], dtype=np.intp)
        joint, slot = places.reshape(-1, 2).T
        node, M, K = graph.position(joint)[:, None], graph.momentum(body), graph.motion(body)
        met = table(M, node), table(node, K), table(M, K)
        numbers = rows([_vectors(slip) for slip in self.slips], 13)
        return Part(numbers, index(kinds, body, node, slot, *met))


def _kind(slip: Slip) -> int:
    match slip.contact:
        case Height():
            return HEIGHT
        case Blade():
            return BLADE
        case Ball():
            return BALL
        case _:
            return (FORWARDS, SIDEWAYS)[slip.row]


def _vectors(slip: Slip) -> tuple[float, ...]:
    """Return a, X, N, base and what is held."""
    match slip.contact:
        case Height() as form:
            (_, X), (_, a) = form.r.weights[0], form.a.weights[0]
            x, y, z = form.r.constant
            return *a[1:], *X[1:], *form.n, -x, -y, -z, -form.c
        case Blade() as blade:
            return *blade.n, *blade.X, *NONE, *NONE, 0.0
        case Ball() as ball:
            return *NONE, *ball.X, *ball.along[slip.row], *ball.arm, 0.0
        case Disc() as disc:
            return *disc.a, *disc.X, *disc.N, *disc.base, 0.0
    raise TypeError(f"no kernel for {slip.contact!r}")
