r"""Functions of the coordinates with their derivatives, at a point and over a step.

Discrete derivatives over a step are Gonzalez' [KB24, eq. (71)],

.. math:: \bar\nabla F_i = \nabla F_i(q_m) + \frac{\Delta F_i - \nabla F_i(q_m) \cdot \Delta q}
          {d \cdot d}\, d

of every value of a function at once: :math:`\bar\nabla F\, \Delta q = \Delta F`. The correction
goes along d, the part of :math:`\Delta q` in coordinates that F depends on: it makes no force along
the others, and their momenta are as exact as the energy.

A function of quadratic :math:`\pi(q)`, the invariants of a symmetry, has the derivative

.. math:: \bar\nabla F = \bar\nabla \hat F(\pi_0, \pi_1)\, \nabla\pi(q_m), \qquad
          F(q) = \hat F(\pi(q))

instead (G-equivariant, [G96]): :math:`\nabla\pi(q_m)\, \Delta q = \Delta\pi` keeps the change of F,
and :math:`\bar\nabla F \cdot \xi q_m = 0` for every generator :math:`\xi` of the symmetry keeps its
momentum map p·ξq [KB24, prop. 2.6, eq. (90)-(91)].
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.gradients import NODES, Rule, without_loss
from poinsot.ph.graphs import Graph
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.operations import Computed, Rows

EPS = float(np.finfo(float).eps)
#: (q, a) -> derivative by q of the product of a matrix and a.
Slope: TypeAlias = Callable[[Vector, Vector], Array]


@dataclass(frozen=True, eq=False, kw_only=True)
class Field:
    """An array F(q) with its first derivatives, q of shape (n,).

    Parameters
    ----------
    shape : tuple of int
        Shape of F.
    value : callable
        q -> F.
    jacobian : callable
        q -> dF/dq_k; shape (*shape, n).
    constant : bool
        Whether F is known to be constant.
    forward, backward : callable
        `along` and `back`, where they are cheaper than by all derivatives.
    """

    shape: tuple[int, ...]
    value: Callable[[Vector], Array]
    jacobian: Callable[[Vector], Array]
    constant: bool = False
    forward: Slope | None = None
    backward: Slope | None = None

    def __call__(self, q: Vector) -> Array:
        """Return F(q)."""
        return self.value(q)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    def rows(self, graph: Graph, q: Rows) -> list[int] | None:
        """Return F as operations, one row a value; None if it is not made of expressions."""
        return self.value.rows(graph, q) if isinstance(self.value, Computed) else None

    def along(self, q: Vector, a: Vector) -> Array:
        """Return the derivative of a matrix product F(q) a by q; shape (rows, n)."""
        if self.constant:
            return np.zeros((self.shape[0], q.size))
        if self.forward is not None:
            return self.forward(q, a)
        return np.asarray(self.jacobian(q).transpose(0, 2, 1) @ a)

    def back(self, q: Vector, b: Vector) -> Array:
        """Return the derivative of a matrix product F(q)^T b by q; shape (columns, n)."""
        if self.constant:
            return np.zeros((self.shape[1], q.size))
        if self.backward is not None:
            return self.backward(q, b)
        return np.asarray(self.jacobian(q).transpose(1, 2, 0) @ b)

    # -- other arrays made of it --------------------------------------------------------------

    def on(self, places: NDArray[np.intp], n: int) -> Self:
        """Return F as a function of n coordinates, of which its own have these places."""

        def spread(inner: Array) -> Array:
            whole = np.zeros((*inner.shape[:-1], n))
            whole[..., places] = inner
            return whole

        return replace(
            self,
            value=lambda q: self.value(q[places]),
            jacobian=lambda q: spread(self.jacobian(q[places])),
            forward=lambda q, a: spread(self.along(q[places], a)),
            backward=lambda q, b: spread(self.back(q[places], b)),
        )

    def transposed(self, factor: float = 1.0) -> "Field":
        """Return F^T times a factor."""
        return Field(
            shape=(self.shape[1], self.shape[0]),
            value=lambda q: factor * self.value(q).T,
            jacobian=lambda q: factor * self.jacobian(q).transpose(1, 0, 2),
            constant=self.constant,
            forward=lambda q, a: factor * self.back(q, a),
            backward=lambda q, b: factor * self.along(q, b),
        )

    def columns(self, places: NDArray[np.intp]) -> "Field":
        """Return some columns of F."""

        def spread(a: Vector) -> Vector:
            whole = np.zeros(self.shape[1])
            whole[places] = a
            return whole

        return Field(
            shape=(self.shape[0], places.size),
            value=lambda q: self.value(q)[:, places],
            jacobian=lambda q: self.jacobian(q)[:, places],
            constant=self.constant,
            forward=lambda q, a: self.along(q, spread(a)),
            backward=lambda q, b: self.back(q, b)[places],
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

    def jacobian(q: Vector) -> Array:
        whole = np.zeros((*shape, q.size))
        for rows, columns, part in varying:
            whole[rows, columns] = part.jacobian(q)
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

    return Field(
        shape=shape,
        value=value,
        jacobian=jacobian,
        constant=not varying,
        forward=forward,
        backward=backward,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Smooth(Field):
    """The same with second derivatives, and what a step wants to know of it.

    Parameters
    ----------
    curvature : callable
        (q, w) -> second derivatives of w·F, w of shape (size,); shape (n, n).
    quadratic : (size,) of bool
        Which of the values are known to be quadratic in q, or less.
    depends : (n,) of 0 and 1
        The coordinates along which discrete derivatives are corrected: all that F depends on.
    exact : bool
        Whether the Jacobian is exact; False: by finite differences.
    through : Invariants
        What F is a function of, if it keeps the symmetries of that.
    """

    curvature: Callable[[Vector, Vector], Array]
    quadratic: NDArray[np.bool_]
    depends: Vector
    exact: bool = True
    through: "Invariants | None" = None

    @cached_property
    def is_quadratic(self) -> bool:
        """Whether all values are."""
        return bool(self.quadratic.all())

    def rows(self, graph: Graph, q: Rows) -> list[int] | None:
        """Return F as operations; through its invariants, if it has such."""
        if self.through is None:
            return super().rows(graph, q)
        pi = self.through.pi.rows(graph, q)
        return None if pi is None else self.through.outer.rows(graph, pi)

    def on(self, places: NDArray[np.intp], n: int) -> Self:
        """Return F as a function of n coordinates, of which its own have these places."""
        depends = np.zeros(n)
        depends[places] = self.depends

        def curvature(q: Vector, w: Vector) -> Array:
            whole = np.zeros((n, n))
            whole[places[:, None], places] = self.curvature(q[places], w)
            return whole

        through = self.through and replace(self.through, pi=self.through.pi.on(places, n))
        return replace(super().on(places, n), curvature=curvature, depends=depends, through=through)

    def __sub__(self, other: "Smooth") -> "Smooth":
        """Return the difference of two functions of the same coordinates."""
        return Smooth(
            shape=self.shape,
            value=lambda q: self.value(q) - other.value(q),
            jacobian=lambda q: self.jacobian(q) - other.jacobian(q),
            curvature=lambda q, w: self.curvature(q, w) - other.curvature(q, w),
            quadratic=self.quadratic & other.quadratic,
            depends=np.maximum(self.depends, other.depends),
            constant=self.constant and other.constant,
            exact=self.exact and other.exact,
        )


@dataclass(frozen=True, eq=False)
class Invariants:
    """F(q) = outer(pi(q)): quadratic functions pi (k,) of the coordinates, and F of these."""

    pi: Smooth
    outer: Smooth


def composed(pi: Smooth, outer: Smooth) -> Smooth:
    """Return outer(pi(q)) of quadratic pi, with discrete derivatives that keep their symmetries."""
    k = pi.size

    def jacobian(q: Vector) -> Array:
        return np.asarray(outer.jacobian(pi(q)) @ pi.jacobian(q))

    def curvature(q: Vector, w: Vector) -> Array:
        values, slopes = pi(q), pi.jacobian(q)
        weights = w @ outer.jacobian(values).reshape(outer.size, k)
        return np.asarray(slopes.T @ outer.curvature(values, w) @ slopes + pi.curvature(q, weights))

    return Smooth(
        shape=outer.shape,
        value=lambda q: outer(pi(q)),
        jacobian=jacobian,
        curvature=curvature,
        quadratic=np.zeros(outer.size, dtype=bool),
        depends=pi.depends,
        exact=outer.exact,
        through=Invariants(pi, outer),
    )


class OfPotentials:
    """What has a potential energy V(q) [J], the sum of `potentials` with one value each."""

    potentials: Sequence[Smooth]

    def V(self, q: Vector) -> float:
        """Return the potential energy [J]."""
        return sum(float(part.value(q)[0]) for part in self.potentials)

    def dV(self, q: Vector) -> Vector:
        """Return the gradient of V; shape (n,)."""
        return sum((part.jacobian(q)[0] for part in self.potentials), np.zeros(q.size))

    def ddV(self, q: Vector) -> Array:
        """Return the Hessian of V; shape (n, n)."""
        parts = (part.curvature(q, np.ones(1)) for part in self.potentials)
        return sum(parts, np.zeros((q.size, q.size)))


# -- over a step ----------------------------------------------------------------------------------


class Chord(ABC):
    """The derivative of a function over a step from q0 to q1; `jacobian` has shape (size, n)."""

    jacobian: Array

    @abstractmethod
    def tangent(self, w: Vector) -> Array:
        """Return the derivative of jacobian^T w by q1; shape (n, n)."""


@dataclass(frozen=True, eq=False)
class Corrected(Chord):
    """That at the midpoint plus `alpha` (size,) times d."""

    F: Smooth
    q0: Vector
    q1: Vector
    jacobian: Array
    alpha: Vector | None = None

    def tangent(self, w: Vector) -> Array:
        """Return the derivative of jacobian^T w by q1."""
        mid, dq = (self.q0 + self.q1) / 2, self.q1 - self.q0
        curvature = self.F.curvature(mid, w)
        if self.alpha is None:
            return curvature / 2
        d = self.F.depends * dq
        alpha, square = float(w @ self.alpha), float(d @ d)
        tangent = curvature / 2 + alpha * np.diag(self.F.depends)
        # alpha's own derivative: a rank-one term, dropped where it drowns in round-off.
        end, middle = w @ _rows(self.F, self.q1), w @ self.jacobian - alpha * d
        noise = EPS * np.max(abs(end), initial=0.0) / np.sqrt(square)
        if noise < 1e-6 * np.max(abs(curvature), initial=0.0):
            dalpha = (end - middle - curvature @ dq / 2 - 2 * alpha * d) / square
            tangent = tangent + np.outer(d, dalpha)
        return tangent


@dataclass(frozen=True, eq=False)
class Equivariant(Chord):
    """That of a function of invariants: `outer`, over the step of pi, times their Jacobian."""

    pi: Smooth
    q0: Vector
    q1: Vector
    outer: Chord
    jacobian: Array

    def tangent(self, w: Vector) -> Array:
        """Return the derivative of jacobian^T w by q1."""
        mid, weights = (self.q0 + self.q1) / 2, w @ self.outer.jacobian
        slopes, end = self.pi.jacobian(mid), self.pi.jacobian(self.q1)
        inner = self.pi.curvature(mid, weights) / 2
        return np.asarray(slopes.T @ self.outer.tangent(w) @ end + inner)


def chord(rule: Rule, F: Smooth, q0: Vector, q1: Vector) -> Chord:
    """Return the derivative of a function over a step: at its midpoint, or discrete."""
    mid, dq = (q0 + q1) / 2, q1 - q0
    d = F.depends * dq
    square = float(d @ d)
    if rule is Rule.MIDPOINT or F.is_quadratic or square == 0:
        return Corrected(F, q0, q1, _rows(F, mid))
    if F.through is not None:
        pi = F.through.pi
        outer = chord(rule, F.through.outer, pi(q0), pi(q1))
        return Equivariant(pi, q0, q1, outer, outer.jacobian @ pi.jacobian(mid))
    slopes = np.array([_rows(F, q0 + s * dq) for s in NODES])
    middle = slopes[2]
    along, work = slopes @ dq, np.max(abs(slopes) @ abs(dq), axis=0)
    F0, F1 = F.value(q0).reshape(-1), F.value(q1).reshape(-1)
    numerator = without_loss(F0, F1, middle @ dq, along, work, exact=F.exact)
    alpha = np.where(F.quadratic, 0.0, numerator) / square
    return Corrected(F, q0, q1, middle + np.outer(alpha, d), alpha)


def _rows(F: Smooth, q: Vector) -> Array:
    """Return the derivatives of all values; shape (size, n)."""
    return F.jacobian(q).reshape(F.size, q.size)
