r"""An elastic body in its floating frame: inertia, stiffness, and attachment points.

A point of the body is at x + u_f in the frame, with the small displacement :math:`u_f = \phi u` of
the elastic coordinates u. With the velocities w = (v, Omega, v_f) of the frame, in its own axes,
and of u, the kinetic energy [BAPM21, eq. (8)] is :math:`T = w \cdot M(u)\, w / 2` with the mass
matrix of [BAPM21, eq. (10)],

.. math::

    M(u) = \begin{bmatrix} m I & -[s_u] & S \\ [s_u] & J_u & C_u \\ S^\top & C_u^\top & M_f
    \end{bmatrix}, \qquad
    s_u = s + S u, \quad C_u = C + \int \rho\, u_f \times \phi .

M is a polynomial of second degree in u, so that
:math:`M(u_1) - M(u_0) = M'((u_0 + u_1) / 2)[u_1 - u_0]` holds exactly. This is why energies are
exact in discrete time.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.elements.inertia import CYCLIC, MassIntegrals
from poinsot.ph.matrices import dense
from poinsot.so3 import skew

Array = NDArray[np.float64]
Vector = NDArray[np.float64]

#: Velocities of a frame.
SIX = 6


@dataclass(frozen=True, eq=False)
class Membrane:
    r"""Axial strains of beam elements with the shortening by bending [BAPM21, rem. 2].

    .. math::

        \varepsilon_e = e_e \cdot u + \tfrac12\, u \cdot A_e u, \qquad
        V = \tfrac12 \sum_e k_e\, \varepsilon_e^2

    with the mean of :math:`(u_y'^2 + u_z'^2)/2` over an element as its quadratic part. What linear
    elasticity has already, :math:`k_e (e_e \cdot u)^2 / 2`, is taken off.

    Parameters
    ----------
    k : (elements,)
        Axial stiffness times length, E A l [N m].
    e : (elements, n)
        Linear part of the strain.
    A : (elements, n, n)
        Quadratic part, symmetric.
    """

    k: Vector
    e: Array
    A: Array

    def energy(self, u: Vector) -> float:
        """Return V [J]."""
        linear, quadratic = self._parts(u)
        return float(self.k @ (linear * quadratic + quadratic**2 / 2))

    def _parts(self, u: Vector) -> tuple[Vector, Vector]:
        return self.e @ u, np.einsum("ekl,k,l->e", self.A, u, u) / 2

    def discrete(self, u0: Vector, u1: Vector) -> tuple[Vector, Array]:
        """Return the discrete gradient between u0 and u1, and its derivative with respect to u1."""
        (l0, q0), (l1, q1), mid = self._parts(u0), self._parts(u1), (u0 + u1) / 2
        # V = k (l q + q^2/2): with the means of both ends, exactly a difference quotient.
        bent, l, q = self.A @ mid, (l0 + l1) / 2, (q0 + q1) / 2
        gradient = (self.k * q) @ self.e + (self.k * (l + q)) @ bent
        bent1 = self.A @ u1
        by_q = (self.k[:, None] * (self.e + bent)).T @ bent1 / 2
        by_l = (self.k[:, None] * bent).T @ self.e / 2
        return gradient, by_q + by_l + np.einsum("e,ekl->kl", self.k * (l + q), self.A) / 2

    def gradient(self, u: Vector) -> Vector:
        """Return dV/du."""
        return self.discrete(u, u)[0]

    def hessian(self, u: Vector) -> Array:
        """Return d^2V/du^2."""
        return 2 * self.discrete(u, u)[1]


@dataclass(frozen=True, eq=False)
class Flexibility:
    """An elastic body in its floating frame; n elastic coordinates.

    Parameters
    ----------
    integrals : MassIntegrals
        Integrals of its mass, dense.
    K, D : (n, n)
        Stiffness and damping of the elastic coordinates.
    points : (places, 3), Y, Theta : (places, 3, n)
        Places that something can be attached to: where they are in the frame [m], and how they move
        and turn with the elastic coordinates.
    groups : (groups, 3)
        Elastic coordinates three by three, in an order in which near ones are coupled; -1: none.
    axes : (n, 3)
        Along which axis each coordinate moves points, if there is one for each.
    deformed : bool
        Whether momenta depend on the deformation [BAPM21, eqs. (8) to (14)], or not (sec. 4.3).
    membrane : Membrane
        What stiffens beams that turn fast, if asked for.
    """

    integrals: MassIntegrals
    K: Array
    D: Array
    points: Array
    Y: Array
    Theta: Array
    groups: NDArray[np.intp]
    axes: Array | None = None
    deformed: bool = True
    membrane: Membrane | None = None

    @property
    def n(self) -> int:
        """Number of elastic coordinates."""
        return len(self.K)

    @property
    def damped(self) -> bool:
        """Whether elastic velocities are damped."""
        return bool(self.D.any())

    # -- kinetic energy -----------------------------------------------------------------------

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.integrals.mass

    @property
    def S(self) -> Array:
        """Integrals of rho phi; (3, n)."""
        return self.integrals.S

    @cached_property
    def M(self) -> Array:
        """Mass matrix of the elastic coordinates; (n, n)."""
        return dense(self.integrals.M)

    @property
    def _pairs(self) -> Array:
        """Integrals of rho phi_a phi_b; (3, 3, n, n)."""
        return np.asarray(self.integrals.pairs)

    def _at(self, u: Vector) -> Vector | None:
        """Return the deformation that momenta depend on."""
        return u if self.deformed else None

    def _products(self, u: Vector) -> Array:
        """Return integrals of rho (x + u_f)_a phi_b; (3, 3, n)."""
        return self.integrals.products(self._at(u))

    def mass_matrix(self, u: Vector) -> Array:
        """Return M(u); (6 + n, 6 + n)."""
        return self.integrals.mass_matrix(self._at(u))

    def momenta(self, u: Vector, w: Vector) -> Vector:
        """Return M(u) w; (6 + n,)."""
        v, Omega, v_f = w[:3], w[3:6], w[6:]
        at, of = self._at(u), self.integrals
        s, C = of.s(at), of.xS(at)
        linear = self.mass * v + np.cross(Omega, s) + self.S @ v_f
        angular = np.cross(s, v) + of.J(at) @ Omega + C @ v_f
        return np.concatenate([linear, angular, self.S.T @ v + C.T @ Omega + self.M @ v_f])

    def momenta_by_u(self, u: Vector, w: Vector) -> Array:
        """Return the derivative of M(u) w by u; (6 + n, n)."""
        slope = np.zeros((SIX + self.n, self.n))
        if self.deformed:
            v, Omega, v_f = w[:3], w[3:6], w[6:]
            slope[:3] = skew(Omega) @ self.S
            slope[3:6] = -skew(v) @ self.S + self._turned_by_u(u, Omega)
            slope[3:6] += np.einsum("ikl,l->ik", self.integrals.cross, v_f)
            slope[6:] = np.einsum("i,ikl->lk", Omega, self.integrals.cross)
        return slope

    def _turned_by_u(self, u: Vector, Omega: Vector) -> Array:
        """Return the derivative of J(u) Omega by u; (3, n)."""
        Q = self._products(u)
        along = np.einsum("abl,b->al", Q, Omega) + np.einsum("abl,a->bl", Q, Omega)
        return np.asarray(2 * np.outer(Omega, np.trace(Q)) - along)

    def push(self, u: Vector, w0: Vector, w1: Vector) -> Vector:
        """Return w0·M'(u) w1 / 2, the derivative of the kinetic energy by u; (n,)."""
        if not self.deformed:
            return np.zeros(self.n)
        (v0, Omega0, f0), (v1, Omega1, f1) = _three(w0), _three(w1)
        moved = self.S.T @ (np.cross(v0, Omega1) + np.cross(v1, Omega0))
        centrifugal = 2 * np.einsum("ab,abl->l", _mixed(Omega0, Omega1), self._products(u))
        coriolis = np.einsum("i,ikl,l->k", Omega0, self.integrals.cross, f1)
        coriolis += np.einsum("i,ikl,l->k", Omega1, self.integrals.cross, f0)
        return np.asarray(moved + centrifugal + coriolis) / 2

    def push_by_u(self, w0: Vector, w1: Vector) -> Array:
        """Return the derivative of `push` by u, which does not depend on u; (n, n)."""
        if not self.deformed:
            return np.zeros((self.n, self.n))
        return np.asarray(np.einsum("ab,abkl->lk", _mixed(w0[3:6], w1[3:6]), self._pairs))

    def push_by_w(self, u: Vector, w0: Vector) -> Array:
        """Return the derivative of `push` by w1; (n, 6 + n)."""
        return self.momenta_by_u(u, w0).T / 2

    # -- gyroscopic forces --------------------------------------------------------------------

    @property
    def _twice(self) -> float:
        """How often p_f, and v_f in the momenta of the frame, stand in [BAPM21, eqs. (13), (14)].

        Where momenta do not depend on u, no dT/du is there to be balanced by the second p_f, and
        with it the second v_f goes: what is left is G(M w) of [BHRS25, eq. (10)]. (34) prints the
        2 in this case as well, which would double the inertial forces on the deformation.
        """
        return 2.0 if self.deformed else 1.0

    def gyration(self, u: Vector, w: Vector) -> Array:
        """Return the skew matrix of [BAPM21, eqs. (12) to (14)]; (6 + n, 6 + n)."""
        v, Omega, v_f = _three(w)
        Q, twice = self._products(u), self._twice
        p_t, p_r = self._hat(u, w)
        p_f = twice * (skew(v) @ self.S + np.einsum("abl,b->al", Q, Omega))
        p_f += (2 * twice - 1) * np.einsum("ikl,k->il", self.integrals.cross, v_f)
        p_f -= twice * np.outer(Omega, np.trace(Q))
        J = np.zeros((SIX + self.n, SIX + self.n))
        J[:3, 3:6] = J[3:6, :3] = skew(p_t)
        J[3:6, 3:6] = skew(p_r)
        J[3:6, 6:], J[6:, 3:6] = p_f, -p_f.T
        return J

    def _hat(self, u: Vector, w: Vector) -> tuple[Vector, Vector]:
        """Return the momenta of [BAPM21, eq. (13)]."""
        v, Omega, v_f = _three(w)
        s = self.integrals.s(self._at(u))
        p_t = self.mass * v + np.cross(Omega, s) + self._twice * self.S @ v_f
        return p_t, np.cross(s, v) + self.integrals.J(self._at(u)) @ Omega + self._C_hat(u) @ v_f

    def _C_hat(self, u: Vector) -> Array:
        """Return what the momentum of [BAPM21, eq. (13)] has of v_f; (3, n).

        Points move with the deformation, and count twice; sections that turn about themselves do
        not.
        """
        Q = self._products(u)
        moved = np.array([Q[a, b] - Q[b, a] for a, b in CYCLIC])
        return np.asarray(self.integrals.xS(self._at(u)) + (self._twice - 1) * moved)

    def gyration_by_w(self, u: Vector, a: Vector) -> Array:
        """Return the derivative of gyration(u, w) a by w; (6 + n, 6 + n)."""
        a_v, a_O, a_f = _three(a)
        at, of, twice = self._at(u), self.integrals, self._twice
        s, Q = skew(of.s(at)), of.products(at)
        by_t = np.hstack([self.mass * np.eye(3), -s, twice * self.S])
        by_r = np.hstack([s, of.J(at), self._C_hat(u)])
        slope = np.zeros((SIX + self.n, SIX + self.n))
        slope[:3] = -skew(a_O) @ by_t
        slope[3:6] = -skew(a_v) @ by_t - skew(a_O) @ by_r
        along = Q @ a_f
        slope[3:6, :3] -= twice * skew(self.S @ a_f)
        slope[3:6, 3:6] += twice * (along - np.trace(along) * np.eye(3))
        slope[3:6, 6:] -= (2 * twice - 1) * np.einsum("ikl,k->il", self.integrals.cross, a_f)
        slope[6:, :3] = -twice * (-skew(a_O) @ self.S).T
        turning = np.einsum("a,abl->lb", a_O, Q) - np.outer(np.trace(Q), a_O)
        slope[6:, 3:6] = -twice * turning
        slope[6:, 6:] = -(2 * twice - 1) * np.einsum("i,ikl->lk", a_O, self.integrals.cross)
        return slope

    def gyration_by_u(self, u: Vector, w: Vector, a: Vector) -> Array:
        """Return the derivative of gyration(u, w) a by u; (6 + n, n)."""
        slope = np.zeros((SIX + self.n, self.n))
        if not self.deformed:
            return slope
        (v, Omega, v_f), (a_v, a_O, a_f) = _three(w), _three(a)
        by_t = skew(Omega) @ self.S
        by_r = -skew(v) @ self.S + self._turned_by_u(u, Omega)
        by_r += 2 * np.einsum("ikl,l->ik", self.integrals.cross, v_f)
        slope[:3] = -skew(a_O) @ by_t
        slope[3:6] = -skew(a_v) @ by_t - skew(a_O) @ by_r
        along = np.einsum("abkl,l->abk", self._pairs, a_f)
        slope[3:6] += 2 * (
            np.einsum("abk,b->ak", along, Omega) - np.outer(Omega, np.einsum("aak->k", along))
        )
        pair = np.outer(a_O, Omega) - (a_O @ Omega) * np.eye(3)
        slope[6:] = -2 * np.einsum("ab,abkl->lk", pair, self._pairs)
        return slope

    # -- elasticity ---------------------------------------------------------------------------

    def V(self, u: Vector) -> float:
        """Return the elastic energy [J]."""
        stiffer = 0.0 if self.membrane is None else self.membrane.energy(u)
        return float(u @ self.K @ u) / 2 + stiffer

    def discrete(self, u0: Vector, u1: Vector) -> tuple[Vector, Array]:
        """Return the discrete gradient of V, and its derivative with respect to u1."""
        gradient, slope = self.K @ ((u0 + u1) / 2), self.K / 2
        if self.membrane is not None:
            more = self.membrane.discrete(u0, u1)
            gradient, slope = gradient + more[0], slope + more[1]
        return gradient, slope

    def dV(self, u: Vector) -> Vector:
        """Return the elastic forces dV/du."""
        return self.discrete(u, u)[0]

    def ddV(self, u: Vector) -> Array:
        """Return d^2V/du^2."""
        return 2 * self.discrete(u, u)[1]


def _three(w: Vector) -> tuple[Vector, Vector, Vector]:
    return w[:3], w[3:6], w[6:]


def _mixed(a: Vector, b: Vector) -> Array:
    """Return (a·b) I - (a b^T + b a^T) / 2."""
    return a @ b * np.eye(3) - (np.outer(a, b) + np.outer(b, a)) / 2
