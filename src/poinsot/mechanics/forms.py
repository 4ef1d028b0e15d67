r"""Quadratic forms of director coordinates: what every constraint, length and angle is made of.

A body has q = (phi, d1, d2, d3) in R^12, the ground none. Its points and directions are affine
in q, and the product of two such vectors is at most quadratic,

.. math:: s(q) = \tfrac12\, q \cdot A q + b \cdot q + c,

which is why the midpoint rule integrates it exactly:
:math:`s(q_1) - s(q_0) = \nabla s(q_m) \cdot (q_1 - q_0)` [LKB26, eq. (56)].
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.ph.matrices import Matrix, Vector, large

#: Coordinates of a body.
WIDTH = 12
#: The ground's index: it has no coordinates.
GROUND = -1
Vector3: TypeAlias = tuple[float, float, float]
#: phi, d1, d2 and d3 of a body.
Frame: TypeAlias = Sequence[Sequence[float]]
Index: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class VectorForm:
    """A world vector, affine in q: the sum of weights times (phi, d1, d2, d3) plus a constant.

    `weights` maps a body's index to its four weights; a material point X has (1, X), a
    body-fixed direction a has (0, a).
    """

    weights: tuple[tuple[int, tuple[float, float, float, float]], ...]
    constant: Vector3 = (0.0, 0.0, 0.0)

    def __sub__(self, other: "VectorForm") -> "VectorForm":
        """Return the difference of two vectors."""
        total = dict(self.weights)
        for body, (w, x, y, z) in other.weights:
            w0, x0, y0, z0 = total.get(body, (0.0, 0.0, 0.0, 0.0))
            total[body] = w0 - w, x0 - x, y0 - y, z0 - z
        (a, b, c), (d, e, f) = self.constant, other.constant
        return VectorForm(tuple(total.items()), (a - d, b - e, c - f))

    def at(self, frames: Mapping[int, Frame]) -> Vector3:
        """Return the vector where its bodies have these frames."""
        x, y, z = self.constant
        for body, (w, w1, w2, w3) in self.weights:
            phi, d1, d2, d3 = frames[body]
            x += w * phi[0] + w1 * d1[0] + w2 * d2[0] + w3 * d3[0]
            y += w * phi[1] + w1 * d1[1] + w2 * d2[1] + w3 * d3[1]
            z += w * phi[2] + w1 * d1[2] + w2 * d2[2] + w3 * d3[2]
        return x, y, z

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


def three(a: ArrayLike) -> Vector3:
    """Return three numbers as a tuple."""
    x, y, z = np.asarray(a, dtype=float).tolist()
    return x, y, z


def point(body: int, X: ArrayLike) -> VectorForm:
    """Return a material point, X in director axes [m]; on the ground, X in world axes."""
    if body == GROUND:
        return VectorForm((), three(X))
    return VectorForm(((body, (1.0, *three(X))),))


def direction(body: int, a: ArrayLike) -> VectorForm:
    """Return a body-fixed direction, a in director axes; on the ground, in world axes."""
    if body == GROUND:
        return VectorForm((), three(a))
    return VectorForm(((body, (0.0, *three(a))),))


#: The axes of the world.
AXES = tuple(direction(GROUND, unit) for unit in np.eye(3))


@dataclass(frozen=True)
class Form:
    """One quadratic form: a sum of products, coefficient times a·b, plus a constant c."""

    terms: tuple[tuple[float, VectorForm, VectorForm], ...]
    c: float = 0.0

    def at(self, frames: Mapping[int, Frame]) -> float:
        """Return the value where its bodies have these frames."""
        value = self.c
        for coefficient, a, b in self.terms:
            (x, y, z), (u, v, w) = a.at(frames), b.at(frames)
            value += coefficient * (x * u + y * v + z * w)
        return value

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

    n: Vector3 = (0.0, 0.0, 1.0)
    r: VectorForm = VectorForm(())
    a: VectorForm = VectorForm(())

    @property
    def entries(self) -> tuple[Index, Index, Vector, Index, Vector]:
        """Entries i, j and values of the matrix A, i and values of the linear part b."""
        # The body of r and a, which is one, is all that there are coordinates of.
        ((body, w_r),), ((_, w_a),) = self.r.weights, self.a.weights
        block = np.kron(np.outer(w_r, w_r) + np.outer(w_a, w_a), np.outer(self.n, self.n))
        i, j = np.nonzero(block)
        b = np.kron(w_r, self.n) * float(np.dot(self.n, self.r.constant))
        (k,) = np.nonzero(b)
        return WIDTH * body + i, WIDTH * body + j, block[i, j], WIDTH * body + k, b[k]

    @property
    def constant(self) -> float:
        """What is left at q = 0."""
        return float(np.dot(self.n, self.r.constant)) ** 2 / 2

    def at(self, frames: Mapping[int, Frame]) -> float:
        """Return the value where its bodies have these frames."""
        up, turned = np.dot(self.n, self.r.at(frames)), np.dot(self.n, self.a.at(frames))
        return float(up**2 + turned**2) / 2 + self.c

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
    x, y, z = (dot(a, unit) for unit in AXES)
    return x, y, z


def half_square(a: VectorForm, length: float = 0.0) -> Form:
    """Return (a·a - length^2) / 2."""
    return Form(((0.5, a, a),), -(length**2) / 2)


# -- many forms as arrays ---------------------------------------------------------------------------


def spread_out(counts: Index) -> tuple[Index, Index]:
    """Return, for groups of so many members, the group of each member and its number there."""
    group = np.repeat(np.arange(counts.size), counts)
    return group, np.arange(group.size) - np.repeat(np.cumsum(counts) - counts, counts)


class Vectors(NamedTuple):
    """Vectors as arrays: weights (v, k, 4) of up to k bodies (v, k), and constants (v, 3).

    Where a vector has fewer bodies than others, the ground fills up, with weights of zero.
    """

    bodies: Index
    weights: NDArray[np.float64]
    constants: NDArray[np.float64]

    @classmethod
    def of(cls, forms: Sequence[VectorForm]) -> "Vectors":
        """Return many vectors as arrays."""
        counts = np.array([len(form.weights) for form in forms], dtype=np.intp)
        bodies = np.full((counts.size, counts.max(initial=1)), GROUND)
        weights = np.zeros((*bodies.shape, 4))
        if counts.any():
            place = spread_out(counts)
            bodies[place] = [body for form in forms for body, _ in form.weights]
            weights[place] = [w for form in forms for _, w in form.weights]
        constants = np.array([form.constant for form in forms], dtype=float)
        return cls(bodies, weights, constants.reshape(-1, 3))

    def padded(self, width: int) -> "Vectors":
        """Return the same with room for at least so many bodies a vector."""
        more = ((0, 0), (0, max(0, width - self.bodies.shape[1])))
        bodies = np.pad(self.bodies, more, constant_values=GROUND)
        return Vectors(bodies, np.pad(self.weights, (*more, (0, 0))), self.constants)

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
    products; they are dense for small systems and sparse for large ones. `c` (m,) is what is
    added to the products of each form; forms that are no products are `heights`.
    """

    vectors: Vectors
    terms: Terms
    c: Vector
    bodies: int
    heights: Mapping[int, Height] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return WIDTH * self.bodies

    @property
    def m(self) -> int:
        """Number of forms."""
        return self.c.size

    def take(self, rows: ArrayLike) -> "Forms":
        """Return some of the forms, in this order."""
        chosen, terms = np.asarray(rows, dtype=np.intp), self.terms
        first, last = (np.searchsorted(terms.form, chosen, side) for side in ("left", "right"))
        form, inner = spread_out(last - first)
        places = first[form] + inner
        used, ends = np.unique([terms.a[places], terms.b[places]], return_inverse=True)
        heights = self.heights and {
            k: self.heights[row] for k, row in enumerate(chosen.tolist()) if row in self.heights
        }
        return Forms(
            vectors=Vectors(*(table[used] for table in self.vectors)),
            terms=Terms(form, terms.coefficient[places], *ends.reshape(2, -1)),
            c=self.c[chosen],
            bodies=self.bodies,
            heights=heights,
        )

    def among(self, bodies: Sequence[int]) -> "Forms":
        """Return the forms with their bodies counted among a few only."""
        number = np.full(self.bodies + 1, GROUND)
        number[list(bodies)] = np.arange(len(bodies))
        return replace(
            self,
            vectors=self.vectors._replace(bodies=number[self.vectors.bodies]),
            bodies=len(bodies),
            heights={k: height.among(tuple(bodies)) for k, height in self.heights.items()},
        )

    # -- entries of s = q·A q/2 + b·q + c -----------------------------------------------------

    @cached_property
    def A(self) -> tuple[Index, Index, Index, Vector]:
        """Entries of the matrices: form, row, column and value, some of them several times."""
        (form, coefficient, a, b), (first, column, weight) = self.terms, self.vectors.entries
        count = np.diff(first)
        term, inner = spread_out(count[a] * count[b])
        other = count[b][term]
        i, j = first[a][term] + inner // other, first[b][term] + inner % other
        value = coefficient[term] * weight[i] * weight[j]
        rows, columns = (column[[i, j], None] + np.arange(3)).reshape(2, -1)
        k, value = np.repeat([form[term], value], 3, axis=1)
        entries = [(k, rows, columns, value), (k, columns, rows, value)]
        for number, height in self.heights.items():
            i, j, value, _, _ = height.entries
            entries.append((np.full(i.size, number), i, j, value))
        k, i, j, value = map(np.concatenate, zip(*entries, strict=True))
        return k.astype(np.intp), i, j, value

    @cached_property
    def b(self) -> tuple[Index, Index, Vector]:
        """Entries of the linear parts: form, column and value, some of them several times."""
        (form, coefficient, a, b), (first, column, weight) = self.terms, self.vectors.entries
        count, constants = np.diff(first), self.vectors.constants
        entries = []
        for one, other in ((a, b), (b, a)):
            term, inner = spread_out(count[one])
            i = first[one][term] + inner
            values = (coefficient[term] * weight[i])[:, None] * constants[other[term]]
            at, x = np.nonzero(values)
            entries.append((form[term[at]], column[i[at]] + x, values[at, x]))
        for number, height in self.heights.items():
            _, _, _, i, value = height.entries
            entries.append((np.full(i.size, number), i, value))
        k, i, value = map(np.concatenate, zip(*entries, strict=True))
        return k, i, value

    @cached_property
    def _linear(self) -> Matrix:
        return self._matrix((self.m, self.n), *self.b)

    @cached_property
    def _c(self) -> Vector:
        """What is left of the forms at q = 0."""
        form, coefficient, a, b = self.terms
        constants = self.vectors.constants
        products = coefficient * np.einsum("ij,ij->i", constants[a], constants[b])
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

    @cached_property
    def _filling(self) -> tuple[Index, Index, sp.csr_array]:
        """Where `slope` has entries, as indices and row ends, and what makes them of a vector."""
        k, i, j, value = self.A
        key, place = np.unique(k * self.n + i, return_inverse=True)
        ends = np.searchsorted(key, self.n * np.arange(self.m + 1))
        fill = sp.csr_array((value, (place, j)), shape=(key.size, self.n))
        return key % self.n, ends, fill

    def slope(self, v: Vector) -> Matrix:
        """Return A v for every form: the derivative of G(q) v with respect to q; shape (m, n)."""
        if not large(max(self.m, self.n)):
            k, i, j, value = self.A
            return self._matrix((self.m, self.n), k, i, value * v[j])
        columns, ends, fill = self._filling
        return sp.csr_array((fill @ v, columns, ends), shape=(self.m, self.n))

    def G(self, q: Vector) -> Matrix:
        """Return the Jacobian at q; shape (m, n)."""
        total: Matrix = self.slope(q) + self._linear
        return total

    def __call__(self, q: Vector) -> Vector:
        """Return the values s(q); shape (m,)."""
        return np.asarray((self.slope(q) * 0.5 + self._linear) @ q) + self._c

    def curvature(self, weights: Vector) -> Matrix:
        """Return the sum of weights times A: the derivative of G(q)^T weights; shape (n, n)."""
        k, i, j, value = self.A
        return self._matrix((self.n, self.n), i, j, value * weights[k])

    # -- many states at once: one row each ----------------------------------------------------

    def _collect(self, index: Index, size: int) -> sp.csr_array:
        """Return the matrix that adds up entries of A by index; shape (entries, size)."""
        entries = np.arange(index.size)
        return sp.csr_array((np.ones(index.size), (entries, index)), shape=(index.size, size))

    def values(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return s of many configurations, (states, n) to (states, m)."""
        k, i, j, value = self.A
        products = q[:, i] * q[:, j] * (value / 2)
        return np.asarray(products @ self._collect(k, self.m) + (self._linear @ q.T).T + self._c)

    def rates(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q) v of many states, (states, m)."""
        k, i, j, value = self.A
        products = v[:, i] * q[:, j] * value
        return np.asarray(products @ self._collect(k, self.m) + (self._linear @ v.T).T)

    def pulls(self, q: NDArray[np.float64], lam: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q)^T lam of many states, (states, n)."""
        k, i, j, value = self.A
        products = lam[:, k] * q[:, j] * value
        return np.asarray(products @ self._collect(i, self.n) + (self._linear.T @ lam.T).T)


def join(parts: Sequence[Forms], bodies: int) -> Forms:
    """Return the forms of all parts, one part after the other, on so many bodies."""
    width = max((part.vectors.bodies.shape[1] for part in parts), default=1)
    first = np.cumsum([0, *(part.m for part in parts)])
    shift = np.cumsum([0, *(len(part.vectors.bodies) for part in parts)])
    moved = [
        Terms(term.form + k, term.coefficient, term.a + v, term.b + v)
        for term, k, v in zip((part.terms for part in parts), first, shift, strict=False)
    ]
    tables, none = [part.vectors.padded(width) for part in parts], stack((), bodies)
    return Forms(
        vectors=Vectors(*map(np.concatenate, zip(*(tables or [none.vectors]), strict=True))),
        terms=Terms(*map(np.concatenate, zip(none.terms, *moved, strict=True))),
        c=np.concatenate([none.c, *(part.c for part in parts)]),
        bodies=bodies,
        heights={
            int(k) + number: height
            for k, part in zip(first, parts, strict=False)
            for number, height in part.heights.items()
        },
    )


def stack(forms: Iterable[Form], bodies: int) -> Forms:
    """Stack forms on the coordinates of so many bodies."""
    every = tuple(forms)
    # Vectors that several products share are there once.
    known = {id(v): v for form in every for _, a, b in form.terms for v in (a, b)}
    number = dict(zip(known, range(len(known)), strict=True))
    terms = [
        (k, coefficient, number[id(a)], number[id(b)])
        for k, form in enumerate(every)
        for coefficient, a, b in form.terms
    ]
    form, coefficient, a, b = np.array(terms, dtype=float).reshape(-1, 4).T
    return Forms(
        vectors=Vectors.of(list(known.values())),
        terms=Terms(form.astype(np.intp), coefficient, a.astype(np.intp), b.astype(np.intp)),
        c=np.array([form.c for form in every], dtype=float),
        bodies=bodies,
        heights={k: form for k, form in enumerate(every) if isinstance(form, Height)},
    )
