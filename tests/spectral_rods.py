"""Rods by spectral elements and DOP853: what the rods of the gallery are compared with.

The weak form of [SV88] with one polynomial for positions and one for rotations of each leg, nodes
and weights of Gauss, Legendre and Lobatto, and with rotations relative to those at the start.
Forces n and moments m in the rod act on the nodes with

    f_j = -sum_i w_i D_ij n_i,    t_j = -sum_i w_i D_ij m_i + w_j r'_j x n_j.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


def lobatto(degree: int) -> tuple[Array, Array, Array]:
    """Nodes in [-1, 1], weights, and the matrix that differentiates there."""
    highest = np.append(np.zeros(degree), 1.0)
    x = np.concatenate([[-1.0], legendre.legroots(legendre.legder(highest)).real, [1.0]])
    p = legendre.legval(x, highest)
    apart = x[:, None] - x + np.eye(degree + 1)
    D = p[:, None] / p / apart
    np.fill_diagonal(D, 0.0)
    D[0, 0], D[-1, -1] = -degree * (degree + 1) / 4, degree * (degree + 1) / 4
    return x, 2 / (degree * (degree + 1) * p**2), D


@dataclass
class SpectralRods:
    """Straight legs from corner to corner, with the stiffness and inertia of a `SectionLaw`.

    `force` and `torque` act on the node at `loaded`, the number of a corner, as functions of time.
    """

    corners: ArrayLike
    stiffness: ArrayLike  # (6,)
    mass: float
    inertia: ArrayLike  # (2,)
    loaded: int
    force: Callable[[float], ArrayLike]
    torque: Callable[[float], ArrayLike]
    clamped: bool = False
    degree: int = 16

    def __post_init__(self) -> None:
        """Place nodes, and give them mass and inertia."""
        x, self.w, self.D = lobatto(self.degree)
        corners = np.asarray(self.corners, dtype=float)
        count = len(corners) - 1
        self.C = np.asarray(self.stiffness, dtype=float)
        self.legs = [slice(k * self.degree, (k + 1) * self.degree + 1) for k in range(count)]
        self.r0 = np.zeros((count * self.degree + 1, 3))
        self.M, self.J = np.zeros(len(self.r0)), np.zeros((len(self.r0), 3, 3))
        self.axes, self.half = [], []
        for leg, a, b in zip(self.legs, corners, corners[1:], strict=False):
            self.r0[leg] = a + np.outer((x + 1) / 2, b - a)
            half = np.linalg.norm(b - a) / 2
            d3, d1 = (b - a) / (2 * half), np.array([0.0, 0.0, 1.0])
            A = np.column_stack([d1, np.cross(d3, d1), d3])
            J1, J2 = np.asarray(self.inertia, dtype=float)
            self.M[leg] += half * self.w * self.mass
            self.J[leg] += half * self.w[:, None, None] * (A @ np.diag([J1, J2, J1 + J2]) @ A.T)
            self.axes.append(A)
            self.half.append(half)
        self.inverse = np.linalg.inv(self.J)

    def rate(self, t: float, state: Array) -> Array:
        """Return the derivative of positions, rotations, velocities and spins in body axes."""
        n = len(self.r0)
        r, R = state[: 3 * n].reshape(n, 3), state[3 * n : 12 * n].reshape(n, 3, 3)
        v, w = state[12 * n : 15 * n].reshape(n, 3), state[15 * n :].reshape(n, 3)
        f, tau = np.zeros((n, 3)), np.zeros((n, 3))
        for leg, A, half in zip(self.legs, self.axes, self.half, strict=True):
            slope = self.D @ r[leg] / half
            turn = np.tensordot(self.D, R[leg], 1) / half
            skew = np.einsum("nji,njk->nik", R[leg], turn)
            curl = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], 1)
            back = np.stack([skew[:, 1, 2], skew[:, 2, 0], skew[:, 0, 1]], 1)
            RA = R[leg] @ A
            gamma = np.einsum("nji,nj->ni", RA, slope) - (0, 0, 1)
            N = np.einsum("nij,nj->ni", RA, self.C[:3] * gamma)
            m = np.einsum("nij,nj->ni", RA, self.C[3:] * ((curl - back) / 2 @ A))
            f[leg] -= self.D.T @ (self.w[:, None] * N)
            tau[leg] -= self.D.T @ (self.w[:, None] * m)
            tau[leg] += half * self.w[:, None] * np.cross(slope, N)
        at = self.loaded * self.degree
        f[at] += self.force(t)
        tau[at] += self.torque(t)
        spin = np.einsum("nij,nj->ni", self.J, w)
        body = np.einsum("nji,nj->ni", R, tau) - np.cross(w, spin)
        vdot, wdot = f / self.M[:, None], np.einsum("nij,nj->ni", self.inverse, body)
        if self.clamped:
            vdot[0] = wdot[0] = 0.0
        Rdot = np.cross(R, w[:, None, :])
        return np.concatenate([v.ravel(), Rdot.ravel(), vdot.ravel(), wdot.ravel()])

    def run(self, times: list[float], rtol: float = 1e-9) -> Array:
        """Return positions of the corners at times, from rest; loads may jump at these times."""
        n = len(self.r0)
        still = np.zeros(6 * n)
        state = np.concatenate([self.r0.ravel(), np.tile(np.eye(3).ravel(), n), still])
        found, before = [], 0.0
        for t in times:
            # Just inside of the interval: what acts at its end may be what acts after it.
            span = (before * (1 + 1e-14), t * (1 - 1e-14))
            state = solve_ivp(self.rate, span, state, "DOP853", rtol=rtol, atol=rtol).y[:, -1]
            found.append(state[: 3 * n].reshape(n, 3)[:: self.degree])
            before = t
        return np.array(found)
