"""Products of SI units, to check whether two ports can be connected."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from poinsot.errors import InputError, did_you_mean

#: Exponents of (m, kg, s, A, K).
Exponents: TypeAlias = tuple[int, ...]

#: The radian is a pure number.
SI: dict[str, Exponents] = {
    "1": (0, 0, 0, 0, 0),
    "rad": (0, 0, 0, 0, 0),
    "m": (1, 0, 0, 0, 0),
    "kg": (0, 1, 0, 0, 0),
    "s": (0, 0, 1, 0, 0),
    "A": (0, 0, 0, 1, 0),
    "K": (0, 0, 0, 0, 1),
    "Hz": (0, 0, -1, 0, 0),
    "N": (1, 1, -2, 0, 0),
    "Pa": (-1, 1, -2, 0, 0),
    "J": (2, 1, -2, 0, 0),
    "W": (2, 1, -3, 0, 0),
    "C": (0, 0, 1, 1, 0),
    "V": (2, 1, -3, -1, 0),
    "Ohm": (2, 1, -3, -2, 0),
    "F": (-2, -1, 4, 2, 0),
    "H": (2, 1, -2, -2, 0),
    "Wb": (2, 1, -2, -1, 0),
    "T": (0, 1, -2, -1, 0),
}


def exponents(unit: str) -> Exponents:
    """Return the exponents of (m, kg, s, A, K) of a unit such as `"N m/rad"` or `"kg m^2/s"`.

    Factors are separated by spaces or `*`; a `/` divides by the one factor that follows it.
    """
    total = [0, 0, 0, 0, 0]
    for token in re.sub(r"\s*/\s*", " /", unit.replace("*", " ")).split():
        sign = -1 if token.startswith("/") else 1
        symbol, _, power = token.lstrip("/").partition("^")
        if symbol not in SI:
            raise InputError(
                f"unit '{unit}': unknown symbol '{symbol}'; {did_you_mean(symbol, SI)}"
            )
        try:
            factor = sign * int(power or 1)
        except ValueError:
            raise InputError(f"unit '{unit}': the power '{power}' is not an integer") from None
        total = [t + factor * e for t, e in zip(total, SI[symbol], strict=True)]
    return tuple(total)


def product(a: str, b: str) -> Exponents:
    """Return the exponents of the product of two units."""
    return tuple(p + q for p, q in zip(exponents(a), exponents(b), strict=True))


def format_exponents(e: Sequence[int]) -> str:
    """Write exponents in base units, e.g. `(2, 1, -2, 0, 0)` as `"m^2 kg s^-2"`."""
    names = ("m", "kg", "s", "A", "K")
    factors = (f"{n}^{p}" if p != 1 else n for n, p in zip(names, e, strict=True) if p)
    return " ".join(factors) or "1"
