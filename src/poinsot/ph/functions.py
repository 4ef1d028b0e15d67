"""Port-Hamiltonian systems from Python functions."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, MissingDerivativeWarning, StructureError
from poinsot.inputs import function
from poinsot.ph import derivatives
from poinsot.ph.dirac import semidefinite_defect, skew_defect, symmetry_defect
from poinsot.ph.matrices import Matrix, Vector, add, as_matrix, is_sparse
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, State, Storage, as_states, nonzero_rows, zero_columns

MatrixFunction: TypeAlias = Callable[[Vector], ArrayLike | Matrix]
#: (x, a) -> derivative of M(x) a with respect to x.
Tangent: TypeAlias = Callable[[Vector, Vector], ArrayLike | Matrix]
#: (x, z) -> vector or matrix.
Resistance: TypeAlias = Callable[[Vector, Vector], ArrayLike | Matrix]


@dataclass(frozen=True)
class MatrixOfState:
    """A matrix that depends on the state, with its tangent; constant when `value` is given."""

    label: str
    shape: tuple[int, int]
    value: Matrix | None = None
    function: MatrixFunction | None = None
    derivative: Tangent | None = None

    def __call__(self, x: Vector) -> Matrix:
        """Evaluate, checked."""
        if self.function is None:
            assert self.value is not None
            return self.value
        return as_matrix(self.function(x), self.shape, self.label)

    def tangent(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of M(x) a with respect to x; None if constant."""
        if self.function is None:
            return None
        if self.derivative is None:
            return derivatives.jacobian(lambda x_: np.asarray(self(x_) @ a), x)
        return as_matrix(self.derivative(x, a), (self.shape[0], x.size), f"{self.label} (tangent)")


