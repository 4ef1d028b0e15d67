"""Poinsot: port-Hamiltonian multibody dynamics with exact balances.

SI units, radians, right-handed frames, scalar-first quaternions, world axes.
"""

from poinsot import ph
from poinsot.errors import (
    InconsistentStartError,
    InputError,
    MissingDerivativeWarning,
    PoinsotError,
    StructureError,
)
from poinsot.integrate import SCHEMES, Newton, Scheme, simulate
from poinsot.result import Result, SimulationError

__version__ = "0.1.0"

__all__ = [
    "SCHEMES",
    "InconsistentStartError",
    "InputError",
    "MissingDerivativeWarning",
    "Newton",
    "PoinsotError",
    "Result",
    "Scheme",
    "SimulationError",
    "StructureError",
    "__version__",
    "ph",
    "simulate",
]
