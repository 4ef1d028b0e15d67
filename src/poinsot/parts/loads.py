"""Loads and motors: the ports of a model, open or closed by an input.

Each is a plain description; `place` turns it into a port and its direction. Points are given in
world axes at the start; directions of joints go by joint name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, loaded_body, turned_body
from poinsot.errors import InputError
from poinsot.frames.directions import (
    Along,
    BodyForce,
    BodyTorque,
    Direction,
    PublishedForce,
    Torque,
)
from poinsot.frames.forms import components, point, three
from poinsot.frames.stacks import stack
from poinsot.inputs import function, vector3
from poinsot.parts.coordinates import of_joint
from poinsot.parts.feedback import BodyLaw, Feedback, Inlet, JointLaw, Load
from poinsot.parts.joint import Joint
from poinsot.ph.ports import Port
from poinsot.ph.signals import Signal, as_signal


class PortPlace(ABC):
    """Where a port acts."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies that it names itself; those of a joint are the joint's."""
        return ()

    @abstractmethod
    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""


def _port(
    name: str, size: int, units: tuple[str, str], line: Direction, value: Any, law: Feedback | None
) -> tuple[Port, Inlet]:
    """Return a port along a direction, open or closed by a value or a law."""
    if value is not None and law is not None:
        raise InputError(f"port '{name}': give either a value or a law, not both")
    try:
        signal = None if value is None else as_signal(value)
    except InputError as error:
        raise InputError(f"port '{name}': {error}") from None
    return Port(name, size, *units, signal=signal, by_law=law is not None), Inlet(line, size, law)


def _axes(body: Body) -> tuple[tuple[float, float, float], ...]:
    """Return the body axes B in director axes, as rows of a matrix whose columns they are."""
    return tuple(map(three, body.principal.R_BP.T))


@dataclass(frozen=True, eq=False)
class ForcePort(PortPlace):
    """A force [N] at a point of a body, in world or body axes; y is the point's velocity [m/s].

    `point` in world axes at the start, the centre of mass by default. `value` (constant, formula
    of t, or function of time) or `law` (t, motion) -> force closes the port by an input.
    `published=True` puts an eccentric force in as [LKB26, eq. (32)] does, by its torque about the
    centre of mass: slightly less of it than asked for, in the reference engine.
    """

    body: Body
    point: ArrayLike | None = None
    axes: Literal["world", "body"] = "world"
    value: Signal | ArrayLike | None = None
    law: Load | None = None
    published: bool = False

    def __post_init__(self) -> None:
        """Check body, point and law."""
        if self.published:
            turned_body(self.body, "ForcePort: body")
            if self.axes == "body":
                raise InputError("ForcePort: published=True is for world axes")
        (turned_body if self.axes == "body" else loaded_body)(self.body, "ForcePort: body")
        if self.point is not None:
            object.__setattr__(self, "point", vector3(self.point, "ForcePort: point"))
        object.__setattr__(self, "body", self.body.at(self.point))
        if self.law is not None:
            function(self.law, "ForcePort: law")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The loaded body."""
        return (self.body,)

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        world = self.body.position if self.point is None else np.asarray(self.point)
        X = self.body.local_point(world)
        bodies = (self.body.index,)
        line: Direction = Along(bodies, stack(components(point(0, X)), 1))
        if self.published:
            line = PublishedForce(bodies, three(X))
        if _choice(self.axes, name) == "body":
            line = BodyForce(bodies, three(X), _axes(self.body))
        law = None if self.law is None else BodyLaw(name, self.law, X, self.body.principal.R_BP)
        return _port(name, 3, ("N", "m/s"), line, self.value, law)


@dataclass(frozen=True, eq=False)
class TorquePort(PortPlace):
    """A torque [N m] on a body, in world or body axes; y is the angular velocity [rad/s].

    `value` (constant, formula of t or function of time) or `law` (t, motion) -> torque closes the
    port by an input. `published=True` uses the directors as [LKB26, eq. (32)] does instead of the
    reciprocal ones: it reproduces that paper's numbers, and puts in slightly less than the torque
    asked for.
    """

    body: Body
    axes: Literal["world", "body"] = "world"
    value: Signal | ArrayLike | None = None
    law: Load | None = None
    published: bool = False

    def __post_init__(self) -> None:
        """Check body and law."""
        object.__setattr__(self, "body", turned_body(self.body, "TorquePort: body").at(None))
        if self.law is not None:
            function(self.law, "TorquePort: law")
        if self.published and self.axes == "body":
            raise InputError("TorquePort: published=True is for world axes")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The loaded body."""
        return (self.body,)

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        bodies = (self.body.index,)
        line: Direction = Torque(bodies, reciprocal=not self.published)
        if _choice(self.axes, name) == "body":
            line = BodyTorque(bodies, _axes(self.body))
        X, R_BP = np.zeros(3), self.body.principal.R_BP
        law = None if self.law is None else BodyLaw(name, self.law, X, R_BP)
        return _port(name, 3, ("N m", "rad/s"), line, self.value, law)


@dataclass(frozen=True, eq=False)
class JointPort(PortPlace):
    """A motor on a free direction of a joint: torque [N m] and rate [rad/s], or force and speed.

    `value` (constant, formula of t or function of time) or `law` (t, coordinate, rate) -> torque or
    force closes the port by an input; an angle is given to it as counted over turns.
    """

    joint: str
    freedom: str | None = None
    value: Signal | ArrayLike | None = None
    law: Callable[[float, float, float], float] | None = None

    def __post_init__(self) -> None:
        """Check the law."""
        if self.law is not None:
            function(self.law, "JointPort: law")

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        at = of_joint(self.joint, joints, self.freedom, f"port '{name}'")
        units = ("N m", "rad/s") if at.unit == "rad" else ("N", "m/s")
        law = None if self.law is None else JointLaw(name, self.law, at.forms, at.chart)
        return _port(name, 1, units, at.direction, self.value, law)


def _choice(axes: str, name: str) -> str:
    if axes not in ("world", "body"):
        raise InputError(f"port '{name}': axes is '{axes}', not 'world' or 'body'")
    return axes
