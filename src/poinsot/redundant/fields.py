"""Matrices that depend on coordinates, with their first derivatives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
        return np.asarray(self.derivative(q).transpose(0, 2, 1) @ a)

    def back(self, q: Vector, b: Vector) -> Array:
        """Return the derivative of F(q)^T b by q, b held fixed; shape (columns, n)."""
        return np.asarray(self.derivative(q).transpose(1, 2, 0) @ b)

    # -- other matrices made of it ------------------------------------------------------------

    def on(self, places: NDArray[np.intp]) -> "Field":
        """Return F as a function of a longer vector, in which q has these places."""

        def derivative(q: Vector) -> Array:
            inner = self.derivative(q[places])
            whole = np.zeros((*inner.shape[:2], q.size))
            whole[:, :, places] = inner
            return whole

        return Field(lambda q: self.value(q[places]), derivative, self.constant)

    def transposed(self, factor: float = 1.0) -> "Field":
        """Return F^T times a factor."""
        return Field(
            lambda q: factor * self.value(q).T,
            lambda q: factor * self.derivative(q).transpose(1, 0, 2),
            self.constant,
        )

    def columns(self, places: NDArray[np.intp]) -> "Field":
        """Return some columns of F."""
        return Field(
            lambda q: self.value(q)[:, places],
            lambda q: self.derivative(q)[:, places],
            self.constant,
        )


def of(values: Smooth, shape: tuple[int, int]) -> Field:
    """Return the matrix with these values, row by row."""
    return Field(
        value=lambda q: values.value(q).reshape(shape),
        derivative=lambda q: values.jacobian(q).reshape(*shape, q.size),
        constant=values.constant,
    )


def placed(shape: tuple[int, int], parts: Sequence[tuple[int, int, Field]]) -> Field:
    """Return the matrix with these blocks, each at the row and column of its upper left corner."""

    def put(whole: Array, blocks: Sequence[Array]) -> Array:
        for (row, column, _), block in zip(parts, blocks, strict=True):
            whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        return whole

    return Field(
        lambda q: put(np.zeros(shape), [part(q) for _, _, part in parts]),
        lambda q: put(np.zeros((*shape, q.size)), [part.derivative(q) for _, _, part in parts]),
        all(part.constant for _, _, part in parts),
    )
