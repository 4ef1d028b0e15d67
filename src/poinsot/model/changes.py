"""Changes of a model by events: joints that are released or locked, loads that are switched."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from poinsot.bodies.body import Body, Ground
from poinsot.errors import InputError, did_you_mean
from poinsot.model.contents import Contents
from poinsot.parts.events import Event, Lock, Release, Switch
from poinsot.parts.joints import Weld
from poinsot.ph.matrices import Array, Vector
from poinsot.result.channels import Channel

M = TypeVar("M", bound=Contents)


def require_possible(model: Contents, name: str, event: Event) -> None:
    """Refuse changes of joints and loads that are not there, or that something else needs."""
    what = f"event '{name}'"
    for action in event.actions:
        if isinstance(action, Release | Lock):
            _require_joint(model, action, what)
        elif isinstance(action, Switch):
            own = [load for load in model.forces if load not in model.assemblies]
            if action.load not in own:
                hint = did_you_mean(str(action.load), own)
                raise InputError(f"{what}: no load '{action.load}' to switch; {hint}")


def _require_joint(model: Contents, action: Release | Lock, what: str) -> None:
    joint, done = action.joint, "released" if isinstance(action, Release) else "locked"
    if joint not in model.joints:
        hint = did_you_mean(str(joint), model.joints)
        raise InputError(f"{what}: no joint '{joint}' to be {done}; {hint}")
    if done == "locked" and any(body.deforms for body in model.bodies.values()):
        raise InputError(f"{what}: joint '{joint}' cannot be locked in a model with elastic bodies")
    for controller in model.controllers.values():
        if any(_is_of(channel, joint) for channel in controller.reads):
            raise InputError(
                f"{what}: joint '{joint}' cannot be {done}: controller '{controller.name}' reads "
                "its coordinates; read the motion of its bodies instead"
            )


def _is_of(channel: Channel, joint: str) -> bool:
    return channel.owner == joint and channel.kind in ("coordinate", "rate", "reaction")


def without(model: M, names: Collection[str]) -> M:
    """Return a copy of a model without some joints and loads, and without sensors and events."""
    rest = model.as_now()
    for name in names:
        rest.joints.pop(name, None)
        rest.forces.pop(name, None)
    rest.sensors, rest.events = {}, {}
    return rest


def locked(model: M, joint: str, motion: Mapping[str, tuple[Vector, Array, Vector, Vector]]) -> M:
    """Return a copy of a model that begins with a motion, one of its joints rigid as it is there.

    The motion has directors as columns: position, R_WP, linear and angular momentum of every body.
    Its velocities are those that the joints do not allow before they are projected.
    """
    moved = model.as_now()
    moved.bodies = {name: _moving(body, *motion[name]) for name, body in model.bodies.items()}
    moved.starts = {}
    a, b = moved.joints.pop(joint).bodies
    moved.joints[f"{joint} (locked)"] = Weld(_end(moved, a), _end(moved, b))
    return moved


def _end(model: Contents, end: Body | Ground) -> Body | Ground:
    return model.bodies[end.name] if isinstance(end, Body) else end


def _moving(body: Body, position: Vector, R_WP: Array, p: Vector, L: Vector) -> Body:
    """Return a body with a position and a rotation, and with linear and angular momentum."""
    mass, *E = body.inertia
    J = R_WP @ np.diag(sum(E) - np.array(E)) @ R_WP.T
    return replace(
        body,
        position=position,
        R_WB=R_WP @ body.principal.R_BP.T,
        velocity=p / mass,
        angular_velocity=np.linalg.pinv(J) @ L if body.turns else None,
    )
