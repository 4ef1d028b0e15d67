r"""Quadratic forms of director coordinates, of which constraints, lengths and angles consist.

A body has q = (phi, d1, d2, d3) in R^12, the ground none. Its points and directions are affine
in q, and the product of two such vectors is at most quadratic,

.. math:: s(q) = \tfrac12\, q \cdot A q + b \cdot q + c,

so that the midpoint rule integrates it exactly:
:math:`s(q_1) - s(q_0) = \nabla s(q_m) \cdot (q_1 - q_0)` [LKB26, eq. (56)].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.frames.places import WIDTH
from poinsot.ph.matrices import Vector

Indices = NDArray[np.intp]

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


def three(a: ArrayLike) -> Vector3:
    """Return three numbers as a tuple."""
    if isinstance(a, tuple):
        return a
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
        i, j = (np.asarray(each) for each in np.nonzero(block))
        b = np.kron(w_r, np.asarray(self.n)) * float(np.dot(self.n, self.r.constant))
        k = np.flatnonzero(b)
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


def components(a: VectorForm) -> tuple[Form, Form, Form]:
    """Return the three world components of a vector."""
    x, y, z = (dot(a, unit) for unit in AXES)
    return x, y, z


def half_square(a: VectorForm, length: float = 0.0) -> Form:
    """Return (a·a - length^2) / 2."""
    return Form(((0.5, a, a),), -(length**2) / 2)
