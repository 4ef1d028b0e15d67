r"""Interface of Lagrangians for the forms of their equations and their time steps.

.. math:: L(q, v) = T(q, v) - V(q), \qquad g(q) = 0, \qquad B(q)\, u

T is usually v·M(q) v / 2; M may be singular and may depend on q. T may also have terms that are
linear in v, or none that are quadratic: the energy is v·dT/dv - T + V [LKB26, eq. (11)].
Derivatives are exact; those of a step are with respect to its end.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, dense, diagonal, is_sparse
from poinsot.ph.stages import largest
from poinsot.ph.start import VANISHED
from poinsot.systems.mechanical import Mechanics


@dataclass(frozen=True)
class Slopes:
    """Derivatives of an energy by q and by s (v or p) over a step, and theirs by q1 and s1."""

    by_q: Vector
    by_s: Vector
    qq: Matrix
    qs: Matrix
    sq: Matrix
    ss: Matrix


@dataclass(frozen=True)
class Hessian:
    """Second derivatives of an energy of q and s at a state; ss is M, or its inverse."""

    qq: Matrix
    qs: Matrix
    ss: Matrix


@dataclass(frozen=True)
class Push:
    """What acts over a step: the impulse h F - G^T mu, its derivative by q1, and G (m, n).

    `sizes` (n,) are those of its terms, `inner` those of what cancels inside of them; u and y
    (inputs,) what went through the ports, `lost` the power that dampers took [W].
    """

    impulse: Vector
    tangent: Matrix
    G: Matrix
    sizes: Vector
    inner: Callable[[], Vector]
    u: Vector
    y: Vector
    lost: float = 0.0


@dataclass(frozen=True)
class Interval:
    """A step of size h [s] with midpoint t, from q0 to q1, and the inputs u that are given."""

    t: float
    h: float
    q0: Vector
    q1: Vector
    u: Vector

    @property
    def middle(self) -> Vector:
        """The midpoint of q."""
        return (self.q0 + self.q1) / 2


class Chart(ABC):
    """Increments of q near q0 by as few numbers as there are freedoms without joints."""

    #: Which constraints hold by themselves.
    satisfied: slice

    @abstractmethod
    def guess(self, q1: Vector) -> Vector:
        """Return the numbers of a configuration, roughly."""

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Return the name of every projected equation."""

    @abstractmethod
    def at(self, w: Vector) -> tuple[Vector, Matrix]:
        """Return q1 - q0 at the numbers w, and its derivative."""

    @abstractmethod
    def project(self, q1: Vector, r: Vector) -> tuple[Vector, Matrix, Matrix | None]:
        """Return P r with the discrete null-space matrix P, then P, then the derivative by q1."""

    @abstractmethod
    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of projected equations to the largest of their kind."""

    @property
    @abstractmethod
    def measures(self) -> Vector:
        """What the numbers are measured by."""

    @abstractmethod
    def multipliers(self, q1: Vector, r: Vector) -> Vector:
        """Return the multipliers of the constraints that were left out, balancing r."""


@dataclass(frozen=True, eq=False)
class Increments(Chart):
    """The increments themselves: no constraint is left out.

    They are the unknowns and not q1: a coordinate that has grown large would cost them digits.
    """

    of: "Lagrangian"
    q0: Vector
    names: tuple[str, ...]
    satisfied = slice(0, 0)

    def guess(self, q1: Vector) -> Vector:
        """Return q1 - q0."""
        return q1 - self.q0

    def labels(self) -> tuple[str, ...]:
        """Return the names of the equations of momentum."""
        return self.names

    def at(self, w: Vector) -> tuple[Vector, Matrix]:
        """Return w."""
        return w, diagonal(np.ones(w.size))

    def project(self, q1: Vector, r: Vector) -> tuple[Vector, Matrix, Matrix | None]:
        """Return r."""
        return r, diagonal(np.ones(r.size)), None

    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes to the largest of their kind."""
        return self.of.alike(sizes)

    @property
    def measures(self) -> Vector:
        """What coordinates are measured by."""
        return self.of.measures(self.q0)

    def multipliers(self, q1: Vector, r: Vector) -> Vector:
        """Return none."""
        return np.zeros(0)


