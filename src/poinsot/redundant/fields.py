"""Matrices that depend on coordinates, with their first derivatives."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poinsot.livens.smooth import Array, Smooth
from poinsot.ph.matrices import Vector


@dataclass(frozen=True, eq=False)
class Field:
    """A matrix F(q), q of shape (n,).

    Parameters
    ----------
    value : callable
        q -> F; shape (rows, columns).
    derivative : callable
        q -> dF_ij/dq_k; shape (rows, columns, n).
    constant : bool
        Whether F is known to be constant.
    """

    value: Callable[[Vector], Array]
    derivative: Callable[[Vector], Array]
    constant: bool = False

    def __call__(self, q: Vector) -> Array:
        """Return F(q)."""
        return self.value(q)

    def along(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of F(q) a by q, a held fixed; shape (rows, n)."""
        return np.asarray(np.einsum("ijk,j->ik", self.derivative(q), a))

    def back(self, q: Vector, b: Vector) -> Array:
        """Return the derivative of F(q)^T b by q, b held fixed; shape (columns, n)."""
        return np.asarray(np.einsum("ijk,i->jk", self.derivative(q), b))


def of(values: Smooth, shape: tuple[int, int]) -> Field:
    """Return the matrix with these values, row by row."""
    return Field(
        value=lambda q: values.value(q).reshape(shape),
        derivative=lambda q: values.jacobian(q).reshape(*shape, q.size),
        constant=values.constant,
    )
