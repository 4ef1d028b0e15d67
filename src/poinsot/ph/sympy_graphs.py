"""SymPy expressions as tables of operations."""

from collections.abc import Iterable, Mapping
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from poinsot.ph.graphs import Graph

#: Functions of SymPy and the operations that they are.
FUNCTIONS: Mapping[Any, str] = {
    **{getattr(sympy, name): name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{getattr(sympy, name): name for name in ("exp", "log", "asin", "acos", "atan", "atan2")},
    sympy.Abs: "abs",
    sympy.sign: "sign",
    sympy.floor: "floor",
    sympy.ceiling: "ceil",
    sympy.StrictLessThan: "lt",
    sympy.LessThan: "le",
    sympy.StrictGreaterThan: "gt",
    sympy.GreaterThan: "ge",
    sympy.Equality: "eq",
    sympy.Unequality: "ne",
}
#: Those of any number of arguments, taken one after the other: numbers 1 and 0 are true and false.
CHAINS: Mapping[Any, str] = {
    sympy.Add: "add",
    sympy.Mul: "mul",
    sympy.Min: "min",
    sympy.Max: "max",
    sympy.And: "mul",
    sympy.Or: "max",
}


class UnknownFunctionError(Exception):
    """An expression holds a function that tables do not know."""


def rows_of(expressions: Iterable[Any], symbols: Iterable[Any], graph: Graph) -> list[int]:
    """Return the rows of expressions in a graph, with symbols as its arguments in order."""
    known = {symbol: graph.variable(place) for place, symbol in enumerate(symbols)}
    return [_row(expression, known, graph) for expression in expressions]


def _row(expression: Any, known: dict[Any, int], graph: Graph) -> int:
    if expression not in known:
        known[expression] = _made(expression, known, graph)
    return known[expression]


def _made(expression: Any, known: dict[Any, int], graph: Graph) -> int:
    kind = expression.func
    if expression in (sympy.true, sympy.false) or expression.is_number:
        return graph.number(float(bool(expression) if expression.is_Boolean else expression))
    if kind is sympy.Piecewise:
        return _pieces(expression, known, graph)
    rows = [_row(argument, known, graph) for argument in expression.args]
    if kind is sympy.Pow:
        root = expression.exp == sympy.Rational(1, 2)
        return graph.apply("sqrt", rows[0]) if root else graph.apply("pow", *rows)
    if kind in CHAINS:
        total = rows[0]
        for row in rows[1:]:
            total = graph.apply(CHAINS[kind], total, row)
        return total
    if kind not in FUNCTIONS or len(rows) != (1 if kind is sympy.log else len(rows)):
        raise UnknownFunctionError(str(kind))
    return graph.apply(FUNCTIONS[kind], *rows)


def _pieces(expression: Any, known: dict[Any, int], graph: Graph) -> int:
    """Return the first piece whose condition holds; NaN if there is none."""
    row = graph.number(float("nan"))
    for piece, condition in reversed(expression.args):
        choice = _row(condition, known, graph)
        row = graph.apply("where", choice, _row(piece, known, graph), row)
    return row


class _FormulaPrinter(StrPrinter):  # type: ignore[misc]
    """Writes expressions as `Formula` reads them."""

    def _print_Piecewise(self, expression: Any) -> str:
        text = "0/0"
        for piece, condition in reversed(expression.args):
            value, test = self._print(piece), self._print(condition)
            text = value if condition == sympy.true else f"where({test}, {value}, {text})"
        return text

    def _print_And(self, expression: Any) -> str:
        return "*".join(f"({self._print(a)})" for a in expression.args)

    def _print_Or(self, expression: Any) -> str:
        return f"max({', '.join(map(self._print, expression.args))})"

    def _print_Function(self, expression: Any) -> str:
        kind = expression.func
        name = FUNCTIONS.get(kind) or CHAINS.get(kind) or kind.__name__
        return f"{name}({', '.join(map(self._print, expression.args))})"

    def _print_Exp1(self, expression: Any) -> str:
        return "e"

    _print_Abs = _print_Min = _print_Max = _print_Function

    def _print_Float(self, expression: Any) -> str:
        return repr(float(expression))


def text_of(expression: Any) -> str:
    """Return an expression as the text of a `Formula`, if formulas know what is in it."""
    return str(_FormulaPrinter().doprint(expression))
