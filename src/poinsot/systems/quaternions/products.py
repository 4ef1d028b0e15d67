r"""Bilinear and quadratic maps of quaternions (scalar first) as constant arrays.

With G and E of [KB24, eq. (35)], :math:`G(a)\, b = -G(b)\, a` is the vector part of
:math:`\bar a \circ b` and :math:`E(a)\, b` that of :math:`b \circ \bar a`.
"""

import numpy as np
from numpy.typing import NDArray

from poinsot.so3 import skew

Array = NDArray[np.float64]


def _G(a: Array) -> Array:
    return np.hstack([-a[1:, None], a[0] * np.eye(3) - skew(a[1:])])


def _E(a: Array) -> Array:
    return np.hstack([-a[1:, None], a[0] * np.eye(3) + skew(a[1:])])


#: (G(a) b)_i = BODY[i, k, l] a_k b_l: twice that is the angular velocity in body axes.
BODY: Array = np.stack([_G(a) for a in np.eye(4)], axis=1)
#: (E(a) b)_i = WORLD[i, k, l] a_k b_l: twice that is the angular velocity in world axes.
WORLD: Array = np.stack([_E(a) for a in np.eye(4)], axis=1)
#: Q_l(a)^T b = (a·b, G(a) b) [KB24, eq. (145)].
WHOLE: Array = np.concatenate([np.eye(4)[None], BODY])
#: Directors, three components each: d_k = CURVE[k, a, b] q_a q_b / 2, from R = E(q) G(q)^T
#: [KB24, eq. (50)]; quadratic in q, unit or not.
CURVE: Array = np.einsum("cak,dbk->dcab", WORLD, BODY).reshape(9, 4, 4)
CURVE = CURVE + np.swapaxes(CURVE, 1, 2)


def directors(quat: Array) -> Array:
    """Return the columns of R(q), one after the other; (..., 4) to (..., 9)."""
    return np.asarray(np.einsum("kab,...a,...b->...k", CURVE, quat, quat) / 2)


def director_slopes(quat: Array) -> Array:
    """Return the derivative of the directors; (..., 4) to (..., 9, 4)."""
    return np.asarray(np.einsum("kab,...b->...ka", CURVE, quat))


def world(quat: Array) -> Array:
    """Return E(q); (..., 4) to (..., 3, 4)."""
    return np.asarray(np.einsum("iab,...a->...ib", WORLD, quat))


def body(quat: Array) -> Array:
    """Return G(q); (..., 4) to (..., 3, 4)."""
    return np.asarray(np.einsum("iab,...a->...ib", BODY, quat))
