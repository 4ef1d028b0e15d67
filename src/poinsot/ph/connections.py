r"""Power-preserving connections, each a pair (K, N) on the connected ports.

.. math:: u = -K y + N \lambda + F e - D y - \rho(y), \qquad N^\top y = w, \qquad K = -K^\top

The power supplied through the connected ports is u·y = w·lambda + e·F^T y - y·(D y + rho(y)): a
connection without resistor (D, rho) and input (w, e) neither creates nor dissipates energy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, StructureError
from poinsot.ph import derivatives, units
from poinsot.ph.dirac import semidefinite_defect, symmetry_defect
from poinsot.ph.matrices import Array, Vector, as_matrix
from poinsot.ph.ports import Port

#: (state of the first system, state of the second) -> C.
Modulation: TypeAlias = Callable[[Vector, Vector], ArrayLike]


@dataclass(frozen=True, eq=False)
class Connection(ABC):
    """Base class of power-preserving relations between named ports."""

    @property
    @abstractmethod
    def ports(self) -> tuple[str, ...]:
        """Names of the connected ports, in order."""

    def between(self, ports: Sequence[str]) -> Self:
        """Return the same connection between other ports, by name in the same order."""
        raise InputError(
            f"a {type(self).__name__} cannot be a part of a sub-assembly; define its method "
            "`between(ports)`, which returns the same connection between other ports"
        )

    @abstractmethod
    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K (m, m) and N (m, l) for all connected ports in order; affine in C."""

    @abstractmethod
    def check(self, ports: Sequence[Port]) -> None:
        """Raise `InputError` for ports that do not match."""

    @property
    def modulated(self) -> bool:
        """Whether the coupling matrix depends on the states of the connected systems."""
        return False

    def coupling(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array | None:
        """Return the coupling matrix at the states of the connected systems."""
        return None

    def coupling_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array | None:
        """Return dC/dx for the concatenated states of the connected systems; None: constant."""
        return None

    def conductance(self, size: int) -> Array | None:
        """Return D; None without losses."""
        return None

    def rho(self, y: Vector) -> tuple[Vector, Array] | None:
        """Return the nonlinear resistance rho(y) and its derivative."""
        return None

    @property
    def linear(self) -> bool:
        """Whether K, N and D are constant and rho vanishes."""
        return True

    def exposed(self, ports: Sequence[Port]) -> Port | None:
        """Return the new port (input w, output lambda) that this connection adds."""
        return None

    def left_open(self, ports: Sequence[Port]) -> Port | None:
        """Return the new port (input e, output F^T y) of the free directions."""
        return None

    def opening(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array:
        """Return F (m, size) at the states of the connected systems, if there is such a port."""
        raise NotImplementedError

    def opening_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array:
        """Return dF/dx (m, size, n) for the concatenated states of the connected systems."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Coupling(Connection):
    """What transformer and gyrator share: two ports and a matrix C of shape (size a, size b).

    C defaults to the identity. It may be a function (x_a, x_b) -> matrix of the states of the two
    systems; then dC: (x_a, x_b) -> array (size a, size b, n_a + n_b), by finite differences if
    left out. C is a pure number unless `unit` says otherwise.
    """

    a: str
    b: str
    C: ArrayLike | Modulation | None = None
    dC: Modulation | None = None
    unit: str = "1"

    @property
    def ports(self) -> tuple[str, ...]:
        """The two ports."""
        return self.a, self.b

    def between(self, ports: Sequence[str]) -> Self:
        """Return the same between other ports."""
        return replace(self, a=ports[0], b=ports[1])

    @property
    def linear(self) -> bool:
        """Whether C is constant."""
        return not callable(self.C)

    @property
    def label(self) -> str:
        """How messages call this connection."""
        return f"{type(self).__name__.lower()} '{self.a}' - '{self.b}'"

    @property
    def modulated(self) -> bool:
        """Whether C is a function of the states."""
        return callable(self.C)

    def coupling(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array:
        """Return the coupling matrix at the states of the two systems."""
        value = self.C(*xs) if callable(self.C) else self.C
        if value is None:
            return np.eye(sizes[0])
        shape = (sizes[0], sizes[1])
        if np.ndim(value) == 0 and sizes[0] == sizes[1]:
            value = np.asarray(value) * np.eye(sizes[0])
        return np.asarray(as_matrix(value, shape, f"{self.label}: C"))

    def coupling_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> Array | None:
        """Return dC/dx of shape (size a, size b, n_a + n_b); None if C is constant."""
        if not callable(self.C):
            return None
        shape = (sizes[0], sizes[1], xs[0].size + xs[1].size)
        if self.dC is None:
            split = xs[0].size

            def flat(x: Vector) -> Vector:
                return self.coupling(sizes, (x[:split], x[split:])).reshape(-1)

            return derivatives.jacobian(flat, np.concatenate(xs)).reshape(shape)
        tensor = np.asarray(self.dC(*xs), dtype=float)
        if tensor.shape != shape:
            raise InputError(f"{self.label}: dC has shape {tensor.shape}, expected {shape}")
        return tensor

    @abstractmethod
    def drive_unit(self, b: Port) -> str | None:
        """Return the unit of what drives port a: u_a is C times that."""

    def check(self, ports: Sequence[Port]) -> None:
        """Refuse ports of other size or unit: [C] is [u_a] over the unit of what drives it."""
        a, b = ports
        if self.C is None and a.size != b.size:
            raise InputError(
                f"{self.label}: port {a} and port {b} differ in size; give the matrix C"
            )
        if self.C is not None and not callable(self.C):
            self.coupling((a.size, b.size), ())
        left, right = a.u_unit, self.drive_unit(b)
        if left is None or right is None:  # a port carries no units
            return
        if units.exponents(left) != units.product(right, self.unit):
            pairs = zip(units.exponents(left), units.exponents(right), strict=True)
            needed = units.format_exponents([p - q for p, q in pairs])
            raise InputError(
                f"{self.label}: port {a} and port {b} need C in {needed}, but C is in "
                f"'{self.unit}'; if C is right, give its unit by unit=..."
            )


class Transformer(Coupling):
    """A transformer, u_a = -C u_b, y_b = C^T y_a [BAPM21, sec. 5.1].

    Outputs are tied and inputs balance, with a multiplier lambda = u_b and the equation C^T y_a -
    y_b = 0. With C = I this is the ideal joint of [LKB26, eq. (41)].

    Parameters
    ----------
    a, b : str
        Names of the ports.
    C : float, matrix or callable
        Coupling, with the unit [u_a]/[u_b]; a function of the states of both systems for modulated
        transformers. Default: the identity.
    """

    def drive_unit(self, b: Port) -> str | None:
        """Return the unit of u_b."""
        return b.u_unit

    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K = 0 and N = (-C; I)."""
        assert C is not None
        return np.zeros((sum(sizes), sum(sizes))), np.vstack([-C, np.eye(sizes[1])])


class Gyrator(Coupling):
    """A gyrator, u_a = -C y_b, u_b = C^T y_a [BAPM21, sec. 5.1].

    Each output drives the other input, without multipliers.

    Parameters
    ----------
    a, b : str
        Names of the ports.
    C : float, matrix or callable
        Coupling, with the unit [u_a]/[y_b]; a function of the states of both systems for modulated
        gyrators. Default: the identity.
    """

    def drive_unit(self, b: Port) -> str | None:
        """Return the unit of y_b."""
        return b.y_unit

    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K = (0, C; -C^T, 0) and N with no columns."""
        assert C is not None
        a, b = sizes
        K = np.block([[np.zeros((a, a)), C], [-C.T, np.zeros((b, b))]])
        return K, np.zeros((a + b, 0))


@dataclass(frozen=True, eq=False)
class Junction(Connection):
    """A junction of any number of ports of equal size and unit.

    Parameters
    ----------
    joined : sequence of str
        Names of the ports.
    common : {"output", "input"}
        `"output"`: all y are equal and the sum of all u is zero (rigidly connected masses, parallel
        loops). `"input"`: all u are equal and the sum of all y is zero.
    """

    joined: tuple[str, ...]
    common: Literal["output", "input"] = "output"

    @property
    def ports(self) -> tuple[str, ...]:
        """The connected ports."""
        return self.joined

    def between(self, ports: Sequence[str]) -> Self:
        """Return the same junction of other ports."""
        return replace(self, joined=tuple(ports))

    def check(self, ports: Sequence[Port]) -> None:
        """Raise `InputError` for fewer than two ports, or ports of different size or unit."""
        if len(ports) < 2:
            raise InputError(f"junction of {list(self.joined)}: give at least two ports")
        if self.common not in ("output", "input"):
            raise InputError(
                f"junction of {list(self.joined)}: common is '{self.common}', "
                "not 'output' or 'input'"
            )
        first = ports[0]
        for other in ports[1:]:
            same_unit = (
                first.u_unit is None
                or other.u_unit is None
                or units.exponents(first.u_unit) == units.exponents(other.u_unit)
            )
            if other.size != first.size or not same_unit:
                raise InputError(
                    f"junction: port {first} and port {other} do not have matching sizes and units"
                )

    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K = 0 and N: (-1 ... -1; I) for common outputs, (1; ...; 1) for common inputs."""
        count, eye = len(sizes), np.eye(sizes[0])
        if self.common == "output":
            pattern = np.vstack([-np.ones((1, count - 1)), np.eye(count - 1)])
        else:
            pattern = np.ones((count, 1))
        return np.zeros((sum(sizes), sum(sizes))), np.asarray(np.kron(pattern, eye), dtype=float)


@dataclass(frozen=True, eq=False)
class OnePort(Connection):
    """What resistor and swap share: a single port."""

    port: str

    @property
    def ports(self) -> tuple[str, ...]:
        """The port."""
        return (self.port,)

    def between(self, ports: Sequence[str]) -> Self:
        """Return the same at another port."""
        return replace(self, port=ports[0])


@dataclass(frozen=True, eq=False)
class Resistor(OnePort):
    """A resistor at one port, u = -(D y + rho(y)), with D >= 0 and y·rho(y) >= 0.

    Parameters
    ----------
    port : str
        Name of the port.
    D : float or (size, size)
        Linear resistance.
    law, dlaw : callable
        Nonlinear law rho(y) and its derivative. Default: finite differences for the derivative.
    """

    D: ArrayLike | None = None
    law: Callable[[Vector], ArrayLike] | None = None
    dlaw: Callable[[Vector], ArrayLike] | None = None

    @property
    def linear(self) -> bool:
        """Whether it has no law."""
        return self.law is None

    def check(self, ports: Sequence[Port]) -> None:
        """Raise `StructureError` for a resistance that creates energy, as far as this is known."""
        size = ports[0].size
        if self.D is None and self.law is None:
            raise InputError(f"resistor at '{self.port}': give D, or a law")
        D = self.conductance(size)
        if D is not None and max(symmetry_defect(D), semidefinite_defect(D)) > 1e-12:
            raise StructureError(
                f"resistor at '{self.port}': D is not symmetric positive semi-definite; it would "
                "create energy"
            )
        if self.law is not None:
            random = np.random.default_rng(0)
            for y in random.standard_normal((32, size)) * 10.0 ** random.uniform(-3, 3, (32, 1)):
                rho = np.asarray(self.law(y), dtype=float).reshape(-1)
                if rho.shape != (size,):
                    raise InputError(
                        f"resistor at '{self.port}': the law returns {rho.size} values, "
                        f"expected {size}"
                    )
                if y @ rho < -1e-12 * np.linalg.norm(y) * np.linalg.norm(rho):
                    raise StructureError(
                        f"resistor at '{self.port}': the law creates energy, y·rho(y) = "
                        f"{y @ rho:.3g} at y = {y}"
                    )

    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K = 0 and N with no columns."""
        return np.zeros((sizes[0], sizes[0])), np.zeros((sizes[0], 0))

    def conductance(self, size: int) -> Array | None:
        """Return D as a matrix."""
        if self.D is None:
            return None
        value = np.asarray(self.D, dtype=float)
        value = value * np.eye(size) if value.ndim == 0 else value
        return np.asarray(as_matrix(value, (size, size), f"resistor at '{self.port}': D"))

    def rho(self, y: Vector) -> tuple[Vector, Array] | None:
        """Return the law at y and its derivative."""
        if self.law is None:
            return None
        law = self.law

        def value(y_: Vector) -> Vector:
            return np.asarray(law(y_), dtype=float).reshape(-1)

        slope = derivatives.jacobian(value, y) if self.dlaw is None else self.dlaw(y)
        return value(y), np.asarray(slope, dtype=float).reshape(y.size, y.size)


class Swap(OnePort):
    """Exchange input and output of one port [BAPM21, eq. (43)].

    The old input becomes a multiplier lambda, which is the new output. The old output is prescribed
    by the new input w through the algebraic equation w - y = 0.
    """

    def check(self, ports: Sequence[Port]) -> None:
        """Accept any port."""

    def matrices(self, C: Array | None, sizes: Sequence[int]) -> tuple[Array, Array]:
        """Return K = 0 and N = I."""
        return np.zeros((sizes[0], sizes[0])), np.eye(sizes[0])

    def exposed(self, ports: Sequence[Port]) -> Port:
        """Return the port with input and output exchanged."""
        return ports[0].swapped
