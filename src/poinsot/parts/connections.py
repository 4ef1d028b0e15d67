r"""Connections: two frames that pull and resist each other in all six directions.

The six coordinates chi of `frames.relative`, three displacements and three rotations, have the
energy of a quadratic law and resist their rates,

.. math:: V = \tfrac12 (\chi - \chi_0) \cdot S\, (\chi - \chi_0), \qquad f = D\, \dot\chi .

chi is a function of quadratic forms s of both frames. Over a step its differences are those of s
by a secant B, and s has none but :math:`G(q_m)\,\Delta q`; so the discrete gradient
:math:`G(q_m)^\top B^\top S (\bar\chi - \chi_0)` keeps the energy exactly, and both momenta, which
G(q_m) does not see. Bushings (`bushings`) and elements of
rods (`rods`) are such connections.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground
from poinsot.frames.directions import Direction
from poinsot.frames.forms import GROUND
from poinsot.frames.places import local
from poinsot.frames.relative import COORDINATES, Placed, coordinates, relative_forms
from poinsot.frames.stacks import Forms, stack
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
    matrix,
    minus,
    multiply,
    outer,
    plus,
    put,
    scale,
    size,
    skew,
    skew_times,
    sub,
    times,
    transposed,
    vector,
)
from poinsot.kernels.cayley import cayley, lever, turn_back, turned
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, look_inside, measure, push
from poinsot.kernels.tables import DIRECTORS, LOST_POWER, Index2, Real2, frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT, ZERO, gather_blocks
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, real
from poinsot.parts.forces import Placed as Acting
from poinsot.parts.potentials import Potential
from poinsot.parts.resistance import Damper, Resistance
from poinsot.ph.matrices import Vector, dense

Real = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Connection:
    """A frame on A and one on B: points, and axes as columns, in director axes [m].

    `ends` are the indices of both; `forms` are on the frames of `bodies`, those of both that move.
    """

    ends: tuple[int, int]
    points: Real
    axes: Real
    bodies: tuple[int, ...]
    forms: Forms

    @classmethod
    def of(
        cls, ends: Sequence[Body | Ground], points: Sequence[ArrayLike], axes: Sequence[Real]
    ) -> "Connection":
        """Connect points of bodies and axes there, given in world axes at the start."""
        bodies = tuple(end.index for end in ends if isinstance(end, Body))
        at = [end.on(point) for end, point in zip(ends, points, strict=True)]
        along = [
            tuple(end.along(axis).among(bodies) for axis in R.T)
            for end, R in zip(ends, axes, strict=True)
        ]
        forms = relative_forms((at[1] - at[0]).among(bodies), *along)
        local = [_in_directors(*each) for each in zip(ends, points, axes, strict=True)]
        return cls(
            (ends[0].index, ends[1].index),
            np.array([point for point, _ in local]),
            np.array([R for _, R in local]),
            bodies,
            stack(forms, len(bodies)),
        )

    def at(self, q: Vector) -> tuple[Vector, Real]:
        """Return the forms at q, and their Jacobian."""
        return self.forms(q), dense(self.forms.G(q))


def _in_directors(end: Body | Ground, point: ArrayLike, axes: Real) -> tuple[Real, Real]:
    """Return a point and axes of a body in director axes; of the ground they are as they are."""
    world = np.asarray(point, dtype=float)
    if isinstance(end, Ground):
        return world, axes
    return end.local_point(world), np.column_stack([end.local_direction(axis) for axis in axes.T])


@dataclass(frozen=True, eq=False)
class ElasticConnection(Potential):
    """V = (chi - rest)·S (chi - rest) / 2 of a connection; S is its `stiffness` (6, 6)."""

    connection: Connection
    stiffness: Real
    rest: Vector

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        strain = coordinates(self.forms(q)) - self.rest
        return float(strain @ self.stiffness @ strain) / 2

    def force(self, chi: Vector) -> Vector:
        """Return dV/dchi [N, N m]."""
        return np.asarray(self.stiffness @ (chi - self.rest))

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq."""
        s, G = self.connection.at(q)
        return np.asarray(G.T @ (Placed.at(s).slope.T @ self.force(coordinates(s))))

    def hessian(self, q: Vector) -> Real:
        """Return d^2V/dq^2."""
        s, G = self.connection.at(q)
        at, f = Placed.at(s), self.force(coordinates(s))
        slope = at.slope
        inner = slope.T @ self.stiffness @ slope + at.bend(f, at, 1.0)
        return np.asarray(G.T @ inner @ G + dense(self.forms.curvature(slope.T @ f)))

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, Real]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        s0, (s1, G1), G = (
            self.forms(q0),
            self.connection.at(q1),
            self.connection.at((q0 + q1) / 2)[1],
        )
        end = Placed.at(s1)
        mean = Placed.at(s0).mean(end)
        B = mean.slope
        f = self.force(coordinates(s0) + B @ (G @ (q1 - q0)) / 2)
        inner = B.T @ self.stiffness @ end.slope / 2 + mean.bend(f, end, 0.5)
        tangent = G.T @ inner @ G1 + dense(self.forms.curvature(B.T @ f)) / 2
        return G.T @ (B.T @ f), np.asarray(tangent)


