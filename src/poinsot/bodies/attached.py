r"""Frames attached to an elastic body: their place, and their motion over a step.

A place has the coordinates X(u) = X_0 + Y u in the floating frame, and rotates with the small
rotation :math:`\theta = \Theta u` as :math:`Q(\theta) = \mathrm{cay}(\theta)`, so that its frame
stays orthonormal, and

.. math:: \varphi_C = \varphi + R\, X(u), \qquad D_C = R\, Q(\Theta u) .

Over a step the floating frame moves by h V and rotates by cay(h omega), and u changes by h v_f.
With
a = h omega / 2, the velocities of the attached frame are linear in these velocities, exactly:

.. math::

    V_C &= V + \omega \times \tfrac12 (R_0 X_0 + R_1 X_1) + (I + [a])\, R_0\, Y v_f \\
    \omega_C &= \omega + T\, \Theta v_f, \qquad
    T = \frac{(I + [a] + a a^\top)\, R_0\, (I + [\bar b])}{(1 - a \cdot k)(1 + b_0 \cdot b_1)},
    \quad k = \frac{R_0\, (I + [b_0])\, (b_1 - b_0)}{1 + b_0 \cdot b_1}

with :math:`b = \theta / 2`, from the products of rotations in Rodrigues parameters. A force and a
torque at the frame act on the velocities by the transpose: to joints, forces and ports these frames
are like those of rigid bodies, and energy and both momenta are exchanged exactly. Any b between
:math:`b_0` and :math:`b_1` gives the same :math:`\omega_C`, but not the same transpose; with the
mean :math:`\bar b`, a step is symmetric in time, and so of order two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.flexibility import Flexibility, Vector
from poinsot.so3 import skew

Array = NDArray[np.float64]


def _turned(theta: Array) -> Array:
    """Return Q = cay(theta) = I + s ([b] + [b]^2), s = 2 / (1 + b·b); (..., places, 3, 3)."""
    b = skew(theta / 2)
    return np.asarray(np.eye(3) + _scale(theta) * (b + b @ b))


def _scale(theta: Array) -> Array:
    b = theta / 2
    return np.asarray(2 / (1 + np.sum(b * b, axis=-1)))[..., None, None]


def _turned_along(theta: Array, change: Array) -> Array:
    """Return the derivative of Q along changes of theta (places, 3, k); (places, k, 3, 3)."""
    b, s = skew(theta / 2)[:, None], _scale(theta)[:, None]
    db = skew(np.swapaxes(change, 1, 2) / 2)
    ds = -(s**2) * np.einsum("pi,pik->pk", theta / 2, change / 2)[:, :, None, None]
    return np.asarray(ds * (b + b @ b) + s * (db + db @ b + b @ db))


def _turned_twice(theta: Array, first: Array, second: Array) -> Array:
    """Return the second derivative of Q along (places, 3) and (places, 3, k); (places, k, 3, 3)."""
    b, s = skew(theta / 2)[:, None], _scale(theta)[:, None]
    one, two = skew(first / 2)[:, None], skew(np.swapaxes(second, 1, 2) / 2)
    along = np.sum(theta * first, axis=1)[:, None, None, None] / 4
    across = np.einsum("pi,pik->pk", theta / 2, second / 2)[:, :, None, None]
    product = np.einsum("pi,pik->pk", first / 2, second / 2)[:, :, None, None]
    d_one, d_two, dd = -(s**2) * along, -(s**2) * across, 2 * s**3 * along * across - s**2 * product
    changed = two + two @ b + b @ two
    total = dd * (b + b @ b) + d_one * changed + d_two * (one + one @ b + b @ one)
    return np.asarray(total + s * (one @ two + two @ one))


# -- coefficients: vectors of an attached frame are sums of those of the floating frame ------------


def coefficients(body: Flexibility, u: Array) -> Array:
    """Return c with phi_C = phi + d_i c[0, i] and D_j = d_i c[j, i]; (..., places, 4, 3)."""
    moved, theta = _motion(body, u)
    c = np.empty((*theta.shape[:-1], 4, 3))
    c[..., 0, :] = body.points + moved
    c[..., 1:, :] = np.swapaxes(_turned(theta), -1, -2)
    return c


def coefficients_rate(body: Flexibility, u: Array, v: Array) -> Array:
    """Return how fast coefficients change with v_f, at many u; (..., places, 4, 3)."""
    (_, theta), (moving, turning) = _motion(body, u), _motion(body, v)
    c = np.empty((*theta.shape[:-1], 4, 3))
    c[..., 0, :] = moving
    turned = _turned_along(theta.reshape(-1, 3), turning.reshape(-1, 3, 1))
    c[..., 1:, :] = np.swapaxes(turned, -1, -2).reshape(*theta.shape, 3)
    return c


def _motion(body: Flexibility, u: Array) -> tuple[Array, Array]:
    """Return displacements and rotations of places; (..., places, 3) each."""
    Y, Theta = (np.einsum("pin,...n->...pi", A, u) for A in (body.Y, body.Theta))
    return Y, Theta


def coefficients_by_u(body: Flexibility, u: Vector) -> Array:
    """Return the derivative of the coefficients by u; (places, 4, 3, n)."""
    slope = np.empty((len(body.points), 4, 3, body.n))
    slope[:, 0] = body.Y
    slope[:, 1:] = np.transpose(_turned_along(body.Theta @ u, body.Theta), (0, 3, 2, 1))
    return slope


def coefficients_along(body: Flexibility, u: Vector, change: Vector) -> Array:
    """Return the derivative of (dc/du) change by u; (places, 4, 3, n)."""
    bend = np.zeros((len(body.points), 4, 3, body.n))
    twice = _turned_twice(body.Theta @ u, body.Theta @ change, body.Theta)
    bend[:, 1:] = np.transpose(twice, (0, 3, 2, 1))
    return bend


def coefficients_bend(body: Flexibility, u: Vector, pull: Array) -> Array:
    """Return the second derivative of the sum of pull times coefficients by u; (n, n).

    Coefficients depend on u by the three rotations of each place; pull: (places, 4, 3).
    """
    theta, axes = body.Theta @ u, np.eye(3)
    every = np.broadcast_to(axes, (len(theta), 3, 3))
    bend = np.empty((len(theta), 3, 3))
    for k, axis in enumerate(axes):
        twice = _turned_twice(theta, np.broadcast_to(axis, theta.shape), every)
        bend[:, k] = np.einsum("pmi,pkim->pk", pull[:, 1:], twice)
    return np.asarray(np.einsum("pan,pal->nl", body.Theta, bend @ body.Theta))


# -- over a step -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Carried:
    """How attached frames move over a step, by (V, omega) of the floating frame and v_f.

    Parameters
    ----------
    twists : (places, 2, 3)
        V_C and omega_C, world axes.
    L : (places, 2, 3, 6 + n)
        What velocities make them, of which the transpose takes forces and torques back.
    slope : (places, 2, 3, 6 + n)
        Their derivative with respect to velocities.
    """

    twists: Array
    L: Array
    slope: Array
    _body: Flexibility
    _h: float
    _R0: Array
    _frame: tuple[Array, ...]

    @classmethod
    def of(
        cls, body: Flexibility, h: float, R0: Array, R: Array, u0: Vector, w: Vector
    ) -> "Carried":
        """Return the motion by w = (V, omega, v_f); R is the mean of the rotations R0 and R1."""
        omega, v_f, R1 = w[3:6], w[6:], 2 * R - R0
        a, C, places = h / 2 * omega, R @ R0.T, len(body.points)
        X0, du = body.points + body.Y @ u0, h * v_f
        X1 = X0 + body.Y @ du
        arm = (X0 @ R0.T + X1 @ R1.T) / 2
        moved, turned = body.Y @ v_f, body.Theta @ v_f
        b0, db = body.Theta @ u0 / 2, h / 2 * turned
        n, den = db + np.cross(b0, db), 1 + np.sum(b0 * (b0 + db), axis=1)
        k = n @ R0.T / den[:, None]
        A, sigma = np.eye(3) + skew(a) + np.outer(a, a), 1 / (1 - k @ a)
        mean = np.eye(3) + skew(b0 + db / 2)
        T = sigma[:, None, None] * (A @ R0 @ mean) / den[:, None, None]
        L = np.zeros((places, 2, 3, len(w)))
        L[:, 0, :, :3] = np.eye(3)
        L[:, 0, :, 3:6] = -skew(arm)
        L[:, 0, :, 6:] = ((np.eye(3) + skew(a)) @ R0) @ body.Y
        L[:, 1, :, 3:6] = np.eye(3)
        L[:, 1, :, 6:] = T @ body.Theta
        twists = L @ w
        slope = L.copy()
        # The arm turns with R1, by h C (d omega x R X1), and moves with u1.
        by_omega = -h / 2 * C @ skew(X1 @ R.T)
        by_v = h / 2 * R1 @ body.Y
        slope[:, 0, :, 3:6] += skew(omega) @ by_omega - h / 2 * skew(moved @ R0.T)
        slope[:, 0, :, 6:] += skew(omega) @ by_v
        # omega_C - omega = (2/h) g, g = A k / (1 - a·k).
        g = sigma[:, None] * (k @ A.T)
        rank = np.einsum("pi,pj->pij", g + a, k) + (k @ a)[:, None, None] * np.eye(3)
        g_a = sigma[:, None, None] * (rank - skew(k))
        g_k = sigma[:, None, None] * (A + g[:, :, None] * a)
        k_b = R0 @ (np.eye(3) + skew(b0) - np.einsum("pi,pj->pij", n / den[:, None], b0))
        k_b = k_b / den[:, None, None]
        slope[:, 1, :, 3:6] += g_a
        slope[:, 1, :, 6:] = g_k @ k_b @ body.Theta
        return cls(twists, L, slope, body, h, R0, (a, R, X1, R1, k, den, b0, sigma, mean, k_b, T))

    def lever_by_w(self, forces: Array) -> Array:
        """Return the derivative of L^T forces by w, forces (places, 2, 3) fixed; (6 + n, 6 + n)."""
        a, R, X1, R1, k, den, b0, sigma, mean, k_b, T = self._frame
        body, h, R0, (f, tau) = self._body, self._h, self._R0, np.swapaxes(forces, 0, 1)
        size = self.L.shape[-1]
        slope = np.zeros((size, size))
        by_omega = -h / 2 * (R @ R0.T) @ skew(X1 @ R.T)
        by_v = h / 2 * R1 @ body.Y
        slope[3:6, 3:6] = -(skew(f) @ by_omega).sum(axis=0)
        slope[3:6, 6:] = -(skew(f) @ by_v).sum(axis=0)
        # Y^T R0^T (I - [a]) f
        slope[6:, 3:6] = h / 2 * np.einsum("pin,pij->nj", body.Y, R0.T @ skew(f))
        # T^T tau with T = sigma A R0 (I + [b]) / den, b the mean of both ends; sigma changes by
        # sigma^2 (k·da + a·dk).
        pulled = np.einsum("pji,pj->pi", T, tau)
        outer = sigma[:, None, None] / den[:, None, None]
        turning = skew(tau) + np.einsum("i,pj->pij", a, tau) + (tau @ a)[:, None, None] * np.eye(3)
        by_a = outer * (np.swapaxes(R0 @ mean, 1, 2) @ turning)
        by_a = by_a + sigma[:, None, None] * np.einsum("pi,pj->pij", pulled, k)
        by_b = sigma[:, None, None] * np.einsum(
            "pi,pj->pij", pulled, np.einsum("j,pjk->pk", a, k_b)
        )
        by_b = by_b - np.einsum("pi,pj->pij", pulled / den[:, None], b0)
        A = np.eye(3) + skew(a) + np.outer(a, a)
        by_b = by_b + outer / 2 * skew(tau @ A @ R0)
        slope[6:, 3:6] += h / 2 * np.einsum("pin,pij->nj", body.Theta, by_a)
        slope[6:, 6:] += h / 2 * np.einsum("pin,pij,pjm->nm", body.Theta, by_b, body.Theta)
        return slope
