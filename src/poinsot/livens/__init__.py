"""Lagrangians with singular or configuration-dependent mass, by Livens' principle [KB24]."""

from poinsot.livens import steps
from poinsot.livens.systems import HamiltonianSystem, LagrangianForm, LivensSystem

__all__ = ["HamiltonianSystem", "LagrangianForm", "LivensSystem", "steps"]
