"""Springs, dampers and motors along one coordinate of two bodies.

The coordinate chi(s) is a chart of one or two forms s, each a sum of terms. Whatever acts along it
puts a tension t_f on every form; its pull is the sum of t_f times the gradient of s_f at the
midpoint, and its tangent follows from how t depends on s at the midpoint and at the end.
"""

from math import pi, tau
from typing import TypeAlias

from poinsot.engine.algebra import Array, axpy, gather, gather_matrix, outer, scale, size, vector
from poinsot.engine.cayley import leading
from poinsot.engine.charts import (
    ANGLE,
    Pair,
    Square,
    chart_bend,
    chart_secant,
    chart_slope,
    chart_value,
)
from poinsot.engine.kernel import inline, kernel
from poinsot.engine.laws import call_law
from poinsot.engine.parts import (
    CHART,
    COEFFICIENT,
    DIRECTORS,
    FIRST,
    FORM,
    HALF,
    KIND,
    LAST,
    LOST_POWER,
    OF_ROTATION,
    OF_TRANSLATION,
    PORT,
    ROLE,
    STRUT_PAIR,
    A,
    Acts,
    B,
    Part,
    R,
    T,
    V,
    W,
    Work,
)
from poinsot.engine.resistance import friction
from poinsot.engine.terms import (
    Pull,
    add_change,
    arms,
    beyond,
    change,
    pull,
    pull_on,
    rate,
    value,
    vectors,
)

SPRING, DAMPER, MOTOR, SERVO = 0, 1, 2, 3

#: Rows of `Work.forms`: forms at the start, at the middle, at the end, and their increments; their
#: pulls and changes at the middle and at the end, four rows for each form.
S_START, S_MIDDLE, S_END, S_STEP, PULL, AT_MIDDLE, AT_END = 0, 1, 2, 3, 4, 12, 20

#: Tensions, and their slopes with respect to the forms at the midpoint and at the end.
Tension: TypeAlias = tuple[Pair, Square, Square]

FLAT: Square = ((0.0, 0.0), (0.0, 0.0))


@kernel
def struts_act(
    struts: Acts,
    terms: Part,
    body_places: Array,
    t: float,
    h: float,
    state: Array,
    stage: Array,
    work: Work,
    u: Array,
    y: Array,
    tiles: Array,
    levers: int,
) -> None:
    """Add residuals to work.x (nodes, 3), and tiles unless None.

    Forces have the lever arms of the directors in column `levers` of the stage. Sets outputs y of
    motors and inputs u of servos; adds up the power lost.
    """
    forms, x = work.forms, work.x
    for k in range(struts.places.shape[0]):
        at = struts.places[k]
        first, second = at[A], at[B]
        half_A, half_B = vector(stage, first, HALF), vector(stage, second, HALF)
        _clear(forms)
        for j in range(at[FIRST], at[LAST]):
            kind, f = terms.places[j, KIND], terms.places[j, FORM]
            c = terms.numbers[j, COEFFICIENT]
            start, middle = vectors(terms, j, state), vectors(terms, j, stage)
            end = beyond(middle, start)
            g = pull(kind, c, middle)
            forms[S_START, f] += value(kind, c, start)
            forms[S_MIDDLE, f] += value(kind, c, middle)
            forms[S_END, f] += value(kind, c, end)
            v_A, w_A = vector(stage, first, V), vector(stage, first, W)
            v_B, w_B = vector(stage, second, V), vector(stage, second, W)
            forms[S_STEP, f] += h * rate(g, v_A, w_A, v_B, w_B)
            if levers != DIRECTORS:
                g = pull_on(kind, c, middle, arms(terms, j, stage, levers))
            _collect(forms, PULL + 4 * f, g)
            if tiles is not None:
                by_middle = change(kind, c, middle, middle, half_A, half_B)
                _collect(forms, AT_MIDDLE + 4 * f, by_middle)
                _collect(forms, AT_END + 4 * f, change(kind, c, middle, end, half_A, half_B))
        slopes = tiles is not None
        tension, dt_middle, dt_end = _tension(struts, k, t, h, work, u, y, slopes)
        for i in range(4):
            body = first if i < 2 else second
            node = body_places[body, T if i % 2 == 0 else R]
            gather(x, node, 0, scale(h * tension[0], vector(forms, PULL + i, 0)))
            gather(x, node, 0, scale(h * tension[1], vector(forms, PULL + 4 + i, 0)))
            push = h * (
                abs(tension[0]) * size(vector(forms, PULL + i, 0))
                + abs(tension[1]) * size(vector(forms, PULL + 4 + i, 0))
            )
            kind = OF_TRANSLATION if i % 2 == 0 else OF_ROTATION
            work.sizes[kind] = max(work.sizes[kind], push)
        if tiles is not None:
            pair = at[STRUT_PAIR:]
            M_A, M_B = leading(h, half_A), leading(h, half_B)
            _add_stiffness(h, dt_middle, dt_end, forms, pair, tiles)
            for j in range(at[FIRST], at[LAST]):
                kind, c = terms.places[j, KIND], terms.numbers[j, COEFFICIENT]
                push = h * c * (tension[0] if terms.places[j, FORM] == 0 else tension[1])
                middle = vectors(terms, j, stage)
                add_change(kind, push, middle, middle, M_A, M_B, 0.5 * h, pair, tiles)


