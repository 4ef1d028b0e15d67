"""The start of a model: its joint equations, and consistent velocities."""

import numpy as np

from poinsot.model.contents import Contents, Projection
from poinsot.model.equations import JointEquations
from poinsot.model.wiring import Wiring
from poinsot.ph.matrices import Vector
from poinsot.systems.start import given_twists


def equations_of(model: Contents) -> JointEquations:
    """Return the equations of the joints, with those of transmissions and drives."""
    parts = Wiring(model).with_ports.items()
    inlets = (part.place(name, model.joints)[1] for name, part in parts)
    drives = [driven for inlet in inlets for driven in inlet.drives]
    bodies = list(model.bodies.values())
    if model.starts:
        bodies = [model.at_start(body) for body in bodies]
    equations = JointEquations(bodies, model.joints, drives)
    if model.starts or any(joint.may_be_open for joint in model.joints.values()):
        equations.require_closed()
    return equations


def twists_of(model: Contents, equations: JointEquations) -> Vector:
    """Return the twists at the start, completed; refuse what contradicts the joints."""
    known, given = given_twists(equations.movable)
    if model.projection is not None:
        known, given = model.projection.twists, np.ones_like(given)
    return equations.completed(known, given)


def start_velocities(model: Contents) -> dict[str, tuple[Vector, Vector]]:
    """Return velocity and angular velocity of every body at the start, by name."""
    equations = equations_of(model)
    pairs = equations.of_all(twists_of(model, equations)).reshape(-1, 2, 3)
    return {name: (v, omega) for name, (v, omega) in zip(model.bodies, pairs, strict=True)}


def projected(model: Contents) -> Projection:
    """Return the nearest velocities, in kinetic energy, that suit the joints."""
    equations = equations_of(model)
    return Projection(equations.nearest(*given_twists(equations.movable)), len(model.joints))
