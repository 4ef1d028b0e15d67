r"""Integrals over the mass of a deformable body, for its motion together with its frame.

A point at x in the frame is displaced by :math:`u_f = N u`, linear in the unknowns u. All that
kinetic energy, momenta and weight need of the mass distribution follows from a few constants.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from poinsot.ph.matrices import Array, Matrix, Vector, dense
from poinsot.so3 import skew

#: A matrix (n, n) for each pair of directions.
Pairs: TypeAlias = tuple[tuple[Matrix, ...], ...]


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
        :math:`\int \rho N`: linear momentum that velocities of the unknowns bring.
    moments : (3, 3, n)
        :math:`\int \rho\, x_a N_b`.
    pairs : 3 by 3 matrices (n, n)
        :math:`M_{ab} = \int \rho N_a^\top N_b`.
    section_inertia, section_S, section_M : (3, 3), (3, n), (n, n)
        What cross-sections of beams add to J, to the angular momentum and to M by turning about
        their centroids; they do not change with u. None: nothing.
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
        A = self.moments if u is None else self.moments + self._second(u)
        rows = np.array([A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]])
        return rows if self.section_S is None else rows + self.section_S

    def _second(self, u: Vector) -> Array:
        """Return u^T M_ab for each pair of directions; (3, 3, n)."""
        return np.array([[M_ab.T @ u for M_ab in row] for row in self.pairs])

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

    def mass_matrix(self, u: Vector | None = None) -> Array:
        """Return the mass matrix for (v, Omega, u') [BAPM21, eq. (10)]; (6 + n, 6 + n)."""
        s, S, xS = skew(self.s(u)), self.S, self.xS(u)
        I = self.mass * np.eye(3)
        return np.block([[I, s.T, S], [s, self.J(u), xS], [S.T, xS.T, dense(self.M)]])
