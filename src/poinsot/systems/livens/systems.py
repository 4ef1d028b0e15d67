"""A Lagrangian as a port-Hamiltonian system: in (q, v, p), Livens' form, in (q, p) or (q, v)."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InconsistentStartError, InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.graphs import Graph
from poinsot.ph.matrices import Array, Matrix, Placed, Vector, assemble, dense, diagonal, total
from poinsot.ph.operations import Written, dot, flat, product, table
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import StageEquations
from poinsot.ph.start import TOLERANCE, VANISHED, require_satisfied
from poinsot.ph.system import State, Storage
from poinsot.result.observer import Observer
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.lagrangian import Lagrangian
from poinsot.systems.livens.steps import CondensedStages, HamiltonianStages, LivensStages
from poinsot.systems.mechanical import MechanicalForm

#: Velocities that are off by so much, relative to momenta, are told to whoever asks for a reason.
ASTRAY = 1e-2


@dataclass(frozen=True, eq=False)
class LagrangianForm(MechanicalForm):
    """What all forms share: their states begin with q, and the Lagrangian judges starts and steps.

    Constraints, dampers and ports act on the equation of momentum.
    """

    lagrangian: Lagrangian
    #: J is skew and R semi-definite by construction.
    proven = True

    @property
    def mechanics(self) -> Lagrangian:
        """The Lagrangian."""
        return self.lagrangian

    @abstractmethod
    def velocity(self, x: Vector) -> Vector:
        """Return the velocity v; shape (n,)."""

    def q(self, x: Vector) -> Vector:
        """Return the coordinates; shape (n,)."""
        return x[: self.lagrangian.n]

    def lam(self, x: Vector) -> Vector:
        """Return the multipliers; shape (m,)."""
        return self.parts(x)[2]

    def remembering(self) -> Self:
        """Return the system for one run of Newton's method."""
        lagrangian = self.lagrangian.remembering()
        return self if lagrangian is self.lagrangian else replace(self, lagrangian=lagrangian)

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse a state that is none, or in which a constraint or its rate does not vanish."""
        lagrangian, q, v = self.lagrangian, self.q(x), self.velocity(x)
        lagrangian.check(q, v)
        G, names, sizes = lagrangian.G(q), lagrangian.names(), lagrangian.gap_sizes(q)
        # Where velocities vanish, a small part of what the kinetic energy would give them.
        mass = lagrangian.masses(q)
        energy = abs(lagrangian.kinetic_energy(q, v))
        given = np.divide(2 * energy, mass, out=np.zeros(v.size), where=mass > 0)
        speeds, N = abs(G) @ (abs(v) + VANISHED * np.sqrt(given)), lagrangian.imposed
        rates = G @ v if N is None else G @ v - N @ self.u(t)
        rows = (
            ("the constraint ", names, lagrangian.g(q), sizes, "the coordinates"),
            ("the rate of the constraint ", names, rates, speeds, "the velocities"),
        )
        require_satisfied(self.name, rows)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return what the Lagrangian sees at the start of the step."""
        return self.lagrangian.diagnose(self.q(x0))

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step that the Lagrangian does not allow."""
        self.lagrangian.watch(self.q(x0), self.q(x1))

    def observer(self) -> Observer:
        """Return what shows energies, and how well constraints hold."""
        lagrangian = self.lagrangian
        return self.look(lagrangian.g if lagrangian.m else None, lagrangian.G)


@dataclass(frozen=True, eq=False)
class MomentumForm(LagrangianForm):
    """What the forms with momenta in the state share."""

    initial: Vector | None = None

    def p(self, x: Vector) -> Vector:
        """Return the momenta; shape (n,)."""
        return self.parts(x)[1]

    @property
    def momenta(self) -> list[State]:
        """The blocks of the state that p consists of."""
        return [s for s in self.states if s.name == "p" or s.name.endswith(".p")]

    @property
    def start(self) -> Vector:
        """Where a simulation starts unless told otherwise."""
        return super().start if self.initial is None else self.initial

    def require_rule(self, scheme: Scheme) -> None:
        """Refuse a scheme whose derivatives are not formed."""
        if scheme.rule is Rule.AVERAGE:
            raise InputError(
                f"scheme '{scheme.name}': mean-value gradients are not available for Lagrangians; "
                "use "
                f"'{self.default_scheme}'"
            )

    @cached_property
    def _E(self) -> Matrix:
        return diagonal((~self.algebraic).astype(float))

    def E(self, x: Vector) -> Matrix:
        """Return the descriptor matrix: q and p have derivatives."""
        return self._E


@dataclass(frozen=True, eq=False)
class LivensSystem(MomentumForm):
    r"""Livens' form of a Lagrangian [KB24, eq. (22)], x = (q, v, p, lambda).

    .. math:: \dot q = v, \quad \dot p = \partial_q L - G^\top \lambda + B u, \quad
              p = \partial_v L, \quad g(q) = 0

    As a port-Hamiltonian system its energy is the generalised one, E(q, v, p) = p·v - L(q, v), with
    the costate (dE/dq, dE/dv, v, lambda). The fibre derivative p = dL/dv says dE/dv = 0, so that
    E^T z = grad H holds wherever it does; its row is written as 0 = -dE/dv, a resistance that takes
    no power. M is not inverted, and may be singular.
    """

    formulation = "livens"
    default_scheme = "eml"

    @property
    def momentum_row(self) -> int:
        """That of p, behind q and v."""
        return 2 * self.lagrangian.n

    def velocity(self, x: Vector) -> Vector:
        """Return v."""
        n = self.lagrangian.n
        return x[n : 2 * n]

    def bends(self, x: Vector) -> Vector:
        """Return the second derivatives of the energy: M for v, and its inverse for p."""
        bends, n, mass = super().bends(x), self.lagrangian.n, self.lagrangian.masses(self.q(x))
        bends[n : 2 * n] = mass
        bends[2 * n : 3 * n] = np.divide(1.0, mass, out=np.zeros(n), where=mass > 0)
        return bends

    def state(self, values: ArrayLike | Mapping[str, ArrayLike]) -> Vector:
        """Make a state; momenta that are not given follow from p = dL/dv."""
        x = super().state(values)
        if isinstance(values, Mapping) and not any(p.name in values for p in self.momenta):
            self.p(x)[:] = self.lagrangian.momentum(self.q(x), self.velocity(x))
        return x

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse momenta that are not those of the velocities, too."""
        super().check_start(x, t)
        q, v, p, lagrangian = self.q(x), self.velocity(x), self.p(x), self.lagrangian
        momenta, M = lagrangian.momentum(q, v), lagrangian.M(q)
        given = np.sqrt(2 * abs(lagrangian.kinetic_energy(q, v)) * lagrangian.masses(q))
        sizes, gap = abs(p) + abs(M) @ abs(v) + VANISHED * given, abs(p - momenta)
        wrong = np.flatnonzero(gap > TOLERANCE * sizes)
        if wrong.size:
            k = int(wrong[np.argmax(gap[wrong])])
            label = self.labels[self.momentum_row + k]
            raise InconsistentStartError(
                f"system '{self.name}': the momentum '{label}' at the start is "
                f"{p[k]:.6g}, but that of the velocities is {momenta[k]:.6g}; leave the momenta "
                "out, which follow from p = dL/dv"
            )

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return Livens' equations over a step, condensed as the scheme wants it."""
        self.require_rule(scheme)
        kind = LivensStages if scheme.condensation == "full" else CondensedStages
        return kind(scheme, t, x0, u, h, self)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return the diagnosis of the Lagrangian, and whether velocities differ from momenta.

        Each step has v1 = 2 v_m - v0: what v alternates by is remembered, and may grow.
        """
        found, p = super().diagnose(t0, x0, h), self.p(x0)
        momenta = self.lagrangian.momentum(self.q(x0), self.velocity(x0))
        gap, size = np.max(abs(p - momenta)), np.max(abs(p))
        if gap <= ASTRAY * size:
            return found
        return (
            f"{found}; velocities and momenta differ by {gap / size:.0%}, as for slender bodies "
            "in Livens' form: try a scheme in Hamilton's form, 'emh-mean'"
        )

    @cached_property
    def _R(self) -> Matrix:
        n, entries = self.lagrangian.n, np.zeros(self.n)
        entries[n : 2 * n] = 1.0
        return diagonal(entries)

    def R(self, x: Vector) -> Matrix:
        """Return the identity on the fibre derivative, which vanishes."""
        return self._R

    def energies(self, x: Vector) -> Vector:
        """Return the generalised energy p·v - T(q, v) + V(q) [J] [KB24, eq. (74)]."""
        q, v, lagrangian = self.q(x), self.velocity(x), self.lagrangian
        return np.array([self.p(x) @ v - lagrangian.T(q, v) + lagrangian.V(q)])

    def z(self, x: Vector) -> Vector:
        """Return (dV - dT/dq, p - dT/dv, v, lambda)."""
        q, v, lagrangian = self.q(x), self.velocity(x), self.lagrangian
        force = lagrangian.dV(q) - lagrangian.dT(q, v)
        return np.concatenate([force, self.p(x) - lagrangian.momentum(q, v), v, self.lam(x)])

    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z."""
        n, m, lagrangian = self.lagrangian.n, self.lagrangian.m, self.lagrangian
        q, v = self.q(x), self.velocity(x)
        H, identity = lagrangian.ddT(q, v), diagonal(np.ones(n))
        placed: list[Placed] = [
            (0, 0, total(lagrangian.ddV(q), -H.qq)),
            (0, n, -H.qs),
            (n, 0, -H.qs.T),
            (n, n, -H.ss),
            (n, 2 * n, identity),
            (2 * n, n, identity),
            (3 * n, 3 * n, diagonal(np.ones(m))),
        ]
        return assemble((self.n, self.n), placed)

    def stored(self, x: Vector) -> tuple[Matrix, Matrix]:
        """Return that of the states with p = dL/dv; the effort that keeps them there is free."""
        n, H = self.lagrangian.n, self.lagrangian.ddT(self.q(x), self.velocity(x))
        along, effort = np.eye(self.n), np.zeros((self.n, self.n))
        along[2 * n : 3 * n, : 3 * n] = np.hstack([dense(H.qs).T, dense(H.ss), np.zeros((n, n))])
        effort[n : 2 * n, 2 * n : 3 * n] = np.eye(n)
        return self.E(x) @ along, self.dz(x) @ along + effort


