"""Linear port-Hamiltonian systems, from matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.ph.dirac import require_structure
from poinsot.ph.matrices import Matrix, Vector, add, as_matrix
from poinsot.ph.operations import Written, constant
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, State, Storage, as_states, nonzero_rows, zero_columns


@dataclass(frozen=True, eq=False)
class LinearSystem(PHSystem):
    """A linear system E x' = (J - R) Q x + B u, H = 1/2 x^T E^T Q x; made by `linear`."""

    matrix_E: Matrix
    matrix_J: Matrix
    matrix_R: Matrix
    matrix_B: Matrix
    matrix_Q: Matrix
    #: The matrices are constant and were checked.
    proven = True
    linear = True

    def E(self, x: Vector) -> Matrix:
        """Return the constant descriptor matrix."""
        return self.matrix_E

    def J(self, x: Vector) -> Matrix:
        """Return the constant structure matrix."""
        return self.matrix_J

    def R(self, x: Vector) -> Matrix:
        """Return the constant dissipation matrix."""
        return self.matrix_R

    def B(self, x: Vector) -> Matrix:
        """Return the constant port matrix."""
        return self.matrix_B

    def z(self, x: Vector) -> Vector:
        """Return Q x."""
        return np.asarray(self.matrix_Q @ x)

    def energies(self, x: Vector) -> Vector:
        """Return 1/2 x^T E^T Q x [J]."""
        return np.array([(self.matrix_E @ x) @ self.z(x) / 2])

    def dz(self, x: Vector) -> Matrix:
        """Return Q."""
        return self.matrix_Q

    def dflow(self, x: Vector, z: Vector, u: Vector) -> None:
        """Return None: J, R and B are constant."""

    def dy(self, x: Vector, z: Vector) -> None:
        """Return None: B is constant."""

    def dflow_dz(self, x: Vector, z: Vector) -> Matrix:
        """Return J - R."""
        return self._conduction

    @cached_property
    def _conduction(self) -> Matrix:
        return add(self.matrix_J, -self.matrix_R)

    @cached_property
    def operations(self) -> Written:
        """Sums of products."""
        E, J, R = self.matrix_E, self.matrix_J, self.matrix_R
        return constant(E, J, R, self.matrix_B, self.matrix_Q)

    @cached_property
    def algebraic(self) -> NDArray[np.bool_]:
        """Zero columns of E."""
        return zero_columns(self.matrix_E)

    @cached_property
    def bends(self) -> Vector:
        """The second derivative of the energy by each state, the diagonal of E^T Q; (n,)."""
        return np.asarray((self.matrix_E * self.matrix_Q).sum(axis=0)).reshape(-1)

    def sizes(self, x: Vector) -> Vector:
        """Return natural sizes of states: those that store equal energies.

        The state that stores most energy per unit has size 1.
        """
        stored = self.bends > 0
        bends = np.where(stored, self.bends, 1.0)
        energy = float(np.max((bends * np.maximum(1.0, x**2))[stored], initial=0.0))
        return np.where(stored, np.maximum(np.sqrt(energy / bends), abs(x)), super().sizes(x))

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One quadratic storage."""
        return (Storage(nonzero_rows(self.matrix_E), quadratic=True),)


def linear(
    name: str,
    *,
    states: Sequence[State | str],
    J: ArrayLike | Matrix,
    Q: ArrayLike | Matrix,
    R: ArrayLike | Matrix | None = None,
    B: ArrayLike | Matrix | None = None,
    E: ArrayLike | Matrix | None = None,
    ports: Sequence[Port] = (),
) -> LinearSystem:
    r"""Make a linear port-Hamiltonian system from matrices, dense or sparse.

    .. math::

        E \dot x = (J - R) Q x + B u, \quad y = B^\top Q x, \quad H = \tfrac12 x^\top E^\top Q x

    Parameters
    ----------
    name : str
        Name of the system.
    states : sequence of State or str
        The blocks of x in order; a string is a block of size 1.
    J, R : (n, n)
        Structure matrix, skew-symmetric, and dissipation matrix, symmetric positive semi-definite.
        Default: R = 0.
    Q, E : (n, n)
        Matrix of the costate z = Q x, and descriptor matrix, with E^T Q symmetric. Default: E =
        identity.
    B : (n, m)
        Port matrix; columns of all ports in order. Default: no ports.
    ports : sequence of Port
        Ports, whose sizes add up to m.
    """
    blocks = as_states(states, name)
    n, m = sum(s.size for s in blocks), sum(p.size for p in ports)
    identity: Matrix = sp.eye_array(n, format="csr") if sp.issparse(J) else np.eye(n)

    def given(what: str, a: ArrayLike | Matrix | None, shape: tuple[int, int]) -> Matrix:
        return as_matrix(np.zeros(shape) if a is None else a, shape, f"system '{name}': {what}")

    system = LinearSystem(
        name=name,
        states=blocks,
        ports=tuple(ports),
        matrix_E=identity if E is None else given("E", E, (n, n)),
        matrix_J=given("J", J, (n, n)),
        matrix_R=0 * identity if R is None else given("R", R, (n, n)),
        matrix_B=given("B", B, (n, m)),
        matrix_Q=given("Q", Q, (n, n)),
    )
    EQ = system.matrix_E.T @ system.matrix_Q
    require_structure(name, system.matrix_J, system.matrix_R, EQ)
    return system
