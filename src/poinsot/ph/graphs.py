"""Functions as tables of operations: each row is one operation on earlier rows.

Formulas and expressions share this form: a table is evaluated row by row for numbers or arrays,
differentiated by further rows, and compiled to machine code (`ph.compiled`). Equal operations on
equal rows are one row.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

#: Operations by name. Comparisons give 1 or 0; `where` chooses by a number that is not 0.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    **{
        name: lambda a, b, test=test: test(a, b) * np.float64(1)
        for name, test in (
            ("lt", np.less),
            ("le", np.less_equal),
            ("gt", np.greater),
            ("ge", np.greater_equal),
            ("eq", np.equal),
            ("ne", np.not_equal),
        )
    },
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(np, name) for name in ("exp", "log", "log10", "sqrt", "abs", "sign")},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "floor": np.floor,
    "ceil": np.ceil,
    "heaviside": lambda x: np.heaviside(x, 1.0),
    "min": np.minimum,
    "max": np.maximum,
    "where": lambda c, a, b: np.where(np.not_equal(c, 0), a, b),
}

#: Rows that are no operations.
NUMBER, VARIABLE = "number", "variable"


@dataclass(frozen=True, eq=False)
class Graph:
    """A table of operations that grows; rows are known by their number.

    A row is an operation and its operands: rows before it. That of a number has its value instead,
    that of a variable its place among the arguments.
    """

    rows: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    _known: dict[tuple[str, tuple[Any, ...]], int] = field(default_factory=dict, repr=False)
    _slopes: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def _row(self, operation: str, *operands: Any) -> int:
        key = operation, operands
        if key not in self._known:
            self._known[key] = len(self.rows)
            self.rows.append(key)
        return self._known[key]

    def number(self, value: float) -> int:
        """Return the row of a number."""
        return self._row(NUMBER, float(value))

    def variable(self, place: int) -> int:
        """Return the row of an argument."""
        return self._row(VARIABLE, place)

    def value(self, row: int) -> float | None:
        """Return the value of a row that is a number, else None."""
        operation, operands = self.rows[row]
        return operands[0] if operation == NUMBER else None

    def apply(self, operation: str, *operands: int) -> int:
        """Return the row of an operation; one on numbers is a number."""
        values = [self.value(operand) for operand in operands]
        if None in values:
            return self._row(operation, *operands)
        with np.errstate(all="ignore"):
            return self.number(float(OPERATIONS[operation](*map(np.float64, values))))

    def include(self, program: "Program", arguments: Sequence[int]) -> list[int]:
        """Return the rows of a program's values, of which rows of this graph are the arguments."""
        rows: list[int] = []
        for operation, operands in program.rows:
            if operation == VARIABLE:
                rows.append(arguments[operands[0]])
            elif operation == NUMBER:
                rows.append(self.number(operands[0]))
            else:
                rows.append(self.apply(operation, *(rows[k] for k in operands)))
        return [rows[k] for k in program.wanted]

    # -- derivatives --------------------------------------------------------------------------

    def slope(self, row: int, place: int) -> int:
        """Return the derivative of a row by an argument, as another row."""
        for k in self._needed([row]):
            if (k, place) not in self._slopes:
                self._slopes[k, place] = self._slope(k, place)
        return self._slopes[row, place]

    def _slope(self, row: int, place: int) -> int:
        operation, operands = self.rows[row]
        if operation == NUMBER:
            return self.number(0.0)
        if operation == VARIABLE:
            return self.number(1.0 if operands[0] == place else 0.0)
        slopes = [self._slopes[k, place] for k in operands]
        if all(self.value(k) == 0 for k in slopes):
            return self.number(0.0)
        return self._rules[operation](self, row, *operands, *slopes)

    def plus(self, a: int, b: int) -> int:
        """Return a + b, or one of them if the other is 0."""
        if self.value(a) == 0 or self.value(b) == 0:
            return b if self.value(a) == 0 else a
        return self.apply("add", a, b)

    def minus(self, a: int, b: int) -> int:
        """Return a - b."""
        return a if self.value(b) == 0 else self.plus(a, self.times(self.number(-1.0), b))

    def times(self, a: int, b: int) -> int:
        """Return a b, or less if one of them is 0 or 1."""
        for one, other in ((a, b), (b, a)):
            if self.value(one) == 0:
                return one
            if self.value(one) == 1:
                return other
        if self.value(a) == -1:
            return self.apply("neg", b)
        return self.apply("mul", a, b)

    def over(self, a: int, b: int) -> int:
        """Return a / b."""
        return a if self.value(a) == 0 else self.apply("div", a, b)

    def square(self, a: int) -> int:
        """Return a^2."""
        return self.times(a, a)

    def _power(self, row: int, a: int, b: int, da: int, db: int) -> int:
        """Return the derivative of a^b."""
        exponent, less = self.value(b), self.plus(b, self.number(-1.0))
        if self.value(db) == 0:
            below = a if exponent == 2 else self.apply("pow", a, less)
            return self.times(self.times(b, below), da)
        by_exponent = self.times(row, self.times(db, self.apply("log", a)))
        return self.plus(by_exponent, self.times(row, self.over(self.times(b, da), a)))

    def _choice(self, test: str, a: int, b: int, da: int, db: int) -> int:
        """Return the derivative of the smaller or the larger one of both."""
        return self.apply("where", self.apply(test, a, b), da, db)

    def _angle(self, row: int, y: int, x: int, dy: int, dx: int) -> int:
        """Return the derivative of atan2(y, x)."""
        turn = self.minus(self.times(x, dy), self.times(y, dx))
        return self.over(turn, self.plus(self.square(x), self.square(y)))

    #: Name -> (graph, row, operands, their slopes) -> slope of the row.
    _rules: ClassVar[dict[str, Callable[..., int]]] = {
        "add": lambda g, r, a, b, da, db: g.plus(da, db),
        "sub": lambda g, r, a, b, da, db: g.minus(da, db),
        "mul": lambda g, r, a, b, da, db: g.plus(g.times(da, b), g.times(a, db)),
        "div": lambda g, r, a, b, da, db: g.over(g.minus(da, g.times(r, db)), b),
        "pow": _power,
        "neg": lambda g, r, a, da: g.times(g.number(-1.0), da),
        **dict.fromkeys(
            ("lt", "le", "gt", "ge", "eq", "ne", "floor", "ceil", "sign", "heaviside"),
            lambda g, *_: g.number(0.0),
        ),
        "sin": lambda g, r, a, da: g.times(g.apply("cos", a), da),
        "cos": lambda g, r, a, da: g.times(g.apply("neg", g.apply("sin", a)), da),
        "tan": lambda g, r, a, da: g.times(g.plus(g.number(1.0), g.square(r)), da),
        "sinh": lambda g, r, a, da: g.times(g.apply("cosh", a), da),
        "cosh": lambda g, r, a, da: g.times(g.apply("sinh", a), da),
        "tanh": lambda g, r, a, da: g.times(g.minus(g.number(1.0), g.square(r)), da),
        "exp": lambda g, r, a, da: g.times(r, da),
        "log": lambda g, r, a, da: g.over(da, a),
        "log10": lambda g, r, a, da: g.over(da, g.times(g.number(np.log(10.0)), a)),
        "sqrt": lambda g, r, a, da: g.over(da, g.times(g.number(2.0), r)),
        "abs": lambda g, r, a, da: g.times(g.apply("sign", a), da),
        "asin": lambda g, r, a, da: g.over(
            da, g.apply("sqrt", g.minus(g.number(1.0), g.square(a)))
        ),
        "acos": lambda g, r, a, da: g.over(
            g.times(g.number(-1.0), da), g.apply("sqrt", g.minus(g.number(1.0), g.square(a)))
        ),
        "atan": lambda g, r, a, da: g.over(da, g.plus(g.number(1.0), g.square(a))),
        "atan2": _angle,
        "min": lambda g, r, a, b, da, db: g._choice("le", a, b, da, db),
        "max": lambda g, r, a, b, da, db: g._choice("ge", a, b, da, db),
        "where": lambda g, r, c, a, b, dc, da, db: g.apply("where", c, da, db),
    }

    # -- values -------------------------------------------------------------------------------

    def program(self, *wanted: int) -> "Program":
        """Return some rows with all that they depend on."""
        found = self._needed(wanted)
        place = {row: k for k, row in enumerate(found)}
        rows = []
        for row in found:
            operation, operands = self.rows[row]
            if operation not in (NUMBER, VARIABLE):
                operands = tuple(place[operand] for operand in operands)
            rows.append((operation, operands))
        return Program(tuple(rows), tuple(place[row] for row in wanted))

    def _needed(self, wanted: Iterable[int]) -> list[int]:
        """Return the rows that others depend on, and these, in order."""
        found: set[int] = set()
        waiting = list(wanted)
        while waiting:
            row = waiting.pop()
            operation, operands = self.rows[row]
            if row not in found:
                found.add(row)
                waiting += () if operation in (NUMBER, VARIABLE) else operands
        return sorted(found)


@dataclass(frozen=True)
class Program:
    """Rows that are evaluated in order, and the numbers of those whose values are wanted."""

    rows: tuple[tuple[str, tuple[Any, ...]], ...]
    wanted: tuple[int, ...]

    def __call__(self, *arguments: Any) -> list[Any]:
        """Return the values; arguments are numbers of NumPy's or arrays."""
        values: list[Any] = []
        with np.errstate(all="ignore"):
            for operation, operands in self.rows:
                if operation == VARIABLE:
                    values.append(arguments[operands[0]])
                elif operation == NUMBER:
                    values.append(np.float64(operands[0]))
                else:
                    values.append(OPERATIONS[operation](*[values[k] for k in operands]))
        return [values[k] for k in self.wanted]
