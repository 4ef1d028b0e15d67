"""The port-Hamiltonian form of laws in redundant coordinates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import StageEquations
from poinsot.ph.system import PHSystem, State, Storage, require_states
from poinsot.result.observer import Observer, StateObserver
from poinsot.systems.redundant import checks, dependence, edges
from poinsot.systems.redundant.laws import Laws
from poinsot.systems.redundant.steps import RedundantStages


@dataclass(frozen=True, eq=False)
class Equations(PHSystem):
    """x = (zeta, w, lam, mu), E = diag(I, M, 0, 0), z = (grad V, w, lam, mu) [BHRS25, eq. (10)]."""

    laws: Laws

    # -- the parts of the state ---------------------------------------------------------------

    @cached_property
    def places(self) -> tuple[int, int, int]:
        """Where w, lam and mu begin in x."""
        n, k = self.laws.n, self.laws.k
        return n, n + k, n + k + self.laws.n_c

    def split(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return (zeta, w, lam, mu) of a state, or the same parts of a costate."""
        w, lam, mu = self.places
        return x[:w], x[w:lam], x[lam:mu], x[mu:]

    def check_start(self, x: Vector) -> None:
        """Refuse a start at which a constraint does not hold or is repeated."""
        zeta, w, _, _ = self.split(x)
        checks.require_start(self.name, self.laws, self.ports, zeta, w)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return the equations of a step in which c and A w vanish."""
        if scheme.rule is Rule.AVERAGE:
            raise InputError(
                f"scheme '{scheme.name}' does not keep the constraints of redundant coordinates; "
                "use 'ph-dg'"
            )
        return RedundantStages(scheme, t, x0, u, h, self)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return that coordinates end or constraints lose their rank nearby, if they do."""
        zeta0, w0, _, _ = self.split(x0)
        rate = self.laws.Z(zeta0) @ w0
        edge = edges.near(self.laws, zeta0, rate, t0, h)
        return edge or dependence.along(self.laws, zeta0, h * rate)

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step across an edge of the coordinates, or one that creates energy."""
        (zeta0, _, _, _), (zeta1, _, _, _) = self.split(x0), self.split(x1)
        edges.require_not_crossed(self.laws, zeta0, zeta1, t0, h)
        checks.require_passive(self.name, self.laws, *self.split(x_mid)[:2], "in this step")

    def observer(self) -> Observer:
        """Return what shows energies, and how well constraints hold."""
        laws = self.laws

        def gap(x: Vector) -> float:
            return float(np.max(abs(laws.c(self.split(x)[0])), initial=0.0))

        def rate(x: Vector) -> float:
            zeta, w, _, _ = self.split(x)
            return float(np.max(abs(laws.rates(zeta) @ w), initial=0.0))

        def slip(x: Vector) -> float:
            zeta, w, _, _ = self.split(x)
            return float(np.max(abs(laws.A(zeta) @ w)))

        whole = {"constraint_error": gap} if laws.n_c else {}
        if laws.n_c or laws.n_A:
            whole["velocity_constraint_error"] = rate
        return StateObserver(
            self.n,
            energies={
                "kinetic": lambda x: laws.T(self.split(x)[1]),
                "potential": lambda x: laws.V(self.split(x)[0]),
            },
            whole=whole,
            middle={"velocity_constraint_error_mid": slip} if laws.n_A else {},
        )

    # -- the six ingredients ------------------------------------------------------------------

    @cached_property
    def _E(self) -> Matrix:
        n = self.laws.n
        blocks: list[Placed] = [(0, 0, diagonal(np.ones(n))), (n, n, self.laws.M)]
        return assemble((self.n, self.n), blocks)

    def E(self, x: Vector) -> Matrix:
        """Return diag(I, M, 0, 0)."""
        return self._E

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix [BHRS25, eq. (7)], multipliers of c included."""
        (zeta, rate, _, _), laws = self.split(x), self.laws
        w, lam, _ = self.places
        Z, K = laws.Z(zeta), laws.rates(zeta)
        placed: list[Placed] = [(0, w, Z), (w, 0, -Z.T), (w, w, -laws.G(laws.M @ rate))]
        placed += [(w, lam, -K.T), (lam, w, K)]
        return assemble((self.n, self.n), placed)

    def B(self, x: Vector) -> Matrix:
        """Return the port matrix, in the equation of w."""
        n = self.laws.n
        return assemble((self.n, self.m), [(n, 0, self.laws.B(x[:n]))])

    def z(self, x: Vector) -> Vector:
        """Return (grad V, w, lam, mu)."""
        n = self.laws.n
        return np.concatenate([self.laws.dV(x[:n]), x[n:]])

    def energies(self, x: Vector) -> Vector:
        """Return T + V [J]."""
        zeta, w, _, _ = self.split(x)
        return np.array([self.laws.T(w) + self.laws.V(zeta)])

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return tau_d of the velocities in z [BHRS25, eq. (8)], in the equation of w."""
        if self.laws.lossless:
            return None
        zeta, w = self.split(x)[0], self.split(z)[1]
        return np.concatenate(
            [np.zeros(zeta.size), self.laws.tau_d(zeta, w), np.zeros(self.n - self.places[1])]
        )

    # -- tangents -----------------------------------------------------------------------------

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return None: E is constant."""
        return None

    def dz(self, x: Vector) -> Matrix:
        """Return diag(Hessian of V, I, I, I)."""
        n = self.laws.n
        rest = diagonal(np.ones(self.n - n))
        return assemble((self.n, self.n), [(0, 0, self.laws.ddV(x[:n])), (n, n, rest)])

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of J z - r + B u by x, z and u fixed."""
        (zeta, rate, _, _), (force, a, l_, m_) = self.split(x), self.split(z)
        laws, (w, lam, mu) = self.laws, self.places
        Z, dc = laws.Z(zeta), laws.dc(zeta)
        push = -laws.Z.back(zeta, force + l_ @ dc) - Z.T @ laws.ddc(zeta, l_)
        push += laws.B.along(zeta, u) - laws.A.back(zeta, m_) - laws.dtau_d(zeta, a)[0]
        placed: list[Placed] = [
            (0, 0, laws.Z.along(zeta, a)),
            (w, 0, push),
            (w, w, -laws.G.along(laws.M @ rate, a) @ laws.M),
            (mu, 0, laws.A.along(zeta, a)),
        ]
        if laws.n_c:
            travel, units = Z @ a, np.eye(laws.n_c)
            bent = np.array([laws.ddc(zeta, unit) @ travel for unit in units])
            placed.append((lam, 0, bent + dc @ laws.Z.along(zeta, a)))
        return assemble((self.n, self.n), placed)

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of tau_d by w."""
        if self.laws.lossless:
            return None
        zeta, w = self.split(x)[0], self.split(z)[1]
        at = self.places[0]
        return assemble((self.n, self.n), [(at, at, self.laws.dtau_d(zeta, w)[1])])

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B^T w by x."""
        if self.laws.B.constant:
            return None
        zeta, w = self.split(x)[0], self.split(z)[1]
        return assemble((self.m, self.n), [(0, 0, self.laws.B.back(zeta, w))])

    # -- what is known of the whole -----------------------------------------------------------

    @property
    def proven(self) -> bool:
        """Whether G is known to be skew; the rest of J is by construction."""
        return self.laws.skew

    @property
    def exact_costate(self) -> bool:
        """Whether the gradient of V was given."""
        return all(part.exact for part in self.laws.potentials)

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """Multipliers, and velocities without any mass."""
        there = np.ones(self.n, dtype=bool)
        there[: self.laws.n] = False
        there[self.laws.n : self.places[1]] = self.laws.massless
        return there

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One, quadratic where V is."""
        quadratic = all(part.is_quadratic for part in self.laws.potentials)
        return (Storage(np.flatnonzero(~self.algebraic), quadratic=quadratic),)


def states(name: str, laws: Laws, units: Mapping[str, str] | None) -> tuple[State, ...]:
    """Return the blocks of the state that exist."""
    sizes = {"zeta": laws.n, "w": laws.k, "lam": laws.n_c, "mu": laws.n_A}
    require_states(name, units, sizes)
    return tuple(State(key, size, (units or {}).get(key)) for key, size in sizes.items() if size)
