"""Connections of frames in the compiled engine: their kernels, and the family of all of them."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
from poinsot.kernels import terms
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    combine,
    cross,
    dot,
    minus,
    multiply,
    plus,
    scale,
    skew,
    skew_times,
    sub,
    times,
    transposed,
)
from poinsot.kernels.cayley import ahead, cayley, lever, turned
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.lanes import (
    ABREAST,
    Lane,
    Places4,
    across,
    add_tiles,
    beside,
    gather_lanes,
    greatest,
    in_groups,
    larger,
    largest_of,
    matrix_of,
    places_of,
    put_beside,
    size_of,
    subtract_tiles,
    total,
    vector_of,
)
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import (
    Blocks,
    Middle,
    Six,
    add_blocks,
    changed,
    dot_six,
    forms_of,
    placed,
    scale_blocks,
    stiffness,
    tensions,
    times_six,
    twisted,
)
from poinsot.kernels.step import Step, look_inside, measure
from poinsot.kernels.tables import (
    DIRECTORS,
    HALF,
    LOST_POWER,
    POSITION,
    Index2,
    R,
    Real2,
    T,
    V,
)
from poinsot.kernels.terms import UNIT
from poinsot.parts.connections import ElasticConnection, LinearResistance, RelativeMotion
from poinsot.parts.family import Assembly, Family, Indices, Kernels, Real, index
from poinsot.ph.matrices import Vector

#: Columns of numbers: point and axes (as rows) on A and on B; S and D by blocks; chi at rest. Of
#: places: bodies A and B, whether points are off the centres, whether it is damped, and tiles of
#: (T_A, R_A, T_B, R_B) with each other.
POINT_A, AXES_A, POINT_B, AXES_B, STIFFNESS, DAMPING, REST = 0, 3, 12, 15, 24, 51, 78
FIRST, SECOND, OFFSET, DAMPED, PAIR = range(5)
#: Columns of what is kept of a state: x, t, chi - rest, w; of the start of a step also the mean of
#: chi - rest over the last one.
X, TURN, STRAIN, COSINE, LAST = 0, 3, 6, 12, 13

#: Of connections side by side: axes and lever arms of both ends, and what is between their points.
Ends: TypeAlias = tuple[Mat, Mat, Vec, Vec, Vec]
#: How forms and t change over a step: x, 2 a^x, w, t.
Change: TypeAlias = tuple[Vec, Vec, Lane, Vec]
#: Tensions n, m and mu.
Tension: TypeAlias = tuple[Vec, Vec, Lane]
#: How the force and the torques on A and B change with v_B - v_A, w_A and w_B.
Slopes: TypeAlias = tuple[Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat]


class Connected(NamedTuple):
    """Connections; what is kept of the start of a step, and of its end.

    They fill up whole groups, with some between the ground and itself at the end. Numbers and what
    is kept are there `in_groups`, places have a row for each.
    """

    numbers: Real2
    places: Index2
    start: Real2
    end: Real2


@kernel
def connect(connections: Connected, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; adds up the power lost."""
    h, stage, numbers, kept = step.h, step.stage, connections.numbers, connections.start
    places = connections.places
    for group in range(numbers.shape[0]):
        rows = _rows(group)
        first, second = places_of(places, rows, FIRST), places_of(places, rows, SECOND)
        motion_A, motion_B = _motion(stage, first), _motion(stage, second)
        S, start = _stiffness(numbers, group), _start(kept, group)
        ends = _ends(numbers, group, motion_A, motion_B)
        turns, change, m = _course(h, motion_A, motion_B, ends, start)
        mean = Middle(m[0], m[1], m[2], m[3])
        tension = _elastic(mean, S, change, start)
        if _any(places, rows, DAMPED) > 0:
            D = _damping(numbers, group)
            more, lost = _viscous(h, D, ends, change)
            tension = _add_tension(tension, more)
            step.sizes[LOST_POWER] += lost
        tension = _scale_tension(h, tension)
        F, torque_A, torque_B = _forces(tension, ends, turns)
        if step.arms_at != DIRECTORS:
            arms = _arms(stage, step.arms_at, first), _arms(stage, step.arms_at, second)
            torque_A, torque_B = _torques(numbers, group, arms, tension, ends, F)
        _push(step, first, second, F, torque_A, torque_B)
        if tiles is not None:
            # Where stiff directions meet soft ones, forces of a guess are far off. In the matrix
            # they are therefore those of the step before, as if they were unknowns themselves.
            f = times_six(S, _last(kept, group))
            S = scale_blocks(0.5, S)
            if _any(places, rows, DAMPED) > 0:
                S = add_blocks(S, scale_blocks(1.0 / h, _damping(numbers, group)))
            A, B, rho_A, rho_B, r = ends
            stiff = stiffness(mean, S, f[0], (A, B), r, (rho_A, rho_B), turns)
            halves = motion_A[2], motion_B[2]
            tension = _scale_tension(h, tensions(mean, f))
            slopes = _slopes(h, halves, stiff, ends, tension)
            if _any(places, rows, OFFSET) > 0:
                slopes = _off_centre(h, halves, slopes, ends, tension)
            _add_to_tiles(tiles, places, rows, slopes)
            along, about, energy = _inside(h, S, motion_A, motion_B, ends, change)
            look_inside(step, along, about, energy)


