r"""Projection of explicit linear systems onto subspaces.

For mechanical systems, displacements q = T q' are projected like velocities, so that the result is
mechanical again. For others, x = V xi with the test space W = Q V, V^T Q^T E V = I, and

.. math:: \dot\xi = V^\top Q^\top (J - R)\,Q V\,\xi + V^\top Q^\top B u

is port-Hamiltonian again (Wolf, Lohmann, Eid, Kotyczka, Eur. J. Control 16, 2010).
"""

from typing import Any

import numpy as np
import scipy.linalg

from poinsot.analysis.conversion import to_pymor
from poinsot.analysis.eigenmodes import eigen
from poinsot.analysis.elimination import null_space_of
from poinsot.analysis.linear import LinearPHSystem
from poinsot.analysis.minimal_form import MinimalForm
from poinsot.elements import reduction
from poinsot.errors import InputError, NoEffectError, StructureError, optional
from poinsot.ph.dependence import dependent_rows, row_lengths
from poinsot.ph.matrices import Array, dense
from poinsot.ph.system import State

#: Part of a mode that ports see below which it is not theirs.
SEEN = 1e-9
#: Lowest part of the largest stiffness, or energy, that is not zero.
ZERO = 1e-11
#: Feed-through that positive-real balancing is given, as a part of the largest gain.
FEED_THROUGH = 1e-8


def in_energy(system: LinearPHSystem, V: Array) -> MinimalForm:
    """Project on x = V xi by energy."""
    E, Q = system.matrix_E, system.matrix_Q
    energy = V.T @ np.asarray(Q.T @ (E @ V))
    require_energy(system, energy)
    V = V @ np.linalg.inv(np.linalg.cholesky((energy + energy.T) / 2)).T
    W, r = np.asarray(Q @ V), V.shape[1]
    J, R = (W.T @ np.asarray(a @ W) for a in (system.matrix_J, system.matrix_R))
    return _first_order(system, J, R, W.T @ dense(system.matrix_B), np.eye(r), V)


def _first_order(
    system: LinearPHSystem, J: Array, R: Array, B: Array, Q: Array, V: Array
) -> MinimalForm:
    return MinimalForm(
        name=system.name,
        states=(State("xi", V.shape[1]),),
        ports=system.ports,
        matrix_E=np.eye(V.shape[1]),
        matrix_J=(J - J.T) / 2,
        matrix_R=(R + R.T) / 2,
        matrix_B=B,
        matrix_Q=Q,
        about=system.about,
        V=V,
    )


def require_energy(system: LinearPHSystem, energy: Array) -> None:
    """Refuse energies that are not positive, as of rigid motions and unstable equilibria."""
    scale = np.sqrt(abs(np.diagonal(energy)))
    if np.all(scale > 0) and np.linalg.eigvalsh(energy / scale[:, None] / scale)[0] > ZERO:
        return
    raise StructureError(
        f"system '{system.name}': its energy is not positive definite, for example because of a "
        "rigid motion; use the methods 'krylov', 'modal' or 'craig-bampton', which do not need "
        "this for mechanical systems"
    )


