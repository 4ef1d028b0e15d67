"""Formulas: functions given as text, which can be stored in model files.

The text is parsed against a list of permitted operations and never executed as code: numbers,
+ - * / **, comparisons (1 if true, otherwise 0), `a if c else b`, variables, pi, e and the
functions below. Values are floating-point numbers or arrays.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from typing import NoReturn

import numpy as np

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.graphs import Graph, Program
from poinsot.ph.matrices import Array

#: A longer text is refused, and so is one whose operations are nested deeper.
LONGEST, DEEPEST = 2000, 100

CONSTANTS = {"pi": np.pi, "e": np.e}

#: Operators and the operations of a graph.
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")

#: Name -> number of arguments; None: one or more.
FUNCTIONS: dict[str, int | None] = {
    **dict.fromkeys(("sin", "cos", "tan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("exp", "log", "log10", "sqrt", "abs", "sign"), 1),
    **dict.fromkeys(("asin", "acos", "atan", "floor", "ceil", "heaviside"), 1),
    "atan2": 2,
    "min": None,
    "max": None,
    "where": 3,
}


@dataclass(frozen=True)
class Formula:
    """A function given as text, e.g. `Formula("2*sin(3*t)")`: an input over time, or a law.

    Formulas consist of numbers, `+ - * / **`, comparisons, `a if c else b`, pi, e, and the
    functions sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, log10, sqrt, abs,
    sign, floor, ceil, min, max, where(c, a, b) and heaviside. Nothing else is accepted, so that
    files from unknown sources are safe. Derivatives are exact.

    Parameters
    ----------
    text : str or sequence of str
        The formula, or one for each component of a vector.
    variables : str or sequence of str
        Names of the arguments, in order. Default: the time t [s]. Springs call their laws with
        the coordinate, `Formula("50*x**3", "x")`, dampers with the rate, `Formula("2*v", "v")`.
    """

    text: str | Sequence[str]
    variables: Sequence[str] = ("t",)
    graph: Graph = field(init=False, repr=False, compare=False)
    rows: tuple[int, ...] = field(init=False, repr=False, compare=False)
    program: Program = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Parse the text; raise `InputError` if it is invalid."""
        texts = (self.text,) if isinstance(self.text, str) else _texts(self.text)
        variables = tuple(self.variables)
        for name in variables:
            if not isinstance(name, str) or not name.isidentifier():
                raise InputError(f"Formula: {name!r} is not a valid name of a variable")
            if name in CONSTANTS or name in FUNCTIONS:
                raise InputError(
                    f"Formula: '{name}' is the name of a function or constant; choose another "
                    "variable name"
                )
        if not isinstance(self.text, str):
            object.__setattr__(self, "text", texts)
        object.__setattr__(self, "variables", variables)
        graph = Graph()
        rows = tuple(parse(text, variables, graph) for text in texts)
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "program", graph.program(*rows))

    def __call__(self, *values: float) -> float | Array:
        """Return the value: a number, or an array (size,) for several formulas."""
        if len(values) != len(self.variables):
            names = ", ".join(self.variables)
            raise InputError(
                f"formula {self.text!r} is a function of ({names}) and was called with "
                f"{len(values)} value(s); give its variables in the order of the arguments: "
                "Formula(text, variables)"
            )
        found = [float(value) for value in self.program(*map(np.float64, values))]
        return found[0] if isinstance(self.text, str) else np.array(found)

    def over(self, times: Array) -> Array:
        """Return the values of a function of time at many times [s]; (times, size)."""
        if len(self.variables) != 1:
            return np.array([np.atleast_1d(self(t)) for t in times])
        values = self.program(np.asarray(times, dtype=float))
        columns = [np.broadcast_to(value, times.shape) for value in values]
        return np.column_stack(columns).astype(float)

    def slope(self, place: int = 0) -> Slope:
        """Return the derivative of a single formula with respect to one of its variables."""
        return Slope(self.graph, self.graph.slope(self.rows[0], place))

    def is_of(self, count: int) -> bool:
        """Return whether it is a single formula of this many variables."""
        return isinstance(self.text, str) and len(self.variables) == count

    def __reduce__(self) -> tuple[type[Formula], tuple[str | Sequence[str], Sequence[str]]]:
        """Copy and pickle the text only."""
        return Formula, (self.text, self.variables)


@dataclass(frozen=True, eq=False)
class Slope:
    """A derivative of a formula: a function of the same variables."""

    graph: Graph
    row: int

    @cached_property
    def program(self) -> Program:
        """The operations of the derivative."""
        return self.graph.program(self.row)

    def __call__(self, *values: float) -> float:
        """Return the value."""
        return float(self.program(*map(np.float64, values))[0])

    def slope(self, place: int = 0) -> Slope:
        """Return the derivative with respect to one of the variables."""
        return Slope(self.graph, self.graph.slope(self.row, place))


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    try:
        texts = tuple(value)
    except TypeError:
        texts = ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"Formula: expected a string or a list of strings, got {value!r}")
    return texts


