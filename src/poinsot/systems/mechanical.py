r"""Mechanical systems as port-Hamiltonian ones, in whatever coordinates.

.. math::

    \dot\zeta &= Z(\zeta)\, w \\
    \dot p &= -Z^\top f - G w - K^\top \lambda - \tau_d(\zeta, w) + B u \\
    0 &= K(\zeta)\, w - N u, \qquad y = B^\top w - N^\top \lambda

with momenta p, the derivative f of the energy by :math:`\zeta`, a skew matrix G of gyroscopic
forces, and all constraints as rows K on velocities, whether they have a position equation or not. N
is zero but for drives, whose inputs are rates and whose outputs are forces. As a port-Hamiltonian
system, J is made of Z, G and K, and w is the costate of the equation of momentum. Of this kind are
directors [LKB26, eq. (24)], redundant coordinates [BHRS25, eq. (10)], and Lagrangians with their
velocities [LKB26, eq. (19)], in Livens' form and in Hamilton's [KB24].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, balancing, dense, diagonal
from poinsot.ph.system import PHSystem, Storage
from poinsot.result.observer import Rows, RowsOf, StateObserver


class Losses(NamedTuple):
    """Friction that depends on multipliers: forces (k,), derivatives by zeta, w and multipliers."""

    force: Vector
    by_zeta: Matrix
    by_w: Matrix
    by_lam: Matrix


class Mechanics(Protocol):
    """What acts on a mechanical system of n coordinates zeta, k velocities w, m constraints.

    Derivatives by zeta return None where they are zero.
    """

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of coordinates."""

    @property
    def k(self) -> int:
        """Number of velocities: as many."""
        return self.n

    @property
    @abstractmethod
    def m(self) -> int:
        """Number of constraints: rows of K."""

    # -- potential energy ---------------------------------------------------------------------

    @abstractmethod
    def V(self, zeta: Vector, /) -> float:
        """Return the potential energy [J]."""

    @abstractmethod
    def dV(self, zeta: Vector, /) -> Vector:
        """Return the gradient of V; shape (n,)."""

    @abstractmethod
    def ddV(self, zeta: Vector, /) -> Matrix | None:
        """Return the Hessian of V; shape (n, n)."""

    # -- kinematics: zeta' = w by default -----------------------------------------------------

    def Z(self, zeta: Vector, /) -> Matrix:
        """Return the kinematic matrix, zeta' = Z w; shape (n, k)."""
        return diagonal(np.ones(self.n))

    def Z_along(self, zeta: Vector, w: Vector, /) -> Matrix | None:
        """Return the derivative of Z w by zeta; shape (n, n)."""
        return None

    def Z_back(self, zeta: Vector, f: Vector, /) -> Matrix | None:
        """Return the derivative of Z^T f by zeta; shape (k, n)."""
        return None

    # -- constraints --------------------------------------------------------------------------

    @abstractmethod
    def K(self, zeta: Vector, /) -> Matrix:
        """Return the constraints on velocities, K w = 0; shape (m, k)."""

    @abstractmethod
    def curvature(self, zeta: Vector, lam: Vector, /) -> Matrix:
        """Return the derivative of K^T lam by zeta; shape (k, n)."""

    @abstractmethod
    def slope(self, zeta: Vector, w: Vector, /) -> Matrix:
        """Return the derivative of K w by zeta; shape (m, n)."""

    @property
    def imposed(self) -> Matrix | None:
        """What inputs add to the constraints, K w = N u; None: nothing; shape (m, inputs)."""
        return None

    # -- ports --------------------------------------------------------------------------------

    @abstractmethod
    def B(self, zeta: Vector, /) -> Matrix:
        """Return the port matrix; shape (k, inputs)."""

    @abstractmethod
    def dB(self, zeta: Vector, u: Vector, /) -> Matrix | None:
        """Return the derivative of B u by zeta; shape (k, n)."""

    @abstractmethod
    def dy(self, zeta: Vector, w: Vector, /) -> Matrix | None:
        """Return the derivative of B^T w by zeta; shape (inputs, n)."""

    def feedback(self, t: float, zeta: Vector, w: Vector, u: Vector, /) -> Vector:
        """Return the inputs with those filled in that depend on the state; default: none do."""
        return u

    def in_play(self, t: float, zeta: Vector, w: Vector, h: float, /) -> float:
        """Return the energy to a relative eps of which springs and laws are known in a step [J].

        By what they see, such as angles counted over turns, which zeta is without.
        """
        return 0.0

    # -- dissipation: none by default ---------------------------------------------------------

    @property
    def lossless(self) -> bool:
        """Whether there is no dissipation."""
        return True

    def damping(self, zeta: Vector, w: Vector, /) -> Vector:
        """Return the dissipative forces tau_d, against the motion; shape (k,)."""
        return np.zeros(self.k)

    def ddamping(self, zeta: Vector, w: Vector, /) -> tuple[Matrix, Matrix] | None:
        """Return their derivatives by zeta (k, n) and by w (k, k)."""
        return None

    def losses(self, zeta: Vector, w: Vector, lam: Vector, /) -> Losses | None:
        """Return friction in proportion to constraint forces, against the motion; None: none."""
        return None


