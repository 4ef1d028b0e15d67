"""Connections of frames in the compiled engine: their kernels, and the family of all of them."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
from poinsot.kernels.algebra import (
    Array,
    Four,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    combine,
    cross,
    dot,
    largest,
    matrix,
    multiply,
    plus,
    put,
    scale,
    size,
    skew,
    sub,
    times,
    transposed,
    vector,
    wide,
)
from poinsot.kernels.cayley import cayley, lever, turn_back, turned
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import (
    Middle,
    Slope,
    add_blocks,
    blocks,
    changed,
    dot_six,
    forms_of,
    placed,
    scale_blocks,
    slopes,
    slopes_along,
    tension_of_turn,
    tensions,
    times_six,
    twisted,
)
from poinsot.kernels.step import Step, look_inside, measure, push
from poinsot.kernels.tables import (
    DIRECTORS,
    LOST_POWER,
    Index2,
    Real2,
    frame,
    half_turn,
    twist,
)
from poinsot.kernels.terms import UNIT, gather_blocks
from poinsot.kernels.wide import (
    Rows,
    as_matrix,
    minus_rows,
    multiply_rows,
    outer_rows,
    plus_rows,
    rows_of,
    scale_rows,
    skew_rows,
)
from poinsot.parts.connections import ElasticConnection, LinearResistance, RelativeMotion
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, real
from poinsot.ph.matrices import Vector

#: Columns of numbers: point and axes (as rows) on A and on B; S and D by blocks; chi at rest. Of
#: places: bodies A and B, whether points are off the centres, whether it is damped, and tiles of
#: (T_A, R_A, T_B, R_B) with each other.
POINT_A, AXES_A, POINT_B, AXES_B, STIFFNESS, DAMPING, REST = 0, 3, 12, 15, 24, 51, 78
FIRST, SECOND, OFFSET, DAMPED, PAIR = range(5)
#: Columns of what is kept of a state: x, t, chi - rest, w; of the start of a step also the mean of
#: chi - rest over the last one.
X, TURN, STRAIN, COSINE, LAST = 0, 3, 6, 12, 13


class Connected(NamedTuple):
    """Connections; what is kept of the start of a step, and of its end, has a row for each."""

    numbers: Real2
    places: Index2
    start: Real2
    end: Real2


@kernel
def connect(connections: Connected, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; adds up the power lost."""
    h, stage, numbers, kept = step.h, step.stage, connections.numbers, connections.start
    for k in range(connections.places.shape[0]):
        at = connections.places[k]
        first, second = at[FIRST], at[SECOND]
        half_A, half_B = half_turn(stage, first), half_turn(stage, second)
        (r_A, D_A), (r_B, D_B) = frame(stage, first), frame(stage, second)
        (v_A, _), (v_B, _) = twist(stage, first), twist(stage, second)
        X_A, X_B = vector(numbers, k, POINT_A), vector(numbers, k, POINT_B)
        U_A, U_B = matrix(numbers, k, AXES_A), matrix(numbers, k, AXES_B)
        A, B = multiply(U_A, D_A), multiply(U_B, D_B)
        rho_A, rho_B = combine(X_A, D_A), combine(X_B, D_B)
        r = sub(add(r_B, rho_B), add(r_A, rho_A))
        # Changes over the step: of r, of the forms, of t.
        arms = sub(cross(half_B, rho_B), cross(half_A, rho_A))
        dr, apart = axpy(h, sub(v_B, v_A), scale(2.0, arms)), sub(half_A, half_B)
        rows, whole = twisted(A, B)
        by_A = apply(A, axpy(0.5, dr, cross(r, half_A)))
        dx = add(by_A, apply(B, axpy(0.5, dr, cross(r, half_B))))
        dturn, dw = apply(rows, apart), 0.5 * dot(whole, apart)
        x0, t0, w0 = vector(kept, k, X), vector(kept, k, TURN), kept[k, COSINE]
        w1 = w0 + dw
        dt = scale(0.5 / w1, axpy(-2.0 * dw, t0, dturn))
        x1, t1 = add(x0, dx), add(t0, dt)
        c0, c1 = cross(t0, x0), cross(t1, x1)
        mean = Middle(axpy(0.5, dx, x0), axpy(0.5, dt, t0), w0 + 0.5 * dw, scale(0.5, add(c0, c1)))
        du, dv = changed(mean, dx, dturn, dt)
        u0, v0 = vector(kept, k, STRAIN), vector(kept, k, STRAIN + 3)
        S = blocks(numbers, k, STIFFNESS)
        n, m, mu = tensions(mean, times_six(S, (axpy(0.5, du, u0), axpy(0.5, dv, v0))))
        if at[DAMPED]:
            x, turn, w = forms_of(A, B, r)
            t = scale(0.5 / w, turn)
            middle, dt = Middle(x, t, w, cross(t, x)), scale(0.5 / w, axpy(-2.0 * dw, t, dturn))
            du, dv = changed(middle, dx, dturn, dt)
            rate = scale(1.0 / h, du), scale(1.0 / h, dv)
            f = times_six(blocks(numbers, k, DAMPING), rate)
            n_D, m_D, mu_D = tensions(middle, f)
            n, m, mu = add(n, n_D), add(m, m_D), mu + mu_D
            step.sizes[LOST_POWER] += dot_six(f, rate)
        # Of the force on B, the half that comes by the axes of A, and that by those of B.
        n, m, mu = scale(h, n), scale(h, m), h * mu
        g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
        F, q = add(g_A, g_B), _turning(m, mu, rows, whole)
        torque_A = add(sub(cross(g_A, r), cross(rho_A, F)), q)
        torque_B = sub(add(cross(g_B, r), cross(rho_B, F)), q)
        if step.arms_at != DIRECTORS:
            L_A, L_B = matrix(stage, first, step.arms_at), matrix(stage, second, step.arms_at)
            A_arm, B_arm = multiply(U_A, L_A), multiply(U_B, L_B)
            rows_A, whole_A = twisted(A_arm, B)
            rows_B, whole_B = twisted(A, B_arm)
            torque_A = sub(_along(n, A_arm, r), cross(combine(X_A, L_A), F))
            torque_A = add(torque_A, _turning(m, mu, rows_A, whole_A))
            torque_B = add(_along(n, B_arm, r), cross(combine(X_B, L_B), F))
            torque_B = sub(torque_B, _turning(m, mu, rows_B, whole_B))
        push(step, first, scale(-1.0, F), torque_A)
        push(step, second, F, torque_B)
        measure(step, size(F), max(size(torque_A), size(torque_B)))
        if tiles is not None:
            # Where stiff directions meet soft ones, forces of a guess are far off. In the matrix
            # they are therefore those of the step before, as if they were unknowns themselves.
            f = times_six(S, (vector(kept, k, LAST), vector(kept, k, LAST + 3)))
            S = scale_blocks(0.5, S)
            if at[DAMPED]:
                S = add_blocks(S, scale_blocks(1.0 / h, blocks(numbers, k, DAMPING)))
            tau, u = tension_of_turn(mean, f)
            slope = Slope(mean, Middle(x1, t1, w1, c1), S, f, tau, u)
            n, m, mu = tensions(mean, f)
            n, m, mu = scale(h, n), scale(h, m), h * mu
            _tiles(at, step, tiles, slope, (A, B), (r, dr), (rho_A, rho_B), (n, m, mu))
            # What forces are before they cancel, as velocities are rounded: start and strains are
            # what they are.
            spins = size(half_A) + size(half_B)
            far = h * (size(v_A) + size(v_B)) + spins * (size(r) + size(rho_A) + size(rho_B))
            along, about = 2.0 * h * largest(S[0]) * far, 2.0 * h * largest(S[2]) * spins
            about = about + along * size(r)
            look_inside(step, along, about, (along * size(dr) + about * size(dturn)) / h)


