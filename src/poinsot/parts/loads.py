"""Loads and motors: the ports of a model, open or closed by a value or a law.

Each class is a plain description; `place` turns it into a port and its direction. Points are given
in world axes at the start; joint coordinates by the name of the joint.
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
    """Base class of the ports of a model."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies that it refers to; empty for ports on joint coordinates."""
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
    """A port with a force on a body as input u [N] and the velocity of its point as output y [m/s].

    Parameters
    ----------
    body : Body
        The loaded body.
    point : (3,)
        Point of application at the start [m], world axes. Default: the centre of mass.
    axes : {"world", "body"}
        Axes of force and velocity.
    value
        Closes the port by a given force: a constant, a formula in t, or a function of time.
    law : callable
        Closes the port by a force law: (t, motion) -> force, with the time [s] and a `Motion`.
    published : bool
        Apply an eccentric force by its torque about the centre of mass as in [LKB26, eq. (32)], to
        reproduce that paper; the torque is slightly smaller than requested. Reference engine only.
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
    """A port with a torque on a body as input u [N m] and its angular velocity as output y [rad/s].

    Parameters
    ----------
    body : Body
        The loaded body.
    axes : {"world", "body"}
        Axes of torque and angular velocity.
    value
        Closes the port by a given torque: a constant, a formula in t, or a function of time.
    law : callable
        Closes the port by a torque law: (t, motion) -> torque, with the time [s] and a `Motion`.
    published : bool
        Use the directors as in [LKB26, eq. (32)] instead of the reciprocal ones, to reproduce that
        paper; the torque is slightly smaller than requested.
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
    """A port on a joint coordinate: torque [N m] or force [N] as input u, rate as output y.

    Parameters
    ----------
    joint : str
        Name of the joint.
    freedom : str
        Name of the coordinate, if the joint has several.
    value
        Closes the port by a given torque or force: a constant, a formula in t, or a function of
        time.
    law : callable
        Closes the port by a law: (t, coordinate, rate) -> torque or force. Angles are counted over
        full turns.
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
