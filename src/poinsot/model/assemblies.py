"""Assemblies: bodies, joints and ports that belong together and are added to a model at once."""

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
    """Something that `Model.add_assembly` adds."""

    @abstractmethod
    def add_to(self, model: Model, name: str) -> tuple[Body, ...]:
        """Add all parts, their names beginning with `name`, and return the bodies."""


@dataclass(frozen=True, eq=False)
class Start:
    """Where something is at the start and how it moves, world axes; None: to be completed."""

    position: Vector
    R_WB: NDArray[np.float64]
    velocity: Vector | None
    angular_velocity: Vector | None


@dataclass(frozen=True, eq=False)
class BodyAssembly(ABC):
    """Something that `Model.add_body` adds: several bodies, and what holds them together."""

    @abstractmethod
    def add_to(self, model: Model, name: str, start: Start) -> Any:
        """Add all parts, their names beginning with `name`, and return what stands for them."""


@dataclass(frozen=True, eq=False)
class Wheel(Assembly):
    """A wheel that rolls on a plane without slipping, with or without a fork to steer it by.

    The body of the wheel is called as the assembly, `name`; its joints are `name.axle` and
    `name.contact`. With a steering axis, a body `name.fork` turns about it on `name.steering` and
    carries the axle.

    Parameters
    ----------
    chassis : Body or Ground
        What carries it.
    shape : Cylinder
        Mass and size of the wheel; its axis is the axle.
    position : (3,)
        Centre of the wheel, world axes at the start [m].
    axle, steering : (3,)
        Directions of the axle and of the steering axis, which passes the wheel's centre.
    fork : Shape
        What turns with the wheel about the steering axis, with its centre of mass at the wheel's.
    point, normal : (3,)
        A point [m] and the normal of the plane, world axes.
    sideways : bool
        Whether it grips sideways, too; of two wheels on one axle only one needs to.
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
        """Check what joints cannot."""
        if not isinstance(self.shape, Cylinder):
            raise InputError(f"Wheel: shape: expected a Cylinder, got {self.shape!r}")
        if (self.steering is None) != (self.fork is None):
            raise InputError(
                "Wheel: steering and fork belong together: the axis, and the shape of what turns "
                "about it with the wheel"
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
    """Two wheels on one axis with a motor each [BHRS25, sec. 7.1].

    They are called `name.left` and `name.right`; their motors, ports with torque [N m] and rate
    [rad/s], `name.left.motor` and `name.right.motor`. A positive torque drives along axle x normal,
    the axle leading from the right wheel to the left one.

    Parameters
    ----------
    chassis : Body
        What carries the wheels.
    shape : Cylinder
        Mass and size of each wheel.
    left, right : (3,)
        Centres of the wheels, world axes at the start [m].
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
        """Add wheels and motors; one of the wheels grips sideways."""
        left = vector3(self.left, f"drive '{name}': left")
        right = vector3(self.right, f"drive '{name}': right")
        if np.array_equal(left, right):
            raise InputError(f"drive '{name}': left and right are the same point")
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
