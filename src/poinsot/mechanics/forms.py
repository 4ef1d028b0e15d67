r"""Quadratic forms of director coordinates: what every constraint, length and angle is made of.

A body has q = (phi, d1, d2, d3) in R^12, the ground none. Its points and directions are affine
in q, and the product of two such vectors is at most quadratic,

.. math:: s(q) = \tfrac12\, q \cdot A q + b \cdot q + c,

which is why the midpoint rule integrates it exactly:
:math:`s(q_1) - s(q_0) = \nabla s(q_m) \cdot (q_1 - q_0)` [LKB26, eq. (56)].
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.ph.matrices import Matrix, Vector, large

Indices = NDArray[np.intp]

#: Coordinates of a body.
WIDTH = 12
#: The ground's index: it has no coordinates.
GROUND = -1


@dataclass(frozen=True)
class VectorForm:
    """A world vector, affine in q: the sum of weights times (phi, d1, d2, d3) plus a constant.

    `weights` maps a body's index to its four weights; a material point X has (1, X), a
    body-fixed direction a has (0, a).
    """

    weights: tuple[tuple[int, tuple[float, float, float, float]], ...]
    constant: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __sub__(self, other: "VectorForm") -> "VectorForm":
        """Return the difference of two vectors."""
        total: dict[int, NDArray[np.float64]] = {}
        for sign, form in ((1.0, self), (-1.0, other)):
            for body, w in form.weights:
                total[body] = total.get(body, np.zeros(4)) + sign * np.array(w)
        constant = np.subtract(self.constant, other.constant)
        return VectorForm(tuple((b, _four(w)) for b, w in total.items()), _three(constant))

    def __call__(self, q: Vector) -> Vector:
        """Return the vector at q; shape (3,)."""
        blocks = q.reshape(-1, 4, 3)
        value = np.array(self.constant)
        for body, w in self.weights:
            value = value + np.array(w) @ blocks[body]
        return value

    def among(self, bodies: tuple[int, ...]) -> "VectorForm":
        """Return the vector with its bodies counted among a few only."""
        weights = tuple((bodies.index(body), w) for body, w in self.weights)
        return VectorForm(weights, self.constant)

    def many(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the vector at many configurations, (states, n) to (states, 3)."""
        value = np.tile(self.constant, (q.shape[0], 1))
        blocks = q.reshape(q.shape[0], q.shape[1] // WIDTH, 4, 3)
        for body, w in self.weights:
            value = value + np.einsum("i,tij->tj", np.array(w), blocks[:, body])
        return value


def _three(a: ArrayLike) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in np.asarray(a))
    return x, y, z


def _four(a: ArrayLike) -> tuple[float, float, float, float]:
    w, x, y, z = (float(v) for v in np.asarray(a))
    return w, x, y, z


def point(body: int, X: ArrayLike) -> VectorForm:
    """Return a material point, X in director axes [m]; on the ground, X in world axes."""
    if body == GROUND:
        return VectorForm((), _three(X))
    return VectorForm(((body, (1.0, *_three(X))),))


def direction(body: int, a: ArrayLike) -> VectorForm:
    """Return a body-fixed direction, a in director axes; on the ground, in world axes."""
    if body == GROUND:
        return VectorForm((), _three(a))
    return VectorForm(((body, (0.0, *_three(a))),))