@dataclass(frozen=True, eq=False)
class RelativeMotion(Direction):
    """Along the six coordinates of a connection: B = G^T (dchi/ds)^T."""

    connection: Connection

    def B(self, q: Vector) -> Real:
        """Return the gradients of chi as columns."""
        s, G = self.connection.at(q)
        return np.asarray(G.T @ Placed.at(s).slope.T)

    def dB(self, q: Vector, u: Vector) -> Real:
        """Return the Hessian of u·chi."""
        s, G = self.connection.at(q)
        at = Placed.at(s)
        curvature = dense(self.connection.forms.curvature(at.slope.T @ u))
        return np.asarray(curvature + G.T @ at.bend(u, at, 1.0) @ G)

    def dy(self, q: Vector, v: Vector) -> Real:
        """Return the Hessians of chi times v."""
        return np.array([self.dB(q, unit) @ v for unit in np.eye(COORDINATES)])


@dataclass(frozen=True, eq=False)
class LinearResistance(Resistance):
    """f(y) = D y with a matrix D that is symmetric and positive semidefinite."""

    D: Real

    def __call__(self, y: Vector) -> Vector:
        """Return f(y)."""
        return np.asarray(self.D @ y)

    def slope(self, y: Vector) -> Real:
        """Return D."""
        return self.D


def connected(
    name: str, connection: Connection, stiffness: Real | None, rest: Vector, damping: Real | None
) -> Acting:
    """Return the potential and the damper of a connection, if it has them."""
    potentials: list[Potential] = []
    if stiffness is not None:
        at = connection.bodies, connection.forms, connection
        potentials.append(ElasticConnection(name, *at, stiffness, rest))
    if damping is None:
        return potentials, []
    along = RelativeMotion(connection.bodies, connection)
    return potentials, [Damper(name, along, LinearResistance(damping))]


# -- in the compiled engine ------------------------------------------------------------------------

#: Columns of numbers: point and axes (as rows) on A and on B; S and D by blocks (of displacements
#: with themselves and with rotations, of rotations with themselves), chi at rest. Of places: bodies
#: A and B, whether points are off the centres, whether it is damped, and tiles of
#: (T_A, R_A, T_B, R_B) with each other.
POINT_A, AXES_A, POINT_B, AXES_B, STIFFNESS, DAMPING, REST = 0, 3, 12, 15, 24, 51, 78
FIRST, SECOND, OFFSET, DAMPED, PAIR = range(5)
#: Columns of what is kept of the start of a step: x, t, chi - rest, w.
X, TURN, STRAIN, COSINE = 0, 3, 6, 12

#: A symmetric matrix (6, 6) by blocks: upper left, upper right, lower right.
Blocks: TypeAlias = tuple[Mat, Mat, Mat]
#: Displacements and rotations, or forces and torques.
Six: TypeAlias = tuple[Vec, Vec]


class Connected(NamedTuple):
    """Connections; what is kept of the start of a step, and of its end, has a row for each."""

    numbers: Real2
    places: Index2
    start: Real2
    end: Real2


