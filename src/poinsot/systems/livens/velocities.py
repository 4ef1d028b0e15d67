"""A Lagrangian as a port-Hamiltonian system of coordinates and velocities."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal
from poinsot.ph.system import PHSystem, Storage
from poinsot.result.observer import Observer
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.smooth import Array
from poinsot.systems.livens.systems import lagrangian_observer, require_consistent


@dataclass(frozen=True, eq=False)
class VelocitySystem(PHSystem):
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

    def _split(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        n = self.lagrangian.n
        return x[:n], x[n : 2 * n], x[2 * n :]

    @property
    def proven(self) -> bool:
        """Yes: J is skew by construction, and R = 0."""
        return True

    @property
    def exact_costate(self) -> bool:
        """Whether derivatives of M and V were given."""
        return all(part.exact for part in (self.lagrangian.mass, *self.lagrangian.potentials))

    def check_start(self, x: Vector) -> None:
        """Refuse a state that is none, or in which a constraint does not hold."""
        q, v, _ = self._split(x)
        require_consistent(self.name, self.lagrangian, q, v)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return what the Lagrangian sees at the start of the step."""
        return self.lagrangian.diagnose(x0[: self.lagrangian.n])

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step on which the mass matrix changes its rank."""
        n = self.lagrangian.n
        self.lagrangian.watch(x0[:n], x1[:n])

    def observer(self) -> Observer:
        """Return what shows energies, and how well constraints hold."""
        return lagrangian_observer(self, self.lagrangian, lambda x: self._split(x)[1])

    # -- the six ingredients ------------------------------------------------------------------

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M, 0)."""
        n = self.lagrangian.n
        mass: list[Placed] = [(0, 0, diagonal(np.ones(n))), (n, n, self.lagrangian.M(x[:n]))]
        return assemble((self.n, self.n), mass)

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix."""
        (q, v, _), n = self._split(x), self.lagrangian.n
        D, identity = self.lagrangian.dM(q, v), diagonal(np.ones(n))
        placed: list[Placed] = [(0, n, identity), (n, 0, -1.0 * identity), (n, n, D.T - D)]
        if self.lagrangian.m:
            G = self.lagrangian.G(q)
            placed += [(n, 2 * n, -G.T), (2 * n, n, G)]
        return assemble((self.n, self.n), placed)

    def B(self, x: Vector) -> Matrix:
        """Return the port matrix, in the equation of v."""
        n = self.lagrangian.n
        return assemble((self.n, self.m), [(n, 0, self.lagrangian.B(x[:n]))])

    def z(self, x: Vector) -> Vector:
        """Return (dT/dq + dV, v, lambda)."""
        q, v, lam = self._split(x)
        return np.concatenate([self.lagrangian.dT(q, v) + self.lagrangian.dV(q), v, lam])

    def energies(self, x: Vector) -> Vector:
        """Return T + V [J]."""
        q, v, _ = self._split(x)
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
        (q, v, lam), n = self._split(x), self.lagrangian.n
        T = self.lagrangian.ddT(q, v)
        placed: list[Placed] = [
            (0, 0, T.qq + self.lagrangian.ddV(q)),
            (0, n, T.qs),
            (n, n, diagonal(np.ones(n))),
        ]
        if lam.size:
            placed.append((2 * n, 2 * n, diagonal(np.ones(lam.size))))
        return assemble((self.n, self.n), placed)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z + B u by x, z and u fixed."""
        (q, v, _), (_, rate, effort) = self._split(x), self._split(z)
        lagrangian, n = self.lagrangian, self.lagrangian.n
        placed: list[Placed] = []
        if not lagrangian.mass.constant:
            placed += [(n, 0, self._gyroscopic(q, v, rate)), (n, n, self._turning(q, rate))]
        if lagrangian.m:
            placed.append((n, 0, -lagrangian.curvature(q, effort)))
            placed.append((2 * n, 0, lagrangian.slope(q, rate)))
        dB = lagrangian.dB(q, u)
        if dB is not None:
            placed.append((n, 0, dB))
        return assemble((self.n, self.n), placed) if placed else None

    def _gyroscopic(self, q: Vector, v: Vector, a: Vector) -> Array:
        """Return the derivative of (D^T - D) a by q: from second derivatives of M."""
        curvature, units = self.lagrangian.mass.curvature, np.eye(q.size)
        # Row i of D a is the derivative of (M v)_i along a.
        rows = [a @ curvature(q, np.outer(unit, v).reshape(-1)) for unit in units]
        return np.asarray(curvature(q, np.outer(a, v).reshape(-1)) - np.array(rows))

    def _turning(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of (D^T - D) a by v, which D is linear in."""
        units = np.eye(q.size)
        along = [self.lagrangian.dM(q, unit) @ a for unit in units]
        return np.asarray(self.lagrangian.dM(q, a).T - np.array(along).T)

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T z by x."""
        n = self.lagrangian.n
        dy = self.lagrangian.dy(x[:n], z[n : 2 * n])
        return None if dy is None else assemble((self.m, self.n), [(0, 0, dy)])

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