@arithmetic
def _along(n: Vec, axes: Mat, r: Vec) -> Vec:
    """Return the torque of tensions along r."""
    return cross(scale(0.5, combine(n, axes)), r)


@arithmetic
def _turning(m: Vec, mu: float, rows: Mat, whole: Vec) -> Vec:
    """Return the torque of tensions of turns."""
    return axpy(0.25 * mu, whole, scale(0.5, combine(m, rows)))


@inline
def _tiles(
    at: Array,
    step: Step,
    tiles: Array,
    slope: Slope,
    axes: tuple[Mat, Mat],
    reach: tuple[Vec, Vec],
    arms: tuple[Vec, Vec],
    tension: tuple[Vec, Vec, float],
) -> None:
    """Add to tiles; the tension is times h."""
    h, half_A, half_B = step.h, half_turn(step.stage, at[FIRST]), half_turn(step.stage, at[SECOND])
    (A, B), (r, dr), (rho_A, rho_B), (n, m, mu) = axes, reach, arms, tension
    # With the forms at the end: how they change with v_B - v_A, w_A and w_B, over h.
    A1, B1, r1 = _ahead(half_A, A), _ahead(half_B, B), axpy(0.5, dr, r)
    E1, turns = times(0.5, plus(A1, B1)), twisted(A, B)
    x_A = _reached(half_A, A, r1, scale(-1.0, rho_A), E1)
    x_B = _reached(half_B, B, r1, rho_B, E1)
    by_v = slopes_along(slope, rows_of(E1))
    by_A = slopes(slope, x_A, *_turned_by(0.5, twisted(A, _back(half_A, B1))))
    by_B = slopes(slope, x_B, *_turned_by(-0.5, twisted(_back(half_B, A1), B)))
    F_v, a_v, b_v, q_v = _on_bodies(h, A, B, turns, by_v)
    F_A, a_A, b_A, q_A = _on_bodies(h, A, B, turns, by_A)
    F_B, a_B, b_B, q_B = _on_bodies(h, A, B, turns, by_B)
    # With the directors at the midpoint.
    g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    half = 0.5 * h
    g_by_A = rows_of(times(-half, lever(half_A, g_A)))
    g_by_B = rows_of(times(-half, lever(half_B, g_B)))
    N = plus(times(0.25 * mu, UNIT), times(0.5, skew(m)))
    K = times(half, multiply(transposed(A), multiply(N, B)))
    F_A, a_A = plus_rows(F_A, g_by_A), plus_rows(a_A, g_by_A)
    F_B, b_B = plus_rows(F_B, g_by_B), plus_rows(b_B, g_by_B)
    q_A = plus_rows(q_A, rows_of(turned(cayley(half_A), K)))
    q_B = minus_rows(q_B, rows_of(turned(cayley(half_B), transposed(K))))
    A_v = plus_rows(minus_rows(q_v, skew_rows(r, a_v)), rows_of(skew(scale(half, g_A))))
    B_v = minus_rows(rows_of(skew(scale(half, g_B))), plus_rows(q_v, skew_rows(r, b_v)))
    A_A, A_B = minus_rows(q_A, skew_rows(r, a_A)), minus_rows(q_B, skew_rows(r, a_B))
    B_A = scale_rows(-1.0, plus_rows(q_A, skew_rows(r, b_A)))
    B_B = scale_rows(-1.0, plus_rows(q_B, skew_rows(r, b_B)))
    if at[OFFSET]:
        # Points turn about the centres of their bodies.
        P_A = rows_of(times(-half, lever(half_A, rho_A)))
        P_B = rows_of(times(-half, lever(half_B, rho_B)))
        A_v, B_v = minus_rows(A_v, skew_rows(rho_A, F_v)), plus_rows(B_v, skew_rows(rho_B, F_v))
        A_A = plus_rows(minus_rows(A_A, skew_rows(rho_A, F_A)), skew_rows(g_B, P_A))
        A_B = plus_rows(minus_rows(A_B, skew_rows(rho_A, F_B)), skew_rows(g_A, P_B))
        B_A = minus_rows(plus_rows(B_A, skew_rows(rho_B, F_A)), skew_rows(g_B, P_A))
        B_B = minus_rows(plus_rows(B_B, skew_rows(rho_B, F_B)), skew_rows(g_A, P_B))
    gather_blocks(
        tiles,
        at[PAIR:],
        (as_matrix(F_v), as_matrix(F_A), as_matrix(F_B)),
        (as_matrix(A_v), as_matrix(A_A), as_matrix(A_B)),
        (as_matrix(B_v), as_matrix(B_A), as_matrix(B_B)),
    )


