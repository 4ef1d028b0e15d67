"""Checks of symmetric and definite matrices given by users."""

from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from poinsot.errors import InputError
from poinsot.inputs import numbers
from poinsot.ph.matrices import Array

#: Relative defect that matrices from elsewhere may have.
TOLERANCE = 1e-9
#: A smallest eigenvalue below this, in natural units, is zero.
SINGULAR = 1e-12


def symmetric(value: Any, what: str, size: int | None = None) -> Array:
    """Return a symmetric matrix of finite numbers."""
    A = numbers(sp.csr_array(cast(Any, value)).toarray() if sp.issparse(value) else value, what)
    wanted = f"({size}, {size})" if size is not None else "a square matrix"
    if A.ndim != 2 or A.shape[0] != A.shape[1] or (size is not None and len(A) != size):
        raise InputError(f"{what} has shape {A.shape}, expected {wanted}")
    if not np.all(np.isfinite(A)):
        raise InputError(f"{what} contains NaN or infinity")
    _require_symmetric(abs(A - A.T).max(initial=0.0), abs(A).max(initial=0.0), what)
    return np.asarray((A + A.T) / 2)


def symmetric_sparse(value: Any, what: str, size: int) -> sp.csr_array:
    """Return a large symmetric matrix of finite numbers, dense or sparse, as a sparse one."""
    given: Any = value if sp.issparse(value) else numbers(value, what)
    A = sp.csr_array(given)
    if A.shape != (size, size):
        raise InputError(f"{what} has shape {A.shape}, expected ({size}, {size}), three per node")
    if not np.all(np.isfinite(A.data)):
        raise InputError(f"{what} contains NaN or infinity")
    _require_symmetric(abs(A - A.T).max(), abs(A).max(), what)
    return sp.csr_array((A + A.T) / 2)


def given_or_diagonal(value: Any, what: str, size: int) -> Array:
    """Return a symmetric matrix that was given as it is or by its diagonal; read-only."""
    given = numbers(value, what)
    if given.shape not in ((size,), (size, size)):
        raise InputError(
            f"{what}: expected {size} numbers or a {size}x{size} matrix, got shape {given.shape}"
        )
    A = symmetric(np.diag(given) if given.ndim == 1 else given, what, size)
    A.flags.writeable = False
    return A


def semidefinite(value: Any, what: str, size: int) -> Array:
    """Return a symmetric matrix, as it is or by its diagonal, without negative eigenvalues."""
    A = given_or_diagonal(value, what, size)
    least = float(np.linalg.eigvalsh(A)[0])
    if least < -SINGULAR * abs(A).max():
        raise InputError(
            f"{what} is not positive semi-definite: its smallest eigenvalue is {least:.3g}; it "
            "would "
            "create energy"
        )
    return A


def _require_symmetric(defect: float, size: float, what: str) -> None:
    if defect > TOLERANCE * size:
        raise InputError(
            f"{what} is not symmetric: the largest difference of two entries is {defect:.3g}, the "
            f"largest entry {size:.3g}"
        )


def require_definite(A: Array, message: str) -> None:
    """Refuse a symmetric matrix with an eigenvalue that is not above zero, in natural units."""
    diagonal = np.diagonal(A)
    if not np.all(diagonal > 0):
        raise InputError(message)
    natural = A / np.sqrt(np.outer(diagonal, diagonal))
    if np.linalg.eigvalsh(natural)[0] <= SINGULAR:
        raise InputError(message)