# -- reading connections side by side --------------------------------------------------------------


@arithmetic
def _rows(group: int) -> Places4:
    """Return the rows of a group."""
    k = ABREAST * group
    return k, k + 1, k + 2, k + 3


@arithmetic
def _any(places: Array, rows: Places4, at: int) -> int:
    """Return of how many something is true."""
    a, b, c, d = places_of(places, rows, at)
    return a + b + c + d


@arithmetic
def _motion(stage: Array, bodies: Places4) -> tuple[Vec, Mat, Vec, Vec]:
    """Return positions, directors, half turns and velocities of bodies."""
    columns = across(stage, bodies, 0, 5)
    position, half = vector_of(columns, POSITION), vector_of(columns, HALF)
    return position, matrix_of(columns, DIRECTORS), half, vector_of(columns, V)


@arithmetic
def _stiffness(numbers: Array, group: int) -> Blocks:
    return _blocks(beside(numbers, group, STIFFNESS, DAMPING - STIFFNESS))


@arithmetic
def _damping(numbers: Array, group: int) -> Blocks:
    return _blocks(beside(numbers, group, DAMPING, REST - DAMPING))


@arithmetic
def _blocks(columns: tuple[Lane, ...]) -> Blocks:
    return matrix_of(columns, 0), matrix_of(columns, 9), matrix_of(columns, 18)


@arithmetic
def _start(kept: Array, group: int) -> tuple[Vec, Vec, Vec, Vec, Lane]:
    """Return x, t, both parts of chi - rest, and w."""
    columns = beside(kept, group, 0, LAST)
    u, v = vector_of(columns, STRAIN), vector_of(columns, STRAIN + 3)
    return vector_of(columns, X), vector_of(columns, TURN), u, v, columns[COSINE]


@arithmetic
def _last(kept: Array, group: int) -> Six:
    """Return the mean of chi - rest over the last step."""
    return six_of(kept, group, LAST)


@arithmetic
def six_of(table: Array, group: int, at: int) -> Six:
    """Return six columns of a table in groups."""
    columns = beside(table, group, at, COORDINATES)
    return vector_of(columns, 0), vector_of(columns, 3)


@arithmetic
def _arms(stage: Array, at: int, bodies: Places4) -> Mat:
    """Return the directors that forces act on."""
    columns = across(stage, bodies, at, 2) + across(stage, bodies, at + 5, 1)
    last = columns[9], columns[10], columns[11]
    return vector_of(columns, 0), vector_of(columns, 3), last


@arithmetic
def _ends(
    numbers: Array,
    group: int,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
) -> Ends:
    (r_A, D_A, _, _), (r_B, D_B, _, _) = motion_A, motion_B
    columns = beside(numbers, group, 0, STIFFNESS)
    A, B = (
        multiply(matrix_of(columns, AXES_A), D_A),
        multiply(matrix_of(columns, AXES_B), D_B),
    )
    rho_A = combine(vector_of(columns, POINT_A), D_A)
    rho_B = combine(vector_of(columns, POINT_B), D_B)
    return A, B, rho_A, rho_B, sub(add(r_B, rho_B), add(r_A, rho_A))


