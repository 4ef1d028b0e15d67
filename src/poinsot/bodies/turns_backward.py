r"""The turn of a body in quaternions over a step backwards, see `turning`.

Seen from the body, a rotation has slip and Omega of the quaternion's velocity, share and Pi of its
momentum. With gradients g by these at the end of a step, which is :math:`\bar\delta \nu_1` and
:math:`\bar\delta \pi_1` of Livens' equations,

.. math:: g_{\pi_1} = \delta g_\pi, \quad g_y = 4\, vec(\bar\mu\, g_{\pi_1}), \quad
          g_{\nu_1} = \delta g_\nu + \delta\, (0, J g_y)

and, as :math:`(\bar u x) \cdot g = u \cdot (x \bar g)`, that by the turn is

.. math:: g_\delta = \nu_1 (\bar g_\nu - (0, J g_y)) + \pi_1 \bar g_\pi
          - 2 g_{\pi_1} (0, y) + (2 \kappa / h)\, g_{\nu_1} .
"""

from typing import TypeAlias

from poinsot.kernels.algebra import Array, Vec, add, apply, each, matrix, scale, sub, vector
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.quaternions import (
    Quat,
    conjugate,
    dot_quat,
    inner,
    plus_quat,
    product,
    scale_quat,
    times_vector,
)
from poinsot.kernels.tables import DIRECTORS, HALF, LIVENS, Spins
from poinsot.kernels.terms import NONE
from poinsot.kernels.turning import Turn, after, middle, momentum_of, travel, turn_of, velocity_of

#: Gradients by slip, Omega, share and Pi.
Rotation: TypeAlias = tuple[float, Vec, float, Vec]


@inline
def turned_back(
    spins: Spins, b: int, h: float, state: Array, stage: Array, by_end: Rotation
) -> tuple[Vec, Rotation, Vec]:
    """Return the gradients by a, by the rotation at the start, and by J of that by its end.

    That is by a = h w / 2 in axes of the start.
    """
    J, a = vector(spins.inertia, b, 0), apply(matrix(state, b, DIRECTORS), vector(stage, b, HALF))
    if spins.form == LIVENS:
        turn = turn_of(a, spins.mean)
        return livens_back(h, J, turn, velocity_of(state, b), momentum_of(state, b), by_end)
    # Omega_1 = (4/h) a - Omega_0; momentum follows.
    _, by_Omega, _, _ = by_end
    return scale(4.0 / h, by_Omega), (0.0, scale(-1.0, by_Omega), 0.0, NONE), NONE


@arithmetic
def livens_back(
    h: float, J: Vec, turn: Turn, nu0: Quat, pi0: Quat, by_end: Rotation
) -> tuple[Vec, Rotation, Vec]:
    """Return the same of Livens' equations."""
    delta, kappa, ddelta, dkappa = turn
    nu1, y, pi1 = after(h, J, turn, nu0, pi0)
    by_slip, by_Omega, by_share, by_Pi = by_end
    by_nu, by_pi = (by_slip, scale(2.0, by_Omega)), (by_share, scale(0.5, by_Pi))
    by_pi1 = product(delta, by_pi)
    by_y = scale(4.0, inner(middle(delta), by_pi1))
    by_z = each(J, by_y)
    by_nu1 = plus_quat(product(delta, by_nu), times_vector(delta, by_z))
    pulled = conjugate(by_nu)[0], sub(conjugate(by_nu)[1], by_z)
    by_delta = plus_quat(product(nu1, pulled), product(pi1, conjugate(by_pi)))
    by_delta = plus_quat(by_delta, scale_quat(-2.0, times_vector(by_pi1, y)))
    by_delta = plus_quat(by_delta, scale_quat(2.0 * kappa / h, by_nu1))
    by_kappa = 2.0 / (h * kappa) * dot_quat(by_nu1, travel(turn))
    by_a = (
        dot_quat(by_delta, ddelta[0]) + by_kappa * dkappa[0],
        dot_quat(by_delta, ddelta[1]) + by_kappa * dkappa[1],
        dot_quat(by_delta, ddelta[2]) + by_kappa * dkappa[2],
    )
    by_velocity, by_momentum = scale(0.5, sub(by_z, by_nu1[1])), scale(-2.0, by_pi1[1])
    # y = J z, z the mean of Omega.
    by_J = each(add(nu0[1], inner(delta, nu1)), by_y)
    return by_a, (-by_nu1[0], by_velocity, -by_pi1[0], by_momentum), by_J