class Middle(NamedTuple):
    """Where a connection is: x, t, w and c = t x x, at a place or as means over a step."""

    x: Vec
    t: Vec
    w: float
    c: Vec


@arithmetic
def _blocks(numbers: Array, k: int, at: int) -> Blocks:
    return matrix(numbers, k, at), matrix(numbers, k, at + 9), matrix(numbers, k, at + 18)


@arithmetic
def _times(S: Blocks, chi: Six) -> Six:
    """Return S chi."""
    (u, r), (uu, ur, rr) = chi, S
    return add(apply(uu, u), apply(ur, r)), add(combine(u, ur), apply(rr, r))


@arithmetic
def _power(f: Six, y: Six) -> float:
    return dot(f[0], y[0]) + dot(f[1], y[1])


@arithmetic
def _twisted(A: Mat, B: Mat) -> tuple[Mat, Vec]:
    """Return what turns of A change twice the skew forms by, as rows, and four times w."""
    return (
        (
            sub(cross(A[2], B[1]), cross(A[1], B[2])),
            sub(cross(A[0], B[2]), cross(A[2], B[0])),
            sub(cross(A[1], B[0]), cross(A[0], B[1])),
        ),
        add(add(cross(A[0], B[0]), cross(A[1], B[1])), cross(A[2], B[2])),
    )


@arithmetic
def _place(A: Mat, B: Mat, r: Vec) -> tuple[Vec, Vec, float]:
    """Return the forms: x, those of the turn, and w."""
    x = scale(0.5, apply(plus(A, B), r))
    turn = (
        0.5 * (dot(A[2], B[1]) - dot(A[1], B[2])),
        0.5 * (dot(A[0], B[2]) - dot(A[2], B[0])),
        0.5 * (dot(A[1], B[0]) - dot(A[0], B[1])),
    )
    return x, turn, 0.25 * (1.0 + dot(A[0], B[0]) + dot(A[1], B[1]) + dot(A[2], B[2]))


@arithmetic
def _changed(at: Middle, dx: Vec, dturn: Vec, dt: Vec) -> Six:
    """Return the change of chi with those of the forms and of t."""
    dc = add(cross(at.t, dx), cross(dt, at.x))
    dy = add(cross(at.t, dc), cross(dt, at.c))
    return axpy(-2.0 / 3.0, dy, dx), scale(1.0 / 3.0, axpy(4.0, dt, dturn))


