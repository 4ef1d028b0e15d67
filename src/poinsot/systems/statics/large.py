"""The balance of forces for many bodies, by sparse matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Matrix, Vector, add, dense, is_sparse, scale_columns
from poinsot.systems.statics.rest import FLAT, Rest

#: What keeps repeated rows from making equations singular, and how often that is taken back.
SHIFT, REFINEMENTS = 1e-11, 3
#: By which parts of its sizes the second variation is raised, and how much it must bend then.
RAISED, BENDS = (1e-11, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 2.0), 1e-7
#: How many curvatures are looked for of many, on each side of zero, and for how long.
NEAREST, RESTARTS = 4, 30


@dataclass(frozen=True, eq=False)
class LargeRest(Rest):
    """The same of many bodies, by sparse matrices: no basis of free motions is made.

    Steps come from the second variation with multipliers, raised by a part of its sizes until it
    bends upwards along the step; all curvatures are between -1 and 1 of these.
    """

    @cached_property
    def _rows(self) -> tuple[sp.csr_array, Vector]:
        """Constraints on scaled motions, as rows of length one, and their lengths."""
        K = _sparse(scale_columns(self.place.rows(), self.place.sizes))
        lengths = row_lengths(K)
        lengths[lengths == 0] = 1.0
        return sp.csr_array(sp.diags_array(1 / lengths) @ K), lengths

    def _factors(self, A: Matrix) -> Callable[[Vector], Vector]:
        """Return what solves A w + K^T mu = b, K w = 0 for (w, mu), repeated rows or not."""
        K, count = self._rows[0], self._rows[1].size
        empty = sp.csr_array((count, count))
        exact = sp.csr_array(sp.vstack([sp.hstack([_sparse(A), K.T]), sp.hstack([K, empty])]))
        shifts = np.concatenate([np.zeros(K.shape[1]), np.full(count, -SHIFT)])
        lu = scipy.sparse.linalg.splu(sp.csc_array(exact + sp.diags_array(shifts)))

        def solve(b: Vector) -> Vector:
            right = np.concatenate([b, np.zeros(count)])
            solution = lu.solve(right)
            for _ in range(REFINEMENTS):
                solution = solution + lu.solve(right - exact @ solution)
            return np.asarray(solution)

        return solve

    @cached_property
    def lam(self) -> Vector:
        """Multipliers that balance forces best."""
        k, lam = self.place.sizes.size, np.zeros(self._rows[1].size)
        for _ in range(2):  # forces on one body may be round-off to another
            measured = self._measured(lam)
            unit = float(np.median(measured))
            solve = self._factors(sp.csr_array(sp.diags_array(measured / unit)))
            lam = unit * solve(-self._force / unit)[k:] / self._rows[1]
        return lam

    def _raised(self, part: float) -> Callable[[Vector], Vector]:
        H, sizes = self._stiffness
        return self._factors(add(H, sp.csr_array(sp.diags_array(part * sizes))))

    def step(self, radius: float, *, down: bool) -> Vector:
        """Return a step along which the raised variation bends upwards, or Newton's."""
        (H, sizes), left = self._stiffness, self.balance[0]
        for part in RAISED:
            try:
                w = self._raised(part)(-left)[: left.size]
            except RuntimeError:  # exactly singular
                continue
            if not np.all(np.isfinite(w)):
                continue
            if not down or w @ (H @ w) + part * w @ (sizes * w) >= BENDS * w @ (sizes * w):
                break
        return self._limited(w, radius)

    @property
    def defect(self) -> float:
        """Length of the forces that are left over, each measured by its own terms."""
        return float(np.linalg.norm(self.balance[0] / np.sqrt(self._stiffness[1])))

    @cached_property
    def one_sided(self) -> bool:
        """Whether forces have no energy."""
        H, sizes = self._stiffness
        return bool(abs(H - H.T).max() > FLAT * np.max(sizes))

    @cached_property
    def _modes(self) -> tuple[Vector, Array]:
        """Those curvatures that are nearest to zero, below and above.

        With 1 / (curvature - shift) as eigenvalues, which are largest there. Below the shift there
        may be none: then nothing is found, for the others crowd at zero.
        """
        H, sizes = self._stiffness
        k, shift = sizes.size, -100 * FLAT
        solve = self._raised(-shift)
        inverse = scipy.sparse.linalg.LinearOperator((k, k), matvec=lambda b: solve(b)[:k])
        start = solve(np.random.default_rng(0).standard_normal(k))[:k]
        H, S = (H + H.T) / 2, sp.csr_array(sp.diags_array(sizes))
        found, motions = [np.zeros(0)], [np.zeros((k, 0))]
        for side in ("SA", "LA"):
            known: dict[str, Any] = {
                "k": NEAREST,
                "M": S,
                "sigma": shift,
                "OPinv": inverse,
                "v0": start,
            }
            try:
                kappa, w = scipy.sparse.linalg.eigsh(
                    H, which=side, maxiter=RESTARTS, tol=1e-6, **known
                )
            except scipy.sparse.linalg.ArpackNoConvergence as partly:
                kappa, w = partly.eigenvalues, partly.eigenvectors
            # Motions against constraints have eigenvalue 0, and are no motions.
            near = ((kappa < shift) == (side == "SA")) & (abs(kappa) < 2)
            found.append(kappa[near])
            motions.append(w[:, near])
        kappa, w = np.concatenate(found), np.hstack(motions)
        return kappa[np.argsort(kappa)], w[:, np.argsort(kappa)]


def _sparse(A: Matrix) -> sp.csr_array:
    return A if is_sparse(A) else sp.csr_array(dense(A))
