r"""Linearisation of any system about an equilibrium, a steady motion or a state.

.. math::

    E\,\delta\dot x = \Bigl(\frac{\partial (J z - R z - r + B u)}{\partial x}
    + (J - R - \partial_z r)\,\frac{\partial z}{\partial x} - \frac{\partial E \dot x}{\partial x}
    \Bigr)\,\delta x + B\,\delta u

by the exact tangents that Newton's method has of every system. Where dz is the Hessian of the
energy, what loads and multipliers add is put into Q, which becomes the second variation of
H + lambda g, as long as it is one: then the linear system is port-Hamiltonian again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from poinsot.analysis.linear import (
    AnyLinear,
    LinearDescriptor,
    LinearPHSystem,
    OperatingPoint,
    as_linear,
    nonzero,
    symmetric,
)
from poinsot.analysis.operating_point import in_motion, input_of, slope, state_of
from poinsot.errors import InputError
from poinsot.model import Model
from poinsot.ph.derivatives import COEFFICIENTS, RELATIVE_STEP
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import Array, Matrix, Vector, add, assemble, dense, diagonal, is_sparse
from poinsot.ph.system import PHSystem, State, slices
from poinsot.systems.livens import LagrangianSystem
from poinsot.systems.livens.systems import LivensSystem
from poinsot.systems.mechanical import MechanicalForm

#: Defect of a structure, relative to the sizes of its terms, that counts as round-off.
TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class Chart:
    """Free coordinates xi of the tangent space, dx = T dxi, and the equations that are left.

    `left` takes them out of all: E and A become left E T and left A T; efforts are those of the
    new coordinates, so that J becomes left J left^T. `sizes` are those of xi, and `mechanical` is
    the number of coordinates, and of velocities after them, if the system is a mechanical one.
    """

    T: Matrix
    left: Matrix
    states: tuple[State, ...]
    sizes: Vector
    mechanical: int | None = None


def linearise(
    system: "Model | PHSystem | LagrangianSystem | LinearDescriptor",
    at: Any = "start",
    u: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    coordinates: str = "directors",
) -> AnyLinear:
    """Return the linear system near an operating point, with names of states and ports kept.

    Parameters
    ----------
    system : Model, PHSystem or LagrangianSystem
        What to linearise; a linear system is returned as it is.
    at
        `"start"`; a state, as a vector or by names; a result (its last state) or
        `(result, time)`; or an equilibrium or steady motion, which has attributes `x` and `u`.
        Multipliers are made consistent with the state.
    u : (m,) or mapping
        Inputs at the operating point, of all ports or by name; default: those that the ports are
        fed with, at time 0 where these change.
    coordinates : str
        Those that a model is compiled in.

    Returns
    -------
    LinearPHSystem
        Where the port-Hamiltonian structure is kept: at equilibria and in steady motions.
    LinearDescriptor
        Elsewhere, with the same matrices E, A, B and C; `why` says what is in the way.

    Notes
    -----
    Redundant coordinates of rotations are replaced by displacements `s` along the velocities,
    d zeta = Z ds; momenta of Livens' form by velocities. Ports that are closed by laws of the state
    are part of A, not of B; a law is differentiated by sixth-order differences, everything else
    exactly. There is no feed-through: D = 0 in the descriptor form.
    """
    if isinstance(system, LinearSystem | LinearDescriptor):
        return as_linear(system)
    if isinstance(system, Model):
        system = system.compile(coordinates)
    if isinstance(system, LagrangianSystem):
        system = system.port_hamiltonian()
    if not isinstance(system, PHSystem):
        raise InputError(f"linearise: expected a Model or a system, got {system!r}")
    x, t = state_of(system, at)
    inputs = input_of(system, at, u)
    system = system.near(system.angles(x))
    x, rate = in_motion(system, x, inputs, t)
    return _linearised(system, x, rate, inputs, t)


def _linearised(system: PHSystem, x: Vector, rate: Vector, u: Vector, t: float) -> AnyLinear:
    z = system.z(x)
    u = system.feedback(t, x, z, u)
    E, A = system.E(x), add(slope(system, x, z, u), _minus(system.dE(x, rate)))
    B, C = system.B(x), add(system.B(x).T @ system.dz(x), system.dy(x, z))
    free = np.ones(system.m, dtype=bool)
    for port in system.ports:
        free[system.port_slices[port.name]] = not port.by_law
    if not free.all():
        A = add(A, B[:, ~free] @ _law_slopes(system, x, u, t)[~free])
    chart = _chart(system, x)
    T, left = chart.T, chart.left
    L = left @ system.dflow_dz(x, z) @ left.T
    residual = _residual(system, x, z, u, rate)
    about = OperatingPoint(system, x, rate, u, system.y(x, z), t, T, residual)
    common = {
        "name": system.name,
        "states": chart.states,
        "ports": tuple(replace(p, signal=None) for p in system.ports if not p.by_law),
        "matrix_E": _tidy(left @ E @ T),
        "matrix_B": _tidy(left @ B[:, free]),
        "about": about,
    }
    A, C = left @ A @ T, C[free] @ T
    plain = LinearDescriptor(matrix_A=_tidy(A), matrix_C=_tidy(C), conduction=_tidy(L), **common)
    Q = _costate(plain, system.dz(x), chart.mechanical)
    return with_structure(plain, Q, chart.sizes)


def _residual(system: PHSystem, x: Vector, z: Vector, u: Vector, rate: Vector) -> float:
    """Return what E x' is, as a part of what could make it; both measured as powers."""
    sizes = system.sizes(x)
    efforts = abs(z) + abs(system.dz(x)) @ sizes
    terms = abs(system.dflow_dz(x, z)) @ efforts + abs(system.B(x)) @ abs(u)
    largest = np.max(efforts * terms, initial=0.0)
    return float(np.max(efforts * abs(system.E(x) @ rate), initial=0.0) / (largest or 1.0))