class Lagrangian(Mechanics):
    """A mechanical system by its energies; q and v have shape (n,), multipliers (m,)."""

    # -- energies -----------------------------------------------------------------------------

    @abstractmethod
    def M(self, q: Vector) -> Matrix:
        """Return the mass matrix; shape (n, n)."""

    def masses(self, q: Vector) -> Vector:
        """Return the sizes of the diagonal of M; shape (n,)."""
        M = self.M(q)
        return np.asarray(abs(M.diagonal() if is_sparse(M) else np.diagonal(dense(M))))

    def momentum(self, q: Vector, v: Vector) -> Vector:
        """Return p = dL/dv = M(q) v."""
        return np.asarray(self.M(q) @ v)

    def T(self, q: Vector, v: Vector) -> float:
        """Return L + V, what velocities contribute to the Lagrangian [J]."""
        return float(v @ self.momentum(q, v)) / 2

    def kinetic_energy(self, q: Vector, v: Vector) -> float:
        """Return v·dT/dv - T [J]: T itself where it is quadratic in v."""
        return self.T(q, v)

    def dT(self, q: Vector, v: Vector) -> Vector:
        """Return the derivative of T by q; shape (n,)."""
        return self.kinetic(Rule.MIDPOINT, q, v, q, v).by_q

    def ddT(self, q: Vector, v: Vector) -> Hessian:
        """Return the second derivatives of T."""
        T = self.kinetic(Rule.MIDPOINT, q, v, q, v)
        return Hessian(2 * T.qq, 2 * T.qs, 2 * T.ss)

    # -- constraints --------------------------------------------------------------------------

    @abstractmethod
    def g(self, q: Vector) -> Vector:
        """Return the constraints; shape (m,), less those on velocities alone."""

    def gap_sizes(self, q: Vector) -> Vector:
        """Return what the values of g are measured by; as many.

        Coordinates themselves; where these vanish, a small part of the largest one.
        """
        places = abs(q) + VANISHED * np.max(abs(q), initial=0.0)
        return np.asarray(abs(self.G(q)) @ places)[: self.g(q).size]

    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of numbers like q to the largest of their kind; by default there is one."""
        return largest(sizes)

    def measures(self, q: Vector) -> Vector:
        """Return what numbers like q are measured by; by default they are of one kind."""
        return np.ones(self.n)

    @abstractmethod
    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian of the constraints, below it those on velocities; shape (m, n)."""

    def K(self, q: Vector) -> Matrix:
        """Return the constraints on velocities: G."""
        return self.G(q)

    def asked(self, u: Vector, t: float, h: float, q: Vector) -> Vector:
        """Return the inputs of a step that begins at time t and at q, as they are asked of drives.

        By default there are none.
        """
        return u

    def remembering(self) -> "Lagrangian":
        """Return the same for one run of Newton's method, see `PHSystem.remembering`."""
        return self

    # -- Hamiltonian: where M, or what replaces it, can be inverted ---------------------------

    @abstractmethod
    def velocity(self, q: Vector, p: Vector) -> Vector:
        """Return v = M(q)^-1 p."""

    def co_T(self, q: Vector, p: Vector) -> float:
        """Return the kinetic energy as a function of q and p [J]."""
        return float(p @ self.velocity(q, p)) / 2

    def co_dT(self, q: Vector, p: Vector) -> Vector:
        """Return the derivative of `co_T` by q: that of T, with the other sign."""
        return -self.dT(q, self.velocity(q, p))

    def co_ddT(self, q: Vector, p: Vector) -> Hessian:
        """Return the second derivatives of `co_T`."""
        T = self.cokinetic(Rule.DISCRETE, q, p, q, p)
        return Hessian(2 * T.qq, 2 * T.qs, 2 * T.ss)

    # -- steps --------------------------------------------------------------------------------

    @abstractmethod
    def kinetic(self, rule: Rule, q0: Vector, v0: Vector, q1: Vector, v1: Vector) -> Slopes:
        """Return the derivatives of T(q, v) over a step."""

    @abstractmethod
    def cokinetic(self, rule: Rule, q0: Vector, p0: Vector, q1: Vector, p1: Vector) -> Slopes:
        """Return the derivatives of T as a function of q and p over a step."""

    @abstractmethod
    def push(self, rule: Rule, step: Interval, mu: Vector) -> Push:
        """Return what potentials, dampers, ports and constraints (mu = h lam) do over a step."""

    def closure(self, rule: Rule, step: Interval) -> tuple[Vector, Matrix]:
        """Return what must vanish at the end of a step, (m,), and its derivative by q1.

        A constraint on positions is closed, g(q1) = 0; one on velocities alone has held over the
        step, A dq = h N u. By default all are of the first kind.
        """
        return self.g(step.q1), self.G(step.q1)

    def travel(self, rule: Rule, q0: Vector, dq: Vector) -> tuple[Vector, Matrix | None]:
        """Return what h v_mid equals, dq = q1 - q0, and its derivative by q1; None: identity."""
        return dq, None

    def forecast(self, h: float, q0: Vector, v0: Vector, p0: Vector) -> Vector:
        """Return where a step may lead: q0 + h v0."""
        return q0 + h * v0

    def chart(self, q0: Vector) -> Chart:
        """Return a chart near q0, for null-space methods."""
        raise InputError(
            "null-space schemes are available for models in quaternions only; use 'reml'"
        )

    def independent(self, q: Vector) -> Matrix | None:
        """Return T, whose rows combine the constraints to independent ones; None: all are."""
        return None

    def smallest(self, q0: Vector, q1: Vector, lam: Vector) -> Vector:
        """Return the smallest multipliers that do the same as `lam` over a step."""
        return lam

    def smallest_pair(
        self, q: Vector, v: Vector, lam: Vector, gam: Vector
    ) -> tuple[Vector, Vector]:
        """Return the smallest multipliers that do the same: these."""
        return lam, gam

    def names(self) -> tuple[str, ...]:
        """Return the name of every constraint."""
        return tuple(f"g[{k}]" for k in range(self.m))

    def diagnose(self, q0: Vector) -> str:
        """Return why a step from q0 may have failed, if something is to be seen there."""
        return ""

    def check(self, q: Vector, v: Vector) -> None:
        """Refuse a start that is no configuration of the system."""

    def watch(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step to a configuration that should not have been reached."""
