r"""The placement of a frame relative to another: three displacements and three rotations.

With r from A to B, axes a_i on A and b_i on B and their means e_i, seven quadratic forms

.. math:: x_i = e_i \cdot r, \qquad a_i^\times = \tfrac12 \epsilon_{ijk}\, a_k \cdot b_j, \qquad
          w = \tfrac14 \Bigl(1 + \sum_i a_i \cdot b_i\Bigr)

determine it: for a rotation by theta about n they are sin(theta) n and cos^2(theta/2). Then
:math:`t = a^\times / (2 w)` is tan(theta/2) n, and the six coordinates are

.. math:: \chi_u = x - \tfrac23\, t \times (t \times x), \qquad
          \chi_r = \tfrac13 (4\, t + a^\times) .

The rotation is theta n with a relative error of theta^4/120, and diverges towards half a turn. The
displacement is that along the helix from A to B, with the same accuracy: chord and rotation become
arc length and curvature. All expressions are rational, so that differences over a step have closed
forms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.forms import Form, VectorForm
from poinsot.ph.matrices import Vector
from poinsot.so3 import skew

Array = NDArray[np.float64]

#: Number of forms and of coordinates.
FORMS, COORDINATES = 7, 6
#: The pairs (j, k) with epsilon_ijk = 1.
CYCLES = (1, 2), (2, 0), (0, 1)


def relative_forms(
    r: VectorForm, a: tuple[VectorForm, ...], b: tuple[VectorForm, ...]
) -> tuple[Form, ...]:
    """Return the seven forms of r and of the axes on A and on B."""
    along = [Form(((0.5, a_i, r), (0.5, b_i, r))) for a_i, b_i in zip(a, b, strict=True)]
    turned = [Form(((0.5, a[k], b[j]), (-0.5, a[j], b[k]))) for j, k in CYCLES]
    same = [(0.25, a_i, b_i) for a_i, b_i in zip(a, b, strict=True)]
    return *along, *turned, Form(tuple(same), 0.25)


def _cross(a: Vector, b: Vector) -> Vector:
    """Return a x b; NumPy's own takes ten times as long for two vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


class Placed(NamedTuple):
    """The forms as x, t, w and c = t x x, at one end of a step or as means of both."""

    x: Vector
    t: Vector
    w: float
    c: Vector

    @classmethod
    def at(cls, s: Vector) -> "Placed":
        """Return them where the forms are s."""
        x, w = s[:3], float(s[6])
        t = s[3:6] / (2 * w)
        return cls(x, t, w, _cross(t, x))

    def mean(self, other: "Placed") -> "Placed":
        """Return the means of both."""
        return Placed(
            (self.x + other.x) / 2,
            (self.t + other.t) / 2,
            (self.w + other.w) / 2,
            (self.c + other.c) / 2,
        )

    @property
    def turning(self) -> Array:
        """What turns ds into dt: of 2 w t, which is the third to fifth form; (3, 7)."""
        return np.hstack([np.zeros((3, 3)), np.eye(3) / (2 * self.w), -self.t[:, None] / self.w])

    @property
    def slope(self) -> Array:
        """What turns ds into dchi; of means, a difference of forms into that of chi; (6, 7)."""
        dx, dt, turned = np.eye(3, FORMS), self.turning, np.eye(3, FORMS, 3)
        dc = skew(self.t) @ dx - skew(self.x) @ dt
        dy = skew(self.t) @ dc - skew(self.c) @ dt
        return np.vstack([dx - 2 / 3 * dy, (4 * dt + turned) / 3])

    def bend(self, f: Vector, end: "Placed", share: float) -> Array:
        """Return the derivative of slope^T f by forms that change these by a share; (7, 7).

        Where these are means, the share of the end is a half.
        """
        N, M = f[:3], f[3:]
        x, t, w, c = self
        u = _cross(N, t)
        tau = 4 / 3 * M - 2 / 3 * (_cross(c, N) + _cross(x, u))
        dx, dt, dw = share * np.eye(3, FORMS), share * end.turning, share * np.eye(1, FORMS, 6)[0]
        dc = skew(end.t) @ dx - skew(end.x) @ dt
        du = skew(N) @ dt
        dn = -2 / 3 * (skew(u) @ dt - skew(t) @ du)
        dtau = -2 / 3 * (skew(x) @ du - skew(N) @ dc - skew(u) @ dx)
        dm = dtau / (2 * w) - np.outer(tau, dw) / (2 * w**2)
        dmu = -(tau @ dt + t @ dtau) / w + (t @ tau) / w**2 * dw
        return np.vstack([dn, dm, dmu])


def coordinates(s: Vector) -> Vector:
    """Return chi [m, rad] where the forms are s; (6,)."""
    at = Placed.at(s)
    return np.concatenate([at.x - 2 / 3 * _cross(at.t, at.c), (4 * at.t + s[3:6]) / 3])


def many_coordinates(s: Array) -> Array:
    """Return chi of many states, (..., 7) to (..., 6)."""
    x, turned, w = s[..., :3], s[..., 3:6], s[..., 6:]
    t = turned / (2 * w)
    return np.concatenate([x - 2 / 3 * np.cross(t, np.cross(t, x)), (4 * t + turned) / 3], -1)
