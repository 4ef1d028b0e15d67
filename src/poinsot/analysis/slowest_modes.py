r"""The slowest modes of a large mechanical system, by shift and invert on the sparse pencil.

Constraints are written on displacements, K dq = 0, which leaves no constants of motion, and those
that repeat others are left out:

.. math::

    s \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} =
    \begin{bmatrix} A_{qq} & A_{qv} & 0 \\ A_{vq} & A_{vv} & -K^\top \\ K & 0 & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} .
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.elimination import equilibrated
from poinsot.analysis.linear import AnyLinear, sparse
from poinsot.errors import SingularPencilError
from poinsot.ph.dependence import spanning_rows, unit_rows
from poinsot.ph.equations import independent

Complex = NDArray[np.complex128]
#: Rows of constraints with less than this part that is new repeat others.
DEPENDENT = 1e-10
#: Eigenvalues below this part of the shift are zero: double ones are known to a root of round-off.
ZERO = 1e-5
#: Shift as a part of the fastest rate in the pencil where rigid motions forbid zero.
SHIFT = 1e-4
#: Directions of rigid motions that are closer than this are one.
SAME = 1e-4
#: Solutions of the shifted pencil are trusted up to this part.
ACCURATE = 1e-8


def slowest(linear: AnyLinear, count: int) -> tuple[Complex, Complex, int, int] | None:
    """Return eigenvalues nearest zero and their shapes, those of rigid motions first.

    With the number of rigid motions and of those that go on by themselves. None if the system is
    not a mechanical one at rest.
    """
    k = None if linear.about is None else linear.about.freedoms
    if k is None or not sp.issparse(linear.matrix_E):
        return None
    E, A, L = (sparse(a) for a in (linear.matrix_E, linear.matrix_A, linear.conduction))
    q, v, lam = slice(0, k), slice(k, 2 * k), slice(2 * k, linear.n)
    if L[lam, q].count_nonzero() or L[lam, lam].count_nonzero() or A[lam, q].count_nonzero():
        return None
    K = sparse(L[lam, v])
    kept = np.arange(K.shape[0])
    if K.shape[0] and not independent(K, DEPENDENT, width=3):
        kept = spanning_rows(sparse(unit_rows(K)[0]), DEPENDENT, width=3)
    used = np.concatenate([np.arange(2 * k), 2 * k + kept])
    rest = sp.csr_array((kept.size, k + kept.size))
    E, A = E[used][:, used], sp.vstack([A[: 2 * k][:, used], sp.hstack([K[kept], rest])])
    values, vectors, rigid, drifting = _nearest_zero(linear.name, E, A, k, count)
    shapes = np.zeros((linear.n, values.size), dtype=complex)
    shapes[used] = vectors
    return values, shapes, rigid, drifting


def _nearest_zero(
    name: str, E: Any, A: Any, k: int, count: int
) -> tuple[Complex, Complex, int, int]:
    rows, columns = equilibrated(E, A)
    left, right = sp.diags_array(rows), sp.diags_array(columns)
    E, A = sp.csc_array(left @ E @ right), sp.csc_array(left @ A @ right)
    fastest = float(abs(A).max() / abs(E).max())
    # Zero is the best shift unless it is an eigenvalue, which its factors tell.
    found = _around(E, A, 0.0, 2 * count + 2)
    shift = 0.0
    if found is None:
        shift = SHIFT * fastest
        for _ in range(4):
            found = _around(E, A, shift, 2 * count + 14)
            if found is None:
                raise SingularPencilError(
                    f"system '{name}': the pencil (E, A) is singular: it has no unique solution at "
                    f"s = 0 nor at s = {shift:.3g}"
                )
            sizes = abs(found[0])
            moving = sizes[sizes > ZERO * shift]
            if not moving.size or np.min(moving) >= shift / 10:
                break
            shift = float(np.min(moving))
    assert found is not None
    values, vectors = found
    still = abs(values) <= ZERO * shift
    rigid = np.zeros((len(rows), 0))
    if still.any():
        parts = np.hstack([vectors[:k, still].real, vectors[:k, still].imag])
        parts /= np.maximum(np.linalg.norm(parts, axis=0), np.finfo(float).tiny)
        U, s, _ = np.linalg.svd(parts, full_matrices=False)
        rigid = np.zeros((len(rows), int(np.count_nonzero(s > SAME * s[0]))))
        rigid[:k] = U[:, : rigid.shape[1]]
    order = np.flatnonzero(~still)[np.argsort(abs(values[~still]), kind="stable")]
    whole = np.hstack([rigid, vectors[:, order]]) * columns[:, None]
    number = rigid.shape[1]
    drifting = max(0, int(np.count_nonzero(still)) - number)
    zeros = np.zeros(number, dtype=complex)
    return np.append(zeros, values[order]), whole.astype(complex), number, drifting


def _around(E: Any, A: Any, shift: float, count: int) -> tuple[Complex, Complex] | None:
    """Return the eigenvalues nearest to a shift; None if the pencil is singular there."""
    from scipy.sparse.linalg import LinearOperator, eigs, splu

    n = E.shape[0]
    try:
        lu = splu(sp.csc_array(A - shift * E))
    except RuntimeError:  # exactly singular
        return None
    random = np.random.default_rng(0)
    start = np.asarray(lu.solve(E @ random.standard_normal(n)))
    # Twice: what is left of the start is where constraints hold, and of ordinary size.
    start = np.asarray(lu.solve(E @ start))
    right = E @ random.standard_normal(n)
    x = lu.solve(right)
    residual = np.max(abs((A - shift * E) @ x - right))
    growth = np.max(abs(x)) * np.finfo(float).eps
    if not np.all(np.isfinite(start)) or residual > ACCURATE or growth > ACCURATE:
        return None
    operator = LinearOperator((n, n), matvec=lambda b: lu.solve(E @ b), dtype=float)
    wanted = min(count, n - 2)
    values, vectors = eigs(operator, k=wanted, v0=start, tol=0.0)
    known = abs(values) > np.finfo(float).eps * np.max(abs(values))
    return shift + 1 / values[known], vectors[:, known]