@inline
def _clear(a: Array) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0


@inline
def _collect(forms: Array, row: int, g: Pull) -> None:
    gather(forms, row, 0, g[0])
    gather(forms, row + 1, 0, g[1])
    gather(forms, row + 2, 0, g[2])
    gather(forms, row + 3, 0, g[3])


@kernel
def _tension(
    struts: Acts, k: int, t: float, h: float, work: Work, u: Array, y: Array, slopes: bool
) -> Tension:
    """Return the tensions of strut k and their slopes, those of laws only if wanted."""
    chart, role, port = struts.places[k, CHART], struts.places[k, ROLE], struts.places[k, PORT]
    law = struts.laws[k]
    s, given, found = work.forms, work.given, work.found
    start, middle = (s[S_START, 0], s[S_START, 1]), (s[S_MIDDLE, 0], s[S_MIDDLE, 1])
    end, step = (s[S_END, 0], s[S_END, 1]), (s[S_STEP, 0], s[S_STEP, 1])
    if role == SPRING:
        b, db = chart_secant(chart, start, end, step)
        chi, dchi = chart_value(chart, start), b[0] * step[0] + b[1] * step[1]
        force, stiffness, rest = vector(struts.numbers, k, 0)
        mean, slope = force + stiffness * (chi + 0.5 * dchi - rest), 0.5 * stiffness
        if law != 0:
            given[0], given[1] = chi, dchi
            call_law(law, given, found)
            mean, slope = found[0], found[1]
        d = chart_slope(chart, end)
        by_end = (
            (b[0] * slope * d[0] + mean * db[0][0], b[0] * slope * d[1] + mean * db[0][1]),
            (b[1] * slope * d[0] + mean * db[1][0], b[1] * slope * d[1] + mean * db[1][1]),
        )
        return (mean * b[0], mean * b[1]), FLAT, by_end
    d, bend = chart_slope(chart, middle), chart_bend(chart, middle)
    flow = (d[0] * step[0] + d[1] * step[1]) / h
    # The rate chi' = d·s' changes by m·ds at the midpoint, and by d·ds / h at the end.
    m = (
        (bend[0][0] * step[0] + bend[0][1] * step[1]) / h,
        (bend[1][0] * step[0] + bend[1][1] * step[1]) / h,
    )
    force, by_chi, by_rate = 0.0, 0.0, 0.0
    if role == DAMPER:
        if law != 0:
            given[0] = flow
            call_law(law, given, found)
            force, by_rate = found[0], found[1]
        else:
            force, by_rate = friction(struts.numbers, k, flow, work.memory, slopes)
        work.sizes[LOST_POWER] += force * flow
    else:
        if role == SERVO:
            given[0], given[1], given[2] = t, chart_value(chart, middle), flow
            call_law(law, given, found, slopes)
            u[port], by_chi, by_rate = found[0], -found[1], -found[2]
        force = -u[port]
        y[port] = flow
    # The tension is force d; its slopes are d (by_chi d + by_rate m) + force bend, by_rate d d / h.
    n = by_chi * d[0] + by_rate * m[0], by_chi * d[1] + by_rate * m[1]
    by_middle = (
        (d[0] * n[0] + force * bend[0][0], d[0] * n[1] + force * bend[0][1]),
        (d[1] * n[0] + force * bend[1][0], d[1] * n[1] + force * bend[1][1]),
    )
    g = by_rate / h
    by_end = (g * d[0] * d[0], g * d[0] * d[1]), (g * d[1] * d[0], g * d[1] * d[1])
    return (force * d[0], force * d[1]), by_middle, by_end


