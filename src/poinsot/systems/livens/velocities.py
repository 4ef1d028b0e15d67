"""A Lagrangian as a port-Hamiltonian system of coordinates and velocities."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Matrix, Placed, Vector, assemble, diagonal
from poinsot.ph.system import Storage
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.systems import LagrangianForm


@dataclass(frozen=True, eq=False)
class VelocitySystem(LagrangianForm):
    r"""The port-Hamiltonian form of a Lagrangian, x = (q, v, lambda) [LKB26, eq. (19)].

    .. math::

        \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix} \dot x =
        \begin{bmatrix} 0 & I & 0 \\ -I & \dot M - 2C & -G^\top \\ 0 & G & 0 \end{bmatrix}
        \begin{bmatrix} \partial_q T + \nabla V \\ v \\ \lambda \end{bmatrix}
        + \begin{bmatrix} 0 \\ B \\ 0 \end{bmatrix} u

    With :math:`D_{ij} = \partial (M v)_i / \partial q_j` the gyroscopic block is
    :math:`\dot M - 2C = D^\top - D`, skew by itself [LKB26, remark 3.2]. The energy is T + V, and
    constraints hold as rates: G v = 0.
    """

    lagrangian: GeneralLagrangian

    def velocity(self, x: Vector) -> Vector:
        """Return v."""
        return self.parts(x)[1]

    @property
    def exact_costate(self) -> bool:
        """Whether derivatives of M and V were given."""
        return all(part.exact for part in (self.lagrangian.mass, *self.lagrangian.potentials))

    # -- the six ingredients ------------------------------------------------------------------

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M, 0)."""
        n = self.lagrangian.n
        mass: list[Placed] = [(0, 0, diagonal(np.ones(n))), (n, n, self.lagrangian.M(x[:n]))]
        return assemble((self.n, self.n), mass)

    def gyration(self, x: Vector) -> Array | None:
        """Return D - D^T; None where M is constant."""
        if self.lagrangian.mass.constant:
            return None
        q, v, _ = self.parts(x)
        D = self.lagrangian.dM(q, v)
        return D - D.T

    def z(self, x: Vector) -> Vector:
        """Return (dT/dq + dV, v, lambda)."""
        q, v, lam = self.parts(x)
        return np.concatenate([self.lagrangian.dT(q, v) + self.lagrangian.dV(q), v, lam])

    def energies(self, x: Vector) -> Vector:
        """Return T + V [J]."""
        q, v, _ = self.parts(x)
        return np.array([self.lagrangian.T(q, v) + self.lagrangian.V(q)])

    # -- tangents -----------------------------------------------------------------------------

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E a."""
        if self.lagrangian.mass.constant:
            return None
        n = self.lagrangian.n
        return assemble((self.n, self.n), [(n, 0, self.lagrangian.dM(x[:n], a[n : 2 * n]))])

    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z."""
        (q, v, _), n = self.parts(x), self.lagrangian.n
        T, rest = self.lagrangian.ddT(q, v), diagonal(np.ones(self.n - n))
        stiffness = T.qq + self.lagrangian.ddV(q)
        return assemble((self.n, self.n), [(0, 0, stiffness), (0, n, T.qs), (n, n, rest)])

    def dgyration(self, x: Vector, a: Vector) -> tuple[Array | None, Array | None]:
        """Return the derivatives of (D - D^T) a by q, from second ones of M, and by v."""
        if self.lagrangian.mass.constant:
            return None, None
        (q, v, _), units = self.parts(x), np.eye(a.size)
        curvature, dM = self.lagrangian.mass.curvature, self.lagrangian.dM
        # Row i of D a is the derivative of (M v)_i along a, and D is linear in v.
        by_q = [a @ curvature(q, np.outer(unit, v).reshape(-1)) for unit in units]
        by_v = [dM(q, unit) @ a for unit in units]
        turned = curvature(q, np.outer(a, v).reshape(-1))
        return np.array(by_q) - turned, np.array(by_v).T - dM(q, a).T

    # -- what is known of the whole -----------------------------------------------------------

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """Multipliers, and velocities without mass wherever they are."""
        n, there = self.lagrangian.n, np.ones(self.n, dtype=bool)
        there[:n] = False
        there[n : 2 * n] = self.lagrangian.massless
        return there

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One, quadratic with constant mass and a quadratic potential."""
        lagrangian = self.lagrangian
        plain = all(part.is_quadratic for part in lagrangian.potentials)
        quadratic = lagrangian.mass.constant and plain
        return (Storage(np.flatnonzero(~self.algebraic), quadratic=quadratic),)