@dataclass(frozen=True)
class Form:
    """One quadratic form: a sum of products, coefficient times a·b, plus a constant c.

    As entries: A (i, j, value) and b (i, value) of s = q·A q/2 + b·q + constant.
    """

    terms: tuple[tuple[float, VectorForm, VectorForm], ...]
    c: float = 0.0

    @property
    def A(self) -> Iterator[tuple[int, int, float]]:
        """Entries of the matrix, some of them several times."""
        for coefficient, a, b in self.terms:
            for body_a, wa in a.weights:
                for body_b, wb in b.weights:
                    for i, weight_a in enumerate(wa):
                        for j, weight_b in enumerate(wb):
                            value = coefficient * weight_a * weight_b
                            if value:
                                row, column = WIDTH * body_a + 3 * i, WIDTH * body_b + 3 * j
                                for x in range(3):
                                    yield row + x, column + x, value
                                    yield column + x, row + x, value

    @property
    def b(self) -> Iterator[tuple[int, float]]:
        """Entries of the linear part, some of them several times."""
        for coefficient, a, b in self.terms:
            for form, other in ((a, b), (b, a)):
                for body, w in form.weights:
                    for i, weight in enumerate(w):
                        for x in range(3):
                            value = coefficient * weight * other.constant[x]
                            if value:
                                yield WIDTH * body + 3 * i + x, value

    @property
    def constant(self) -> float:
        """What is left at q = 0."""
        return self.c + sum(k * float(np.dot(a.constant, b.constant)) for k, a, b in self.terms)

    def among(self, bodies: tuple[int, ...]) -> "Form":
        """Return the form with its bodies counted among a few only."""
        terms = tuple((k, a.among(bodies), b.among(bodies)) for k, a, b in self.terms)
        return Form(terms, self.c)


@dataclass(frozen=True)
class Height(Form):
    """A disc on a plane with normal n: ((n·r)^2 + (n·a)^2 - a·a) / 2.

    r leads from the plane to the centre, a is the axis with the length of the radius: the disc
    touches where n·r is the radius times the sine of the angle between a and n.
    """

    n: tuple[float, float, float] = (0.0, 0.0, 1.0)
    r: VectorForm = VectorForm(())
    a: VectorForm = VectorForm(())

    @property
    def A(self) -> Iterator[tuple[int, int, float]]:
        """Entries of the matrix."""
        across = np.outer(self.n, self.n)
        for form in (self.r, self.a):
            for body, w in form.weights:
                block = np.kron(np.outer(w, w), across)
                for i, j in np.argwhere(block):
                    yield WIDTH * body + int(i), WIDTH * body + int(j), float(block[i, j])

    @property
    def b(self) -> Iterator[tuple[int, float]]:
        """Entries of the linear part."""
        height = float(np.dot(self.n, self.r.constant))
        for body, w in self.r.weights:
            for i, value in enumerate(np.kron(w, self.n) * height):
                if value:
                    yield WIDTH * body + i, float(value)

    @property
    def constant(self) -> float:
        """What is left at q = 0."""
        return self.c + float(np.dot(self.n, self.r.constant)) ** 2 / 2

    def among(self, bodies: tuple[int, ...]) -> "Height":
        """Return the form with its bodies counted among a few only."""
        return replace(self, r=self.r.among(bodies), a=self.a.among(bodies))


def dot(a: VectorForm, b: VectorForm, minus: float = 0.0) -> Form:
    """Return a·b - minus."""
    return Form(((1.0, a, b),), -minus)


def half_sum(f: Form, g: Form, sign: float = 1.0) -> Form:
    """Return (f + sign g) / 2."""
    halves = [
        (k * factor / 2, a, b) for form, factor in ((f, 1.0), (g, sign)) for k, a, b in form.terms
    ]
    return Form(tuple(halves), (f.c + sign * g.c) / 2)


def components(a: VectorForm) -> tuple[Form, Form, Form]:
    """Return the three world components of a vector."""
    x, y, z = (dot(a, VectorForm((), _three(unit))) for unit in np.eye(3))
    return x, y, z


def half_square(a: VectorForm, length: float = 0.0) -> Form:
    """Return (a·a - length^2) / 2."""
    return Form(((0.5, a, a),), -(length**2) / 2)


