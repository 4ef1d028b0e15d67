"""Lagrangians from SymPy expressions, all derivatives exact and compiled."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError
from poinsot.ph.expressions import Compiled, read_matrix, read_symbols, require_zero
from poinsot.ph.matrices import Vector
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.smooth import Smooth


def read(
    name: str,
    q: Sequence[Any],
    M: Any,
    V: Any,
    g: Sequence[Any],
    B: Any,
    inputs: int,
    parameters: Mapping[Any, float] | None,
    published: bool,
) -> GeneralLagrangian:
    """Return the Lagrangian of these expressions in the symbols q; see `LagrangianSystem`."""
    symbols = read_symbols(f"system '{name}': q", q)
    if len(set(symbols)) < len(symbols):
        raise InputError(f"system '{name}': a symbol stands for two coordinates")
    n = len(symbols)
    rows = [g] if isinstance(g, sympy.Expr) else list(g)
    parts = list(V) if isinstance(V, Sequence) and not isinstance(V, str) else [V]

    def expressions(what: str, given: Any, shape: tuple[int, int]) -> Any:
        return read_matrix(f"system '{name}': {what}", given, shape, symbols, parameters)

    mass = expressions("M", M, (n, n))
    require_zero(name, "M - M^T, so M is not symmetric", mass - mass.T)
    constraints = expressions("g", [[row] for row in rows], (len(rows), 1)) if rows else []
    inlets = expressions("B", B, (n, inputs)) if inputs else []
    potentials = [expressions("V", [[part]], (1, 1)) for part in parts]
    return GeneralLagrangian(
        name=name,
        coordinates=[str(symbol) for symbol in symbols],
        mass=smooth(symbols, list(mass), everywhere=published),
        potentials=[smooth(symbols, list(part)) for part in potentials],
        constraints=smooth(symbols, list(constraints)),
        inlets=smooth(symbols, list(inlets)),
        massless=np.array([mass[:, k].is_zero_matrix is True for k in range(n)]),
    )


def smooth(q: Sequence[Any], values: Sequence[Any], *, everywhere: bool = False) -> Smooth:
    """Return a function by the expressions of its values; `everywhere` corrects it along all q."""
    size, n = len(values), len(q)
    weights = [sympy.Dummy(f"w{i}") for i in range(size)]
    gradients = [[sympy.diff(value, symbol) for symbol in q] for value in values]
    hessians = [
        sympy.Matrix(n, n, lambda i, j, d=d: sympy.diff(d[max(i, j)], q[min(i, j)]))
        for d in gradients
    ]
    weighted = sum((w * H for w, H in zip(weights, hessians, strict=True)), sympy.zeros(n, n))
    value = Compiled([q], sympy.Matrix(size, 1, values))
    jacobian = Compiled([q], sympy.Matrix(size, n, [d for row in gradients for d in row]))
    curvature = Compiled([q, weights], weighted)

    def values_at(at: Vector) -> Vector:
        return value(at)[:, 0]

    return Smooth(
        value=values_at,
        jacobian=jacobian,
        curvature=curvature,
        quadratic=np.array([not H.free_symbols for H in hessians], dtype=bool),
        along=np.array([everywhere or any(d[k] != 0 for d in gradients) for k in range(n)], float),
        constant=jacobian.is_zero,
    )
