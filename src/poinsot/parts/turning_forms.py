"""Forms of directions of two bodies, s = N : D_A D_B^T, at both ends of a step."""

from poinsot.kernels.algebra import (
    Mat,
    Vec,
    apply,
    axial,
    combine,
    dot,
    outer,
    plus,
    sub,
    trace,
)
from poinsot.kernels.kernel import arithmetic
from poinsot.parts.tensions import Forms

#: Columns of numbers of coordinates: the matrices N of one or two forms. Of points, these are the
#: columns of a term.
FORM_0, FORM_1 = 0, 9


@arithmetic
def forms_turning(K_0: Mat, K_1: Mat, half_A: Vec, half_B: Vec) -> Forms:
    """Return tr K at the start, at the middle and at the end of a step, and the increments.

    Both ends are as far from the middle, but for (a_A x a)·(a_B x b).
    """
    apart, both, middle = sub(half_A, half_B), dot(half_A, half_B), (trace(K_0), trace(K_1))
    ds = 2.0 * dot(axial(K_0), apart), 2.0 * dot(axial(K_1), apart)
    low = middle[0] * (1.0 + both) - dot(half_B, apply(K_0, half_A)) - 0.5 * ds[0]
    other = middle[1] * (1.0 + both) - dot(half_B, apply(K_1, half_A)) - 0.5 * ds[1]
    return (low, other), middle, (low + ds[0], other + ds[1]), ds


@arithmetic
def product(N: Mat, D_A: Mat, D_B: Mat) -> Mat:
    """Return K, the sum of N_ij times director i of A and director j of B."""
    K = plus(outer(D_A[0], combine(N[0], D_B)), outer(D_A[1], combine(N[1], D_B)))
    return plus(K, outer(D_A[2], combine(N[2], D_B)))
