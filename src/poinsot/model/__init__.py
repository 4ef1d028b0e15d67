"""The model: named parts, a consistent start, its system, and its file."""

from poinsot.model.assemblies import DifferentialDrive, Wheel
from poinsot.model.check import ModelCheck
from poinsot.model.model import Model
from poinsot.model.simulation import Simulation

__all__ = ["DifferentialDrive", "Model", "ModelCheck", "Simulation", "Wheel"]
