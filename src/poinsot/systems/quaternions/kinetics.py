r"""Kinetic energies that are quadratic in a bilinear map of two quaternions, over a step.

.. math:: T = \tfrac12\, y \cdot W y, \qquad y_i = \Lambda_{iab}\, q_a s_b

With s = v, y is the angular velocity in body axes and W the inertia; with s = p, y is
:math:`Q_l(q)^\top p` and W the inverse of the augmented inertia. The discrete derivatives take the
mean of y at both ends, and keep energy and angular momentum of a free body [KB24, eq. (87)-(88)].
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.gradients import Rule

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spin:
    """The rotational energy of many bodies: Lambda (k, 4, 4) and W (bodies, k), diagonal."""

    Lambda: Array
    W: Array

    def value(self, q: Array, s: Array) -> Array:
        """Return y; (bodies, 4) to (bodies, k)."""
        return np.asarray(np.einsum("iab,na,nb->ni", self.Lambda, q, s))

    def energy(self, q: Array, s: Array) -> float:
        """Return the sum of all energies [J]."""
        return float(np.sum(self.W * self.value(q, s) ** 2)) / 2

    def by_q(self, s: Array) -> Array:
        """Return dy/dq; (bodies, k, 4)."""
        return np.asarray(np.einsum("iab,nb->nia", self.Lambda, s))

    def by_s(self, q: Array) -> Array:
        """Return dy/ds; (bodies, k, 4)."""
        return np.asarray(np.einsum("iab,na->nib", self.Lambda, q))

    def mixed(self, w: Array) -> Array:
        """Return the derivative of (dy/dq)^T w by s; (bodies, 4, 4)."""
        return np.asarray(np.einsum("iab,ni->nab", self.Lambda, w))

    def slopes(
        self, rule: Rule, q0: Array, s0: Array, q1: Array, s1: Array
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Return the derivatives by q and s, then theirs by q1 and s1: qq, qs, sq, ss."""
        q, s = (q0 + q1) / 2, (s0 + s1) / 2
        if rule is Rule.MIDPOINT:
            y, end_q, end_s = self.value(q, s), q, s
        else:
            y, end_q, end_s = (self.value(q0, s0) + self.value(q1, s1)) / 2, q1, s1
        w = self.W * y
        by_q, by_s, mixed = self.by_q(s), self.by_s(q), self.mixed(w) / 2
        # W dy, y being a mean.
        dq = self.W[:, :, None] * self.by_q(end_s) / 2
        ds = self.W[:, :, None] * self.by_s(end_q) / 2
        return (
            np.einsum("nia,ni->na", by_q, w),
            np.einsum("nia,ni->na", by_s, w),
            np.einsum("nia,nib->nab", by_q, dq),
            np.einsum("nia,nib->nab", by_q, ds) + mixed,
            np.einsum("nia,nib->nab", by_s, dq) + np.swapaxes(mixed, 1, 2),
            np.einsum("nia,nib->nab", by_s, ds),
        )
