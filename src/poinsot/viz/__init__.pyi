"""The public names, and where each of them comes from."""

from poinsot.viz.pages import page as page
from poinsot.viz.pages import show as show
from poinsot.viz.pages import write_page as write_page
from poinsot.viz.pictures import animate as animate
from poinsot.viz.pictures import picture as picture
from poinsot.viz.plots import plot_balance as plot_balance
from poinsot.viz.plots import plot_constraints as plot_constraints
from poinsot.viz.plots import plot_coordinates as plot_coordinates
from poinsot.viz.plots import plot_drift as plot_drift
from poinsot.viz.plots import plot_energy as plot_energy
from poinsot.viz.plots import plot_energy_kinds as plot_energy_kinds
from poinsot.viz.plots import plot_iterations as plot_iterations
from poinsot.viz.plots import plot_momentum as plot_momentum
from poinsot.viz.plots import plot_overview as plot_overview
from poinsot.viz.plots import plot_power as plot_power
from poinsot.viz.plots import plot_reactions as plot_reactions
from poinsot.viz.plots import plot_states as plot_states
from poinsot.viz.reports import report as report
from poinsot.viz.reports import write_report as write_report
from poinsot.viz.responses import plot_bode as plot_bode
from poinsot.viz.responses import plot_campbell as plot_campbell
from poinsot.viz.responses import plot_nyquist as plot_nyquist
from poinsot.viz.responses import plot_spectrum as plot_spectrum
from poinsot.viz.viewer import Viewer as Viewer
from poinsot.viz.viewer import follow as follow
from poinsot.viz.viewer import view as view
