"""The general port-Hamiltonian system of rigid bodies in redundant coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.livens.functions import OfCoordinates, warn_missing
from poinsot.ph.connections import Transformer
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, diagonal
from poinsot.ph.ports import Port, count_inputs
from poinsot.ph.system import PHSystem, State, Storage, require_states
from poinsot.redundant import checks, functions, joining
from poinsot.redundant.functions import Law, OfBoth
from poinsot.redundant.laws import Laws


@dataclass(frozen=True, eq=False)
class RedundantSystem(PHSystem):
    r"""Rigid bodies in redundant coordinates and velocities of their own [BHRS25, eq. (10)].

    .. math::

        \dot\zeta &= Z(\zeta)\, w \\
        M \dot w &= -Z^\top \nabla V - Z^\top c'^\top \lambda - \tau_d(\zeta, w) - G(M w)\, w
                    - A^\top \mu + B u \\
        0 &= c(\zeta), \qquad 0 = A(\zeta)\, w, \qquad y = B^\top w

    M is constant and may be singular, G skew, :math:`w \cdot \tau_d \ge 0`. Power u·y goes in: the
    port of [BHRS25] is -u. As a port-Hamiltonian system x = (zeta, w, lam, mu), the multipliers
    where there are constraints, E = diag(I, M, 0, 0) and z = (grad V, w, lam, mu). Made by
    `RedundantSystem.symbolic` or `RedundantSystem.from_functions`.
    """

    laws: Laws

    @classmethod
    def symbolic(
        cls,
        name: str,
        *,
        zeta: Sequence[Any],
        w: Sequence[Any],
        M: Any,
        V: Any = 0,
        Z: Any = None,
        G: Any = None,
        c: Sequence[Any] = (),
        A: Any = None,
        B: Any = None,
        ports: Sequence[Port] = (),
        dissipation: Any = None,
        Gamma: Sequence[Any] | None = None,
        parameters: Mapping[Any, float] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> "RedundantSystem":
        """Make it from SymPy expressions; every derivative is derived.

        Parameters
        ----------
        name : str
            Name of the system.
        zeta, w : list of symbols
            The n coordinates and the k velocities.
        M : matrix of numbers and parameters, (k, k)
            Mass matrix, symmetric and positive semi-definite: T = w·M w / 2 [J].
        V : expression or list of expressions
            Potential energy [J] of zeta; a list is its parts, each with a discrete gradient of its
            own along the coordinates that it depends on.
        Z : matrix of expressions, (n, k)
            Kinematics zeta' = Z(zeta) w; default: identity.
        G : matrix of expressions, (k, k), or callable
            Gyroscopic matrix, skew, in the symbols `Gamma` of the momenta M w; or a function that
            takes the column of their symbols and returns it.
        c : list of expressions
            Constraints c(zeta) = 0.
        A : matrix of expressions, (rows, k)
            Constraints A(zeta) w = 0, which need not be holonomic.
        B : matrix of expressions, (k, inputs)
            Forces B(zeta) u; columns of all ports in order.
        ports : sequence of Port
            Names, sizes and units of the inputs u.
        dissipation : list of expressions
            Forces tau_d of zeta and w, w·tau_d >= 0; k of them.
        Gamma : list of symbols
            The momenta, for G.
        parameters : mapping
            Symbol or name -> number, for every other symbol.
        units : mapping
            SI units of the states `"zeta"`, `"w"`, `"lam"` and `"mu"`, for labels.
        """
        from poinsot.redundant import expressions

        inputs = count_inputs(name, B, ports)
        laws = expressions.read(
            name,
            zeta,
            w,
            Gamma,
            M=M,
            V=V,
            Z=Z,
            G=G,
            c=c,
            A=A,
            B=B,
            inputs=inputs,
            dissipation=dissipation,
            parameters=parameters,
        )
        return cls(name, _states(name, laws, units), tuple(ports), laws)

    @classmethod
    def from_functions(
        cls,
        name: str,
        *,
        n_zeta: int,
        n_w: int,
        M: ArrayLike,
        V: OfCoordinates | None = None,
        Z: Law | None = None,
        G: Law | None = None,
        c: OfCoordinates | None = None,
        n_c: int = 0,
        A: Law | None = None,
        n_A: int = 0,
        B: Law | None = None,
        ports: Sequence[Port] = (),
        dissipation: OfBoth | None = None,
        dV: OfCoordinates | None = None,
        ddV: Law | None = None,
        dZ: Law | None = None,
        dG: Law | None = None,
        dc: OfCoordinates | None = None,
        ddc: Law | None = None,
        dA: Law | None = None,
        dB: Law | None = None,
        dissipation_dzeta: OfBoth | None = None,
        dissipation_dw: OfBoth | None = None,
        coordinates: Sequence[str] | None = None,
        velocities: Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> "RedundantSystem":
        """Make it from Python functions.

        The last index of a derivative is that of the variable: `dZ(zeta)[i, j, k]` is
        dZ_ij/dzeta_k.

        Parameters
        ----------
        name : str
            Name of the system.
        n_zeta, n_w, n_c, n_A : int
            Numbers of coordinates, velocities, constraints c and rows of A.
        M : array
            Mass matrix (n_w, n_w).
        V, c : callable
            zeta -> potential energy [J]; zeta -> constraints (n_c,).
        Z, A, B : array or callable
            Constant, or zeta -> matrix (n_zeta, n_w), (n_A, n_w), (n_w, inputs).
        G : array or callable
            Constant, or momenta M w -> skew matrix (n_w, n_w).
        dissipation : callable
            (zeta, w) -> tau_d (n_w,), w·tau_d >= 0.
        dV, ddV, dZ, dG, dc, ddc, dA, dB : array or callable
            Derivatives, of the same arguments; dc is the Jacobian (n_c, n_zeta).
        dissipation_dzeta, dissipation_dw : callable
            (zeta, w) -> derivatives of tau_d, (n_w, n_zeta) and (n_w, n_w).
        coordinates, velocities : sequence of str
            Names, for messages.
        ports, units
            As in `symbolic`.

        Warns
        -----
        MissingDerivativeWarning
            Names the derivatives that were left out and are computed by finite differences.
        """
        laws, missing = functions.read(
            name,
            (n_zeta, n_w, n_c, n_A),
            count_inputs(name, B, ports),
            {"M": M, "V": V, "Z": Z, "G": G, "c": c, "A": A, "B": B},
            {
                "dV": dV,
                "ddV": ddV,
                "dZ": dZ,
                "dG": dG,
                "dc": dc,
                "ddc": ddc,
                "dA": dA,
                "dB": dB,
            },
            (dissipation, dissipation_dzeta, dissipation_dw),
            (coordinates, velocities),
        )
        checks.require_skew(name, laws)
        warn_missing(name, missing)
        return cls(name, _states(name, laws, units), tuple(ports), laws)

    def joined(
        self, other: "RedundantSystem", ports: Mapping[str, str], *, name: str | None = None
    ) -> "RedundantSystem":
        """Join it with another system at ports: again a system of this class [BHRS25, sec. 6].

        Velocities of joined ports are the same, and forces are opposite. The rows
        B_1^T w_1 - B_2^T w_2 = 0 are added to A, and their multipliers to `mu`. They hold as rates:
        the state to start from decides where the ports are.

        Parameters
        ----------
        other : RedundantSystem
            The other system.
        ports : mapping
            Ports of this system -> ports of the other one; those that are left stay ports.
        name : str
            Name of the result; default: both names joined by `+`.
        """
        if not isinstance(other, RedundantSystem):
            raise InputError(f"system '{self.name}': expected a RedundantSystem, got {other!r}")
        if not ports:
            raise InputError(f"system '{self.name}': no ports to join with '{other.name}'")
        for ours, theirs in ports.items():
            pair = self.port(ours), other.port(theirs)
            for port in pair:
                if port.signal is not None or port.by_law:
                    raise InputError(f"port '{port.name}' is fed by an input; it cannot be joined")
            if pair[0].size != pair[1].size:
                raise InputError(
                    f"port '{ours}' has the size {pair[0].size}, and '{theirs}' {pair[1].size}; "
                    "join ports of one size"
                )
            Transformer(ours, theirs).check(pair)
        laws = joining.join(
            self.laws,
            other.laws,
            (self.name, other.name),
            np.concatenate([_columns(self, port) for port in ports]),
            np.concatenate([_columns(other, port) for port in ports.values()]),
        )
        left = [port for port in self.ports if port.name not in ports]
        left += [port for port in other.ports if port.name not in ports.values()]
        whole = name or f"{self.name}+{other.name}"
        return RedundantSystem(whole, _states(whole, laws, None), tuple(left), laws)

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
        checks.require_start(self.name, self.laws, zeta, w)

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
        if self.laws.dissipation.constant:
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
        if self.laws.dissipation.constant:
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


def _columns(system: RedundantSystem, port: str) -> NDArray[np.intp]:
    """Return where the inputs of a port are."""
    return np.arange(system.m)[system.port_slices[port]]


def _states(name: str, laws: Laws, units: Mapping[str, str] | None) -> tuple[State, ...]:
    """Return the blocks of the state that exist."""
    sizes = {"zeta": laws.n, "w": laws.k, "lam": laws.n_c, "mu": laws.n_A}
    require_states(name, units, sizes)
    return tuple(State(key, size, (units or {}).get(key)) for key, size in sizes.items() if size)
