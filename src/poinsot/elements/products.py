"""Integrals of products of fields, from their values at points."""

import scipy.sparse as sp

from poinsot.ph.matrices import Array


def scaled(weights: Array, A: sp.csr_array) -> sp.csr_array:
    """Return a matrix with its rows times weights."""
    return sp.csr_array(sp.diags_array(weights) @ A)


def product(weights: Array, A: sp.csr_array, B: sp.csr_array) -> sp.csr_array:
    """Return A^T diag(weights) B."""
    return sp.csr_array(A.T @ scaled(weights, B))


def square(weights: Array, A: sp.csr_array) -> sp.csr_array:
    """Return A^T diag(weights) A, exactly symmetric."""
    S = product(weights, A, A)
    return sp.csr_array((S + S.T) / 2)


def pairs(weights: Array, fields: tuple[sp.csr_array, ...]) -> tuple[tuple[sp.csr_array, ...], ...]:
    """Return A_a^T diag(weights) A_b for all pairs of fields: transposes of each other, exactly."""
    k = range(len(fields))
    upper = {(a, b): product(weights, fields[a], fields[b]) for a in k for b in k if a < b}
    return tuple(
        tuple(
            square(weights, fields[a])
            if a == b
            else upper[a, b]
            if a < b
            else sp.csr_array(upper[b, a].T)
            for b in k
        )
        for a in k
    )
