"""The result of a simulation. It never calls back."""

from poinsot.result.load import load
from poinsot.result.records import (
    Array,
    BodyRecord,
    Counts,
    JointRecord,
    Lazy,
    Observation,
    PortRecord,
    StateRecord,
    Stats,
)
from poinsot.result.result import Result, SimulationError, Status
from poinsot.result.scene import Piece, Pin, Point, Scene, Strut
from poinsot.result.writer import Writer, output_path

__all__ = [
    "Array",
    "BodyRecord",
    "Counts",
    "JointRecord",
    "Lazy",
    "Observation",
    "Piece",
    "Pin",
    "Point",
    "PortRecord",
    "Result",
    "Scene",
    "SimulationError",
    "StateRecord",
    "Stats",
    "Status",
    "Strut",
    "Writer",
    "load",
    "output_path",
]