@arithmetic
def _tensions(at: Middle, f: Six) -> tuple[Vec, Vec, float, Vec, Vec]:
    """Return the tensions of the forms, that of t among them, and N x t."""
    N, M = f
    u = cross(N, at.t)
    on_t = sub(scale(4.0 / 3.0, M), scale(2.0 / 3.0, add(cross(at.c, N), cross(at.x, u))))
    n = axpy(-2.0 / 3.0, cross(u, at.t), N)
    m = axpy(0.5 / at.w, on_t, scale(1.0 / 3.0, M))
    return n, m, -dot(at.t, on_t) / at.w, on_t, u


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
        r, E = sub(add(r_B, rho_B), add(r_A, rho_A)), times(0.5, plus(A, B))
        # Changes over the step: of r, and of the forms by both turns.
        lever_arms = sub(cross(half_B, rho_B), cross(half_A, rho_A))
        dr, apart = axpy(h, sub(v_B, v_A), scale(2.0, lever_arms)), sub(half_A, half_B)
        rows, whole = _twisted(A, B)
        r_x_A, r_x_B = cross(r, half_A), cross(r, half_B)
        dx = add(apply(E, dr), add(apply(A, r_x_A), apply(B, r_x_B)))
        dturn, dw = apply(rows, apart), 0.5 * dot(whole, apart)
        x0, t0, w0 = vector(kept, k, X), vector(kept, k, TURN), kept[k, COSINE]
        w1 = w0 + dw
        dt = scale(0.5 / w1, axpy(-2.0 * dw, t0, dturn))
        x1, t1 = add(x0, dx), add(t0, dt)
        c0, c1 = cross(t0, x0), cross(t1, x1)
        mean = Middle(axpy(0.5, dx, x0), axpy(0.5, dt, t0), w0 + 0.5 * dw, scale(0.5, add(c0, c1)))
        du, dv = _changed(mean, dx, dturn, dt)
        strain = (
            axpy(0.5, du, vector(kept, k, STRAIN)),
            axpy(0.5, dv, vector(kept, k, STRAIN + 3)),
        )
        stiffness = _blocks(numbers, k, STIFFNESS)
        f = _times(stiffness, strain)
        n, m, mu, on_t, u = _tensions(mean, f)
        if at[DAMPED]:
            damping = _blocks(numbers, k, DAMPING)
            x, turn, w = _place(A, B, r)
            t = scale(0.5 / w, turn)
            middle = Middle(x, t, w, cross(t, x))
            rate = _changed(
                middle,
                scale(1.0 / h, dx),
                scale(1.0 / h, dturn),
                scale(0.5 / (w * h), axpy(-2.0 * dw, t, dturn)),
            )
            f_D = _times(damping, rate)
            step.sizes[LOST_POWER] += _power(f_D, rate)
            n_D, m_D, mu_D, on_t_D, u_D = _tensions(middle, f_D)
            n, m, mu = add(n, n_D), add(m, m_D), mu + mu_D
            f, on_t, u = (add(f[0], f_D[0]), add(f[1], f_D[1])), add(on_t, on_t_D), add(u, u_D)
        # Of the force on B, the half that comes by the axes of A, and that by those of B.
        n, m, mu = scale(h, n), scale(h, m), h * mu
        g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
        F = add(g_A, g_B)
        q = axpy(0.25 * mu, whole, scale(0.5, combine(m, rows)))
        torque_A = add(sub(cross(g_A, r), cross(rho_A, F)), q)
        torque_B = sub(add(cross(g_B, r), cross(rho_B, F)), q)
        if step.arms_at != DIRECTORS:
            L_A, L_B = matrix(stage, first, step.arms_at), matrix(stage, second, step.arms_at)
            A_arm, B_arm = multiply(U_A, L_A), multiply(U_B, L_B)
            torque_A = _torque(combine(X_A, L_A), scale(-1.0, F), A_arm, n, r)
            torque_B = _torque(combine(X_B, L_B), F, B_arm, n, r)
            rows_A, whole_A = _twisted(A_arm, B)
            rows_B, whole_B = _twisted(A, B_arm)
            on_A = axpy(0.25 * mu, whole_A, scale(0.5, combine(m, rows_A)))
            on_B = axpy(0.25 * mu, whole_B, scale(0.5, combine(m, rows_B)))
            torque_A, torque_B = add(torque_A, on_A), sub(torque_B, on_B)
        push(step, first, scale(-1.0, F), torque_A)
        push(step, second, F, torque_B)
        measure(step, size(F), max(size(torque_A), size(torque_B)))
        if tiles is not None:
            S = stiffness
            S = times(0.5, S[0]), times(0.5, S[1]), times(0.5, S[2])
            if at[DAMPED]:
                D = _blocks(numbers, k, DAMPING)
                S = (
                    plus(S[0], times(1.0 / h, D[0])),
                    plus(S[1], times(1.0 / h, D[1])),
                    plus(S[2], times(1.0 / h, D[2])),
                )
            # What forces are before strains cancel, as positions and directors are rounded.
            lengths = size(r_A) + size(rho_A) + size(r_B) + size(rho_B)
            along = 2.0 * h * max(size(S[0][0]), size(S[0][1]), size(S[0][2]))
            about = 2.0 * h * max(size(S[2][0]), size(S[2][1]), size(S[2][2]))
            along = along * (lengths + h * (size(v_A) + size(v_B)))
            about = about + along * size(r)
            look_inside(step, along, about, (along * size(dr) + about * size(dturn)) / h)
            # The end of the step, as its turns see it.
            A1, B1 = _ahead(half_A, A), _ahead(half_B, B)
            r1, E1 = axpy(0.5, dr, r), times(0.5, plus(A1, B1))
            by_A, w_A = _twisted(A, _back(half_A, B1))
            by_B, w_B = _twisted(_back(half_B, A1), B)
            x_A = _along(h, half_A, A, r1, scale(-1.0, rho_A), E1)
            x_B = _along(h, half_B, B, r1, rho_B, E1)
            slope = Slope(mean, Middle(x1, t1, w1, c1), S, f, on_t, u)
            n_v, m_v, mu_v = _slopes(slope, h, times(h, E1), ZERO, NONE)
            n_A, m_A, mu_A = _slopes(slope, h, x_A, times(0.5 * h, by_A), scale(0.25 * h, w_A))
            n_B, m_B, mu_B = _slopes(slope, h, x_B, times(-0.5 * h, by_B), scale(-0.25 * h, w_B))
            half_h = 0.5 * h
            turned_A = times(-half_h, lever(half_A, g_A))
            turned_B = times(-half_h, lever(half_B, g_B))
            N = plus(times(0.25 * mu, UNIT), times(0.5, skew(m)))
            K = times(half_h, multiply(transposed(A), multiply(N, B)))
            q_A = turned(cayley(half_A), K)
            q_B = turned(cayley(half_B), transposed(K))
            turns = transposed(rows), whole
            F_v, a_v, b_v, q_v = _on_bodies(A, B, turns, n_v, m_v, mu_v)
            F_A, a_A, b_A, q_AA = _on_bodies(A, B, turns, n_A, m_A, mu_A)
            F_B, a_B, b_B, q_BB = _on_bodies(A, B, turns, n_B, m_B, mu_B)
            F_A, a_A, q_A = plus(F_A, turned_A), plus(a_A, turned_A), plus(q_AA, q_A)
            F_B, b_B, q_B = plus(F_B, turned_B), plus(b_B, turned_B), minus(q_BB, q_B)
            A_v = plus(minus(q_v, skew_times(r, a_v)), skew(scale(half_h, g_A)))
            B_v = minus(skew(scale(half_h, g_B)), plus(q_v, skew_times(r, b_v)))
            A_A, A_B = minus(q_A, skew_times(r, a_A)), minus(q_B, skew_times(r, a_B))
            B_A = times(-1.0, plus(q_A, skew_times(r, b_A)))
            B_B = times(-1.0, plus(q_B, skew_times(r, b_B)))
            if at[OFFSET]:
                # Points turn about the centres of their bodies.
                P_A = times(-half_h, lever(half_A, rho_A))
                P_B = times(-half_h, lever(half_B, rho_B))
                A_v = minus(A_v, skew_times(rho_A, F_v))
                A_A = minus(A_A, plus(skew_times(rho_A, F_A), skew_times(sub(g_A, F), P_A)))
                A_B = plus(minus(A_B, skew_times(rho_A, F_B)), skew_times(g_A, P_B))
                B_v = plus(B_v, skew_times(rho_B, F_v))
                B_A = minus(plus(B_A, skew_times(rho_B, F_A)), skew_times(g_B, P_A))
                B_B = plus(plus(B_B, skew_times(rho_B, F_B)), skew_times(sub(g_B, F), P_B))
            gather_blocks(tiles, at[PAIR:], (F_v, F_A, F_B), (A_v, A_A, A_B), (B_v, B_A, B_B))