# -- forces ----------------------------------------------------------------------------------------


@arithmetic
def _course(
    h: float,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
    ends: Ends,
    start: tuple[Vec, Vec, Vec, Vec, Lane],
) -> tuple[tuple[Mat, Vec], Change, tuple[Vec, Vec, Lane, Vec]]:
    """Return how turns change forms, how these change over a step, and their middle."""
    (_, _, half_A, v_A), (_, _, half_B, v_B) = motion_A, motion_B
    (A, B, rho_A, rho_B, r), (x0, t0, _, _, w0) = ends, start
    arms = sub(cross(half_B, rho_B), cross(half_A, rho_A))
    dr, turn = axpy(h, sub(v_B, v_A), scale(2.0, arms)), sub(half_A, half_B)
    rows, whole = twisted(A, B)
    by_A = apply(A, axpy(0.5, dr, cross(r, half_A)))
    dx = add(by_A, apply(B, axpy(0.5, dr, cross(r, half_B))))
    dturn, dw = apply(rows, turn), 0.5 * dot(whole, turn)
    dt = scale(0.5 / (w0 + dw), axpy(-2.0 * dw, t0, dturn))
    c0, c1 = cross(t0, x0), cross(add(t0, dt), add(x0, dx))
    middle = axpy(0.5, dx, x0), axpy(0.5, dt, t0), w0 + 0.5 * dw, scale(0.5, add(c0, c1))
    return (rows, whole), (dx, dturn, dw, dt), middle


@arithmetic
def _elastic(
    mean: Middle, S: Blocks, change: Change, start: tuple[Vec, Vec, Vec, Vec, Lane]
) -> Tension:
    """Return tensions by the mean strain of a step."""
    (dx, dturn, _, dt), (_, _, u0, v0, _) = change, start
    du, dv = changed(mean, dx, dturn, dt)
    return tensions(mean, times_six(S, (axpy(0.5, du, u0), axpy(0.5, dv, v0))))


@arithmetic
def _viscous(h: float, D: Blocks, ends: Ends, change: Change) -> tuple[Tension, float]:
    """Return tensions by the rate at the midpoint, and the power that they take."""
    (A, B, _, _, r), (dx, dturn, dw, _) = ends, change
    x, turn, w = forms_of(A, B, r)
    t = scale(0.5 / w, turn)
    at = Middle(x, t, w, cross(t, x))
    du, dv = changed(at, dx, dturn, scale(0.5 / w, axpy(-2.0 * dw, t, dturn)))
    rate = scale(1.0 / h, du), scale(1.0 / h, dv)
    f = times_six(D, rate)
    return tensions(at, f), total(dot_six(f, rate))


@arithmetic
def _add_tension(a: Tension, b: Tension) -> Tension:
    return add(a[0], b[0]), add(a[1], b[1]), a[2] + b[2]


@arithmetic
def _scale_tension(s: float, a: Tension) -> Tension:
    return scale(s, a[0]), scale(s, a[1]), s * a[2]


@arithmetic
def _forces(tension: Tension, ends: Ends, turns: tuple[Mat, Vec]) -> tuple[Vec, Vec, Vec]:
    """Return the force on B, and the torques on A and B.

    Of the force half comes by the axes of A, half by those of B.
    """
    (n, m, mu), (A, B, rho_A, rho_B, r) = tension, ends
    g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    F, q = add(g_A, g_B), _turning(m, mu, turns)
    torque_A = add(sub(cross(g_A, r), cross(rho_A, F)), q)
    return F, torque_A, sub(add(cross(g_B, r), cross(rho_B, F)), q)


