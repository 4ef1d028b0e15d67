r"""The turn of a body in quaternions over a step, and what it does to velocity and momentum.

All is seen from the body at the start of the step, whose quaternion is then one. With a the vector
of tan(angle/2) the end is delta = c (1, a), c = cos(angle/2) = 1/sqrt(1 + a·a), and the middle is
mu = (1 + delta)/2. Livens' equations [KB24, eq. (86)-(88)] say

    nu_1 = (2/h) kappa (delta - 1) - nu_0          velocity of the quaternion
    y    = J (Omega_0 + Omega_1) / 2,  Omega_1 = 2 vec(conj(delta) nu_1)
    pi_1 = 4 mu (0, y) - pi_0                      momentum
    Pi_1 = vec(conj(delta) pi_1) / 2               angular momentum in body axes at the end

with kappa = 1, or with mean lever arms kappa = (1 + c)/(2 c). Hamilton's equations
[KB24, eq. (146)] say J (2/h) kappa 2c/(1+c) a = (Pi_0 + Pi_1) / 2.
"""

from math import sqrt
from typing import TypeAlias

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    axpy,
    dot,
    minus,
    outer,
    plus,
    scale,
    sub,
    times,
    vector,
)
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.quaternions import Quat, inner, plus_quat, scale_quat, times_vector
from poinsot.kernels.tables import MOMENTUM, SHARE, SLIP, SPIN
from poinsot.kernels.terms import UNIT

#: delta, kappa, and their derivatives by the three components of a.
Turn: TypeAlias = tuple[Quat, float, tuple[Quat, Quat, Quat], Vec]


@arithmetic
def cosine(a: Vec) -> float:
    """Return cos(angle/2)."""
    return 1.0 / sqrt(1.0 + dot(a, a))


@inline
def turn_of(a: Vec, mean: bool) -> Turn:
    """Return the turn by tan(angle/2) = a."""
    c = cosine(a)
    kappa, slope = ((1.0 + c) / (2.0 * c), scale(0.5 * c, a)) if mean else (1.0, (0.0, 0.0, 0.0))
    f = -c * c * c
    ddelta = (
        (f * a[0], axpy(f * a[0], a, (c, 0.0, 0.0))),
        (f * a[1], axpy(f * a[1], a, (0.0, c, 0.0))),
        (f * a[2], axpy(f * a[2], a, (0.0, 0.0, c))),
    )
    return (c, scale(c, a)), kappa, ddelta, slope


@arithmetic
def velocity_of(state: Array, b: int) -> Quat:
    """Return the velocity of the quaternion, seen from the body."""
    return state[b, SLIP], scale(0.5, vector(state, b, SPIN))


@arithmetic
def momentum_of(state: Array, b: int) -> Quat:
    """Return the momentum of the quaternion, seen from the body."""
    return state[b, SHARE], scale(2.0, vector(state, b, MOMENTUM))


@arithmetic
def _gone(delta: Quat) -> Quat:
    """Return delta - 1; c - 1 = -a·a c^2 / (1 + c) knows no cancellation."""
    c, v = delta
    return -dot(v, v) / (1.0 + c), v


@arithmetic
def travel(turn: Turn) -> Quat:
    """Return kappa (delta - 1)."""
    return scale_quat(turn[1], _gone(turn[0]))


@arithmetic
def travel_slope(turn: Turn, ddelta: Quat, dkappa: float) -> Quat:
    """Return how the travel changes with delta and kappa."""
    return plus_quat(scale_quat(dkappa, _gone(turn[0])), scale_quat(turn[1], ddelta))


@arithmetic
def weighted(J: Vec, a: Vec) -> Vec:
    """Return diag(J) a."""
    return J[0] * a[0], J[1] * a[1], J[2] * a[2]


@arithmetic
def middle(delta: Quat) -> Quat:
    """Return mu."""
    return 0.5 * (1.0 + delta[0]), scale(0.5, delta[1])


@arithmetic
def mean_momentum(J: Vec, nu0: Quat, delta: Quat, nu1: Quat) -> Vec:
    """Return y."""
    return weighted(J, add(nu0[1], inner(delta, nu1)))


