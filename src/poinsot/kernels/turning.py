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

from poinsot.kernels.algebra import Mat, Vec, axpy, dot, minus, outer, plus, scale, sub, times
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.quaternions import Quat, inner, plus_quat, scale_quat, times_vector
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
def travel(turn: Turn) -> Quat:
    """Return kappa (delta - 1); c - 1 = -a·a c^2 / (1 + c) knows no cancellation."""
    (c, v), kappa = turn[0], turn[1]
    return scale_quat(kappa, (-dot(v, v) / (1.0 + c), v))


@arithmetic
def travel_slope(turn: Turn, ddelta: Quat, dkappa: float) -> Quat:
    """Return the derivative of the travel by a_j, given those of delta and kappa."""
    (c, v), kappa = turn[0], turn[1]
    change = (-dot(v, v) / (1.0 + c), v)
    return plus_quat(scale_quat(dkappa, change), scale_quat(kappa, ddelta))


@arithmetic
def weighted(J: Vec, a: Vec) -> Vec:
    """Return diag(J) a."""
    return J[0] * a[0], J[1] * a[1], J[2] * a[2]


@arithmetic
def middle(delta: Quat) -> Quat:
    """Return mu."""
    return 0.5 * (1.0 + delta[0]), scale(0.5, delta[1])


@arithmetic
def velocity_after(h: float, turn: Turn, nu0: Quat) -> Quat:
    """Return nu_1."""
    return plus_quat(scale_quat(2.0 / h, travel(turn)), scale_quat(-1.0, nu0))


@arithmetic
def mean_momentum(J: Vec, Omega0: Vec, delta: Quat, nu1: Quat) -> Vec:
    """Return y."""
    return weighted(J, axpy(0.5, Omega0, inner(delta, nu1)))


@arithmetic
def momentum_after(delta: Quat, y: Vec, pi0: Quat) -> Quat:
    """Return pi_1."""
    return plus_quat(scale_quat(4.0, times_vector(middle(delta), y)), scale_quat(-1.0, pi0))


@arithmetic
def livens(h: float, J: Vec, turn: Turn, nu0: Quat, pi0: Quat) -> tuple[Vec, Mat]:
    """Return Pi_1 of Livens' equations, and its derivatives by a_j as rows."""
    delta, ddelta, dkappa = turn[0], turn[2], turn[3]
    nu1 = velocity_after(h, turn, nu0)
    y = mean_momentum(J, scale(2.0, nu0[1]), delta, nu1)
    pi1, mu = momentum_after(delta, y, pi0), middle(delta)
    return scale(0.5, inner(delta, pi1)), (
        _livens_slope(h, J, turn, ddelta[0], dkappa[0], nu1, y, pi1, mu),
        _livens_slope(h, J, turn, ddelta[1], dkappa[1], nu1, y, pi1, mu),
        _livens_slope(h, J, turn, ddelta[2], dkappa[2], nu1, y, pi1, mu),
    )


@arithmetic
def _livens_slope(
    h: float,
    J: Vec,
    turn: Turn,
    ddelta: Quat,
    dkappa: float,
    nu1: Quat,
    y: Vec,
    pi1: Quat,
    mu: Quat,
) -> Vec:
    delta = turn[0]
    dnu1 = scale_quat(2.0 / h, travel_slope(turn, ddelta, dkappa))
    dy = weighted(J, axpy(1.0, inner(ddelta, nu1), inner(delta, dnu1)))
    dpi1 = plus_quat(
        scale_quat(2.0, times_vector(ddelta, y)), scale_quat(4.0, times_vector(mu, dy))
    )
    return scale(0.5, axpy(1.0, inner(ddelta, pi1), inner(delta, dpi1)))


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
