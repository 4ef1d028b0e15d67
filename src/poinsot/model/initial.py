"""The start of a model: its joint equations, and consistent velocities."""

from dataclasses import replace
from operator import is_

import numpy as np

from poinsot.model.contents import Contents, Projection
from poinsot.model.equations import JointEquations
from poinsot.model.wiring import Wiring
from poinsot.ph.matrices import Vector
from poinsot.systems.start import given_twists


def equations_of(model: Contents) -> JointEquations:
    """Return the equations of the joints, with those of transmissions and drives.

    As long as the model is not changed these are the same, with all that is known of them.
    """
    parts, known = _parts(model), model.known_equations
    if known is None or not _same(known[0], parts):
        known = model.known_equations = parts, _equations(model)
    return known[1]


def equations_near(model: Contents, like: JointEquations) -> JointEquations:
    """Return the equations of a model whose bodies are where those of another are.

    The loops that joints close are the same.
    """
    found = replace(_equations(model), like=like)
    model.known_equations = _parts(model), found
    return found


def _parts(model: Contents) -> list[object]:
    """Return what the equations are made of; parts do not change, but are replaced."""
    named = (
        model.bodies,
        model.joints,
        model.transmissions,
        model.ports,
        model.controllers,
        model.starts,
    )
    parts: list[object] = list(model.connections)
    for each in named:
        parts += [*each, *each.values()]
    return parts


def _same(some: list[object], others: list[object]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _equations(model: Contents) -> JointEquations:
    parts = Wiring(model).with_ports.items()
    inlets = (part.place(name, model.joints)[1] for name, part in parts)
    drives = [driven for inlet in inlets for driven in inlet.drives]
    bodies = list(model.bodies.values())
    if model.starts:
        bodies = [model.at_start(body) for body in bodies]
    equations = JointEquations(bodies, dict(model.joints), drives)
    if model.starts or any(joint.may_be_open for joint in model.joints.values()):
        equations.require_closed()
    return equations


def twists_of(model: Contents, equations: JointEquations) -> Vector:
    """Return the twists at the start, completed; refuse what contradicts the joints."""
    if model.projection is None:
        return equations.twists
    known = model.projection.twists
    return equations.completed(known, np.ones(known.size, dtype=bool))


def start_velocities(model: Contents) -> dict[str, tuple[Vector, Vector]]:
    """Return velocity and angular velocity of every body at the start, by name."""
    equations = equations_of(model)
    pairs = equations.of_all(twists_of(model, equations)).reshape(-1, 2, 3)
    return {name: (v, omega) for name, (v, omega) in zip(model.bodies, pairs, strict=True)}


def projected(model: Contents) -> Projection:
    """Return the nearest velocities, in kinetic energy, that suit the joints."""
    equations = equations_of(model)
    return Projection(equations.nearest(*given_twists(equations.movable)), len(model.joints))