@kernel
def _add_stiffness(
    h: float, by_middle: Square, by_end: Square, forms: Array, pair: Array, tiles: Array
) -> None:
    """Add h times the gradient of every form times the change of its tension."""
    for f in range(2):
        for g in range(2):
            middle, end = 0.5 * h * h * by_middle[f][g], h * h * by_end[f][g]
            if middle == 0.0 and end == 0.0:
                continue
            for i in range(4):
                pulled = vector(forms, PULL + 4 * f + i, 0)
                for j in range(4):
                    by_form = scale(end, vector(forms, AT_END + 4 * g + j, 0))
                    by_form = axpy(middle, vector(forms, AT_MIDDLE + 4 * g + j, 0), by_form)
                    gather_matrix(tiles, pair[4 * i + j], 0, outer(pulled, by_form))


@kernel
def stored(struts: Acts, terms: Part, state: Array, work: Work, chi: Array) -> tuple[float, bool]:
    """Return the energy of all springs [J], and whether the law of an angle jumped.

    `chi` (2, struts) are the coordinates one step before, and those of the state.
    """
    total, jumped = 0.0, False
    for k in range(struts.places.shape[0]):
        if struts.places[k, ROLE] == SPRING:
            here = _coordinate(struts, terms, k, state)
            energy = _energy(struts, k, work, here)
            if struts.places[k, CHART] == ANGLE and abs(here - chi[0, k]) > pi:
                other = _energy(struts, k, work, here + (tau if here < chi[0, k] else -tau))
                jumped = jumped or abs(other - energy) > 1e-6 * (abs(other) + abs(energy))
            chi[1, k] = here
            total += energy
    return total, jumped


@inline
def _energy(struts: Acts, k: int, work: Work, chi: float) -> float:
    """Return the energy of spring k where its coordinate is chi [J]."""
    force, stiffness, rest = vector(struts.numbers, k, 0)
    energy = force * chi + 0.5 * stiffness * (chi - rest) * (chi - rest)
    if struts.laws[k] != 0:
        work.given[0], work.given[1] = chi, 0.0
        call_law(struts.laws[k], work.given, work.found)
        energy = work.found[2]
    return energy


@inline
def _coordinate(struts: Acts, terms: Part, k: int, state: Array) -> float:
    """Return the coordinate of strut k."""
    s0, s1 = 0.0, 0.0
    for j in range(struts.places[k, FIRST], struts.places[k, LAST]):
        s = value(terms.places[j, KIND], terms.numbers[j, COEFFICIENT], vectors(terms, j, state))
        if terms.places[j, FORM] == 0:
            s0 += s
        else:
            s1 += s
    return chart_value(struts.places[k, CHART], (s0, s1))
