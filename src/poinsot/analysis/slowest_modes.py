r"""The slowest modes of a large mechanical system, by shift and invert on the sparse pencil.

Constraints are written on displacements, K dq = 0, which leaves no constants of motion, and those
that repeat others are left out:

.. math::

    s \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} =
    \begin{bmatrix} A_{qq} & A_{qv} & 0 \\ A_{vq} & A_{vv} & -K^\top \\ K & 0 & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} .
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.elimination import scales
from poinsot.analysis.linear import AnyLinear, sparse
from poinsot.errors import SingularPencilError
from poinsot.ph.dependence import spanning_rows, unit_rows
from poinsot.ph.equations import independent
from poinsot.ph.matrices import Array

Complex = NDArray[np.complex128]
#: Rows of constraints with less than this part that is new repeat others.
DEPENDENT = 1e-10
#: Eigenvalues below this part of the shift are zero: double ones are known to a root of round-off.
ZERO = 1e-5
#: Shift as a part of the fastest rate in the pencil where rigid motions forbid zero.
SHIFT = 1e-2
#: Directions of rigid motions that are closer than this are one.
SAME = 1e-6
#: How much larger than the largest entry of the pencil an eigenvalue may be.
FASTEST = 1e3
#: How often displacements are tried whether they stay.
REPEATS = 3
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
    values, vectors, rigid, drifting = _nearest_zero(linear, E, A, used, k, count)
    shapes = np.zeros((linear.n, values.size), dtype=complex)
    shapes[used] = vectors
    return values, shapes, rigid, drifting


def _nearest_zero(
    linear: AnyLinear, E: Any, A: Any, used: NDArray[np.intp], k: int, count: int
) -> tuple[Complex, Complex, int, int]:
    """Return eigenvalues nearest zero, and vectors of the states used, k displacements first."""
    columns = scales(linear)[1][used]
    sizes = [abs(part) @ columns for part in (E, A)]
    largest = np.max([part / (np.max(part) or 1.0) for part in sizes], axis=0)
    # A power of two rounds nothing: slow modes are differences of stiff entries.
    rows = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
    left, right = sp.diags_array(rows), sp.diags_array(columns)
    E, A = sp.csc_array(left @ E @ right), sp.csc_array(left @ A @ right)
    fastest = float(abs(A).max() / abs(E).max())
    # Zero is the best shift unless it is an eigenvalue, which its factors tell.
    inverse, shift = _Inverse.at(E, A, 0.0), 0.0
    values, vectors = inverse.largest(2 * count + 2) if inverse else _none(len(rows))
    still = np.zeros(values.size, dtype=bool)
    if inverse is None:
        shift = SHIFT * fastest
        for _ in range(4):
            inverse = _Inverse.at(E, A, shift)
            if inverse is None:
                raise SingularPencilError(
                    f"system '{linear.name}': the pencil (E, A) is singular: it has no unique "
                    f"solution at s = 0 nor at s = {shift:.3g}"
                )
            values, vectors = inverse.largest(2 * count + 14)
            still = abs(values) <= ZERO * shift
            slowest = float(np.min(abs(values[~still]), initial=np.inf))
            if slowest >= shift / 10:
                break
            shift = slowest
    rigid = _rigid(inverse, vectors[:k, still]) if inverse and still.any() else np.zeros((k, 0))
    order = np.flatnonzero(~still)[np.argsort(abs(values[~still]), kind="stable")]
    number, drifting = rigid.shape[1], max(0, int(np.count_nonzero(still)) - rigid.shape[1])
    whole = np.zeros((len(rows), number + order.size), dtype=complex)
    whole[:k, :number], whole[:, number:] = rigid, vectors[:, order]
    zeros = np.zeros(number, dtype=complex)
    whole *= columns[:, None]
    return np.append(zeros, values[order]), whole, number, drifting


def _none(n: int) -> tuple[Complex, Complex]:
    return np.zeros(0, dtype=complex), np.zeros((n, 0), dtype=complex)


def _rigid(inverse: "_Inverse", found: Complex) -> Array:
    """Return displacements that stay what they are under -shift (A - shift E)^-1 E.

    Of a double zero two vectors were found that differ by round-off; others die out.
    """
    k = len(found)
    parts = np.hstack([found.real, found.imag])
    parts = parts / np.maximum(np.linalg.norm(parts, axis=0), np.finfo(float).tiny)
    for _ in range(REPEATS):
        U, s, _ = np.linalg.svd(parts, full_matrices=False)
        kept = U[:, s > SAME * s[0]]
        right = np.zeros((inverse.E.shape[0], kept.shape[1]))
        right[:k] = kept
        parts = -inverse.shift * np.asarray(inverse(inverse.E @ right))[:k]
    U, s, _ = np.linalg.svd(parts, full_matrices=False)
    return np.asarray(U[:, s > 0.5])


@dataclass(frozen=True, eq=False)
class _Inverse:
    """(A - shift E)^-1 by its factors, refined once: slow modes are small differences."""

    E: Any
    shifted: Any
    shift: float
    lu: Any

    @classmethod
    def at(cls, E: Any, A: Any, shift: float) -> "_Inverse | None":
        """Return the inverse at a shift; None if the pencil is singular there."""
        from scipy.sparse.linalg import splu

        shifted = sp.csc_array(A - shift * E)
        try:
            inverse = cls(E, shifted, shift, splu(shifted))
        except RuntimeError:  # exactly singular
            return None
        right = E @ np.random.default_rng(0).standard_normal(E.shape[0])
        x = inverse(right)
        if not np.all(np.isfinite(x)):
            return None
        size = float(np.max(abs(x)))
        if np.max(abs(shifted @ x - right)) > ACCURATE * (1 + size):
            return None
        singular = shift == 0 and size * np.finfo(float).eps > ACCURATE
        return None if singular else inverse

    def __call__(self, b: Array) -> Array:
        """Return the solution of (A - shift E) x = b."""
        x = self.lu.solve(b)
        return np.asarray(x + self.lu.solve(b - self.shifted @ x))

    def largest(self, count: int) -> tuple[Complex, Complex]:
        """Return the eigenvalues nearest to the shift, and their vectors."""
        from scipy.sparse.linalg import LinearOperator, eigs

        n = self.E.shape[0]
        # Applied twice, what is left of any start is where constraints hold.
        start = self(self.E @ self(self.E @ np.random.default_rng(1).standard_normal(n)))
        operator = LinearOperator((n, n), matvec=lambda b: self(self.E @ b), dtype=float)
        values, vectors = eigs(operator, k=min(count, n - 2), v0=start, tol=0.0)
        # No finite eigenvalue is much larger than entries of A beside those of E: constraints are.
        finite = abs(values) * float(abs(self.shifted).max() / abs(self.E).max()) > 1 / FASTEST
        return self.shift + 1 / values[finite], vectors[:, finite]
