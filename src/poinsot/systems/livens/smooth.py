"""Functions of the coordinates with their derivatives: what a Lagrangian is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Vector

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Smooth:
    """A function F of q, shape (n,), with several values.

    Parameters
    ----------
    value : callable
        q -> F; shape (values,).
    jacobian : callable
        q -> dF_i/dq_k; shape (values, n).
    curvature : callable
        (q, w) -> second derivatives of w·F; shape (n, n).
    quadratic : (values,) of bool
        Which of the values are known to be quadratic in q, or less.
    along : (n,) of 0 and 1
        The coordinates along which discrete derivatives are corrected: all that F depends on.
    constant : bool
        Whether all are known to be constant.
    exact : bool
        Whether the Jacobian is exact; False: by finite differences.
    """

    value: Callable[[Vector], Vector]
    jacobian: Callable[[Vector], Array]
    curvature: Callable[[Vector, Vector], Array]
    quadratic: NDArray[np.bool_]
    along: Vector
    constant: bool = False
    exact: bool = True

    @property
    def size(self) -> int:
        """Number of values."""
        return self.quadratic.size

    @cached_property
    def is_quadratic(self) -> bool:
        """Whether all values are."""
        return bool(self.quadratic.all())


def constant(values: Array, n: int) -> Smooth:
    """Return a function of n coordinates that does not depend on them."""
    fixed = np.array(values, dtype=float).reshape(-1)
    nothing, flat = np.zeros((fixed.size, n)), np.zeros((n, n))
    return Smooth(
        value=lambda q: fixed,
        jacobian=lambda q: nothing,
        curvature=lambda q, w: flat,
        quadratic=np.ones(fixed.size, dtype=bool),
        along=np.zeros(n),
        constant=True,
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
