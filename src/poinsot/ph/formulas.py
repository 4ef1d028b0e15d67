"""Formulas: functions as text, which can be stored in a model file and read back.

The text is read from a white list and never executed as code: numbers, + - * / **, comparisons
(1 where true, else 0), `a if c else b`, variables, pi, e and the functions below. Everything is
computed in floating point, over numbers or arrays alike.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias

import numpy as np

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.matrices import Array

#: Values of the variables -> value of the text.
Evaluate: TypeAlias = Callable[[Mapping[str, Any]], Any]

#: A longer text is refused, and so is one whose operations are nested deeper.
LONGEST, DEEPEST = 2000, 100

CONSTANTS = {"pi": np.pi, "e": np.e}

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.where(np.not_equal(condition, 0), a, b)


#: Name -> function and number of arguments; None: one or more.
FUNCTIONS: dict[str, tuple[Callable[..., Any], int | None]] = {
    **{name: (getattr(np, name), 1) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: (getattr(np, name), 1) for name in ("exp", "log", "log10", "sqrt", "abs", "sign")},
    "asin": (np.arcsin, 1),
    "acos": (np.arccos, 1),
    "atan": (np.arctan, 1),
    "atan2": (np.arctan2, 2),
    "floor": (np.floor, 1),
    "ceil": (np.ceil, 1),
    "heaviside": (lambda x: np.heaviside(x, 1.0), 1),
    "min": (lambda *values: reduce(np.minimum, values), None),
    "max": (lambda *values: reduce(np.maximum, values), None),
    "where": (_where, 3),
}


@dataclass(frozen=True)
class Formula:
    """A function written as text, e.g. `Formula("2*sin(3*t)")`: an input over time, or a law.

    Numbers, `+ - * / **`, comparisons, `a if c else b`, pi, e, and the functions sin, cos, tan,
    asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, log10, sqrt, abs, sign, floor, ceil, min,
    max, where(c, a, b), heaviside. Nothing else can be in it, so that files from anywhere are safe.

    Parameters
    ----------
    text : str or sequence of str
        The formula, or one for each component of a vector.
    variables : sequence of str
        Names of the arguments, in order; by default the time t [s]. Springs call their laws with
        the coordinate, `Formula("50*x**3", "x")`, dampers with the rate, `Formula("2*v", "v")`.
    """

    text: str | Sequence[str]
    variables: Sequence[str] = ("t",)
    _parts: tuple[Evaluate, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the text, and say what is wrong with it."""
        texts = (self.text,) if isinstance(self.text, str) else _texts(self.text)
        variables = tuple(self.variables)
        for name in variables:
            if not isinstance(name, str) or not name.isidentifier():
                raise InputError(f"Formula: {name!r} cannot be the name of a variable")
            if name in CONSTANTS or name in FUNCTIONS:
                raise InputError(f"Formula: '{name}' is taken; choose another name of a variable")
        if not isinstance(self.text, str):
            object.__setattr__(self, "text", texts)
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "_parts", tuple(parse(text, variables) for text in texts))

    def __call__(self, *values: float) -> float | Array:
        """Return the value: a number, or an array (size,) of several formulas."""
        if len(values) != len(self.variables):
            names = ", ".join(self.variables)
            raise InputError(
                f"formula {self.text!r} is a function of ({names}) and was called with "
                f"{len(values)} value(s); give Formula its variables in the order of the arguments"
            )
        known = dict(zip(self.variables, map(np.float64, values), strict=True))
        with np.errstate(all="ignore"):
            found = [float(part(known)) for part in self._parts]
        return found[0] if isinstance(self.text, str) else np.array(found)

    def over(self, times: Array) -> Array:
        """Return the values of a function of one variable at many times [s]; (times, size)."""
        if len(self.variables) != 1:
            return np.array([np.atleast_1d(self(t)) for t in times])
        known = {self.variables[0]: np.asarray(times, dtype=float)}
        with np.errstate(all="ignore"):
            columns = [np.broadcast_to(part(known), times.shape) for part in self._parts]
        return np.column_stack(columns).astype(float)

    def __reduce__(self) -> tuple[type["Formula"], tuple[str | Sequence[str], Sequence[str]]]:
        """Copies and other processes get the text, and read it again."""
        return Formula, (self.text, self.variables)


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    try:
        texts = tuple(value)
    except TypeError:
        texts = ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"Formula: expected a text or several, got {value!r}")
    return texts


