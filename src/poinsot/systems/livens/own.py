"""User-defined Lagrangians: from energies to a system in any of three forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import count, numbers
from poinsot.parts.events import Event
from poinsot.ph.derivatives import warn_missing
from poinsot.ph.matrices import Array
from poinsot.ph.ports import Port, count_inputs
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem, State, require_states
from poinsot.systems.livens import masses
from poinsot.systems.livens.functions import OfCoordinates, Reader
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.smooth import composed
from poinsot.systems.livens.stabilised import StabilisedVelocitySystem, require_stabilisable
from poinsot.systems.livens.systems import HamiltonianSystem, LivensSystem, VelocitySystem


@dataclass(frozen=True, eq=False)
class LagrangianSystem:
    r"""A mechanical system given by its Lagrangian in any coordinates [KB24, eq. (8)].

    .. math:: L(q, v) = \tfrac12\, v \cdot M(q)\, v + a(q) \cdot v - V(q), \qquad g(q) = 0, \qquad
              \text{forces } B(q)\, u

    M may depend on q, and may be singular if the constraints determine the remaining motion. Other
    Lagrangians L(q, v) are possible, too [LKB26, eq. (6)], with the energy v·dL/dv - L
    [LKB26, eq. (11)].

    Made by `LagrangianSystem.symbolic` or `LagrangianSystem.from_functions`. `simulate` takes it in
    the form that the scheme needs, with the initial state `x0={"q": [...], "v": [...]}` in every
    form.
    """

    name: str
    lagrangian: GeneralLagrangian
    ports: tuple[Port, ...]
    units: Mapping[str, str]
    #: Makes the form (q, v, lam) where L is not quadratic in v.
    derived: Callable[[], PHSystem] | None = None

    @classmethod
    def symbolic(
        cls,
        name: str,
        *,
        q: Sequence[Any],
        M: Any = None,
        V: Any = 0,
        a: Any = None,
        v: Sequence[Any] = (),
        L: Any = None,
        g: Sequence[Any] = (),
        B: Any = None,
        ports: Sequence[Port] = (),
        parameters: Mapping[Any, float] | None = None,
        units: Mapping[str, str] | None = None,
        invariants: Mapping[Any, Any] | None = None,
        published: bool = False,
    ) -> LagrangianSystem:
        """Make a system from SymPy expressions; all derivatives are symbolic.

        Parameters
        ----------
        name : str
            Name of the system.
        q : list of symbols
            The coordinates.
        M : matrix of expressions, (n, n)
            Mass matrix, symmetric: T = v·M v / 2 [J].
        V : expression or list of expressions
            Potential energy [J]. A list gives its terms, each with its own discrete gradient along
            the coordinates that it depends on.
        a : list of expressions, (n,)
            Terms linear in the velocities, a(q)·v, such as charge times vector potential.
        v, L : list of symbols, expression
            Velocities and the whole Lagrangian [J], instead of M, V and a: L(q, v) may be any
            function of both [LKB26, eq. (6)]. If it is not quadratic in v, the schemes `emh` and
            `mph` are not available.
        g : list of expressions
            Constraints g(q) = 0.
        B : matrix of expressions, (n, inputs)
            Generalised forces are B u; columns of all ports in order.
        ports : sequence of Port
            Names, sizes and units of the inputs u.
        parameters : mapping
            Symbol or name -> number, for every symbol that is not a coordinate.
        units : mapping
            SI units of the states `"q"`, `"v"`, `"p"` and `"lam"`, for labels.
        invariants : mapping
            Symbol -> quadratic expression in q, for symbols used in M, V and g. Momentum maps of
            the transformations that leave these expressions unchanged are then constant to
            round-off [KB24, prop. 2.6]. Quadratic or linear expressions on which M, V or g
            obviously depend, fewer than coordinates, are found without this argument.
        published : bool
            Correct the discrete derivative of T along all coordinates, as in [KB24, eq. (130)].
            By default it is corrected along those on which M depends, or through its invariants, so
            that the momenta of cyclic coordinates are constant to round-off.
        """
        import sympy

        from poinsot.ph.expressions import Reader, require_zero
        from poinsot.systems.livens.expressions import field, smooth
        from poinsot.systems.livens.invariants import read_invariants
        from poinsot.systems.livens.whole import NonquadraticLagrangian, Split

        read, inputs = Reader(name, parameters), count_inputs(name, B, ports)
        symbols = read.symbols("q", q)
        if len(set(symbols)) < len(symbols):
            raise InputError(
                f"system '{name}': a symbol is used for two coordinates; use different symbols"
            )
        n, named = len(symbols), read_invariants(read, symbols, invariants or {})
        known = [*symbols, *named]
        inlets = read.matrix("B", B, (n, inputs), symbols) if inputs else sympy.zeros(n, 0)
        rows = read.column("g", g, known)
        parts: dict[str, Any] = {
            "name": name,
            "coordinates": [str(symbol) for symbol in symbols],
            "constraints": smooth(symbols, rows, invariants=named),
            "inlets": field(symbols, inlets),
        }
        if L is not None:
            if M is not None or a is not None or V != 0 or named:
                raise InputError(
                    f"system '{name}': L is the whole Lagrangian, and its invariants are found "
                    "automatically; leave out M, V, a and invariants"
                )
            split = Split.of(read, symbols, v, L)
            M, a, V = split.M, split.a, split.V
            if not split.quadratic:
                own = NonquadraticLagrangian.of(split, **parts)
                derived = split.system(name, rows, inlets, ports, units)
                return replace(cls._checked(name, own, ports, units), derived=derived)
        elif M is None:
            raise InputError(f"system '{name}': give the mass matrix M, or v and L")
        mass = read.matrix("M", M, (n, n), known)
        require_zero(name, "M - M^T, so M is not symmetric", mass - mass.T)
        linear = sympy.zeros(n, 1) if a is None else read.column("a", a, known, n)
        lagrangian = GeneralLagrangian(
            **parts,
            mass=smooth(symbols, mass, (n, n), everywhere=published, invariants=named),
            potentials=[
                smooth(symbols, [part], invariants=named) for part in read.column("V", V, known)
            ],
            massless=np.array([mass[:, k].is_zero_matrix is True for k in range(n)]),
            a=None if linear.is_zero_matrix else smooth(symbols, linear, invariants=named),
        )
        return cls._checked(name, lagrangian, ports, units)

    @classmethod
    def from_functions(
        cls,
        name: str,
        *,
        n: int,
        M: ArrayLike | OfCoordinates,
        V: OfCoordinates | None = None,
        g: OfCoordinates | None = None,
        m: int = 0,
        B: ArrayLike | OfCoordinates | None = None,
        dM: OfCoordinates | None = None,
        ddM: OfCoordinates | None = None,
        dV: OfCoordinates | None = None,
        ddV: ArrayLike | OfCoordinates | None = None,
        G: OfCoordinates | None = None,
        dG: ArrayLike | OfCoordinates | None = None,
        dB: ArrayLike | OfCoordinates | None = None,
        a: ArrayLike | OfCoordinates | None = None,
        da: OfCoordinates | None = None,
        dda: ArrayLike | OfCoordinates | None = None,
        coordinates: Sequence[str] | None = None,
        cyclic: Sequence[str] = (),
        invariants: Sequence[ArrayLike] = (),
        ports: Sequence[Port] = (),
        units: Mapping[str, str] | None = None,
    ) -> LagrangianSystem:
        """Make a system from Python functions of q, shape (n,).

        The last index of a derivative is that of the coordinate: `dM(q)[i, j, k]` is dM_ij/dq_k.

        Parameters
        ----------
        name : str
            Name of the system.
        n, m : int
            Numbers of coordinates and constraints.
        M : array or callable
            Mass matrix (n, n), constant or q -> matrix.
        V, g : callable
            q -> potential energy [J]; q -> constraints (m,).
        B : array or callable
            Port matrix (n, inputs), constant or q -> matrix.
        dM, ddM, dV, ddV, G, dG, dB : callable
            Derivatives: dM (n, n, n), ddM (n, n, n, n), dV (n,), ddV (n, n), the Jacobian G (m, n)
            of g and its derivative dG (m, n, n), dB (n, inputs, n). Second derivatives may be
            constant arrays. Default: finite differences.
        a, da, dda : array or callable
            Terms linear in the velocities, a(q)·v, shape (n,), and their derivatives, (n, n) and
            (n, n, n).
        coordinates : sequence of str
            Names of the coordinates, for messages. Default: `"q[0]"`, `"q[1]"`, ...
        cyclic : sequence of str
            Coordinates on which neither M nor V depends: their momenta are then constant to
            round-off.
        invariants : sequence of arrays
            Matrices A (n, n) and vectors b (n,). If given, V, dV and ddV are functions of
            the values w = (q·A q, b·q, ...), in this order: momentum maps of the transformations
            that leave these unchanged are then constant to round-off [KB24, prop. 2.6].
        ports, units
            As in `symbolic`.

        Warns
        -----
        MissingDerivativeWarning
            Names the derivatives that are computed by finite differences.
        """
        for what, size, least in (("n", n, 1), ("m", m, 0)):
            count(size, f"system '{name}': {what}", least)
        if (g is None) != (m == 0):
            raise InputError(
                f"system '{name}': give both the constraints g and their number m, or neither"
            )
        inputs = count_inputs(name, B, ports)
        read = Reader(name)
        names = read.names("coordinates", "q", coordinates, n)
        for coordinate in cyclic:
            if coordinate not in names:
                hint = did_you_mean(coordinate, names)
                raise InputError(f"system '{name}': no coordinate '{coordinate}'; {hint}")
        depends, everywhere = np.array([float(c not in cyclic) for c in names]), np.ones(n)
        mass = read.smooth("M", (n, n), M, ("dM", dM), ("ddM", ddM), depends=depends)
        energy = 0.0 if V is None else V
        if len(invariants):
            pi = read.quadratic("invariants", n, invariants)
            depends_pi = np.ones(pi.size)
            outer = read.smooth("V", (), energy, ("dV", dV), ("ddV", ddV), depends=depends_pi)
            potential = composed(pi, outer)
        else:
            potential = read.smooth("V", (), energy, ("dV", dV), ("ddV", ddV), depends=depends)
        rows = np.zeros(0) if g is None else g
        constraints = read.smooth("g", (m,), rows, ("G", G), ("dG", dG), depends=everywhere)
        columns = np.zeros((n, 0)) if B is None else B
        inlets = read.smooth("B", (n, inputs), columns, ("dB", dB), depends=depends)
        linear = None
        if a is not None:
            linear = read.smooth("a", (n,), a, ("da", da), ("dda", dda), depends=depends)
        warn_missing(f"system '{name}'", read.missing, stacklevel=2)
        empty = np.zeros(n, dtype=bool)
        if mass.constant:
            empty = ~np.any(mass(np.zeros(n)), axis=0)
        lagrangian = GeneralLagrangian(
            name, names, mass, [potential], constraints, inlets, empty, linear
        )
        return cls._checked(name, lagrangian, ports, units)

    @classmethod
    def _checked(
        cls,
        name: str,
        lagrangian: GeneralLagrangian,
        ports: Sequence[Port],
        units: Mapping[str, str] | None,
    ) -> LagrangianSystem:
        if lagrangian.mass.constant:
            M = lagrangian.M(np.zeros(lagrangian.n))
            masses.require_mass(name, lagrangian.coordinates, M)
        require_states(name, units, ("q", "v", "p", "lam"))
        return cls(name, lagrangian, tuple(ports), dict(units or {}))

    def total_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return v·dL/dv - L, as a rule T + V [J] [KB24, eq. (80)]; q, v: (times, n) or (n,)."""
        n, rows = self.lagrangian.n, []
        for what, values in (("q", q), ("v", v)):
            array = numbers(values, f"system '{self.name}': {what}")
            if array.shape[-1:] != (n,):
                raise InputError(
                    f"system '{self.name}': {what} has shape {array.shape}, expected (times, {n})"
                )
            rows.append(array)
        if rows[0].shape != rows[1].shape:
            raise InputError(
                f"system '{self.name}': q has shape {rows[0].shape}, and v {rows[1].shape}"
            )
        pairs = zip(*(array.reshape(-1, n) for array in rows), strict=True)
        own = self.lagrangian
        total = [own.kinetic_energy(at, rate) + own.V(at) for at, rate in pairs]
        return np.array(total).reshape(rows[0].shape[:-1])

    # -- forms of the equations ---------------------------------------------------------------

    def livens(self) -> LivensSystem:
        """Return Livens' form, x = (q, v, p, lam) [KB24, eq. (19)]: M is not inverted."""
        return LivensSystem(self.name, self._states("q", "v", "p"), self.ports, self.lagrangian)

    def hamiltonian(self) -> HamiltonianSystem:
        """Return Hamilton's form, x = (q, p, lam) [KB24, eq. (16)]; needs an invertible M."""
        if self.derived is not None:
            raise InputError(
                f"system '{self.name}': L is not quadratic in v, so that v does not follow "
                "explicitly from p in Hamilton's form (emh, mph); use 'eml', 'reml' or 'mpl'"
            )
        if self.lagrangian.mass.constant:
            nowhere = np.zeros(self.lagrangian.n)
            self.lagrangian.velocity(nowhere, nowhere)  # refuses a singular M
        return HamiltonianSystem(self.name, self._states("q", "p"), self.ports, self.lagrangian)

    def port_hamiltonian(self, *, stabilised: bool = False) -> PHSystem:
        """Return the form x = (q, v, lam) with E = diag(I, M, 0) [LKB26, eqs. (8), (19)].

        `stabilised` adds velocity constraints with multipliers gam [LKB26, eq. (61)]; it needs a
        constant invertible M and quadratic constraints.
        """
        if stabilised:
            require_stabilisable(self.name, self.lagrangian)
            states, m = self._states("q", "v"), self.lagrangian.m
            states = (*states, State("gam", m)) if m else states
            return StabilisedVelocitySystem(self.name, states, self.ports, self.lagrangian)
        if self.derived is not None:
            return self.derived()
        return VelocitySystem(self.name, self._states("q", "v"), self.ports, self.lagrangian)

    def _states(self, *names: str) -> tuple[State, ...]:
        n, m = self.lagrangian.n, self.lagrangian.m
        multipliers = [State("lam", m, self.units.get("lam"))] if m else []
        return (*(State(name, n, self.units.get(name)) for name in names), *multipliers)

    # -- what `simulate` asks -----------------------------------------------------------------

    def scheme_for(self, scheme: str | Scheme | None, coordinates: str | None) -> str | Scheme:
        """Return the scheme for this system. Default: EML."""
        if coordinates is not None:
            raise InputError(
                f"coordinates: Lagrangian '{self.name}' has its own coordinates; leave the "
                "argument out"
            )
        return scheme or "eml"

    def compile_for(self, scheme: Scheme, coordinates: str | None = None) -> PHSystem:
        """Return the form that a scheme integrates."""
        if scheme.stabilised:
            return self.port_hamiltonian(stabilised=True)
        if scheme.mean_lever_arms or scheme.condensation == "null-space":
            instead = "eml" if scheme.mean_lever_arms else "reml"
            raise InputError(
                f"scheme '{scheme.name}' is for models, not for the Lagrangian "
                f"'{self.name}'; use '{instead}'"
            )
        forms = {"livens": self.livens, "hamiltonian": self.hamiltonian}
        return forms.get(scheme.formulation, self.port_hamiltonian)()

    def document(
        self,
        inputs: Mapping[str, Signal | ArrayLike],
        events: Mapping[str, Event],
        **simulation: Any,
    ) -> Callable[[], str]:
        """Return a function that returns an empty text: functions have no file format."""
        return str
