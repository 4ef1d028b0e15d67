"""How a frame is placed relative to another, in kernels; see `frames.relative` and its letters.

Tensions n, m and mu of the forms x, a^x and w follow from the force f = (N, M) of the coordinates,
by way of that of t; `Slope` has what their derivatives are made of.
"""

from typing import NamedTuple, TypeAlias

from poinsot.kernels.algebra import (
    Array,
    Four,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    axpy_four,
    combine,
    cross,
    dot,
    matrix,
    plus,
    scale,
    scale_four,
    sub,
    sub_four,
    times,
    transposed,
)
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.wide import (
    Rows,
    axpy_rows,
    combine_rows,
    minus_rows,
    multiply_rows,
    outer_rows,
    plus_rows,
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


class Slope(NamedTuple):
    """What slopes of tensions are made of: means, end, df/dchi at the end, f, of t, and N x t."""

    mean: Middle
    end: Middle
    S: Blocks
    f: Six
    tau: Vec
    u: Vec


@arithmetic
def slopes_along(at: Slope, dx: Rows) -> tuple[Rows, Rows, Four]:
    """Return how n, m and mu change where x at the end does so."""
    mean, end, (uu, ur, _) = at.mean, at.end, at.S
    dc = skew_rows(end.t, dx)
    by_u = axpy_rows(-2.0 / 3.0, skew_rows(end.t, dc), dx)
    dN, dM = multiply_rows(uu, by_u), multiply_rows(transposed(ur), by_u)
    du = scale_rows(-1.0, skew_rows(mean.t, dN))
    dn = axpy_rows(2.0 / 3.0, skew_rows(mean.t, du), dN)
    own = plus_rows(skew_rows(at.f[0], dc), skew_rows(at.u, dx))
    inner = plus_rows(skew_rows(mean.c, dN), axpy_rows(-0.5, own, skew_rows(mean.x, du)))
    dtau = axpy_rows(-2.0 / 3.0, inner, scale_rows(4.0 / 3.0, dM))
    dm = axpy_rows(0.5 / mean.w, dtau, scale_rows(1.0 / 3.0, dM))
    return dn, dm, scale_four(-1.0 / mean.w, combine_rows(mean.t, dtau))


@arithmetic
def slopes(at: Slope, dx: Rows, dturn: Rows, dw: Four) -> tuple[Rows, Rows, Four]:
    """Return how n, m and mu change where the forms at the end do so."""
    mean, end, (uu, ur, rr), (N, _) = at.mean, at.end, at.S, at.f
    tau, u = at.tau, at.u
    dt = scale_rows(0.5 / end.w, axpy_rows(-2.0, outer_rows(end.t, dw), dturn))
    dc = minus_rows(skew_rows(end.t, dx), skew_rows(end.x, dt))
    dy = minus_rows(skew_rows(end.t, dc), skew_rows(end.c, dt))
    by_u, by_r = axpy_rows(-2.0 / 3.0, dy, dx), scale_rows(1.0 / 3.0, axpy_rows(4.0, dt, dturn))
    dN = plus_rows(multiply_rows(uu, by_u), multiply_rows(ur, by_r))
    dM = plus_rows(multiply_rows(transposed(ur), by_u), multiply_rows(rr, by_r))
    du = minus_rows(scale_rows(0.5, skew_rows(N, dt)), skew_rows(mean.t, dN))
    curl = minus_rows(scale_rows(0.5, skew_rows(u, dt)), skew_rows(mean.t, du))
    dn = axpy_rows(-2.0 / 3.0, curl, dN)
    own = plus_rows(skew_rows(N, dc), skew_rows(u, dx))
    inner = plus_rows(skew_rows(mean.c, dN), axpy_rows(-0.5, own, skew_rows(mean.x, du)))
    dtau = axpy_rows(-2.0 / 3.0, inner, scale_rows(4.0 / 3.0, dM))
    half, square = 0.5 / mean.w, 0.5 / (mean.w * mean.w)
    dm = axpy_rows(half, dtau, scale_rows(1.0 / 3.0, dM))
    dm = minus_rows(dm, outer_rows(scale(0.5 * square, tau), dw))
    dmu = axpy_four(half, combine_rows(tau, dt), scale_four(2.0 * half, combine_rows(mean.t, dtau)))
    return dn, dm, sub_four(scale_four(square * dot(mean.t, tau), dw), dmu)