def _minus(a: Matrix | None) -> Matrix | None:
    return None if a is None else -a


def _tidy(a: Any) -> Matrix:
    """Return a matrix as the package keeps it: sparse rows if it is large."""
    if is_sparse(a):
        tidy = sp.csr_array(a)
        tidy.eliminate_zeros()
        return tidy
    return np.asarray(a)


def _law_slopes(system: PHSystem, x: Vector, u: Vector, t: float) -> Array:
    """Return the derivative of the inputs that laws fill in, by sixth-order differences; (m, n)."""
    steps, slopes = RELATIVE_STEP * system.sizes(x), np.zeros((system.m, system.n))
    for j in np.flatnonzero(~system.algebraic):
        shift = np.zeros(x.size)
        for k, c in enumerate(COEFFICIENTS, start=1):
            shift[j] = k * steps[j]
            there, back = (system.feedback(t, a, system.z(a), u) for a in (x + shift, x - shift))
            slopes[:, j] += c * (there - back) / steps[j]
    return slopes


# -- free coordinates ------------------------------------------------------------------------------


def _chart(system: PHSystem, x: Vector) -> Chart:
    """Return free coordinates of a system near a state."""
    if isinstance(system, LivensSystem):
        return _without_momenta(system, x)
    whole, sizes = diagonal(np.ones(system.n)), system.sizes(x)
    if not isinstance(system, MechanicalForm):
        return Chart(whole, whole, system.states, sizes)
    n, k, w = system.mechanics.n, system.mechanics.k, system.momentum_row
    if n == k:
        return Chart(whole, whole, system.states, sizes, None if system.stabilised else n)
    one = diagonal(np.ones(system.n - n))
    Z = system.mechanics.Z(system.parts(x)[0])
    back = _left_inverse(Z)
    T = assemble((system.n, system.n - n + k), [(0, 0, Z), (n, k, one)])
    left = assemble((system.n - n + k, system.n), [(0, 0, back), (k, n, one)])
    ends = slices(system.states)
    velocities = [s for s in system.states if w <= ends[s.name].start < w + k]
    rest = [s for s in system.states if ends[s.name].start >= n]
    moved = [State(f"{s.name[:-1]}s", s.size) for s in velocities]
    sizes = np.concatenate([abs(back) @ sizes[:n], sizes[n:]])
    return Chart(T, left, (*moved, *rest), sizes, k)


def _left_inverse(Z: Matrix) -> Matrix:
    """Return (Z^T Z)^-1 Z^T."""
    if is_sparse(Z):
        from scipy.sparse.linalg import splu

        lu = splu(sp.csc_array(Z.T @ Z))
        return sp.csr_array(lu.solve(Z.T.toarray()))
    return np.linalg.pinv(dense(Z))


def _without_momenta(system: LivensSystem, x: Vector) -> Chart:
    """Return coordinates (q, v, multipliers): momenta follow from p = dL/dv.

    From the row of momenta that of coordinates is taken as often as p changes with q, so that
    E = diag(I, M, 0).
    """
    n, m = system.mechanics.n, system.mechanics.m
    H = system.lagrangian.ddT(system.q(x), system.velocity(x))
    one, D = diagonal(np.ones(n)), H.qs.T
    both, multipliers = diagonal(np.ones(2 * n)), diagonal(np.ones(m))
    T = assemble(
        (system.n, 2 * n + m),
        [(0, 0, both), (2 * n, 0, D), (2 * n, n, H.ss), (3 * n, 2 * n, multipliers)],
    )
    left = assemble(
        (2 * n + m, system.n),
        [(0, 0, one), (n, 0, -1.0 * D), (n, 2 * n, one), (2 * n, 3 * n, multipliers)],
    )
    gone = {state.name for state in system.momenta}
    states = tuple(s for s in system.states if s.name not in gone)
    sizes = np.delete(system.sizes(x), np.arange(2 * n, 3 * n))
    return Chart(T, left, states, sizes, n)


# -- structure -------------------------------------------------------------------------------------