def parse(text: str, variables: Iterable[str], graph: Graph) -> int:
    """Return the row of a graph for a text; raise `InputError` if it is invalid."""
    if len(text) > LONGEST:
        _refuse(text, f"it has {len(text)} characters; {LONGEST} are the most")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        _refuse(text, f"it cannot be read ({error.msg})")
    except (ValueError, MemoryError, RecursionError):
        _refuse(text, "it cannot be read")
    try:
        return _term(tree, tuple(variables), graph, 0)
    except InputError as error:
        _refuse(text, str(error))
    except RecursionError:  # of what is not allowed, when it is to be shown
        _refuse(text, "its operations are nested too deeply")


def _refuse(text: str, why: str) -> NoReturn:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    raise InputError(f"formula {shown!r}: {why}") from None


def _term(node: ast.AST, variables: tuple[str, ...], graph: Graph, depth: int) -> int:
    """Return the row of a part of a formula."""
    if depth > DEEPEST:
        raise InputError(f"its operations are nested more deeply than {DEEPEST}")
    if isinstance(node, ast.Name) and node.id in variables:
        return graph.variable(variables.index(node.id))
    if isinstance(node, ast.Name | ast.Constant):
        return graph.number(_number(node, variables))
    operations, parts = _operation(node)
    row = _joined(graph, operations, [_term(part, variables, graph, depth + 1) for part in parts])
    # At once, and only once: 9**9**9 and 1/0 are mistakes wherever they stand.
    value = graph.value(row)
    if value is not None:
        _finite(value, node)
    return row


def _joined(graph: Graph, operations: list[str], rows: list[int]) -> int:
    """Return one operation on all rows, or several operations between consecutive rows."""
    first = operations[0]
    if first == "pos":
        return rows[0]
    if first in ("min", "max"):
        return reduce(lambda a, b: graph.apply(first, a, b), rows)
    if first in COMPARISONS:  # a chain such as a < b <= c: 1 where all of it holds, else 0
        pairs = zip(operations, pairwise(rows), strict=True)
        tests = [graph.apply(test, a, b) for test, (a, b) in pairs]
        return reduce(lambda a, b: graph.apply("mul", a, b), tests)
    return graph.apply(first, *rows)


def _number(node: ast.Name | ast.Constant, variables: tuple[str, ...]) -> float:
    """Return the value of a literal or of a named constant."""
    if isinstance(node, ast.Name):
        if node.id in FUNCTIONS:
            raise InputError(f"'{node.id}' is a function; write {node.id}(...)")
        if node.id not in CONSTANTS:
            known = (*variables, *CONSTANTS)
            raise InputError(f"unknown name '{node.id}'; {did_you_mean(node.id, known)}")
        return CONSTANTS[node.id]
    if type(node.value) not in (int, float):
        raise InputError(f"{ast.unparse(node)[:40]} is not a number")
    try:
        return _finite(float(node.value), node)  # type: ignore[arg-type]
    except OverflowError:
        raise InputError("it contains a number that is too large") from None


def _finite(value: float, node: ast.AST) -> float:
    if not np.isfinite(value):
        raise InputError(f"{ast.unparse(node)[:40]} is {value}, not a finite number")
    return value


def _operation(node: ast.AST) -> tuple[list[str], list[ast.expr]]:
    """Return the operations that a node applies, and its operands."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return [OPERATORS[type(node.op)]], [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return [OPERATORS[type(node.op)]], [node.operand]
    if isinstance(node, ast.Compare) and all(type(op) in OPERATORS for op in node.ops):
        return [OPERATORS[type(op)] for op in node.ops], [node.left, *node.comparators]
    if isinstance(node, ast.IfExp):
        return ["where"], [node.test, node.body, node.orelse]
    if isinstance(node, ast.Call):
        return _call(node)
    raise InputError(
        f"{ast.unparse(node)[:40]} is not allowed; use numbers, + - * / **, comparisons, "
        "'a if c else b' and functions such as sin(...)"
    )


def _call(node: ast.Call) -> tuple[list[str], list[ast.expr]]:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        name = ast.unparse(node.func)[:40]
        raise InputError(f"no function '{name}'; {did_you_mean(name, FUNCTIONS)}")
    name, count = node.func.id, FUNCTIONS[node.func.id]
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise InputError(f"{name}(...) takes positional arguments only")
    if len(node.args) != (count or max(1, len(node.args))):
        wanted = "at least one" if count is None else str(count)
        raise InputError(f"{name}(...) takes {wanted} argument(s), got {len(node.args)}")
    return [name], node.args
