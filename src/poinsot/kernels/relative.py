"""How a frame is placed relative to another, in kernels; see `frames.relative` and its letters.

Tensions n, m and mu of the forms x, a^x and w follow from the force f = (N, M) of the coordinates,
by way of that of t; `Slope` has what their derivatives are made of.
"""

from typing import NamedTuple, TypeAlias

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
    scale,
    skew_times,
    sub,
    times,
    transposed,
)
from poinsot.kernels.kernel import arithmetic

#: A symmetric matrix (6, 6) by blocks: upper left, upper right, lower right.
Blocks: TypeAlias = tuple[Mat, Mat, Mat]
#: Displacements and rotations, or forces and torques.
Six: TypeAlias = tuple[Vec, Vec]


class Middle(NamedTuple):
    """Where a connection is: x, t, w and c = t x x, at a place or as means over a step."""

    x: Vec
    t: Vec
    w: float
    c: Vec


@arithmetic
def blocks(numbers: Array, k: int, at: int) -> Blocks:
    """Return a symmetric matrix from row k of a table."""
    return matrix(numbers, k, at), matrix(numbers, k, at + 9), matrix(numbers, k, at + 18)


@arithmetic
def scale_blocks(s: float, a: Blocks) -> Blocks:
    """Return s a."""
    return times(s, a[0]), times(s, a[1]), times(s, a[2])


@arithmetic
def add_blocks(a: Blocks, b: Blocks) -> Blocks:
    """Return a + b."""
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


@arithmetic
def times_six(S: Blocks, chi: Six) -> Six:
    """Return S chi."""
    (u, r), (uu, ur, rr) = chi, S
    return add(apply(uu, u), apply(ur, r)), add(combine(u, ur), apply(rr, r))


@arithmetic
def dot_six(f: Six, y: Six) -> float:
    """Return f·y."""
    return dot(f[0], y[0]) + dot(f[1], y[1])


@arithmetic
def forms_of(A: Mat, B: Mat, r: Vec) -> tuple[Vec, Vec, float]:
    """Return the forms x, a^x and w of axes in rows."""
    turn = (
        0.5 * (dot(A[2], B[1]) - dot(A[1], B[2])),
        0.5 * (dot(A[0], B[2]) - dot(A[2], B[0])),
        0.5 * (dot(A[1], B[0]) - dot(A[0], B[1])),
    )
    w = 0.25 * (1.0 + dot(A[0], B[0]) + dot(A[1], B[1]) + dot(A[2], B[2]))
    return scale(0.5, apply(plus(A, B), r)), turn, w


@arithmetic
def twisted(A: Mat, B: Mat) -> tuple[Mat, Vec]:
    """Return what a turn of A changes 2 a^x and 4 w by: rows, and a row."""
    return (
        (
            sub(cross(A[2], B[1]), cross(A[1], B[2])),
            sub(cross(A[0], B[2]), cross(A[2], B[0])),
            sub(cross(A[1], B[0]), cross(A[0], B[1])),
        ),
        add(add(cross(A[0], B[0]), cross(A[1], B[1])), cross(A[2], B[2])),
    )


@arithmetic
def placed(t: Vec, turn: Vec, x: Vec) -> Six:
    """Return chi."""
    u = axpy(-2.0 / 3.0, cross(t, cross(t, x)), x)
    return u, scale(1.0 / 3.0, axpy(4.0, t, turn))


@arithmetic
def changed(at: Middle, dx: Vec, dturn: Vec, dt: Vec) -> Six:
    """Return the change of chi with those of x, a^x and t."""
    dc = add(cross(at.t, dx), cross(dt, at.x))
    dy = add(cross(at.t, dc), cross(dt, at.c))
    return axpy(-2.0 / 3.0, dy, dx), scale(1.0 / 3.0, axpy(4.0, dt, dturn))


@arithmetic
def tension_of_turn(at: Middle, f: Six) -> tuple[Vec, Vec]:
    """Return the tension of t, and u = N x t."""
    N, M = f
    u = cross(N, at.t)
    inner = add(cross(at.c, N), cross(at.x, u))
    return sub(scale(4.0 / 3.0, M), scale(2.0 / 3.0, inner)), u


