"""Pictures of a Result. They read it and never call back."""

from poinsot.viz.pages import page, show, write_page
from poinsot.viz.pictures import animate, picture
from poinsot.viz.plots import (
    plot_balance,
    plot_constraints,
    plot_coordinates,
    plot_drift,
    plot_energy,
    plot_energy_kinds,
    plot_iterations,
    plot_momentum,
    plot_overview,
    plot_power,
    plot_reactions,
    plot_states,
)
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
