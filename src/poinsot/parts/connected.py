"""Connections of frames in the compiled engine: their kernels, and the family of all of them."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates
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
)
from poinsot.kernels.cayley import cayley, lever, turned
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.relative import (
    Middle,
    add_blocks,
    blocks,
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
    axpy_rows,
    minus_rows,
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
            turns, levers = (rows, whole), (rho_A, rho_B)
            stiff = stiffness(mean, S, f[0], (A, B), r, levers, turns)
            n, m, mu = tensions(mean, f)
            _tiles(at, step, tiles, stiff, (A, B), r, levers, (scale(h, n), scale(h, m), h * mu))
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
    stiff: tuple[Rows, Rows, Rows, Rows, Rows, Rows],
    axes: tuple[Mat, Mat],
    r: Vec,
    arms: tuple[Vec, Vec],
    tension: tuple[Vec, Vec, float],
) -> None:
    """Add to tiles, with the stiffness at the midpoint; the tension is times h.

    Over a step chi changes by G(q_m) h v: as the midpoint turns with w, and moves with v. The first
    of these cancels in P w; by the second, what v changes is seen from the end of the step.
    """
    h, half_A, half_B = step.h, half_turn(step.stage, at[FIRST]), half_turn(step.stage, at[SECOND])
    F_v, F_A, F_B, A_A, A_B, B_B = stiff
    square, ahead = h * h, scale(0.5, add(half_A, half_B))
    A_v, B_v = _ahead(ahead, transposed(as_matrix(F_A))), _ahead(ahead, transposed(as_matrix(F_B)))
    B_A = rows_of(transposed(as_matrix(A_B)))
    F_v = rows_of(times(square, _ahead(ahead, as_matrix(F_v))))
    # With the directors at the midpoint, tensions being what they are.
    (A, B), (rho_A, rho_B), (n, m, mu) = axes, arms, tension
    half, g_A, g_B = 0.5 * h, scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    by_A = rows_of(times(-half, lever(half_A, g_A)))
    by_B = rows_of(times(-half, lever(half_B, g_B)))
    N = plus(times(0.25 * mu, UNIT), times(0.5, skew(m)))
    K = times(half, multiply(transposed(A), multiply(N, B)))
    q_A = rows_of(turned(cayley(half_A), K))
    q_B = rows_of(turned(cayley(half_B), transposed(K)))
    A_v = plus(times(square, A_v), skew(scale(half, g_A)))
    B_v = plus(times(square, B_v), skew(scale(half, g_B)))
    A_A = axpy_rows(square, A_A, minus_rows(q_A, skew_rows(r, by_A)))
    A_B = axpy_rows(square, A_B, scale_rows(-1.0, q_B))
    B_A = axpy_rows(square, B_A, scale_rows(-1.0, q_A))
    B_B = axpy_rows(square, B_B, minus_rows(q_B, skew_rows(r, by_B)))
    if at[OFFSET]:
        # Points turn about the centres of their bodies.
        P_A = rows_of(times(-half, lever(half_A, rho_A)))
        P_B = rows_of(times(-half, lever(half_B, rho_B)))
        A_A = plus_rows(minus_rows(A_A, skew_rows(rho_A, by_A)), skew_rows(g_B, P_A))
        A_B = plus_rows(minus_rows(A_B, skew_rows(rho_A, by_B)), skew_rows(g_A, P_B))
        B_A = minus_rows(plus_rows(B_A, skew_rows(rho_B, by_A)), skew_rows(g_B, P_A))
        B_B = minus_rows(plus_rows(B_B, skew_rows(rho_B, by_B)), skew_rows(g_A, P_B))
    F_A, F_B = axpy_rows(square, F_A, by_A), axpy_rows(square, F_B, by_B)
    gather_blocks(
        tiles,
        at[PAIR:],
        (as_matrix(F_v), as_matrix(F_A), as_matrix(F_B)),
        (A_v, as_matrix(A_A), as_matrix(A_B)),
        (B_v, as_matrix(B_A), as_matrix(B_B)),
    )


@arithmetic
def _ahead(half: Vec, A: Mat) -> Mat:
    """Return vectors of a body, given at the midpoint, at the end."""
    return add(A[0], cross(half, A[0])), add(A[1], cross(half, A[1])), add(A[2], cross(half, A[2]))


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
