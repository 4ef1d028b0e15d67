"""Lagrangians with singular or configuration-dependent mass, by Livens' principle [KB24]."""

from poinsot.systems.livens.own import LagrangianSystem
from poinsot.systems.livens.systems import (
    HamiltonianSystem,
    LagrangianForm,
    LivensSystem,
    VelocitySystem,
)

__all__ = [
    "HamiltonianSystem",
    "LagrangianForm",
    "LagrangianSystem",
    "LivensSystem",
    "VelocitySystem",
]