def parse(text: str, variables: Iterable[str]) -> Evaluate:
    """Return the function of its variables that a text describes, or say what is wrong with it."""
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
        with np.errstate(all="ignore"):
            return _term(tree, tuple(variables), 0)[0]
    except InputError as error:
        _refuse(text, str(error))
    except RecursionError:  # of what is not allowed, when it is to be shown
        _refuse(text, "its operations are nested too deeply")


def _refuse(text: str, why: str) -> NoReturn:
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    raise InputError(f"formula {shown!r}: {why}") from None


def _term(node: ast.AST, variables: tuple[str, ...], depth: int) -> tuple[Evaluate, bool]:
    """Return a part of a formula as a function, and whether it is constant."""
    if depth > DEEPEST:
        raise InputError(f"its operations are nested deeper than {DEEPEST}")
    if isinstance(node, ast.Name) and node.id in variables:
        name = node.id
        return (lambda values: values[name]), False
    if isinstance(node, ast.Name | ast.Constant):
        constant = _number(node, variables)
        return (lambda values: constant), True
    function, operands = _operation(node)
    terms = [_term(operand, variables, depth + 1) for operand in operands]
    parts = [part for part, _ in terms]

    def value(values: Mapping[str, Any]) -> Any:
        return function(*(part(values) for part in parts))

    if not all(is_constant for _, is_constant in terms):
        return value, False
    # At once, and only once: 9**9**9 and 1/0 are mistakes wherever they stand.
    result = _finite(value({}), node)
    return (lambda values: result), True


def _number(node: ast.Name | ast.Constant, variables: tuple[str, ...]) -> Any:
    """Return the value of a literal or of a named constant."""
    if isinstance(node, ast.Name):
        if node.id in FUNCTIONS:
            raise InputError(f"'{node.id}' is a function; write {node.id}(...)")
        if node.id not in CONSTANTS:
            known = (*variables, *CONSTANTS)
            raise InputError(f"unknown name '{node.id}'; {did_you_mean(node.id, known)}")
        return np.float64(CONSTANTS[node.id])
    if type(node.value) not in (int, float):
        raise InputError(f"{ast.unparse(node)[:40]} is not a number")
    try:
        return _finite(np.float64(node.value), node)  # type: ignore[arg-type]
    except OverflowError:
        raise InputError("a number in it is too large") from None


def _finite(value: Any, node: ast.AST) -> Any:
    if not np.isfinite(value):
        raise InputError(f"{ast.unparse(node)[:40]} is {value}, not a finite number")
    return np.float64(value)


def _operation(node: ast.AST) -> tuple[Callable[..., Any], list[ast.expr]]:
    """Return the function that a node applies, and its operands."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)], [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)], [node.operand]
    if isinstance(node, ast.Compare) and all(type(op) in OPERATORS for op in node.ops):
        return _comparison([OPERATORS[type(op)] for op in node.ops]), [node.left, *node.comparators]
    if isinstance(node, ast.IfExp):
        return _where, [node.test, node.body, node.orelse]
    if isinstance(node, ast.Call):
        return _call(node)
    raise InputError(
        f"{ast.unparse(node)[:40]} is not allowed; use numbers, + - * / **, comparisons, "
        "'a if c else b' and functions such as sin(...)"
    )


def _comparison(tests: list[Callable[..., Any]]) -> Callable[..., Any]:
    """Return a chain such as a < b <= c: 1 where all of it holds, else 0."""

    def value(*operands: Any) -> Any:
        pairs = zip(tests, pairwise(operands), strict=True)
        return reduce(np.logical_and, (test(a, b) for test, (a, b) in pairs)) * np.float64(1)

    return value


def _call(node: ast.Call) -> tuple[Callable[..., Any], list[ast.expr]]:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        name = ast.unparse(node.func)[:40]
        raise InputError(f"no function '{name}'; {did_you_mean(name, FUNCTIONS)}")
    function, count = FUNCTIONS[node.func.id]
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise InputError(f"{node.func.id}(...) takes plain arguments only")
    if len(node.args) != (count or max(1, len(node.args))):
        wanted = "at least one" if count is None else str(count)
        raise InputError(f"{node.func.id}(...) takes {wanted} argument(s), got {len(node.args)}")
    return function, node.args
