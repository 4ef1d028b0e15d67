"""Checks of mass matrices: symmetric, semi-definite, and regular on the allowed motions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from poinsot.errors import InputError, StructureError
from poinsot.ph.matrices import Array

#: Relative departure from symmetry and semi-definiteness that is taken for round-off.
ROUND_OFF = 1e-10
#: No constraints at all.
NONE = np.zeros((0, 0))
#: Below this, relative to what it was, an eigenvalue is taken for zero.
LOST = 1e-10
#: How an eigenvalue changes at either end of a step is seen so far inwards.
EDGE = 1e-4
#: Below this, relative to the largest one, an eigenvalue is worth a word when a step fails.
SMALL = 1e-2


@dataclass(frozen=True)
class Weakest:
    """The smallest eigenvalue of a mass matrix on free directions, and coordinates along it."""

    eigenvalue: float
    largest: float
    along: str


def require_symmetric(name: str, M: Array, where: str = "") -> None:
    """Refuse a matrix that is not finite and symmetric."""
    if not np.all(np.isfinite(M)):
        raise StructureError(f"system '{name}': M contains NaN or infinity{where}")
    largest, gap = float(np.max(abs(M), initial=0.0)), abs(M - M.T)
    if np.max(gap, initial=0.0) > ROUND_OFF * largest:
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        raise StructureError(
            f"system '{name}': M is not symmetric{where}: its entry ({i}, {j}) is {M[i, j]:.6g}, "
            f"and ({j}, {i}) is {M[j, i]:.6g}; give both the same value"
        )


def require_mass(
    name: str, coordinates: Sequence[str], M: Array, where: str = "", G: Array = NONE
) -> None:
    """Refuse a matrix that is not symmetric, and semi-definite on the directions that G leaves."""
    require_symmetric(name, M, where)
    found = weakest(coordinates, M, G)
    if found is not None and found.eigenvalue < -ROUND_OFF * float(np.max(abs(M))):
        raise StructureError(
            f"system '{name}': M is indefinite{where}: it has the eigenvalue "
            f"{found.eigenvalue:.6g} along {found.along}; kinetic energy cannot be negative, check "
            "the signs in M"
        )


def inverse_of(M: Array) -> Array:
    """Return the inverse of a positive definite matrix; NaN if it is none."""
    if np.all(np.isfinite(M)) and np.all(np.diag(M) > 0):
        scale = np.sqrt(np.outer(np.diag(M), np.diag(M)))
        eigenvalues, vectors = np.linalg.eigh(M / scale)
        if eigenvalues[0] > len(M) * np.finfo(float).eps:
            return np.asarray((vectors / eigenvalues) @ vectors.T / scale)
    return np.full_like(M, np.nan)


def require_inverse(name: str, coordinates: Sequence[str], M: Array) -> Array:
    """Return the inverse, or say that there is none."""
    inverse = inverse_of(M)
    if np.all(np.isfinite(inverse)):
        return inverse
    require_mass(name, coordinates, M)
    found = weakest(coordinates, M)
    assert found is not None
    raise InputError(
        f"system '{name}': M is singular, with the eigenvalue {found.eigenvalue:.3g} along "
        f"{found.along}; Hamilton's form (emh, mph) needs its inverse, use 'eml', 'reml' or 'mpl'"
    )


def weakest(coordinates: Sequence[str], M: Array, G: Array = NONE) -> Weakest | None:
    """Return the smallest eigenvalue of M on the directions that G leaves; None without any."""
    free = scipy.linalg.null_space(G) if G.size else np.eye(len(M))
    if not free.shape[1]:
        return None
    eigenvalues, vectors = np.linalg.eigh(free.T @ ((M + M.T) / 2) @ free)
    # Coordinates that the direction is made of, the largest first.
    size = abs(free @ vectors[:, 0])
    along = [f"'{coordinates[int(k)]}'" for k in np.argsort(-size) if size[k] > 0.3 * size.max()]
    return Weakest(float(eigenvalues[0]), float(eigenvalues[-1]), ", ".join(along))


def eigenvalues(M: Array, G: Array, scale: Array) -> Array:
    """Return those of M on the directions that G leaves, coordinates measured by `scale`."""
    free = scipy.linalg.null_space(G / scale) if G.size else np.eye(len(M))
    return np.asarray(np.linalg.eigvalsh(free.T @ (M / np.outer(scale, scale)) @ free))


def where_lost(at: Callable[[float], Array]) -> float | None:
    """Return where on [0, 1] eigenvalues (ascending, of a mass) lose rank; None: nowhere.

    One that is there at the start may vanish at the end, or in between: where the product of these
    falls from both ends inwards, its minimum is looked for.
    """
    there = int(np.sum(at(0.0) > LOST))
    if there == 0:
        return None
    if int(np.sum(at(1.0) > LOST)) < there:
        return 1.0

    def product(s: float) -> float:
        return float(np.prod(at(s)[-there:]))

    start, end = product(0.0), product(1.0)
    if not (product(EDGE) < start and product(1.0 - EDGE) < end):
        return None
    from scipy.optimize import minimize_scalar  # a heavy import, for this rare case alone

    lowest = minimize_scalar(product, bounds=(0.0, 1.0), options={"xatol": 1e-9})
    return float(lowest.x) if lowest.fun <= LOST * min(start, end) else None
