r"""Connections of frames over a step backwards, see `engine.backward`.

With mu the gradient by residuals, a connection adds h f·chi'(mu) to mu times residuals, chi'(mu)
being how its coordinates change along mu. With C the change of coordinates that follows from that
of forms, by their means over the step or where they are at the midpoint,

.. math:: f = S (\chi_0 + \tfrac12 C \Delta), \qquad f \cdot C \delta, \qquad
          \tfrac1h D\, C \Delta \cdot C \delta

where the changes Delta over the step and delta along mu are the same function of the motion of both
frames. Their derivatives are taken from the last line of each sum to the first. Like the frames at
the start, from which chi_0 follows, they are those by frames at the midpoint.
"""

from typing import TypeAlias

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
    outer,
    plus,
    scale,
    skew_times,
    sub,
    times,
    times_skew,
    transposed,
)
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.lanes import (
    Lane,
    Places4,
    across,
    beside,
    gather_across,
    matrix_of,
    places_of,
    put_beside,
    vector_of,
)
from poinsot.kernels.relative import Blocks, Middle, Six, changed, forms_of, times_six, twisted
from poinsot.kernels.step import Step
from poinsot.kernels.tables import R, T
from poinsot.parts.connection_forces import (
    AXES_A,
    AXES_B,
    DAMPED,
    DAMPING,
    FIRST,
    POINT_A,
    POINT_B,
    REST,
    SECOND,
    STIFFNESS,
    Ends,
)
from poinsot.parts.reading_connections import (
    Connected,
    any_of,
    damping_of,
    ends_of,
    motion_of,
    rows_of,
    start_of,
    stiffness_of,
)

#: A motion: of B's centre more than of A's, and half of the turns of both.
Motion: TypeAlias = tuple[Vec, Vec, Vec]
#: Changes of the forms x, 2 w t and w, or gradients by these.
Change: TypeAlias = tuple[Vec, Vec, Lane]
#: Gradients by x, t, w and c.
ByMiddle: TypeAlias = tuple[Vec, Vec, Lane, Vec]


