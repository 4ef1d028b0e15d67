r"""A mechanism in other coordinates: whatever acts on directors acts there by the chain rule.

The directors are functions of the coordinates, with the derivative D, and velocities w turn them:

.. math:: d = d(\zeta), \qquad \dot d = P(\zeta)\, w

P = D where w are the rates of :math:`\zeta`, and P = D Z where :math:`\dot\zeta = Z w`.
"""

from abc import abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.stacks import Forms
from poinsot.ph.matrices import Matrix, Vector, total
from poinsot.systems.mechanical import Mechanics
from poinsot.systems.mechanism import Mechanism


class ByDirectors(Mechanics):
    """What acts on a mechanism in coordinates of another kind; `mechanism` is it in directors.

    Rigidity is not among the constraints: such coordinates keep it by themselves, or by constraints
    of their own.
    """

    mechanism: Mechanism

    @cached_property
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, in directors."""
        return self.mechanism.held

    @property
    def joints(self) -> Forms:
        """The constraints of the joints on positions, in directors."""
        return self.held.constraints

    @cached_property
    def mass(self) -> NDArray[np.float64]:
        """Mass of every body [kg]; (bodies,)."""
        return self.mechanism.masses

    @cached_property
    def inertia(self) -> NDArray[np.float64]:
        """Principal moments of inertia [kg m^2], none of them zero; (bodies, 3)."""
        return self.mechanism.moments

    @property
    def m(self) -> int:
        """Number of constraints: those of the joints, then those of contacts."""
        return self.held.m

    # -- how directors follow coordinates -----------------------------------------------------

    @abstractmethod
    def directors(self, zeta: Vector) -> Vector:
        """Return the coordinates in directors; shape (12 bodies,)."""

    @abstractmethod
    def D(self, zeta: Vector) -> Matrix:
        """Return the derivative of the directors; shape (12 bodies, n)."""

    @abstractmethod
    def bend(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of D^T f by zeta; shape (n, n)."""

    @abstractmethod
    def P(self, zeta: Vector) -> Matrix:
        """Return what turns velocities into those of directors; shape (12 bodies, k)."""

    @abstractmethod
    def P_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of P w by zeta; shape (12 bodies, n)."""

    @abstractmethod
    def P_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of P^T f by zeta; shape (k, n)."""

    # -- what acts ----------------------------------------------------------------------------

    def V(self, zeta: Vector) -> float:
        """Return the potential energy [J]."""
        return self.held.V(self.directors(zeta))

    def dV(self, zeta: Vector) -> Vector:
        """Return the gradient of V."""
        return np.asarray(self.D(zeta).T @ self.held.dV(self.directors(zeta)))

    def ddV(self, zeta: Vector) -> Matrix:
        """Return the Hessian of V."""
        d, D = self.directors(zeta), self.D(zeta)
        inner = self.held.ddV(d)
        bend = self.bend(zeta, self.held.dV(d))
        return total(bend, None if inner is None else D.T @ inner @ D)

    def K(self, zeta: Vector) -> Matrix:
        """Return the constraints of joints and contacts on velocities."""
        rows: Matrix = self.held.G(self.directors(zeta)) @ self.P(zeta)
        return rows

    def curvature(self, zeta: Vector, lam: Vector) -> Matrix:
        """Return the derivative of K^T lam by zeta."""
        d = self.directors(zeta)
        curved = self.P(zeta).T @ self.held.curvature(d, lam) @ self.D(zeta)
        return total(self.P_back(zeta, np.asarray(self.held.G(d).T @ lam)), curved)

    def slope(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of K w by zeta."""
        d, rate = self.directors(zeta), self._rate(zeta, w)
        return total(
            self.held.slope(d, rate) @ self.D(zeta), self.held.G(d) @ self.P_along(zeta, w)
        )

    def B(self, zeta: Vector) -> Matrix:
        """Return the port matrix."""
        B: Matrix = self.P(zeta).T @ self.held.B(self.directors(zeta))
        return B

    def dB(self, zeta: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of B u by zeta."""
        d = self.directors(zeta)
        inner = self.held.dB(d, u)
        if inner is None:
            return None
        bent = self.P_back(zeta, np.asarray(self.held.B(d) @ u))
        return total(self.P(zeta).T @ inner @ self.D(zeta), bent)

    def dy(self, zeta: Vector, w: Vector) -> Matrix | None:
        """Return the derivative of B^T w by zeta."""
        d = self.directors(zeta)
        inner = self.held.dy(d, self._rate(zeta, w))
        if inner is None:
            return None
        return total(inner @ self.D(zeta), self.held.B(d).T @ self.P_along(zeta, w))

    def feedback(self, t: float, zeta: Vector, w: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in."""
        return self.held.feedback(t, self.directors(zeta), self._rate(zeta, w), u)

    @property
    def lossless(self) -> bool:
        """Whether there are no dampers."""
        return self.held.lossless

    def damping(self, zeta: Vector, w: Vector) -> Vector:
        """Return the damping force."""
        force = self.held.damping(self.directors(zeta), self._rate(zeta, w))
        return np.asarray(self.P(zeta).T @ force)

    def ddamping(self, zeta: Vector, w: Vector) -> tuple[Matrix, Matrix] | None:
        """Return the derivatives of the damping force."""
        d, rate, P = self.directors(zeta), self._rate(zeta, w), self.P(zeta)
        slopes = self.held.ddamping(d, rate)
        if slopes is None:
            return None
        changed = P.T @ (slopes[0] @ self.D(zeta) + slopes[1] @ self.P_along(zeta, w))
        bent = self.P_back(zeta, self.held.damping(d, rate))
        return total(changed, bent), P.T @ slopes[1] @ P

    def _rate(self, zeta: Vector, w: Vector) -> Vector:
        return np.asarray(self.P(zeta) @ w)
