r"""Bodies with velocities in body axes: coordinates zeta = (phi, theta), velocities w = (v, Omega).

.. math:: \dot\phi = R\, v, \qquad \dot\theta = Z_{rot}(\theta)\, \Omega
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.euler import matrix_of
from poinsot.frames.parametrisations import Parametrisation
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Vector, diagonal, total
from poinsot.so3 import skew
from poinsot.systems.by_directors import ByDirectors
from poinsot.systems.mechanism import Mechanism

Array = NDArray[np.float64]

#: Velocities of a body.
SIX = 6


@dataclass(frozen=True, eq=False)
class RotationBodies(ByDirectors):
    """The bodies of a mechanism, their rotations described by a parametrisation.

    With what acts on them, the coefficients of [BHRS25, eq. (10)].
    """

    mechanism: Mechanism
    parametrisation: Parametrisation

    # -- sizes and places ---------------------------------------------------------------------

    @cached_property
    def velocities(self) -> Unknowns:
        """Velocity and angular velocity of every body, or velocity alone."""
        return replace(self.mechanism.unknowns, rest=np.zeros(SIX))

    @property
    def k(self) -> int:
        """Number of velocities."""
        return self.velocities.n

    def pairs(self, w: Vector) -> Array:
        """Return velocities and angular velocities, or momenta; (bodies, 2, 3)."""
        return self.velocities.full(w).reshape(-1, 2, 3)

    # -- inertia ------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> Vector:
        """The diagonal of M = diag(m, J) of every body; (k,)."""
        masses = np.hstack([np.repeat(self.mass[:, None], 3, axis=1), self.inertia])
        return self.velocities.own(masses.reshape(-1))

    @cached_property
    def M(self) -> Matrix:
        """The mass matrix, constant; (k, k)."""
        return diagonal(self.weights)

    @property
    def massless(self) -> NDArray[np.bool_]:
        """None of the velocities; (6 bodies,)."""
        return np.zeros(self.k, dtype=bool)

    def T(self, w: Vector) -> float:
        """Return the kinetic energy w·M w / 2 [J]."""
        return float(self.weights @ w**2) / 2

    def G(self, Gamma: Vector) -> Matrix:
        """Return the gyroscopic matrix of momenta (p, L) in body axes; (k, k).

        M w' = -G(M w) w with G = -[[0, skew(p)], [skew(p), skew(L)]]: with the sign of
        [BHRS25, eq. (10)], that of G in (18) has to be turned round.
        """
        p, L = np.swapaxes(self.pairs(Gamma), 0, 1)
        blocks = np.zeros((self.count, SIX, SIX))
        blocks[:, :3, 3:] = blocks[:, 3:, :3] = -skew(p)
        blocks[:, 3:, 3:] = -skew(L)
        return self.velocities.square(spread(blocks))

    def dG(self, Gamma: Vector, a: Vector) -> Matrix:
        """Return the derivative of G(Gamma) a by Gamma, which does not depend on Gamma."""
        # p x a = -a x p
        velocity, spin = np.swapaxes(self.pairs(a), 0, 1)
        blocks = np.zeros((self.count, SIX, SIX))
        blocks[:, :3, :3] = blocks[:, 3:, 3:] = skew(spin)
        blocks[:, 3:, :3] = skew(velocity)
        return self.velocities.square(spread(blocks))

    # -- kinematics ---------------------------------------------------------------------------

    def rotations(self, zeta: Array) -> Array:
        """Return R of every body; (..., bodies, 3, 3)."""
        return matrix_of(self.parametrisation.directors(self.theta(zeta)))

    def _Z(self, zeta: Vector) -> Array:
        theta = self.theta(zeta)
        blocks = np.zeros((self.count, self.unknowns.width, SIX))
        blocks[:, :3, :3] = matrix_of(self.parametrisation.directors(theta))
        blocks[:, 3:, 3:] = self.parametrisation.Z(theta)
        return blocks

    def _dZ(self, zeta: Vector) -> Array:
        theta, size = self.theta(zeta), self.parametrisation.size
        blocks = np.zeros((self.count, self.unknowns.width, SIX, self.unknowns.width))
        columns = self.parametrisation.slopes(theta).reshape(self.count, 3, 3, size)
        blocks[:, :3, :3, 3:] = np.swapaxes(columns, 1, 2)
        blocks[:, 3:, 3:, 3:] = self.parametrisation.dZ(theta)
        return blocks

    def Z(self, zeta: Vector) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w; (n, k)."""
        Z: Matrix = self.unknowns.on(self.velocities.by(spread(self._Z(zeta))))
        return Z

    def Z_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of Z w by zeta; (n, n)."""
        along = np.einsum("najl,nj->nal", self._dZ(zeta), self.pairs(w).reshape(-1, SIX))
        return self.unknowns.square(spread(along))

    def Z_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of Z^T f by zeta; (k, n)."""
        forces = self.unknowns.rates.full(f).reshape(self.count, -1)
        back = np.einsum("najl,na->njl", self._dZ(zeta), forces)
        by_zeta: Matrix = self.velocities.on(self.by(back))
        return by_zeta

    def P(self, zeta: Vector) -> Matrix:
        """Return D Z, which turns velocities into those of directors; (12 bodies, k)."""
        P: Matrix = self.D(zeta) @ self.Z(zeta)
        return P

    def P_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of P w by zeta; (12 bodies, n)."""
        by_D = super().P_along(zeta, np.asarray(self.Z(zeta) @ w))
        return total(by_D, self.D(zeta) @ self.Z_along(zeta, w))

    def P_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of P^T f by zeta; (k, n)."""
        by_Z = self.Z_back(zeta, np.asarray(self.D(zeta).T @ f))
        return total(self.Z(zeta).T @ self.bend(zeta, f), by_Z)
