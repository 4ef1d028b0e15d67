"""Lagrangians of your own: energies in, a system in any of three forms out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import count, numbers
from poinsot.ph.derivatives import warn_missing
from poinsot.ph.matrices import Array
from poinsot.ph.ports import Port, count_inputs
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem, State, require_states
from poinsot.systems.livens import masses
from poinsot.systems.livens.functions import OfCoordinates, Reader
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.systems import HamiltonianSystem, LivensSystem, VelocitySystem


@dataclass(frozen=True, eq=False)
class LagrangianSystem:
    r"""A mechanical system by its Lagrangian, in coordinates of your own [KB24, eq. (8)].

    .. math:: L(q, v) = \tfrac12\, v \cdot M(q)\, v - V(q), \qquad g(q) = 0, \qquad
              \text{forces } B(q)\, u

    M may depend on q, and may be singular where the constraints fix the rest. Made by
    `LagrangianSystem.symbolic` or `LagrangianSystem.from_functions`; `poinsot.simulate` takes it,
    in the form that the scheme needs. A start is `x0={"q": [...], "v": [...]}` in every form.
    """

    name: str
    lagrangian: GeneralLagrangian
    ports: tuple[Port, ...]
    units: Mapping[str, str]

    @classmethod
    def symbolic(
        cls,
        name: str,
        *,
        q: Sequence[Any],
        M: Any,
        V: Any = 0,
        g: Sequence[Any] = (),
        B: Any = None,
        ports: Sequence[Port] = (),
        parameters: Mapping[Any, float] | None = None,
        units: Mapping[str, str] | None = None,
        published: bool = False,
    ) -> "LagrangianSystem":
        """Make it from SymPy expressions; every derivative is derived.

        Parameters
        ----------
        name : str
            Name of the system.
        q : list of symbols
            The coordinates.
        M : matrix of expressions, (n, n)
            Mass matrix, symmetric: T = v·M v / 2 [J].
        V : expression or list of expressions
            Potential energy [J]; a list is its parts, each with a discrete gradient of its own
            along the coordinates that it depends on.
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
        published : bool
            Correct the discrete derivative of T along all coordinates, as [KB24, eq. (130)] does.
            By default it is corrected along those that M depends on, so that the momentum of a
            coordinate that nothing depends on is constant to round-off.
        """
        import sympy

        from poinsot.ph.expressions import Reader, require_zero
        from poinsot.systems.livens.expressions import field, smooth

        read, inputs = Reader(name, parameters), count_inputs(name, B, ports)
        symbols = read.symbols("q", q)
        if len(set(symbols)) < len(symbols):
            raise InputError(f"system '{name}': a symbol stands for two coordinates")
        n = len(symbols)
        mass = read.matrix("M", M, (n, n), symbols)
        require_zero(name, "M - M^T, so M is not symmetric", mass - mass.T)
        inlets = read.matrix("B", B, (n, inputs), symbols) if inputs else sympy.zeros(n, 0)
        lagrangian = GeneralLagrangian(
            name=name,
            coordinates=[str(symbol) for symbol in symbols],
            mass=smooth(symbols, mass, (n, n), everywhere=published),
            potentials=[smooth(symbols, [part]) for part in read.column("V", V, symbols)],
            constraints=smooth(symbols, read.column("g", g, symbols)),
            inlets=field(symbols, inlets),
            massless=np.array([mass[:, k].is_zero_matrix is True for k in range(n)]),
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
        coordinates: Sequence[str] | None = None,
        cyclic: Sequence[str] = (),
        ports: Sequence[Port] = (),
        units: Mapping[str, str] | None = None,
    ) -> "LagrangianSystem":
        """Make it from Python functions of q, shape (n,).

        The last index of a derivative is that of the coordinate: `dM(q)[i, j, k]` is dM_ij/dq_k.

        Parameters
        ----------
        name : str
            Name of the system.
        n, m : int
            Numbers of coordinates and of constraints.
        M : array or callable
            Mass matrix (n, n), constant or q -> matrix.
        V, g : callable
            q -> potential energy [J]; q -> constraints (m,).
        B : array or callable
            Port matrix (n, inputs), constant or q -> matrix.
        dM, ddM, dV, ddV, G, dG, dB : callable
            Derivatives: dM (n, n, n), ddM (n, n, n, n), dV (n,), ddV (n, n), the Jacobian G (m, n)
            of g and its derivative dG (m, n, n), dB (n, inputs, n). Second derivatives may be
            constant arrays.
        coordinates : sequence of str
            Names of the coordinates, for messages; default: `"q[0]"`, `"q[1]"`, ...
        cyclic : sequence of str
            Those of them that neither M nor V depends on: their momenta are then constant to
            round-off.
        ports, units
            As in `symbolic`.

        Warns
        -----
        MissingDerivativeWarning
            Names the derivatives that were left out and are computed by finite differences.
        """
        for what, size, least in (("n", n, 1), ("m", m, 0)):
            count(size, f"system '{name}': {what}", least)
        if (g is None) != (m == 0):
            raise InputError(
                f"system '{name}': give constraints g and their number m together, or none of them"
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
        potential = read.smooth("V", (), energy, ("dV", dV), ("ddV", ddV), depends=depends)
        rows = np.zeros(0) if g is None else g
        constraints = read.smooth("g", (m,), rows, ("G", G), ("dG", dG), depends=everywhere)
        columns = np.zeros((n, 0)) if B is None else B
        inlets = read.smooth("B", (n, inputs), columns, ("dB", dB), depends=depends)
        warn_missing(f"system '{name}'", read.missing, stacklevel=2)
        empty = np.zeros(n, dtype=bool)
        if mass.constant:
            empty = ~np.any(mass(np.zeros(n)), axis=0)
        lagrangian = GeneralLagrangian(name, names, mass, [potential], constraints, inlets, empty)
        return cls._checked(name, lagrangian, ports, units)

    @classmethod
    def _checked(
        cls,
        name: str,
        lagrangian: GeneralLagrangian,
        ports: Sequence[Port],
        units: Mapping[str, str] | None,
    ) -> "LagrangianSystem":
        if lagrangian.mass.constant:
            M = lagrangian.M(np.zeros(lagrangian.n))
            masses.require_mass(name, lagrangian.coordinates, M)
        require_states(name, units, ("q", "v", "p", "lam"))
        return cls(name, lagrangian, tuple(ports), dict(units or {}))

    def total_energy(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return T + V [J] [KB24, eq. (80)]; q, v of shape (times, n), or (n,) for one number."""
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
        total = [self.lagrangian.T(at, rate) + self.lagrangian.V(at) for at, rate in pairs]
        return np.array(total).reshape(rows[0].shape[:-1])

    # -- forms of the equations ---------------------------------------------------------------

    def livens(self) -> LivensSystem:
        """Return Livens' form, x = (q, v, p, lam) [KB24, eq. (19)]: M is not inverted."""
        return LivensSystem(self.name, self._states("q", "v", "p"), self.ports, self.lagrangian)

    def hamiltonian(self) -> HamiltonianSystem:
        """Return Hamilton's form, x = (q, p, lam) [KB24, eq. (16)], where M can be inverted."""
        if self.lagrangian.mass.constant:
            nowhere = np.zeros(self.lagrangian.n)
            self.lagrangian.velocity(nowhere, nowhere)  # refuses a singular M
        return HamiltonianSystem(self.name, self._states("q", "p"), self.ports, self.lagrangian)

    def port_hamiltonian(self) -> VelocitySystem:
        """Return the form x = (q, v, lam) with E = diag(I, M, 0) [LKB26, eq. (19)]."""
        return VelocitySystem(self.name, self._states("q", "v"), self.ports, self.lagrangian)

    def _states(self, *names: str) -> tuple[State, ...]:
        n, m = self.lagrangian.n, self.lagrangian.m
        multipliers = [State("lam", m, self.units.get("lam"))] if m else []
        return (*(State(name, n, self.units.get(name)) for name in names), *multipliers)

    # -- what `simulate` asks -----------------------------------------------------------------

    def scheme_for(self, scheme: str | Scheme | None, coordinates: str | None) -> str | Scheme:
        """Return the scheme that it runs with, EML unless told otherwise."""
        if coordinates is not None:
            raise InputError(f"coordinates: Lagrangian '{self.name}' has its own")
        return scheme or "eml"

    def compile_for(self, scheme: Scheme, coordinates: str | None = None) -> PHSystem:
        """Return the form that a scheme integrates."""
        if scheme.mean_lever_arms or scheme.stabilised or scheme.condensation == "null-space":
            instead = "eml" if scheme.mean_lever_arms else "reml"
            instead = "ph-dg" if scheme.stabilised else instead
            raise InputError(
                f"scheme '{scheme.name}' is for models of bodies, not for the Lagrangian "
                f"'{self.name}'; use '{instead}'"
            )
        forms = {"livens": self.livens, "hamiltonian": self.hamiltonian}
        return forms.get(scheme.formulation, self.port_hamiltonian)()

    def document(
        self, inputs: Mapping[str, Signal | ArrayLike], **simulation: Any
    ) -> Callable[[], str]:
        """Return what writes nothing: there is no file format for functions."""
        return str
