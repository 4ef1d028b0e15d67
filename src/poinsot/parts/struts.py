"""Springs, dampers and motors along one coordinate of two bodies, in the compiled engine.

The coordinate chi(s) is a chart of a form s of points, c a·r or c r·r with r = r_B - r_A, or of one
or two forms of directions, s = N : D_A D_B^T. Everything that acts along it is a tension t on each
form, whose generalised force is t times the gradient of s at the midpoint; the tangent follows from
the dependence of t on s at the midpoint and at the end. Vectors of a body at both ends of a step
are x -+ a x x.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import nan, pi
from typing import ClassVar

import numpy as np

from poinsot.frames.charts import Angle, Chart, Length
from poinsot.frames.directions import Charted
from poinsot.frames.places import local
from poinsot.frames.products import lines, struts
from poinsot.frames.stacks import Forms as Stack
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    axial,
    axpy,
    combine,
    cross,
    dot,
    gather,
    matrix,
    minus,
    multiply,
    outer,
    plus,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    times_skew,
    trace,
    transposed,
    vector,
)
from poinsot.kernels.cayley import cayley, lever, turn_back, turned
from poinsot.kernels.charts import ANGLE, LENGTH, LINEAR, Pair, chart_near, chart_value
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.laws import ENERGY, SLOPES, Called, KeepingSlopes, Law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, look_inside, measure, push
from poinsot.kernels.tables import DIRECTORS, KIND, A, Acts, B, R, frame, half_turn, twist
from poinsot.kernels.terms import DIRECTION_A, DOT, OFFSET, UNIT, gather_blocks
from poinsot.parts import formula_laws, numba_laws
from poinsot.parts.elastic import Affine
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, real, rows
from poinsot.parts.feedback import JointLaw
from poinsot.parts.potentials import CoordinatePotential
from poinsot.parts.resistance import COULOMB, AnyLaw, Damper, Friction
from poinsot.parts.stops import Cushion, OneSided
from poinsot.parts.struts_backward import struts_backward
from poinsot.parts.tensions import (
    CHART,
    CUSHION,
    DAMPER,
    FIRST,
    LAST,
    MOTOR,
    ROLE,
    SERVO,
    SPRING,
    STOP,
    Along,
    energy_of,
    tension_along,
)
from poinsot.parts.turning_forms import FORM_0, FORM_1, forms_turning, product
from poinsot.ph.matrices import Vector

#: Of places, after `LAST`: tiles of (T_A, R_A, T_B, R_B) with each other.
PAIR = 6


@kernel
def struts_act(struts: Along, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None.

    Sets outputs y of motors and inputs u of servos; adds up the power lost.
    """
    for k in range(struts.places.shape[0]):
        if struts.places[k, KIND] == DOT:
            _turning(struts, k, step, tiles)
        else:
            _straight(struts, k, step, tiles)


