"""The public names, and where each of them comes from; they are imported when first used."""

from poinsot.analysis.equilibria import Equilibrium as Equilibrium
from poinsot.analysis.equilibria import equilibrium as equilibrium