@dataclass(frozen=True)
class Forms:
    """A stack of quadratic forms s(q) on the coordinates of `bodies` bodies; evaluated at once.

    G(q) = ds/dq = A q + b. All of s, its Jacobian and second derivatives come from one list of
    entries; they are dense for small systems and sparse for large ones.
    """

    forms: tuple[Form, ...]
    bodies: int

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return WIDTH * self.bodies

    @property
    def m(self) -> int:
        """Number of forms."""
        return len(self.forms)

    @cached_property
    def _A(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Vector]:
        entries = [(k, i, j, v) for k, form in enumerate(self.forms) for i, j, v in form.A]
        table = np.array(entries, dtype=float).reshape(-1, 4)
        k, i, j = (table[:, c].astype(np.intp) for c in range(3))
        return k, i, j, table[:, 3]

    @cached_property
    def _linear(self) -> tuple[Indices, Indices, Vector]:
        entries = [(k, i, v) for k, form in enumerate(self.forms) for i, v in form.b]
        table = np.array(entries, dtype=float).reshape(-1, 3)
        return table[:, 0].astype(np.intp), table[:, 1].astype(np.intp), table[:, 2]

    @cached_property
    def _b(self) -> Matrix:
        return self._matrix((self.m, self.n), *self._linear)

    @cached_property
    def _c(self) -> Vector:
        return np.array([form.constant for form in self.forms])

    def _matrix(
        self, shape: tuple[int, int], rows: NDArray[np.intp], columns: NDArray[np.intp], v: Vector
    ) -> Matrix:
        if not large(max(shape)):
            size = shape[0] * shape[1]
            flat = np.bincount(rows * shape[1] + columns, weights=v, minlength=size)
            return flat.reshape(shape)
        return sp.csr_array(sp.coo_array((v, (rows, columns)), shape=shape))

    def slope(self, v: Vector) -> Matrix:
        """Return A v for every form: the derivative of G(q) v with respect to q; shape (m, n)."""
        k, i, j, value = self._A
        return self._matrix((self.m, self.n), k, i, value * v[j])

    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian at q; shape (m, n)."""
        total: Matrix = self.slope(q) + self._b
        return total

    def __call__(self, q: Vector) -> Vector:
        """Return the values s(q); shape (m,)."""
        return np.asarray((self.slope(q) * 0.5 + self._b) @ q) + self._c

    def curvature(self, weights: Vector) -> Matrix:
        """Return the sum of weights times A: the derivative of G(q)^T weights; shape (n, n)."""
        k, i, j, value = self._A
        return self._matrix((self.n, self.n), i, j, value * weights[k])

    def pullers(
        self, places: Callable[[Indices, Indices], Indices], size: int
    ) -> tuple[Indices, Indices, sp.csr_array, sp.csr_array]:
        """Return what makes G^T lam of every form by itself, on `size` coordinates of one's own.

        `places` says where coordinate i of row k is among these. With rows k, coordinates j and
        matrices A (entries, size), b (m, size), it is (lam[k] q[j]) @ A + lam @ b.
        """
        k, i, j, value = self._A
        A = sp.csr_array((value, (np.arange(k.size), places(k, i))), shape=(k.size, size))
        row, at, constant = self._linear
        b = sp.csr_array((constant, (row, places(row, at))), shape=(self.m, size))
        return k, j, A, b

    # -- many states at once: one row each ----------------------------------------------------

    def _collect(self, index: NDArray[np.intp], size: int) -> sp.csr_array:
        """Return the matrix that adds up entries of A by index; shape (entries, size)."""
        entries = np.arange(index.size)
        return sp.csr_array((np.ones(index.size), (entries, index)), shape=(index.size, size))

    def values(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return s of many configurations, (states, n) to (states, m)."""
        k, i, j, value = self._A
        products = q[:, i] * q[:, j] * (value / 2)
        return np.asarray(products @ self._collect(k, self.m) + (self._b @ q.T).T + self._c)

    def rates(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q) v of many states, (states, m)."""
        k, i, j, value = self._A
        products = v[:, i] * q[:, j] * value
        return np.asarray(products @ self._collect(k, self.m) + (self._b @ v.T).T)

    def pulls(self, q: NDArray[np.float64], lam: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q)^T lam of many states, (states, n)."""
        k, i, j, value = self._A
        products = lam[:, k] * q[:, j] * value
        return np.asarray(products @ self._collect(i, self.n) + (self._b.T @ lam.T).T)


def stack(forms: Sequence[Form], bodies: int) -> Forms:
    """Stack forms on the coordinates of so many bodies."""
    return Forms(tuple(forms), bodies)
