"""Port-Hamiltonian systems, free of mechanics: make them, join them, prove their structure.

Units SI; u·y is the power put INTO a system.
"""

from typing import Any

from poinsot.ph.connections import Connection, Gyrator, Junction, Resistor, Swap, Transformer
from poinsot.ph.dirac import (
    Defects,
    constraint_ranks,
    dirac_structure,
    gradient_defect,
    lagrangian_defect,
    lagrangian_submanifold,
    rank_defect,
    resistive_defect,
    resistive_relation,
)
from poinsot.ph.functions import FunctionSystem, from_functions
from poinsot.ph.gradients import DiscreteGradient, Gonzalez, MeanValue, Midpoint, Partitioned
from poinsot.ph.interconnect import Interconnection, close, feed, interconnect, swap
from poinsot.ph.linear import LinearSystem, linear
from poinsot.ph.ports import Port
from poinsot.ph.relations import DiracStructure, LagrangianSubmanifold, ResistiveRelation
from poinsot.ph.start import consistent_state
from poinsot.ph.system import PHSystem, State, Storage

__all__ = [
    "Connection",
    "Defects",
    "DiracStructure",
    "DiscreteGradient",
    "FunctionSystem",
    "Gonzalez",
    "Gyrator",
    "Interconnection",
    "Junction",
    "LagrangianSubmanifold",
    "LinearSystem",
    "MeanValue",
    "Midpoint",
    "PHSystem",
    "Partitioned",
    "Port",
    "ResistiveRelation",
    "Resistor",
    "State",
    "Storage",
    "Swap",
    "SymbolicSystem",
    "Transformer",
    "close",
    "consistent_state",
    "constraint_ranks",
    "dirac_structure",
    "feed",
    "from_functions",
    "gradient_defect",
    "interconnect",
    "lagrangian_defect",
    "lagrangian_submanifold",
    "linear",
    "rank_defect",
    "resistive_defect",
    "resistive_relation",
    "swap",
    "symbolic",
]


def __getattr__(name: str) -> Any:
    """Import SymPy only when a symbolic system is asked for."""
    if name in ("symbolic", "SymbolicSystem"):
        from poinsot.ph import expressions as module

        globals().update(symbolic=module.symbolic, SymbolicSystem=module.SymbolicSystem)
        return globals()[name]
    raise AttributeError(f"module 'poinsot.ph' has no attribute '{name}'")
