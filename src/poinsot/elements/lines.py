"""Finite-element spaces on a line: their shape functions at points, as sparse matrices.

The polynomials are defined on the unit interval. In global coordinates, as in general libraries,
cubic ones lose digits with the third power of the number of elements.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import legendre
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.ph.matrices import Array

Space: TypeAlias = Literal["P0", "P1", "discontinuous P1", "Hermite"]

#: Coefficients of the shape functions, s^0 first, a row for each unknown of an element.
_LINEAR = ((1, -1), (0, 1))
_SHAPES = {
    "P0": ((1,),),
    "P1": _LINEAR,
    "discontinuous P1": _LINEAR,
    "Hermite": ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1)),
}
#: Exact up to degree 7: two Hermite functions, or two slopes of them and a cubic weight.
_GAUSS_POINTS = 4


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a line: the element of each, its place s in [0, 1] there, and a weight [m]."""

    element: np.ndarray
    s: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class Line:
    """Nodes at increasing places [m], shape (nodes,), and the elements between them."""

    nodes: Array

    @property
    def elements(self) -> int:
        """Number of elements."""
        return self.nodes.size - 1

    @cached_property
    def lengths(self) -> Array:
        """Length of each element [m]; shape (elements,)."""
        return np.diff(self.nodes)

    @cached_property
    def gauss(self) -> Points:
        """Gauss points of all elements, element by element."""
        xi, weight = legendre.leggauss(_GAUSS_POINTS)
        element = np.repeat(np.arange(self.elements), _GAUSS_POINTS)
        s, weights = np.tile((1 + xi) / 2, self.elements), np.tile(weight / 2, self.elements)
        return Points(element, s, weights * self.lengths[element])

    @cached_property
    def ends(self) -> Points:
        """Start and end of each element, one after the other."""
        element = np.repeat(np.arange(self.elements), 2)
        return Points(element, np.tile([0.0, 1.0], self.elements), np.ones(element.size))

    def at(self, places: ArrayLike) -> Points:
        """Return points at places [m], each in the element that it lies in or at the end of."""
        x = np.atleast_1d(np.asarray(places, dtype=float))
        outside = (x < self.nodes[0]) | (x > self.nodes[-1]) | ~np.isfinite(x)
        if outside.any():
            raise InputError(
                f"the place x = {x[outside][0]:g} m is not on the beam, which reaches from "
                f"{self.nodes[0]:g} to {self.nodes[-1]:g} m"
            )
        element = np.searchsorted(self.nodes[1:-1], x, side="right")
        s = (x - self.nodes[element]) / self.lengths[element]
        return Points(element, s, np.ones_like(x))

    def places(self, points: Points) -> Array:
        """Return where points are [m]."""
        start = self.nodes[points.element]
        return np.asarray(start + points.s * self.lengths[points.element])

    def size(self, space: Space) -> int:
        """Return the number of unknowns of a space."""
        by_node = {"P1": 1, "Hermite": 2}
        by_element = {"P0": 1, "discontinuous P1": 2}
        if space in by_node:
            return by_node[space] * self.nodes.size
        return by_element[space] * self.elements

    def sample(self, space: Space, points: Points, *, derivative: int = 0) -> sp.csr_array:
        """Return the shape functions of a space, or their derivatives, at points.

        Unknowns of P1 are values at the nodes, of Hermite value and slope at each node, of P0 and
        discontinuous P1 the values at the middle, or at the start and the end, of each element.
        Shape (points, size of the space).
        """
        coefficients = np.array(_SHAPES[space], dtype=float)
        of_element, e = len(coefficients), points.element
        h = self.lengths[e]
        values = polyval(points.s, polyder(coefficients.T, derivative)) / h**derivative
        if space == "Hermite":
            values[1::2] *= h  # unknowns are slopes in x, not in s
        step = {"P0": 1, "P1": 1, "discontinuous P1": 2, "Hermite": 2}[space]
        columns = step * e + np.arange(of_element)[:, None]
        rows = np.broadcast_to(np.arange(e.size), columns.shape)
        entries = (values.ravel(), (rows.ravel(), columns.ravel()))
        return sp.csr_array(sp.coo_array(entries, shape=(e.size, self.size(space))))
