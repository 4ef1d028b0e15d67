"""Lagrangians with singular or configuration-dependent mass, by Livens' principle [KB24]."""

from poinsot.livens.own import LagrangianSystem
from poinsot.livens.systems import HamiltonianSystem, LagrangianForm, LivensSystem
from poinsot.livens.velocities import VelocitySystem

__all__ = [
    "HamiltonianSystem",
    "LagrangianForm",
    "LagrangianSystem",
    "LivensSystem",
    "VelocitySystem",
]
