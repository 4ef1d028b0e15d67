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
    plus,
    scale,
    sub,
    times,
    transposed,
    wide,
)
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.wide import (
    Rows,
    as_matrix,
    axpy_rows,
    combine_rows,
    minus_rows,
    multiply_rows,
    outer_rows,
    plus_rows,
    rows_of,
    scale_rows,
    skew_rows,
)

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
) -> tuple[Rows, Rows, Rows, Rows, Rows, Rows]:
    """Return P^T S P with P = dchi/d(r, turns of A and B), and what the force N adds.

    By its blocks F_r, F_A, F_B, A_A, A_B and B_B: of the force along r, and of the torques on A and
    on B. Of the second derivatives of chi those are there that do not vanish with t.
    """
    x, t, w, (uu, ur, rr), (A, B) = at.x, at.t, at.w, S, axes
    E, (rows, whole) = times(0.5, plus(A, B)), turns
    turn = rows_of(times(0.5, rows))
    Z = axpy_rows(-2.0, outer_rows(t, wide(scale(0.25, whole))), turn)
    Z = scale_rows(0.5 / w, Z)
    C = scale_rows(1.0 / 3.0, axpy_rows(4.0, Z, turn))
    by_x, by_t, by_N = combine_rows(x, Z), combine_rows(t, Z), combine_rows(N, Z)
    curl = axpy_rows(dot(t, x), Z, outer_rows(t, by_x))
    curl = axpy_rows(-2.0, outer_rows(x, by_t), curl)
    along, X_A = rows_of(E), _swept(A, r, scale(-1.0, arms[0]), E)
    X_B = _swept(B, r, arms[1], E)
    P_r = _of_helix(t, along)
    P_A = axpy_rows(-2.0 / 3.0, curl, _of_helix(t, X_A))
    P_B = axpy_rows(2.0 / 3.0, curl, _of_helix(t, X_B))
    shear, bend = multiply_rows(ur, C), multiply_rows(rr, C)
    N_r = multiply_rows(uu, P_r)
    N_A = plus_rows(multiply_rows(uu, P_A), shear)
    N_B = minus_rows(multiply_rows(uu, P_B), shear)
    M_A = plus_rows(multiply_rows(transposed(ur), P_A), bend)
    M_B = minus_rows(multiply_rows(transposed(ur), P_B), bend)
    # Of d^2(chi_u)·N: that of x and t, and that of t twice.
    n = axpy_rows(-2.0, outer_rows(N, by_t), axpy_rows(dot(t, N), Z, outer_rows(t, by_N)))
    n = scale_rows(-1.0 / 3.0, n)
    tau = plus_rows(outer_rows(N, by_x), outer_rows(x, by_N))
    tau = scale_rows(-1.0 / 3.0, axpy_rows(-2.0 * dot(x, N), Z, tau))
    own, n_A, n_B = _product(Z, tau), _product(X_A, n), _product(X_B, n)
    F_n = _product(along, n)
    by_C, by_r, by_A = (transposed(as_matrix(each)) for each in (C, P_r, P_A))
    C_A, C_B = multiply_rows(by_C, M_A), multiply_rows(by_C, M_B)
    A_A = plus_rows(plus_rows(own, C_A), plus_rows(n_A, _turned_over(n_A)))
    A_B = plus_rows(minus_rows(C_B, own), minus_rows(_turned_over(n_B), n_A))
    B_B = minus_rows(minus_rows(own, C_B), plus_rows(n_B, _turned_over(n_B)))
    return (
        multiply_rows(by_r, N_r),
        plus_rows(multiply_rows(by_r, N_A), F_n),
        minus_rows(multiply_rows(by_r, N_B), F_n),
        plus_rows(multiply_rows(by_A, N_A), A_A),
        plus_rows(multiply_rows(by_A, N_B), A_B),
        plus_rows(_product(P_B, N_B), B_B),
    )


@arithmetic
def _turned_over(A: Rows) -> Rows:
    """Return A^T."""
    return rows_of(transposed(as_matrix(A)))


@arithmetic
def _product(A: Rows, B: Rows) -> Rows:
    """Return A^T B."""
    return multiply_rows(transposed(as_matrix(A)), B)


@arithmetic
def _of_helix(t: Vec, dx: Rows) -> Rows:
    """Return the change of chi_u with that of x."""
    return axpy_rows(-2.0 / 3.0, skew_rows(t, skew_rows(t, dx)), dx)


@arithmetic
def _swept(axes: Mat, r: Vec, arm: Vec, E: Mat) -> Rows:
    """Return what a turn of a body changes x by, with its axes and with its point."""
    return (
        wide(add(scale(0.5, cross(axes[0], r)), cross(arm, E[0]))),
        wide(add(scale(0.5, cross(axes[1], r)), cross(arm, E[1]))),
        wide(add(scale(0.5, cross(axes[2], r)), cross(arm, E[2]))),
    )
