"""The turn of a body over a step.

The midpoint rule says R1 - R0 = h [w] R_mid. With a = h w / 2 the directors at the midpoint are
those of the start times

    C = (I - [a])^-1 = (I + [a] + a a^T) / (1 + a·a),

and a change of w changes a vector d = C d0 of the body by (h/2) C (dw x d).
"""

from poinsot.kernels.algebra import (
    Mat,
    Vec,
    add,
    cross,
    dot,
    outer,
    plus,
    scale,
    skew,
    sub,
    times,
    transposed,
)
from poinsot.kernels.kernel import arithmetic


@arithmetic
def change(a: Vec, x: Vec) -> Vec:
    """Return C x - x = a x C x, as exact as it is small."""
    s, c = 1.0 / (1.0 + dot(a, a)), cross(a, x)
    return scale(s, add(c, cross(a, c)))


@arithmetic
def change_rows(a: Vec, D: Mat) -> Mat:
    """Return C x - x for every row x of a matrix."""
    return change(a, D[0]), change(a, D[1]), change(a, D[2])


@arithmetic
def ahead(a: Vec, x: Vec) -> Vec:
    """Return a vector of the body at the end of a step, given at the midpoint."""
    return add(x, cross(a, x))


@arithmetic
def turn_back(a: Vec, x: Vec) -> Vec:
    """Return C^T x."""
    s = 1.0 / (1.0 + dot(a, a))
    return scale(s, add(sub(x, cross(a, x)), scale(dot(a, x), a)))


@arithmetic
def cayley(a: Vec) -> Mat:
    """Return C."""
    s = 1.0 / (1.0 + dot(a, a))
    A = plus(skew(a), outer(a, a))
    return times(
        s,
        (
            (1.0 + A[0][0], A[0][1], A[0][2]),
            (A[1][0], 1.0 + A[1][1], A[1][2]),
            (A[2][0], A[2][1], 1.0 + A[2][2]),
        ),
    )


@arithmetic
def lever(a: Vec, r: Vec) -> Mat:
    """Return C [r]: what a change of -w turns a vector r by, over h/2.

    C [r] = ([r] + r a^T - (a·r) I + a (a x r)^T) / (1 + a·a).
    """
    s, ar = 1.0 / (1.0 + dot(a, a)), dot(a, r)
    A = plus(plus(skew(r), outer(r, a)), outer(a, cross(a, r)))
    return times(
        s,
        (
            (A[0][0] - ar, A[0][1], A[0][2]),
            (A[1][0], A[1][1] - ar, A[1][2]),
            (A[2][0], A[2][1], A[2][2] - ar),
        ),
    )


@arithmetic
def turned(C: Mat, K: Mat) -> Mat:
    """Return what turns w into the sum of C (w x a) x b, where K is the sum of a b^T.

    With e_j for w, C (e_j x a) is a difference of two columns of C times components of a.
    """
    c = transposed(C)
    p = sub(cross(c[2], K[1]), cross(c[1], K[2]))
    q = sub(cross(c[0], K[2]), cross(c[2], K[0]))
    r = sub(cross(c[1], K[0]), cross(c[0], K[1]))
    return transposed((p, q, r))


@arithmetic
def leading(h: float, a: Vec) -> Mat:
    """Return M = -(h/2) C: a vector x at the midpoint changes by M [x] dw."""
    return times(-0.5 * h, cayley(a))