@arithmetic
def tensions(at: Middle, f: Six) -> tuple[Vec, Vec, float]:
    """Return n, m and mu."""
    tau, u = tension_of_turn(at, f)
    n = axpy(-2.0 / 3.0, cross(u, at.t), f[0])
    return n, axpy(0.5 / at.w, tau, scale(1.0 / 3.0, f[1])), -dot(at.t, tau) / at.w


@arithmetic
def stiffness(
    at: Middle,
    S: Blocks,
    N: Vec,
    axes: tuple[Mat, Mat],
    r: Vec,
    arms: tuple[Vec, Vec],
    turns: tuple[Mat, Vec],
) -> tuple[Mat, Mat, Mat, Mat, Mat, Mat]:
    """Return P^T S P with P = dchi/d(r, turns of A and B), and what the force N adds.

    By its blocks F_r, F_A, F_B, A_A, A_B and B_B: of the force along r, and of the torques on A and
    on B. Of the second derivatives of chi those are there that do not vanish with t.
    """
    x, t, w, (uu, ur, rr), (A, B) = at.x, at.t, at.w, S, axes
    E, (rows, whole) = times(0.5, plus(A, B)), turns
    turn = times(0.5, rows)
    Z = minus(turn, outer(scale(2.0, t), scale(0.25, whole)))
    Z = times(0.5 / w, Z)
    C = times(1.0 / 3.0, plus(times(4.0, Z), turn))
    by_x, by_t, by_N = combine(x, Z), combine(t, Z), combine(N, Z)
    curl = plus(times(dot(t, x), Z), outer(t, by_x))
    curl = times(2.0 / 3.0, minus(curl, outer(x, scale(2.0, by_t))))
    X_A, X_B = _swept(A, r, scale(-1.0, arms[0]), E), _swept(B, r, arms[1], E)
    P_r = _of_helix(t, E)
    P_A = minus(_of_helix(t, X_A), curl)
    P_B = plus(_of_helix(t, X_B), curl)
    shear, bend = multiply(ur, C), multiply(rr, C)
    N_r = multiply(uu, P_r)
    N_A = plus(multiply(uu, P_A), shear)
    N_B = minus(multiply(uu, P_B), shear)
    M_A = plus(multiply(transposed(ur), P_A), bend)
    M_B = minus(multiply(transposed(ur), P_B), bend)
    # Of d^2(chi_u)·N: that of x and t, and that of t twice.
    n = minus(plus(times(dot(t, N), Z), outer(t, by_N)), outer(scale(2.0, N), by_t))
    n = times(-1.0 / 3.0, n)
    tau = minus(plus(outer(N, by_x), outer(x, by_N)), times(2.0 * dot(x, N), Z))
    tau = times(-1.0 / 3.0, tau)
    own, n_A, n_B = _product(Z, tau), _product(X_A, n), _product(X_B, n)
    F_n, C_A, C_B = _product(E, n), _product(C, M_A), _product(C, M_B)
    A_A = plus(plus(own, C_A), plus(n_A, transposed(n_A)))
    A_B = plus(minus(C_B, own), minus(transposed(n_B), n_A))
    B_B = minus(minus(own, C_B), plus(n_B, transposed(n_B)))
    return (
        _product(P_r, N_r),
        plus(_product(P_r, N_A), F_n),
        minus(_product(P_r, N_B), F_n),
        plus(_product(P_A, N_A), A_A),
        plus(_product(P_A, N_B), A_B),
        plus(_product(P_B, N_B), B_B),
    )


@arithmetic
def _product(A: Mat, B: Mat) -> Mat:
    """Return A^T B."""
    return multiply(transposed(A), B)


@arithmetic
def _of_helix(t: Vec, dx: Mat) -> Mat:
    """Return the change of chi_u with that of x."""
    return minus(dx, times(2.0 / 3.0, skew_times(t, skew_times(t, dx))))


@arithmetic
def _swept(axes: Mat, r: Vec, arm: Vec, E: Mat) -> Mat:
    """Return what a turn of a body changes x by, with its axes and with its point."""
    return (
        add(scale(0.5, cross(axes[0], r)), cross(arm, E[0])),
        add(scale(0.5, cross(axes[1], r)), cross(arm, E[1])),
        add(scale(0.5, cross(axes[2], r)), cross(arm, E[2])),
    )
