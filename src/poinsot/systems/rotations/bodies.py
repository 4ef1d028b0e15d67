r"""Bodies with velocities in body axes: coordinates zeta = (phi, theta), velocities w = (v, Omega).

.. math:: \dot\phi = R\, v, \qquad \dot\theta = Z_{rot}(\theta)\, \Omega
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.forms import WIDTH
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Vector, diagonal
from poinsot.so3 import skew
from poinsot.systems.by_directors import ByDirectors
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.rotations.euler import matrix_of
from poinsot.systems.rotations.parametrisations import Parametrisation

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

    @property
    def count(self) -> int:
        """Number of bodies."""
        return self.mechanism.n // WIDTH

    @property
    def width(self) -> int:
        """Coordinates of a body."""
        return 3 + self.parametrisation.size

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.width * self.count

    @property
    def k(self) -> int:
        """Number of velocities."""
        return SIX * self.count

    def theta(self, zeta: Array) -> Array:
        """Return what describes rotations; (..., bodies, size)."""
        return self._rows(zeta)[..., 3:]

    def _rows(self, zeta: Array) -> Array:
        return zeta.reshape(*zeta.shape[:-1], self.count, self.width)

    # -- inertia ------------------------------------------------------------------------------

    @cached_property
    def weights(self) -> Vector:
        """The diagonal of M = diag(m, J) of every body; (6 bodies,)."""
        return np.hstack([np.repeat(self.mass[:, None], 3, axis=1), self.inertia]).reshape(-1)

    @cached_property
    def M(self) -> Matrix:
        """The mass matrix, constant; (6 bodies, 6 bodies)."""
        return diagonal(self.weights)

    @property
    def massless(self) -> NDArray[np.bool_]:
        """None of the velocities; (6 bodies,)."""
        return np.zeros(self.k, dtype=bool)

    def T(self, w: Vector) -> float:
        """Return the kinetic energy w·M w / 2 [J]."""
        return float(self.weights @ w**2) / 2

    def G(self, Gamma: Vector) -> Matrix:
        """Return the gyroscopic matrix of momenta (p, L) in body axes; (6 bodies, 6 bodies).

        M w' = -G(M w) w with G = -[[0, skew(p)], [skew(p), skew(L)]]: with the sign of
        [BHRS25, eq. (10)], that of G in (18) has to be turned round.
        """
        p, L = np.split(Gamma.reshape(-1, 6), 2, axis=1)
        blocks = np.zeros((self.count, SIX, SIX))
        blocks[:, :3, 3:] = blocks[:, 3:, :3] = -skew(p)
        blocks[:, 3:, 3:] = -skew(L)
        return spread(blocks)

    def dG(self, Gamma: Vector, a: Vector) -> Matrix:
        """Return the derivative of G(Gamma) a by Gamma, which does not depend on Gamma."""
        # p x a = -a x p
        velocity, spin = np.split(a.reshape(-1, 6), 2, axis=1)
        blocks = np.zeros((self.count, SIX, SIX))
        blocks[:, :3, :3] = blocks[:, 3:, 3:] = skew(spin)
        blocks[:, 3:, :3] = skew(velocity)
        return spread(blocks)

    # -- directors ----------------------------------------------------------------------------

    def directors(self, zeta: Array) -> Array:
        """Return the coordinates in directors; (..., 12 bodies)."""
        rows = self._rows(zeta)
        d = self.parametrisation.directors(rows[..., 3:])
        shape = *zeta.shape[:-1], WIDTH * self.count
        return np.concatenate([rows[..., :3], d], axis=-1).reshape(shape)

    def rotations(self, zeta: Array) -> Array:
        """Return R of every body; (..., bodies, 3, 3)."""
        return matrix_of(self.parametrisation.directors(self.theta(zeta)))

    def _D(self, zeta: Vector) -> Array:
        blocks = np.zeros((self.count, WIDTH, self.width))
        blocks[:, :3, :3] = np.eye(3)
        blocks[:, 3:, 3:] = self.parametrisation.slopes(self.theta(zeta))
        return blocks

    def _dD(self, zeta: Vector) -> Array:
        blocks = np.zeros((self.count, WIDTH, self.width, self.width))
        blocks[:, 3:, 3:, 3:] = self.parametrisation.bends(self.theta(zeta))
        return blocks

    def D(self, zeta: Vector) -> Matrix:
        """Return the derivative of the directors by zeta; (12 bodies, n)."""
        return spread(self._D(zeta))

    def bend(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of D^T f by zeta; (n, n)."""
        return spread(np.einsum("nial,ni->nal", self._dD(zeta), f.reshape(-1, WIDTH)))

    # -- kinematics ---------------------------------------------------------------------------

    def _Z(self, zeta: Vector) -> Array:
        theta = self.theta(zeta)
        blocks = np.zeros((self.count, self.width, SIX))
        blocks[:, :3, :3] = matrix_of(self.parametrisation.directors(theta))
        blocks[:, 3:, 3:] = self.parametrisation.Z(theta)
        return blocks

    def _dZ(self, zeta: Vector) -> Array:
        theta, size = self.theta(zeta), self.parametrisation.size
        blocks = np.zeros((self.count, self.width, SIX, self.width))
        columns = self.parametrisation.slopes(theta).reshape(self.count, 3, 3, size)
        blocks[:, :3, :3, 3:] = np.swapaxes(columns, 1, 2)
        blocks[:, 3:, 3:, 3:] = self.parametrisation.dZ(theta)
        return blocks

    def Z(self, zeta: Vector) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w; (n, 6 bodies)."""
        return spread(self._Z(zeta))

    def Z_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of Z w by zeta; (n, n)."""
        return spread(np.einsum("najl,nj->nal", self._dZ(zeta), w.reshape(-1, SIX)))

    def Z_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of Z^T f by zeta; (6 bodies, n)."""
        return spread(np.einsum("najl,na->njl", self._dZ(zeta), f.reshape(-1, self.width)))

    def P(self, zeta: Vector) -> Matrix:
        """Return D Z, which turns velocities into those of directors; (12 bodies, 6 bodies)."""
        return spread(self._D(zeta) @ self._Z(zeta))

    def _dP(self, zeta: Vector) -> Array:
        by_D = np.einsum("nial,naj->nijl", self._dD(zeta), self._Z(zeta))
        return np.asarray(by_D + np.einsum("nia,najl->nijl", self._D(zeta), self._dZ(zeta)))

    def P_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of P w by zeta; (12 bodies, n)."""
        return spread(np.einsum("nijl,nj->nil", self._dP(zeta), w.reshape(-1, SIX)))

    def P_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of P^T f by zeta; (6 bodies, n)."""
        return spread(np.einsum("nijl,ni->njl", self._dP(zeta), f.reshape(-1, WIDTH)))