@arithmetic
def _torques(
    numbers: Array,
    group: int,
    arms: tuple[Mat, Mat],
    tension: Tension,
    ends: Ends,
    F: Vec,
) -> tuple[Vec, Vec]:
    """Return the torques on A and B, with lever arms of their own."""
    columns, (L_A, L_B), (n, m, mu), (A, B, _, _, r) = (
        beside(numbers, group, 0, STIFFNESS),
        arms,
        tension,
        ends,
    )
    A_arm, B_arm = (
        multiply(matrix_of(columns, AXES_A), L_A),
        multiply(matrix_of(columns, AXES_B), L_B),
    )
    rho_A = combine(vector_of(columns, POINT_A), L_A)
    rho_B = combine(vector_of(columns, POINT_B), L_B)
    torque_A = sub(cross(scale(0.5, combine(n, A_arm)), r), cross(rho_A, F))
    torque_B = add(cross(scale(0.5, combine(n, B_arm)), r), cross(rho_B, F))
    return (
        add(torque_A, _turning(m, mu, twisted(A_arm, B))),
        sub(torque_B, _turning(m, mu, twisted(A, B_arm))),
    )


@arithmetic
def _turning(m: Vec, mu: Lane, turns: tuple[Mat, Vec]) -> Vec:
    """Return the torque of tensions of turns."""
    rows, whole = turns
    return axpy(0.25 * mu, whole, scale(0.5, combine(m, rows)))


@arithmetic
def _push(
    step: Step, first: Places4, second: Places4, F: Vec, torque_A: Vec, torque_B: Vec
) -> None:
    """Add forces and torques on bodies to their residuals."""
    x, bodies = step.x, step.bodies
    gather_lanes(x, places_of(bodies, first, T), scale(-1.0, F))
    gather_lanes(x, places_of(bodies, first, R), torque_A)
    gather_lanes(x, places_of(bodies, second, T), F)
    gather_lanes(x, places_of(bodies, second, R), torque_B)
    torques = larger(size_of(torque_A), size_of(torque_B))
    measure(step, greatest(size_of(F)), greatest(torques))


# -- tiles -----------------------------------------------------------------------------------------


@arithmetic
def _slopes(
    h: float,
    halves: tuple[Vec, Vec],
    stiff: tuple[Mat, Mat, Mat, Mat, Mat, Mat],
    ends: Ends,
    tension: Tension,
) -> Slopes:
    """Return how forces change, with the stiffness at the midpoint; the tension is times h.

    Over a step chi changes by G(q_m) h v: as the midpoint turns with w, and moves with v. The first
    of these cancels in P w; by the second, what v changes is seen from the end of the step.
    """
    (half_A, half_B), (F_v, F_A, F_B, A_A, A_B, B_B) = halves, stiff
    (A, B, _, _, r), (n, m, mu) = ends, tension
    square, half, half_turned = h * h, 0.5 * h, scale(0.5, add(half_A, half_B))
    A_v, B_v = _all_ahead(half_turned, transposed(F_A)), _all_ahead(half_turned, transposed(F_B))
    F_v, B_A = times(square, _all_ahead(half_turned, F_v)), transposed(A_B)
    # With the directors at the midpoint, tensions being what they are.
    g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    by_A, by_B = times(-half, lever(half_A, g_A)), times(-half, lever(half_B, g_B))
    N = plus(times(0.25 * mu, UNIT), times(0.5, skew(m)))
    K = times(half, multiply(transposed(A), multiply(N, B)))
    q_A, q_B = turned(cayley(half_A), K), turned(cayley(half_B), transposed(K))
    return (
        F_v,
        plus(times(square, F_A), by_A),
        plus(times(square, F_B), by_B),
        plus(times(square, A_v), skew(scale(half, g_A))),
        plus(times(square, A_A), minus(q_A, skew_times(r, by_A))),
        minus(times(square, A_B), q_B),
        plus(times(square, B_v), skew(scale(half, g_B))),
        minus(times(square, B_A), q_A),
        plus(times(square, B_B), minus(q_B, skew_times(r, by_B))),
    )