def modal(small: MinimalForm, order: int) -> Array:
    """Return the slowest modes that ports see; displacements of a mechanical system."""
    if _is_mechanical(small):
        squares, Phi = scipy.linalg.eigh(small.block("K"), small.block("M"))
        seen = _seen(abs(small.block("B").T @ Phi))
        chosen = np.flatnonzero(seen)[np.argsort(abs(squares[seen]), kind="stable")]
        return np.asarray(Phi[:, chosen[: order // 2]])
    F = np.asarray(np.linalg.solve(dense(small.matrix_E), dense(small.matrix_A)), float)
    values, shapes, _, _ = eigen(F)
    kept = np.flatnonzero((values.imag >= 0) & _seen(np.abs(dense(small.matrix_C) @ shapes)))
    columns = list[Array]()
    for k in kept[np.argsort(abs(values[kept]), kind="stable")]:
        shape = shapes[:, k]
        pair = [shape.real, shape.imag] if values[k].imag else [shape.real]
        if len(columns) + len(pair) > order:
            break
        columns += pair
    return np.column_stack(columns)


def _seen(amplitudes: Array) -> Any:
    size = np.max(amplitudes, axis=1, initial=0.0)
    return np.any(amplitudes > SEEN * np.where(size > 0, size, 1.0)[:, None], axis=0)


def _is_mechanical(small: MinimalForm) -> bool:
    return [s.name for s in small.states] == ["q", "v"]


def craig_bampton(small: MinimalForm, order: int) -> Array:
    """Return displacements by ports, as far as statics goes, and slowest modes with ports held.

    The first coordinates are the displacements of ports, in their order.
    """
    if not _is_mechanical(small):
        raise InputError(
            f"system '{small.name}' has no displacements at ports, which Craig-Bampton needs; use "
            "another method"
        )
    M, K, B = (small.block(a) for a in "MKB")
    m = B.shape[1]
    if np.linalg.matrix_rank(B / (np.linalg.norm(B, axis=0) + 1e-300), tol=1e-10) < m:
        raise InputError(
            f"system '{small.name}': its {m} inputs have dependent displacements, which "
            "Craig-Bampton cannot use as coordinates; leave out a port, or use another method"
        )
    if order // 2 < m:
        raise InputError(
            f"craig-bampton: order {order} is too small for the displacements of {m} inputs; "
            f"choose at least {2 * m}"
        )
    P = null_space_of(B.T)
    held = P.T @ K @ P
    if held.size and np.linalg.eigvalsh(held)[0] <= ZERO * np.linalg.norm(K, 2):
        raise InputError(
            f"system '{small.name}': parts of it can move freely while its ports are fixed, so "
            "that static displacements do not exist; use 'krylov' or 'modal'"
        )
    modes = min(order // 2 - m, P.shape[1])
    moved = np.asarray(np.linalg.pinv(B.T), float)
    return reduction.craig_bampton(M, K, moved, P, modes)


def irka(small: MinimalForm, order: int) -> MinimalForm:
    """Return the system of pH-IRKA, optimal interpolation at mirrored poles, by pyMOR."""
    reductors = optional("pymor.reductors.ph.ph_irka", "analysis")
    E, Q = dense(small.matrix_E), dense(small.matrix_Q)
    require_energy(small, Q.T @ E)
    poles = np.linalg.eigvals(np.linalg.solve(E, dense(small.matrix_A)))
    rates = abs(poles[abs(poles) > ZERO * np.max(abs(poles))])
    # Ports that constraints take up, or that act like others, span no directions of their own.
    acts = dense(small.matrix_B).T
    sizes = row_lengths(acts)
    acts = np.where((sizes > ZERO * np.max(sizes, initial=0.0))[:, None], acts, 0.0)
    own = np.eye(small.m)[~dependent_rows(acts, SEEN)]
    if not len(own):
        raise NoEffectError(
            f"system '{small.name}': no port has an effect on it, so that there is nothing to "
            "keep; choose other ports"
        )
    b = np.tile(own, (order // len(own) + 1, 1))[:order]
    start = {"sigma": np.geomspace(np.min(rates), np.max(rates), order), "b": b, "c": b}
    with _quiet():
        reductor = reductors.PHIRKAReductor(to_pymor(small))
        try:
            reductor.reduce(start, projection="orth")
        except ValueError as error:  # its vectors depend on each other, and it goes on with fewer
            raise InputError(
                f"reduce: the ports of system '{small.name}' reach fewer than {order} independent "
                "states, so that 'irka' cannot reach this order; choose a lower one"
            ) from error
    return in_energy(small, _columns(reductor.V))


def positive_real(small: MinimalForm, order: int) -> MinimalForm:
    """Return the system of positive-real balanced truncation, by pyMOR.

    A feed-through, which its Riccati equations ask for, is given to the system and taken back: with
    the available storage X of the truncated system as energy, A X^-1 = J - R, and B becomes the
    mean of itself and X^-1 C^T.
    """
    iosys, reductors = (
        optional("pymor.models.iosys", "analysis"),
        optional("pymor.reductors.bt", "analysis"),
    )
    E = dense(small.matrix_E)
    A, B, C = (
        np.linalg.solve(E, dense(small.matrix_A)),
        dense(small.matrix_B),
        dense(small.matrix_C),
    )
    B = np.asarray(np.linalg.solve(E, B), float)
    poles = np.linalg.eigvals(A)
    if np.max(poles.real) > -ZERO * np.max(abs(poles)):
        raise InputError(
            f"system '{small.name}': it has undamped motions, for which the positive-real Riccati "
            "equations have no solution; use 'krylov', 'modal' or 'craig-bampton'"
        )
    one = np.eye(len(A))
    gain = max(np.linalg.norm(C @ np.linalg.solve(1j * w * one - A, B), 2) for w in abs(poles))
    D = FEED_THROUGH * gain * np.eye(small.m)
    with _quiet():
        reductor = reductors.PRBTReductor(iosys.LTIModel.from_matrices(A, B, C, D))
        reductor.reduce(order, projection="sr")
        X = np.diag(reductor._hankel_svd()[1][:order])
    V, W = _columns(reductor.V), _columns(reductor.W)
    L = W.T @ A @ V @ np.linalg.inv(X)
    B = (W.T @ B + np.linalg.solve(X, (C @ V).T)) / 2
    return _first_order(small, (L - L.T) / 2, -(L + L.T) / 2, B, X, V)


def _columns(vectors: Any) -> Array:
    """Return vectors of pyMOR as columns; older ones have them as rows."""
    found = np.asarray(vectors.to_numpy())
    return found if found.shape[0] == vectors.dim else found.T


def _quiet() -> Any:
    """Keep pyMOR's progress off the terminal."""
    return optional("pymor.core.logger", "analysis").log_levels({"pymor": "ERROR"})
