r"""Linearisation of systems about an equilibrium, a steady motion or any state.

.. math::

    E\,\delta\dot x = \Bigl(\frac{\partial (J z - R z - r + B u)}{\partial x}
    + (J - R - \partial_z r)\,\frac{\partial z}{\partial x} - \frac{\partial E \dot x}{\partial x}
    \Bigr)\,\delta x + B\,\delta u

Derivatives are the exact tangents of Newton's method. If dz is the Hessian of the energy, the terms
of loads and multipliers are added to Q, which becomes the second variation of H + lambda g; if it
stays symmetric, the linear system is port-Hamiltonian again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.free_coordinates import FreeCoordinates, free_coordinates
from poinsot.analysis.linear import (
    AnyLinear,
    LinearDescriptor,
    OperatingPoint,
    as_linear,
)
from poinsot.analysis.operating_point import angles_of, in_motion, input_of, state_of
from poinsot.analysis.relative import Fields
from poinsot.analysis.steady_frames import (
    SteadyFrame,
    candidates,
    carried,
    derivative,
    is_mechanism,
    trace,
)
from poinsot.analysis.structure import (
    TOLERANCE,
    conduction,
    costate,
    costate_of_any,
    tidy,
    with_structure,
)
from poinsot.errors import InputError
from poinsot.model import Model
from poinsot.ph.derivatives import COEFFICIENTS, RELATIVE_STEP
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import Array, Matrix, Placed, Vector, add, assemble, dense, diagonal
from poinsot.ph.system import PHSystem
from poinsot.systems.livens import LagrangianSystem
from poinsot.systems.mechanical import MechanicalForm

#: Whether coefficients are constant is seen after so much of a turn [rad], at this multiple of its
#: rate: a place away from every eigenvalue.
LATER, PROBE = 0.7, 0.9 + 0.37j
#: Systems of more states are not asked for it: that takes dense matrices.
STEADY = 1500


def linearise(
    system: Any,
    at: Any = "start",
    u: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    coordinates: str | None = None,
) -> AnyLinear:
    """Return the linear system near an operating point, with names of states and ports.

    Parameters
    ----------
    system : Model, PHSystem or LagrangianSystem
        System to linearise; linear systems are returned unchanged. An equilibrium or a steady
        motion, which has the attributes `system`, `x` and `u`, is linearised about itself.
    at
        `"start"`; a state as a vector or by names; a result (its last state) or `(result, time)`;
        or an equilibrium or steady motion. Multipliers are made consistent with the state.
    u : (m,) or mapping
        Inputs at the operating point, of all ports or by name. Default: the inputs of the ports, at
        time 0 if they change.
    coordinates : str
        Coordinates of a model, see `Model.compile`.

    Returns
    -------
    LinearPHSystem
        At equilibria and in steady motions, where the port-Hamiltonian structure is preserved.
    LinearDescriptor
        Otherwise, with the same matrices E, A, B and C; `why` gives the reason.

    Notes
    -----
    Redundant coordinates of rotations are replaced by displacements `s` along the velocities,
    d zeta = Z ds, and momenta of Livens' form by velocities. Ports that are closed by laws of the
    state
    are part of A, not of B. Laws are differentiated by sixth-order differences, everything else
    exactly. There is no feedthrough: D = 0 in the descriptor form.
    """
    if isinstance(system, LinearSystem | LinearDescriptor):
        return as_linear(system)
    if isinstance(getattr(system, "system", None), PHSystem):
        system, at = system.system, system
    if isinstance(system, Model):
        own = getattr(at, "system", None)
        system = own if isinstance(own, PHSystem) else system.compile(coordinates)
    if isinstance(system, LagrangianSystem):
        system = system.port_hamiltonian()
    if not isinstance(system, PHSystem):
        raise InputError(f"linearise: expected a Model or a system, got {system!r}")
    x, t = state_of(system, at)
    inputs = input_of(system, at, u)
    system = system.near(angles_of(system, at, x))
    x, rate = in_motion(system, x, inputs, t)
    return _linearised(system, x, rate, inputs, t, getattr(at, "symmetry", None))


def _linearised(
    system: PHSystem, x: Vector, rate: Vector, u: Vector, t: float, own: Fields | None
) -> AnyLinear:
    """Return the linear system at a state that moves at a rate, in a frame that moves along.

    It is that of fields of the system's `own` if these are known.
    """
    frame = own or _steady(system, x, rate, u, t)
    xi = free_coordinates(system, x)
    plain = _descriptor(system, xi, x, rate, u, t, frame)
    Q = (
        costate(plain, xi.mechanical)
        if xi.mechanical is not None
        else _efforts(system, xi, x, plain)
    )
    if frame is not None and Q is not None and xi.mechanical is not None:
        plain = _on_constraints(plain, Q, xi.mechanical)
    return with_structure(plain, Q, xi.sizes)


def _efforts(
    system: PHSystem, xi: FreeCoordinates, x: Vector, plain: LinearDescriptor
) -> Matrix | None:
    """Return Q of a system that is no mechanical one."""
    dz = system.dz(x)
    return costate_of_any(plain, dz if xi.own else xi.efforts @ dz @ xi.T)


def _descriptor(
    system: PHSystem,
    xi: FreeCoordinates,
    x: Vector,
    rate: Vector,
    u: Vector,
    t: float,
    frame: SteadyFrame | Fields | None,
) -> LinearDescriptor:
    """Return the matrices at a state, without asking for structure."""
    z = system.z(x)
    u = system.feedback(t, x, z, u)
    E, B, L, dz = system.E(x), system.B(x), system.dflow_dz(x, z), system.dz(x)
    A = add(add(L @ dz, system.dflow(x, z, u)), _minus(system.dE(x, rate)))
    C = add(B.T @ dz, system.dy(x, z))
    free, by_law = np.ones(system.m, dtype=bool), np.zeros(system.m, dtype=bool)
    for port in system.ports:
        free[system.port_slices[port.name]] = port.takes_inputs
        by_law[system.port_slices[port.name]] = port.by_law
    if by_law.any():
        A = add(A, B[:, by_law] @ _law_slopes(system, x, u, t)[by_law])
    motion = np.zeros(x.size)
    if frame is not None:
        X, motion = _carried(system, frame, x)
        A = add(A, -1.0 * (E @ X))
    T, left, y = xi.T, xi.left, system.y(x, z)
    left_over = np.asarray(left @ (E @ (rate - motion)))
    E, A = xi.free(E), xi.free(A)
    if not xi.own:
        if xi.mechanical is not None:
            E, A = _kinematic(E, A, xi.mechanical, moving=bool(rate.any()))
        B, C, L = left @ B, C @ T, conduction(left, L, xi.mechanical, xi.gyration)
    return LinearDescriptor(
        name=system.name,
        states=xi.states,
        ports=tuple(replace(p, signal=None) for p in system.ports if p.takes_inputs),
        matrix_E=tidy(E),
        matrix_A=tidy(A),
        matrix_B=tidy(B[:, free]),
        matrix_C=tidy(C[free]),
        conduction=tidy(L),
        about=OperatingPoint(
            system, x, rate, u, y, t, xi.sizes, T, left_over, frame is not None, xi.mechanical
        ),
    )


def _kinematic(E: Matrix, A: Matrix, k: int, *, moving: bool) -> tuple[Matrix, Matrix]:
    """Return E and A with q' = v of k coordinates to the last bit, but for frames that move."""
    one, n = diagonal(np.ones(k)), E.shape[0]
    first: list[Placed] = [(0, 0, A[:k, :k])] if moving else []
    return (
        assemble((n, n), [(0, 0, one), (k, k, E[k:, k:])]),
        assemble((n, n), [*first, (0, k, one), (k, 0, A[k:])]),
    )