@arithmetic
def _off_centre(
    h: float, halves: tuple[Vec, Vec], slopes: Slopes, ends: Ends, tension: Tension
) -> Slopes:
    """Add that points turn about the centres of their bodies."""
    (half_A, half_B), (A, B, rho_A, rho_B, _), half = halves, ends, 0.5 * h
    F_v, F_A, F_B, A_v, A_A, A_B, B_v, B_A, B_B = slopes
    n = tension[0]
    g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    by_A, by_B = times(-half, lever(half_A, g_A)), times(-half, lever(half_B, g_B))
    P_A, P_B = times(-half, lever(half_A, rho_A)), times(-half, lever(half_B, rho_B))
    A_A = plus(minus(A_A, skew_times(rho_A, by_A)), skew_times(g_B, P_A))
    A_B = plus(minus(A_B, skew_times(rho_A, by_B)), skew_times(g_A, P_B))
    B_A = minus(plus(B_A, skew_times(rho_B, by_A)), skew_times(g_B, P_A))
    B_B = minus(plus(B_B, skew_times(rho_B, by_B)), skew_times(g_A, P_B))
    return F_v, F_A, F_B, A_v, A_A, A_B, B_v, B_A, B_B


@arithmetic
def _all_ahead(half: Vec, A: Mat) -> Mat:
    """Return vectors of a body, given at the midpoint, at the end."""
    return ahead(half, A[0]), ahead(half, A[1]), ahead(half, A[2])


@arithmetic
def _add_to_tiles(tiles: Array, places: Array, rows: Places4, slopes: Slopes) -> None:
    """Add how the force on B, the opposite on A, and torques change with v_B - v_A, w_A, w_B."""
    F_v, F_A, F_B, A_v, A_A, A_B, B_v, B_A, B_B = slopes
    for at, B in (
        (terms.TA_TA, F_v),
        (terms.TB_TB, F_v),
        (terms.TB_RA, F_A),
        (terms.TB_RB, F_B),
        (terms.RA_TB, A_v),
        (terms.RA_RA, A_A),
        (terms.RA_RB, A_B),
        (terms.RB_TB, B_v),
        (terms.RB_RA, B_A),
        (terms.RB_RB, B_B),
    ):
        add_tiles(tiles, places_of(places, rows, PAIR + at), B)
    for at, B in (
        (terms.TA_TB, F_v),
        (terms.TB_TA, F_v),
        (terms.TA_RA, F_A),
        (terms.TA_RB, F_B),
        (terms.RA_TA, A_v),
        (terms.RB_TA, B_v),
    ):
        subtract_tiles(tiles, places_of(places, rows, PAIR + at), B)


@arithmetic
def _inside(
    h: float,
    S: Blocks,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
    ends: Ends,
    change: Change,
) -> tuple[float, float, float]:
    """Return what forces are before they cancel, as velocities are rounded, and their energy.

    Start and strains are what they are.
    """
    (_, _, half_A, v_A), (_, _, half_B, v_B) = motion_A, motion_B
    _, _, rho_A, rho_B, r = ends
    arms = sub(cross(half_B, rho_B), cross(half_A, rho_A))
    dr = axpy(h, sub(v_B, v_A), scale(2.0, arms))
    spins, reach = size_of(half_A) + size_of(half_B), size_of(r)
    far = h * (size_of(v_A) + size_of(v_B)) + spins * (reach + size_of(rho_A) + size_of(rho_B))
    along, about = 2.0 * h * largest_of(S[0]) * far, 2.0 * h * largest_of(S[2]) * spins
    about = about + along * reach
    energy = (along * size_of(dr) + about * size_of(change[1])) / h
    return greatest(along), greatest(about), greatest(energy)


