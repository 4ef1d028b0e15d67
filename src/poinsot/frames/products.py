"""Products of vectors for the compiled engine: the vectors of two bodies in each product."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.frames.forms import GROUND
from poinsot.frames.stacks import Forms

Real = NDArray[np.float64]
Index = NDArray[np.intp]


class Kind(IntEnum):
    """DOT a_A·b_B, OFFSET a_A·r, DISTANCE r·r with r = r_B - r_A; AXIS e·r with e in world axes."""

    DOT = 0
    OFFSET = 1
    DISTANCE = 2
    AXIS = 3


@dataclass(frozen=True, eq=False)
class Products:
    """Coefficients times products of two vectors of bodies A and B, one row each.

    Directions `a` on A and `b` on B, points `XA`, `XB`, all (t, 3) in director axes, those of the
    ground in world axes.
    """

    kind: Index
    coefficient: Real
    A: Index
    B: Index
    a: Real
    b: Real
    XA: Real
    XB: Real

    @property
    def ends(self) -> Index:
        """The bodies A and B; (t, 2)."""
        return np.column_stack([self.A, self.B])

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Whether they meet translations; (t,)."""
        return np.not_equal(self.kind, Kind.DOT)

    @property
    def numbers(self) -> Real:
        """The columns of the engine's tables; (t, 13)."""
        return np.hstack([self.a, self.b, self.XA, self.XB, self.coefficient[:, None]])

    @property
    def shared(self) -> Real:
        """What equations have in common that differ in one vector only; (t, 9)."""
        dot = (self.kind == Kind.DOT)[:, None]
        vectors = np.where(dot, [self.a, 0 * self.a], [self.XA, self.XB])
        return np.column_stack([self.kind, self.ends, *vectors])

    def take(self, rows: Index | NDArray[np.bool_]) -> "Products":
        """Return some of them."""
        return Products(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def products(forms: Forms) -> Products:
    """Tell what kinds of products some forms consist of, in the order of their terms."""
    (bodies, weights, constants), terms = forms.vectors, forms.terms
    # As a direction: of the body that it has, or of the ground.
    directions = (weights[:, :, 0] == 0).all(axis=1)
    body = bodies[:, 0]
    own = np.where((body == GROUND)[:, None], constants, weights[:, 0, 1:])
    # As r = r_B - r_A: the end that no body has is on the ground.
    end, at = np.full((2, len(bodies)), GROUND), np.array([-constants, constants])
    for side, sign in enumerate((-1.0, 1.0)):
        vector, slot = np.nonzero(weights[:, :, 0] == sign)
        end[side, vector], at[side, vector] = bodies[vector, slot], sign * weights[vector, slot, 1:]
    turned = directions[terms.b] & ~directions[terms.a]
    one, other = np.where(turned, [terms.b, terms.a], [terms.a, terms.b])
    dot, distance = directions[other], ~directions[one]
    A, B = np.where(dot, [body[one], body[other]], end[:, other])
    by_axis = np.where(body[one] == A, Kind.OFFSET, Kind.AXIS)
    XA, XB = np.where(dot[:, None], 0.0, at[:, other])
    return Products(
        kind=np.where(dot, Kind.DOT, np.where(distance, Kind.DISTANCE, by_axis)),
        coefficient=terms.coefficient,
        A=A,
        B=B,
        a=np.where(distance[:, None], 0.0, own[one]),
        b=np.where(dot[:, None], own[other], 0.0),
        XA=XA,
        XB=XB,
    )


@dataclass(frozen=True, eq=False)
class Lines:
    """Coordinates as products, one coordinate after the other.

    `form` (t,) is the form (0 or 1) that a product is part of, `ranges` (s, 2) are the first
    product of each coordinate and the one after its last.
    """

    products: Products
    form: Index
    ranges: Index

    @property
    def ends(self) -> Index:
        """The two bodies of each coordinate; (s, 2)."""
        return self.products.ends[self.ranges[:, 0]]

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Which of them meet translations; (s,)."""
        moving = np.concatenate([[0], np.cumsum(self.products.moves)])
        return np.asarray(np.diff(moving[self.ranges], axis=1)[:, 0] > 0)


def lines(forms: Forms, counts: ArrayLike | Sequence[int]) -> Lines:
    """Return coordinates as products; each has so many forms of a stack."""
    first = np.concatenate([[0], np.cumsum(counts, dtype=np.intp)])
    if first.size == 1:
        return NO_LINES
    line = np.searchsorted(first, forms.terms.form, side="right") - 1
    found, limits = products(forms), np.searchsorted(line, np.arange(first.size))
    ranges = np.column_stack([limits[:-1], limits[1:]])
    # All products of a coordinate are of A and B; only a DOT can be turned around.
    turned = np.not_equal(found.A, found.A[ranges[line, 0]])
    swapped = {
        name: np.where(turned if each.ndim == 1 else turned[:, None], other, each)
        for name, each, other in (
            ("A", found.A, found.B),
            ("B", found.B, found.A),
            ("a", found.a, found.b),
            ("b", found.b, found.a),
        )
    }
    return Lines(Products(**{**vars(found), **swapped}), forms.terms.form - first[line], ranges)


@dataclass(frozen=True, eq=False)
class Struts:
    """Coordinates of bodies A and B, each different from all others, as the engine knows them.

    `numbers` (s, 18) are those of its product or, where it is of directions, the matrices
    sum c a b^T of one or two forms. Of what acts along any of them, `order` (k,) is the order by
    coordinates, and `ranges` (s, 2) are the first there and the one after the last.
    """

    kind: Index
    chart: Index
    ends: Index
    numbers: Real
    order: Index
    ranges: Index

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Which of them meet translations; (s,)."""
        return np.not_equal(self.kind, Kind.DOT)


#: No coordinates.
_NO_INDEX, _NO_VECTORS = np.zeros(0, dtype=np.intp), np.zeros((0, 3))
_NO_PRODUCTS = Products(
    _NO_INDEX, np.zeros(0), _NO_INDEX, _NO_INDEX, *(_NO_VECTORS for _ in range(4))
)
NO_LINES = Lines(_NO_PRODUCTS, _NO_INDEX, np.zeros((0, 2), dtype=np.intp))


def struts(along: Lines, charts: ArrayLike, *, apart: bool = False) -> Struts:
    """Return the coordinates that something acts along; equal ones are one, unless `apart`."""
    if along is NO_LINES:
        ends = along.ranges
        return Struts(_NO_INDEX, _NO_INDEX, ends, np.zeros((0, 18)), _NO_INDEX, ends)
    at, (first, last), chart = along.products, along.ranges.T, np.asarray(charts, dtype=np.intp)
    line, kind = np.repeat(np.arange(first.size), last - first), at.kind[first]
    forms = np.zeros((first.size, 2, 3, 3))
    outer = at.a[:, :, None] * at.b[:, None, :]
    np.add.at(forms, (line, along.form), at.coefficient[:, None, None] * outer)
    of_points = np.hstack([at.numbers[first], np.zeros((first.size, 5))])
    numbers = np.where((kind == Kind.DOT)[:, None], forms.reshape(-1, 18), of_points)
    together = np.column_stack([kind, chart, along.ends, numbers])
    if apart:
        together = np.column_stack([together, np.arange(len(together))])
    _, one, same = np.unique(together, axis=0, return_index=True, return_inverse=True)
    same = one[same.reshape(-1)]
    order, one = np.argsort(same, kind="stable"), np.sort(one)
    limits = np.append(np.searchsorted(same[order], one), same.size)
    ranges = np.column_stack([limits[:-1], limits[1:]])
    return Struts(kind[one], chart[one], along.ends[one], numbers[one], order, ranges)