@kernel
def connections_backward(
    connections: Connected, by: Connected, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through all connections."""
    h, stage, numbers, places = step.h, step.stage, connections.numbers, connections.places
    for group in range(numbers.shape[0]):
        rows = rows_of(group)
        first, second = places_of(places, rows, FIRST), places_of(places, rows, SECOND)
        motion_A, motion_B = motion_of(stage, first), motion_of(stage, second)
        ends = ends_of(numbers, group, motion_A, motion_B)
        motion, virtual = _motions(step, mu, first, second, motion_A, motion_B)
        (dr, change), (push, along) = moved(ends, motion), moved(ends, virtual)
        S, start = stiffness_of(numbers, group), start_of(connections.start, group)
        by_S, rest, by_start, by_change, by_along = elastic_back(h, S, start, change, along)
        by_ends = start_back(ends, motion, dr, by_start)
        if any_of(places, rows, DAMPED) > 0:
            D = damping_of(numbers, group)
            by_D, more, over, further = viscous_back(D, ends, change, along)
            by_ends = add_ends(by_ends, more)
            by_change, by_along = add_changes(by_change, over), add_changes(by_along, further)
            _subtract(by.numbers, group, DAMPING, (*by_D[0], *by_D[1], *by_D[2]))
        by_ends = add_ends(by_ends, moved_back(ends, motion, dr, by_change))
        by_ends = add_ends(by_ends, moved_back(ends, virtual, push, by_along))
        by_A, by_B = _give(numbers, group, frames, first, second, motion_A[1], motion_B[1], by_ends)
        _subtract(by.numbers, group, POINT_A, by_A)
        _subtract(by.numbers, group, POINT_B, by_B)
        _subtract(by.numbers, group, STIFFNESS, (*by_S[0], *by_S[1], *by_S[2]))
        _subtract(by.numbers, group, REST, rest)


@arithmetic
def _motions(
    step: Step,
    mu: Array,
    first: Places4,
    second: Places4,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
) -> tuple[Motion, Motion]:
    """Return the motion over a step, and that along mu."""
    (_, _, half_A, v_A), (_, _, half_B, v_B) = motion_A, motion_B
    push = sub(_three(mu, step.bodies, second, T), _three(mu, step.bodies, first, T))
    spin_A, spin_B = _three(mu, step.bodies, first, R), _three(mu, step.bodies, second, R)
    virtual = push, scale(0.5, spin_A), scale(0.5, spin_B)
    return (scale(step.h, sub(v_B, v_A)), half_A, half_B), virtual


@arithmetic
def _give(
    numbers: Array,
    group: int,
    frames: Array,
    first: Places4,
    second: Places4,
    D_A: Mat,
    D_B: Mat,
    by_ends: Ends,
) -> tuple[tuple[Vec, Vec, Vec, Vec], tuple[Vec, Vec, Vec, Vec]]:
    """Give a gradient by ends to frames; return that by points and axes of A, and of B."""
    by_A, by_B, arm_A, arm_B, by_r = by_ends
    columns = beside(numbers, group, 0, STIFFNESS)
    axes_A, axes_B = matrix_of(columns, AXES_A), matrix_of(columns, AXES_B)
    X_A, X_B = vector_of(columns, POINT_A), vector_of(columns, POINT_B)
    arm_A, arm_B = sub(arm_A, by_r), add(arm_B, by_r)
    frame_A = plus(multiply(transposed(axes_A), by_A), outer(X_A, arm_A))
    frame_B = plus(multiply(transposed(axes_B), by_B), outer(X_B, arm_B))
    gather_across(frames, first, 0, _entries((scale(-1.0, by_r), *frame_A)))
    gather_across(frames, second, 0, _entries((by_r, *frame_B)))
    in_A, in_B = multiply(by_A, transposed(D_A)), multiply(by_B, transposed(D_B))
    return (apply(D_A, arm_A), *in_A), (apply(D_B, arm_B), *in_B)


@arithmetic
def _three(mu: Array, bodies: Array, rows: Places4, node: int) -> Vec:
    """Return mu of nodes of four bodies."""
    return vector_of(across(mu, places_of(bodies, rows, node), 0, 1), 0)


@arithmetic
def _entries(vectors: tuple[Vec, ...]) -> tuple[Lane, ...]:
    """Return the entries of vectors, one after the other."""
    return tuple(x for a in vectors for x in a)


@arithmetic
def _subtract(by: Array, group: int, at: int, vectors: tuple[Vec, ...]) -> None:
    """Subtract vectors from columns of a table in groups."""
    found = _entries(vectors)
    before = beside(by, group, at, len(found))
    put_beside(by, group, at, tuple(x - y for x, y in zip(before, found, strict=True)))


# -- of four connections side by side --------------------------------------------------------------


@arithmetic
def moved(ends: Ends, motion: Motion) -> tuple[Vec, Change]:
    """Return how what is between the points changes with a motion, and forms."""
    (A, B, rho_A, rho_B, r), (apart, half_A, half_B) = ends, motion
    dr = axpy(2.0, sub(cross(half_B, rho_B), cross(half_A, rho_A)), apart)
    turn, (rows, whole) = sub(half_A, half_B), twisted(A, B)
    by_A = apply(A, axpy(0.5, dr, cross(r, half_A)))
    dx = add(by_A, apply(B, axpy(0.5, dr, cross(r, half_B))))
    return dr, (dx, apply(rows, turn), 0.5 * dot(whole, turn))


@arithmetic
def moved_back(ends: Ends, motion: Motion, dr: Vec, by: Change) -> Ends:
    """Return the gradient by ends from that by what forms change by."""
    (A, B, _, _, r), (_, half_A, half_B) = ends, motion
    (by_dx, by_dturn, by_dw), turn = by, sub(half_A, half_B)
    P_A, P_B = axpy(0.5, dr, cross(r, half_A)), axpy(0.5, dr, cross(r, half_B))
    by_P_A, by_P_B = combine(by_dx, A), combine(by_dx, B)
    by_dr = scale(0.5, add(by_P_A, by_P_B))
    turned_A, turned_B = times_skew(A, turn), times_skew(B, turn)
    by_A = plus(outer(by_dx, P_A), skew_times(by_dturn, turned_B))
    by_B = plus(outer(by_dx, P_B), skew_times(by_dturn, turned_A))
    return (
        plus(by_A, times(0.5 * by_dw, turned_B)),
        minus(by_B, times(0.5 * by_dw, turned_A)),
        scale(-2.0, cross(by_dr, half_A)),
        scale(2.0, cross(by_dr, half_B)),
        add(cross(half_A, by_P_A), cross(half_B, by_P_B)),
    )


@arithmetic
def start_back(ends: Ends, motion: Motion, dr: Vec, by: Change) -> Ends:
    """Return the gradient by ends from that by forms at the start of the step."""
    (A, B, _, _, r), (_, half_A, half_B) = ends, motion
    A0, B0 = plus(A, times_skew(A, half_A)), plus(B, times_skew(B, half_B))
    by_A, by_B, by_r = forms_back(A0, B0, axpy(-0.5, dr, r), by)
    return (
        minus(by_A, times_skew(by_A, half_A)),
        minus(by_B, times_skew(by_B, half_B)),
        cross(by_r, half_A),
        scale(-1.0, cross(by_r, half_B)),
        by_r,
    )


@arithmetic
def forms_back(A: Mat, B: Mat, r: Vec, by: Change) -> tuple[Mat, Mat, Vec]:
    """Return the gradient by axes and r from that by forms."""
    by_x, by_turn, by_w = by
    by_A = plus(times(0.5, skew_times(by_turn, B)), times(0.25 * by_w, B))
    by_B = minus(times(0.25 * by_w, A), times(0.5, skew_times(by_turn, A)))
    along = outer(scale(0.5, by_x), r)
    return plus(by_A, along), plus(by_B, along), scale(0.5, combine(by_x, plus(A, B)))


@arithmetic
def change_of_turn(t: Vec, w: Lane, change: Change) -> Vec:
    """Return how t changes where 2 w t and w do."""
    _, dturn, dw = change
    return scale(0.5 / w, axpy(-2.0 * dw, t, dturn))


@arithmetic
def change_of_turn_back(t: Vec, w: Lane, change: Change, by_dt: Vec) -> tuple[Vec, Lane, Vec, Lane]:
    """Return the gradients by t, w and by the changes of 2 w t and w."""
    dt, dw = change_of_turn(t, w, change), change[2]
    return (
        scale(-dw / w, by_dt),
        -dot(dt, by_dt) / w,
        scale(0.5 / w, by_dt),
        -dot(t, by_dt) / w,
    )


@arithmetic
def changed_back(
    at: Middle, dx: Vec, dt: Vec, f: Six
) -> tuple[tuple[Vec, Vec, Vec], tuple[Vec, Vec, Vec]]:
    """Return the gradients of f·C by x, t, c and by the changes of x, 2 w t, t."""
    (N, M), dc = f, add(cross(at.t, dx), cross(dt, at.x))
    by_dy = scale(-2.0 / 3.0, N)
    by_dc = cross(by_dy, at.t)
    by_dt = add(cross(at.c, by_dy), cross(at.x, by_dc))
    return (
        (cross(by_dc, dt), add(cross(dc, by_dy), cross(dx, by_dc)), cross(by_dy, dt)),
        (add(N, cross(by_dc, at.t)), scale(1.0 / 3.0, M), axpy(4.0 / 3.0, M, by_dt)),
    )


@arithmetic
def by_blocks(one: Six, other: Six) -> Blocks:
    """Return the gradient of one·S other by the blocks of S."""
    (u, r), (p, q) = one, other
    return outer(u, p), plus(outer(u, q), outer(p, r)), outer(r, q)


@arithmetic
def add_changes(a: Change, b: Change) -> Change:
    """Return a + b."""
    return add(a[0], b[0]), add(a[1], b[1]), a[2] + b[2]


@arithmetic
def add_ends(a: Ends, b: Ends) -> Ends:
    """Return a + b."""
    return plus(a[0], b[0]), plus(a[1], b[1]), add(a[2], b[2]), add(a[3], b[3]), add(a[4], b[4])


@arithmetic
def _pair_back(
    at: Middle, by_change: Six, change: Change, dt: Vec, by_along: Six, along: Change
) -> tuple[ByMiddle, Change, Vec, Change]:
    """Return the gradients of both changes of coordinates, over the step and along mu.

    By the middle, by the change of forms and that of t over the step, and by the change along mu,
    with what its t is made of.
    """
    along_t = change_of_turn(at.t, at.w, along)
    (x_1, t_1, c_1), (by_dx, by_dturn, by_dt) = changed_back(at, change[0], dt, by_change)
    (x_2, t_2, c_2), (by_ax, by_aturn, by_at) = changed_back(at, along[0], along_t, by_along)
    t_3, by_w, more, by_aw = change_of_turn_back(at.t, at.w, along, by_at)
    by_middle = add(x_1, x_2), add(add(t_1, t_2), t_3), by_w, add(c_1, c_2)
    none = 0.0 * by_w
    return by_middle, (by_dx, by_dturn, none), by_dt, (by_ax, add(by_aturn, more), by_aw)


@arithmetic
def elastic_back(
    h: float, S: Blocks, start: tuple[Vec, Vec, Vec, Vec, Lane], change: Change, along: Change
) -> tuple[Blocks, Six, Change, Change, Change]:
    """Go through what is elastic.

    Returns the gradients by S, by chi at rest, by the forms at the start, and by both changes.
    """
    (x0, t0, u0, v0, w0), (dx, dturn, dw) = start, change
    w1, dt = w0 + dw, scale(0.5 / (w0 + dw), axpy(-2.0 * dw, t0, dturn))
    x1, t1, c0 = add(x0, dx), add(t0, dt), cross(t0, x0)
    c = scale(0.5, add(c0, cross(t1, x1)))
    mean = Middle(axpy(0.5, dx, x0), axpy(0.5, dt, t0), w0 + 0.5 * dw, c)
    du, dv = changed(mean, dx, dturn, dt)
    strain = axpy(0.5, du, u0), axpy(0.5, dv, v0)
    turned = change_of_turn(mean.t, mean.w, along)
    moved_along = changed(mean, along[0], along[1], turned)
    p, q = times_six(S, strain), times_six(S, moved_along)
    f, g = (scale(h, p[0]), scale(h, p[1])), (scale(h, q[0]), scale(h, q[1]))
    half = scale(0.5, g[0]), scale(0.5, g[1])
    (by_x, by_t, by_w, by_c), by_change, by_dt, by_along = _pair_back(
        mean, half, change, dt, f, along
    )
    by_dx, by_dturn, _ = by_change
    # The means, of both ends.
    by_c = scale(0.5, by_c)
    end_x, end_t = axpy(0.5, by_x, cross(by_c, t1)), axpy(0.5, by_t, cross(x1, by_c))
    by_x0 = add(axpy(0.5, by_x, cross(by_c, t0)), end_x)
    by_t0 = add(axpy(0.5, by_t, cross(x0, by_c)), end_t)
    by_dx, by_dt = add(by_dx, end_x), add(by_dt, end_t)
    by_dw, by_w0 = 0.5 * by_w, by_w
    # The change of t, with w at the end.
    by_dturn = axpy(0.5 / w1, by_dt, by_dturn)
    by_t0 = axpy(-dw / w1, by_dt, by_t0)
    by_w1 = -dot(dt, by_dt) / w1
    by_dw, by_w0 = by_dw - dot(t0, by_dt) / w1 + by_w1, by_w0 + by_w1
    # chi at the start.
    by_y = scale(-2.0 / 3.0, g[0])
    by_c0 = cross(by_y, t0)
    by_x0 = add(by_x0, add(g[0], cross(by_c0, t0)))
    by_t0 = add(by_t0, add(cross(c0, by_y), cross(x0, by_c0)))
    by_t0 = axpy(4.0 / 3.0, g[1], by_t0)
    by_turn0 = axpy(0.5 / w0, by_t0, scale(1.0 / 3.0, g[1]))
    by_start = by_x0, by_turn0, by_w0 - dot(t0, by_t0) / w0
    by_S = by_blocks((scale(h, moved_along[0]), scale(h, moved_along[1])), strain)
    rest = scale(-1.0, g[0]), scale(-1.0, g[1])
    return by_S, rest, by_start, (by_dx, by_dturn, by_dw), by_along


@arithmetic
def viscous_back(
    D: Blocks, ends: Ends, change: Change, along: Change
) -> tuple[Blocks, Ends, Change, Change]:
    """Go through what is viscous.

    Returns the gradients by D, by ends at the midpoint, and by both changes.
    """
    A, B, _, _, r = ends
    x, turn, w = forms_of(A, B, r)
    t = scale(0.5 / w, turn)
    at = Middle(x, t, w, cross(t, x))
    dt = change_of_turn(t, w, change)
    over = changed(at, change[0], change[1], dt)
    moved_along = changed(at, along[0], along[1], change_of_turn(t, w, along))
    (by_x, by_t, by_w, by_c), by_change, by_dt, by_along = _pair_back(
        at, times_six(D, moved_along), change, dt, times_six(D, over), along
    )
    more_t, more_w, by_turn, by_dw = change_of_turn_back(t, w, change, by_dt)
    by_dx, by_dturn, _ = by_change
    by_x = add(by_x, cross(by_c, t))
    by_t = add(add(by_t, more_t), cross(x, by_c))
    by_forms = by_x, scale(0.5 / w, by_t), by_w + more_w - dot(t, by_t) / w
    by_A, by_B, by_r = forms_back(A, B, r, by_forms)
    none = scale(0.0, by_r)
    by_change = by_dx, add(by_dturn, by_turn), by_dw
    return by_blocks(moved_along, over), (by_A, by_B, none, none, by_r), by_change, by_along
