"""Integrals over the mass of a deformable body, for its motion together with its frame.

A point at x in the frame is displaced by :math:`u_f = N u`, linear in the unknowns u. Kinetic
energy, momenta and weight depend on the mass distribution by a few constants only.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.so3 import axial, skew

#: A matrix (n, n) for each pair of directions, sparse or as one array (3, 3, n, n).
Pairs: TypeAlias = tuple[tuple[Matrix, ...], ...] | Array

#: Directions a, b whose products stand in component x, y, z of a cross product.
CYCLIC = ((1, 2), (2, 0), (0, 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class MassIntegrals:
    r"""Integrals of the mass of a body with n unknowns u, in the axes of its frame.

    Directions a, b are x, y, z; :math:`N_a` is row a of N.

    Parameters
    ----------
    mass : float
        :math:`m = \int \rho` [kg].
    first_moment : (3,)
        :math:`s = \int \rho\, x` [kg m].
    euler : (3, 3)
        :math:`\int \rho\, x x^\top` about the origin of the frame [kg m^2].
    S : (3, n)
        :math:`\int \rho N`: linear momentum per unit velocity of each unknown.
    moments : (3, 3, n)
        :math:`\int \rho\, x_a N_b`.
    pairs : 3 by 3 matrices (n, n)
        :math:`M_{ab} = \int \rho N_a^\top N_b`.
    section_inertia, section_S, section_M : (3, 3), (3, n), (n, n)
        What does not change with u in J, in the angular momentum and in M: cross-sections of beams
        that turn about their centroids. None: nothing.
    """

    mass: float
    first_moment: Vector
    euler: Array
    S: Array
    moments: Array
    pairs: Pairs
    section_inertia: Array | None = None
    section_S: Array | None = None
    section_M: Matrix | None = None

    @classmethod
    def of_pairs(cls, pairs: Pairs, positions: Vector, rigid: Array) -> Self:
        """Return the integrals of unknowns that hold rigid motions exactly.

        `positions` are the unknowns of the field x, `rigid` those of the motions (v, Omega).
        """
        moments = np.array([[M_ab.T @ positions for M_ab in row] for row in pairs])
        S = np.array([pairs[a][a] @ rigid[:, a] for a in range(3)])
        return cls(
            mass=float(S[0] @ rigid[:, 0]),
            first_moment=S @ positions,
            euler=moments @ positions,
            S=S,
            moments=moments,
            pairs=pairs,
        )

    @classmethod
    def of_mass_matrix(cls, M: Array, moments: Array, pairs: Pairs) -> Self:
        """Return the integrals of a body with a mass matrix M (6 + n, 6 + n) without deformation.

        What `moments` and `pairs` do not account for does not change with u.
        """
        J = M[3:6, 3:6]
        body = cls(
            mass=float(M[0, 0]),
            first_moment=np.asarray(axial(M[3:6, :3])),
            euler=np.trace(J) / 2 * np.eye(3) - J,
            S=M[:3, 6:],
            moments=moments,
            pairs=pairs,
        )
        return replace(body, section_S=M[3:6, 6:] - body.xS(), section_M=M[6:, 6:] - dense(body.M))

    # -- at a deformation --------------------------------------------------------------------------

    @cached_property
    def M(self) -> Matrix:
        """Mass matrix of the unknowns, the integral of density * N^T N; (n, n)."""
        M: Matrix = self.pairs[0][0] + self.pairs[1][1] + self.pairs[2][2]
        return M if self.section_M is None else M + self.section_M

    def s(self, u: Vector | None = None) -> Vector:
        """Return the first moment, the integral of density * (x + u_f) [kg m]; (3,)."""
        return self.first_moment if u is None else self.first_moment + self.S @ u

    def J(self, u: Vector | None = None) -> Array:
        r"""Return the inertia :math:`\int \rho\, \tilde x_f^\top \tilde x_f`; (3, 3).

        [BAPM21, eq. (2)], about the origin of the frame [kg m^2]; :math:`x_f = x + u_f`.
        """
        E = self.euler
        if u is not None:
            first = self.moments @ u
            E = E + first + first.T + self._second(u) @ u
        J: Array = np.trace(E) * np.eye(3) - E
        return J if self.section_inertia is None else J + self.section_inertia

    def xS(self, u: Vector | None = None) -> Array:
        r"""Return :math:`\int \rho\, \tilde x_f N`, the angular momentum of the unknowns; (3, n).

        [BAPM21, eq. (9)], about the origin of the frame.
        """
        A = self.products(u)
        rows = np.array([A[a, b] - A[b, a] for a, b in CYCLIC])
        return rows if self.section_S is None else rows + self.section_S

    def products(self, u: Vector | None = None) -> Array:
        r"""Return :math:`\int \rho\, (x + u_f)_a N_b`; (3, 3, n)."""
        return self.moments if u is None else self.moments + self._second(u)

    @cached_property
    def cross(self) -> Array:
        r"""Integrals :math:`\int \rho\, N_k \times N_l` of pairs of unknowns, dense; (3, n, n)."""
        return np.array([dense(self.pairs[a][b] - self.pairs[b][a]) for a, b in CYCLIC])

    def _second(self, u: Vector) -> Array:
        """Return u^T M_ab for each pair of directions; (3, 3, n)."""
        if isinstance(self.pairs, np.ndarray):
            return np.asarray(u @ self.pairs)
        return np.array([[M_ab.T @ u for M_ab in row] for row in self.pairs])

    # -- of other unknowns, frames and bodies ------------------------------------------------------

    def of(self, modes: Any) -> Self:
        """Return the integrals for unknowns eta with u = modes @ eta; modes: (n, k)."""

        def project(M: Matrix) -> Matrix:
            projected: Matrix = modes.T @ M @ modes
            return projected

        section_S, section_M = self.section_S, self.section_M
        return replace(
            self,
            S=self.S @ modes,
            moments=np.array([[row @ modes for row in rows] for rows in self.moments]),
            pairs=tuple(tuple(map(project, row)) for row in self.pairs),
            section_S=None if section_S is None else section_S @ modes,
            section_M=None if section_M is None else project(section_M),
        )

    def dense(self) -> Self:
        """Return the same in dense matrices."""
        pairs = np.array([[dense(M_ab) for M_ab in row] for row in self.pairs])
        section_M = None if self.section_M is None else dense(self.section_M)
        return replace(self, pairs=pairs, section_M=section_M)

    def about(self, c: Vector) -> Self:
        """Return the integrals for a parallel frame with its origin at the point c."""
        m, s = self.mass, self.first_moment
        return replace(
            self,
            first_moment=s - m * c,
            euler=self.euler - np.outer(c, s) - np.outer(s, c) + m * np.outer(c, c),
            moments=self.moments - c[:, None, None] * self.S,
        )

    def with_point(self, mass: float, x: Vector, Y: Array) -> Self:
        """Return the integrals with a point mass at x that is displaced by Y u; dense."""
        return replace(
            self,
            mass=self.mass + mass,
            first_moment=self.first_moment + mass * x,
            euler=self.euler + mass * np.outer(x, x),
            S=self.S + mass * Y,
            moments=self.moments + mass * np.einsum("a,bl->abl", x, Y),
            pairs=np.asarray(self.pairs) + mass * np.einsum("ak,bl->abkl", Y, Y),
        )

    def mass_matrix(self, u: Vector | None = None) -> Array:
        """Return the mass matrix for (v, Omega, u') [BAPM21, eq. (10)]; (6 + n, 6 + n)."""
        size = 6 + self.S.shape[1]
        M, s, xS = np.empty((size, size)), skew(self.s(u)), self.xS(u)
        M[:3, :3] = self.mass * np.eye(3)
        M[:3, 3:6], M[3:6, :3], M[3:6, 3:6] = -s, s, self.J(u)
        M[:3, 6:], M[6:, :3] = self.S, self.S.T
        M[3:6, 6:], M[6:, 3:6], M[6:, 6:] = xS, xS.T, dense(self.M)
        return M
