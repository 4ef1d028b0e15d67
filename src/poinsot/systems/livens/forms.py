r"""Energies that are quadratic in velocities or momenta, with a matrix that depends on q.

.. math:: T(q, s) = \tfrac12\, s \cdot K(q)\, s

with K the mass matrix and s = v, or its inverse and s = p.
"""

from collections.abc import Callable

import numpy as np

from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.systems.livens.chords import chord
from poinsot.systems.livens.lagrangian import Slopes
from poinsot.systems.livens.smooth import Array, Smooth


def matrix(K: Smooth, q: Vector) -> Array:
    """Return K(q); shape (n, n)."""
    return K.value(q).reshape(q.size, q.size)


def derivative(K: Smooth, q: Vector) -> Array:
    """Return dK_ij/dq_k; shape (n, n, n)."""
    return K.jacobian(q).reshape(q.size, q.size, q.size)


def slopes(K: Smooth, rule: Rule, q0: Vector, s0: Vector, q1: Vector, s1: Vector) -> Slopes:
    r"""Return the partitioned discrete derivatives of T over a step [KB24, eq. (129)-(131)].

    T is quadratic in s, so that the discrete derivative by s is that at the middle,
    :math:`\bar\partial_s T = \tfrac12 (K(q_0) + K(q_1))\, s_m`, and the one by q is Gonzalez' one
    of :math:`\tfrac14 (s_0 \cdot K s_0 + s_1 \cdot K s_1)`.
    """
    n, s = q0.size, (s0 + s1) / 2
    if K.constant:
        K0, none = matrix(K, q0), np.zeros((n, n))
        return Slopes(np.zeros(n), K0 @ s, none, none, none, K0 / 2)
    step = chord(rule, K, q0, q1)
    dK = step.jacobian.reshape(n, n, n)
    if rule is Rule.MIDPOINT:
        middle, pairs = matrix(K, (q0 + q1) / 2), np.outer(s, s).reshape(-1)
        sq = np.einsum("ijk,j->ik", dK, s) / 2
        qs = sq.T
    else:
        middle = (matrix(K, q0) + matrix(K, q1)) / 2
        pairs = (np.outer(s0, s0) + np.outer(s1, s1)).reshape(-1) / 2
        sq = np.einsum("ijk,j->ik", derivative(K, q1), s) / 2
        qs = np.einsum("ijk,j->ki", dK, s1) / 2
    return Slopes(
        by_q=pairs @ step.jacobian / 2,
        by_s=middle @ s,
        qq=step.tangent(pairs) / 2,
        qs=qs,
        sq=sq,
        ss=middle / 2,
    )


def inverse(K: Smooth, invert: Callable[[Array], Array]) -> Smooth:
    """Return the inverse of a symmetric matrix of q; `invert` inverts it at a point."""

    def value(q: Vector) -> Vector:
        return invert(matrix(K, q)).reshape(-1)

    def jacobian(q: Vector) -> Array:
        N = invert(matrix(K, q))
        dN = -N @ np.moveaxis(derivative(K, q), 2, 0) @ N
        return np.asarray(dN.reshape(q.size, -1).T)

    def curvature(q: Vector, w: Vector) -> Array:
        n, N, W = q.size, invert(matrix(K, q)), w.reshape(q.size, q.size)
        dK, A = np.moveaxis(derivative(K, q), 2, 0), N @ ((W + W.T) / 2) @ N
        # The second derivatives of N are 2 N K_k N K_l N - N K_kl N, paired with W.
        traces = (A @ dK).reshape(n, -1) @ np.swapaxes(N @ dK, 1, 2).reshape(n, -1).T
        return np.asarray(2 * traces - K.curvature(q, A.reshape(-1)))

    return Smooth(
        value=value,
        jacobian=jacobian,
        curvature=curvature,
        quadratic=np.full(K.size, K.constant),
        along=K.along,
        constant=K.constant,
        exact=K.exact,
    )
