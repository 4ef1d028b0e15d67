r"""Stacks of quadratic forms as arrays: dense for small systems, sparse for large ones.

.. math:: s(q) = \tfrac12\, q \cdot A q + b \cdot q + c, \qquad G(q) = A q + b
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.frames.forms import GROUND, Form, Height, Index, VectorForm
from poinsot.frames.places import WIDTH, frame_vectors
from poinsot.ph.matrices import Array, Matrix, Vector, large

#: Body and weights where a vector has none or only one of its two bodies.
_NONE = (float(GROUND), 0.0, 0.0, 0.0, 0.0)
#: Numbers of a vector: twice a body and its weights, then the constant.
_NUMBERS = 13


def members(counts: Index) -> tuple[Index, Index]:
    """Return, for groups of so many members, the group of each member and its number there."""
    group = np.repeat(np.arange(counts.size), counts)
    return group, np.arange(group.size) - np.repeat(np.cumsum(counts) - counts, counts)


def flat(vector: VectorForm) -> tuple[float, ...]:
    """Return the numbers of a vector."""
    match vector.weights:
        case ():
            return (*_NONE, *_NONE, *vector.constant)
        case ((body, w),):
            return (body, *w, *_NONE, *vector.constant)
        case ((body, w), (other, x)):
            return (body, *w, other, *x, *vector.constant)
    raise ValueError(f"a vector of {len(vector.weights)} bodies; two are the most")


class Packed(NamedTuple):
    """A few forms as plain numbers: terms (t, 4), vectors (v, 13), constants (m,), and `heights`.

    Bytes are what thousands of joints can keep without costing time.
    """

    terms: bytes
    vectors: bytes
    c: bytes
    heights: Mapping[int, Height]


def pack(forms: Sequence[Form]) -> Packed:
    """Return a few forms as plain numbers; vectors that products share are there once."""
    number: dict[int, int] = {}
    terms: list[float] = []
    vectors: list[float] = []
    for k, form in enumerate(forms):
        for coefficient, a, b in form.terms:
            for vector in (a, b):
                if id(vector) not in number:
                    number[id(vector)] = len(number)
                    vectors += flat(vector)
            terms += (k, coefficient, number[id(a)], number[id(b)])
    heights = {k: form for k, form in enumerate(forms) if isinstance(form, Height)}
    c = array("d", [form.c for form in forms]).tobytes()
    return Packed(array("d", terms).tobytes(), array("d", vectors).tobytes(), c, heights)


class Vectors(NamedTuple):
    """Vectors as arrays: weights (v, 2, 4) of two bodies (v, 2), and constants (v, 3).

    Where a vector has fewer bodies than two, the ground fills up, with weights of zero.
    """

    bodies: Index
    weights: NDArray[np.float64]
    constants: NDArray[np.float64]

    @classmethod
    def of(cls, numbers: NDArray[np.float64]) -> "Vectors":
        """Return vectors by their numbers (v, 13)."""
        parts = numbers[:, :10].reshape(-1, 2, 5)
        return cls(parts[:, :, 0].astype(np.intp), parts[:, :, 1:], numbers[:, 10:])

    def rates(self, v: Vector) -> NDArray[np.float64]:
        """Return their rates where coordinates have the rates v; (v, 3)."""
        frames = frame_vectors(v)[self.bodies].reshape(-1, 8, 3)
        return np.asarray((self.weights.reshape(-1, 1, 8) @ frames)[:, 0])

    @property
    def entries(self) -> tuple[Index, Index, Vector]:
        """All weights but zeros: where those of each vector begin, x coordinates, and weights."""
        vector, side, director = np.nonzero(self.weights)
        first = np.searchsorted(vector, np.arange(len(self.weights) + 1))
        columns = WIDTH * self.bodies[vector, side] + 3 * director
        return first, columns, self.weights[vector, side, director]


class Terms(NamedTuple):
    """Products in the order of their forms: coefficient times a·b, a and b numbers of vectors."""

    form: Index
    coefficient: Vector
    a: Index
    b: Index


@dataclass(frozen=True, eq=False)
class Forms:
    """A stack of quadratic forms s(q) on the coordinates of `bodies` bodies; evaluated at once.

    G(q) = ds/dq = A q + b. All of s, its Jacobian and second derivatives come from one table of
    products; they are dense for small systems and sparse for large ones.
    """

    parts: Sequence[Packed]
    bodies: int

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return WIDTH * self.bodies

    @property
    def m(self) -> int:
        """Number of forms."""
        return self.c.size

    @cached_property
    def _first(self) -> Index:
        """The first term, vector and form of each part, and how many there are; (parts + 1, 3)."""
        sizes = [(0, 0, 0), *((len(p.terms), len(p.vectors), len(p.c)) for p in self.parts)]
        return np.asarray(np.cumsum(sizes, axis=0) // np.array([32, 8 * _NUMBERS, 8]))

    @cached_property
    def terms(self) -> Terms:
        """The products."""
        table = np.frombuffer(b"".join(part.terms for part in self.parts)).reshape(-1, 4)
        shift = np.repeat(self._first[:-1], np.diff(self._first[:, 0]), axis=0)
        form, a, b = table[:, [0, 2, 3]].astype(np.intp).T
        return Terms(form + shift[:, 2], table[:, 1], a + shift[:, 1], b + shift[:, 1])

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        """The numbers of all vectors; (v, 13)."""
        return np.frombuffer(b"".join(part.vectors for part in self.parts)).reshape(-1, _NUMBERS)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors that products are made of."""
        return Vectors.of(self._numbers)

    @cached_property
    def c(self) -> Vector:
        """What is added to the products of each form; (m,)."""
        return np.frombuffer(b"".join(part.c for part in self.parts))

    @cached_property
    def heights(self) -> dict[int, Height]:
        """Forms that are no products, by their numbers."""
        found = zip(self._first[:, 2].tolist(), self.parts, strict=False)
        return {k + i: height for k, part in found for i, height in part.heights.items()}

    def take(self, rows: ArrayLike) -> "Forms":
        """Return some of the forms, in this order."""
        chosen, terms = np.asarray(rows, dtype=np.intp), self.terms
        first, last = (np.searchsorted(terms.form, chosen, side) for side in ("left", "right"))
        form, inner = members(last - first)
        places = first[form] + inner
        used, ends = np.unique([terms.a[places], terms.b[places]], return_inverse=True)
        table = np.column_stack([form, terms.coefficient[places], *ends.reshape(2, -1)])
        heights = self.heights and {
            k: self.heights[row] for k, row in enumerate(chosen.tolist()) if row in self.heights
        }
        vectors, c = self._numbers[used].tobytes(), self.c[chosen].tobytes()
        return Forms([Packed(table.tobytes(), vectors, c, heights)], self.bodies)

    def among(self, bodies: Sequence[int]) -> "Forms":
        """Return the forms with their bodies counted among a few only."""
        number = np.full(self.bodies + 1, GROUND)
        number[list(bodies)] = np.arange(len(bodies))
        heights = {k: height.among(tuple(bodies)) for k, height in self.heights.items()}
        return Forms([self._renumbered(number, heights)], len(bodies))

    def onto(self, bodies: Sequence[int]) -> Packed:
        """Return the forms with the numbers that their bodies have among all."""
        return self._renumbered(np.array([*bodies, GROUND]), {})

    def _renumbered(self, number: Index, heights: Mapping[int, Height]) -> Packed:
        numbers = self._numbers.copy()
        numbers[:, [0, 5]] = number[self.vectors.bodies]
        table = np.column_stack(self.terms)
        return Packed(table.tobytes(), numbers.tobytes(), self.c.tobytes(), heights)

    @cached_property
    def _squared(self) -> NDArray[np.bool_]:
        """Which vectors the forms multiply by themselves, and not by others; (v,)."""
        (_, _, a, b), found = self.terms, np.zeros(len(self.vectors.constants), dtype=bool)
        same = [(part[a] == part[b]).all(axis=tuple(range(1, part.ndim))) for part in self.vectors]
        found[a[np.logical_and.reduce(same)]] = True
        return found

    def spans(self, q: Vector) -> Vector:
        """Return the least distance of points that the forms square, for every body; inf: none.

        Products of others are displacements, which may be as small as they like.
        """
        at, found = self.vectors, np.full(self.bodies + 1, np.inf)
        joined = (at.weights[:, :, 0] != 0) & self._squared[:, None]
        length = np.linalg.norm(at.constants + at.rates(q), axis=1)
        length = np.where(length > 0, length, np.inf)
        for side in (0, 1):
            use = joined[:, side]
            np.minimum.at(found, at.bodies[use, side], length[use])
        return found[:-1]

    # -- entries of s = q·A q/2 + b·q + c -----------------------------------------------------

    @cached_property
    def _sides(self) -> tuple[Index, Index, Vector, Index]:
        """Gradients of terms: form, x coordinate and factor of which vector they consist of."""
        (form, coefficient, a, b), (first, column, weight) = self.terms, self.vectors.entries
        count, sides = np.diff(first), []
        for one, other in ((a, b), (b, a)):
            term, inner = members(count[one])
            i = first[one][term] + inner
            sides.append((form[term], column[i], coefficient[term] * weight[i], other[term]))
        k, i, factor, other = map(np.concatenate, zip(*sides, strict=True))
        return k, i, factor, other

    @cached_property
    def A(self) -> tuple[Index, Index, Index, Vector]:
        """Entries of the matrices: form, row, column and value, some of them several times."""
        (k, i, factor, other), (first, column, weight) = self._sides, self.vectors.entries
        side, inner = members(np.diff(first)[other])
        j = first[other][side] + inner
        values, x = np.repeat(factor[side] * weight[j], 3), np.arange(3)
        rows, columns = (each[:, None] + x for each in (i[side], column[j]))
        entries = [(np.repeat(k[side], 3), rows.reshape(-1), columns.reshape(-1), values)]
        for number, height in self.heights.items():
            i, j, value, _, _ = height.entries
            entries.append((np.full(i.size, number), i, j, value))
        k, i, j, values = map(np.concatenate, zip(*entries, strict=True))
        return k, i, j, values

    def _gradients(self, vectors: NDArray[np.float64]) -> tuple[Index, Index, Vector]:
        """Return form, coordinate and value of gradients that consist of these vectors (v, 3)."""
        k, i, factor, other = self._sides
        values = factor[:, None] * vectors[other]
        side, x = np.nonzero(values)
        return k[side], i[side] + x, values[side, x]

    @cached_property
    def b(self) -> tuple[Index, Index, Vector]:
        """Entries of the linear parts: form, column and value, some of them several times."""
        entries = [self._gradients(self.vectors.constants)]
        for number, height in self.heights.items():
            _, _, _, i, value = height.entries
            entries.append((np.full(i.size, number), i, value))
        k, i, values = map(np.concatenate, zip(*entries, strict=True))
        return k, i, values

    @cached_property
    def _linear(self) -> Matrix:
        return self._matrix((self.m, self.n), *self.b)

    @cached_property
    def _c(self) -> Vector:
        """What is left of the forms at q = 0."""
        form, coefficient, a, b = self.terms
        constants = self.vectors.constants
        products = coefficient * np.vecdot(constants[a], constants[b])
        total = self.c + np.bincount(form, weights=products, minlength=self.m)
        for number, height in self.heights.items():
            total[number] += height.constant
        return total

    def _matrix(self, shape: tuple[int, int], rows: Index, columns: Index, v: Vector) -> Matrix:
        if not large(max(shape)):
            size = shape[0] * shape[1]
            flat = np.bincount(rows * shape[1] + columns, weights=v, minlength=size)
            return flat.reshape(shape)
        return sp.csr_array(sp.coo_array((v, (rows, columns)), shape=shape))

    def slope(self, v: Vector) -> Matrix:
        """Return A v for every form: the derivative of G(q) v with respect to q; shape (m, n)."""
        if not large(max(self.m, self.n)):
            k, i, j, value = self.A
            return self._matrix((self.m, self.n), k, i, value * v[j])
        entries = [self._gradients(self.vectors.rates(v))]
        for number, height in self.heights.items():
            i, j, value, _, _ = height.entries
            entries.append((np.full(i.size, number), i, value * v[j]))
        return self._matrix((self.m, self.n), *map(np.concatenate, zip(*entries, strict=True)))

    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian at q; shape (m, n)."""
        total: Matrix = self.slope(q) + self._linear
        return total

    def __call__(self, q: Vector) -> Vector:
        """Return the values s(q); shape (m,)."""
        (form, coefficient, a, b), vectors = self.terms, self.vectors.constants
        vectors = vectors + self.vectors.rates(q)
        products = coefficient * np.vecdot(vectors[a], vectors[b])
        values: Vector = self.c + np.bincount(form, weights=products, minlength=self.m)
        if self.heights:
            frames = dict(enumerate(frame_vectors(q).tolist()))
            for number, height in self.heights.items():
                values[number] = height.at(frames)
        return values

    def curvature(self, weights: Vector) -> Matrix:
        """Return the sum of weights times A: the derivative of G(q)^T weights; shape (n, n)."""
        k, i, j, value = self.A
        return self._matrix((self.n, self.n), i, j, value * weights[k])

    def pullers(
        self, places: Callable[[Index, Index], Index], frames: int
    ) -> tuple[Index, Index, sp.csr_array, sp.csr_array]:
        """Return what makes G^T lam of every form by itself, on so many frames of one's own.

        `places` says which of these the body's is in row k. With rows k, coordinates j and matrices
        A (entries, 12 frames), b (m, 12 frames), it is (lam[k] q[j]) @ A + lam @ b.
        """

        def place(row: Index, i: Index) -> Index:
            return np.asarray(places(row, i // WIDTH) * WIDTH + i % WIDTH)

        (k, i, j, value), size = self.A, WIDTH * frames
        A = sp.csr_array((value, (np.arange(k.size), place(k, i))), shape=(k.size, size))
        row, at, constant = self.b
        b = sp.csr_array((constant, (row, place(row, at))), shape=(self.m, size))
        return k, j, A, b

    # -- many states at once: one row each ----------------------------------------------------

    @cached_property
    def _sum(self) -> sp.csr_array:
        """The matrix that adds up entries of A by forms; shape (entries, m)."""
        k = self.A[0]
        return sp.csr_array((np.ones(k.size), (np.arange(k.size), k)), shape=(k.size, self.m))

    @cached_property
    def _along(self) -> sp.csr_array:
        """The linear part, sparse: each state gives the same bits among others and alone."""
        return sp.csr_array(self._linear.T)

    def values(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return s of many configurations, (states, n) to (states, m)."""
        _, i, j, value = self.A
        products = q[:, i] * q[:, j] * (value / 2)
        return np.asarray(products @ self._sum + q @ self._along + self._c)

    def rates(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q) v of many states, (states, m)."""
        _, i, j, value = self.A
        products = v[:, i] * q[:, j] * value
        return np.asarray(products @ self._sum + v @ self._along)

    def sizes(self, extent: Array) -> Array:
        """Return the size of the terms of s where positions are so large [m]; (states, m).

        Directors have length one. By lengths of vectors: zeros among the coordinates of one do not
        make a term small, nor does it matter what cancels.
        """
        (form, coefficient, a, b), known = self.terms, self.vectors
        weights, fixed = abs(known.weights), np.linalg.norm(known.constants, axis=1)
        fixed = fixed + weights[:, :, 1:].sum(axis=(1, 2))
        long = extent[:, None] * weights[:, :, 0].sum(axis=1) + fixed
        sizes = np.zeros((len(extent), self.m))
        np.add.at(sizes.T, form, (abs(coefficient) * long[:, a] * long[:, b]).T)
        for number, height in self.heights.items():
            for vector in (height.r, height.a):
                ((_, (moves, *arm)),) = vector.weights
                far = np.linalg.norm(arm) + np.linalg.norm(vector.constant)
                sizes[:, number] += (moves * extent + far) ** 2
        return sizes + abs(self.c)

    @cached_property
    def reach(self) -> float:
        """The largest distance of a point from the centre of its body [m]."""
        w = self.vectors.weights
        return float(np.max(np.linalg.norm(w[w[:, :, 0] != 0][:, 1:], axis=1), initial=0.0))


def affine_vectors(
    forms: Sequence[VectorForm], bodies: int
) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return many world vectors as q @ W + c, with W (12 bodies, 3 vectors) and c (vectors, 3)."""
    known = Vectors.of(np.array([flat(form) for form in forms]).reshape(-1, _NUMBERS))
    first, column, weight = known.entries
    vector, x = np.repeat(np.arange(len(forms)), np.diff(first))[:, None], np.arange(3)
    where = (column[:, None] + x).reshape(-1), (3 * vector + x).reshape(-1)
    W = sp.csr_array((np.repeat(weight, 3), where), shape=(WIDTH * bodies, 3 * len(forms)))
    return W, known.constants


def stack(forms: Iterable[Form], bodies: int) -> Forms:
    """Stack forms on the coordinates of so many bodies."""
    return Forms([pack(tuple(forms))], bodies)
