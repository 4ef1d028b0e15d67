"""The port-Hamiltonian system, base class of all mechanisms, circuits and controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, did_you_mean, printable
from poinsot.inputs import numbers, require_name
from poinsot.ph.matrices import Matrix, Vector, add, assemble
from poinsot.ph.ports import Port
from poinsot.result.cards import card
from poinsot.result.observer import Observer

if TYPE_CHECKING:
    from poinsot.ph.dirac import Defects
    from poinsot.ph.network import Attached
    from poinsot.ph.operations import Operations
    from poinsot.ph.runner import Runner
    from poinsot.ph.scheme import Scheme
    from poinsot.ph.stages import Newton, StageEquations


@dataclass(frozen=True)
class State:
    """A named block of the state vector; `unit` is an SI unit, for labels only."""

    name: str
    size: int = 1
    unit: str | None = None

    def __post_init__(self) -> None:
        """Check name and size."""
        if require_name(self.name, "a state") and self.size < 1:
            raise InputError(f"state '{self.name}': size is {self.size}; it must be at least 1")


@dataclass(frozen=True)
class Storage:
    """A term of the energy: H is a sum of storages, each with its own rows of E and of z.

    A `quadratic` storage is exact under the midpoint rule without correction.
    """

    rows: NDArray[np.intp]
    quadratic: bool = False


class Stores(ABC):
    """Energy storage of a system, as discrete gradients need it."""

    @abstractmethod
    def E(self, x: Vector) -> Matrix:
        """Return the descriptor matrix; shape (n, n)."""

    @abstractmethod
    def z(self, x: Vector) -> Vector:
        """Return the costate (effort), E^T z = grad H; shape (n,)."""

    @abstractmethod
    def energies(self, x: Vector) -> Vector:
        """Return the energy of each storage [J]; their sum is H."""

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E(x) a with respect to x, a fixed; None: E is constant."""
        return None

    @abstractmethod
    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z with respect to x; shape (n, n)."""

    @property
    @abstractmethod
    def algebraic(self) -> NDArray[np.bool_]:
        """Which states never appear with a derivative: zero columns of E; shape (n,)."""

    @property
    def storages(self) -> tuple[Storage, ...]:
        """The parts of the energy, in the order of `energies`."""
        return (Storage(np.flatnonzero(~self.algebraic)),)

    @property
    def exact_costate(self) -> bool:
        """Whether z is exact; False if it is found by differences of H."""
        return True


@dataclass(frozen=True, eq=False)
class PHSystem(Stores):
    r"""Base class of port-Hamiltonian descriptor systems with dissipation [LKB26, eq. (4)].

    .. math::

        E(x) \dot x = (J(x) - R(x))\, z(x) - r(x, z) + B(x)\, u, \qquad y = B(x)^\top z(x)

    with :math:`J = -J^\top`, :math:`R = R^\top \ge 0`, :math:`z \cdot r(x, z) \ge 0` and
    :math:`E^\top z = \nabla H`, so that
    :math:`\dot H = u \cdot y - z \cdot (R z + r) \le u \cdot y`: u·y is the power supplied [W].

    E may be singular: a row of zeros is an algebraic equation. Row i belongs to the costate z_i and
    is named after state i. x and z have the shape (n,), u and y the shape (m,) for all ports in
    order.

    Evaluation has no side effects. Tangents that are identically zero are returned as None.
    """

    name: str
    states: tuple[State, ...]
    ports: tuple[Port, ...]

    def __init_subclass__(cls) -> None:
        """Keep dataclasses from showing all of their arrays."""
        super().__init_subclass__()
        if "__repr__" not in vars(cls):
            cls.__repr__ = PHSystem.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Return one line: kind, name, and numbers of states and ports."""
        size, ports = f"{self.n} state{'s' * (self.n != 1)}", len(self.ports)
        counts = f"{size}, {ports} port{'s' * (ports != 1)}"
        return f"<{type(self).__name__} '{printable(self.name)}': {counts}>"

    def _repr_html_(self) -> str:
        """Return a table of states and ports, for notebooks."""
        states = [(s.name, f"size {s.size}", s.unit or "") for s in self.states]
        ports = [
            (
                p.name,
                f"size {p.size}",
                f"u [{p.u_unit}], y [{p.y_unit}]" if p.u_unit else "",
                p.status,
            )
            for p in self.ports
        ]
        return card(repr(self)[1:-1], [], {"States": states, "Ports": ports})

    # -- the ingredients besides E, z and H --------------------------------------------------

    @abstractmethod
    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix, skew-symmetric; shape (n, n)."""

    def R(self, x: Vector) -> Matrix:
        """Return the dissipation matrix, symmetric, semi-definite; 0 by default; shape (n, n)."""
        return self._no_dissipation

    @abstractmethod
    def B(self, x: Vector) -> Matrix:
        """Return the port matrix; shape (n, m)."""

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the nonlinear dissipation, z·r >= 0; shape (n,)."""
        return None

    @property
    def adjustable(self) -> NDArray[np.bool_]:
        """States that `consistent_state` may change; shape (n,). All by default."""
        return np.ones(self.n, dtype=bool)

    @property
    def followers(self) -> NDArray[np.bool_]:
        """States that follow from equations and need not be given at the start; shape (n,).

        Those without a derivative, by default.
        """
        return self.algebraic

    # -- what Newton's method needs -----------------------------------------------------------

    def remembering(self) -> PHSystem:
        """Return the same system for one run of Newton's method.

        Its tangents may depend on earlier iterations, as some resistances need; its values may not.
        """
        return self

    @abstractmethod
    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of `flow` with respect to x for fixed z and u; shape (n, n)."""

    @abstractmethod
    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of y = B(x)^T z with respect to x for fixed z; shape (m, n)."""

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z; shape (n, n)."""
        return None

    def feedback(self, t: float, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return the inputs, including those that depend on the state."""
        return u

    @property
    def operations(self) -> Operations | None:
        """Its equations as operations, which machine code is made of; None: there are none."""
        return None

    # -- what is known of the whole -----------------------------------------------------------

    @property
    def connected(self) -> tuple[Port, ...]:
        """Ports inside this system that are used by interconnections."""
        return ()

    def connected_values(self, x: Vector, z: Vector, u: Vector) -> list[tuple[Vector, Vector]]:
        """Return (u, y) of each connected port."""
        return []

    @property
    def default_scheme(self) -> str:
        """Name of the default scheme."""
        return "ph-dg"

    @property
    def proven(self) -> bool:
        """Whether J and R are known to be valid at every state, and need no checks."""
        return False

    @property
    def by_construction(self) -> bool:
        """Whether J is skew and R positive semi-definite for any input of the user."""
        return False

    #: Whether J, R, B, E are constant and z = Q x.
    linear = False
    #: Whether networks may close its ports over a step, see `closed_by`.
    hosts = False
    #: Whether velocity constraints are among the equations, with multipliers of their own.
    stabilised = False
    #: The form of the equations, which decides what schemes there are.
    formulation = "ph"

    def in_form(self, formulation: str) -> PHSystem:
        """Return the system in another form; raise `InputError` if there is none."""
        if formulation == self.formulation:
            return self
        raise InputError(
            f"system '{self.name}' does not have the form '{formulation}' that the scheme needs; "
            "use another scheme, or a Model or LagrangianSystem"
        )

    @property
    def start(self) -> Vector:
        """Default initial state: zero."""
        return np.zeros(self.n)

    def sizes(self, x: Vector) -> Vector:
        """Return natural sizes of states, not smaller than at x; shape (n,).

        They scale finite differences and estimates of round-off. Default: 1 in the unit of each
        state.
        """
        return np.maximum(1.0, abs(x))

    def error_sizes(self, x: Vector) -> Vector:
        """Return the sizes of states for error estimates; shape (n,)."""
        return self.sizes(x)

    def check_start(self, x: Vector, t: float) -> None:
        """Raise an error for a state that no simulation can start from at time t [s]."""

    def stored(self, x: Vector) -> tuple[Matrix, Matrix]:
        """Return the tangent space of the stored (E x, z), E constant: columns (E a, dz a)."""
        return self.E(x), self.dz(x)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return the equations of a step from x0 for the scheme; None: general ones.

        The step has the size h [s]; t and the inputs u are at its midpoint.
        """
        return None

    def in_steps(self, scheme: Scheme, x: Vector, h: float) -> PHSystem:
        """Return the system for a run from x with steps of size h [s]; itself by default."""
        return self

    @property
    def own_steps_only(self) -> str:
        """Why it cannot use the general steps of interconnections; "" if it can."""
        return ""

    def exact_under(self, scheme: Scheme) -> bool:
        """Return whether a scheme satisfies the energy balance of this system to round-off."""
        quadratic = self.exact_costate and all(part.quadratic for part in self.storages)
        return scheme.exact_energy == "any" or quadratic

    def astray(
        self, scheme: Scheme, steps: Sequence[tuple[Vector, Vector, float]]
    ) -> tuple[float, str]:
        """Return the largest deviation of a scheme from the physical laws, and where it occurs.

        For some steps, each given by x_mid, x1 and h [s]. It covers deviations that balances and
        constraints do not show; by default there are none.
        """
        return 0.0, ""

    def fastest(self, x: Vector) -> tuple[str, float] | None:
        """Return what vibrates fastest at x, and its period [s], if that is known."""
        return None

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return a likely reason why a step of size h [s] from x0 failed, or ""."""
        return ""

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Raise an error for a step to an invalid state."""

    def closed_by(self, networks: Sequence[Attached]) -> PHSystem:
        """Return the system with ports closed by the laws of networks; for hosts only."""
        raise TypeError(f"system '{self.name}' hosts no networks")

    def closes(self, inputs: NDArray[np.intp]) -> bool:
        """Return whether networks may close these inputs in the compiled engine."""
        return False

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return the system in the compiled engine at state x; None: not available."""
        return None

    @property
    def uncompiled(self) -> str:
        """Parts of the system that the compiled engine cannot run, for messages; "" if none."""
        return ""

    def angles(self, x: Vector) -> Vector:
        """Return the angles to be counted over full turns [rad], each in (-pi, pi]."""
        return np.zeros(0)

    @property
    def angle_names(self) -> tuple[str, ...]:
        """Names of the angles."""
        return ()

    def near(self, turned: Vector) -> PHSystem:
        """Return the system for angles counted over full turns [rad], in the order of `angles`.

        Its energy and laws use the angles within half a turn of these. By default they depend on
        none.
        """
        return self

    def observer(self) -> Observer:
        """Return the observer of saved states; empty by default."""
        return Observer()

    # -- derived ------------------------------------------------------------------------------

    def H(self, x: Vector) -> float:
        """Return the stored energy [J]."""
        return float(self.energies(x).sum())

    def grad_H(self, x: Vector) -> Vector:
        """Return the gradient of the energy, E^T z; shape (n,)."""
        return np.asarray(self.E(x).T @ self.z(x))

    def in_play(self, t: float, x: Vector, h: float) -> float:
        """Return the magnitude of energies [J] by which the round-off of a balance is estimated.

        The state is known to a relative eps, at time t and for a step of size h [s].
        """
        return abs(self.H(x)) + float(np.nansum(abs(x * self.grad_H(x))))

    def resistive(self, x: Vector, z: Vector) -> Vector:
        """Return the dissipative effort R z + r(x, z); shape (n,)."""
        effort = np.asarray(self.R(x) @ z)
        r = self.r(x, z)
        return effort if r is None else effort + r

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return (J - R) z - r + B u, the right-hand side; shape (n,)."""
        return np.asarray(self.J(x) @ z - self.resistive(x, z) + self.B(x) @ u)

    def dflow_dz(self, x: Vector, z: Vector) -> Matrix:
        """Return the derivative of `flow` with respect to z: J - R - dr/dz; shape (n, n)."""
        conduction = add(self.J(x), -self.R(x))
        dr_dz = self.dr_dz(x, z)
        return conduction if dr_dz is None else add(conduction, -dr_dz)

    def y(self, x: Vector, z: Vector) -> Vector:
        """Return the output B^T z; shape (m,)."""
        return np.asarray(self.B(x).T @ z)

    def u(self, t: float) -> Vector:
        """Return the inputs of all ports at time t [s]; open ports have u = 0; shape (m,)."""
        if not self.ports:
            return np.zeros(0)
        return np.concatenate([port.u(t) for port in self.ports])

    def u_of_step(self, t: float, h: float) -> Vector:
        """Return the inputs of a step of size h [s] with midpoint t: values there, or means."""
        if not self.ports:
            return np.zeros(0)
        ends = np.array([t - h / 2, t + h / 2])
        given = [port.u_of_steps(ends)[0] if port.driven else port.u(t) for port in self.ports]
        return np.concatenate(given)

    def defects(self, x: ArrayLike | Mapping[str, ArrayLike], *, seed: int = 0) -> Defects:
        """Return the defects of the port-Hamiltonian structure at a state, all near zero."""
        from poinsot.ph.dirac import defects

        state = self.state(x)
        return defects(self.near(self.angles(state)), state, seed=seed)

    @cached_property
    def _no_dissipation(self) -> Matrix:
        return assemble((self.n, self.n), [])

    # -- names --------------------------------------------------------------------------------

    @cached_property
    def n(self) -> int:
        """Number of states."""
        return sum(state.size for state in self.states)

    @cached_property
    def m(self) -> int:
        """Number of inputs, and of outputs."""
        return sum(port.size for port in self.ports)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each named state lives in x."""
        return slices(self.states)

    @cached_property
    def port_slices(self) -> dict[str, slice]:
        """Where each port lives in u and y."""
        return slices(self.ports)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every entry of x and of every equation, e.g. `"p[2]"`."""
        return tuple(
            s.name if s.size == 1 else f"{s.name}[{i}]" for s in self.states for i in range(s.size)
        )

    def port(self, name: str) -> Port:
        """Return the port of this name."""
        for port in self.ports:
            if port.name == name:
                return port
        if any(port.name == name for port in self.connected):
            raise InputError(f"system '{self.name}': port '{name}' is already connected")
        raise InputError(
            f"system '{self.name}': no port '{name}'; "
            + did_you_mean(name, [p.name for p in self.ports])
        )

    def state(self, values: ArrayLike | Mapping[str, ArrayLike]) -> Vector:
        """Return a state vector from an array or from named values; the rest is that of `start`."""
        if not isinstance(values, Mapping):
            x = numbers(values, f"system '{self.name}': the state").reshape(-1)
            if x.shape != (self.n,):
                raise InputError(
                    f"system '{self.name}': the state has {x.size} entries, expected {self.n} "
                    f"({', '.join(s.name for s in self.states)})"
                )
        else:
            x = self.start.copy()
            for name, value in values.items():
                if name not in self.slices:
                    hint = did_you_mean(name, self.slices)
                    raise InputError(f"system '{self.name}': no state '{name}'; {hint}")
                block = numbers(value, f"system '{self.name}': state '{name}'")
                size = x[self.slices[name]].size
                if block.size != size:
                    raise InputError(
                        f"system '{self.name}': state '{name}' has {block.size} entries, "
                        f"expected {size}"
                    )
                x[self.slices[name]] = block.reshape(-1)
        for k in np.flatnonzero(~np.isfinite(x)):
            raise InputError(
                f"system '{self.name}': state '{self.labels[k]}' is {x[k]}, not finite"
            )
        return x

    def prefixed(self, prefix: str) -> Self:
        """Return the system with `prefix.` before the name of every state and port."""
        return replace(
            self,
            name=prefix,
            states=tuple(replace(s, name=f"{prefix}.{s.name}") for s in self.states),
            ports=tuple(replace(p, name=f"{prefix}.{p.name}") for p in self.ports),
        )

    def __post_init__(self) -> None:
        """Refuse what is no port, and names used twice."""
        require_name(self.name, "a system")
        for port in self.ports:
            if not isinstance(port, Port):
                raise InputError(f"system '{self.name}': expected a Port, got {port!r}")
        for kind, names in (
            ("state", [s.name for s in self.states]),
            ("port", [p.name for p in (*self.ports, *self.connected)]),
        ):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise InputError(
                    f"system '{self.name}': {kind} name '{min(twice)}' is used twice; "
                    "rename one, e.g. by system.prefixed('left')"
                )


def as_states(states: Iterable[State | str], name: str) -> tuple[State, ...]:
    """Return the blocks of a state; a string is a block of size 1."""
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise InputError(f"system '{name}': states is {states!r}; give a list of names or States")
    blocks = tuple(State(s) if isinstance(s, str) else s for s in states)
    for block in blocks:
        if not isinstance(block, State):
            raise InputError(f"system '{name}': expected a State or a name, got {block!r}")
    return blocks


def require_states(name: str, units: Mapping[str, str] | None, known: Iterable[str]) -> None:
    """Refuse units of states that a system does not have."""
    for state in units or {}:
        if state not in known:
            hint = did_you_mean(state, known)
            raise InputError(f"system '{name}': units: no state '{state}'; {hint}")


def slices(blocks: Sequence[State | Port]) -> dict[str, slice]:
    """Return where each block is in a vector of all, by its name."""
    ends = accumulate(block.size for block in blocks)
    return {b.name: slice(end - b.size, end) for b, end in zip(blocks, ends, strict=True)}


def nonzero_rows(E: Matrix) -> NDArray[np.intp]:
    """Return the rows of E with entries: the equations with a derivative."""
    return np.flatnonzero(np.asarray(abs(E).sum(axis=1)).reshape(-1))


def zero_columns(E: Matrix) -> NDArray[np.bool_]:
    """Return which columns of E are zero: the states without a derivative."""
    return np.asarray(abs(E).sum(axis=0) == 0).reshape(-1)
