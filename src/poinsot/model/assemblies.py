"""Assemblies: bodies, joints and ports that are added to a model together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground
from poinsot.bodies.shapes import Cylinder, Shape
from poinsot.errors import InputError
from poinsot.inputs import unit3, vector3
from poinsot.parts.joints import Revolute, perpendicular
from poinsot.parts.loads import JointPort
from poinsot.parts.rolling import FLAT, RollingDisc
from poinsot.ph.matrices import Vector

if TYPE_CHECKING:
    from poinsot.model.model import Model


@dataclass(frozen=True, eq=False)
class Assembly(ABC):
    """Base class of assemblies, for `Model.add_assembly`."""

    @abstractmethod
    def add_to(self, model: Model, name: str) -> tuple[Body, ...]:
        """Add all parts with names that begin with `name`, and return the bodies."""


@dataclass(frozen=True, eq=False)
class Start:
    """Position, rotation and velocities at the start, world axes; velocities may be None."""

    position: Vector
    R_WB: NDArray[np.float64]
    velocity: Vector | None
    angular_velocity: Vector | None


@dataclass(frozen=True, eq=False)
class BodyAssembly(ABC):
    """Base class of shapes that `Model.add_body` adds as several bodies and their connections."""

    @abstractmethod
    def add_to(self, model: Model, name: str, start: Start) -> Any:
        """Add all parts with names that begin with `name`, and return what represents them."""


@dataclass(frozen=True, eq=False)
class Wheel(Assembly):
    """A wheel that rolls on a plane without slipping, with an optional steering fork.

    The wheel is the body `name` with the joints `name.axle` and `name.contact`. With a steering
    axis, the axle is carried by a body `name.fork`, which turns on the joint `name.steering`.

    Parameters
    ----------
    chassis : Body or Ground
        The body that carries the wheel.
    shape : Cylinder
        Mass and size of the wheel; its axis is the axle.
    position : (3,)
        Centre of the wheel at the start [m], world axes.
    axle, steering : (3,)
        Directions of the axle and of the steering axis, which passes through the wheel centre.
    fork : Shape
        The fork, with its centre of mass at the wheel centre.
    point, normal : (3,)
        A point [m] and the normal of the plane, world axes.
    sideways : bool
        Prevent sideways slip, too. Of two wheels on one axle, only one needs this.
    """

    chassis: Body | Ground
    shape: Cylinder
    position: ArrayLike
    axle: ArrayLike = (0.0, 1.0, 0.0)
    steering: ArrayLike | None = None
    fork: Shape | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)
    sideways: bool = True

    def __post_init__(self) -> None:
        """Check what the joints do not check."""
        if not isinstance(self.shape, Cylinder):
            raise InputError(f"Wheel: shape: expected a Cylinder, got {self.shape!r}")
        if (self.steering is None) != (self.fork is None):
            raise InputError(
                "Wheel: give both steering (the axis) and fork (the shape of the part that turns "
                "about it), or neither"
            )
        if self.steering is not None:
            axle, steering = (
                unit3(self.axle, "Wheel: axle"),
                unit3(self.steering, "Wheel: steering"),
            )
            if np.linalg.norm(np.cross(axle, steering)) < FLAT:
                raise InputError("Wheel: steering is parallel to the axle; give another axis")

    def add_to(self, model: Model, name: str) -> tuple[Body, ...]:
        """Add wheel, axle and contact, and the fork."""
        centre = vector3(self.position, f"wheel '{name}': position")
        axle = unit3(self.axle, f"wheel '{name}': axle")
        carrier, added = self.chassis, []
        if self.fork is not None and self.steering is not None:
            carrier = model.add_body(f"{name}.fork", self.fork, position=centre)
            added.append(carrier)
            hinge = Revolute(self.chassis, carrier, point=centre, axis=self.steering)
            model.add_joint(f"{name}.steering", hinge)
        turned = np.column_stack([*perpendicular(axle), axle])
        wheel = model.add_body(name, self.shape, position=centre, rotation=turned)
        model.add_joint(f"{name}.axle", Revolute(carrier, wheel, point=centre, axis=axle))
        contact = RollingDisc(
            model.ground,
            wheel,
            radius=self.shape.radius,
            point=self.point,
            normal=self.normal,
            axis=axle,
            sideways=self.sideways,
        )
        model.add_joint(f"{name}.contact", contact)
        return wheel, *added


@dataclass(frozen=True, eq=False)
class DifferentialDrive(Assembly):
    """Two wheels on a common axis with one motor each [BHRS25, sec. 7.1].

    The wheels are `name.left` and `name.right`. Their motors are the ports `name.left.motor` and
    `name.right.motor`, with torque [N m] and rate [rad/s]. A positive torque drives the chassis
    along axle x normal, where the axle points from the right wheel to the left one.

    Parameters
    ----------
    chassis : Body
        The body that carries the wheels.
    shape : Cylinder
        Mass and size of each wheel.
    left, right : (3,)
        Centres of the wheels at the start [m], world axes.
    point, normal : (3,)
        A point [m] and the normal of the plane, world axes.
    """

    chassis: Body
    shape: Cylinder
    left: ArrayLike
    right: ArrayLike
    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def add_to(self, model: Model, name: str) -> tuple[Body, ...]:
        """Add wheels and motors; only one of the wheels prevents sideways slip."""
        left = vector3(self.left, f"drive '{name}': left")
        right = vector3(self.right, f"drive '{name}': right")
        if np.array_equal(left, right):
            raise InputError(
                f"drive '{name}': left and right are the same point; give the centres of two wheels"
            )
        added: list[Body] = []
        for side, position in (("left", left), ("right", right)):
            wheel = Wheel(
                self.chassis,
                self.shape,
                position,
                axle=left - right,
                point=self.point,
                normal=self.normal,
                sideways=side == "left",
            )
            added += wheel.add_to(model, f"{name}.{side}")
            model.add_port(f"{name}.{side}.motor", JointPort(f"{name}.{side}.axle"))
        return tuple(added)