@arithmetic
def _ahead(half: Vec, A: Mat) -> Mat:
    """Return vectors of a body, given at the midpoint, at the end."""
    return add(A[0], cross(half, A[0])), add(A[1], cross(half, A[1])), add(A[2], cross(half, A[2]))


@arithmetic
def _back(half: Vec, A: Mat) -> Mat:
    """Return C^T times every row."""
    return turn_back(half, A[0]), turn_back(half, A[1]), turn_back(half, A[2])


@arithmetic
def _reached(half: Vec, axes: Mat, r1: Vec, rho: Vec, E1: Mat) -> Rows:
    """Return what turns of a body change x at the end by, with the axes and with the point."""
    r_back, E_back = scale(0.5, turn_back(half, r1)), _back(half, E1)
    return (
        wide(add(cross(axes[0], r_back), cross(rho, E_back[0]))),
        wide(add(cross(axes[1], r_back), cross(rho, E_back[1]))),
        wide(add(cross(axes[2], r_back), cross(rho, E_back[2]))),
    )


@arithmetic
def _turned_by(s: float, turns: tuple[Mat, Vec]) -> tuple[Rows, Four]:
    """Return what turns change a^x and w by."""
    return rows_of(times(s, turns[0])), wide(scale(0.5 * s, turns[1]))