@dataclass(frozen=True, eq=False)
class FunctionSystem(PHSystem):
    """A system of Python callables. Made by `from_functions`."""

    energy: Callable[[Vector], float]
    costate: Callable[[Vector], ArrayLike] | None
    costate_tangent: MatrixFunction | None
    matrix_E: MatrixOfState
    matrix_J: MatrixOfState
    matrix_R: MatrixOfState
    matrix_B: MatrixOfState
    resistance: Resistance | None
    resistance_dx: Resistance | None
    resistance_dz: Resistance | None
    algebraic_states: NDArray[np.bool_]
    quadratic: bool

    def E(self, x: Vector) -> Matrix:
        """Return the descriptor matrix."""
        return self.matrix_E(x)

    def J(self, x: Vector) -> Matrix:
        """Return the structure matrix."""
        return self.matrix_J(x)

    def R(self, x: Vector) -> Matrix:
        """Return the dissipation matrix."""
        return self.matrix_R(x)

    def B(self, x: Vector) -> Matrix:
        """Return the port matrix."""
        return self.matrix_B(x)

    def z(self, x: Vector) -> Vector:
        """Return the costate."""
        if self.costate is None:
            return derivatives.gradient(self.H, x)
        return self._vector(self.costate(x), "z")

    def energies(self, x: Vector) -> Vector:
        """Return H [J]."""
        return np.array([float(self.energy(x))])

    def r(self, x: Vector, z: Vector) -> Vector | None:
        """Return the nonlinear dissipation."""
        return None if self.resistance is None else self._vector(self.resistance(x, z), "r")

    def dE(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of E(x) a."""
        return self.matrix_E.tangent(x, a)

    def dz(self, x: Vector) -> Matrix:
        """Return the derivative of z."""
        if self.costate_tangent is None:
            return derivatives.jacobian(self.z, x)
        return as_matrix(self.costate_tangent(x), (self.n, self.n), f"system '{self.name}': dz")

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of (J - R) z - r + B u at fixed z and u."""
        dJ, dR, dB = (
            self.matrix_J.tangent(x, z),
            self.matrix_R.tangent(x, z),
            self.matrix_B.tangent(x, u),
        )
        terms = [dJ, None if dR is None else -dR, dB]
        if self.resistance is not None:
            terms.append(-self._resistance_tangent(x, z, by_z=False))
        total: Matrix | None = None
        for term in terms:
            if term is not None:
                total = term if total is None else add(total, term)
        return total

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z."""
        return None if self.resistance is None else self._resistance_tangent(x, z, by_z=True)

    def dy(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of B(x)^T z, column by column of B."""
        if self.matrix_B.function is None:
            return None
        columns = [self.matrix_B.tangent(x, unit) for unit in np.eye(self.m)]
        return np.array([np.zeros(self.n) if c is None else c.T @ z for c in columns])

    @property
    def proven(self) -> bool:
        """Whether J and R are constant."""
        return self.matrix_J.function is None and self.matrix_R.function is None

    @property
    def exact_costate(self) -> bool:
        """Whether z was given."""
        return self.costate is not None

    @property
    def algebraic(self) -> NDArray[np.bool_]:
        """States without derivative."""
        return self.algebraic_states

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        """One storage."""
        E = self.matrix_E.value
        rows = np.flatnonzero(~self.algebraic) if E is None else nonzero_rows(E)
        return (Storage(rows, quadratic=self.quadratic),)

    def _resistance_tangent(self, x: Vector, z: Vector, *, by_z: bool) -> Matrix:
        given = self.resistance_dz if by_z else self.resistance_dx
        if given is not None:
            return as_matrix(given(x, z), (self.n, self.n), f"system '{self.name}': dr")
        assert self.resistance is not None
        r = self.resistance
        if by_z:
            return derivatives.jacobian(lambda z_: np.asarray(r(x, z_), dtype=float), z)
        return derivatives.jacobian(lambda x_: np.asarray(r(x_, z), dtype=float), x)

    def _vector(self, value: ArrayLike | Matrix, what: str) -> Vector:
        vector = np.asarray(value, dtype=float)
        if vector.shape != (self.n,):
            raise InputError(
                f"system '{self.name}': {what} has shape {vector.shape}, expected ({self.n},)"
            )
        return vector


def from_functions(
    name: str,
    *,
    states: Sequence[State | str],
    H: Callable[[Vector], float],
    J: ArrayLike | Matrix | MatrixFunction,
    R: ArrayLike | Matrix | MatrixFunction | None = None,
    B: ArrayLike | Matrix | MatrixFunction | None = None,
    E: ArrayLike | Matrix | MatrixFunction | None = None,
    z: Callable[[Vector], ArrayLike] | None = None,
    r: Resistance | None = None,
    dz: MatrixFunction | None = None,
    dJ: Tangent | None = None,
    dR: Tangent | None = None,
    dB: Tangent | None = None,
    dE: Tangent | None = None,
    dr_dx: Resistance | None = None,
    dr_dz: Resistance | None = None,
    ports: Sequence[Port] = (),
    algebraic: Sequence[str] = (),
    quadratic: bool = False,
) -> FunctionSystem:
    r"""Make a port-Hamiltonian system from Python functions of the state x, shape (n,).

    .. math:: E(x) \dot x = (J(x) - R(x)) z(x) - r(x, z) + B(x) u, \quad E^\top z = \nabla H

    Parameters
    ----------
    name, states, ports
        As in `linear`.
    H : callable
        x -> energy [J].
    E, J, R, B : array or callable
        A constant matrix, or x -> matrix. Default: E = identity, R = 0, no ports.
    z : callable
        x -> costate. It may be left out when E is the identity: then z = grad H.
    r : callable
        (x, z) -> nonlinear dissipation with z·r >= 0.
    dz : callable
        x -> dz/dx; the Hessian of H when E is the identity.
    dE, dJ, dR, dB : callable
        (x, a) -> derivative of E(x) a, ... with respect to x, a held fixed.
    dr_dx, dr_dz : callable
        (x, z) -> derivatives of r.
    algebraic : sequence of str
        With a callable E: the states whose columns of E are always zero.
    quadratic : bool
        Declare H quadratic: the midpoint rule is then exact and needs no correction.

    Warns
    -----
    MissingDerivativeWarning
        Names the derivatives that were left out and are computed by finite differences.
    """
    function(H, f"system '{name}': H")
    blocks = as_states(states, name)
    n, m = sum(s.size for s in blocks), sum(p.size for p in ports)
    if z is None and E is not None:
        raise InputError(f"system '{name}': with E given, z (E^T z = grad H) must be given too")

    def matrix(
        what: str,
        given: ArrayLike | Matrix | MatrixFunction | None,
        shape: tuple[int, int],
        derivative: Tangent | None,
    ) -> MatrixOfState:
        label = f"system '{name}': {what}"
        if callable(given) and not is_sparse(given):
            return MatrixOfState(label, shape, function=given, derivative=derivative)
        value = (np.eye(n) if what == "E" else np.zeros(shape)) if given is None else given
        return MatrixOfState(label, shape, value=as_matrix(value, shape, label))

    system = FunctionSystem(
        name=name,
        states=blocks,
        ports=tuple(ports),
        energy=H,
        costate=z,
        costate_tangent=dz,
        matrix_E=matrix("E", E, (n, n), dE),
        matrix_J=matrix("J", J, (n, n), dJ),
        matrix_R=matrix("R", R, (n, n), dR),
        matrix_B=matrix("B", B, (n, m), dB),
        resistance=r,
        resistance_dx=dr_dx,
        resistance_dz=dr_dz,
        algebraic_states=np.zeros(n, dtype=bool),
        quadratic=quadratic,
    )
    for what, part, defect in (
        ("J is not skew-symmetric (J + J^T = 0)", system.matrix_J, skew_defect),
        ("R is not symmetric", system.matrix_R, symmetry_defect),
        ("R is not positive semi-definite", system.matrix_R, semidefinite_defect),
    ):
        if part.value is not None and defect(part.value) > 1e-12:
            raise StructureError(
                f"system '{name}': {what}; the relative defect is {defect(part.value):.3g}"
            )
    mask = system.algebraic_states
    if system.matrix_E.value is not None:
        mask |= zero_columns(system.matrix_E.value)
    for state in algebraic:
        if state not in system.slices:
            raise InputError(f"system '{name}': algebraic state '{state}' is not among its states")
        mask[system.slices[state]] = True
    missing = [
        label
        for label, absent in (
            ("z", z is None),
            ("dz", dz is None),
            ("dE", system.matrix_E.function is not None and dE is None),
            ("dJ", system.matrix_J.function is not None and dJ is None),
            ("dR", system.matrix_R.function is not None and dR is None),
            ("dB", system.matrix_B.function is not None and dB is None),
            ("dr_dx", r is not None and dr_dx is None),
            ("dr_dz", r is not None and dr_dz is None),
        )
        if absent
    ]
    if missing:
        warnings.warn(
            f"system '{name}': {', '.join(missing)} not given, computed by finite differences; "
            "pass them for speed and accuracy",
            MissingDerivativeWarning,
            stacklevel=2,
        )
    return system
