"""Poinsot: port-Hamiltonian multibody dynamics with exact balances.

SI units, radians, right-handed frames, scalar-first quaternions, world axes.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Return the module that each public name comes from, as the stub beside this file says."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: line.module or "" for line in imports for alias in line.names}


_HOMES = _homes()
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: a program needs a few of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'poinsot' has no attribute '{name}'")
    home = _HOMES[name]
    value = (
        import_module(f"poinsot.{name}") if home == __name__ else getattr(import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
