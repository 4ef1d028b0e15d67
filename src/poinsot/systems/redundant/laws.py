"""The laws that make up a system in redundant coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Vector
from poinsot.ph.ports import Port
from poinsot.systems.livens.smooth import Field, OfPotentials, Smooth

#: Sums below this part of their terms are round-off.
NOISE = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Outlet:
    """A port whose position p is known: p' Z = B^T, B (k, size) its columns of the port matrix."""

    port: str
    position: Smooth
    B: Field


@dataclass(frozen=True, eq=False)
class Laws(OfPotentials):
    r"""What stands on the right of [BHRS25, eq. (10)], as functions with their derivatives.

    Parameters
    ----------
    coordinates, velocities : sequence of str
        Names of the entries of :math:`\zeta`, n of them, and of w, k of them.
    M : (k, k)
        Mass matrix.
    potentials : sequence of Smooth
        Parts of V [J]; each has a discrete derivative of its own.
    constraints : sequence of Smooth
        Parts of :math:`c(\zeta)`, one after the other; each has a discrete derivative of its own.
    Z, A, B : Field
        Kinematics (n, k), rows of :math:`A w = 0`, and the port matrix (k, inputs), of
        :math:`\zeta`.
    G : Field
        Gyroscopic matrix (k, k), skew, of the momenta :math:`\Gamma = M w`.
    dissipation : Field
        :math:`\tau_d` as one column (k, 1), of :math:`(\zeta, w)` in one vector.
    skew : bool
        Whether G is known to be skew at all momenta.
    names_c, names_A : sequence of str
        Names of the constraints, for messages.
    positions : mapping
        Port -> its position, whose rate is the output of the port: p' Z = B^T.
    domain : mapping
        What happens at an edge of the admissible positions -> a function of one value that is
        positive inside.
    parts : sequence of str
        Names of the systems that were joined.
    tied : sequence of Outlet
        The ports at which they were joined by positions.
    """

    coordinates: Sequence[str]
    velocities: Sequence[str]
    M: Array
    potentials: Sequence[Smooth]
    constraints: Sequence[Smooth]
    Z: Field
    G: Field
    A: Field
    B: Field
    dissipation: Field
    skew: bool
    names_c: Sequence[str] = ()
    names_A: Sequence[str] = ()
    positions: Mapping[str, Smooth] = field(default_factory=dict)
    domain: Mapping[str, Smooth] = field(default_factory=dict)
    parts: Sequence[str] = ()
    tied: Sequence[Outlet] = ()

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def k(self) -> int:
        """Number of velocities."""
        return len(self.velocities)

    @property
    def n_c(self) -> int:
        """Number of constraints on coordinates."""
        return len(self.names_c)

    @property
    def n_A(self) -> int:
        """Number of constraints on velocities."""
        return len(self.names_A)

    @property
    def m(self) -> int:
        """Number of constraints, of both kinds."""
        return self.n_c + self.n_A

    @cached_property
    def massless(self) -> NDArray[np.bool_]:
        """Velocities without any mass; shape (k,)."""
        return np.asarray(~np.any(self.M, axis=0))

    @cached_property
    def weight(self) -> Vector:
        """How much of the change of w is done at a midpoint: half, or all without mass; (k,)."""
        return np.where(self.massless, 1.0, 0.5)

    @cached_property
    def size_M(self) -> Array:
        """The entries of M without their signs; shape (k, k)."""
        return abs(self.M)

    @cached_property
    def lightness(self) -> Vector:
        """1 / M_ii, and 0 for what has no mass of its own; shape (k,)."""
        mass = np.diag(self.M)
        return np.divide(1.0, mass, out=np.zeros(self.k), where=mass > 0)

    @cached_property
    def varying(self) -> Sequence[Smooth]:
        """Parts of V that are no constants: those that make forces."""
        return [part for part in self.potentials if not part.constant]

    @cached_property
    def lossless(self) -> bool:
        """Whether tau_d is known to vanish."""
        known = self.dissipation.constant
        return known and not np.any(self.dissipation(np.zeros(self.n + self.k)))

    def outlets(self, ports: Sequence[Port]) -> list[Outlet]:
        """Return those of the ports, whose inputs are the columns of B, that have a position."""
        found, end = [], 0
        for port in ports:
            start, end = end, end + port.size
            if port.name in self.positions:
                B = self.B.columns(np.arange(start, end))
                found.append(Outlet(port.name, self.positions[port.name], B))
        return found

    # -- energies -----------------------------------------------------------------------------

    def T(self, w: Vector) -> float:
        """Return the kinetic energy w·M w / 2 [J]."""
        return float(w @ self.M @ w) / 2

    def speeds(self, w: Vector) -> Vector:
        """Return the size of each velocity: its own, plus what the kinetic energy would give it.

        A constraint such as w_1 = 0 leaves terms that are round-off, and no measure of it.
        """
        size = abs(w)
        return np.asarray(size + np.sqrt(float(size @ self.size_M @ size) * self.lightness))

    # -- constraints --------------------------------------------------------------------------

    def c(self, zeta: Vector) -> Vector:
        """Return the constraints; shape (n_c,)."""
        return np.concatenate([np.zeros(0), *(part.value(zeta) for part in self.constraints)])

    def dc(self, zeta: Vector) -> Array:
        """Return their Jacobian c'; shape (n_c, n)."""
        rows = (part.jacobian(zeta) for part in self.constraints)
        return np.concatenate([np.zeros((0, self.n)), *rows])

    def ddc(self, zeta: Vector, lam: Vector) -> Array:
        """Return the second derivatives of lam·c; shape (n, n)."""
        shares = zip(self.constraints, self.shares(lam), strict=True)
        parts = (part.curvature(zeta, share) for part, share in shares)
        return sum(parts, np.zeros((self.n, self.n)))

    def shares(self, lam: Vector) -> list[Vector]:
        """Return the multipliers of each part of the constraints."""
        ends = np.cumsum([part.size for part in self.constraints])
        return np.split(lam, ends[:-1]) if self.constraints else []

    def K(self, zeta: Vector) -> Array:
        """Return all constraints as rows on w, c' Z and A; shape (m, k).

        Entries of c' Z that are round-off of their terms are zero: the kinematics keeps such rows.
        """
        dc, Z = self.dc(zeta), self.Z(zeta)
        rows = dc @ Z
        rows[abs(rows) <= NOISE * (abs(dc) @ abs(Z))] = 0.0
        return np.vstack([rows, self.A(zeta)])

    def curvature(self, zeta: Vector, lam: Vector) -> Array:
        """Return the derivative of K^T lam by zeta; shape (k, n)."""
        of_c, of_A = lam[: self.n_c], lam[self.n_c :]
        bent = self.Z.back(zeta, of_c @ self.dc(zeta)) + self.Z(zeta).T @ self.ddc(zeta, of_c)
        return bent + self.A.back(zeta, of_A)

    def slope(self, zeta: Vector, w: Vector) -> Array:
        """Return the derivative of K w by zeta; shape (m, n)."""
        travel = self.Z(zeta) @ w
        bent = [self.ddc(zeta, unit) @ travel for unit in np.eye(self.n_c)]
        of_c = np.reshape(bent, (self.n_c, self.n)) + self.dc(zeta) @ self.Z.along(zeta, w)
        return np.vstack([of_c, self.A.along(zeta, w)])

    # -- kinematics, gyroscopic forces, ports -------------------------------------------------

    def Z_along(self, zeta: Vector, w: Vector) -> Array:
        """Return the derivative of Z w by zeta; shape (n, n)."""
        return self.Z.along(zeta, w)

    def Z_back(self, zeta: Vector, f: Vector) -> Array:
        """Return the derivative of Z^T f by zeta; shape (k, n)."""
        return self.Z.back(zeta, f)

    def dG(self, Gamma: Vector, a: Vector) -> Array:
        """Return the derivative of G a by the momenta; shape (k, k)."""
        return self.G.along(Gamma, a)

    def dB(self, zeta: Vector, u: Vector) -> Array | None:
        """Return the derivative of B u by zeta; shape (k, n)."""
        return None if self.B.constant else self.B.along(zeta, u)

    def dy(self, zeta: Vector, w: Vector) -> Array | None:
        """Return the derivative of B^T w by zeta; shape (inputs, n)."""
        return None if self.B.constant else self.B.back(zeta, w)

    def feedback(self, t: float, zeta: Vector, w: Vector, u: Vector) -> Vector:
        """Return the inputs: none depend on the state."""
        return u

    def in_play(self, t: float, zeta: Vector, w: Vector, h: float) -> float:
        """Return nothing: what acts sees the state alone."""
        return 0.0

    @property
    def imposed(self) -> None:
        """What inputs add to the constraints: nothing."""
        return None

    # -- dissipation --------------------------------------------------------------------------

    def damping(self, zeta: Vector, w: Vector) -> Vector:
        """Return the dissipative forces tau_d; shape (k,)."""
        return self.dissipation(np.concatenate([zeta, w]))[:, 0]

    def ddamping(self, zeta: Vector, w: Vector) -> tuple[Array, Array]:
        """Return their derivatives by zeta (k, n) and by w (k, k)."""
        both = self.dissipation.jacobian(np.concatenate([zeta, w]))[:, 0]
        return both[:, : self.n], both[:, self.n :]

    def losses(self, zeta: Vector, w: Vector, lam: Vector) -> None:
        """Return friction in proportion to constraint forces: there is none."""

    #: The name in [BHRS25].
    tau_d = damping
