"""Driven relations in the compiled engine: joint constraints with prescribed rates.

Along each coordinate they act like a spring whose force is the multiplier, along the secant of the
chart. Additional rows give the change of the sum over a step, and its derivatives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from math import cos, sin, sqrt
from typing import ClassVar, NamedTuple, TypeAlias

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
    add_column,
    add_row,
    apply,
    axial,
    axpy,
    combine,
    cross,
    dot,
    matrix,
    minus,
    multiply,
    outer,
    plus,
    put,
    scale,
    skew,
    skew_times,
    sub,
    times,
    times_skew,
    transposed,
    vector,
)
from poinsot.kernels.cayley import cayley, lever, turn_back
from poinsot.kernels.charts import ANGLE, chart_secant, chart_slope
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.laws import Called, Law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, enlarge, measure, push
from poinsot.kernels.tables import (
    DIRECTORS,
    KIND,
    LOST_POWER,
    OF_CLOSURE,
    A,
    Acts,
    B,
    Index2,
    Real2,
    frame,
    half_turn,
    twist,
)
from poinsot.kernels.terms import DOT, NONE, UNIT
from poinsot.kernels.turning import on_arms
from poinsot.parts.driven import Driven
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, real, rows
from poinsot.parts.formula_laws import machine_code
from poinsot.parts.paths import Turn
from poinsot.parts.profiles import ByFormula, Profile, Profiles, Spline, profile_at, profile_mean
from poinsot.parts.resistance import Friction, friction
from poinsot.parts.struts import (
    chart_of,
    coordinate,
    forget,
    go_on,
    lost,
    struts_act,
)
from poinsot.parts.tensions import Along
from poinsot.parts.turning_forms import FORM_0, FORM_1, forms_turning, product
from poinsot.ph.matrices import Vector

#: Columns of relations: input; the one with the mean rate, before that with the sum at the start,
#: if it is prescribed (1) and not the rate alone (0); node of the multiplier; first term and the
#: one after the last; and 1, 2 or 3 of a component of an angular velocity, else 0.
PORT, RATE, HELD, NODE, FIRST, LAST, ABOUT = range(7)
#: Columns of terms: tiles of the node with (T_A, R_A, T_B, R_B), column and row.
COLUMN, ROW = 0, 4
#: Columns of numbers of terms: coefficient; shares of the load that are lost where power goes into
#: the coordinate and where it comes out of it.
COEFFICIENT, FORWARD, BACKWARD = range(3)
#: What a term moves its relation by, and what its pull and it change by, see `_pull`.
Weights: TypeAlias = tuple[float, float, float]


class Driving(NamedTuple):
    """Driven relations: springs along their coordinates, one for each term, in order of relations.

    `relations` and `terms` are places, `numbers` those of terms, `friction` that of load 1.
    """

    along: Along
    relations: Index2
    terms: Index2
    numbers: Real2
    friction: Real2
    profiles: Profiles


@kernel
def driven_rows(drives: Driving, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; set inputs u, the rates asked for, and outputs y."""
    along = drives.along
    for j in range(drives.relations.shape[0]):
        at, u = drives.relations[j], step.u
        load, moved, behind = step.multiplier[at[NODE], 0] / step.h, 0.0, u[at[RATE] + 1]
        for k in range(at[FIRST], at[LAST]):
            if at[ABOUT] != 0:
                turned, left = _led(drives, k, at, load, step, tiles)
                moved, behind = moved + turned, left
            elif along.places[k, KIND] == DOT:
                moved += _turning(drives, k, load, step, tiles)
            else:
                moved += _sliding(drives, k, load, step, tiles)
            if at[HELD] == 1 and at[ABOUT] == 0:
                value, _, _ = profile_at(
                    drives.profiles, k, along.chi[0, k], step.given, step.found
                )
                behind -= drives.numbers[k, COEFFICIENT] * value
        rate = u[at[RATE]]
        if at[HELD] == 1:
            rate += step.drift * behind
        u[at[PORT]], step.y[at[PORT]] = rate, -load
        put(step.x, at[NODE], 0, (moved / step.h - rate, 0.0, 0.0))
        enlarge(step.sizes, OF_CLOSURE, step.speeds[at[NODE], 0] * abs(rate))
    struts_act(along, step, tiles)


