"""Loads that depend on the state, with derivatives by the chain rule.

Only the user's law itself is differentiated numerically, by its own few arguments; how these
depend on the coordinates is known.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.frames.charts import Chart
from poinsot.frames.directions import Charted, Direction, Torque
from poinsot.frames.places import frame_vectors
from poinsot.frames.stacks import Forms
from poinsot.ph.derivatives import jacobian
from poinsot.ph.matrices import Vector

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """What a state-dependent load sees of its body, at the midpoint of a step, world axes.

    `position` [m] and `velocity` [m/s] of the loaded point, `rotation` R_WB (at a midpoint its
    columns are not quite unit vectors), `angular_velocity` [rad/s].
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

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        return self

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return False


def _checked(value: ArrayLike, size: int, name: str, t: float) -> Vector:
    try:
        vector = np.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise InputError(
            f"port '{name}': its law gives {value!r} at t = {t:g} s, expected {size} finite "
            "number(s)"
        )
    return vector


@dataclass(frozen=True, eq=False)
class JointLaw(Feedback):
    """u = law(t, chi, chi') of a joint's coordinate, an angle over turns, and its rate."""

    law: Callable[[float, float, float], float]
    forms: Forms
    chart: Chart

    @property
    def _direction(self) -> Charted:
        return Charted((), self.forms, self.chart)

    def _seen(self, q: Vector, v: Vector) -> Vector:
        rate = float((self._direction.B(q).T @ v)[0])
        return np.array([self.chart.value(self.forms(q)), rate])

    def value(self, t: float, seen: Vector) -> Vector:
        """Return the torque or force where coordinate and rate are seen; shape (1,)."""
        return _checked(self.law(t, float(seen[0]), float(seen[1])), 1, self.name, t)

    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the torque or force."""
        return self.value(t, self._seen(q, v))

    def slopes(self, t: float, q: Vector, v: Vector) -> tuple[Array, Array]:
        """Return the law's two slopes times those of coordinate and rate."""
        slope = jacobian(lambda seen: self.value(t, seen), self._seen(q, v), rough=True)
        B = self._direction.B(q).T
        return slope[:, :1] @ B + slope[:, 1:] @ self._direction.dy(q, v), slope[:, 1:] @ B

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the same near angles of joints [rad] counted over turns, by name."""
        chart = self.chart.near(angles)
        return self if chart is self.chart else replace(self, chart=chart)

    def loses(self, q0: Vector, q_mid: Vector) -> bool:
        """Tell whether its angle turns too far to be followed over a step."""
        return self.chart.loses(self.forms(q0), self.forms(q_mid))


@dataclass(frozen=True, eq=False)
class BodyLaw(Feedback):
    """u = load(t, motion) of a body's point X (director axes) and its body axes R_BP."""

    load: Load
    X: Vector
    R_BP: Array

    @property
    def _weights(self) -> Vector:
        return np.array([1.0, *self.X])

    def _seen(self, q: Vector, v: Vector) -> Vector:
        """Return position, rotation (column by column), velocity, angular velocity; (18,)."""
        rotation = q[3:].reshape(3, 3).T @ self.R_BP.T
        spin = Torque(()).B(q).T @ v
        position, velocity = (self._weights @ frame_vectors(a)[0] for a in (q, v))
        return np.concatenate([position, rotation.T.reshape(-1), velocity, spin])

    def _value(self, t: float, seen: Vector) -> Vector:
        motion = Motion(seen[:3], seen[3:12].reshape(3, 3).T, seen[12:15], seen[15:])
        return _checked(self.load(t, motion), 3, self.name, t)

    def __call__(self, t: float, q: Vector, v: Vector) -> Vector:
        """Return the force or torque."""
        return self._value(t, self._seen(q, v))

    def slopes(self, t: float, q: Vector, v: Vector) -> tuple[Array, Array]:
        """Return the load's eighteen slopes times those of the motion."""
        slope = jacobian(lambda seen: self._value(t, seen), self._seen(q, v), rough=True)
        point = np.kron(self._weights[None, :], np.eye(3))
        by_q, by_v = np.zeros((18, q.size)), np.zeros((18, v.size))
        by_q[:3], by_v[12:15] = point, point
        by_q[3:12, 3:] = np.kron(self.R_BP, np.eye(3))
        by_q[15:], by_v[15:] = Torque(()).dy(q, v), Torque(()).B(q).T
        return slope @ by_q, slope @ by_v


@dataclass(frozen=True, eq=False)
class Inlet:
    """A port's direction, the number of its inputs, and the law that feeds it from the state."""

    direction: Direction
    size: int
    law: Feedback | None = None

    def near(self, angles: Mapping[str, float]) -> "Inlet":
        """Return the same near angles of joints [rad] counted over turns, by name."""
        law = None if self.law is None else self.law.near(angles)
        return self if law is self.law else replace(self, law=law)