@arithmetic
def _torque(rho: Vec, force: Vec, axes: Mat, n: Vec, r: Vec) -> Vec:
    """Return the torque of a force at a point, and of tensions n on axes along r."""
    return add(cross(rho, force), cross(scale(0.5, combine(n, axes)), r))


@arithmetic
def _ahead(half: Vec, A: Mat) -> Mat:
    """Return vectors of a body, given at the midpoint, at the end."""
    return add(A[0], cross(half, A[0])), add(A[1], cross(half, A[1])), add(A[2], cross(half, A[2]))


@arithmetic
def _back(half: Vec, A: Mat) -> Mat:
    """Return C^T times every row."""
    return turn_back(half, A[0]), turn_back(half, A[1]), turn_back(half, A[2])


@arithmetic
def _along(h: float, half: Vec, axes: Mat, r1: Vec, rho: Vec, E1: Mat) -> Mat:
    """Return what turns of a body change x at the end by, with the axes and with the point."""
    r_back, E_back = scale(0.5, turn_back(half, r1)), _back(half, E1)
    return times(
        h,
        (
            add(cross(axes[0], r_back), cross(rho, E_back[0])),
            add(cross(axes[1], r_back), cross(rho, E_back[1])),
            add(cross(axes[2], r_back), cross(rho, E_back[2])),
        ),
    )


