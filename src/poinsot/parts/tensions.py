"""Springs, stops, dampers and motors along one coordinate, as tensions on its forms.

A spring has the mean force of a step times the secant of the chart, a damper or a motor a force
along the rate at the midpoint.
"""

from typing import NamedTuple, TypeAlias

from poinsot.kernels.algebra import Array, vector
from poinsot.kernels.charts import (
    Pair,
    Square,
    chart_bend,
    chart_near,
    chart_secant,
    chart_slope,
)
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.laws import call_law, law_energy
from poinsot.kernels.step import Step
from poinsot.kernels.tables import LOST_POWER, Acts, Index2, Real2, Written2
from poinsot.parts.formula_laws import LAW, OF_STEPS, mean_and_slope, stored_by
from poinsot.parts.resistance import friction
from poinsot.parts.stops import mean_push, resistance_at, stored_in

SPRING, DAMPER, MOTOR, SERVO, STOP, CUSHION = range(6)
#: Columns of what acts: its role and its first input, in whose place springs have `LAW`.
ROLE, PORT = 0, 1
#: Columns of coordinates, after the bodies: the chart; the first that acts along it and the one
#: after the last.
CHART, FIRST, LAST = 3, 4, 5

#: Forms at the start, at the middle, at the end, and their increments.
Forms: TypeAlias = tuple[Pair, Pair, Pair, Pair]
#: Tensions, and their slopes with respect to the forms at the midpoint and at the end.
Tension: TypeAlias = tuple[Pair, Square, Square]

FLAT: Square = ((0.0, 0.0), (0.0, 0.0))


class Along(NamedTuple):
    """Coordinates, and what acts along them.

    `numbers` and `places` of coordinates, `acts` one after the other. Of every act, `chi` (2, acts)
    is the coordinate of what depends on it before the step in hand and after it, an angle counted
    over turns, and `memory` (acts, 2) that of dry friction, if there is any.
    """

    numbers: Real2
    places: Index2
    acts: Acts
    chi: Written2
    memory: Written2


@inline
def tension_along(
    along: Along, at: Array, chart: int, forms: Forms, step: Step, slopes: bool
) -> Tension:
    """Return the tensions of all that acts along a coordinate, and their slopes if wanted."""
    tension, by_middle, by_end = (0.0, 0.0), FLAT, FLAT
    for k in range(at[FIRST], at[LAST]):
        role = along.acts.places[k, ROLE]
        if role in (SPRING, STOP):
            one, middle, end = _spring(along, k, chart, forms, step, slopes)
        else:
            one, middle, end = _flow(along, k, chart, forms, step, slopes)
        tension = tension[0] + one[0], tension[1] + one[1]
        by_middle, by_end = _sum(by_middle, middle), _sum(by_end, end)
    return tension, by_middle, by_end


@arithmetic
def _sum(a: Square, b: Square) -> Square:
    return (
        (a[0][0] + b[0][0], a[0][1] + b[0][1]),
        (a[1][0] + b[1][0], a[1][1] + b[1][1]),
    )


@inline
def _spring(along: Along, k: int, chart: int, forms: Forms, step: Step, slopes: bool) -> Tension:
    """Return the tension of a spring or a stop, its mean force times the secant of the chart."""
    (start, _, end, ds), acts = forms, along.acts
    b, db = chart_secant(chart, start, end, ds)
    chi, dchi = along.chi[0, k], b[0] * ds[0] + b[1] * ds[1]
    force, stiffness, rest = vector(acts.numbers, k, 0)
    mean, slope = force + stiffness * (chi + 0.5 * dchi - rest), 0.5 * stiffness
    if acts.places[k, ROLE] == STOP:
        mean, slope = mean_push(acts.numbers, k, chi, dchi)
    elif acts.laws[k] != 0:
        given, found = step.given, step.found
        if acts.places[k, LAW] == OF_STEPS:
            given[0], given[1] = chi, dchi
            call_law(acts.laws[k], given, found, slopes)
            mean, slope = found[0], found[1]
        else:
            mean, slope = mean_and_slope(acts, k, chi, dchi, given, found)
    d = chart_slope(chart, end)
    by_end = (
        (b[0] * slope * d[0] + mean * db[0][0], b[0] * slope * d[1] + mean * db[0][1]),
        (b[1] * slope * d[0] + mean * db[1][0], b[1] * slope * d[1] + mean * db[1][1]),
    )
    return (mean * b[0], mean * b[1]), FLAT, by_end


@inline
def _flow(along: Along, k: int, chart: int, forms: Forms, step: Step, slopes: bool) -> Tension:
    """Return the tension of a damper or a motor, which acts along the rate at the midpoint."""
    (_, middle, _, ds), acts, h = forms, along.acts, step.h
    role, port, law = acts.places[k, ROLE], acts.places[k, PORT], acts.laws[k]
    given, found, u, y = step.given, step.found, step.u, step.y
    d, bend = chart_slope(chart, middle), chart_bend(chart, middle)
    flow = (d[0] * ds[0] + d[1] * ds[1]) / h
    # The rate chi' = d·s' changes by m·ds at the midpoint, and by d·ds / h at the end.
    m = (
        (bend[0][0] * ds[0] + bend[0][1] * ds[1]) / h,
        (bend[1][0] * ds[0] + bend[1][1] * ds[1]) / h,
    )
    force, by_chi, by_rate = 0.0, 0.0, 0.0
    if role == DAMPER:
        if law != 0:
            given[0] = flow
            call_law(law, given, found, slopes)
            force, by_rate = found[0], found[1]
        else:
            force, by_rate = friction(acts.numbers, k, flow, along.memory, slopes)
        step.sizes[LOST_POWER] += force * flow
    elif role == CUSHION:
        chi = chart_near(chart, middle, along.chi[0, k])
        force, by_chi, by_rate = resistance_at(acts.numbers, k, chi, flow)
        step.sizes[LOST_POWER] += force * flow
    else:
        if role == SERVO:
            chi = chart_near(chart, middle, along.chi[0, k])
            given[0], given[1], given[2] = step.t, chi, flow
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


@inline
def energy_of(acts: Acts, k: int, step: Step, chi: float) -> float:
    """Return the energy of spring or stop k where its coordinate is chi [J]."""
    force, stiffness, rest = vector(acts.numbers, k, 0)
    energy = force * chi + 0.5 * stiffness * (chi - rest) * (chi - rest)
    if acts.places[k, ROLE] == STOP:
        energy = stored_in(acts.numbers, k, chi)
    elif acts.laws[k] != 0:
        if acts.places[k, LAW] == OF_STEPS:
            step.given[0], step.given[1] = chi, 0.0
            energy = law_energy(acts.laws[k], step.given, step.found)
        else:
            energy = stored_by(acts, k, chi, step.given, step.found)
    return energy
