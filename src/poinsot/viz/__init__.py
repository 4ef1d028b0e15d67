"""Pictures of a Result. They read it and never call back."""

from poinsot.viz.plots import plot_balance, plot_energy

__all__ = ["plot_balance", "plot_energy"]