@kernel
def _straight(struts: Along, k: int, step: Step, tiles: Array) -> None:
    """Act along a form of points.

    The force n = ds/dr on B has the torque rho_B x n there, and n x (r + rho_A) on A.
    """
    h, stage, numbers, at = step.h, step.stage, struts.numbers, struts.places[k]
    first, second, c, offset = at[A], at[B], numbers[k, terms.COEFFICIENT], at[KIND] == OFFSET
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    X_A, X_B = vector(numbers, k, terms.POINT_A), vector(numbers, k, terms.POINT_B)
    (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
    (v_A, _), (v_B, _) = twist(stage, first), twist(stage, second)
    rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
    reach = sub(add(r_B, rho_B), r_A)
    r = sub(reach, rho_A)
    # Half of what r and a change by over the step.
    dr = axpy(0.5 * h, sub(v_B, v_A), sub(cross(half_B, rho_B), cross(half_A, rho_A)))
    a, da, bend, X_a = scale(2.0, r), scale(2.0, dr), 2.0 * c, vector(numbers, k, DIRECTION_A)
    if offset:
        a, bend = combine(X_a, D_A), 0.0
        da = cross(half_A, a)
    n, dn, p, dp = scale(c, a), scale(c, da), scale(c, r), scale(c, dr)
    middle, second_order = dot(p, a), dot(dp, da)
    ds = 2.0 * (dot(n, dr) + dot(p, da)) if offset else 2.0 * dot(n, dr)
    if not offset:
        middle, second_order = 0.5 * middle, 0.5 * second_order
    low, high = middle + second_order - 0.5 * ds, middle + second_order + 0.5 * ds
    forms = (low, 0.0), (middle, 0.0), (high, 0.0), (ds, 0.0)
    slopes = tiles is not None
    if at[CHART] == LENGTH:
        tension, dt_middle, dt_end = tension_along(struts, at, LENGTH, forms, step, slopes)
    else:
        tension, dt_middle, dt_end = tension_along(struts, at, LINEAR, forms, step, slopes)
    torque_A, torque_B = cross(n, reach), cross(rho_B, n)
    if step.arms_at != DIRECTORS:
        torque_A, torque_B = cross(n, arm(step, first, X_A)), cross(arm(step, second, X_B), n)
        if offset:
            torque_A = add(torque_A, cross(arm(step, first, X_a), p))
    pull = h * tension[0]
    push(step, first, scale(-pull, n), scale(pull, torque_A))
    push(step, second, scale(pull, n), scale(pull, torque_B))
    measure(step, abs(pull) * size(n), abs(pull) * max(size(torque_A), size(torque_B)))
    if tiles is not None:
        # The tension changes by n_t (dv_B - dv_A) + on_A dw_A + on_B dw_B; times h.
        both, end = h * h * (0.5 * dt_middle[0][0] + dt_end[0][0]), h * h * dt_end[0][0]
        n_t = axpy(end, dn, scale(both, n))
        lengths = size(r_A) + size(rho_A) + size(r_B) + size(rho_B)
        inside = size(n_t) * (lengths / abs(h) + size(v_A) + size(v_B))
        torque = max(size(torque_A), size(torque_B))
        look_inside(step, inside * size(n), inside * torque, inside * abs(ds / h))
        on_A, on_B = cross(turn_back(half_A, n_t), rho_A), cross(rho_B, turn_back(half_B, n_t))
        if offset:
            on_A = add(on_A, cross(a, turn_back(half_A, axpy(end, dp, scale(both, p)))))
        # The force changes by nu (dv_B - dv_A) + N_A dw_A + N_B dw_B besides, rho_B by P_B dw_B.
        f, nu = 0.5 * h * pull, 0.5 * h * pull * bend
        P_B = times(-f, lever(half_B, rho_B))
        N_A, N_B = times(f * bend, lever(half_A, rho_A)), times(bend, P_B)
        if offset:
            N_A = times(-f * c, lever(half_A, a))
        n_x_P_B = skew_times(n, P_B)
        gather_blocks(
            tiles,
            at[PAIR:],
            (
                plus(outer(n, n_t), times(nu, UNIT)),
                plus(outer(n, on_A), N_A),
                plus(outer(n, on_B), N_B),
            ),
            (
                plus(outer(torque_A, n_t), skew(axpy(f, n, scale(-nu, reach)))),
                minus(outer(torque_A, on_A), skew_times(reach, N_A)),
                plus(outer(torque_A, on_B), minus(n_x_P_B, skew_times(reach, N_B))),
            ),
            (
                plus(outer(torque_B, n_t), skew(scale(nu, rho_B))),
                plus(outer(torque_B, on_A), skew_times(rho_B, N_A)),
                plus(outer(torque_B, on_B), minus(skew_times(rho_B, N_B), n_x_P_B)),
            ),
        )


@kernel
def _turning(struts: Along, k: int, step: Step, tiles: Array) -> None:
    """Act along forms of directions.

    With K = sum c a b^T the form is tr K, and its torque on A the axial vector sum c a x b, the
    opposite on B.
    """
    h, stage, x, bodies = step.h, step.stage, step.x, step.bodies
    at, arms_at = struts.places[k], step.arms_at
    first, second = at[A], at[B]
    half_A, half_B = half_turn(stage, first), half_turn(stage, second)
    (_, D_A), (_, D_B) = frame(stage, first), frame(stage, second)
    N_0, N_1 = matrix(struts.numbers, k, FORM_0), matrix(struts.numbers, k, FORM_1)
    K_0, K_1 = product(N_0, D_A, D_B), product(N_1, D_A, D_B)
    m_0, m_1, forms = axial(K_0), axial(K_1), forms_turning(K_0, K_1, half_A, half_B)
    ds, slopes = forms[3], tiles is not None
    tension, dt_middle, dt_end = tension_along(struts, at, at[CHART], forms, step, slopes)
    on_A, on_B = (m_0, m_1), (scale(-1.0, m_0), scale(-1.0, m_1))
    if arms_at != DIRECTORS:
        L_A, L_B = matrix(stage, first, arms_at), matrix(stage, second, arms_at)
        on_A = axial(product(N_0, L_A, D_B)), axial(product(N_1, L_A, D_B))
        on_B = (
            scale(-1.0, axial(product(N_0, D_A, L_B))),
            scale(-1.0, axial(product(N_1, D_A, L_B))),
        )
    pull = h * tension[0], h * tension[1]
    gather(x, bodies[first, R], 0, axpy(pull[0], on_A[0], scale(pull[1], on_A[1])))
    gather(x, bodies[second, R], 0, axpy(pull[0], on_B[0], scale(pull[1], on_B[1])))
    measure(step, 0.0, abs(pull[0]) * size(m_0) + abs(pull[1]) * size(m_1))
    if tiles is not None:
        C_A, C_B = cayley(half_A), cayley(half_B)
        # How tension f changes with w_A, times h: by K of a at the middle and b at the end; etc.
        end_0, end_1 = minus(K_0, times_skew(K_0, half_B)), minus(K_1, times_skew(K_1, half_B))
        K_f = _weighted(h, dt_middle[0], dt_end[0], K_0, K_1, end_0, end_1)
        K_g = _weighted(h, dt_middle[1], dt_end[1], K_0, K_1, end_0, end_1)
        by_A = axial(multiply(K_f, C_A)), axial(multiply(K_g, C_A))
        end_0, end_1 = plus(K_0, skew_times(half_A, K_0)), plus(K_1, skew_times(half_A, K_1))
        K_f = _weighted(h, dt_middle[0], dt_end[0], K_0, K_1, end_0, end_1)
        K_g = _weighted(h, dt_middle[1], dt_end[1], K_0, K_1, end_0, end_1)
        by_B = axial(multiply(transposed(K_f), C_B)), axial(multiply(transposed(K_g), C_B))
        # Angles counted over turns are rounded as numbers of their size are.
        counted = 1.0
        for j in range(at[FIRST], at[LAST]):
            counted = max(counted, abs(struts.chi[0, j]))
        spins = (counted + 2.0 * (size(half_A) + size(half_B))) / abs(h)
        inside_0 = spins * (size(by_A[0]) + size(by_B[0]))
        inside_1 = spins * (size(by_A[1]) + size(by_B[1]))
        energy = (inside_0 * abs(ds[0]) + inside_1 * abs(ds[1])) / abs(h)
        look_inside(step, 0.0, inside_0 * size(m_0) + inside_1 * size(m_1), energy)
        pulled = plus(times(0.5 * h * pull[0], K_0), times(0.5 * h * pull[1], K_1))
        turned_A, turned_B = turned(C_A, pulled), turned(C_B, transposed(pulled))
        ground, pair = bodies.shape[0] - 1, at[PAIR:]
        if first != ground:
            add_tile(tiles, pair[terms.RA_RA], plus(_outers(on_A, by_A), turned_A))
        if second != ground:
            add_tile(tiles, pair[terms.RB_RB], plus(_outers(on_B, by_B), turned_B))
            if first != ground:
                add_tile(tiles, pair[terms.RA_RB], minus(_outers(on_A, by_B), turned_B))
                add_tile(tiles, pair[terms.RB_RA], minus(_outers(on_B, by_A), turned_A))


@arithmetic
def _weighted(
    h: float, by_middle: Pair, by_end: Pair, K_0: Mat, K_1: Mat, end_0: Mat, end_1: Mat
) -> Mat:
    """Return the sum of both forms, each by its slopes at the middle and at the end."""
    middle = plus(times(0.5 * h * h * by_middle[0], K_0), times(0.5 * h * h * by_middle[1], K_1))
    return plus(middle, plus(times(h * h * by_end[0], end_0), times(h * h * by_end[1], end_1)))


@arithmetic
def _outers(a: tuple[Vec, Vec], b: tuple[Vec, Vec]) -> Mat:
    return plus(outer(a[0], b[0]), outer(a[1], b[1]))


@kernel
def forget(struts: Along, state: Array) -> None:
    """Let slopes of dry friction begin anew."""
    for k in range(struts.memory.shape[0]):
        struts.memory[k, 1] = nan


@kernel
def stored(struts: Along, state: Array, step: Step) -> float:
    """Return the energy of all springs [J]; keep the coordinates that something depends on."""
    total, acts, chi = 0.0, struts.acts, struts.chi
    for j in range(struts.places.shape[0]):
        for k in range(struts.places[j, FIRST], struts.places[j, LAST]):
            role = acts.places[k, ROLE]
            if role not in (DAMPER, MOTOR):
                chi[1, k] = coordinate(struts, j, state, chi[0, k])
            if role in (SPRING, STOP):
                total += energy_of(acts, k, step, chi[1, k])
    return total


@kernel
def lost(struts: Along, state: Array, step: Step) -> bool:
    """Tell whether an angle that something depends on changed by half a turn or more.

    Then it is past a quarter of a turn at the midpoint; see `Angle.loses`.
    """
    acts, chi = struts.acts, struts.chi
    for j in range(struts.places.shape[0]):
        if struts.places[j, CHART] == ANGLE:
            for k in range(struts.places[j, FIRST], struts.places[j, LAST]):
                role = acts.places[k, ROLE]
                if role not in (DAMPER, MOTOR):
                    middle = coordinate(struts, j, step.stage, chi[0, k])
                    if not abs(middle - chi[0, k]) < 0.5 * pi:
                        return True
    return False


@kernel
def go_on(struts: Along) -> None:
    """Go on from the coordinates after the step."""
    for k in range(struts.chi.shape[1]):
        struts.chi[0, k] = struts.chi[1, k]


@kernel
def begin_at(struts: Along, state: Array) -> None:
    """Begin a step with the coordinates of a state, angles within half a turn of those here."""
    for j in range(struts.places.shape[0]):
        for k in range(struts.places[j, FIRST], struts.places[j, LAST]):
            if struts.acts.places[k, ROLE] not in (DAMPER, MOTOR):
                struts.chi[0, k] = coordinate(struts, j, state, struts.chi[0, k])


@inline
def coordinate(struts: Along, k: int, state: Array, about: float) -> float:
    """Return the coordinate of strut k, an angle within half a turn of another."""
    numbers, at = struts.numbers, struts.places[k]
    (r_A, D_A), (r_B, D_B) = frame(state, at[A]), frame(state, at[B])
    if at[KIND] == DOT:
        N_0, N_1 = matrix(numbers, k, FORM_0), matrix(numbers, k, FORM_1)
        s = trace(product(N_0, D_A, D_B)), trace(product(N_1, D_A, D_B))
        return chart_near(at[CHART], s, about)
    rho_A = combine(vector(numbers, k, terms.POINT_A), D_A)
    rho_B = combine(vector(numbers, k, terms.POINT_B), D_B)
    r = sub(add(r_B, rho_B), add(r_A, rho_A))
    a = combine(vector(numbers, k, DIRECTION_A), D_A) if at[KIND] == OFFSET else r
    return chart_value(at[CHART], (numbers[k, terms.COEFFICIENT] * dot(a, r), 0.0))


# -- what acts along coordinates -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pull:
    """Something along one coordinate: its role, and its numbers or its law.

    `port` is the first input of a port, or what the law of a spring is (`formula_laws.LAW`).
    Laws that are plain numbers become numbers; any other law stays the Python function that it is.
    """

    along: CoordinatePotential | Charted
    role: int
    numbers: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    law: Called | None = None
    port: int = 0

    @property
    def chart(self) -> int:
        """The kind of coordinate."""
        return chart_of(self.along.chart)

    def coordinate(self, q: Vector, angles: Mapping[str, float]) -> float:
        """Return that at q, in directors, near angles of joints [rad] counted over turns."""
        s = self.along.forms(local(q, self.along.bodies))
        return self.along.chart.near(angles).value(s)


def chart_of(chart: Chart) -> int:
    """Return the kind of coordinate of a chart."""
    if isinstance(chart, Angle):
        return ANGLE
    return LENGTH if isinstance(chart, Length) else LINEAR


class Struts(Family):
    """Coordinates of two bodies that springs, dampers and motors act along."""

    Table: ClassVar = Along
    kernels: ClassVar = Kernels(
        struts_act,
        struts_act,
        begin=forget,
        energy=stored,
        ended=lost,
        accept=go_on,
        backward=struts_backward,
        backward_stabilised=struts_backward,
        start=begin_at,
    )

    def __init__(self, assembly: Assembly) -> None:
        springs = [_spring(p) for p in assembly.potentials if isinstance(p, CoordinatePotential)]
        dampers = [_damper(d) for d in assembly.dampers if isinstance(d.direction, Charted)]
        found = [*springs, *dampers, *_motors(assembly)]
        forms = Stack([p.along.forms.onto(p.along.bodies) for p in found], assembly.count)
        along = lines(forms, [p.along.forms.m for p in found])
        self.struts = struts(along, [p.chart for p in found])
        self.pulls = [found[k] for k in self.struts.order.tolist()]
        self.chi = np.zeros((2, len(found)))
        self.memory = np.full((len(found) if self.dry else 0, 2), np.nan)

    def __len__(self) -> int:
        """Return the number of pulls."""
        return len(self.pulls)

    @property
    def laws(self) -> list[Called | None]:
        """Those that are no plain numbers."""
        return [pull.law for pull in self.pulls]

    @property
    def dry(self) -> bool:
        """Whether one of them is dry friction."""
        return any(pull.role == DAMPER and pull.numbers[COULOMB] > 0 for pull in self.pulls)

    @property
    def moved(self) -> Indices:
        """The bodies of all but angles."""
        ends = self.struts.ends[self.struts.moves].reshape(-1)
        return ends[ends >= 0]

    def meet(self, graph: Graph) -> None:
        """Join both bodies with each other."""
        moves = self.struts.moves
        graph.meet(*(graph.of_bodies(bodies, moves=moves) for bodies in self.struts.ends.T))

    def table(self, graph: Graph, tiles: Tiles) -> Along:
        """Return coordinates, and what acts along them."""
        at, pulls = self.struts, self.pulls
        pairs = tiles.table(graph.pair(at.ends), graph.pair(at.ends, moving=True))
        acts = Acts(
            rows([pull.numbers for pull in pulls], 4),
            index(rows([[pull.role, pull.port] for pull in pulls], 2)),
            addresses(self.laws),
        )
        places = index(at.kind, graph.ends(at.ends), at.chart, at.ranges, pairs)
        return Along(real(at.numbers), places, acts, self.chi, self.memory)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with the coordinates at q."""
        self.chi[:] = [pull.coordinate(q, angles) for pull in self.pulls]


def _spring(p: CoordinatePotential) -> Pull:
    elastic = p.law
    if isinstance(elastic, Affine):
        return Pull(p, SPRING, (elastic.force, elastic.stiffness, elastic.rest, 0.0))
    if isinstance(elastic, OneSided):
        return Pull(p, STOP, tuple(elastic.numbers[0].tolist()))
    machine = formula_laws.of_spring(elastic) or numba_laws.of_spring(elastic)
    if machine is not None:
        function, kind, numbers = machine
        return Pull(p, SPRING, numbers, function, kind)

    def law(given: list[float], wanted: int) -> Sequence[float]:
        chi, dchi = given
        if wanted == ENERGY:
            return (elastic.V(chi),)
        return elastic.mean_and_slope(chi, dchi) if wanted == SLOPES else (elastic.mean(chi, dchi),)

    return Pull(p, SPRING, law=Law(law, 2, 1, 1))


def _damper(d: Damper) -> Pull:
    assert isinstance(d.direction, Charted)
    if isinstance(d.law, Friction):
        return Pull(d.direction, DAMPER, astuple(d.law))
    if isinstance(d.law, Cushion):
        return Pull(d.direction, CUSHION, tuple(d.law.numbers[0].tolist()))
    any_law = d.law
    assert isinstance(any_law, AnyLaw)
    machine = formula_laws.of_damper(any_law) or numba_laws.of_damper(any_law)
    if machine is not None:
        return Pull(d.direction, DAMPER, law=machine)

    def law(given: list[float], wanted: int) -> Sequence[float]:
        (rate,) = given
        force = any_law.value(rate)
        return (force, any_law.derivative(rate)) if wanted == SLOPES else (force,)

    return Pull(d.direction, DAMPER, law=Law(law, 1, 1, 1))


def _motors(assembly: Assembly) -> list[Pull]:
    motors = []
    for port, inlet in assembly.ports:
        if isinstance(inlet.direction, Charted):
            law = _servo(inlet.law) if isinstance(inlet.law, JointLaw) else None
            role = MOTOR if law is None else SERVO
            motors.append(Pull(inlet.direction, role, law=law, port=port))
    return motors


def _servo(feedback: JointLaw) -> Called:
    machine = formula_laws.of_motor(feedback) or numba_laws.of_motor(feedback)
    if machine is not None:
        return machine

    law = KeepingSlopes(
        lambda given: feedback.value(given[0], given[1:]),
        lambda given: feedback.value_and_slope(given[0], given[1:]),
        slopes=2,
    )
    return Law(law, 3, 1, law.slopes)
