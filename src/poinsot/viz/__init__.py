"""Pictures of a Result. They read it and never call back."""

from poinsot.viz.energy import plot_balance, plot_energy, plot_energy_kinds, plot_power
from poinsot.viz.joints import plot_coordinates, plot_reactions
from poinsot.viz.mechanics import plot_constraints, plot_drift, plot_momentum
from poinsot.viz.overview import plot_iterations, plot_overview, plot_states
from poinsot.viz.pages import page, show, write_page
from poinsot.viz.pictures import animate, picture
from poinsot.viz.reports import report, write_report
from poinsot.viz.viewer import Viewer, follow, view

__all__ = [
    "Viewer",
    "animate",
    "follow",
    "page",
    "picture",
    "plot_balance",
    "plot_constraints",
    "plot_coordinates",
    "plot_drift",
    "plot_energy",
    "plot_energy_kinds",
    "plot_iterations",
    "plot_momentum",
    "plot_overview",
    "plot_power",
    "plot_reactions",
    "plot_states",
    "report",
    "show",
    "view",
    "write_page",
    "write_report",
]
