"""The port-Hamiltonian contract of a system, checked before and during a run."""

import numpy as np

from poinsot.errors import InputError, StructureError
from poinsot.ph.dirac import (
    gradient_defect,
    resistive_defect,
    semidefinite_defect,
    skew_defect,
    symmetry_defect,
)
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem

#: Above this size the dissipation of a proven system is not tried on random efforts, nor is looked
#: for defects of what is right by construction: that would take longer than many a run.
CHECKED_SIZE = 2000


def check_structure(system: PHSystem, x: Vector) -> None:
    """Refuse a system that breaks the port-Hamiltonian contract at its start."""
    H = system.H(x)
    if not np.isfinite(H):
        raise InputError(f"system '{system.name}': the energy at the initial state is {H}")
    where, small = "the initial state", system.n <= CHECKED_SIZE
    if small or not system.by_construction:
        check_contract(system, x, where)
    if system.r(x, system.z(x)) is not None and (small or not system.proven):
        creates = "the dissipation r(x, z) creates energy (z·r < 0)"
        _require(system, creates, resistive_defect(system, x), 1e-10, where)
    _require(system, "E^T z is not the gradient of H", gradient_defect(system, x), 1e-6, where)


def check_contract(system: PHSystem, x: Vector, where: str) -> None:
    """Refuse a J that is not skew-symmetric, or an R that is not positive semi-definite."""
    J, R = system.J(x), system.R(x)
    _require(system, "J is not skew-symmetric", skew_defect(J), 1e-10, where)
    _require(system, "R is not symmetric", symmetry_defect(R), 1e-10, where)
    _require(system, "R is not positive semi-definite", semidefinite_defect(R), 1e-10, where)


def _require(system: PHSystem, what: str, defect: float, tolerance: float, where: str) -> None:
    if not defect <= tolerance:
        raise StructureError(
            f"system '{system.name}': {what} at {where}; the relative defect is {defect:.3g}"
        )
