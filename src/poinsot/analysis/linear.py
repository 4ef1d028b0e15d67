r"""Linear systems: port-Hamiltonian ones and general descriptor systems.

.. math:: E\,\delta\dot x = A\,\delta x + B\,\delta u, \qquad \delta y = C\,\delta x

near an operating point. It is port-Hamiltonian if A = (J - R) Q, C = B^T Q and E^T Q is symmetric
[BAPM21, eq. (45)].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import Array, Matrix, Vector, add, dense, diagonal, nonzero
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, State, slices, zero_columns

if TYPE_CHECKING:
    from scipy.signal import StateSpace


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """The operating point of a linearisation.

    Attributes
    ----------
    system : PHSystem
        The nonlinear system.
    x, rate : (N,)
        State with consistent multipliers, and its derivative.
    u, y : (m,)
        Inputs and outputs.
    t : float
        Time [s].
    sizes : (n,)
        Natural magnitudes of the states of the linear system.
    T : matrix (N, n)
        Changes of the nonlinear state for those of the linear one, dx = T dxi.
    residual : (n,)
        Remaining E x' in the equations of the linear system, for a steady motion relative to its
        moving frame: zero up to round-off at an equilibrium.
    steady : bool
        Whether the linear system is written in the moving frame of a steady motion.
    freedoms : int or None
        Number of coordinates at the beginning of the linear state, followed by as many velocities
        and by multipliers; None: not a mechanical system.
    """

    system: PHSystem
    x: Vector
    rate: Vector
    u: Vector
    y: Vector
    t: float
    sizes: Vector
    T: Matrix
    residual: Vector
    steady: bool = False
    freedoms: int | None = None


class Linear:
    """What both kinds of linear systems can be turned into."""

    def state_space(self) -> StateSpace:
        """Return x' = A x + B u, y = C x + D u as SciPy has it, constraints eliminated."""
        from poinsot.analysis.conversion import state_space

        return state_space(cast(AnyLinear, self))

    def to_control(self) -> Any:
        """Return the same as a `control.StateSpace` of python-control, with names of ports."""
        from poinsot.analysis.conversion import to_control

        return to_control(cast(AnyLinear, self))


@dataclass(frozen=True, eq=False)
class LinearPHSystem(LinearSystem, Linear):
    """A linear port-Hamiltonian system E x' = (J - R) Q x + B u, y = B^T Q x.

    It can be simulated, interconnected and checked like any other system. Its energy x^T E^T Q x /
    2 is the second variation of the energy with multipliers at the operating point `about`. It need
    not be positive along motions that constraints exclude.
    """

    about: OperatingPoint | None = None

    @cached_property
    def matrix_A(self) -> Matrix:
        """(J - R) Q; (n, n)."""
        A: Matrix = self.conduction @ self.matrix_Q
        return A

    @cached_property
    def matrix_C(self) -> Matrix:
        """B^T Q; (m, n)."""
        C: Matrix = self.matrix_B.T @ self.matrix_Q
        return C

    @property
    def conduction(self) -> Matrix:
        """J - R; (n, n)."""
        return self._conduction

    def to_pymor(self) -> Any:
        """Return a `PHLTIModel` of pyMOR."""
        from poinsot.analysis.conversion import to_pymor

        return to_pymor(self)


@dataclass(frozen=True, eq=False)
class LinearDescriptor(Linear):
    """A linear system E x' = A x + B u, y = C x without port-Hamiltonian form.

    This is the linearisation about a state in motion, or with follower loads or laws of the state.
    `why` gives the reason.
    """

    name: str
    states: tuple[State, ...]
    ports: tuple[Port, ...]
    matrix_E: Matrix
    matrix_A: Matrix = field(repr=False)
    matrix_B: Matrix = field(repr=False)
    matrix_C: Matrix = field(repr=False)
    conduction: Matrix = field(repr=False)
    about: OperatingPoint | None = None
    why: str = ""

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
    def algebraic(self) -> NDArray[np.bool_]:
        """Zero columns of E."""
        return zero_columns(self.matrix_E)


#: Whatever can be analysed as it is.
AnyLinear: TypeAlias = "LinearPHSystem | LinearDescriptor"


def as_linear(system: LinearSystem | LinearDescriptor) -> AnyLinear:
    """Return a linear system with what analysis asks of it; any `ph.linear` will do."""
    if isinstance(system, LinearPHSystem | LinearDescriptor):
        return system
    return LinearPHSystem(
        system.name,
        system.states,
        system.ports,
        system.matrix_E,
        system.matrix_J,
        system.matrix_R,
        system.matrix_B,
        system.matrix_Q,
    )


def labels(states: tuple[State, ...]) -> list[str]:
    """Return the name of every entry of a state."""
    return [s.name if s.size == 1 else f"{s.name}[{i}]" for s in states for i in range(s.size)]


def matrices(linear: AnyLinear) -> tuple[Array, Array, Array, Array]:
    """Return E, A, B, C as dense arrays."""
    E, A, B, C = linear.matrix_E, linear.matrix_A, linear.matrix_B, linear.matrix_C
    return dense(E), dense(A), dense(B), dense(C)


def sparse(a: Any) -> Any:
    """Return a matrix as sparse rows, whatever it is."""
    return sp.csr_array(a)


def symmetric(a: Matrix) -> Matrix:
    """Return (a + a^T) / 2."""
    half: Matrix = 0.5 * add(a, a.T)
    return half


def is_identity(a: Matrix) -> bool:
    """Return whether a matrix is the identity."""
    return a.shape[0] == a.shape[1] and not nonzero(add(a, -1.0 * diagonal(np.ones(a.shape[0]))))
