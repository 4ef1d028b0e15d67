"""Expressions as functions of fewer quadratic ones: the invariants of their symmetries.

V = f(x^2 + y^2 + z^2) is invariant under rotations of q; a discrete derivative by x^2 + y^2 + z^2
gives no moment [KB24, prop. 2.6]. Invariants are quadratic forms, linear ones such as x - y of two
angles, and sums of both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

from poinsot.errors import InputError
from poinsot.ph.expressions import Reader


@dataclass(frozen=True)
class Recognised:
    """Values as expressions in `symbols`, which stand for the `forms` of q."""

    symbols: tuple[Any, ...]
    forms: tuple[Any, ...]
    values: tuple[Any, ...]


def read_invariants(read: Reader, q: Sequence[Any], given: Any) -> dict[Any, Any]:
    """Return the invariants that a user names, symbol -> expression in q of degree two or less."""
    label = f"system '{read.name}': invariants"
    if not isinstance(given, Mapping):
        raise InputError(f"{label} is {given!r}; give a mapping of symbols to expressions")
    symbols = read.symbols("invariants", list(given)) if given else []
    for symbol in symbols:
        if symbol in q:
            raise InputError(f"{label}: '{symbol}' is a coordinate; choose another symbol")
    forms = dict(zip(symbols, read.column("invariants", list(given.values()), q), strict=True))
    for symbol, form in forms.items():
        order = degree(q, form)
        if order is None or order > 2:
            raise InputError(f"{label}: '{symbol}' = {form} is not quadratic in the coordinates")
    return {symbol: sympy.expand(form) for symbol, form in forms.items()}


def recognise(
    q: Sequence[Any], values: Sequence[Any], named: Mapping[Any, Any]
) -> Recognised | None:
    """Return expressions by their invariants; None where these leave no direction of q free.

    `named` ones (symbol -> expression in q) are used wherever they are.
    """
    values = [sympy.sympify(value) for value in values]
    symbols = set().union(*(value.free_symbols for value in values))
    chosen = {symbol: form for symbol, form in named.items() if symbol in symbols}
    there = [a for a in q if a in symbols]
    if not chosen and len(there) < 2:
        return None
    reader = _Reader(q, {form: symbol for symbol, form in chosen.items()})
    found = tuple(reader.read(value) for value in values)
    forms, letters = tuple(reader.forms), tuple(reader.forms.values())
    if not chosen and _rank(there, forms) == len(there):
        return None
    return Recognised(letters, forms, found)


def degree(q: Sequence[Any], expression: Any) -> int | None:
    """Return the degree of a polynomial in q; None: it is none."""
    if not expression.is_polynomial(*q):
        return None
    return int(sympy.Poly(expression, *q).total_degree())


def _rank(q: Sequence[Any], forms: Sequence[Any]) -> int:
    """Return in how many directions the forms change, near any q."""
    at = dict(zip(q, np.random.default_rng(0).uniform(0.5, 1.5, len(q)), strict=True))
    slopes = sympy.Matrix(forms).jacobian(q).subs(at) if forms else sympy.zeros(0, len(q))
    return int(np.linalg.matrix_rank(np.array(slopes.tolist(), dtype=float).reshape(-1, len(q))))


@dataclass
class _Reader:
    """Replaces what is quadratic in q by symbols, from the leaves of an expression upwards."""

    q: Sequence[Any]
    #: Form -> symbol: free of constants, its first coefficient 1.
    forms: dict[Any, Any] = field(default_factory=dict)

    def read(self, expression: Any) -> Any:
        """Return the expression in symbols of forms."""
        if not expression.free_symbols & set(self.q):
            return expression
        if isinstance(expression, sympy.Expr):
            order = degree(self.q, expression)
            if order is not None and order <= 2:
                return self._form(expression)
            if isinstance(expression, sympy.Add):
                return self._sum(expression)
        return expression.func(*(self.read(part) for part in expression.args))

    def _form(self, expression: Any) -> Any:
        """Return a polynomial of degree two or less as a multiple of a form plus a constant."""
        polynomial = sympy.Poly(expression, *self.q)
        constant = polynomial.nth(*(0 for _ in self.q))
        form = sympy.expand(expression - constant)
        if form in self.forms:
            return self.forms[form] + constant
        first = (polynomial - constant).coeffs()[0]
        form = sympy.expand(form / first)
        return first * self.forms.setdefault(form, sympy.Dummy(f"pi{len(self.forms)}")) + constant

    def _sum(self, expression: Any) -> Any:
        """Return a sum: what is quadratic as one form, monomials of each higher degree factored."""
        total, together = sympy.Integer(0), dict[int, list[Any]]()
        for term in expression.args:
            order = degree(self.q, term)
            if order is None or (order > 2 and term.has(sympy.Add)):
                total += self.read(term)
            else:
                together.setdefault(max(order, 2), []).append(term)
        for order, terms in together.items():
            part = sum(terms)
            if order > 2:
                # Decimal numbers as written, which factors of floating-point ones are not.
                part = sympy.factor(sympy.nsimplify(part, rational=True))
            parts = terms if order > 2 and isinstance(part, sympy.Add) else [part]
            total += sum(self.read(term) for term in parts)
        return total
