"""The public names, and where each of them comes from; they are imported when first used."""

from poinsot.analysis.linear import LinearDescriptor as LinearDescriptor
from poinsot.analysis.linear import LinearPHSystem as LinearPHSystem
from poinsot.analysis.linear import OperatingPoint as OperatingPoint
from poinsot.analysis.linearise import linearise as linearise
from poinsot.analysis.modes import Modes as Modes
from poinsot.analysis.modes import modes as modes
