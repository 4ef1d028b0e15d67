"""Matrices that depend on coordinates, with their first derivatives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector
from poinsot.systems.livens.smooth import Array, Smooth

#: (q, a) -> derivative by q of the product of a matrix and a.
Slope: TypeAlias = Callable[[Vector, Vector], Array]


@dataclass(frozen=True, eq=False)
class Field:
    """A matrix F(q), q of shape (n,).

    Parameters
    ----------
    value : callable
        q -> F; shape (rows, columns).
    derivative : callable
        q -> dF_ij/dq_k; shape (rows, columns, n).
    shape : (rows, columns)
        Shape of F.
    constant : bool
        Whether F is known to be constant.
    forward, backward : callable
        `along` and `back`, where they are cheaper than by all derivatives.
    """

    value: Callable[[Vector], Array]
    derivative: Callable[[Vector], Array]
    shape: tuple[int, int]
    constant: bool = False
    forward: Slope | None = None
    backward: Slope | None = None

    def __call__(self, q: Vector) -> Array:
        """Return F(q)."""
        return self.value(q)

    def along(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of F(q) a by q, a held fixed; shape (rows, n)."""
        if self.constant:
            return np.zeros((self.shape[0], q.size))
        if self.forward is not None:
            return self.forward(q, a)
        return np.asarray(self.derivative(q).transpose(0, 2, 1) @ a)

    def back(self, q: Vector, b: Vector) -> Array:
        """Return the derivative of F(q)^T b by q, b held fixed; shape (columns, n)."""
        if self.constant:
            return np.zeros((self.shape[1], q.size))
        if self.backward is not None:
            return self.backward(q, b)
        return np.asarray(self.derivative(q).transpose(1, 2, 0) @ b)

    # -- other matrices made of it ------------------------------------------------------------

    def on(self, places: NDArray[np.intp]) -> "Field":
        """Return F as a function of a longer vector, in which q has these places."""

        def spread(inner: Array, n: int) -> Array:
            whole = np.zeros((*inner.shape[:-1], n))
            whole[..., places] = inner
            return whole

        return Field(
            lambda q: self.value(q[places]),
            lambda q: spread(self.derivative(q[places]), q.size),
            self.shape,
            self.constant,
            lambda q, a: spread(self.along(q[places], a), q.size),
            lambda q, b: spread(self.back(q[places], b), q.size),
        )

    def transposed(self, factor: float = 1.0) -> "Field":
        """Return F^T times a factor."""
        return Field(
            lambda q: factor * self.value(q).T,
            lambda q: factor * self.derivative(q).transpose(1, 0, 2),
            (self.shape[1], self.shape[0]),
            self.constant,
            lambda q, a: factor * self.back(q, a),
            lambda q, b: factor * self.along(q, b),
        )

    def columns(self, places: NDArray[np.intp]) -> "Field":
        """Return some columns of F."""

        def spread(a: Vector) -> Vector:
            whole = np.zeros(self.shape[1])
            whole[places] = a
            return whole

        return Field(
            lambda q: self.value(q)[:, places],
            lambda q: self.derivative(q)[:, places],
            (self.shape[0], places.size),
            self.constant,
            lambda q, a: self.along(q, spread(a)),
            lambda q, b: self.back(q, b)[places],
        )


def of(values: Smooth, shape: tuple[int, int]) -> Field:
    """Return the matrix with these values, row by row."""
    return Field(
        value=lambda q: values.value(q).reshape(shape),
        derivative=lambda q: values.jacobian(q).reshape(*shape, q.size),
        shape=shape,
        constant=values.constant,
    )


def placed(shape: tuple[int, int], blocks: Sequence[tuple[int, int, Field]]) -> Field:
    """Return the matrix with these blocks, each at the row and column of its upper left corner."""
    parts = [
        (slice(row, row + part.shape[0]), slice(column, column + part.shape[1]), part)
        for row, column, part in blocks
    ]
    varying = [part for part in parts if not part[2].constant]

    def value(q: Vector) -> Array:
        whole = np.zeros(shape)
        for rows, columns, part in parts:
            whole[rows, columns] = part(q)
        return whole

    def derivative(q: Vector) -> Array:
        whole = np.zeros((*shape, q.size))
        for rows, columns, part in varying:
            whole[rows, columns] = part.derivative(q)
        return whole

    def forward(q: Vector, a: Vector) -> Array:
        whole = np.zeros((shape[0], q.size))
        for rows, columns, part in varying:
            whole[rows] += part.along(q, a[columns])
        return whole

    def backward(q: Vector, b: Vector) -> Array:
        whole = np.zeros((shape[1], q.size))
        for rows, columns, part in varying:
            whole[columns] += part.back(q, b[rows])
        return whole

    return Field(value, derivative, shape, not varying, forward, backward)
