"""Formulas: functions as text, which can be stored in a model file and read back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.arithmetic import CONSTANTS, FUNCTIONS, Evaluate, parse


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

    def __call__(self, *values: float) -> float | NDArray[np.float64]:
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

    def over(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
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
