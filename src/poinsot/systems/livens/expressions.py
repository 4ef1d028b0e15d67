"""Lagrangians from SymPy expressions, all derivatives exact and compiled."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError
from poinsot.ph.expressions import Compiled, Reader, require_zero
from poinsot.systems.livens.general import GeneralLagrangian
from poinsot.systems.livens.smooth import Field, Smooth


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
    given = Reader(name, parameters)
    symbols = given.symbols("q", q)
    if len(set(symbols)) < len(symbols):
        raise InputError(f"system '{name}': a symbol stands for two coordinates")
    n = len(symbols)
    mass = given.matrix("M", M, (n, n), symbols)
    require_zero(name, "M - M^T, so M is not symmetric", mass - mass.T)
    inlets = given.matrix("B", B, (n, inputs), symbols) if inputs else sympy.zeros(n, 0)
    return GeneralLagrangian(
        name=name,
        coordinates=[str(symbol) for symbol in symbols],
        mass=smooth(symbols, mass, (n, n), everywhere=published),
        potentials=[smooth(symbols, [part]) for part in given.column("V", V, symbols)],
        constraints=smooth(symbols, given.column("g", g, symbols)),
        inlets=field(symbols, inlets),
        massless=np.array([mass[:, k].is_zero_matrix is True for k in range(n)]),
    )


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
) -> Smooth:
    """Return a function by the expressions of its values; `everywhere` corrects it along all q."""
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
