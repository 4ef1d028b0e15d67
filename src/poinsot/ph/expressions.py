"""Port-Hamiltonian systems from SymPy expressions, with exact compiled derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError, StructureError
from poinsot.ph.compiled import LARGEST, compiled
from poinsot.ph.dirac import require_structure
from poinsot.ph.functions import FunctionSystem, MatrixOfState
from poinsot.ph.graphs import Graph, Program
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.operations import Computed, Written, flat, numbers
from poinsot.ph.ports import Port
from poinsot.ph.sympy_graphs import UnknownFunctionError, rows_of
from poinsot.ph.system import State, Storage


class Compiled(Computed):
    """A matrix of expressions as one function: constant entries are stored, the rest computed.

    Its values have the shape of the matrix, or another one that is asked for.
    """

    def __init__(
        self,
        arguments: Sequence[Sequence[sympy.Symbol]],
        matrix: Any,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self.shape = tuple(matrix.shape) if shape is None else shape
        flat = [sympy.sympify(entry) for entry in matrix]
        varying = [i for i, entry in enumerate(flat) if entry.free_symbols]
        self.indices = np.array(varying, dtype=np.intp)
        self.constant = np.array(
            [0.0 if i in set(varying) else float(e) for i, e in enumerate(flat)]
        )
        self.fixed = self.constant.reshape(self.shape)
        self.fixed.flags.writeable = False
        self.program: Program | None = Program((), ())
        self.function = None
        if varying:
            self.program, self.function = _function(arguments, [flat[i] for i in varying])

    @property
    def is_zero(self) -> bool:
        """Whether every entry is identically zero."""
        return self.function is None and not self.constant.any()

    def __call__(self, *arguments: Vector) -> Array:
        """Evaluate; a point outside the domain (log of a negative number) gives NaN."""
        if self.function is None:
            return self.fixed
        values = self.constant.copy()
        values[self.indices] = self.function(*arguments)
        return values.reshape(self.shape)

    def rows(self, graph: Graph, arguments: Sequence[int]) -> list[int] | None:
        """Return its entries; None where an expression holds a function that graphs lack."""
        if self.program is None:
            return None
        found = [graph.number(value) for value in self.constant.tolist()]
        varying = graph.include(self.program, arguments)
        for k, row in zip(self.indices.tolist(), varying, strict=True):
            found[k] = row
        return found


def _function(
    arguments: Sequence[Sequence[sympy.Symbol]], entries: Sequence[Any]
) -> tuple[Program | None, Any]:
    """Return expressions as operations and as one function.

    That is machine code, or Python where there are no such operations, or too many of them.
    """
    graph, symbols = Graph(), [symbol for group in arguments for symbol in group]
    try:
        program = graph.program(*rows_of(entries, symbols, graph))
    except (UnknownFunctionError, RecursionError):
        program = None
    if program is not None and len(program.rows) <= LARGEST:
        machine_code = compiled(len(symbols), program)
        return program, lambda *values: machine_code(np.concatenate(values))
    python = sympy.lambdify(arguments, entries, modules="math", cse=True)

    def function(*values: Vector) -> Any:
        try:
            return python(*(a.tolist() for a in values))
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):
            return np.nan

    return program, function


class SymbolicSystem(FunctionSystem):
    """A system from compiled SymPy expressions; made by `symbolic`."""

    @property
    def proven(self) -> bool:
        """Whether R is constant; J was checked as expressions."""
        return self.matrix_R.function is None

    @cached_property
    def operations(self) -> Written | None:
        """Its expressions, unless they hold functions that graphs do not know."""
        graph, n = Graph(), self.n
        x, z = ([graph.variable(k) for k in range(at, at + n)] for at in (0, n))

        def rows(given: Any, *more: int) -> list[int] | None:
            """Return the entries of a matrix of the state, or of a function of x and z."""
            function: Any = given.function if isinstance(given, MatrixOfState) else given
            if function is None:
                return flat(numbers(graph, given.value))
            found: list[int] | None = function.rows(graph, [*x, *more])
            return found

        matrices = [rows(A) for A in (self.matrix_J, self.matrix_R, self.matrix_B)]
        storage = [rows(A) for A in (self.matrix_E, self.costate, self.energy)]
        resistance = [] if self.resistance is None else rows(self.resistance, *z)
        if resistance is None or None in (*matrices, *storage):
            return None
        first, second = (
            graph.program(*(row for part in parts for row in part or ()))
            for parts in (matrices, storage)
        )
        r = None if self.resistance is None else graph.program(*resistance)
        return Written(n, self.m, first, second, r)


def symbolic(
    name: str,
    *,
    states: Mapping[str, Any],
    H: Any,
    J: Any,
    R: Any = None,
    B: Any = None,
    E: Any = None,
    z: Any = None,
    r: Callable[[Any], Any] | None = None,
    ports: Sequence[Port] = (),
    parameters: Mapping[Any, float] | None = None,
    units: Mapping[str, str] | None = None,
) -> SymbolicSystem:
    r"""Make a port-Hamiltonian system from SymPy expressions; all derivatives are symbolic.

    .. math:: E(x) \dot x = (J(x) - R(x)) z(x) - r(x, z) + B(x) u, \quad E^\top z = \nabla H

    Parameters
    ----------
    name : str
        Name of the system.
    states : mapping
        Name -> symbol or list of symbols, in the order of x.
    H : expression
        Energy [J].
    J, R, E : matrix of expressions, (n, n)
        Structure, dissipation and descriptor matrices. Default: R = 0, E = identity.
    B : matrix of expressions, (n, m)
        Port matrix; columns of all ports in order.
    z : list of expressions
        Costate. Default: E^-T grad H for states with a derivative, and the state itself for states
        with an empty row and column in E (multipliers).
    r : callable
        Vector of costate symbols -> list of expressions in them and in the states, z·r >= 0.
    parameters : mapping
        Symbol or name -> number, for every symbol that is not a state.
    units : mapping
        State name -> SI unit, for labels.
    """
    if not isinstance(states, Mapping):
        raise InputError(
            f"system '{name}': states is {states!r}; give a mapping of names to symbols"
        )
    groups = {
        key: [symbols] if isinstance(symbols, sympy.Symbol) else list(symbols)
        for key, symbols in states.items()
    }
    x = [symbol for group in groups.values() for symbol in group]
    if len(set(x)) < len(x):
        raise InputError(f"system '{name}': a symbol is used for two states; use different symbols")
    n, m = len(x), sum(port.size for port in ports)
    z_ = [sympy.Dummy(f"z{i}") for i in range(n)]
    a_ = [sympy.Dummy(f"a{i}") for i in range(max(n, m))]
    known = {*x, *z_}

    read = Reader(name, parameters)
    energy = read.matrix("H", [[H]], (1, 1), known)
    matrix_E = sympy.eye(n) if E is None else read.matrix("E", E, (n, n), known)
    matrix_J = read.matrix("J", J, (n, n), known)
    matrix_R = sympy.zeros(n, n) if R is None else read.matrix("R", R, (n, n), known)
    matrix_B = sympy.zeros(n, m) if B is None else read.matrix("B", B, (n, m), known)
    effort = [0] * n if r is None else r(sympy.Matrix(z_))
    resistance = read.column("r", effort, known, n)
    grad_H = energy.jacobian(x).T
    costate = _costate(name, x, matrix_E, grad_H) if z is None else read.column("z", z, known, n)
    require_zero(name, "J + J^T, so J is not skew-symmetric", matrix_J + matrix_J.T)
    require_zero(name, "R - R^T, so R is not symmetric", matrix_R - matrix_R.T)
    require_zero(
        name, "E^T z - grad H, so z is not the costate of H", matrix_E.T * costate - grad_H
    )
    if not matrix_R.free_symbols:
        constant_R = np.array(matrix_R.tolist(), dtype=float).reshape(n, n)
        require_structure(name, None, constant_R)

    def compiled(matrix: Any, *arguments: list[Any], shape: Any = None) -> Compiled:
        return Compiled([x, *arguments], matrix, shape)

    def of_state(matrix: Any) -> MatrixOfState:
        """Return a matrix of the state, with the derivative of its product with a vector a."""
        value = compiled(matrix)
        if value.function is None:
            return MatrixOfState(value.fixed)
        product = matrix * sympy.Matrix(a_[: matrix.cols])
        return MatrixOfState(None, value, compiled(product.jacobian(x), a_[: matrix.cols]))

    occupied = np.array([entry != 0 for entry in matrix_E], dtype=bool).reshape(n, n)
    rows = np.flatnonzero(np.any(occupied, axis=1))
    return SymbolicSystem(
        name=name,
        states=tuple(
            State(key, len(group), (units or {}).get(key)) for key, group in groups.items()
        ),
        ports=tuple(ports),
        energy=compiled(energy, shape=()),
        costate=compiled(costate, shape=(n,)),
        costate_tangent=compiled(costate.jacobian(x)),
        matrix_E=of_state(matrix_E),
        matrix_J=of_state(matrix_J),
        matrix_R=of_state(matrix_R),
        matrix_B=of_state(matrix_B),
        resistance=None if r is None else compiled(resistance, z_, shape=(n,)),
        resistance_dx=None if r is None else compiled(resistance.jacobian(x), z_),
        resistance_dz=None if r is None else compiled(resistance.jacobian(z_), z_),
        algebraic_states=~np.any(occupied, axis=0),
        storage=Storage(rows, quadratic=not grad_H.jacobian(x).free_symbols),
    )


@dataclass(frozen=True)
class Reader:
    """Reads the symbols and expressions of a user's system, with numbers for its parameters."""

    name: str
    parameters: Mapping[Any, float] | None

    def symbols(self, what: str, given: Any) -> list[Any]:
        """Return symbols, one or several."""
        try:
            symbols = [given] if isinstance(given, sympy.Symbol) else list(given)
        except TypeError:
            symbols = []
        if not symbols or not all(isinstance(symbol, sympy.Symbol) for symbol in symbols):
            raise InputError(
                f"system '{self.name}': {what} is {given!r}; give a list of SymPy symbols"
            )
        return symbols

    def several(self, what: str, given: Any) -> list[Any]:
        """Return a list of expressions, or one in a list."""
        if given is None:
            raise InputError(f"system '{self.name}': {what} is None; give a list of expressions")
        one = isinstance(given, str) or not isinstance(given, Iterable)
        return [given] if one else list(given)

    def column(
        self, what: str, given: Any, known: Collection[sympy.Symbol], size: int | None = None
    ) -> sympy.Matrix:
        """Return a list of expressions, or one, as a column (size, 1) of the `known` symbols."""
        entries = self.several(what, given)
        rows = [[entry] for entry in entries]
        shape = (len(entries) if size is None else size, 1)
        return self.matrix(what, rows, shape, known) if rows else sympy.zeros(0, 1)

    def matrix(
        self, what: str, given: Any, shape: tuple[int | None, int], known: Collection[sympy.Symbol]
    ) -> sympy.Matrix:
        """Return expressions of the `known` symbols as a matrix; None: of any number of rows."""
        label = f"system '{self.name}': {what}"
        try:
            matrix = sympy.Matrix(given)
        except (TypeError, ValueError, sympy.SympifyError) as error:
            raise InputError(f"{label} is not a matrix ({str(error).strip()})") from None
        for entry in matrix:
            if not isinstance(entry, sympy.Expr):
                raise InputError(f"{label} contains {entry!r}; give numbers and SymPy expressions")
        expected = (matrix.rows if shape[0] is None else shape[0], shape[1])
        if matrix.shape != expected:
            raise InputError(f"{label} has shape {matrix.shape}, expected {expected}")
        if not isinstance(self.parameters, Mapping | None):
            raise InputError(
                f"{label}: parameters is {self.parameters!r}; give a mapping, e.g. {{'m': 1.0}}"
            )
        # Symbols of equal name and other assumptions mean the same parameter.
        values = {str(symbol): value for symbol, value in (self.parameters or {}).items()}
        matrix = matrix.subs(
            {s: values[str(s)] for s in matrix.free_symbols if s not in known and str(s) in values}
        )
        unknown = sorted(str(s) for s in matrix.free_symbols - set(known))
        if unknown:
            raise InputError(
                f"{label} contains {', '.join(unknown)}, neither state nor parameter; give its "
                "value in parameters={...}"
            )
        return matrix