@arithmetic
def _on_bodies(
    h: float, A: Mat, B: Mat, turns: tuple[Mat, Vec], tension: tuple[Rows, Rows, Four]
) -> tuple[Rows, Rows, Rows, Rows]:
    """Return how the force, its halves and the torque of turns change with tensions."""
    (rows, whole), (n, m, mu), half = turns, tension, 0.5 * h * h
    n, m = scale_rows(half, n), scale_rows(half, m)
    g_A, g_B = multiply_rows(transposed(A), n), multiply_rows(transposed(B), n)
    q = plus_rows(multiply_rows(transposed(rows), m), outer_rows(scale(0.5 * half, whole), mu))
    return plus_rows(g_A, g_B), g_A, g_B, q


@kernel
def connected_energy(connections: Connected, state: Array, step: Step) -> float:
    """Return the energy of all [J]; keep where they are."""
    total, numbers, kept = 0.0, connections.numbers, connections.end
    for k in range(numbers.shape[0]):
        at = connections.places[k]
        (r_A, D_A), (r_B, D_B) = frame(state, at[FIRST]), frame(state, at[SECOND])
        A = multiply(matrix(numbers, k, AXES_A), D_A)
        B = multiply(matrix(numbers, k, AXES_B), D_B)
        rho_A = combine(vector(numbers, k, POINT_A), D_A)
        rho_B = combine(vector(numbers, k, POINT_B), D_B)
        x, turn, w = forms_of(A, B, sub(add(r_B, rho_B), add(r_A, rho_A)))
        t = scale(0.5 / w, turn)
        u, v = placed(t, turn, x)
        u, v = sub(u, vector(numbers, k, REST)), sub(v, vector(numbers, k, REST + 3))
        put(kept, k, X, x)
        put(kept, k, TURN, t)
        put(kept, k, STRAIN, u)
        put(kept, k, STRAIN + 3, v)
        kept[k, COSINE] = w
        strain = u, v
        total += 0.5 * dot_six(times_six(blocks(numbers, k, STIFFNESS), strain), strain)
    return total


@kernel
def go_on(connections: Connected) -> None:
    """Go on from where connections are after the step."""
    start, end = connections.start, connections.end
    for k in range(start.shape[0]):
        for i in range(6):
            start[k, LAST + i] = 0.5 * (start[k, STRAIN + i] + end[k, STRAIN + i])
        for i in range(LAST):
            start[k, i] = end[k, i]


class Connections(Family):
    """Frames of bodies that pull and resist each other in all directions."""

    Table: ClassVar = Connected
    kernels: ClassVar = Kernels(connect, connect, energy=connected_energy, accept=go_on)

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
        self.kept = np.zeros((2, len(self.found), LAST + COORDINATES))

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
        pairs = tiles.table(graph.pair(self.ends), graph.pair(self.ends, moving=True))
        offset = [bool(c.points.any()) for c in self.found]
        damped = [bool(D.any()) for D in self.damping]
        places = index(graph.ends(self.ends), offset, damped, pairs)
        columns = REST + COORDINATES
        return Connected(real(np.reshape(numbers, (-1, columns))), places, *self.kept)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with where connections are at q."""
        for k, (c, rest) in enumerate(zip(self.found, self.rest, strict=True)):
            s = c.forms(local(q, c.bodies))
            at = Placed.at(s)
            strain = coordinates(s) - rest
            self.kept[:, k] = [*at.x, *at.t, *strain, at.w, *strain]
