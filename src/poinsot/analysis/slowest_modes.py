r"""The slowest modes of a large system, by shift and invert on the sparse pencil.

Velocity constraints leave g(q) constant, which gives one zero eigenvalue for each. Written for
displacements, K q = 0 with q' = v, they give none; redundant ones are removed. For mechanical
systems the pencil is

.. math::

    s \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} =
    \begin{bmatrix} 0 & I & 0 \\ A_{vq} & A_{vv} & -K^\top \\ K & 0 & 0 \end{bmatrix}
    \begin{bmatrix} q \\ v \\ \lambda \end{bmatrix} .
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.elimination import require_determined, scales
from poinsot.analysis.linear import AnyLinear, labels, sparse
from poinsot.errors import SingularPencilError
from poinsot.ph.dependence import spanning_rows, unit_rows
from poinsot.ph.equations import independent
from poinsot.ph.matrices import Array

Complex = NDArray[np.complex128]
Indices = NDArray[np.intp]
#: Rows of constraints with less than this part that is new repeat others.
DEPENDENT = 1e-10
#: Eigenvalues below this part of the shift are zero: double ones are known to a root of round-off.
ZERO = 1e-5
#: Shift as a part of the fastest rate in the pencil where rigid motions forbid zero.
SHIFT = 1e-2
#: Shift as a part of the slowest rate for rigid motions alone, and how often it is applied.
NEAR, REPEATS = 1e-2, 8
#: Singular values of a nilpotent matrix below this are zero; others are large.
CHAINED = 1e-3
#: How much larger than the largest entry of the pencil an eigenvalue may be.
FASTEST = 1e3
#: Solutions of the shifted pencil are trusted up to this part.
ACCURATE = 1e-6


def slowest(linear: AnyLinear, count: int) -> tuple[Complex, Complex, int, int]:
    """Return eigenvalues nearest zero and their shapes, those of rigid motions first.

    With the number of rigid motions and of those that go on by themselves.
    """
    E, A, used, columns = _pencil(linear)
    values, vectors, rigid, drifting = _nearest_zero(linear, E, A, columns, count)
    shapes = np.zeros((linear.n, values.size), dtype=complex)
    shapes[used] = vectors
    return values, shapes, rigid, drifting


def is_singular(linear: AnyLinear) -> bool:
    """Return whether zero is an eigenvalue, as it is where something moves as a rigid body."""
    E, A, _, _ = _pencil(linear)
    return _Inverse.at(E, A, 0.0) is None


def _pencil(linear: AnyLinear) -> tuple[Any, Any, Indices, Array]:
    """Return E and A of independent equations, scaled; their states, and the sizes of these."""
    require_determined(linear)
    E, A = sparse(linear.matrix_E), on_displacements(linear)
    rows, used = independent_parts(linear, E, A)
    E, A = (sparse(a[rows][:, used]) for a in (E, A))
    columns = scales(linear)[1][used]
    sizes = [abs(part) @ columns for part in (E, A)]
    largest = np.max([part / (np.max(part) or 1.0) for part in sizes], axis=0)
    # A power of two rounds nothing: slow modes are differences of stiff entries.
    factors = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
    left, right = sp.diags_array(factors), sp.diags_array(columns)
    return sp.csc_array(left @ E @ right), sp.csc_array(left @ A @ right), used, columns


def on_displacements(linear: AnyLinear) -> Any:
    """Return A with constraints on velocities alone written on displacements, as far as there are.

    A velocity is a state that the rate of another one is made of alone, E_i x' = A_ic x_c. Inputs
    must act on neither.
    """
    E, A, B = (sparse(a) for a in (linear.matrix_E, linear.matrix_A, linear.matrix_B))
    fed = np.diff(B.indptr) > 0
    algebraic = np.diff(E.indptr) == 0
    kinematic = np.flatnonzero(~algebraic & ~fed & (np.diff(A.indptr) == 1))
    velocity = A.indices[A.indptr[kinematic]]
    place = np.full(linear.n, -1)
    place[velocity] = np.arange(kinematic.size)
    # Row k of this is x_c = `rates` E x', in the place of the column c of A.
    rates = sp.csr_array(sp.diags_array(1 / A.data[A.indptr[kinematic]]) @ E[kinematic])
    rows = np.repeat(np.arange(linear.n), np.diff(A.indptr))
    foreign = np.zeros(linear.n, dtype=bool)
    foreign[rows[place[A.indices] < 0]] = True
    turned = np.flatnonzero(algebraic & ~fed & ~foreign & (np.diff(A.indptr) > 0))
    if not turned.size:
        return A
    picked = A[turned].tocoo()
    i, j = picked.coords
    shape = (turned.size, kinematic.size)
    held = sp.csr_array(sp.coo_array((picked.data, (i, place[j])), shape=shape)) @ rates
    others = np.setdiff1d(np.arange(linear.n), turned)
    back = np.argsort(np.concatenate([others, turned]))
    return sparse(sp.vstack([A[others], held]))[back]


def independent_parts(linear: AnyLinear, E: Any, A: Any) -> tuple[Indices, Indices]:
    """Return equations and states without algebraic ones that repeat others."""
    mechanical = linear.about is not None and linear.about.freedoms is not None
    width, kept = 3 if mechanical else 1, list[Indices]()
    for e, a in ((E, A), (sparse(E.T), sparse(A.T))):
        free = np.flatnonzero(np.diff(e.indptr) == 0)
        own = a[free]
        if free.size and not independent(own, DEPENDENT, width=width):
            free = np.delete(free, spanning_rows(sparse(unit_rows(own)[0]), DEPENDENT, width=width))
            kept.append(np.setdiff1d(np.arange(linear.n), free))
        else:
            kept.append(np.arange(linear.n))
    rows, columns = kept
    if rows.size != columns.size:
        open_ = np.setdiff1d(np.arange(linear.n), columns)
        named = f", e.g. '{labels(linear.states)[open_[0]]}'" if open_.size else ""
        raise SingularPencilError(
            f"system '{linear.name}': the pencil (E, A) is singular: {linear.n - columns.size} "
            f"states are not determined and {linear.n - rows.size} equations are redundant{named}"
        )
    return rows, columns


def _nearest_zero(
    linear: AnyLinear, E: Any, A: Any, columns: Array, count: int
) -> tuple[Complex, Complex, int, int]:
    """Return eigenvalues nearest zero, and vectors of states of these sizes."""
    # Zero is the best shift unless it is an eigenvalue, which its factors tell.
    inverse = _Inverse.at(E, A, 0.0)
    if inverse is not None:
        values, vectors = inverse.largest(2 * count + 2)
        order = np.argsort(abs(values), kind="stable")
        return values[order], np.asarray(columns[:, None] * vectors[:, order], complex), 0, 0
    shift, slowest = SHIFT * float(abs(A).max() / abs(E).max()), np.inf
    for _ in range(4):
        values, vectors = _require(linear, E, A, shift).largest(2 * count + 14)
        still = abs(values) <= ZERO * shift
        slowest = float(np.min(abs(values[~still]), initial=np.inf))
        if slowest >= shift / 10:
            break
        shift = slowest
    many = int(np.count_nonzero(still))
    order = np.flatnonzero(~still)[np.argsort(abs(values[~still]), kind="stable")]
    rigid = np.zeros((columns.size, 0))
    if many:
        near = NEAR * (slowest if np.isfinite(slowest) else shift)
        rigid = _rigid(_require(linear, E, A, near), many)
    number = rigid.shape[1]
    whole = np.asarray(columns[:, None] * np.hstack([rigid, vectors[:, order]]), complex)
    found = np.append(np.zeros(number), values[order]).astype(complex)
    return found, whole, number, max(0, many - number)


def _require(linear: AnyLinear, E: Any, A: Any, shift: float) -> "_Inverse":
    found = _Inverse.at(E, A, shift)
    if found is None:
        raise SingularPencilError(
            f"system '{linear.name}': the pencil (E, A) is singular: it has no unique solution at "
            f"s = 0 nor at s = {shift:.3g}"
        )
    return found


def _rigid(inverse: "_Inverse", many: int) -> Array:
    """Return the null space of A inside the space of so many zeros.

    Near zero everything else dies out under S = -shift (A - shift E)^-1 E, which is the identity
    there but for rigid motions that go on by themselves: S c = c + x / shift.
    """
    n, basis = inverse.E.shape[0], np.zeros((0, 0))
    block = np.random.default_rng(2).standard_normal((n, many + 4))
    for _ in range(REPEATS):
        basis = np.linalg.qr(block)[0]
        block = -inverse.shift * inverse(inverse.E @ basis)
    kept: Any = lambda real, imaginary: np.hypot(real, imaginary) > 0.5  # noqa: E731
    T, Z, zeros = scipy.linalg.schur(basis.T @ block, sort=kept)
    _, size, Vt = np.linalg.svd(T[:zeros, :zeros] - np.eye(zeros))
    return np.asarray(basis @ Z[:, :zeros] @ Vt[size <= CHAINED * max(1.0, size[0])].T)


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
        # What a solution is corrected by tells how well it is known: not at all where it is none.
        change = inverse.lu.solve(right - shifted @ x)
        regular = bool(np.max(abs(change)) <= ACCURATE * np.max(abs(x)))
        return inverse if regular else None

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
