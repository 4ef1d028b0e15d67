"""Repeated constraints combined to independent ones by T; None: they are independent already."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from poinsot.ph.matrices import Matrix, Vector, dense, is_sparse


def combined(T: Matrix | None, rows: Any) -> Any:
    """Return T rows, of a vector or a matrix."""
    return rows if T is None else T @ rows


def spread_out(T: Matrix | None, mu: Vector) -> Vector:
    """Return the multipliers of all constraints, T^T mu."""
    return mu if T is None else np.asarray(T.T @ mu)


def labels_of(T: Matrix | None, names: Sequence[str]) -> Sequence[str]:
    """Return the names of independent constraints; a combination is called a loop."""
    if T is None:
        return names
    entries = T if is_sparse(T) else sp.csr_array(dense(T))
    rows = np.split(entries.indices, entries.indptr[1:-1])
    return [names[int(row[0])] if row.size == 1 else "loop" for row in rows]
