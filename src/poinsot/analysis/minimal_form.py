r"""The explicit form without constraints, by a null space [BAPM21, eq. (47)].

With G p = 0 and range P = null G, velocities are :math:`p = P \hat p`, and multipliers drop out of

.. math:: \hat M\, \dot{\hat p} = (\hat J - \hat R)\, \hat p + \hat B u, \qquad
          \hat M = P^\top M P, \quad \hat J = P^\top J P, \quad \hat B = P^\top B .

With coordinates as well, forces are those of :math:`\hat K = P^\top K P`. Any other
port-Hamiltonian system is restricted to states x = V xi on which all constraints hold, and to the
Dirac structure that is left on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.elimination import eliminate, null_space_of
from poinsot.analysis.linear import LinearPHSystem, as_linear, sparse, symmetric
from poinsot.errors import InputError, StructureError
from poinsot.ph.dirac import require_structure
from poinsot.ph.linear import LinearSystem
from poinsot.ph.matrices import (
    Array,
    Matrix,
    assemble,
    dense,
    diagonal,
    is_sparse,
    largest,
    nonzero,
)
from poinsot.ph.system import State

#: Energy or power that is left over, as a part of the whole, by round-off.
TOLERANCE = 1e-8
#: Round-off of entries.
SAME = 1e-13


@dataclass(frozen=True, eq=False)
class ProjectedForm(LinearPHSystem):
    """A port-Hamiltonian system in fewer states xi than the one before, x = V xi."""

    V: Matrix | None = None


@dataclass(frozen=True, eq=False)
class MinimalForm(ProjectedForm):
    """An explicit linear port-Hamiltonian system in independent states.

    For mechanical systems xi = (q, v) are the displacements and velocities of the degrees of
    freedom: E = diag(I, M), Q = diag(K, I), J = [[0, I], [-I, J_v]].
    """

    @property
    def freedoms(self) -> int:
        """Number of degrees of freedom: half the number of states."""
        return self.n // 2

    def block(self, matrix: str) -> Array:
        """Return M, K, J, R (of velocities) or B of the mechanical form, by its letter."""
        half = self.n // 2
        if [s.name for s in self.states] != ["q", "v"]:
            raise InputError(
                f"system '{self.name}' has no coordinates and velocities; use its matrices E, J, "
                "R, Q and B"
            )
        v = slice(half, self.n)
        blocks = {
            "M": dense(self.matrix_E)[v, v],
            "K": dense(self.matrix_Q)[:half, :half],
            "J": dense(self.matrix_J)[v, v],
            "R": dense(self.matrix_R)[v, v],
            "B": dense(self.matrix_B)[v],
        }
        if matrix not in blocks:
            raise InputError(f"minimal: no block '{matrix}'; known: {', '.join(blocks)}")
        return blocks[matrix]


def minimal(linear: LinearSystem) -> MinimalForm:
    """Return the explicit minimal form of a linear port-Hamiltonian system [BAPM21, eq. (47)].

    If all constraints are those of a mechanical system in (q, v, multipliers), it has the blocks M,
    K, J, R and B; see `MinimalForm.block`.
    """
    if not isinstance(linear, LinearSystem):
        raise StructureError(
            f"system '{getattr(linear, 'name', linear)}' is not port-Hamiltonian and has no "
            "minimal port-Hamiltonian form; use its state_space()"
        )
    system = as_linear(linear)
    assert isinstance(system, LinearPHSystem)
    found = mechanical(system)
    if found is None:
        return _of_any(system)
    k, G = found
    return projected(system, k, null_space_of(G if is_sparse(system.matrix_J) else dense(G)))


def mechanical(system: LinearPHSystem) -> tuple[int, Matrix] | None:
    """Return the number of velocities and the constraints on them, if that is what it is made of.

    Then E = diag(I, M, 0), Q = diag(K, I, I), and the first row of J is (0, I, 0).
    """
    E, J, Q = (sparse(a) for a in (system.matrix_E, system.matrix_J, system.matrix_Q))
    lam = int(np.count_nonzero(~_trailing(E)))
    k, odd = divmod(lam, 2)
    if odd or not k:
        return None
    one = sparse(sp.eye_array(system.n))
    q, v, rest = slice(0, k), slice(k, lam), slice(lam, None)
    alike = (
        _same(E[q, q], one[q, q])
        and not nonzero(E[q, v])
        and not nonzero(E[v, q])
        and _same(Q[v], one[v])
        and _same(Q[rest], one[rest])
        and largest(Q[q, v]) <= SAME * max(largest(Q[q, q]), largest(system.conduction))
        and not nonzero(Q[q, rest])
        and _same(J[q], one[v])
        and not nonzero(J[rest, rest])
        and not nonzero(sparse(system.matrix_R)[rest])
        and not nonzero(sparse(system.matrix_B)[rest])
    )
    return (k, J[rest, v]) if alike else None


def _same(a: Any, b: Any) -> bool:
    return bool(abs(a - b).max() <= SAME) if a.shape[0] else True


def _trailing(E: Any) -> NDArray[np.bool_]:
    """Return which states at the end have no derivative."""
    empty = ~(abs(E).sum(axis=0) > 0) & ~(abs(E).sum(axis=1) > 0)
    return np.logical_and.accumulate(np.asarray(empty)[::-1])[::-1]


def projected(system: LinearPHSystem, k: int, P: Matrix) -> MinimalForm:
    """Project k coordinates and velocities on q = P q', v = P v', where all constraints hold."""
    v, f = slice(k, 2 * k), P.shape[1]
    M, R, J = (P.T @ a[v, v] @ P for a in (system.matrix_E, system.matrix_R, system.matrix_J))
    K = P.T @ system.matrix_Q[:k, :k] @ P
    one, B = diagonal(np.ones(f)), P.T @ dense(system.matrix_B)[v]
    square = 2 * f, 2 * f
    return MinimalForm(
        name=system.name,
        states=(State("q", f), State("v", f)) if f else (),
        ports=system.ports,
        matrix_E=assemble(square, [(0, 0, one), (f, f, symmetric(M))]),
        matrix_J=assemble(square, [(0, f, one), (f, 0, -1.0 * one), (f, f, 0.5 * (J - J.T))]),
        matrix_R=assemble(square, [(f, f, symmetric(R))]),
        matrix_B=np.vstack([np.zeros((f, system.m)), B]),
        matrix_Q=assemble(square, [(0, 0, symmetric(K)), (f, f, one)]),
        about=system.about,
        V=assemble((system.n, 2 * f), [(0, 0, P), (k, f, P)]),
    )


def _even(a: Array) -> Array:
    return np.asarray((a + a.T) / 2)


def _of_any(system: LinearPHSystem) -> MinimalForm:
    """Restrict states to x = V xi, and the structure to them.

    For every effort e = dH/dxi there are z and xi' with E V xi' = (J - R) z and V^T E^T z = e: the
    map from e to xi' is J - R of what is left.
    """
    part = eliminate(system)
    if part.feedthrough:
        raise StructureError(
            f"system '{system.name}': it has direct feedthrough, which the minimal form cannot "
            "represent; use state_space()"
        )
    V, E, L = part.V, dense(system.matrix_E), dense(system.conduction)
    r, n = V.shape[1], system.n
    both = np.block([[E @ V, -L], [np.zeros((r, r)), (E @ V).T]])
    right = np.zeros((n + r, r + system.m))
    right[n:, :r], right[:n, r:] = np.eye(r), dense(system.matrix_B)
    sizes = np.max(abs(both), axis=1)
    sizes[sizes == 0] = 1.0
    found = np.linalg.lstsq(both / sizes[:, None], right / sizes[:, None], rcond=1e-12)[0][:r]
    left, B = found[:, :r], found[:, r:]
    Q = _even(V.T @ E.T @ dense(system.matrix_Q) @ V)
    if np.max(abs(left @ Q - part.F), initial=0.0) > TOLERANCE * np.max(abs(part.F), initial=0.0):
        raise StructureError(
            f"system '{system.name}': the elimination of constraints does not preserve its "
            "port-Hamiltonian structure; use state_space()"
        )
    J, R = (left - left.T) / 2, -(left + left.T) / 2
    if np.max(abs(R), initial=0.0) <= 1e-12 * np.max(abs(left), initial=0.0):
        R = np.zeros_like(R)
    require_structure(system.name, J, None, Q)
    return MinimalForm(
        name=system.name,
        states=(State("xi", r),) if r else (),
        ports=system.ports,
        matrix_E=np.eye(r),
        matrix_J=J,
        matrix_R=R,
        matrix_B=B,
        matrix_Q=Q,
        about=system.about,
        V=V,
    )