@inline
def _pull(drives: Driving, k: int, load: float, dchi: float, step: Step, slopes: bool) -> Weights:
    """Set the spring of term k, which pulls as load and friction do over an increment.

    Return what the term moves by, what its pull changes by with the load, and the term with the
    end of its coordinate.
    """
    along, numbers, chi = drives.along, drives.numbers, drives.along.chi[0, k]
    mean, slope = profile_mean(drives.profiles, k, chi, dchi, step.given, step.found)
    c = numbers[k, COEFFICIENT]
    force, stiffness, by_load = c * load * mean, c * load * slope, c * mean
    if numbers[k, FORWARD] > 0.0:
        rate = dchi / step.h
        share = numbers[k, FORWARD] if force * rate < 0.0 else numbers[k, BACKWARD]
        against, steep = friction(drives.friction, k, rate, along.memory, slopes)
        lost = share * abs(force) * against
        stiffness += share * abs(force) * steep / step.h
        if load != 0.0:
            by_load += lost / load
        force += lost
        step.sizes[LOST_POWER] += lost * rate
    spring = along.acts.numbers
    spring[k, 0], spring[k, 1], spring[k, 2] = force, 2.0 * stiffness, chi + 0.5 * dchi
    return c * mean * dchi, by_load, c * (mean + slope * dchi)


