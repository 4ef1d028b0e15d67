"""Port-Hamiltonian systems from Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.inputs import function
from poinsot.ph import derivatives
from poinsot.ph.dirac import require_structure
from poinsot.ph.matrices import Matrix, Vector, as_matrix, is_sparse, total
from poinsot.ph.ports import Port
from poinsot.ph.system import (
    PHSystem,
    State,
    Storage,
    as_states,
    nonzero_rows,
    slices,
    zero_columns,
)

MatrixFunction: TypeAlias = Callable[[Vector], ArrayLike | Matrix]
#: (x, a) -> derivative of M(x) a with respect to x.
Tangent: TypeAlias = Callable[[Vector, Vector], ArrayLike | Matrix]
#: (x, z) -> vector or matrix.
Resistance: TypeAlias = Callable[[Vector, Vector], ArrayLike | Matrix]


@dataclass(frozen=True)
class Checked:
    """A user's function that returns a matrix; its shape is checked, and that it is finite."""

    function: Callable[..., ArrayLike | Matrix]
    shape: tuple[int, int]
    label: str

    def __call__(self, *arguments: Vector) -> Matrix:
        """Evaluate, checked."""
        return as_matrix(self.function(*arguments), self.shape, self.label)


@dataclass(frozen=True)
class MatrixOfState:
    """A matrix of the state: a constant value, or a function with the derivative of M(x) a by x."""

    value: Matrix | None = None
    function: Callable[[Vector], Matrix] | None = None
    derivative: Callable[[Vector, Vector], Matrix] | None = None

    def __call__(self, x: Vector) -> Matrix:
        """Return the matrix."""
        if self.function is None:
            assert self.value is not None
            return self.value
        return self.function(x)

    def tangent(self, x: Vector, a: Vector) -> Matrix | None:
        """Return the derivative of M(x) a with respect to x; None if constant."""
        if self.function is None:
            return None
        if self.derivative is None:
            return derivatives.jacobian(lambda x_: np.asarray(self(x_) @ a), x)
        return self.derivative(x, a)


@dataclass(frozen=True, eq=False)
class FunctionSystem(PHSystem):
    """A system from Python functions; made by `from_functions`."""

    energy: Callable[[Vector], ArrayLike]
    costate: Callable[[Vector], ArrayLike] | None
    costate_tangent: Callable[[Vector], Matrix] | None
    matrix_E: MatrixOfState
    matrix_J: MatrixOfState
    matrix_R: MatrixOfState
    matrix_B: MatrixOfState
    resistance: Resistance | None
    resistance_dx: Callable[[Vector, Vector], Matrix] | None
    resistance_dz: Callable[[Vector, Vector], Matrix] | None
    algebraic_states: NDArray[np.bool_]
    storage: Storage

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
        return np.asarray(self.energy(x), dtype=float).reshape(1)

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
        return self.costate_tangent(x)

    def dflow(self, x: Vector, z: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of (J - R) z - r + B u at fixed z and u."""
        J, R, B = self.matrix_J, self.matrix_R, self.matrix_B
        losses = [R.tangent(x, z), self._dr(x, z, by_z=False)]
        terms = [J.tangent(x, z), B.tangent(x, u), *(None if dr is None else -dr for dr in losses)]
        return total(*terms) if any(term is not None for term in terms) else None

    def dr_dz(self, x: Vector, z: Vector) -> Matrix | None:
        """Return the derivative of r with respect to z."""
        return self._dr(x, z, by_z=True)

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

    @property
    def storages(self) -> tuple[Storage, ...]:
        """One storage."""
        return (self.storage,)

    def _dr(self, x: Vector, z: Vector, *, by_z: bool) -> Matrix | None:
        given = self.resistance_dz if by_z else self.resistance_dx
        if given is not None:
            return given(x, z)
        if self.resistance is None:
            return None
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
        x -> costate. Default, if E is the identity: grad H.
    r : callable
        (x, z) -> nonlinear dissipation with z·r >= 0.
    dz : callable
        x -> dz/dx; the Hessian of H if E is the identity.
    dE, dJ, dR, dB : callable
        (x, a) -> derivative of E(x) a, ... with respect to x, for fixed a.
    dr_dx, dr_dz : callable
        (x, z) -> derivatives of r.
    algebraic : sequence of str
        For a callable E: states whose columns of E are always zero.
    quadratic : bool
        Declare H quadratic: the midpoint rule is then exact without correction.

    Warns
    -----
    MissingDerivativeWarning
        Names the derivatives that are computed by finite differences.
    """
    function(H, f"system '{name}': H")
    blocks = as_states(states, name)
    n, m = sum(s.size for s in blocks), sum(p.size for p in ports)
    if z is None and E is not None:
        raise InputError(
            f"system '{name}': if E is given, z with E^T z = grad H must be given, too"
        )

    def checked(what: str, given: Any, shape: tuple[int, int]) -> Checked | None:
        return None if given is None else Checked(given, shape, f"system '{name}': {what}")

    def matrix(
        what: str,
        given: ArrayLike | Matrix | MatrixFunction | None,
        columns: int,
        derivative: Tangent | None,
    ) -> MatrixOfState:
        if callable(given) and not is_sparse(given):
            tangent = checked(f"{what} (tangent)", derivative, (n, n))
            return MatrixOfState(None, checked(what, given, (n, columns)), tangent)
        value = (np.eye(n) if what == "E" else np.zeros((n, columns))) if given is None else given
        return MatrixOfState(as_matrix(value, (n, columns), f"system '{name}': {what}"))

    parts = {
        "E": matrix("E", E, n, dE),
        "J": matrix("J", J, n, dJ),
        "R": matrix("R", R, n, dR),
        "B": matrix("B", B, m, dB),
    }
    require_structure(name, parts["J"].value, parts["R"].value)
    constant_E = parts["E"].value
    mask = np.zeros(n, dtype=bool) if constant_E is None else zero_columns(constant_E)
    places = slices(blocks)
    for state in algebraic:
        if state not in places:
            raise InputError(f"system '{name}': algebraic state '{state}' is not among its states")
        mask[places[state]] = True
    missing = [
        *(["z"] if z is None else []),
        *(["dz"] if dz is None else []),
        *(f"d{what}" for what, part in parts.items() if part.function and not part.derivative),
        *(["dr_dx"] if r is not None and dr_dx is None else []),
        *(["dr_dz"] if r is not None and dr_dz is None else []),
    ]
    derivatives.warn_missing(f"system '{name}'", missing, stacklevel=2)
    rows = np.flatnonzero(~mask) if constant_E is None else nonzero_rows(constant_E)
    return FunctionSystem(
        name=name,
        states=blocks,
        ports=tuple(ports),
        energy=H,
        costate=z,
        costate_tangent=checked("dz", dz, (n, n)),
        matrix_E=parts["E"],
        matrix_J=parts["J"],
        matrix_R=parts["R"],
        matrix_B=parts["B"],
        resistance=r,
        resistance_dx=checked("dr", dr_dx, (n, n)),
        resistance_dz=checked("dr", dr_dz, (n, n)),
        algebraic_states=mask,
        storage=Storage(rows, quadratic=quadratic),
    )