def _costate(plain: LinearDescriptor, dz: Matrix, mechanical: int | None) -> Matrix | None:
    """Return Q with (J - R) Q = A, as far as the equations with derivatives tell it.

    Efforts of multipliers are these themselves. Of a mechanical system, velocities follow from the
    equation of coordinates, and forces from that of momentum.
    """
    L, A, n = plain.conduction, plain.matrix_A, plain.n
    if mechanical is None:
        return _any_costate(plain, dz)
    q, w, lam = slice(0, mechanical), slice(mechanical, 2 * mechanical), slice(2 * mechanical, n)
    Z, one = L[q, w], diagonal(np.ones(n - 2 * mechanical))
    Q_w = A[q] if _is_identity(Z) else _solved(Z, A[q])
    forces = add(A[w], -(L[w, w] @ Q_w))
    if one.shape[0]:
        forces = add(forces, -assemble((mechanical, n), [(0, lam.start, L[w, lam])]))
    Q_q = -forces if _is_identity(Z) else -_solved(Z.T, forces)
    return assemble((n, n), [(0, 0, Q_q), (mechanical, 0, Q_w), (lam.start, lam.start, one)])


def _is_identity(a: Matrix) -> bool:
    return not nonzero(add(a, -diagonal(np.ones(a.shape[0]))))


def _solved(a: Matrix, b: Matrix) -> Matrix:
    if is_sparse(a):
        from scipy.sparse.linalg import splu

        return sp.csr_array(splu(sp.csc_array(a)).solve(dense(b)))
    return np.linalg.solve(dense(a), dense(b))


def _any_costate(plain: LinearDescriptor, dz: Matrix) -> Matrix | None:
    """Return dz and what loads and multipliers add to the efforts of states with derivatives."""
    L, D = plain.conduction, add(plain.matrix_A, -(plain.conduction @ dz))
    if not nonzero(D):
        return dz
    moving = np.flatnonzero(~plain.algebraic)
    if is_sparse(L):
        from scipy.sparse.linalg import splu

        try:
            lu = splu(sp.csc_array(L[moving][:, moving]))
        except RuntimeError:  # singular
            return None
        found = lu.solve(dense(D[moving]))
        if not np.all(np.isfinite(found)):
            return None
        added = sp.lil_array(dz.shape)
        added[moving] = sp.csr_array(found)
        return add(dz, sp.csr_array(added))
    more = np.zeros(dz.shape)
    more[moving] = np.linalg.lstsq(dense(L)[:, moving], dense(D), rcond=1e-11)[0]
    return dense(dz) + more


def with_structure(plain: LinearDescriptor, Q: Matrix | None, sizes: Vector) -> AnyLinear:
    """Return the port-Hamiltonian form with costates Q x if it is one, else the plain form.

    `sizes` are those of the states, by which energies and powers of all kinds are compared.
    """
    why = "its efforts cannot be told from its equations"
    if Q is not None:
        why = _defect(plain, Q, sizes)
    if Q is None or why:
        return replace(plain, why=why)
    L = plain.conduction
    J, R = 0.5 * add(L, -1.0 * L.T), -1.0 * symmetric(L)
    return LinearPHSystem(
        name=plain.name,
        states=plain.states,
        ports=plain.ports,
        matrix_E=plain.matrix_E,
        matrix_J=_tidy(J),
        matrix_R=_tidy(R),
        matrix_B=plain.matrix_B,
        matrix_Q=_tidy(Q),
        about=plain.about,
    )


def _defect(plain: LinearDescriptor, Q: Matrix, sizes: Vector) -> str:
    """Return what keeps the equations with costates Q x from being port-Hamiltonian."""
    E, L, B = plain.matrix_E, plain.conduction, plain.matrix_B
    efforts = np.asarray(abs(Q) @ sizes)
    energy = E.T @ Q
    stored = _scaled(abs(E.T) @ abs(Q), sizes, sizes)
    if _scaled(add(energy, -1.0 * energy.T), sizes, sizes) > TOLERANCE * stored:
        return "E^T Q is not symmetric: forces have no potential, or the state moves"
    power = _scaled(abs(L) @ abs(Q), efforts, sizes)
    if _scaled(add(plain.matrix_A, -1.0 * (L @ Q)), efforts, sizes) > TOLERANCE * power:
        return "(J - R) Q is not A: the state moves, or its coordinates are tied to velocities"
    for row, other in zip(dense(plain.matrix_C), dense(B.T @ Q), strict=True):
        if np.max(abs(row - other) * sizes) > TOLERANCE * np.max((abs(row) + abs(other)) * sizes):
            return "B^T Q is not C: ports change with the state while it moves"
    R = dense(symmetric(L)) * efforts[:, None] * efforts
    if np.linalg.eigvalsh(R)[-1] > TOLERANCE * np.max(abs(R), initial=0.0):
        return "R is not positive semi-definite: something supplies energy"
    return ""


def _scaled(a: Matrix, rows: Vector, columns: Vector) -> float:
    """Return the largest entry of a matrix whose rows and columns are measured."""
    if is_sparse(a):
        entries = sp.coo_array(a)
        i, j = entries.coords
        return float(np.max(abs(entries.data) * rows[i] * columns[j], initial=0.0))
    return float(np.max(abs(dense(a)) * rows[:, None] * columns, initial=0.0))
