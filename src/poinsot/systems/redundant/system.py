"""The general port-Hamiltonian system of rigid bodies in redundant coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import count, function, named, numbers
from poinsot.ph.derivatives import warn_missing
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port, count_inputs
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import StageEquations
from poinsot.ph.system import State, require_states
from poinsot.result.observer import Observer
from poinsot.systems.livens.functions import OfCoordinates, Reader
from poinsot.systems.livens.smooth import Field, Smooth
from poinsot.systems.mechanical import RedundantForm
from poinsot.systems.redundant import checks, joining
from poinsot.systems.redundant.laws import Laws
from poinsot.systems.redundant.relations import Relations, relations
from poinsot.systems.redundant.steps import RedundantStages

#: (zeta, w) -> array.
OfBoth: TypeAlias = Callable[[Vector, Vector], ArrayLike]
#: A law: constant, or a function of zeta (G: of the momenta).
Law: TypeAlias = ArrayLike | OfCoordinates
#: What may be tied at joined ports.
LEVELS = ("velocity", "position")


@dataclass(frozen=True, eq=False)
class RedundantSystem(RedundantForm):
    r"""Rigid bodies in redundant coordinates, with independent velocities [BHRS25, eq. (10)].

    .. math::

        \dot\zeta &= Z(\zeta)\, w \\
        M \dot w &= -Z^\top \nabla V - Z^\top c'^\top \lambda - \tau_d(\zeta, w) - G(M w)\, w
                    - A^\top \mu + B u \\
        0 &= c(\zeta), \qquad 0 = A(\zeta)\, w, \qquad y = B^\top w

    M is constant and may be singular, with w·M w >= 0 on the motions that the constraints allow; G
    is skew, :math:`w \cdot \tau_d \ge 0`. The power u·y is supplied to the system: the port of
    [BHRS25] is -u. As a port-Hamiltonian system, x = (zeta, w, lam, mu) with multipliers for
    existing constraints, E = diag(I, M, 0, 0) and z = (grad V, w, lam, mu). Made by
    `RedundantSystem.symbolic` or `RedundantSystem.from_functions`.
    """

    laws: Laws

    # -- ways to make it ----------------------------------------------------------------------

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
        positions: Mapping[str, Any] | None = None,
        domain: Mapping[str, Any] | None = None,
        Gamma: Sequence[Any] | None = None,
        parameters: Mapping[Any, float] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> RedundantSystem:
        """Make a system from SymPy expressions; all derivatives are symbolic.

        Parameters
        ----------
        name : str
            Name of the system.
        zeta, w : list of symbols
            The n coordinates and the k velocities.
        M : matrix of numbers and parameters, (k, k)
            Mass matrix, symmetric and positive semi-definite: T = w·M w / 2 [J].
        V : expression or list of expressions
            Potential energy [J] of zeta. A list gives its terms, each with its own discrete
            gradient along the coordinates that it depends on.
        Z : matrix of expressions, (n, k)
            Kinematics zeta' = Z(zeta) w. Default: identity.
        G : matrix of expressions, (k, k), or callable
            Gyroscopic matrix, skew, in the symbols `Gamma` of the momenta M w; or a function of the
            column of their symbols that returns it.
        c : list of expressions
            Constraints c(zeta) = 0.
        A : matrix of expressions, (rows, k)
            Velocity constraints A(zeta) w = 0, holonomic or not.
        B : matrix of expressions, (k, inputs)
            Forces B(zeta) u; columns of all ports in order.
        ports : sequence of Port
            Names, sizes and units of the inputs u.
        dissipation : list of expressions
            The k forces tau_d of zeta and w, with w·tau_d >= 0.
        positions : mapping
            Port -> list of expressions of zeta (or one) whose rates are the output of the port,
            p' Z = B^T; for `joined` at the position level.
        domain : mapping
            Name of a boundary of the coordinates -> expression of zeta that is positive inside,
            e.g. `{"gimbal lock": cos(beta)}`; a simulation stops there with this name.
        Gamma : list of symbols
            The momenta, for G.
        parameters : mapping
            Symbol or name -> number, for every other symbol.
        units : mapping
            SI units of the states `"zeta"`, `"w"`, `"lam"` and `"mu"`, for labels.
        """
        import sympy

        from poinsot.ph.expressions import Reader, require_zero
        from poinsot.systems.livens.expressions import field, smooth

        read = Reader(name, parameters)
        q, rates, momenta = read.symbols("zeta", zeta), read.symbols("w", w), []
        n, k, both = len(q), len(rates), [*q, *rates]
        if Gamma is None:
            momenta = [sympy.Dummy(f"Gamma{i}") for i in range(k)]
        else:
            momenta = read.symbols("Gamma", Gamma)
        if len(momenta) != k:
            raise InputError(f"system '{name}': {len(momenta)} symbols Gamma of {k} momenta")
        if len({*both, *momenta}) < n + 2 * k:
            raise InputError(
                f"system '{name}': a symbol is used twice in zeta, w and Gamma; use different "
                "symbols"
            )
        mass = read.matrix("M", M, (k, k), ())
        checks.require_kinematics(name, Z, n, k)
        turning = sympy.zeros(k, k)
        if G is not None:
            given = G(sympy.Matrix(momenta)) if callable(G) else G
            turning = read.matrix("G", given, (k, k), momenta)
        require_zero(name, "G + G^T, so G is not skew-symmetric", turning + turning.T)
        rows = sympy.zeros(0, k) if A is None else read.matrix("A", A, (None, k), q)
        columns = count_inputs(name, B, ports)
        inlets = sympy.zeros(k, 0) if B is None else read.matrix("B", B, (k, columns), q)
        constraints = read.column("c", c, q)
        losses = [0] * k if dissipation is None else dissipation
        places = named(positions, f"system '{name}': positions", "{'port': [x, y]}")
        edges = named(domain, f"system '{name}': domain", "{'gimbal lock': cos(beta)}")
        for edge, inside in edges.items():
            if not isinstance(inside, sympy.Expr | Number | str):
                raise InputError(
                    f"system '{name}': domain '{edge}' is {inside!r}; give one expression"
                )
        laws = Laws(
            coordinates=[str(symbol) for symbol in q],
            velocities=[str(symbol) for symbol in rates],
            M=np.array(mass.tolist(), dtype=float),
            potentials=[smooth(q, [part]) for part in read.column("V", V, q)],
            constraints=[smooth(q, [row]) for row in constraints],
            Z=field(q, sympy.eye(n) if Z is None else read.matrix("Z", Z, (n, k), q)),
            G=field(momenta, turning),
            A=field(q, rows),
            B=field(q, inlets),
            dissipation=field(both, read.column("dissipation", losses, both, k)),
            skew=True,
            names_c=[f"c[{i}]" for i in range(constraints.rows)],
            names_A=[f"A[{i}]" for i in range(rows.rows)],
            positions={
                port: smooth(q, read.column(f"position of '{port}'", position, q))
                for port, position in places.items()
            },
            domain={
                edge: smooth(q, read.column(f"domain '{edge}'", inside, q))
                for edge, inside in edges.items()
            },
        )
        return cls._checked(name, laws, ports, units)

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
        positions: Mapping[str, OfCoordinates] | None = None,
        dpositions: Mapping[str, OfCoordinates] | None = None,
        ddpositions: Mapping[str, Law] | None = None,
        domain: Mapping[str, OfCoordinates] | None = None,
        coordinates: Sequence[str] | None = None,
        velocities: Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> RedundantSystem:
        """Make a system from Python functions.

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
            Derivatives with the same arguments; dc is the Jacobian (n_c, n_zeta). Default: finite
            differences.
        dissipation_dzeta, dissipation_dw : callable
            (zeta, w) -> derivatives of tau_d, (n_w, n_zeta) and (n_w, n_w).
        positions, dpositions, ddpositions : mapping
            Port -> position as a function of zeta (size of the port,), and its derivatives.
        domain : mapping
            As in `symbolic`, with functions of zeta that return one number.
        coordinates, velocities : sequence of str
            Names, for messages.
        ports, units
            As in `symbolic`.

        Warns
        -----
        MissingDerivativeWarning
            Names the derivatives that are computed by finite differences.
        """
        n, k, everywhere = n_zeta, n_w, np.ones(n_zeta)
        for what, size, least in (
            ("n_zeta", n, 1),
            ("n_w", k, 1),
            ("n_c", n_c, 0),
            ("n_A", n_A, 0),
        ):
            count(size, f"system '{name}': {what}", least)
        for what, given, rows in (("c", c, n_c), ("A", A, n_A)):
            if (given is None) != (rows == 0):
                raise InputError(
                    f"system '{name}': give {what} and its number n_{what} together, or none of "
                    "them"
                )
        checks.require_kinematics(name, Z, n, k)
        read, columns = Reader(name), count_inputs(name, B, ports)

        def law(what: str, shape: tuple[int, ...], given: Any, *slopes: tuple[str, Any]) -> Smooth:
            value = np.zeros(shape) if given is None else given
            depends = np.ones(k) if what == "G" else everywhere
            return read.smooth(what, shape, value, *slopes, depends=depends)

        mass = numbers(M, f"system '{name}': M")
        if mass.shape != (k, k):
            raise InputError(f"system '{name}': M has shape {mass.shape}, expected {(k, k)}")
        places, first, second = (
            named(given, f"system '{name}': {what}", "{'port': function}")
            for what, given in (
                ("positions", positions),
                ("dpositions", dpositions),
                ("ddpositions", ddpositions),
            )
        )
        sizes = {port.name: port.size for port in ports}
        edges = named(domain, f"system '{name}': domain", "{'end of the rail': function}")
        laws = Laws(
            coordinates=read.names("coordinates", "zeta", coordinates, n),
            velocities=read.names("velocities", "w", velocities, k),
            M=mass,
            potentials=[law("V", (), V, ("dV", dV), ("ddV", ddV))],
            constraints=[law("c", (n_c,), c, ("dc", dc), ("ddc", ddc))] if n_c else [],
            Z=law("Z", (n, k), np.eye(n) if Z is None else Z, ("dZ", dZ)),
            G=law("G", (k, k), G, ("dG", dG)),
            A=law("A", (n_A, k), A, ("dA", dA)),
            B=law("B", (k, columns), B, ("dB", dB)),
            dissipation=_dissipation(read, n, k, dissipation, dissipation_dzeta, dissipation_dw),
            skew=not callable(G),
            names_c=[f"c[{i}]" for i in range(n_c)],
            names_A=[f"A[{i}]" for i in range(n_A)],
            positions={
                port: read.smooth(
                    f"position of '{port}'",
                    (sizes.get(port, 0),),
                    position,
                    (f"dpositions['{port}']", first.get(port)),
                    (f"ddpositions['{port}']", second.get(port)),
                    depends=everywhere,
                )
                for port, position in places.items()
            },
            domain={
                edge: read.smooth(f"domain '{edge}'", (), inside, depends=everywhere)
                for edge, inside in edges.items()
            },
        )
        checks.require_skew(name, laws)
        system = cls._checked(name, laws, ports, units)
        warn_missing(f"system '{name}'", read.missing, stacklevel=2)
        return system

    @classmethod
    def _checked(
        cls, name: str, laws: Laws, ports: Sequence[Port], units: Mapping[str, str] | None
    ) -> RedundantSystem:
        checks.require_mass(name, laws)
        checks.require_positions(name, laws, ports)
        return cls(name, states(name, laws, units), tuple(ports), laws)

    def joined(
        self,
        other: RedundantSystem,
        ports: Mapping[str, str],
        *,
        level: str = "velocity",
        name: str | None = None,
    ) -> RedundantSystem:
        """Connect ports of two systems to a system of the same class [BHRS25, sec. 6].

        Both need different names, with which their labels then begin; `prefixed` renames.

        Connected ports have equal velocities and opposite forces. The rows B_1^T w_1 - B_2^T w_2 =
        0 are added to A, and their multipliers to `mu`. They hold for rates: the initial state
        determines the positions of the ports. At the position level [BHRS25, rem. 4], p_1(zeta_1) -
        p_2(zeta_2) = 0 is added to c instead, and multipliers to `lam`: the positions stay equal to
        round-off.

        Parameters
        ----------
        other : RedundantSystem
            The other system.
        ports : mapping
            Ports of this system -> ports of the other one; all others stay ports.
        level : {"velocity", "position"}
            Level of the connection; `"position"` needs the `positions` of both ports.
        name : str
            Name of the result. Default: both names connected by `+`.
        """
        if not isinstance(other, RedundantSystem):
            raise InputError(f"system '{self.name}': expected a RedundantSystem, got {other!r}")
        if level not in LEVELS:
            raise InputError(
                f"system '{self.name}': level is {level!r}; choose from {', '.join(LEVELS)}"
            )
        positions = level == "position"
        joining.require_ports(self, other, ports, positions)
        laws = joining.join(self, other, ports, positions)
        left = [port for port in self.ports if port.name not in ports]
        left += [port for port in other.ports if port.name not in ports.values()]
        whole = name or f"{self.name}+{other.name}"
        return RedundantSystem(
            whole, states(whole, laws, joining.units(self, other)), tuple(left), laws
        )

    def prefixed(self, prefix: str) -> Self:
        """Return the system with `prefix.` before all names of states, ports and parts."""
        return replace(super().prefixed(prefix), laws=joining.prefixed(self.laws, prefix))

    def relations(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Relations:
        """Return Dirac structure, Lagrangian submanifold and resistive relation at a state.

        [BHRS25, eqs. (7), (9) and (8)], each with its defects as numbers.
        """
        return relations(self.laws, *self.split(self.state(x))[:3])

    # -- the parts of the state ---------------------------------------------------------------

    @property
    def mechanics(self) -> Laws:
        """The functions that define the system."""
        return self.laws

    @cached_property
    def places(self) -> tuple[int, int, int]:
        """Offsets of w, lam and mu in x."""
        n, k = self.laws.n, self.laws.k
        return n, n + k, n + k + self.laws.n_c

    def split(self, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Return (zeta, w, lam, mu) of a state, or the same parts of a costate."""
        w, lam, mu = self.places
        return x[:w], x[w:lam], x[lam:mu], x[mu:]

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse a start at which a constraint is violated or the rank of constraints changes."""
        zeta, w, _, _ = self.split(x)
        checks.require_start(self.name, self.laws, self.ports, zeta, w)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations:
        """Return the equations of a step in which c and A w vanish."""
        if scheme.rule is Rule.AVERAGE:
            raise InputError(
                f"scheme '{scheme.name}' does not support redundant coordinates; use 'ph-dg'"
            )
        return RedundantStages(scheme, t, x0, u, h, self)

    def exact_under(self, scheme: Scheme) -> bool:
        """Return whether a scheme conserves energy; the midpoint rule needs quadratic c."""
        exact = scheme.exact_energy == "any" or all(c.is_quadratic for c in self.laws.constraints)
        return exact and super().exact_under(scheme)

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return a message if coordinates end or constraints lose their rank nearby."""
        zeta0, w0, _, _ = self.split(x0)
        rate = self.laws.Z(zeta0) @ w0
        edge = checks.near_edge(self.laws, zeta0, rate, t0, h)
        return edge or checks.near_singularity(self.laws, zeta0, h * rate)

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step across a boundary of the coordinates, or one that creates energy."""
        (zeta0, _, _, _), (zeta1, _, _, _) = self.split(x0), self.split(x1)
        checks.require_not_crossed(self.laws, zeta0, zeta1, t0, h)
        checks.require_closed(self.name, self.laws, zeta0, (zeta1, self.split(x_mid)[1]))
        checks.require_passive(self.name, self.laws, *self.split(x_mid)[:2], "in this step")

    def observer(self) -> Observer:
        """Return the observer of energies and constraint violations."""
        laws = self.laws
        return self.look(
            laws.c if laws.n_c else None,
            laws.dc,
            laws.A if laws.n_A else None,
            lambda x: laws.T(self.split(x)[1]),
        )

    # -- what is known of the whole -----------------------------------------------------------

    @property
    def proven(self) -> bool:
        """Whether G is known to be skew; the other parts of J are skew by construction."""
        return self.laws.skew

    @property
    def exact_costate(self) -> bool:
        """Whether the gradient of V was given."""
        return all(part.exact for part in self.laws.potentials)

    @property
    def parabolic(self) -> bool:
        """Whether all potentials are quadratic."""
        return all(part.is_quadratic for part in self.laws.potentials)


def states(name: str, laws: Laws, units: Mapping[str, str] | None) -> tuple[State, ...]:
    """Return the blocks of the state that exist."""
    sizes = {"zeta": laws.n, "w": laws.k, "lam": laws.n_c, "mu": laws.n_A}
    require_states(name, units, sizes)
    return tuple(State(key, size, (units or {}).get(key)) for key, size in sizes.items() if size)


def _dissipation(
    read: Reader,
    n: int,
    k: int,
    tau_d: OfBoth | None,
    by_zeta: OfBoth | None,
    by_w: OfBoth | None,
) -> Field:
    """Return tau_d as a function of one vector (zeta, w)."""
    for what, given in (("", tau_d), ("_dzeta", by_zeta), ("_dw", by_w)):
        if given is not None:
            function(given, f"system '{read.name}': dissipation{what}")
        elif tau_d is not None:
            read.missing.append(f"dissipation{what}")

    def joined(*parts: OfBoth) -> OfCoordinates:
        return lambda both: np.hstack([part(both[:n], both[n:]) for part in parts])

    value = np.zeros(k) if tau_d is None else joined(tau_d)
    slopes = None if by_zeta is None or by_w is None else joined(by_zeta, by_w)
    anything = np.ones(n + k)
    return read.smooth("dissipation", (k,), value, ("", slopes), depends=anything, kept=(k, 1))
