"""Poinsot: port-Hamiltonian multibody dynamics with exact balances.

SI units, radians, right-handed frames, scalar-first quaternions, world axes.
"""

from typing import TYPE_CHECKING, Any

from poinsot import ph
from poinsot.errors import (
    InconsistentStartError,
    InputError,
    MissingDerivativeWarning,
    ModelFileError,
    PoinsotError,
    StorageError,
    StructureError,
)
from poinsot.livens import LagrangianSystem
from poinsot.mechanics import (
    Body,
    Box,
    Composite,
    Cone,
    Cylinder,
    Cylindrical,
    Drag,
    Ellipsoid,
    Field,
    ForcePort,
    HollowCylinder,
    JointFriction,
    JointPort,
    JointSpring,
    KnifeEdge,
    Marker,
    Motion,
    Planar,
    PointMass,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    Rod,
    RollingDisc,
    RollingSphere,
    Sphere,
    Spherical,
    Spring,
    ThinRod,
    TorquePort,
    Universal,
    Weld,
)
from poinsot.model import DifferentialDrive, Model, ModelCheck, Simulation, Wheel
from poinsot.ph.formulas import Formula
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Table
from poinsot.ph.stages import Newton
from poinsot.redundant import RedundantSystem
from poinsot.result import Result, SimulationError, load
from poinsot.run import simulate
from poinsot.schemes.records import SCHEMES
from poinsot.so3 import Rotation

if TYPE_CHECKING:
    from poinsot import viz

__version__ = "0.1.0"

__all__ = [
    "SCHEMES",
    "Body",
    "Box",
    "Composite",
    "Cone",
    "Cylinder",
    "Cylindrical",
    "DifferentialDrive",
    "Drag",
    "Ellipsoid",
    "Field",
    "ForcePort",
    "Formula",
    "HollowCylinder",
    "InconsistentStartError",
    "InputError",
    "JointFriction",
    "JointPort",
    "JointSpring",
    "KnifeEdge",
    "LagrangianSystem",
    "Marker",
    "MissingDerivativeWarning",
    "Model",
    "ModelCheck",
    "ModelFileError",
    "Motion",
    "Newton",
    "Planar",
    "PoinsotError",
    "PointMass",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "RedundantSystem",
    "Result",
    "Revolute",
    "RigidBody",
    "Rod",
    "RollingDisc",
    "RollingSphere",
    "Rotation",
    "Scheme",
    "Simulation",
    "SimulationError",
    "Sphere",
    "Spherical",
    "Spring",
    "StorageError",
    "StructureError",
    "Table",
    "ThinRod",
    "TorquePort",
    "Universal",
    "Weld",
    "Wheel",
    "__version__",
    "load",
    "ph",
    "simulate",
    "viz",
]


def __getattr__(name: str) -> Any:
    """Import the pictures, `viz`, when they are first asked for: a run needs none."""
    if name == "viz":
        from importlib import import_module

        return import_module("poinsot.viz")
    raise AttributeError(f"module 'poinsot' has no attribute '{name}'")
