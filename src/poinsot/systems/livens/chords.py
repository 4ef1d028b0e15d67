r"""Discrete derivatives of functions of q over a step, by Gonzalez [KB24, eq. (71)].

.. math:: \bar\nabla F_i = \nabla F_i(q_m) + \frac{\Delta F_i - \nabla F_i(q_m) \cdot \Delta q}
          {d \cdot d}\, d

of every value of a function at once: :math:`\bar\nabla F\, \Delta q = \Delta F`. The correction
goes along d, the part of :math:`\Delta q` in coordinates that F depends on: it makes no force along
the others, and their momenta are as exact as the energy.
"""

from dataclasses import dataclass

import numpy as np

from poinsot.ph.gradients import NODES, Rule, without_loss
from poinsot.ph.matrices import Vector
from poinsot.systems.livens.smooth import Array, Smooth

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Chord:
    """The derivative of a function over a step from q0 to q1; `jacobian` has shape (values, n).

    It is that at the midpoint plus `alpha` (values,) times d.
    """

    F: Smooth
    q0: Vector
    q1: Vector
    jacobian: Array
    alpha: Vector | None = None

    def tangent(self, w: Vector) -> Array:
        """Return the derivative of jacobian^T w by q1; shape (n, n)."""
        mid, dq = (self.q0 + self.q1) / 2, self.q1 - self.q0
        curvature = self.F.curvature(mid, w)
        if self.alpha is None:
            return curvature / 2
        d = self.F.along * dq
        alpha, square = float(w @ self.alpha), float(d @ d)
        tangent = curvature / 2 + alpha * np.diag(self.F.along)
        # alpha's own derivative: a rank-one term, dropped where it drowns in round-off.
        end, middle = w @ self.F.jacobian(self.q1), w @ self.jacobian - alpha * d
        noise = EPS * np.max(abs(end), initial=0.0) / np.sqrt(square)
        if noise < 1e-6 * np.max(abs(curvature), initial=0.0):
            dalpha = (end - middle - curvature @ dq / 2 - 2 * alpha * d) / square
            tangent = tangent + np.outer(d, dalpha)
        return tangent


def chord(rule: Rule, F: Smooth, q0: Vector, q1: Vector) -> Chord:
    """Return the derivative of a function over a step: at its midpoint, or discrete."""
    mid, dq = (q0 + q1) / 2, q1 - q0
    d = F.along * dq
    square = float(d @ d)
    if rule is Rule.MIDPOINT or F.is_quadratic or square == 0:
        return Chord(F, q0, q1, F.jacobian(mid))
    slopes = np.array([F.jacobian(q0 + s * dq) for s in NODES])
    middle = slopes[2]
    along, work = slopes @ dq, np.max(abs(slopes) @ abs(dq), axis=0)
    numerator = without_loss(F.value(q0), F.value(q1), middle @ dq, along, work, exact=F.exact)
    alpha = np.where(F.quadratic, 0.0, numerator) / square
    return Chord(F, q0, q1, middle + np.outer(alpha, d), alpha)
