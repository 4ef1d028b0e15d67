"""The model of a mechanism: named parts, a consistent start, compilation, and its file."""

from poinsot.model.assemblies import DifferentialDrive, Wheel
from poinsot.model.assembling import Assembled
from poinsot.model.check import ModelCheck
from poinsot.model.model import Model
from poinsot.model.moving import Sweep
from poinsot.model.simulation import Simulation

__all__ = ["Assembled", "DifferentialDrive", "Model", "ModelCheck", "Simulation", "Sweep", "Wheel"]
