"""Several functions of named variables, given as formulas or SymPy, as one table of operations."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.formulas import Formula
from poinsot.ph.graphs import Graph, Program

#: A name in a formula; that of an exponent in 1e5 is none.
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """Rows of a graph, functions of its variables; `texts` are the same as formulas."""

    variables: tuple[str, ...]
    graph: Graph
    rows: tuple[int, ...]
    texts: tuple[str, ...]

    @classmethod
    def of_formula(cls, formula: Formula) -> "FormulaRows":
        """Return what formulas say."""
        texts = (formula.text,) if isinstance(formula.text, str) else tuple(formula.text)
        return cls(tuple(formula.variables), formula.graph, formula.rows, texts)

    @classmethod
    def of(cls, given: Any, variables: Sequence[str], what: str) -> "FormulaRows | None":
        """Return what texts or expressions of SymPy say; None if it is something else."""
        entries = list(given) if isinstance(given, list | tuple) else [given]
        if _is_sympy(given) and getattr(given, "is_Matrix", False):
            entries = list(given)
        if entries and all(isinstance(entry, str) for entry in entries):
            try:
                return cls.of_formula(Formula(entries, variables))
            except InputError as error:
                raise InputError(f"{what}: {error}") from None
        if not any(_is_sympy(entry) for entry in entries):
            return None
        return cls._of_sympy(entries, tuple(variables), what)

    @classmethod
    def _of_sympy(
        cls, entries: Sequence[Any], variables: tuple[str, ...], what: str
    ) -> "FormulaRows":
        import sympy

        from poinsot.ph.sympy_graphs import UnknownFunctionError, rows_of, text_of

        expressions, graph = [sympy.sympify(entry) for entry in entries], Graph()
        used = {s.name: s for e in expressions for s in e.free_symbols}
        for name in used:
            if name not in variables:
                raise InputError(
                    f"{what}: unknown symbol '{name}'; {did_you_mean(name, variables)}"
                )
        symbols = [used.get(name, sympy.Symbol(name)) for name in variables]
        try:
            rows = rows_of(expressions, symbols, graph)
        except UnknownFunctionError as error:
            raise InputError(f"{what}: formulas do not support SymPy's {error}") from None
        return cls(variables, graph, tuple(rows), tuple(text_of(e) for e in expressions))

    def renamed(self, names: Mapping[str, str]) -> "FormulaRows":
        """Return the same functions of variables by other names."""
        texts = tuple(NAME.sub(lambda found: names.get(found[0], found[0]), t) for t in self.texts)
        variables = tuple(names.get(name, name) for name in self.variables)
        return replace(self, variables=variables, texts=texts)

    @cached_property
    def program(self) -> Program:
        """The operations that all of them consist of."""
        return self.graph.program(*self.rows)


def _is_sympy(value: Any) -> bool:
    """Return whether something is of SymPy, which nobody loads who does not use it."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, sympy.Basic | sympy.MatrixBase)