@dataclass(frozen=True, eq=False)
class HamiltonianSystem(MomentumForm):
    r"""Hamilton's form of a Lagrangian [KB24, eq. (16)], x = (q, p, lambda).

    .. math:: \dot q = M^{-1} (p - a), \quad \dot p = -\partial_q H - G^\top \lambda + B u, \quad
              g(q) = 0, \\
              H = \tfrac12\, (p - a) \cdot M(q)^{-1} (p - a) + V(q)

    with the terms a(q)·v of the Lagrangian, if there are any.
    """

    formulation = "hamiltonian"
    default_scheme = "emh"

    def velocity(self, x: Vector) -> Vector:
        """Return v = M^-1 (p - a)."""
        return self.lagrangian.velocity(self.q(x), self.p(x))

    def state(self, values: ArrayLike | Mapping[str, ArrayLike]) -> Vector:
        """Make a state; velocities may be given instead of momenta."""
        momenta = self.momenta
        velocities = [replace(state, name=f"{state.name[:-1]}v") for state in momenta]
        if not isinstance(values, Mapping) or not any(v.name in values for v in velocities):
            return super().state(values)
        if any(p.name in values for p in momenta):
            raise InputError(f"system '{self.name}': give velocities v or momenta p, not both")
        states, initial = list(self.states), self.initial
        states[len(momenta) : len(momenta)] = velocities
        if initial is not None:
            q, p, lam = self.parts(initial)
            initial = np.concatenate([q, self.velocity(initial), p, lam])
        livens = LivensSystem(self.name, tuple(states), self.ports, self.lagrangian, initial)
        x = livens.state(values)
        return np.concatenate([livens.q(x), livens.p(x), livens.lam(x)])

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return Hamilton's equations over a step."""
        self.require_rule(scheme)
        if scheme.condensation != "full":
            raise InputError(
                f"scheme '{scheme.name}': Hamilton's equations have no condensed form; use 'emh'"
            )
        return HamiltonianStages(scheme, t, x0, u, h, self)

    def energies(self, x: Vector) -> Vector:
        """Return H [J]."""
        q, lagrangian = self.q(x), self.lagrangian
        return np.array([lagrangian.co_T(q, self.p(x)) + lagrangian.V(q)])

    def z(self, x: Vector) -> Vector:
        """Return (dH/dq, v, lambda)."""
        q, p, lagrangian = self.q(x), self.p(x), self.lagrangian
        force = lagrangian.dV(q) + lagrangian.co_dT(q, p)
        return np.concatenate([force, lagrangian.velocity(q, p), self.lam(x)])

    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z."""
        n, m, q = self.lagrangian.n, self.lagrangian.m, self.q(x)
        H = self.lagrangian.co_ddT(q, self.p(x))
        placed: list[Placed] = [
            (0, 0, total(self.lagrangian.ddV(q), H.qq)),
            (0, n, H.qs),
            (n, 0, H.qs.T),
            (n, n, H.ss),
            (2 * n, 2 * n, diagonal(np.ones(m))),
        ]
        return assemble((self.n, self.n), placed)


@dataclass(frozen=True, eq=False)
class VelocitySystem(LagrangianForm):
    r"""The port-Hamiltonian form of a Lagrangian, x = (q, v, lambda) [LKB26, eq. (19)].

    .. math::

        \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix} \dot x =
        \begin{bmatrix} 0 & I & 0 \\ -I & \dot M - 2C & -G^\top \\ 0 & G & 0 \end{bmatrix}
        \begin{bmatrix} \partial_q T + \nabla V \\ v \\ \lambda \end{bmatrix}
        + \begin{bmatrix} 0 \\ B \\ 0 \end{bmatrix} u

    With :math:`D = \partial^2_{vq} L`, or :math:`D_{ij} = \partial (M v + a)_i / \partial q_j`, the
    gyroscopic block is :math:`\dot M - 2C = D^\top - D`, skew by itself [LKB26, eq. (8), remark
    3.2]; terms a(q)·v of the Lagrangian are nowhere else. The energy is the kinetic one plus V, and
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
        """Return D - D^T; None where M and a are constant."""
        lagrangian, (q, v, _) = self.lagrangian, self.parts(x)
        if lagrangian.mass.constant and lagrangian.a is None:
            return None
        D = lagrangian.dp(q, v)
        return D - D.T

    def z(self, x: Vector) -> Vector:
        """Return (dH/dq, v, lambda); in H there is no term linear in v."""
        q, v, lam = self.parts(x)
        force = v @ self.lagrangian.dM(q, v) / 2 + self.lagrangian.dV(q)
        return np.concatenate([force, v, lam])

    def energies(self, x: Vector) -> Vector:
        """Return the energy [J] [LKB26, eq. (20)]."""
        q, v, _ = self.parts(x)
        return np.array([self.lagrangian.kinetic_energy(q, v) + self.lagrangian.V(q)])

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
        mass, rest = self.lagrangian.mass, diagonal(np.ones(self.n - n))
        stiffness = mass.curvature(q, np.outer(v, v).reshape(-1)) / 2 + self.lagrangian.ddV(q)
        by_v = self.lagrangian.dM(q, v).T
        return assemble((self.n, self.n), [(0, 0, stiffness), (0, n, by_v), (n, n, rest)])

    def dgyration(self, x: Vector, a: Vector) -> tuple[Array | None, Array | None]:
        """Return the derivatives of (D - D^T) a by q, from second ones of p, and by v."""
        lagrangian, (q, v, _), units = self.lagrangian, self.parts(x), np.eye(a.size)
        if lagrangian.mass.constant and lagrangian.a is None:
            return None, None
        # Row i of D a is the derivative of p_i along a.
        by_q = [a @ lagrangian.ddp(q, v, unit) for unit in units]
        by_v = [lagrangian.dM(q, unit) @ a for unit in units]
        turned = lagrangian.ddp(q, v, a)
        return np.array(by_q) - turned, np.array(by_v).T - lagrangian.dM(q, a).T

    # -- what is known of the whole -----------------------------------------------------------

    @cached_property
    def operations(self) -> Written | None:
        """The same as operations, all derivatives by them, if the Lagrangian is of expressions."""
        own, graph, n = self.lagrangian, Graph(), self.lagrangian.n
        x = [graph.variable(k) for k in range(self.n)]
        (q, v, lam), zero, one = (x[:n], x[n : 2 * n], x[2 * n :]), *map(graph.number, (0.0, 1.0))
        functions = (own.mass, own.constraints, own.inlets, *own.potentials)
        found = [function.rows(graph, q) for function in functions]
        a = [zero] * n if own.a is None else own.a.rows(graph, q)
        if a is None or None in found:
            return None
        mass, g, inlets, *potentials = (rows or [] for rows in found)
        M = table(mass, n)
        p = [graph.plus(row, by_a) for row, by_a in zip(product(graph, M, v), a, strict=True)]
        V = reduce(graph.plus, (rows[0] for rows in potentials), zero)
        T = graph.times(graph.number(0.5), dot(graph, v, product(graph, M, v)))
        H = graph.plus(T, V)
        z = [*(graph.slope(H, k) for k in range(n)), *v, *lam]
        D = [[graph.slope(row, k) for k in range(n)] for row in p]
        G = [[graph.slope(row, k) for k in range(n)] for row in g]
        J, E, B = ([[zero] * width for _ in x] for width in (self.n, self.n, self.m))
        for i in range(n):
            J[i][n + i], J[n + i][i], E[i][i] = one, graph.number(-1.0), one
            E[n + i][n : 2 * n], B[n + i] = M[i], inlets[i * self.m : (i + 1) * self.m]
            for j in range(n):
                J[n + i][n + j] = graph.minus(D[j][i], D[i][j])
            for j, row in enumerate(G):
                J[2 * n + j][n + i], J[n + i][2 * n + j] = row[i], graph.minus(zero, row[i])
        matrices = graph.program(*flat(J), *[zero] * self.n**2, *flat(B))
        return Written(self.n, self.m, matrices, graph.program(*flat(E), *z, H))

    @property
    def massless(self) -> NDArray[np.bool_]:
        """Velocities without mass wherever they are."""
        return self.lagrangian.massless

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One, quadratic with constant mass and a quadratic potential."""
        lagrangian = self.lagrangian
        plain = all(part.is_quadratic for part in lagrangian.potentials)
        quadratic = lagrangian.mass.constant and plain
        return (Storage(np.flatnonzero(~self.algebraic), quadratic=quadratic),)
