"""Pictures of a Result. They read it and never call back."""

from poinsot.viz.mechanics import plot_constraints, plot_drift, plot_momentum
from poinsot.viz.plots import plot_balance, plot_energy

__all__ = ["plot_balance", "plot_constraints", "plot_drift", "plot_energy", "plot_momentum"]
