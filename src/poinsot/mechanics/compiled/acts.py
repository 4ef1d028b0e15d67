"""What acts on bodies, as the compiled engine knows it: struts, loads, drags and fields.

Laws that are plain numbers become numbers; any other law stays the Python function that it is.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
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
from poinsot.mechanics.charts import Angle, Chart, Length
from poinsot.mechanics.compiled.products import Kind, Product, products
from poinsot.mechanics.directions import (
    Along,
    BodyForce,
    BodyTorque,
    Charted,
    Direction,
    Generalised,
    Torque,
)
from poinsot.mechanics.feedback import Feedback, JointLaw
from poinsot.mechanics.forms import GROUND, WIDTH, Form, Forms
from poinsot.mechanics.mechanism import Damper, Mechanism
from poinsot.mechanics.potentials import Affine, FieldPotential, Potential
from poinsot.mechanics.resistance import Friction
from poinsot.ph.derivatives import jacobian

Matrix = NDArray[np.float64]
#: Products with the form that each is part of.
Products: TypeAlias = tuple[tuple[int, Product], ...]


@dataclass(frozen=True, eq=False)
class Pull:
    """What acts along a coordinate: a spring with its potential, a damper or a motor."""

    role: int
    numbers: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    law: Law | None = None
    port: int = 0
    potential: Potential | None = None

    @property
    def dry(self) -> bool:
        """Whether it is dry friction."""
        return self.role == DAMPER and self.numbers[COULOMB] > 0


@dataclass(frozen=True, eq=False)
class Strut:
    """One coordinate: products with the form (0 or 1) that each is part of; what acts along it."""

    products: Products
    chart: int
    pulls: tuple[Pull, ...]

    @property
    def ends(self) -> tuple[int, int]:
        """Its two bodies."""
        first = self.products[0][1]
        return first.A, first.B

    @property
    def kind(self) -> Kind:
        """That of its products: all are of directions, or it is one only."""
        return self.products[0][1].kind

    @property
    def moves(self) -> bool:
        """Whether it meets translations."""
        return self.kind != Kind.DOT

    @property
    def numbers(self) -> list[float]:
        """Those of its product, or the matrices sum c a b^T of both forms of directions."""
        if self.moves:
            return [*self.products[0][1].numbers, *[0.0] * 5]
        forms = np.zeros((2, 3, 3))
        for form, p in self.products:
            forms[form] += p.coefficient * np.outer(p.a, p.b)
        return list(forms.reshape(-1))


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


def struts(mechanism: Mechanism) -> list[Strut]:
    """Return the coordinates that springs, dampers and motors act along; equal ones are one."""
    springs = [_spring(p) for p in mechanism.potentials if isinstance(p, Potential)]
    dampers = [_damper(d) for d in mechanism.dampers if isinstance(d.direction, Charted)]
    together: dict[object, Strut] = {}
    for strut in (*springs, *dampers, *_motors(mechanism)):
        key = strut.chart, strut.kind, strut.ends, np.array(strut.numbers).tobytes()
        known = together.get(key)
        pulls = strut.pulls if known is None else known.pulls + strut.pulls
        together[key] = replace(strut, pulls=pulls)
    return list(together.values())


def along(bodies: tuple[int, ...], forms: tuple[Form, ...]) -> Products:
    """Return the products of a coordinate's forms, on the bodies of the whole mechanism."""
    found = [(f, _globally(p, bodies)) for f, form in enumerate(forms) for p in products(form)]
    A = found[0][1].A
    return tuple((f, p if p.A == A else _reversed(p)) for f, p in found)


def _globally(p: Product, bodies: tuple[int, ...]) -> Product:
    A, B = (GROUND if end == GROUND else bodies[end] for end in (p.A, p.B))
    return replace(p, A=A, B=B)


def _reversed(p: Product) -> Product:
    """Return the same product with its bodies exchanged; only a DOT can be turned around."""
    return replace(p, A=p.B, B=p.A, a=p.b, b=p.a)


def _chart(chart: Chart) -> int:
    return ANGLE if isinstance(chart, Angle) else LENGTH if isinstance(chart, Length) else LINEAR


def _spring(p: Potential) -> Strut:
    where, elastic = along(p.bodies, p.forms.forms), p.law
    if isinstance(elastic, Affine):
        numbers = (elastic.force, elastic.stiffness, elastic.rest, 0.0)
        return Strut(where, _chart(p.chart), (Pull(SPRING, numbers, potential=p),))

    def law(given: Matrix) -> list[float]:
        chi, dchi = float(given[0]), float(given[1])
        return [*elastic.mean(chi, dchi), elastic.V(chi + dchi)]

    return Strut(where, _chart(p.chart), (Pull(SPRING, law=Law(law, 2, 3), potential=p),))


def _damper(d: Damper) -> Strut:
    direction = d.direction
    assert isinstance(direction, Charted)
    where, chart = along(direction.bodies, direction.forms.forms), _chart(direction.chart)
    if isinstance(d.law, Friction):
        return Strut(where, chart, (Pull(DAMPER, astuple(d.law)),))

    def law(given: Matrix) -> list[float]:
        return [float(d.law(given)[0]), float(d.law.slope(given)[0, 0])]

    return Strut(where, chart, (Pull(DAMPER, law=Law(law, 1, 2)),))


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


def _motors(mechanism: Mechanism) -> Iterator[Strut]:
    for port, direction, feedback in _inlets(mechanism):
        if isinstance(direction, Charted):
            where, chart = along(direction.bodies, direction.forms.forms), _chart(direction.chart)
            if feedback is None:
                yield Strut(where, chart, (Pull(MOTOR, port=port),))
            else:
                assert isinstance(feedback, JointLaw)
                pull = Pull(SERVO, law=_servo(feedback), port=port)
                yield Strut(where, chart, (pull,))


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
    _, vector, _ = forms.forms[0].terms[0]
    return np.array(vector.weights[0][1][1:])


def fields(mechanism: Mechanism) -> list[FieldAct]:
    """Return the potentials of many points and directions."""
    return [_field(p) for p in mechanism.potentials if isinstance(p, FieldPotential)]


def _field(p: FieldPotential) -> FieldAct:
    vectors = []
    for form in p.forms.forms[::3]:
        ((body, weights),) = form.terms[0][1].weights
        vectors.append((p.bodies[body], float(weights[0]), np.array(weights[1:])))
    size = p.forms.m

    def law(given: Matrix) -> Matrix:
        z, dz = p.step(given[:size], given[size:])
        return np.concatenate([[p.V(given[size:])], z, dz.reshape(-1)])

    return FieldAct(tuple(vectors), Law(law, 2 * size, 1 + size + size**2))