def _costate(name: str, x: list[Any], E: Any, grad_H: Any) -> Any:
    """Solve E^T z = grad H where E is invertible; multipliers are their own costate."""
    n = len(x)
    stored = [i for i in range(n) if any(E[i, :]) or any(E[:, i])]
    core = E.extract(stored, stored)
    if stored and core.det() == 0:
        raise InputError(
            f"system '{name}': E is singular beyond empty rows and columns, so z cannot be found "
            "from E^T z = grad H; give z"
        )
    costate = sympy.Matrix(x)
    if stored:
        solved = core.T.LUsolve(grad_H.extract(stored, [0]))
        for i, entry in zip(stored, solved, strict=True):
            costate[i] = sympy.simplify(entry)
    return costate


def require_zero(name: str, what: str, matrix: Any) -> None:
    """Refuse a matrix that should vanish identically and does not, naming the worst entry."""
    rows, columns = matrix.shape
    for i in range(rows):
        for j in range(columns):
            entry = sympy.expand(matrix[i, j])
            if entry == 0 or (entry.is_number and abs(float(entry)) < 1e-12):
                continue
            entry = sympy.nsimplify(sympy.simplify(entry), rational=True)
            if sympy.simplify(entry) != 0 and not _vanishes(entry):
                raise StructureError(
                    f"system '{name}': entry ({i}, {j}) of {what}, is {sympy.N(entry, 6)}, not 0"
                )


def _vanishes(entry: Any) -> bool:
    """Evaluate at random points: the last word where simplification gives up."""
    random = np.random.default_rng(0)
    symbols = sorted(entry.free_symbols, key=str)
    function = sympy.lambdify([symbols], [entry, sum(abs(a) for a in entry.args) or 1], "numpy")
    for _ in range(8):
        value, scale = function(random.uniform(0.5, 1.5, len(symbols)))
        if not abs(value) <= 1e-10 * max(1.0, abs(scale)):
            return False
    return True