@arithmetic
def after(h: float, J: Vec, turn: Turn, nu0: Quat, pi0: Quat) -> tuple[Quat, Vec, Quat]:
    """Return nu_1, y and pi_1 of Livens' equations."""
    delta = turn[0]
    nu1 = plus_quat(scale_quat(2.0 / h, travel(turn)), scale_quat(-1.0, nu0))
    y = mean_momentum(J, nu0, delta, nu1)
    pi1 = plus_quat(scale_quat(4.0, times_vector(middle(delta), y)), scale_quat(-1.0, pi0))
    return nu1, y, pi1


@arithmetic
def after_slope(
    h: float, J: Vec, turn: Turn, ddelta: Quat, dkappa: float, nu1: Quat, y: Vec
) -> tuple[Quat, Quat]:
    """Return how nu_1 and pi_1 change with delta and kappa."""
    dnu1 = scale_quat(2.0 / h, travel_slope(turn, ddelta, dkappa))
    dy = weighted(J, add(inner(ddelta, nu1), inner(turn[0], dnu1)))
    drawn = scale_quat(4.0, times_vector(middle(turn[0]), dy))
    return dnu1, plus_quat(scale_quat(2.0, times_vector(ddelta, y)), drawn)


@arithmetic
def livens(h: float, J: Vec, turn: Turn, nu0: Quat, pi0: Quat) -> tuple[Vec, Mat]:
    """Return Pi_1 of Livens' equations, and its derivatives by a_j as rows."""
    delta, _, ddelta, dkappa = turn
    nu1, y, pi1 = after(h, J, turn, nu0, pi0)
    slopes = [after_slope(h, J, turn, ddelta[j], dkappa[j], nu1, y)[1] for j in range(3)]
    by = [
        scale(0.5, add(inner(change, pi1), inner(delta, dpi1)))
        for change, dpi1 in zip(ddelta, slopes, strict=True)
    ]
    return scale(0.5, inner(delta, pi1)), (by[0], by[1], by[2])


@arithmetic
def hamilton(h: float, J: Vec, turn: Turn, a: Vec, Pi0: Vec) -> tuple[Vec, Mat]:
    """Return Pi_1 of Hamilton's equations, and its derivatives by a_j as rows.

    The factor f = kappa 2c/(1+c) changes by the derivative of c, -c^3 a, unless kappa undoes it.
    """
    c, kappa, dkappa = turn[0][0], turn[1], turn[3]
    short = 2.0 * c / (1.0 + c)
    f = kappa * short
    df = axpy(short, dkappa, scale(-2.0 * kappa * c * c * c / ((1.0 + c) * (1.0 + c)), a))
    Pi1 = sub(scale(4.0 * f / h, weighted(J, a)), Pi0)
    diagonal = (J[0], 0.0, 0.0), (0.0, J[1], 0.0), (0.0, 0.0, J[2])
    by_f = outer(df, weighted(J, a))
    return Pi1, times(4.0 / h, plus(times(f, diagonal), by_f))


@arithmetic
def arms_of(a: Vec, D: Mat) -> Mat:
    """Return the directors of the mean quaternion from the mean directors D, both as rows.

    They are A d with A = (1 + c)/(2 c) - (c/2) a a^T.
    """
    c = cosine(a)
    s, t = (1.0 + c) / (2.0 * c), -0.5 * c
    return (
        axpy(t * dot(a, D[0]), a, scale(s, D[0])),
        axpy(t * dot(a, D[1]), a, scale(s, D[1])),
        axpy(t * dot(a, D[2]), a, scale(s, D[2])),
    )


@arithmetic
def on_arms(a: Vec) -> Mat:
    """Return what a torque has on the directors of the mean quaternion.

    A torque tau is a force tau x d^i / 2 on each director, and has (tr A - A) tau / 2 there.
    """
    A = arms_of(a, UNIT)
    half = 0.5 * (A[0][0] + A[1][1] + A[2][2])
    return minus(times(half, UNIT), times(0.5, A))
