"""Loads that depend on the state, and their derivatives by the chain rule.

Only the user's law is differentiated numerically, with respect to those arguments that it reads;
the derivatives of the arguments with respect to the coordinates are exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, failure
from poinsot.frames.charts import Chart
from poinsot.frames.directions import Charted, Direction, Torque
from poinsot.frames.places import frame_vectors
from poinsot.frames.stacks import Forms
from poinsot.parts.driven import Driven, DrivenDirection
from poinsot.ph.derivatives import single_differences
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Vector

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of a body that a law of `ForcePort` or `TorquePort` receives.

    Values at the midpoint of a step, in world axes.

    Attributes
    ----------
    position, velocity : (3,)
        Position [m] and velocity [m/s] of the point of application.
    rotation : (3, 3)
        R_WB. Its columns are unit vectors up to second order in the step size.
    angular_velocity : (3,)
        Angular velocity [rad/s].
    """

    position: Vector
    rotation: Array
    velocity: Vector
    angular_velocity: Vector


#: (t [s], motion of the body) -> force [N] or torque [N m]; shape (3,).
Load: TypeAlias = Callable[[float, Motion], ArrayLike]


@dataclass(frozen=True, eq=False)
class Feedback(ABC):
    """Inputs u(t, q, v) of a port, by its name, of coordinates and velocities of a few bodies."""

    name: str

    @abstractmethod
    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the inputs at time t [s]."""

    @abstractmethod
    def slopes(self, t: float, q: Vector, v: Vector) -> tuple[Array, Array]:
        """Return du/dq and du/dv."""

    @abstractmethod
    def inner(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the sizes of what cancels inside of the inputs, as what laws see is rounded."""

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        return self

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Return whether its angle turns too far to be followed over a step."""
        return False


def _failed(name: str, error: Exception, t: float, at: str) -> InputError:
    """Return what is to be said of a law that failed at time t [s], where it saw so much."""
    return InputError(f"port '{name}': its law {failure(error)}, at t = {t:g} s with {at}")


def _checked(value: Any, size: int, name: str, t: float) -> list[float]:
    """Return what a law gives as so many numbers, or say what is wrong with it."""
    try:
        # What laws mostly give, first: an array in between would take longer than the law.
        if size == 1 and isinstance(value, float):
            numbers = [value]
        elif isinstance(value, np.ndarray) and value.dtype == float and value.ndim == 1:
            numbers = value.tolist()
        else:
            numbers = np.asarray(value, dtype=float).reshape(-1).tolist()
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != size or not all(map(isfinite, numbers)):
        raise InputError(
            f"port '{name}': its law gives {value!r} at t = {t:g} s, expected {size} finite "
            "number(s)"
        )
    return numbers


@dataclass(frozen=True, eq=False)
class JointLaw(Feedback):
    """u = law(t, chi, chi') of a joint's coordinate, an angle over turns, and its rate."""

    law: Callable[[float, float, float], float]
    forms: Forms
    chart: Chart

    @property
    def _direction(self) -> Charted:
        return Charted((), self.forms, self.chart)

    def _seen(self, q: Vector, v: Vector) -> list[float]:
        rate = float((self._direction.B(q).T @ v)[0])
        return [self.chart.value(self.forms(q)), rate]

    def value(self, t: float, seen: Sequence[float]) -> list[float]:
        """Return the torque or force where coordinate and rate are seen, one number."""
        try:
            found = self.law(t, *seen)
        except Exception as error:
            at = "x = {:g}, v = {:g}".format(*seen)
            raise _failed(self.name, error, t, at) from error
        return _checked(found, 1, self.name, t)

    def value_and_slope(self, t: float, seen: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the torque or force, and its slopes by coordinate and rate."""
        value = self.value(t, seen)
        if isinstance(self.law, Formula) and self.law.is_of(3):
            return value, [self.law.slope(place)(t, *seen) for place in (1, 2)]
        slopes = single_differences(lambda at: self.value(t, at), seen, value, range(2))
        return value, [slope for (slope,) in slopes]

    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the torque or force."""
        return np.array(self.value(t, self._seen(q, v)))

    def slopes(self, t: float, q: Vector, v: Vector) -> tuple[Array, Array]:
        """Return the law's two slopes times those of coordinate and rate."""
        _, (by_chi, by_rate) = self.value_and_slope(t, self._seen(q, v))
        B = self._direction.B(q).T
        return by_chi * B + by_rate * self._direction.dy(q, v), by_rate * B

    def inner(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the size of coordinate and rate times the law's slopes.

        An angle over turns has the round-off of its own size, however small coordinates are.
        """
        seen = self._seen(q, v)
        return np.array([np.abs(self.value_and_slope(t, seen)[1]) @ np.abs(seen)])

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.chart.near(angles)
        return self if chart is self.chart else replace(self, chart=chart)

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Return whether its angle turns too far to be followed over a step."""
        return self.chart.loses(self.forms(q0), self.forms(q_mid))


#: What a law sees of a body, and where it stands among the numbers of its motion.
SEEN = {
    "position": slice(0, 3),
    "rotation": slice(3, 12),
    "velocity": slice(12, 15),
    "angular_velocity": slice(15, 18),
}


class Glance(Motion):
    """A motion whose arrays are made when they are asked for: those that are there were read."""

    def __init__(self, seen: Sequence[float]) -> None:
        self.__dict__["_seen"] = seen

    def __getattr__(self, name: str) -> Any:
        """Make an array of what is asked for the first time."""
        if name not in SEEN:
            raise AttributeError(f"a motion has {', '.join(SEEN)}, not '{name}'")
        array = np.array(self.__dict__["_seen"][SEEN[name]])
        if name == "rotation":
            array = array.reshape(3, 3).T
        self.__dict__[name] = array
        return array

    @property
    def read(self) -> list[int]:
        """The places of all numbers that were read."""
        return [j for name, at in SEEN.items() if name in self.__dict__ for j in range(18)[at]]


@dataclass(frozen=True, eq=False)
class BodyLaw(Feedback):
    """u = load(t, motion) of a body's point X (director axes) and its body axes R_BP."""

    load: Load
    X: Vector
    R_BP: Array

    @property
    def _weights(self) -> Vector:
        return np.array([1.0, *self.X])

    def _seen(self, q: Vector, v: Vector) -> list[float]:
        """Return position, rotation (column by column), velocity, angular velocity; 18 numbers."""
        rotation = q[3:].reshape(3, 3).T @ self.R_BP.T
        spin = Torque(()).B(q).T @ v
        position, velocity = (self._weights @ frame_vectors(a)[0] for a in (q, v))
        return [*position.tolist(), *rotation.T.reshape(-1).tolist(), *velocity.tolist(), *spin]

    def _asked(self, t: float, motion: Glance) -> list[float]:
        """Return what the law gives, three numbers."""
        try:
            found = self.load(t, motion)
        except Exception as error:
            at = f"position {motion.position.tolist()}"
            raise _failed(self.name, error, t, at) from error
        return _checked(found, 3, self.name, t)

    def value(self, t: float, seen: Sequence[float]) -> list[float]:
        """Return the force or torque where a motion is seen, three numbers."""
        return self._asked(t, Glance(seen))

    def value_and_slope(self, t: float, seen: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the force or torque, and its slopes (3, 18), row by row.

        Only what the law reads is varied: it cannot depend on anything else.
        """
        motion, by_seen = Glance(seen), [0.0] * 54
        value = self._asked(t, motion)
        read = motion.read
        slopes = single_differences(lambda at: self.value(t, at), seen, value, read)
        for j, column in zip(read, slopes, strict=True):
            by_seen[j::18] = column
        return value, by_seen

    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the force or torque."""
        return np.array(self.value(t, self._seen(q, v)))

    def slopes(self, t: float, q: Vector, v: Vector) -> tuple[Array, Array]:
        """Return the load's eighteen slopes times those of the motion."""
        slope = np.reshape(self.value_and_slope(t, self._seen(q, v))[1], (3, 18))
        point = np.kron(self._weights[None, :], np.eye(3))
        by_q, by_v = np.zeros((18, q.size)), np.zeros((18, v.size))
        by_q[:3], by_v[12:15] = point, point
        by_q[3:12, 3:] = np.kron(self.R_BP, np.eye(3))
        by_q[15:], by_v[15:] = Torque(()).dy(q, v), Torque(()).B(q).T
        return slope @ by_q, slope @ by_v

    def inner(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the sizes of what is seen times the load's slopes."""
        seen = self._seen(q, v)
        slope = np.reshape(self.value_and_slope(t, seen)[1], (3, 18))
        return np.asarray(abs(slope) @ np.abs(seen))


@dataclass(frozen=True, eq=False)
class Inlet:
    """A port's direction, the number of its inputs, and the law that feeds it from the state.

    The input of a driven direction is its rate, that of all others is a force.
    """

    direction: Direction
    size: int
    law: Feedback | None = None

    @property
    def driven(self) -> DrivenDirection | None:
        """The direction whose motion it prescribes, if it does."""
        return self.direction if isinstance(self.direction, DrivenDirection) else None

    @property
    def drives(self) -> tuple[Driven, ...]:
        """The relations that it prescribes."""
        return () if self.driven is None else self.driven.relations

    def remembering(self) -> Inlet:
        """Return the same for one run of Newton's method."""
        line = self.direction if self.driven is None else self.driven.remembering()
        return self if line is self.direction else replace(self, direction=line)

    def near(self, angles: Mapping[str, float]) -> Inlet:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        law = None if self.law is None else self.law.near(angles)
        line = self.direction if self.driven is None else self.driven.near(angles)
        if law is self.law and line is self.direction:
            return self
        return replace(self, direction=line, law=law)
