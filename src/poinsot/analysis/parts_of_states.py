r"""Reduction of selected states; all others and all constraints are kept.

Momenta are reduced by :math:`p_f \approx V_f\, p_f'` [BAPM21, eq. (46)], with x = V x', V =
diag(V_f, I) and efforts Q V = W Q':

.. math:: W^\top E V\, \dot x' = W^\top (J - R)\, W Q' x' + W^\top B u .

In mechanical systems, displacements are reduced with velocities, q_f = V_f q_f'. Constraints that
every state of the reduced space satisfies, G V = 0, are removed with their multipliers.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.linear import LinearPHSystem, sparse
from poinsot.analysis.minimal_form import ProjectedForm, mechanical
from poinsot.errors import InputError, StructureError, did_you_mean
from poinsot.ph.matrices import Array, dense, large, nonzero
from poinsot.ph.system import State

Indices = NDArray[np.intp]
#: Singular values of a space below this part of the largest are none of it.
INSIDE = 1e-9
#: Constraints are fulfilled by a space if no more than this part of their terms is left.
FULFILLED = 1e-10


def chosen(system: LinearPHSystem, names: str | Sequence[str]) -> tuple[Indices, int]:
    """Return which states are reduced, or which displacements, and how many these are for each.

    Of a mechanical system a displacement stands for its velocity, too.
    """
    places = list[Indices]()
    for name in [names] if isinstance(names, str) else names:
        if name not in system.slices:
            raise InputError(f"reduce: no state '{name}'; {did_you_mean(name, system.slices)}")
        places.append(np.arange(system.n)[system.slices[name]])
    picked = np.unique(np.concatenate([np.arange(0), *places]))
    if not picked.size:
        raise InputError("reduce: states is empty; give the names of states to reduce")
    if np.any(np.asarray(system.algebraic)[picked]):
        raise InputError("reduce: multipliers cannot be reduced; name states with a derivative")
    found = mechanical(system)
    if found is None:
        return picked, 1
    return np.unique(np.where(picked < found[0], picked, picked - found[0])), 2


def on_states(system: LinearPHSystem, picked: Indices, basis: Array, room: int) -> ProjectedForm:
    """Project on the rows of a space that belong to some states, the others kept."""
    U, sizes, _ = np.linalg.svd(basis[picked], full_matrices=False)
    Vf = U[:, : min(room, int(np.count_nonzero(sizes > INSIDE * np.max(sizes, initial=0.0))))]
    found, V = mechanical(system), _beside(system.n, picked, Vf)
    if found is not None:
        k, _ = found
        T = _beside(k, picked, Vf)
        V = sparse(sp.block_diag([T, T, sp.eye_array(system.n - 2 * k)]))
        gone = np.concatenate([picked, k + picked])
        q, v = _kept(system, gone, 0, k), _kept(system, gone, k, 2 * k)
        rest = _kept(system, gone, 2 * k, system.n)
        states = [State("reduced.q", Vf.shape[1]), *q, State("reduced.v", Vf.shape[1]), *v, *rest]
        return _made(system, states, V, V)
    others = np.setdiff1d(np.arange(system.n), picked)
    Q = sparse(system.matrix_Q)
    if nonzero(Q[picked][:, others]) or nonzero(Q[others][:, picked]):
        raise StructureError(
            f"system '{system.name}': efforts of the states to reduce depend on other states; "
            "include all states that share this energy"
        )
    W = _beside(system.n, picked, scipy.linalg.orth(Q[picked][:, picked] @ Vf))
    states = [State("reduced", Vf.shape[1]), *_kept(system, picked, 0, system.n)]
    return _made(system, states, V, W)


def _beside(n: int, picked: Indices, Vf: Array) -> sp.csr_array:
    """Return diag(V_f, I) with the picked rows at their places, columns of V_f first."""
    others = np.setdiff1d(np.arange(n), picked)
    order = np.argsort(np.concatenate([picked, others]))
    both = sp.block_diag([Vf, sp.eye_array(others.size)], format="csr")
    return sp.csr_array(both[order])


def _kept(system: LinearPHSystem, gone: Indices, first: int, last: int) -> list[State]:
    """Return what is left of the states between two places."""
    left = np.setdiff1d(np.arange(first, last), gone)
    counts = {
        state: int(np.count_nonzero((left >= at.start) & (left < at.stop)))
        for state, at in zip(system.states, system.slices.values(), strict=True)
    }
    return [replace(state, size=count) for state, count in counts.items() if count]


def _made(
    system: LinearPHSystem, states: list[State], V: sp.csr_array, W: sp.csr_array
) -> ProjectedForm:
    named = np.repeat(np.arange(len(states)), [state.size for state in states])
    kept = ~_fulfilled(system, V, W)
    V, W = sparse(V[:, kept]), sparse(W[:, kept])
    sizes = np.bincount(named[kept], minlength=len(states))
    left = [replace(s, size=int(size)) for s, size in zip(states, sizes, strict=True) if size]
    pairs = {"E": V, "J": W, "R": W, "Q": V}
    projected = {
        f"matrix_{letter}": sparse(W.T @ sparse(getattr(system, f"matrix_{letter}")) @ right)
        for letter, right in pairs.items()
    }
    # As the package keeps them: dense where they are small.
    known = {name: a if large(V.shape[1]) else a.toarray() for name, a in projected.items()}
    known["matrix_J"] = 0.5 * (known["matrix_J"] - known["matrix_J"].T)
    known["matrix_R"] = 0.5 * (known["matrix_R"] + known["matrix_R"].T)
    return ProjectedForm(
        name=system.name,
        states=tuple(left),
        ports=system.ports,
        matrix_B=np.asarray(W.T @ dense(system.matrix_B)),
        about=system.about,
        V=V,
        **known,
    )


def _fulfilled(system: LinearPHSystem, V: sp.csr_array, W: sp.csr_array) -> NDArray[np.bool_]:
    """Return which multipliers belong to constraints that hold on the whole reduced space."""
    L, B = sparse(system.conduction), sparse(system.matrix_B)
    free = abs(sparse(system.matrix_E) @ V).max(axis=0).toarray().reshape(-1) == 0
    acts = abs(W.T @ B).max(axis=1).toarray().reshape(-1) > 0
    found, terms = sparse(W.T @ L @ W), (sparse(W.T @ L), sparse(L @ W))
    rows, columns = (
        abs(found).max(axis=axis).toarray().reshape(-1)
        <= FULFILLED * abs(whole).max(axis=axis).toarray().reshape(-1)
        for axis, whole in zip((1, 0), terms, strict=True)
    )
    return np.asarray(free & ~acts & rows & columns)