class Slope(NamedTuple):
    """What slopes of tensions are made of: half of S, the forces f, tension of t, and N x t."""

    mean: Middle
    end: Middle
    S: Blocks
    f: Six
    on_t: Vec
    u: Vec


@arithmetic
def _slopes(at: Slope, h: float, dx: Mat, dturn: Mat, dw: Vec) -> tuple[Mat, Mat, Vec]:
    """Return the slopes of tensions, times h, where the forms at the end have these."""
    mean, end, (uu, ur, rr), (N, _) = at.mean, at.end, at.S, at.f
    on_t, u = at.on_t, at.u
    dt = times(0.5 / end.w, minus(dturn, times(2.0, outer(end.t, dw))))
    dc = minus(skew_times(end.t, dx), skew_times(end.x, dt))
    dy = minus(skew_times(end.t, dc), skew_times(end.c, dt))
    du, dr = minus(dx, times(2.0 / 3.0, dy)), times(1.0 / 3.0, plus(times(4.0, dt), dturn))
    dN = plus(multiply(uu, du), multiply(ur, dr))
    dM = plus(multiply(transposed(ur), du), multiply(rr, dr))
    du = minus(times(0.5, skew_times(N, dt)), skew_times(mean.t, dN))
    curl = minus(times(0.5, skew_times(u, dt)), skew_times(mean.t, du))
    dn = minus(dN, times(2.0 / 3.0, curl))
    inner = minus(skew_times(mean.c, dN), times(0.5, skew_times(N, dc)))
    inner = plus(inner, minus(skew_times(mean.x, du), times(0.5, skew_times(u, dx))))
    dtau = minus(times(4.0 / 3.0, dM), times(2.0 / 3.0, inner))
    half, square = 0.5 / mean.w, 0.5 / (mean.w * mean.w)
    dm = plus(times(1.0 / 3.0, dM), times(half, dtau))
    dm = minus(dm, times(0.5 * square, outer(on_t, dw)))
    dmu = axpy(half, combine(on_t, dt), scale(2.0 * half, combine(mean.t, dtau)))
    dmu = sub(scale(square * dot(mean.t, on_t), dw), dmu)
    return times(h, dn), times(h, dm), scale(h, dmu)


@arithmetic
def _on_bodies(
    A: Mat, B: Mat, turns: tuple[Mat, Vec], n: Mat, m: Mat, mu: Vec
) -> tuple[Mat, Mat, Mat, Mat]:
    """Return how the force, its halves and the torque of turns change with tensions."""
    g_A, g_B = times(0.5, multiply(transposed(A), n)), times(0.5, multiply(transposed(B), n))
    q = plus(times(0.5, multiply(turns[0], m)), times(0.25, outer(turns[1], mu)))
    return plus(g_A, g_B), g_A, g_B, q


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
        x, turn, w = _place(A, B, sub(add(r_B, rho_B), add(r_A, rho_A)))
        t = scale(0.5 / w, turn)
        u = axpy(-2.0 / 3.0, cross(t, cross(t, x)), x)
        u = sub(u, vector(numbers, k, REST))
        v = sub(scale(1.0 / 3.0, axpy(4.0, t, turn)), vector(numbers, k, REST + 3))
        put(kept, k, X, x)
        put(kept, k, TURN, t)
        put(kept, k, STRAIN, u)
        put(kept, k, STRAIN + 3, v)
        kept[k, COSINE] = w
        strain = u, v
        total += 0.5 * _power(_times(_blocks(numbers, k, STIFFNESS), strain), strain)
    return total


@kernel
def go_on(connections: Connected) -> None:
    """Go on from where connections are after the step."""
    for k in range(connections.start.shape[0]):
        for i in range(connections.start.shape[1]):
            connections.start[k, i] = connections.end[k, i]


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
        self.kept = np.zeros((2, len(self.found), COSINE + 1))

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
            self.kept[:, k] = [*at.x, *at.t, *(coordinates(s) - rest), at.w]
