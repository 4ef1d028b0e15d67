"""Products of vectors as the compiled engine knows them: which vectors of which two bodies."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.forms import GROUND, Form, VectorForm

ORIGIN = np.zeros(3)


class Kind(IntEnum):
    """DOT a_A·b_B, OFFSET a_A·r, DISTANCE r·r with r = r_B - r_A; AXIS e·r with e in world axes."""

    DOT = 0
    OFFSET = 1
    DISTANCE = 2
    AXIS = 3


@dataclass(frozen=True, eq=False)
class Product:
    """Coefficient times a product of two vectors of bodies A and B.

    Directions `a` on A and `b` on B, points `XA`, `XB`; all in director axes, those of the ground
    in world axes.
    """

    kind: Kind
    coefficient: float
    A: int
    B: int
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    XA: NDArray[np.float64]
    XB: NDArray[np.float64]

    @property
    def numbers(self) -> list[float]:
        """Vectors and coefficient, as tables of terms have them."""
        return [*self.a, *self.b, *self.XA, *self.XB, self.coefficient]


def _body(vector: VectorForm) -> tuple[int, NDArray[np.float64]]:
    """Return the body of a direction and its components there."""
    if not vector.weights:
        return GROUND, np.array(vector.constant)
    ((body, weights),) = vector.weights
    return body, np.array(weights[1:])


def _ends(r: VectorForm) -> tuple[tuple[int, NDArray[np.float64]], tuple[int, NDArray[np.float64]]]:
    """Return A and B of r = r_B - r_A, with their points."""
    ends = {-1.0: (GROUND, -np.array(r.constant)), 1.0: (GROUND, np.array(r.constant))}
    for body, weights in r.weights:
        ends[weights[0]] = body, weights[0] * np.array(weights[1:])
    return ends[-1.0], ends[1.0]


def _is_direction(vector: VectorForm) -> bool:
    return all(weights[0] == 0 for _, weights in vector.weights)


def product(coefficient: float, a: VectorForm, b: VectorForm) -> Product:
    """Tell what kind of product a·b is."""
    if _is_direction(a) and _is_direction(b):
        (A, on_A), (B, on_B) = _body(a), _body(b)
        return Product(Kind.DOT, coefficient, A, B, on_A, on_B, ORIGIN, ORIGIN)
    if _is_direction(b):
        a, b = b, a
    (A, XA), (B, XB) = _ends(b)
    if not _is_direction(a):
        return Product(Kind.DISTANCE, coefficient, A, B, ORIGIN, ORIGIN, XA, XB)
    body, on_body = _body(a)
    kind = Kind.OFFSET if body == A else Kind.AXIS
    return Product(kind, coefficient, A, B, on_body, ORIGIN, XA, XB)


def products(form: Form) -> list[Product]:
    """Return the products that a form consists of."""
    return [product(*term) for term in form.terms]
