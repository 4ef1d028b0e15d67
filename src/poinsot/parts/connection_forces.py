"""Forces of four connections at once, and their derivatives by the motion of bodies."""

from typing import TypeAlias

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
from poinsot.kernels.cayley import (
    ahead,
    cayley,
    lever,
    turned,
)
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.lanes import (
    Lane,
    Places4,
    add_tiles,
    beside,
    gather_lanes,
    greatest,
    larger,
    largest_of,
    matrix_of,
    places_of,
    size_of,
    subtract_tiles,
    total,
    vector_of,
)
from poinsot.kernels.relative import (
    Blocks,
    Middle,
    changed,
    dot_six,
    forms_of,
    tensions,
    times_six,
    twisted,
)
from poinsot.kernels.step import Step, measure
from poinsot.kernels.tables import R, T
from poinsot.kernels.terms import UNIT

#: Columns of numbers: point and axes (as rows) on A and on B; S and D by blocks; chi at rest. Of
#: places: bodies A and B, whether points are off the centres, whether it is damped, and tiles of
#: (T_A, R_A, T_B, R_B) with each other.
POINT_A, AXES_A, POINT_B, AXES_B, STIFFNESS, DAMPING, REST = 0, 3, 12, 15, 24, 51, 78
FIRST, SECOND, OFFSET, DAMPED, PAIR = range(5)

#: Of connections side by side: axes and lever arms of both ends, and what is between their points.
Ends: TypeAlias = tuple[Mat, Mat, Vec, Vec, Vec]
#: How forms and t change over a step: x, 2 a^x, w, t.
Change: TypeAlias = tuple[Vec, Vec, Lane, Vec]
#: Tensions n, m and mu.
Tension: TypeAlias = tuple[Vec, Vec, Lane]
#: How the force and the torques on A and B change with v_B - v_A, w_A and w_B.
Slopes: TypeAlias = tuple[Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat]


@arithmetic
def course(
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
def elastic_tension(
    mean: Middle, S: Blocks, change: Change, start: tuple[Vec, Vec, Vec, Vec, Lane]
) -> Tension:
    """Return tensions by the mean strain of a step."""
    (dx, dturn, _, dt), (_, _, u0, v0, _) = change, start
    du, dv = changed(mean, dx, dturn, dt)
    return tensions(mean, times_six(S, (axpy(0.5, du, u0), axpy(0.5, dv, v0))))


@arithmetic
def viscous_tension(h: float, D: Blocks, ends: Ends, change: Change) -> tuple[Tension, float]:
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
def add_tension(a: Tension, b: Tension) -> Tension:
    """Return a + b."""
    return add(a[0], b[0]), add(a[1], b[1]), a[2] + b[2]


@arithmetic
def scale_tension(s: float, a: Tension) -> Tension:
    """Return s a."""
    return scale(s, a[0]), scale(s, a[1]), s * a[2]


@arithmetic
def forces_of(tension: Tension, ends: Ends, turns: tuple[Mat, Vec]) -> tuple[Vec, Vec, Vec]:
    """Return the force on B, and the torques on A and B.

    Of the force half comes by the axes of A, half by those of B.
    """
    (n, m, mu), (A, B, rho_A, rho_B, r) = tension, ends
    g_A, g_B = scale(0.5, combine(n, A)), scale(0.5, combine(n, B))
    F, q = add(g_A, g_B), _turning(m, mu, turns)
    torque_A = add(sub(cross(g_A, r), cross(rho_A, F)), q)
    return F, torque_A, sub(add(cross(g_B, r), cross(rho_B, F)), q)


@arithmetic
def torques_by_arms(
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
def push_apart(
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
def slopes_of(
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
def off_centre(
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
def add_to_tiles(tiles: Array, places: Array, rows: Places4, slopes: Slopes) -> None:
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
def before_cancelling(
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
    span, spins, reach = abs(h), size_of(half_A) + size_of(half_B), size_of(r)
    far = span * (size_of(v_A) + size_of(v_B)) + spins * (reach + size_of(rho_A) + size_of(rho_B))
    along, about = 2.0 * span * largest_of(S[0]) * far, 2.0 * span * largest_of(S[2]) * spins
    about = about + along * reach
    energy = (along * size_of(dr) + about * size_of(change[1])) / span
    return greatest(along), greatest(about), greatest(energy)
