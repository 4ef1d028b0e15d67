"""Laws from SymPy expressions, all derivatives exact and compiled."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError
from poinsot.ph.expressions import Compiled, matrix_of, read_matrix, read_symbols, require_zero
from poinsot.ph.matrices import Vector
from poinsot.systems.livens import expressions
from poinsot.systems.redundant.checks import require_mass
from poinsot.systems.redundant.fields import Field
from poinsot.systems.redundant.laws import Laws

#: What is one expression.
ONE = sympy.Expr | int | float | str


def read(
    name: str,
    zeta: Sequence[Any],
    w: Sequence[Any],
    Gamma: Sequence[Any] | None,
    *,
    M: Any,
    V: Any,
    Z: Any,
    G: Any,
    c: Sequence[Any],
    A: Any,
    B: Any,
    inputs: int,
    dissipation: Any,
    positions: Mapping[str, Any],
    domain: Mapping[str, Any],
    parameters: Mapping[Any, float] | None,
) -> Laws:
    """Return the laws of these expressions; see `RedundantSystem.symbolic`."""
    q, rates = read_symbols(f"system '{name}': zeta", zeta), read_symbols(f"system '{name}': w", w)
    n, k = len(q), len(rates)
    momenta = [sympy.Dummy(f"Gamma{i}") for i in range(k)]
    if Gamma is not None:
        momenta = read_symbols(f"system '{name}': Gamma", Gamma)
        if len(momenta) != k:
            raise InputError(f"system '{name}': {len(momenta)} symbols Gamma of {k} momenta")
    if len({*q, *rates, *momenta}) < n + 2 * k:
        raise InputError(f"system '{name}': a symbol of zeta, w or Gamma is used twice")

    def matrix(what: str, given: Any, shape: tuple[int, int], known: Sequence[Any]) -> Any:
        return read_matrix(f"system '{name}': {what}", given, shape, known, parameters)

    def several(what: str, given: Any) -> list[Any]:
        """Return a list of expressions, or one in a list."""
        if isinstance(given, ONE):
            return [given]
        try:
            return list(given)
        except TypeError:
            raise InputError(
                f"system '{name}': {what} is {given!r}; give a list of expressions"
            ) from None

    def column(what: str, given: Sequence[Any], size: int, known: Sequence[Any]) -> Any:
        return matrix(what, [[e] for e in given], (size, 1), known) if size else sympy.zeros(0, 1)

    mass = np.array(matrix("M", M, (k, k), ()).tolist(), dtype=float)
    if Z is None and n != k:
        raise InputError(f"system '{name}': {n} coordinates and {k} velocities need Z ({n}, {k})")
    kinematics = sympy.eye(n) if Z is None else matrix("Z", Z, (n, k), q)
    turning = sympy.zeros(k, k)
    if G is not None:
        given = G(sympy.Matrix(momenta)) if callable(G) else G
        turning = matrix("G", given, (k, k), momenta)
    require_zero(name, "G + G^T, so G is not skew-symmetric", turning + turning.T)
    rows = [] if A is None else matrix_of(f"system '{name}': A", A).tolist()
    restrictions = matrix("A", rows, (len(rows), k), q) if rows else sympy.zeros(0, k)
    inlets = sympy.zeros(k, 0) if B is None else matrix("B", B, (k, inputs), q)
    parts = list(V) if isinstance(V, Sequence) and not isinstance(V, str) else [V]
    potentials = [column("V", [part], 1, q) for part in parts]
    constraints = several("c", c)
    rows_c = column("c", constraints, len(constraints), q)
    losses = [0] * k if dissipation is None else several("dissipation", dissipation)
    both = [*q, *rates]
    places, edges = {}, {}
    for port, position in positions.items():
        what = f"position of '{port}'"
        entries = several(what, position)
        places[port] = column(what, entries, len(entries), q)
    for edge, inside in domain.items():
        if not isinstance(inside, ONE):
            raise InputError(f"system '{name}': domain '{edge}' is {inside!r}; give one expression")
        edges[edge] = column(f"domain '{edge}'", [inside], 1, q)
    laws = Laws(
        coordinates=[str(symbol) for symbol in q],
        velocities=[str(symbol) for symbol in rates],
        M=mass,
        potentials=[expressions.smooth(q, list(part)) for part in potentials],
        constraints=[expressions.smooth(q, [row]) for row in rows_c],
        Z=field(q, kinematics),
        G=field(momenta, turning),
        A=field(q, restrictions),
        B=field(q, inlets),
        dissipation=field(both, matrix("dissipation", [[e] for e in losses], (k, 1), both)),
        skew=True,
        names_c=[f"c[{i}]" for i in range(len(constraints))],
        names_A=[f"A[{i}]" for i in range(len(rows))],
        positions={port: expressions.smooth(q, list(p)) for port, p in places.items()},
        domain={edge: expressions.smooth(q, list(inside)) for edge, inside in edges.items()},
    )
    require_mass(name, laws)
    return laws


def field(q: Sequence[Any], matrix: Any) -> Field:
    """Return a matrix by its expressions in the symbols q."""
    n, shape = len(q), (int(matrix.rows), int(matrix.cols))
    value = Compiled([q], matrix)
    slopes = [sympy.diff(entry, symbol) for entry in matrix for symbol in q]
    jacobian = Compiled([q], sympy.Matrix(len(matrix), n, slopes))

    def derivative(at: Vector) -> Any:
        return jacobian(at).reshape(*shape, n)

    return Field(value, derivative, shape, jacobian.is_zero)
