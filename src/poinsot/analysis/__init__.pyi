"""The public names, and where each of them comes from; they are imported when first used."""

from poinsot.analysis.coupling import CouplingError as CouplingError
from poinsot.analysis.coupling import coupling_error as coupling_error
from poinsot.analysis.eigenmodes import Modes as Modes
from poinsot.analysis.eigenmodes import modes as modes
from poinsot.analysis.equilibria import Equilibrium as Equilibrium
from poinsot.analysis.equilibria import equilibrium as equilibrium
from poinsot.analysis.linear import LinearDescriptor as LinearDescriptor
from poinsot.analysis.linear import LinearPHSystem as LinearPHSystem
from poinsot.analysis.linear import OperatingPoint as OperatingPoint
from poinsot.analysis.linearisation import linearise as linearise
from poinsot.analysis.minimal_form import MinimalForm as MinimalForm
from poinsot.analysis.minimal_form import minimal as minimal
from poinsot.analysis.periodic import PeriodicMotion as PeriodicMotion
from poinsot.analysis.periodic import periodic_motion as periodic_motion
from poinsot.analysis.reduction import Reduction as Reduction
from poinsot.analysis.reduction import reduce as reduce
from poinsot.analysis.response import FrequencyResponse as FrequencyResponse
from poinsot.analysis.response import frequency_response as frequency_response
from poinsot.analysis.response import poles as poles
from poinsot.analysis.response import power_spectrum as power_spectrum
from poinsot.analysis.response import zeros as zeros
from poinsot.analysis.rotors import Campbell as Campbell
from poinsot.analysis.rotors import campbell as campbell
from poinsot.analysis.steady import SteadyMotion as SteadyMotion
from poinsot.analysis.steady import steady_motion as steady_motion