@inline
def _turning(drives: Driving, k: int, load: float, step: Step, tiles: Array) -> float:
    """Return what an angle moves its relation by; add derivatives to tiles unless None."""
    along, stage = drives.along, step.stage
    first, second = along.places[k, A], along.places[k, B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    N_0, N_1 = matrix(along.numbers, k, FORM_0), matrix(along.numbers, k, FORM_1)
    K_0, K_1 = product(N_0, D_A, D_B), product(N_1, D_A, D_B)
    start, _, end, ds = forms_turning(K_0, K_1, half_A, half_B)
    b, _ = chart_secant(ANGLE, start, end, ds)
    moved, weight, slope = _pull(
        drives, k, load, b[0] * ds[0] + b[1] * ds[1], step, tiles is not None
    )
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
        at = drives.terms[k]
        _gather_column(tiles, at, weight, NONE, on_A, on_B)
        _gather_row(tiles, at, slope, NONE, by_A, by_B)
    return moved


@inline
def _mixed(b: tuple[float, float], K_0: Mat, K_1: Mat) -> Mat:
    return plus(times(b[0], K_0), times(b[1], K_1))


@inline
def _sliding(drives: Driving, k: int, load: float, step: Step, tiles: Array) -> float:
    """Return what n·r, n on A, moves its relation by; add derivatives to tiles unless None."""
    along, h, stage, numbers = drives.along, step.h, step.stage, drives.along.numbers
    first, second = along.places[k, A], along.places[k, B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    X_n = scale(numbers[k, terms.COEFFICIENT], vector(numbers, k, terms.DIRECTION_A))
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, w_A), (v_B, w_B) = twist(stage, first), twist(stage, second)
    rho_A, rho_B, n = combine(X_A, D_A), combine(X_B, D_B), combine(X_n, D_A)
    reach, v = sub(add(r_B, rho_B), r_A), sub(v_B, v_A)
    dchi = h * dot(n, sub(add(v, cross(w_B, rho_B)), cross(w_A, reach)))
    moved, weight, slope = _pull(drives, k, load, dchi, step, tiles is not None)
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
        at = drives.terms[k]
        _gather_column(tiles, at, weight, n, on_A, on_B)
        _gather_row(tiles, at, slope, end, by_A, by_B)
    return moved


@inline
def _led(
    drives: Driving, k: int, at: Array, load: float, step: Step, tiles: Array
) -> tuple[float, float]:
    """Return what a body turns by about an axis, and by how much it is behind where it is led.

    It acts by a torque. The rotation vector of where it is led is that of three relations, one
    after the other, at the start of the step.
    """
    body, n = drives.along.places[k, B], _axis(at[ABOUT])
    (_, D), (_, w), a = (
        frame(step.stage, body),
        twist(step.stage, body),
        half_turn(step.stage, body),
    )
    torque = n
    if step.arms_at != DIRECTORS:
        torque = apply(on_arms(a), n)
    push(step, body, NONE, scale(step.h * load, torque))
    measure(step, 0.0, abs(step.h * load))
    if tiles is not None:
        add_column(tiles, drives.terms[k, COLUMN + 3], 0, torque)
        add_row(tiles, drives.terms[k, ROW + 3], 0, n)
    first = at[RATE] - 2 * (at[ABOUT] - 1) + 1
    led = _rotated((step.u[first], step.u[first + 2], step.u[first + 4]))
    return step.h * dot(n, w), dot(n, _off(minus(D, _crossed(a, D)), led))


@inline
def _axis(number: int) -> Vec:
    """Return the first, second or third axis of the world."""
    return (
        1.0 if number == 1 else 0.0,
        1.0 if number == 2 else 0.0,
        1.0 if number == 3 else 0.0,
    )


@inline
def _rotated(theta: Vec) -> Mat:
    """Return the directors that are turned by a rotation vector: rows, as all frames are."""
    angle = sqrt(dot(theta, theta))
    if angle == 0.0:
        return UNIT
    n = scale(1.0 / angle, theta)
    turned = plus(times(cos(angle), UNIT), times(-sin(angle), skew(n)))
    return plus(turned, times(1.0 - cos(angle), outer(n, n)))


@arithmetic
def _crossed(a: Vec, D: Mat) -> Mat:
    """Return a x d_i."""
    return cross(a, D[0]), cross(a, D[1]), cross(a, D[2])


@arithmetic
def _off(D: Mat, led: Mat) -> Vec:
    """Return the small rotation vector from directors to where they are led."""
    parts = [cross(d, to) for d, to in zip(D, led, strict=True)]
    return scale(0.5, add(add(parts[0], parts[1]), parts[2]))


@inline
def _gather_column(tiles: Array, at: Array, weight: float, n: Vec, on_A: Vec, on_B: Vec) -> None:
    """Add what the multiplier does to both bodies, a force n on B and torques."""
    add_column(tiles, at[COLUMN], 0, scale(-weight, n))
    add_column(tiles, at[COLUMN + 1], 0, scale(weight, on_A))
    add_column(tiles, at[COLUMN + 2], 0, scale(weight, n))
    add_column(tiles, at[COLUMN + 3], 0, scale(weight, on_B))


@inline
def _gather_row(tiles: Array, at: Array, weight: float, n: Vec, by_A: Vec, by_B: Vec) -> None:
    """Add how the motion of both bodies changes the row."""
    add_row(tiles, at[ROW], 0, scale(-weight, n))
    add_row(tiles, at[ROW + 1], 0, scale(weight, by_A))
    add_row(tiles, at[ROW + 2], 0, scale(weight, n))
    add_row(tiles, at[ROW + 3], 0, scale(weight, by_B))


@kernel
def driven_lost(drives: Driving, state: Array, step: Step) -> bool:
    """Keep coordinates after the step; tell whether an angle cannot be followed."""
    along = drives.along
    for k in range(drives.terms.shape[0]):
        along.chi[1, k] = coordinate(along, k, state, along.chi[0, k])
    return lost(along, state, step)


@kernel
def driven_on(drives: Driving) -> None:
    """Go on from the coordinates after the step."""
    go_on(drives.along)


@kernel
def driven_start(drives: Driving, state: Array) -> None:
    """Begin a step with the coordinates of a state, angles within half a turn of those here."""
    along = drives.along
    for k in range(drives.terms.shape[0]):
        along.chi[0, k] = coordinate(along, k, state, along.chi[0, k])


@kernel
def driven_forget(drives: Driving, state: Array) -> None:
    """Let slopes of friction begin anew."""
    forget(drives.along, state)


class DrivenRows(Family):
    """Relations between coordinates of joints whose motion is prescribed."""

    Table: ClassVar = Driving
    kernels: ClassVar = Kernels(
        driven_rows, begin=driven_forget, ended=driven_lost, accept=driven_on, start=driven_start
    )

    def __init__(self, assembly: Assembly) -> None:
        self.drives = [driven for _, driven in assembly.drives]
        self.ports = [port for port, _ in assembly.drives]
        counts = [len(driven.terms) for driven in self.drives]
        self.ranges = np.cumsum([0, *counts])
        self.relation = np.repeat(np.arange(len(counts)), counts)
        self.terms = [term for driven in self.drives for term in driven.terms]
        bodies = [
            [driven.bodies[k] for k in term.at] for driven in self.drives for term in driven.terms
        ]
        forms = [t.forms.onto(tuple(own)) for t, own in zip(self.terms, bodies, strict=True)]
        along = lines(Forms(forms, assembly.count), [term.forms.m for term in self.terms])
        self.struts = struts(along, [chart_of(term.chart) for term in self.terms], apart=True)
        self.group = assembly.joints.groups - len(self.drives) + np.arange(len(self.drives))
        self.inputs = sum(inlet.size for inlet in assembly.inlets)
        self.chi = np.zeros((2, len(self.terms)))
        self.memory = np.full((len(self.terms), 2), np.nan)
        motions = [driven.motion for driven in self.drives]
        about = [each.axis + 1 if isinstance(each, Turn) else 0 for each in motions]
        self.about = np.array(about, dtype=np.intp)
        self.formulas = [law_of(term.profile) for term in self.terms]

    def __len__(self) -> int:
        """Return the number of relations."""
        return len(self.drives)

    @property
    def laws(self) -> list[Called | None]:
        """The formulas of cams."""
        return self.formulas

    @property
    def dry(self) -> bool:
        """Whether one of them has friction."""
        return any(not driven.lossless for driven in self.drives)

    @property
    def moved(self) -> Indices:
        """The bodies of all but angles."""
        ends = self.struts.ends[self.struts.moves].reshape(-1)
        return ends[ends >= 0]

    def meet(self, graph: Graph) -> None:
        """Join both bodies of every coordinate with the multiplier, and with each other."""
        moves, node = self.struts.moves, graph.position(self.group)[self.relation]
        graph.meet(*(graph.of_bodies(end, moves=moves) for end in self.struts.ends.T), node)

    def table(self, graph: Graph, tiles: Tiles) -> Driving:
        """Return coordinates, and where their rows are."""
        at, count, table = self.struts, len(self.terms), tiles.table
        M, K = graph.pair(at.ends), graph.pair(at.ends, moving=True)
        acts = Acts(np.zeros((count, 4)), index(np.zeros((count, 2))), addresses([None] * count))
        places = index(at.kind, graph.ends(at.ends), at.chart, at.ranges, table(M, K))
        along = Along(real(at.numbers), places, acts, self.chi, self.memory)
        node = graph.position(self.group)
        held = np.array([driven.motion.holds for driven in self.drives], dtype=np.intp)
        rate = self.inputs + 2 * np.arange(len(self))
        ports = np.array(self.ports, dtype=np.intp)
        first, last = self.ranges[:-1], self.ranges[1:]
        own = node[self.relation][:, None]
        return Driving(
            along,
            index(ports, rate, held, node, first, last, self.about),
            index(table(M, own), table(own, K)),
            rows([numbers for driven in self.drives for numbers in _numbers(driven)], 3),
            rows([law for driven in self.drives for law in _friction(driven)], 4),
            tables_of([term.profile for term in self.terms], self.formulas),
        )

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with the coordinates at q."""
        for k, (relation, term) in enumerate(zip(self.relation, self.terms, strict=True)):
            own = local(q, [self.drives[relation].bodies[j] for j in term.at])
            self.chi[:, k] = term.near(angles).coordinate(own)


def _numbers(driven: Driven) -> list[tuple[float, float, float]]:
    """Return coefficient and shares that are lost of all terms; nothing is in the first one."""
    shares = 1 - driven.efficiency, 1 / driven.efficiency - 1
    lost = [(0.0, 0.0), *[shares] * (len(driven.terms) - 1)]
    return [(term.coefficient, *own) for term, own in zip(driven.terms, lost, strict=True)]


def _friction(driven: Driven) -> list[tuple[float, ...]]:
    """Return the friction of load 1 of all terms."""
    laws = [law for law in driven.friction if isinstance(law, Friction)]
    found = [astuple(Friction()), *(astuple(law) for law in laws)]
    return found[: len(driven.terms)]


def law_of(profile: Profile | None) -> Called | None:
    """Return the formula of a profile as a function with an address, with both derivatives."""
    if not isinstance(profile, ByFormula):
        return None
    graph, row = profile.formula.graph, profile.formula.rows[0]
    slope = graph.slope(row, 0)
    function = machine_code(1, graph.program(row, slope, graph.slope(slope, 0)))
    if function is not None:
        return function

    def law(given: list[float], wanted: int) -> list[float]:
        (chi,) = given
        return [profile(chi), profile.slope(chi), profile.bend(chi)]

    return Law(law, 1, 3)


def tables_of(profiles: Sequence[Profile | None], laws: Sequence[Called | None]) -> Profiles:
    """Return the tables of profiles and of their laws."""
    rows, places, periods, first = [np.zeros((0, 5))], [], [], 0
    for profile in profiles:
        own, period = np.zeros((0, 5)), 0.0
        if isinstance(profile, Spline):
            own, period = profile.rows, profile.period
        rows.append(own)
        places.append([first, first + len(own)] if len(own) else [0, 0])
        periods.append(period)
        first += len(own)
    at = np.array(places, dtype=np.uint32).reshape(-1, 2)
    return Profiles(np.vstack(rows), at, np.array(periods, dtype=float), addresses(laws))