@kernel
def connected_energy(connections: Connected, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are."""
    energy, numbers, kept = 0.0, connections.numbers, connections.end
    for group in range(numbers.shape[0]):
        energy += _keep(numbers, kept, state, group, connections.places)
    return energy


@arithmetic
def _keep(numbers: Array, kept: Array, state: Array, group: int, places: Array) -> float:
    """Keep where the connections of a group are; return their energy."""
    rows = _rows(group)
    motions = (_motion(state, places_of(places, rows, at)) for at in (FIRST, SECOND))
    A, B, _, _, r = _ends(numbers, group, *motions)
    x, turn, w = forms_of(A, B, r)
    t = scale(0.5 / w, turn)
    (u, v), (u0, v0) = placed(t, turn, x), six_of(numbers, group, REST)
    strain = u, v = sub(u, u0), sub(v, v0)
    put_beside(kept, group, 0, (*x, *t, *u, *v, w))
    return total(0.5 * dot_six(times_six(_stiffness(numbers, group), strain), strain))


@kernel
def go_on(connections: Connected) -> None:
    """Go on from where connections are after the step."""
    start, end = connections.start, connections.end
    for group in range(start.shape[0]):
        for i in range(ABREAST * COORDINATES):
            k = ABREAST * STRAIN + i
            start[group, ABREAST * LAST + i] = 0.5 * (start[group, k] + end[group, k])
        for i in range(ABREAST * LAST):
            start[group, i] = end[group, i]


def room_for(count: int) -> Real:
    """Return room for what is kept of connections at both ends of a step, in groups."""
    kept = np.zeros((2, -(-count // ABREAST), ABREAST * (LAST + COORDINATES)))
    kept[:, :, ABREAST * COSINE : ABREAST * LAST] = 1.0
    return kept


def of_group(kept: Real, k: int) -> Real:
    """Return what is kept of a connection, as a view; (2, columns)."""
    return kept[:, k // ABREAST, k % ABREAST :: ABREAST]


class Connections(Family):
    """Frames of bodies that pull and resist each other in all directions."""

    Table: ClassVar = Connected
    kernels: ClassVar = Kernels(connect, connect, energy=connected_energy, accept=go_on)
    costly: ClassVar = True

    def __init__(self, assembly: Assembly) -> None:
        elastic = {p.connection: p for p in assembly.potentials if isinstance(p, ElasticConnection)}
        viscous = {
            d.direction.connection: d.law.D
            for d in assembly.dampers
            if isinstance(d.direction, RelativeMotion) and isinstance(d.law, LinearResistance)
        }
        self.found = [*elastic, *(each for each in viscous if each not in elastic)]
        nothing, at_ease = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES)
        self.rest = [elastic[c].rest if c in elastic else at_ease for c in self.found]
        self.stiffness = [elastic[c].stiffness if c in elastic else nothing for c in self.found]
        self.damping = [viscous.get(c, nothing) for c in self.found]
        self.ends = np.array([c.ends for c in self.found], dtype=np.intp).reshape(-1, 2)
        self.kept = room_for(len(self.found))

    def __len__(self) -> int:
        """Return their number."""
        return len(self.found)

    @property
    def moved(self) -> Indices:
        """Their bodies."""
        return np.asarray(self.ends[self.ends != GROUND])

    def meet(self, graph: Graph) -> None:
        """Join both bodies with each other."""
        graph.meet(*(graph.of_bodies(bodies) for bodies in self.ends.T))

    def table(self, graph: Graph, tiles: Tiles) -> Connected:
        """Return connections, and room for where they are."""
        numbers = [
            np.concatenate(
                [
                    *(np.append(X, U.T) for X, U in zip(c.points, c.axes, strict=True)),
                    *(
                        np.concatenate([M[:3, :3], M[:3, 3:], M[3:, 3:]]).reshape(-1)
                        for M in (S, D)
                    ),
                    rest,
                ]
            )
            for c, S, D, rest in zip(
                self.found, self.stiffness, self.damping, self.rest, strict=True
            )
        ]
        spare = ABREAST * self.kept.shape[1] - len(self)
        nothing = np.zeros(REST + COORDINATES)
        nothing[[AXES_A, AXES_A + 4, AXES_A + 8, AXES_B, AXES_B + 4, AXES_B + 8]] = 1.0
        numbers += spare * [nothing]
        ends = np.vstack([self.ends, np.full((spare, 2), GROUND)])
        pairs = tiles.table(graph.pair(ends), graph.pair(ends, moving=True))
        offset = [bool(c.points.any()) for c in self.found] + spare * [False]
        damped = [bool(D.any()) for D in self.damping] + spare * [False]
        places = index(graph.ends(ends), offset, damped, pairs)
        return Connected(in_groups(np.reshape(numbers, (-1, nothing.size))), places, *self.kept)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        for k, (c, rest) in enumerate(zip(self.found, self.rest, strict=True)):
            s = c.forms(local(q, c.bodies))
            at = Placed.at(s)
            strain = coordinates(s) - rest
            of_group(self.kept, k)[:] = [*at.x, *at.t, *strain, at.w, *strain]
