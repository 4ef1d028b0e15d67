"""`Model.assemble`: move the bodies at the start until all joints are closed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.errors import InconsistentStartError, InputError, printable
from poinsot.frames.places import local
from poinsot.inputs import named, number
from poinsot.model.contents import Contents, list_of_names
from poinsot.model.equations import positions
from poinsot.model.initial import projected, start_velocities
from poinsot.model.motions import coordinates_of
from poinsot.model.wiring import Wiring
from poinsot.parts.feedback import Inlet
from poinsot.ph.matrices import Vector
from poinsot.so3 import log
from poinsot.systems.kinematics.assembly import Task, assemble, poses
from poinsot.systems.kinematics.driving import following

#: A body that moved by less than this part of the mechanism's length, or angle, did not.
STILL = 1e-13


@dataclass(frozen=True)
class Move:
    """Displacement of the centre of mass [m] and angle of rotation [rad] of a body."""

    distance: float
    angle: float


@dataclass(frozen=True)
class Assembled:
    """Result of `Model.assemble`.

    Attributes
    ----------
    moves : mapping
        Body -> distance [m] and angle [rad] by which it was moved; bodies that stayed are left out.
    change : float
        Root mean square displacement of all matter [m], which is minimised.
    gap, gap_angle : float
        Largest remaining gap of a joint [m], [rad].
    near : mapping
        Coordinates of `near` -> their values now [rad or m].
    reached : bool
        Whether all desired values of `near` were reached.
    projected : bool
        Whether velocities violated the joints and were projected.
    iterations, trials : int
        Number of iterations, and number of initial guesses that were tried.
    """

    moves: Mapping[str, Move]
    change: float
    gap: float
    gap_angle: float
    near: Mapping[str, float]
    reached: bool
    projected: bool
    iterations: int
    trials: int

    def __str__(self) -> str:
        """Return a few lines of text."""
        width = max(map(len, self.moves), default=0)
        lines = [
            f"  {printable(name):<{width}}  by {by.distance:.6g} m, turned by {by.angle:.6g} rad"
            for name, by in self.moves.items()
        ]
        lines = ["moved", *lines] if lines else ["nothing moved"]
        for name, value in self.near.items():
            lines.append(f"  {printable(name)} = {value:.9g}")
        lines.append(
            f"joints close to {self.gap:.1e} m and {self.gap_angle:.1e} rad, "
            f"after {self.iterations} iteration{'s' * (self.iterations != 1)} from {self.trials} "
            f"place{'s' * (self.trials != 1)}"
        )
        if self.projected:
            lines.append("velocities were projected on what joints allow")
        return "\n".join(lines)


def assembled(
    model: Contents, keep: Sequence[str] | str, near: Mapping[str, float] | None
) -> Assembled:
    """Move the bodies of a model until all joints are closed; return the moves."""
    what, near = "assemble", named(near, "assemble: near", "{'elbow': 2.0}")
    coordinates = coordinates_of(model, list(near), f"{what}: near")
    hints = [
        following(name, at, number(near[name], f"{what}: near '{name}'"))
        for name, at in coordinates.items()
    ]
    kept = [model.body(name).name for name in list_of_names(keep, f"{what}: keep")]
    task = task_of(model, what, hints=hints, kept=kept)
    found = assemble(task, f"model '{model.name}'")
    moves, again = start_at(model, task, found.place.f)
    q = positions([model.at_start(body) for body in model.bodies.values()])
    gaps = task.gaps(q).values()
    return Assembled(
        moves,
        found.place.distance(task.f, q),
        max((each.distance for each in gaps), default=0.0),
        max((each.angle for each in gaps), default=0.0),
        {name: at.chart.value(at.forms(local(q, at.bodies))) for name, at in coordinates.items()},
        found.hinted,
        again,
        found.iterations,
        found.trials,
    )


def task_of(
    model: Contents, what: str, *, hints: Sequence[Inlet] = (), kept: Collection[str] = ()
) -> Task:
    """Return the assembly problem; elastic bodies and rods stay where they were added."""
    if not model.bodies:
        raise InputError(f"{what}: model '{model.name}' has no bodies")
    placed = (part.place(name, model.joints)[1] for name, part in Wiring(model).with_ports.items())
    # Drives by a rate alone do not tell where they begin.
    inlets = [
        inlet for inlet in placed if inlet.drives and all(d.motion.holds for d in inlet.drives)
    ]
    bodies = [model.at_start(body) for body in model.bodies.values()]
    nodes = {node.name for rod in model.assemblies for node in model.forces[rod].bodies}
    stiff = [body.name for body in bodies if not (body.deforms or body.carried)]
    elastic = [body.name for body in bodies if body.name not in stiff or body.name in nodes]
    kept = dict.fromkeys([*kept, *elastic])
    return Task(bodies, model.joints, inlets, hints, list(kept), positions(bodies))


def start_at(model: Contents, task: Task, f: Vector) -> tuple[dict[str, Move], bool]:
    """Let a model start at frames f, if its velocities fit or can be projected.

    Return the moves of the bodies, and whether velocities were projected.
    """
    moves, starts, projection = dict[str, Move](), dict(model.starts), model.projection
    before, after = poses(task.bodies, task.f), poses(task.bodies, f)
    for name, (x, R) in after.items():
        x0, R0 = before[name]
        move = Move(float(np.linalg.norm(x - x0)), float(np.linalg.norm(log(R0.T @ R))))
        if move.distance > STILL * task.length or move.angle > STILL:
            model.starts[name] = x, R
            moves[name] = move
    try:
        return moves, _suit_velocities(model)
    except InputError:
        model.starts, model.projection = starts, projection
        raise


def _suit_velocities(model: Contents) -> bool:
    """Project velocities that violate the joints in the new positions; return whether any did."""
    again, model.projection = model.projection is not None, None
    try:
        start_velocities(model)
    except InconsistentStartError:
        again = True
    if again:
        model.projection = projected(model)
    return again
