"""The public names, and where each of them comes from; they are imported when first used."""

from poinsot.analysis.equilibria import Equilibrium as Equilibrium
from poinsot.analysis.equilibria import equilibrium as equilibrium
from poinsot.analysis.periodic import PeriodicMotion as PeriodicMotion
from poinsot.analysis.periodic import periodic_motion as periodic_motion
from poinsot.analysis.steady import SteadyMotion as SteadyMotion
from poinsot.analysis.steady import steady_motion as steady_motion
