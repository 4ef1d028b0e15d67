"""Contacts with a plane: what cannot slip, and the height of a disc.

A row forbids the velocity e·v + t·w of its body: the force of a unit multiplier is e, its torque
about the centre of mass t. With the body-fixed vectors a (axis or edge) and X (centre), the plane's
normal N and the height h = N·(position + X - base) of the centre,

    BLADE      e = a,               t = X x e
    BALL       e = N,               t = (X + base) x e   (N along the plane, base the arm)
    FORWARDS   e = a x N,           t = -h a + X x e
    SIDEWAYS   e = a - (a·N) N,     t = h a x N + X x e
    HEIGHT     e = h N,             t = a x (a·N) N + X x e  (a as long as the radius)

The last one is the gradient of (h^2 + (a·N)^2) / 2, which is kept exactly.
"""

from math import sqrt
from typing import TypeAlias

from poinsot.engine.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    combine,
    cross,
    dot,
    gather,
    gather_matrix,
    matrix,
    minus,
    outer,
    plus,
    scale,
    size,
    skew_times,
    sub,
    times,
    times_skew,
    vector,
)
from poinsot.engine.cayley import leading
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.parts import (
    BASE,
    CONTACT_BODY,
    CONTACT_COLUMN,
    CONTACT_NODE,
    CONTACT_OWN,
    CONTACT_ROW,
    CONTACT_SLOT,
    DIRECTORS,
    EDGE,
    HALF,
    HELD,
    KIND,
    NORMAL,
    OF_ROTATION,
    OF_TRANSLATION,
    POSITION,
    SPOT,
    Part,
    R,
    T,
    V,
    W,
)
from poinsot.engine.rows import put_column, put_row

#: A disc lies where its centre is lower than this part of its radius.
LYING = 1e-3
BLADE, BALL, FORWARDS, SIDEWAYS, HEIGHT = 0, 1, 2, 3, 4
NOTHING: Mat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

#: Where a contact is: a, X, N, base, and the height.
Place: TypeAlias = tuple[Vec, Vec, Vec, Vec, float]


@inline
def _place(contacts: Part, k: int, motion: Array) -> Place:
    numbers, b = contacts.numbers, contacts.places[k, CONTACT_BODY]
    D = matrix(motion, b, DIRECTORS)
    a, X = combine(vector(numbers, k, EDGE), D), combine(vector(numbers, k, SPOT), D)
    N, base = vector(numbers, k, NORMAL), vector(numbers, k, BASE)
    return a, X, N, base, dot(N, sub(add(vector(motion, b, POSITION), X), base))


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
        return NOTHING, times(-1.0, skew_times(e, dX)), NOTHING
    dh = combine(N, dX)
    if kind == BLADE:
        de, roll, lift = da, NOTHING, NOTHING
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
        node, slot = places[k, CONTACT_NODE], places[k, CONTACT_SLOT]
        if places[k, KIND] == HEIGHT:
            a, _, N, _, h = _place(contacts, k, state)
            s = 0.5 * (h * h + dot(a, N) * dot(a, N))
            gap[node, slot] = s - numbers[k, HELD] - kept[node, slot]


@kernel
def lies(contacts: Part, state: Array) -> bool:
    """Tell whether a disc lies on the plane, or has gone through it."""
    for k in range(contacts.places.shape[0]):
        if contacts.places[k, KIND] == HEIGHT:
            a, _, _, _, h = _place(contacts, k, state)
            if h < LYING * sqrt(dot(a, a)):
                return True
    return False


@kernel
def contacts_act(
    contacts: Part,
    body_places: Array,
    h: float,
    drift: float,
    gap: Array,
    stage: Array,
    multiplier: Array,
    x: Array,
    tiles: Array,
    sizes: Array,
) -> None:
    """Add residuals to x (nodes, 3), and tiles unless None; `drift` times the gap is taken back."""
    places = contacts.places
    forces, torques = 0.0, 0.0
    for k in range(places.shape[0]):
        kind, b, own = places[k, KIND], places[k, CONTACT_BODY], places[k, CONTACT_OWN:]
        node, slot = places[k, CONTACT_NODE], places[k, CONTACT_SLOT]
        at, v, w = _place(contacts, k, stage), vector(stage, b, V), vector(stage, b, W)
        e, t = _wrench(kind, at)
        x[node, slot] = dot(e, v) + dot(t, w)
        if kind == HEIGHT:
            x[node, slot] += drift * gap[node, slot]
        mu = multiplier[node, slot]
        gather(x, body_places[b, T], 0, scale(mu, e))
        gather(x, body_places[b, R], 0, scale(mu, t))
        if tiles is not None:
            M, N = leading(h, vector(stage, b, HALF)), at[2]
            da, dX, unit = times_skew(M, at[0]), times_skew(M, at[1]), 0.5 * h
            de, dt, lift = _changes(kind, at, e, da, dX, unit)
            by_v = add(e, combine(w, lift))
            if kind == HEIGHT:
                by_v = axpy(unit * dot(N, v), N, by_v)
                gather_matrix(tiles, own[0], 0, times(mu * unit, outer(N, N)))
            put_column(tiles, places[k, CONTACT_COLUMN], slot, e)
            put_column(tiles, places[k, CONTACT_COLUMN + 1], slot, t)
            put_row(tiles, places[k, CONTACT_ROW], slot, by_v)
            by_w = add(t, add(combine(v, de), combine(w, dt)))
            put_row(tiles, places[k, CONTACT_ROW + 1], slot, by_w)
            gather_matrix(tiles, own[1], 0, times(mu, de))
            gather_matrix(tiles, own[2], 0, times(mu, lift))
            gather_matrix(tiles, own[3], 0, times(mu, dt))
            forces = max(forces, abs(mu) * size(e))
            torques = max(torques, abs(mu) * size(t))
    sizes[OF_TRANSLATION] = max(sizes[OF_TRANSLATION], forces)
    sizes[OF_ROTATION] = max(sizes[OF_ROTATION], torques)