def _carried(system: PHSystem, frame: SteadyFrame | Fields, x: Vector) -> tuple[Matrix, Vector]:
    """Return the derivative of the motion of a frame by the state, and the motion."""
    if isinstance(frame, SteadyFrame):
        return derivative(system, frame, x)
    assert isinstance(system, MechanicalForm)
    return frame.derivative(system, x)


def _steady(system: PHSystem, x: Vector, rate: Vector, u: Vector, t: float) -> SteadyFrame | None:
    """Return a frame in which the motion of a mechanism is steady; None: it rests, or is not.

    Whether it is one is seen some time later: coefficients have to be the same in it.
    """
    if not is_mechanism(system) or system.n > STEADY:
        return None
    for frame in candidates(system, x, rate):
        turning = max(np.max(abs(frame.omega)), np.max(abs(frame.spins), initial=0.0))
        if turning == 0:
            return frame
        later = carried(system, frame, x, LATER / turning)
        near = system.near(system.angles(later))
        there, there_rate = in_motion(near, later, u, t)
        s, sums = PROBE * turning, []
        for one, at, moves in ((system, x, rate), (near, there, there_rate)):
            plain = _descriptor(one, free_coordinates(one, at), at, moves, u, t, frame)
            sums.append(trace(plain.matrix_E, plain.matrix_A, s))
        if abs(sums[0] - sums[1]) <= TOLERANCE * system.n / turning:
            return frame
    return None


def _on_constraints(plain: LinearDescriptor, Q: Matrix, k: int) -> LinearDescriptor:
    """Write algebraic equations as (J - R) Q x where constraints hold, if they are the same there.

    In a moving frame, constraints g turn into combinations of each other, which all vanish.
    """
    A, L = dense(plain.matrix_A).copy(), dense(plain.conduction)[2 * k :]
    own, K = L @ dense(Q), np.zeros((plain.n - 2 * k, plain.n))
    # Of k coordinates and k velocities: dq = Z dw, and K dw = 0 has held from the start.
    Z = dense(plain.conduction)[:k, k : 2 * k]
    K[:, :k] = np.linalg.solve(Z.T, L[:, k : 2 * k].T).T
    gap = A[2 * k :] - own
    share = np.linalg.lstsq(K.T, gap.T, rcond=1e-11)[0]
    if np.max(abs(gap - share.T @ K), initial=0.0) > TOLERANCE * np.max(abs(gap), initial=0.0):
        return plain
    A[2 * k :] = own
    return replace(plain, matrix_A=A)


def _minus(a: Matrix | None) -> Matrix | None:
    return None if a is None else -a


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
