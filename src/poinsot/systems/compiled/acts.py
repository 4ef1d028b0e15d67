"""What acts on bodies, as the compiled engine knows it: struts, loads, drags and fields.

Laws that are plain numbers become numbers; any other law stays the Python function that it is.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.engine.charts import ANGLE, LENGTH, LINEAR
from poinsot.engine.laws import Law
from poinsot.engine.loads import (
    BODY_FORCE,
    BODY_TORQUE,
    FORCE,
    GENERALISED,
    PUBLISHED_TORQUE,
    TORQUE,
)
from poinsot.engine.parts import COULOMB
from poinsot.engine.struts import DAMPER, MOTOR, SERVO, SPRING
from poinsot.frames.charts import Angle, Length
from poinsot.frames.directions import (
    Along,
    BodyForce,
    BodyTorque,
    Charted,
    Direction,
    Generalised,
    Torque,
)
from poinsot.frames.forms import Forms
from poinsot.frames.places import WIDTH
from poinsot.parts.feedback import Feedback, JointLaw
from poinsot.parts.potentials import Affine, FieldPotential, Potential
from poinsot.parts.resistance import Damper, Friction
from poinsot.ph.derivatives import jacobian
from poinsot.systems.mechanism import Mechanism

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pull:
    """Something along one coordinate, a strut: a chart of forms of its bodies."""

    along: Potential | Charted
    role: int
    numbers: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    law: Law | None = None
    port: int = 0

    @property
    def dry(self) -> bool:
        """Whether it is dry friction."""
        return self.role == DAMPER and self.numbers[COULOMB] > 0

    @property
    def potential(self) -> Potential | None:
        """That of a spring."""
        return self.along if isinstance(self.along, Potential) else None

    @property
    def chart(self) -> int:
        """The kind of coordinate."""
        chart = self.along.chart
        if isinstance(chart, Angle):
            return ANGLE
        return LENGTH if isinstance(chart, Length) else LINEAR


@dataclass(frozen=True, eq=False)
class Load:
    """Inputs from `port` on, at a point X of a body along axes (columns), in director axes."""

    kind: int
    body: int
    X: Matrix
    axes: Matrix
    port: int
    law: Law | None = None

    @property
    def moves(self) -> bool:
        """Whether it couples translation and rotation; a law may depend on both."""
        return self.kind == BODY_FORCE or self.law is not None


@dataclass(frozen=True, eq=False)
class DragAct:
    """A force at a point X of a body, in director axes, or a torque; see `Friction` for numbers."""

    kind: int
    body: int
    X: Matrix
    numbers: tuple[float, float, float, float]

    @property
    def moves(self) -> bool:
        """Whether it couples translation and rotation."""
        return self.kind == FORCE


@dataclass(frozen=True, eq=False)
class FieldAct:
    """A potential of vectors (body, 1 for a point or 0 for a direction, X in director axes)."""

    vectors: tuple[tuple[int, float, Matrix], ...]
    law: Law


#: What acts on bodies.
Act: TypeAlias = Pull | Load | FieldAct


def pulls(mechanism: Mechanism) -> list[Pull]:
    """Return springs, dampers, and motors along coordinates."""
    springs = [_spring(p) for p in mechanism.potentials if isinstance(p, Potential)]
    dampers = [_damper(d) for d in mechanism.dampers if isinstance(d.direction, Charted)]
    return [*springs, *dampers, *_motors(mechanism)]


def _spring(p: Potential) -> Pull:
    elastic = p.law
    if isinstance(elastic, Affine):
        numbers = (elastic.force, elastic.stiffness, elastic.rest, 0.0)
        return Pull(p, SPRING, numbers)

    def law(given: Matrix) -> list[float]:
        chi, dchi = float(given[0]), float(given[1])
        return [*elastic.mean(chi, dchi), elastic.V(chi + dchi)]

    return Pull(p, SPRING, law=Law(law, 2, 3))


def _damper(d: Damper) -> Pull:
    direction = d.direction
    assert isinstance(direction, Charted)
    if isinstance(d.law, Friction):
        return Pull(direction, DAMPER, astuple(d.law))

    def law(given: Matrix) -> list[float]:
        return [float(d.law(given)[0]), float(d.law.slope(given)[0, 0])]

    return Pull(direction, DAMPER, law=Law(law, 1, 2))


def drags(mechanism: Mechanism) -> list[DragAct]:
    """Return the resistances against velocities of points and spins of bodies."""
    return [_drag(d) for d in mechanism.dampers if not isinstance(d.direction, Charted)]


def _drag(d: Damper) -> DragAct:
    direction = d.direction
    assert isinstance(d.law, Friction)
    (body,) = direction.bodies
    if isinstance(direction, Along):
        return DragAct(FORCE, body, _material(direction.forms), astuple(d.law))
    assert isinstance(direction, Torque)
    return DragAct(TORQUE, body, np.zeros(3), astuple(d.law))


def _inlets(mechanism: Mechanism) -> Iterator[tuple[int, Direction, Feedback | None]]:
    """Return the first input, the direction and the law of every port."""
    first = 0
    for inlet in mechanism.inlets:
        yield first, inlet.direction, inlet.law
        first += inlet.size


def _motors(mechanism: Mechanism) -> Iterator[Pull]:
    for port, direction, feedback in _inlets(mechanism):
        if isinstance(direction, Charted):
            if feedback is None:
                yield Pull(direction, MOTOR, port=port)
            else:
                assert isinstance(feedback, JointLaw)
                yield Pull(direction, SERVO, law=_servo(feedback), port=port)


def _servo(feedback: JointLaw) -> Law:
    def law(given: Matrix) -> Matrix:
        return feedback.value(float(given[0]), given[1:])

    def slopes(given: Matrix) -> Matrix:
        t = float(given[0])
        return jacobian(lambda seen: feedback.value(t, seen), given[1:], rough=True).reshape(-1)

    return Law(law, 3, 3, slopes, 2)


def loads(mechanism: Mechanism) -> list[Load]:
    """Return the ports that act on single bodies."""
    return [
        _load(port, direction, None if feedback is None else _gains(feedback))
        for port, direction, feedback in _inlets(mechanism)
        if not isinstance(direction, Charted)
    ]


def _gains(feedback: Feedback) -> Law:
    def seen(given: Matrix) -> tuple[float, Matrix, Matrix]:
        return float(given[0]), given[1 : 1 + WIDTH], given[1 + WIDTH :]

    def slopes(given: Matrix) -> Matrix:
        return np.concatenate([slope.reshape(-1) for slope in feedback.slopes(*seen(given))])

    return Law(
        lambda given: feedback(*seen(given)), 1 + 2 * WIDTH, 3 + 6 * WIDTH, slopes, 6 * WIDTH
    )


def _load(port: int, direction: Direction, law: Law | None) -> Load:
    (body,) = direction.bodies
    X, axes = np.zeros(3), np.eye(3)
    if isinstance(direction, Along):
        return Load(FORCE, body, _material(direction.forms), axes, port, law)
    if isinstance(direction, BodyForce):
        return Load(BODY_FORCE, body, np.array(direction.X), np.array(direction.axes), port, law)
    if isinstance(direction, BodyTorque):
        return Load(BODY_TORQUE, body, X, np.array(direction.axes), port, law)
    if isinstance(direction, Torque):
        kind = TORQUE if direction.reciprocal else PUBLISHED_TORQUE
        return Load(kind, body, X, axes, port, law)
    assert isinstance(direction, Generalised)
    return Load(GENERALISED, body, X, axes, port, law)


def _material(forms: Forms) -> Matrix:
    """Return the point whose three components the forms are, in director axes."""
    return forms.vectors.weights[forms.terms.a[0], 0, 1:]


def fields(mechanism: Mechanism) -> list[FieldAct]:
    """Return the potentials of many points and directions."""
    return [_field(p) for p in mechanism.potentials if isinstance(p, FieldPotential)]


def _field(p: FieldPotential) -> FieldAct:
    size, at = p.forms.m, p.forms.terms.a[::3]  # three components each
    vectors = [
        (p.bodies[body], float(weights[0]), weights[1:])
        for body, weights in zip(
            p.forms.vectors.bodies[at, 0], p.forms.vectors.weights[at, 0], strict=True
        )
    ]

    def law(given: Matrix) -> Matrix:
        z, dz = p.step(given[:size], given[size:])
        return np.concatenate([[p.V(given[size:])], z, dz.reshape(-1)])

    return FieldAct(tuple(vectors), Law(law, 2 * size, 1 + size + size**2))
