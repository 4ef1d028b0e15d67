"""Functions of the coordinates from SymPy expressions, with exact compiled derivatives."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from poinsot.ph.expressions import Compiled
from poinsot.systems.livens.invariants import degree, recognise
from poinsot.systems.livens.smooth import Field, Smooth, composed


def field(q: Sequence[Any], matrix: Any) -> Field:
    """Return a matrix by its expressions in the symbols q."""
    slopes = [sympy.diff(entry, symbol) for entry in matrix for symbol in q]
    shape = (int(matrix.rows), int(matrix.cols))
    jacobian = Compiled([q], slopes, (*shape, len(q)))
    value = Compiled([q], matrix, shape)
    return Field(shape=shape, value=value, jacobian=jacobian, constant=jacobian.is_zero)


def smooth(
    q: Sequence[Any],
    values: Sequence[Any],
    shape: tuple[int, ...] | None = None,
    *,
    everywhere: bool = False,
    invariants: Mapping[Any, Any] | None = None,
) -> Smooth:
    """Return a function by the expressions of its values.

    `everywhere` corrects discrete derivatives along all q. Otherwise they keep the symmetries of
    what the values are functions of: the `invariants` (symbol -> expression) that are in them, and
    those that are recognised. Quadratic values keep all their symmetries at the midpoint.
    """
    orders = [degree(q, sympy.sympify(value).subs(invariants or {})) for value in values]
    if not everywhere and not all(order is not None and order <= 2 for order in orders):
        found = recognise(q, values, invariants or {})
        if found is not None:
            pi = smooth(q, list(found.forms), everywhere=True)
            return composed(pi, smooth(found.symbols, found.values, shape, everywhere=True))
    values = [sympy.sympify(value).subs(invariants or {}) for value in values]
    size, n = len(values), len(q)
    shape = shape or (size,)
    weights = [sympy.Dummy(f"w{i}") for i in range(size)]
    gradients = [[sympy.diff(value, symbol) for symbol in q] for value in values]
    hessians = [
        sympy.Matrix(n, n, lambda i, j, d=d: sympy.diff(d[max(i, j)], q[min(i, j)]))
        for d in gradients
    ]
    weighted = sum((w * H for w, H in zip(weights, hessians, strict=True)), sympy.zeros(n, n))
    jacobian = Compiled([q], [d for row in gradients for d in row], (*shape, n))
    return Smooth(
        shape=shape,
        value=Compiled([q], values, shape),
        jacobian=jacobian,
        curvature=Compiled([q, weights], weighted),
        quadratic=np.array([not H.free_symbols for H in hessians], dtype=bool),
        depends=np.array(
            [everywhere or any(d[k] != 0 for d in gradients) for k in range(n)], dtype=float
        ),
        constant=jacobian.is_zero,
    )