@dataclass(frozen=True, eq=False)
class MechanicalForm(PHSystem):
    """A mechanical system as x = (zeta, ..., w or p, multipliers), z = (f, ..., w, multipliers)."""

    @property
    @abstractmethod
    def mechanics(self) -> Mechanics:
        """What acts."""

    @property
    def momentum_row(self) -> int:
        """Where the equation of momentum begins, and w in z."""
        return self.mechanics.n

    def parts(self, x: Vector) -> tuple[Vector, Vector, Vector]:
        """Return (zeta, w or p, multipliers) of a state, or (f, w, multipliers) of a costate."""
        lam = self.momentum_row + self.mechanics.k
        return x[: self.mechanics.n], x[self.momentum_row : lam], x[lam:]

    @property
    def massless(self) -> NDArray[np.bool_] | bool:
        """Which w or p of the state have no derivative anywhere: none of them by default."""
        return False

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """All but zeta and w or p, and what is `massless` of these."""
        there = np.ones(self.n, dtype=bool)
        zeta, w, _ = self.parts(there)
        zeta[:], w[:] = False, self.massless
        return there

    def coordinate_sizes(self, x: Vector) -> Vector:
        """Return how large coordinates are by nature: 1 in their units by default; shape (n,)."""
        return np.maximum(1.0, abs(self.parts(x)[0]))

    def bends(self, x: Vector) -> Vector:
        """Return the sizes of the second derivatives of the energy by each state; shape (n,)."""
        # The diagonal of E^T dz.
        return np.asarray(abs((self.E(x) * self.dz(x)).sum(axis=0))).reshape(-1)

    def sizes(self, x: Vector) -> Vector:
        """Return how large states are: those besides zeta as the energy would make each alone.

        Multipliers balance the forces that do the work of this energy over the coordinates.
        """
        slope, bend = abs(self.grad_H(x)), self.bends(x)
        zeta, split = self.coordinate_sizes(x), self.mechanics.n
        sizes = np.concatenate([zeta, abs(x[split:])])
        energy = np.max(np.append(slope[:split] * zeta, bend * sizes**2 / 2), initial=0.0) or 1.0
        given = np.sqrt(np.divide(energy, bend, out=np.zeros(self.n), where=bend > 0))
        sizes[split:] = np.maximum(sizes[split:], given[split:])
        q, w, lam = self.parts(x)[0], *self.parts(sizes)[1:]
        Z, lam = abs(self.mechanics.Z(q)), lam[: self.mechanics.m]
        # What has no mass moves as the others do, over the same part of its size in a time.
        reach = Z.T @ zeta
        pace = np.divide(w, reach, out=np.zeros(w.size), where=reach > 0)
        w[self.massless] = reach[self.massless] * np.max(pace, initial=0.0)
        forces = Z.T @ (energy / zeta)
        lam[:] = np.maximum(lam, balancing(self.mechanics.K(q), forces))
        # What has no energy here, as a quaternion that grows, is as large as the rest of its state.
        for own in (sizes[at] for at in self.slices.values()):
            own[own == 0] = np.max(own, initial=0.0)
        return sizes

    def in_play(self, t: float, x: Vector, h: float) -> float:
        """Return the energy to a relative eps of which the balance of a step is known [J]."""
        zeta, w = self.parts(x)[0], self.parts(self.z(x))[1]
        return super().in_play(t, x, h) + self.mechanics.in_play(t, zeta, w, h)

    def gyration(self, x: Vector) -> Matrix | None:
        """Return the gyroscopic matrix, skew; None: there is none; shape (k, k)."""
        return None

    def dgyration(self, x: Vector, a: Vector) -> tuple[Matrix | None, Matrix | None]:
        """Return the derivatives of its product with a by zeta (k, n) and by w (k, k)."""
        return None, None

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix [BHRS25, eq. (7)], the multipliers of constraints included.

        With rows for zeta, momentum and constraints, [[0, Z, 0], [-Z^T, -G, -K^T], [0, K, 0]].
        """
        zeta, mechanics, w = self.parts(x)[0], self.mechanics, self.momentum_row
        Z, G, lam = mechanics.Z(zeta), self.gyration(x), w + mechanics.k
        placed: list[Placed] = [(0, w, Z), (w, 0, -Z.T)]
        if G is not None:
            placed.append((w, w, -G))
        if mechanics.m:
            K = mechanics.K(zeta)
            placed += [(w, lam, -K.T), (lam, w, K)]
        return assemble((self.n, self.n), placed)

    def B(self, x: Vector) -> Matrix:
        """Return the port matrix, in the equation of momentum; of drives, in the constraints."""
        B, N = self.mechanics.B(self.parts(x)[0]), self.mechanics.imposed
        placed: list[Placed] = [(self.momentum_row, 0, B)]
        if N is not None:
            placed.append((self.momentum_row + self.mechanics.k, 0, -N))
        return assemble((self.n, self.m), placed)

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return tau_d of the velocities in z [BHRS25, eq. (8)], in the equation of momentum."""
        if self.mechanics.lossless:
            return None
        effort, zeta, (_, w, lam) = np.zeros(self.n), self.parts(x)[0], self.parts(z)
        losses = self.mechanics.losses(zeta, w, lam)
        self.parts(effort)[1][:] = self.mechanics.damping(zeta, w)
        if losses is not None:
            self.parts(effort)[1][:] += losses.force
        return effort

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs with state-dependent loads filled in."""
        return self.mechanics.feedback(t, self.parts(x)[0], self.parts(z)[1], u)

    # -- tangents -----------------------------------------------------------------------------

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r by z, which is one by w, and by multipliers of friction."""
        slopes, w = self._slopes(self.parts(x)[0], self.parts(z)[1]), self.momentum_row
        losses = self._losses(x, z)
        placed: list[Placed] = [] if slopes is None else [(w, w, slopes[1])]
        if losses is not None:
            placed += [(w, w, losses.by_w), (w, w + self.mechanics.k, losses.by_lam)]
        return assemble((self.n, self.n), placed) if placed else None

    def _losses(self, x: Vector, z: Vector) -> Losses | None:
        return self.mechanics.losses(self.parts(x)[0], *self.parts(z)[1:])

    def _slopes(self, zeta: Vector, w: Vector) -> tuple[Matrix, Matrix] | None:
        return None if self.mechanics.lossless else self.mechanics.ddamping(zeta, w)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z - r + B u by x, z and u fixed."""
        zeta, (f, a, lam), mechanics = self.parts(x)[0], self.parts(z), self.mechanics
        w, (by_zeta, by_w) = self.momentum_row, self.dgyration(x, a)
        terms: list[tuple[int, int, float, Matrix | None]] = [
            (0, 0, 1.0, mechanics.Z_along(zeta, a)),
            (w, 0, -1.0, mechanics.Z_back(zeta, f)),
            (w, 0, -1.0, by_zeta),
            (w, w, -1.0, by_w),
            (w, 0, 1.0, mechanics.dB(zeta, u)),
        ]
        if mechanics.m:
            terms.append((w, 0, -1.0, mechanics.curvature(zeta, lam)))
            terms.append((w + mechanics.k, 0, 1.0, mechanics.slope(zeta, a)))
        slopes = self._slopes(zeta, a)
        if slopes is not None:
            terms.append((w, 0, -1.0, slopes[0]))
        losses = self._losses(x, z)
        if losses is not None:
            terms.append((w, 0, -1.0, losses.by_zeta))
        placed = [(i, j, sign * block) for i, j, sign, block in terms if block is not None]
        return assemble((self.n, self.n), placed) if placed else None

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T w by x."""
        dy = self.mechanics.dy(self.parts(x)[0], self.parts(z)[1])
        return None if dy is None else assemble((self.m, self.n), [(0, 0, dy)])

    def look(
        self,
        g: Callable[[Vector], Vector] | None,
        dg: Callable[[Vector], Matrix],
        A: Callable[[Vector], Matrix] | None = None,
        T: Callable[[Vector], float] | None = None,
    ) -> StateObserver:
        """Return what shows energies, and how well g(zeta) = 0, K w = 0 and A w = 0 hold.

        The last is that at the midpoints of steps. dg is the derivative of g. T is the kinetic
        energy of a state; H - V if it is not given.
        """
        mechanics = self.mechanics

        def moving(x: Vector, h: float, rows: Callable[[Vector], Matrix] = mechanics.K) -> Rows:
            zeta, w = self.parts(x)[0], self.parts(self.z(x))[1]
            G = dense(rows(zeta))
            length = np.linalg.norm(G, axis=1)
            size, place = length * np.linalg.norm(w), length * np.linalg.norm(zeta)
            return Rows(G @ w, size, size + place / h)

        ends, middle = dict[str, RowsOf](), dict[str, RowsOf]()
        if g is not None:

            def held(x: Vector, h: float) -> Rows:
                zeta, _, lam = self.parts(x)
                size = np.linalg.norm(dense(dg(zeta)), axis=1) * np.linalg.norm(zeta)
                return Rows(g(zeta), size, size, energy=float(abs(lam[: size.size]) @ size))

            ends["constraint_error"] = held
        if mechanics.m:
            ends["velocity_constraint_error"] = moving
        if A is not None:
            middle["velocity_constraint_error_mid"] = partial(moving, rows=A)
        energies = {
            "kinetic": T or (lambda x: self.H(x) - mechanics.V(self.parts(x)[0])),
            "potential": lambda x: mechanics.V(self.parts(x)[0]),
        }
        return StateObserver(self.n, energies, ends, middle)


