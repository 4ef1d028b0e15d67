r"""Mechanisms in other coordinates: parts defined on directors act by the chain rule.

The directors are functions of the coordinates, with the derivative D, and velocities w rotate them:

.. math:: d = d(\zeta), \qquad \dot d = P(\zeta)\, w

P = D if w are the rates of :math:`\zeta`, and P = D Z if :math:`\dot\zeta = Z w`.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.parametrisations import Parametrisation
from poinsot.frames.places import frame_vectors, slopes
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import spread
from poinsot.ph.matrices import Matrix, Vector, total
from poinsot.systems.mechanical import Losses, Mechanics
from poinsot.systems.mechanism import Mechanism

Array = NDArray[np.float64]


class ByDirectors(Mechanics):
    """What acts on a mechanism in coordinates of another kind; `mechanism` is it in directors.

    For every body zeta = (phi, theta), theta as the `parametrisation` describes rotations, or phi
    alone. Rigidity is not among the constraints: such coordinates keep it by themselves, or by
    constraints of their own.
    """

    mechanism: Mechanism
    parametrisation: Parametrisation

    @cached_property
    def held(self) -> Mechanism:
        """The mechanism without rigidity: joints, and contacts that cannot slip, in directors."""
        return self.mechanism.held

    @property
    def joints(self) -> Forms:
        """The constraints of the joints on positions, in directors."""
        return self.held.constraints

    @cached_property
    def mass(self) -> Array:
        """Mass of every body [kg]; (bodies,)."""
        return self.mechanism.masses

    @cached_property
    def inertia(self) -> Array:
        """Principal moments of inertia [kg m^2], none of them zero; (bodies, 3)."""
        return self.mechanism.moments

    @property
    def m(self) -> int:
        """Number of constraints: those of the joints, then those of contacts."""
        return self.held.m

    # -- coordinates --------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.mechanism.inertia)

    @cached_property
    def unknowns(self) -> Unknowns:
        """Position and what describes the rotation of every body, or position alone."""
        unturned = self.parametrisation.of(np.eye(3))
        return replace(self.mechanism.unknowns, rest=np.concatenate([np.zeros(3), unturned]))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.unknowns.n

    def rows(self, zeta: Array) -> Array:
        """Return the numbers of every body; (..., bodies, width)."""
        return self.unknowns.full(zeta).reshape(*zeta.shape[:-1], self.count, self.unknowns.width)

    def theta(self, zeta: Array) -> Array:
        """Return what describes rotations; (..., bodies, size)."""
        return self.rows(zeta)[..., 3:]

    def by(self, blocks: Array) -> Matrix:
        """Return derivatives of the numbers of each body (bodies, numbers, width) as a matrix."""
        return self.unknowns.by(spread(blocks))

    def square(self, translation: Array | None, rotation: Array) -> Matrix:
        """Return a matrix of factors of positions and blocks (size, size) of theta; (n, n)."""
        blocks = np.zeros((self.count, self.unknowns.width, self.unknowns.width))
        if translation is not None:
            blocks[:, [0, 1, 2], [0, 1, 2]] = translation[:, None]
        blocks[:, 3:, 3:] = rotation
        return self.unknowns.square(spread(blocks))

    # -- how directors follow coordinates -----------------------------------------------------

    def directors(self, zeta: Array) -> Array:
        """Return the coordinates in directors; (..., 12 bodies)."""
        rows = self.rows(zeta)
        frames = np.concatenate([rows[..., :3], self.parametrisation.directors(rows[..., 3:])], -1)
        return frames.reshape(*zeta.shape[:-1], self.count * frames.shape[-1])

    def D(self, zeta: Vector) -> Matrix:
        """Return the derivative of the directors; shape (12 bodies, n)."""
        return self.by(slopes(self.parametrisation.slopes(self.theta(zeta))))

    def bend(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of D^T f by zeta; shape (n, n)."""
        bends, forces = self.parametrisation.bends(self.theta(zeta)), frame_vectors(f)[:, 1:]
        return self.square(None, np.einsum("nkab,nk->nab", bends, forces.reshape(-1, 9)))

    def P(self, zeta: Vector) -> Matrix:
        """Return what turns velocities into those of directors, by default D; (12 bodies, k)."""
        return self.D(zeta)

    def P_along(self, zeta: Vector, w: Vector) -> Matrix:
        """Return the derivative of P w by zeta; shape (12 bodies, n)."""
        rates = self.unknowns.rates.full(w).reshape(self.count, -1)[:, 3:]
        bends = self.parametrisation.bends(self.theta(zeta))
        return self.by(slopes(np.einsum("nkab,nb->nka", bends, rates), moves=0.0))

    def P_back(self, zeta: Vector, f: Vector) -> Matrix:
        """Return the derivative of P^T f by zeta; shape (k, n)."""
        return self.bend(zeta, f)

    # -- what acts ----------------------------------------------------------------------------

    def V(self, zeta: Vector) -> float:
        """Return the potential energy [J]."""
        return self.held.V(self.directors(zeta))

    def length(self, zeta: Vector) -> float:
        """Return the extent [m]."""
        return self.held.length(self.directors(zeta))

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

    @property
    def imposed(self) -> Matrix | None:
        """What inputs of drives add to these."""
        return self.held.imposed

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

    def in_play(self, t: float, zeta: Vector, w: Vector, h: float) -> float:
        """Return the energy to a relative eps of which springs and laws are known in a step."""
        return self.held.in_play(t, self.directors(zeta), self._rate(zeta, w), h)

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

    def losses(self, zeta: Vector, w: Vector, lam: Vector) -> Losses | None:
        """Return friction in proportion to constraint forces."""
        d, rate, P = self.directors(zeta), self._rate(zeta, w), self.P(zeta)
        losses = self.held.losses(d, rate, lam)
        if losses is None:
            return None
        force, by_d, by_rate, by_lam = losses
        changed = P.T @ (by_d @ self.D(zeta) + by_rate @ self.P_along(zeta, w))
        by_zeta = total(changed, self.P_back(zeta, force))
        return Losses(np.asarray(P.T @ force), by_zeta, P.T @ by_rate @ P, P.T @ by_lam)

    def _rate(self, zeta: Vector, w: Vector) -> Vector:
        return np.asarray(self.P(zeta) @ w)
