r"""Port-Hamiltonian structure of linear systems, computed from their matrices.

.. math:: A = (J - R)\,Q, \qquad C = B^\top Q, \qquad E^\top Q = Q^\top E .
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.linear import (
    AnyLinear,
    LinearDescriptor,
    LinearPHSystem,
    is_identity,
    sparse,
    symmetric,
)
from poinsot.ph.dirac import semidefinite_defect
from poinsot.ph.matrices import (
    Matrix,
    Vector,
    add,
    assemble,
    dense,
    diagonal,
    is_sparse,
    nonzero,
    scale_columns,
)

#: Defect of a structure, relative to the sizes of its terms, that counts as round-off.
TOLERANCE = 1e-8
#: So many columns of a sparse matrix are solved for at a time.
COLUMNS = 256


def tidy(a: Any) -> Matrix:
    """Return a matrix as the package keeps it: sparse rows if it is large."""
    if is_sparse(a):
        tidy = sp.csr_array(a)
        tidy.eliminate_zeros()
        return tidy
    return np.asarray(a)


def conduction(left: Matrix, L: Matrix, k: int | None, gyration: Matrix | None) -> Matrix:
    """Return J - R in free coordinates, J skew and R symmetric to the last bit.

    Those of k coordinates with q' = v are so exactly; `gyration` is that of velocities where it is
    another one than the system's.
    """
    J, R = (left @ (0.5 * add(L, side * L.T)) @ left.T for side in (-1.0, 1.0))
    found = add(0.5 * add(J, -1.0 * J.T), symmetric(R) if nonzero(R) else None)
    if k is None:
        return tidy(found)
    one, n = diagonal(np.ones(k)), found.shape[0]
    own: Matrix = found[k:, k:]
    if gyration is not None:
        other = add(symmetric(own[:k, :k]), -1.0 * gyration)
        own = add(own, assemble(own.shape, [(0, 0, add(other, -1.0 * own[:k, :k]))]))
    return tidy(assemble((n, n), [(0, k, one), (k, 0, -1.0 * one), (k, k, own)]))


def costate(plain: LinearDescriptor, mechanical: int) -> Matrix:
    """Return Q with (J - R) Q = A of a mechanical system, as equations with derivatives tell it.

    Efforts of multipliers are these themselves. Velocities follow from the equation of coordinates,
    and forces from that of momentum.
    """
    L, A, n = plain.conduction, plain.matrix_A, plain.n
    q, w, lam = slice(0, mechanical), slice(mechanical, 2 * mechanical), slice(2 * mechanical, n)
    Z, one = L[q, w], diagonal(np.ones(n - 2 * mechanical))
    Q_w = A[q] if is_identity(Z) else _solved(Z, A[q])
    forces = add(A[w], -(L[w, w] @ Q_w))
    if one.shape[0]:
        forces = add(forces, -assemble((mechanical, n), [(0, lam.start, L[w, lam])]))
    Q_q = -forces if is_identity(Z) else -_solved(Z.T, forces)
    return assemble((n, n), [(0, 0, Q_q), (mechanical, 0, Q_w), (lam.start, lam.start, one)])


def _solved(a: Matrix, b: Matrix) -> Matrix:
    if is_sparse(a):
        from scipy.sparse.linalg import splu

        return sp.csr_array(splu(sp.csc_array(a)).solve(dense(b)))
    return np.linalg.solve(dense(a), dense(b))


def costate_of_any(plain: LinearDescriptor, dz: Matrix) -> Matrix | None:
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
        # Few columns have entries, and few at a time take little room.
        right, rows = sp.csc_array(D[moving]), sp.eye_array(plain.n, format="csr")[:, moving]
        for some in _columns(right):
            found = lu.solve(dense(right[:, some]))
            if not np.all(np.isfinite(found)):
                return None
            places = sp.eye_array(plain.n, format="csr")[some]
            dz = add(dz, sparse(rows @ sparse(found) @ places))
        return dz
    more = np.zeros(dz.shape)
    more[moving] = np.linalg.lstsq(dense(L)[:, moving], dense(D), rcond=1e-11)[0]
    return dense(dz) + more


def _columns(a: sp.csc_array) -> list[NDArray[np.intp]]:
    """Return the columns of a matrix that have entries, a few at a time."""
    used = np.flatnonzero(np.diff(a.indptr))
    return np.array_split(used, max(1, -(-used.size // COLUMNS))) if used.size else []


def with_structure(plain: LinearDescriptor, Q: Matrix | None, sizes: Vector) -> AnyLinear:
    """Return the port-Hamiltonian form with costates Q x if it is one, else the plain form.

    `sizes` are those of the states, by which energies and powers of all kinds are compared.
    """
    why = "its efforts do not follow from its equations"
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
        matrix_J=tidy(J),
        matrix_R=tidy(R),
        matrix_B=plain.matrix_B,
        matrix_Q=tidy(Q),
        about=plain.about,
    )


def _defect(plain: LinearDescriptor, Q: Matrix, sizes: Vector) -> str:
    """Return what keeps the equations with costates Q x from being port-Hamiltonian."""
    E, L, B = plain.matrix_E, plain.conduction, plain.matrix_B
    efforts = np.asarray(abs(Q) @ sizes)
    energy = E.T @ Q
    stored = float(np.max(sizes * (abs(E.T) @ efforts), initial=0.0))
    if _scaled(add(energy, -1.0 * energy.T), sizes, sizes) > TOLERANCE * stored:
        return "E^T Q is not symmetric: forces have no potential, or the state is in motion"
    power = float(np.max(efforts * (abs(L) @ efforts), initial=0.0))
    if _scaled(add(plain.matrix_A, -1.0 * (L @ Q)), efforts, sizes) > TOLERANCE * power:
        return (
            "(J - R) Q is not A: the state is in motion, or coordinates are coupled to velocities"
        )
    for row, other in zip(dense(plain.matrix_C), dense(B.T @ Q), strict=True):
        if np.max(abs(row - other) * sizes) > TOLERANCE * np.max((abs(row) + abs(other)) * sizes):
            return "B^T Q is not C: port matrices change along the motion"
    powers = scale_columns(scale_columns(-1.0 * symmetric(L), efforts).T, efforts)
    if semidefinite_defect(powers) > TOLERANCE:
        return "R is not positive semi-definite: some law supplies energy"
    return ""


def _scaled(a: Matrix, rows: Vector, columns: Vector) -> float:
    """Return the largest entry of a matrix whose rows and columns are measured."""
    if is_sparse(a):
        entries = sp.coo_array(a)
        i, j = entries.coords
        return float(np.max(abs(entries.data) * rows[i] * columns[j], initial=0.0))
    return float(np.max(abs(dense(a)) * rows[:, None] * columns, initial=0.0))