class Inertial(Mechanics, Protocol):
    """What acts on a system with a constant mass."""

    @property
    def M(self) -> Matrix:
        """The mass matrix, symmetric; shape (k, k)."""

    @property
    def massless(self) -> NDArray[np.bool_]:
        """Velocities without any mass; shape (k,)."""

    def T(self, w: Vector, /) -> float:
        """Return the kinetic energy w·M w / 2 [J]."""


@dataclass(frozen=True, eq=False)
class VelocityForm(MechanicalForm):
    """A system with a constant mass, x = (zeta, w, multipliers), and H = T + V.

    E = diag(I, M, 0), z = (grad V, w, multipliers).
    """

    @property
    @abstractmethod
    def mechanics(self) -> Inertial:
        """What acts."""

    @cached_property
    def _E(self) -> Matrix:
        n = self.mechanics.n
        blocks: list[Placed] = [(0, 0, diagonal(np.ones(n))), (n, n, self.mechanics.M)]
        return assemble((self.n, self.n), blocks)

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M, 0)."""
        return self._E

    def z(self, x: Vector) -> Vector:
        """Return (grad V, w, multipliers)."""
        n = self.mechanics.n
        return np.concatenate([self.mechanics.dV(x[:n]), x[n:]])

    def dz(self, x: Vector) -> Matrix:
        """Return diag(Hessian of V, I, I)."""
        n = self.mechanics.n
        ddV = self.mechanics.ddV(x[:n])
        placed: list[Placed] = [(n, n, diagonal(np.ones(self.n - n)))]
        if ddV is not None:
            placed.append((0, 0, ddV))
        return assemble((self.n, self.n), placed)

    def energies(self, x: Vector) -> Vector:
        """Return V and T [J]."""
        zeta, w, _ = self.parts(x)
        return np.array([self.mechanics.V(zeta), self.mechanics.T(w)])

    @property
    @abstractmethod
    def parabolic(self) -> bool:
        """Whether V is quadratic."""

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """V and T: discrete gradients of V leave w at its midpoint, where constraints hold it."""
        rows, n = np.flatnonzero(~self.algebraic), self.mechanics.n
        return (Storage(rows[rows < n], self.parabolic), Storage(rows[rows >= n], quadratic=True))

    @property
    def massless(self) -> NDArray[np.bool_]:
        """Those without any mass."""
        return self.mechanics.massless


class Coefficients(Inertial, Protocol):
    """What [BHRS25, eq. (10)] asks for besides: gyroscopic forces."""

    def G(self, Gamma: Vector, /) -> Matrix:
        """Return the gyroscopic matrix of the momenta Gamma = M w, skew; shape (k, k)."""

    def dG(self, Gamma: Vector, a: Vector, /) -> Matrix:
        """Return the derivative of G(Gamma) a by Gamma; shape (k, k)."""


@dataclass(frozen=True, eq=False)
class RedundantForm(VelocityForm):
    r"""Rigid bodies in redundant coordinates and velocities of their own [BHRS25, eq. (10)].

    .. math::

        \dot\zeta &= Z(\zeta)\, w \\
        M \dot w &= -Z^\top \nabla V - G(M w)\, w - Z^\top c'^\top \lambda - A^\top \mu
                    - \tau_d(\zeta, w) + B u \\
        0 &= c(\zeta), \qquad 0 = A(\zeta)\, w, \qquad y = B^\top w

    The multipliers are those of c, then those of A: K has the rows c' Z and A.
    """

    @property
    @abstractmethod
    def mechanics(self) -> Coefficients:
        """The coefficients."""

    def gyration(self, x: Vector) -> Matrix:
        """Return G(M w)."""
        return self.mechanics.G(self.mechanics.M @ self.parts(x)[1])

    def dgyration(self, x: Vector, a: Vector) -> tuple[None, Matrix]:
        """Return the derivative of G(M w) a by w."""
        M = self.mechanics.M
        return None, self.mechanics.dG(M @ self.parts(x)[1], a) @ M
