r"""Drives of whole bodies: prescribed position, orientation, or both, as functions of time.

A position is driven by three displacements, an orientation R(t) by three components of the
angular velocity. A step from R_0 to R_1 rotates the body by

.. math:: R_1 R_0^\top = \mathrm{cay}(h\, \omega), \qquad \omega = \text{const. over the step},

so that with the rows :math:`\omega = u` steps end exactly at R(t), for any rotation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground, loaded_body, turned_body
from poinsot.errors import InputError
from poinsot.frames.charts import Linear
from poinsot.frames.directions import Torque
from poinsot.frames.forms import dot
from poinsot.frames.stacks import stack
from poinsot.inputs import unit3, vector3
from poinsot.parts.driven import Driven, DrivenDirection, Term
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.parts.loads import PortPlace
from poinsot.parts.paths import Orientation, Path, Turn
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Vector
from poinsot.ph.motions import ByPosition
from poinsot.ph.ports import Port
from poinsot.ph.signals import Constant, Signal, Table, as_signal
from poinsot.so3 import Rotation, RotationLike, as_rotation_matrix, log

Array = NDArray[np.float64]
AXES = "xyz"
#: Units of the port if the position is free, or the rotation; of both together there are none.
UNITS = {(True, False): ("N m", "rad/s"), (False, True): ("N", "m/s")}


@dataclass(frozen=True, eq=False)
class BodyDrive(PortPlace):
    """A prescribed motion of a body, by a force and a torque on it.

    The drive is a port with the velocity of the point [m/s] and the angular velocity [rad/s] as its
    input u and the force [N] and torque [N m] as its output y, world axes; u·y is the power
    supplied. If only position or rotation is prescribed, u and y have three components. The motion
    holds at the end of each step, without drift.

    Parameters
    ----------
    body : Body
        The driven body.
    position
        Position of the point [m], world axes: three formulas in t as strings, a `Table` with three
        columns, a function of time [s], or three numbers. Default: not prescribed.
    rotation
        R_WB: a function of time that returns a matrix, scalar-first quaternion or `Rotation`; or
        one of these, which is kept. Default: not prescribed.
    axis, angle
        Alternative to `rotation`: a rotation about an axis fixed in the world, by an angle since
        the start [rad], given as a formula, a `Table` or a function of time.
    sequence, angles
        Alternative to `rotation`: Euler angles [rad] as in `Rotation.from_euler`, given as
        `position`.
    point : (3,)
        The driven point at the start [m], world axes. Default: the centre of mass.
    """

    body: Body
    position: Signal | ArrayLike | Sequence[str] | None = None
    rotation: Any = None
    axis: ArrayLike | None = None
    angle: Signal | float | str | None = None
    sequence: str | None = None
    angles: Signal | ArrayLike | Sequence[str] | None = None
    point: ArrayLike | None = None

    def __post_init__(self) -> None:
        """Parse formulas and check all parameters."""
        turned = [
            name for name in ("rotation", "angle", "angles") if getattr(self, name) is not None
        ]
        if len(turned) > 1:
            raise InputError(
                f"BodyDrive: {' and '.join(turned)} exclude each other; give one of them"
            )
        if self.position is None and not turned:
            raise InputError("BodyDrive: give the position over time, a rotation, or both")
        for a, b in (("axis", "angle"), ("sequence", "angles")):
            if (getattr(self, a) is None) != (getattr(self, b) is None):
                raise InputError(f"BodyDrive: {a} and {b} must be given together")
        (turned_body if turned else loaded_body)(self.body, "BodyDrive: body")
        if self.point is not None:
            object.__setattr__(self, "point", vector3(self.point, "BodyDrive: point"))
        place = self.body.position if self.point is None else self.point
        object.__setattr__(self, "body", self.body.at(place))
        for name, size in (("position", 3), ("angle", 1), ("angles", 3)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _signal(value, size, f"BodyDrive: {name}"))
        if self.axis is not None:
            object.__setattr__(self, "axis", unit3(self.axis, "BodyDrive: axis"))
        if self.sequence is not None:
            Rotation.from_euler(self.sequence, (0.0, 0.0, 0.0))

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The driven body."""
        return (self.body,)

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and the driven directions."""
        body, relations = self.body, list[Driven]()
        world = body.position if self.point is None else np.asarray(self.point)
        span = body.on(world) - Ground().on((0.0, 0.0, 0.0))
        lines = [dot(Ground().along(e), span).among((body.index,)) for e in np.eye(3)]
        terms = [(Term((0,), stack([line], 1), Linear()),) for line in lines]
        if self.position is not None:
            for term, motion, axis in zip(terms, _components(self.position), AXES, strict=True):
                relations.append(Driven((body.index,), name, term, motion, of=f"path {axis}"))
        function = self._rotation
        if function is not None:
            orientation = Orientation(lambda t: function(t) @ body.principal.R_BP, self._angle)
            for k, (term, axis) in enumerate(zip(terms, AXES, strict=True)):
                turn = Turn(orientation, k)
                relations.append(LeadTurn((body.index,), name, term, turn, of=f"turn {axis}"))
        path = Path([relation.motion for relation in relations])
        try:
            path(0.0)
        except InputError as error:
            raise InputError(f"port '{name}': {error}") from None
        effort, flow = UNITS.get((self.position is None, function is None), (None, None))
        port = Port(name, len(relations), effort, flow, input="flow", signal=path)
        return port, Inlet(Leading((body.index,), tuple(relations)), len(relations))

    @property
    def _angle(self) -> Any:
        """The angle about the axis as a function of time, if it is given."""
        if self.angle is None:
            return None
        angle = as_signal(self.angle)
        return lambda t: np.reshape(angle(t), -1).tolist()[0]

    def moved(self, position: Vector, R: Array) -> dict[str, Any]:
        """Return its arguments for where the axes of the world are at `position`, turned by R."""
        if not position.any() and np.array_equal(R, np.eye(3)):
            return {}
        found: dict[str, Any] = {}
        if self.position is not None:
            found["position"] = _moved(as_signal(self.position), position, R)
        if self.angle is None and self._rotation is not None:
            turned, constant = self._rotation, not callable(self.rotation) and self.angles is None
            found |= {"sequence": None, "angles": None}
            found["rotation"] = R @ turned(0.0) if constant else lambda t: R @ turned(t)
        return found

    @property
    def _rotation(self) -> Any:
        """R_WB as a function of time; None: it is free."""
        if self.angle is not None:
            start, angle, axis = self.body.R_WB, self._angle, self.axis
            assert axis is not None
            return lambda t: Rotation.from_axis_angle(axis, angle(t)).matrix @ start
        if self.angles is not None:
            angles, sequence = as_signal(self.angles), self.sequence
            assert sequence is not None
            return lambda t: Rotation.from_euler(sequence, np.reshape(angles(t), -1)).matrix
        given: RotationLike = self.rotation
        if given is None:
            return None
        if callable(given):
            return lambda t: as_rotation_matrix(given(t), name="is none")
        fixed = as_rotation_matrix(given, name="BodyDrive: rotation")
        return lambda t: fixed


def _signal(value: Any, size: int, what: str) -> Any:
    """Return a formula, a table, a function of time, or numbers, of so many components."""
    try:
        signal = as_signal(value)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    found = size
    if isinstance(signal, Formula):
        found = len(signal.rows) if tuple(signal.variables) == ("t",) else -1
    if isinstance(signal, Table):
        found = signal.values.size // signal.times.size
    if isinstance(signal, Constant):
        found = signal.value.size
    if found != size:
        raise InputError(f"{what}: expected {size} number(s) at each time, got {value!r}")
    return value if isinstance(signal, Constant) else signal


def _components(given: Any) -> list[ByPosition]:
    """Return three motions, of each coordinate."""
    signal = as_signal(given)
    parts: list[Signal]
    if isinstance(signal, Formula):
        parts = [Formula(text) for text in signal.text]
    elif isinstance(signal, Table):
        parts = [Table(signal.times, column) for column in signal.values.T]
    elif isinstance(signal, Constant):
        parts = [Constant(np.array(x)) for x in signal.value.tolist()]
    else:
        parts = [lambda t, k=k: vector3(signal(t), "gives no place")[k] for k in range(3)]  # type: ignore[misc]
    return [ByPosition(part) for part in parts]


def _moved(signal: Signal, position: Vector, R: Array) -> Any:
    """Return a path of points, seen from where the axes of the world are elsewhere."""
    if isinstance(signal, Constant):
        return position + R @ signal.value
    if isinstance(signal, Table):
        return Table(signal.times, position + signal.values @ R.T)
    if isinstance(signal, Formula):
        rows = zip(position.tolist(), R.tolist(), strict=True)
        return [
            f"{x!r} + {' + '.join(f'{c!r}*({t})' for c, t in zip(row, signal.text, strict=True))}"
            for x, row in rows
        ]
    return lambda t: position + R @ np.asarray(signal(t), dtype=float)


@dataclass(frozen=True, eq=False)
class LeadTurn(Driven):
    """One driven component of an angular velocity: Torque^T v = u.

    Its term is a displacement along the same axis, which only identifies the bodies.
    """

    motion: Turn

    @property
    def rotates(self) -> bool:
        """True."""
        return True

    @property
    def _unit(self) -> Vector:
        unit: Vector = np.eye(3)[self.motion.axis]
        return unit

    def on_twists(self, q: Vector) -> Array:
        """Return the row of the component."""
        return np.concatenate([np.zeros(3), self._unit])

    def B(self, q: Vector) -> Array:
        """Return the direction of a torque about the axis."""
        return Torque(self.bodies).B(q)[:, self.motion.axis, None]

    def dB(self, q: Vector, u: Vector) -> Array:
        """Return the derivative of B u."""
        return Torque(self.bodies).dB(q, float(u[0]) * self._unit)

    def value(self, q: Vector) -> float:
        """Return 0: the angle counts from the current orientation."""
        return 0.0

    def lacking(self, q: Vector, t: float) -> float:
        """Return the angle about the axis from the directors to their prescribed orientation."""
        (led,) = self.motion.orientation.at(np.array([t]))
        return float(log(led @ _directors(q).T)[self.motion.axis])

    def require_followed(self, moved: float) -> None:
        """Do nothing; steps of half a turn were refused before."""


def _directors(q: Vector) -> Array:
    return np.asarray(q[3:].reshape(3, 3).T)


@dataclass(frozen=True, eq=False)
class Leading(DrivenDirection):
    """All relations of a drive of a body."""

    parts: tuple[Driven, ...]

    @property
    def relations(self) -> tuple[Driven, ...]:
        """The relations."""
        return self.parts

    def B(self, q: Vector) -> Array:
        """Return their directions."""
        return np.hstack([part.B(q) for part in self.parts])

    def dB(self, q: Vector, u: Vector) -> Array:
        """Return the derivative of B u."""
        terms = zip(self.parts, u.tolist(), strict=True)
        blocks = [part.dB(q, np.array([amount])) for part, amount in terms]
        return np.asarray(np.sum(blocks, axis=0))

    def dy(self, q: Vector, v: Vector) -> Array:
        """Return the derivative of B^T v."""
        return np.vstack([part.dy(q, v) for part in self.parts])

    def since(self, start: Vector) -> Self:
        """Return the same for a step that begins there."""
        return replace(self, parts=tuple(part.since(start) for part in self.parts))

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the drive itself, which has no joint angles."""
        return self

    def remembering(self) -> Self:
        """Return the drive itself, which stores nothing."""
        return self
