"""Springs, dampers, loads and ports of a model.

Each is a plain description; `place` turns it into a potential, dampers or an inlet on the bodies'
coordinates. Points are given in world axes at the start; directions of joints go by joint name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, StructureError, did_you_mean
from poinsot.mechanics.bodies import Body, Ground
from poinsot.mechanics.charts import Chart, Length
from poinsot.mechanics.directions import Along, BodyForce, BodyTorque, Charted, Direction, Torque
from poinsot.mechanics.forms import (
    WIDTH,
    Form,
    components,
    direction,
    half_square,
    point,
    stack,
)
from poinsot.mechanics.joints import Freedom, Joint
from poinsot.mechanics.mechanism import Damper as PlacedDamper
from poinsot.mechanics.mechanism import Inlet
from poinsot.mechanics.potentials import FieldPotential, Potential
from poinsot.ph.derivatives import gradient
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port, Signal, as_signal

Law = Callable[[float], float]
Placed: TypeAlias = tuple[list[Potential | FieldPotential], list[PlacedDamper]]


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A length, an angle or a displacement, on the bodies that it depends on."""

    bodies: tuple[int, ...]
    forms: tuple[Form, ...]
    chart: Chart
    start: float
    unit: str

    def direction(self) -> Direction:
        """Return the generalised direction along this coordinate."""
        return Charted(self.bodies, stack(self.forms, len(self.bodies)), self.chart)

    def potential(self, name: str, V: Law, dV: Law, ddV: Law) -> Potential:
        """Return a potential of this coordinate."""
        forms = stack(self.forms, len(self.bodies))
        return Potential(name, self.bodies, forms, self.chart, V, dV, ddV)


def localise(form: Form, bodies: tuple[int, ...]) -> Form:
    """Return the form with its indices counted among a few bodies only."""
    place = {body: WIDTH * k for k, body in enumerate(bodies)}

    def at(i: int) -> int:
        return place[i // WIDTH] + i % WIDTH

    return Form(
        tuple((at(i), at(j), v) for i, j, v in form.A), tuple((at(i), v) for i, v in form.b), form.c
    )


def _touched(*partners: Body | Ground) -> tuple[int, ...]:
    return tuple(partner.index for partner in partners if isinstance(partner, Body))


def distance(
    a: Body | Ground, b: Body | Ground, point_a: ArrayLike, point_b: ArrayLike
) -> Coordinate:
    """Return the distance of two points as a coordinate."""
    world_a, world_b = np.asarray(point_a, dtype=float), np.asarray(point_b, dtype=float)
    bodies = _touched(a, b)
    if not bodies:
        raise InputError("both ends are on the ground; attach one to a body")
    on_a, on_b = point(a.index, a.local_point(world_a)), point(b.index, b.local_point(world_b))
    form = localise(half_square(on_b - on_a), bodies)
    return Coordinate(bodies, (form,), Length(), float(np.linalg.norm(world_b - world_a)), "m")


def of_joint(name: str, joints: Mapping[str, Joint], freedom: str | None, what: str) -> Coordinate:
    """Return a free direction of a joint as a coordinate."""
    if name not in joints:
        raise InputError(f"{what}: no joint '{name}'; {did_you_mean(name, joints)}")
    joint = joints[name]
    free: dict[str, Freedom] = {f.label: f for f in joint.freedoms()}
    if freedom is None:
        if len(free) != 1:
            raise InputError(
                f"{what}: joint '{name}' ({joint.kind}) has {len(free)} free directions with a "
                f"coordinate; say which by freedom=... ({', '.join(free) or 'none'})"
            )
        freedom = next(iter(free))
    if freedom not in free:
        hint = did_you_mean(freedom, free)
        raise InputError(f"{what}: joint '{name}' has no free direction '{freedom}'; {hint}")
    chosen, bodies = free[freedom], _touched(joint.a, joint.b)
    forms = tuple(localise(form, bodies) for form in chosen.forms)
    return Coordinate(bodies, forms, chosen.chart, 0.0, "rad" if chosen.rotates else "m")


def _slope(f: Law) -> Law:
    """Return the derivative of a law by finite differences."""
    return lambda x: float(gradient(lambda y: f(float(y[0])), np.array([x]))[0])


def _integral(f: Law, start: float, end: float) -> float:
    from scipy.integrate import quad

    return float(quad(f, start, end, epsabs=0.0, epsrel=1e-13)[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Elasticity:
    """The law of a spring: linear (`stiffness`, `rest`), a `force` or a `potential`.

    `force` is the force as a function of the coordinate, positive where it pulls back; its energy
    is found by integration. `dpotential` and `ddpotential` are the derivatives of `potential`, by
    finite differences if left out.
    """

    stiffness: float | None = None
    rest: float | None = None
    force: Law | None = None
    potential: Law | None = None
    dpotential: Law | None = None
    ddpotential: Law | None = None

    def laws(self, start: float, what: str) -> tuple[Law, Law, Law] | None:
        """Return V, dV and ddV; None if there is no elasticity."""
        given = (self.stiffness, self.force, self.potential)
        if sum(law is not None for law in given) > 1:
            raise InputError(f"{what}: give one of stiffness, force and potential, not several")
        if self.force is not None:
            force = self.force
            return (lambda x: _integral(force, start, x)), force, _slope(force)
        if self.potential is not None:
            V = self.potential
            dV = self.dpotential or _slope(V)
            return V, dV, self.ddpotential or _slope(dV)
        if self.stiffness is None:
            return None
        if not (np.isfinite(self.stiffness) and self.stiffness >= 0):
            raise InputError(f"{what}: the stiffness is {self.stiffness}; it must be >= 0")
        k, rest = float(self.stiffness), start if self.rest is None else float(self.rest)
        return (lambda x: k * (x - rest) ** 2 / 2), (lambda x: k * (x - rest)), (lambda x: k)


@dataclass(frozen=True, eq=False, kw_only=True)
class Viscosity:
    """The law of a damper: linear (`damping`) or any `law` f(rate) with rate·f(rate) >= 0."""

    damping: float = 0.0
    law: Law | None = None
    dlaw: Law | None = None

    def laws(
        self, what: str
    ) -> tuple[Callable[[Vector], Vector], Callable[[Vector], NDArray[np.float64]]] | None:
        """Return f and its derivative; None if nothing is damped."""
        c, law = float(self.damping), self.law
        if not (np.isfinite(c) and c >= 0):
            raise InputError(f"{what}: the damping is {self.damping}; it must be >= 0")
        if law is None:
            return (lambda y: c * y, lambda y: np.array([[c]])) if c else None
        for rate in np.concatenate([-np.logspace(3, -3, 13), np.logspace(-3, 3, 13)]):
            if law(float(rate)) * rate < 0:
                raise StructureError(f"{what}: the law creates energy at a rate of {rate:g}")
        dlaw = self.dlaw or _slope(law)
        return (
            lambda y: c * y + np.array([law(float(y[0]))]),
            lambda y: np.array([[c + dlaw(float(y[0]))]]),
        )


class Force(ABC):
    """Something that pulls on bodies without being a port."""

    @abstractmethod
    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potentials and dampers."""


def _place(name: str, at: Coordinate, elasticity: Elasticity, viscosity: Viscosity) -> Placed:
    elastic, viscous = (
        elasticity.laws(at.start, f"force '{name}'"),
        viscosity.laws(f"force '{name}'"),
    )
    potentials: list[Potential | FieldPotential] = []
    if elastic is not None:
        potentials.append(at.potential(name, *elastic))
    dampers = [] if viscous is None else [PlacedDamper(name, at.direction(), *viscous)]
    if not potentials and not dampers:
        raise InputError(f"force '{name}': give a stiffness, a potential or a damping")
    return potentials, dampers


@dataclass(frozen=True, eq=False)
class Spring(Force):
    r"""A spring-damper between two points: V = k (l - l0)^2 / 2, force -c l' against the motion.

    Parameters
    ----------
    a, b : Body or Ground
        What it joins.
    point_a, point_b : (3,)
        Its ends, world axes at the start [m].
    stiffness, rest_length
        k [N/m] and l0 [m]; the rest length defaults to the length at the start.
    damping
        c [N s/m].
    force : callable
        Any tension of the length [N] instead of a stiffness; its energy is found by integration.
    potential, dpotential, ddpotential : callable
        Any energy of the length [J] instead of a stiffness, and its derivatives.
    law, dlaw : callable
        Any damping force of the rate [N], rate·law >= 0, besides `damping`.
    """

    a: Body | Ground
    b: Body | Ground
    point_a: ArrayLike
    point_b: ArrayLike
    stiffness: float | None = None
    rest_length: float | None = None
    damping: float = 0.0
    force: Law | None = None
    potential: Law | None = None
    dpotential: Law | None = None
    ddpotential: Law | None = None
    law: Law | None = None
    dlaw: Law | None = None

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential and damper along the distance of its ends."""
        at = distance(self.a, self.b, self.point_a, self.point_b)
        elasticity = Elasticity(
            stiffness=self.stiffness,
            rest=self.rest_length,
            force=self.force,
            potential=self.potential,
            dpotential=self.dpotential,
            ddpotential=self.ddpotential,
        )
        viscosity = Viscosity(damping=self.damping, law=self.law, dlaw=self.dlaw)
        return _place(name, at, elasticity, viscosity)


@dataclass(frozen=True, eq=False)
class JointSpring(Force):
    """A spring-damper on a free direction of a joint: an angle [rad] or a displacement [m].

    `freedom` names the direction where the joint has several; `rest` is zero, the start, by
    default. An angle is taken in (-pi, pi].
    """

    joint: str
    stiffness: float | None = None
    rest: float = 0.0
    damping: float = 0.0
    freedom: str | None = None
    force: Law | None = None
    potential: Law | None = None
    dpotential: Law | None = None
    ddpotential: Law | None = None
    law: Law | None = None
    dlaw: Law | None = None

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential and damper along the joint's coordinate."""
        at = of_joint(self.joint, joints, self.freedom, f"force '{name}'")
        elasticity = Elasticity(
            stiffness=self.stiffness,
            rest=self.rest,
            force=self.force,
            potential=self.potential,
            dpotential=self.dpotential,
            ddpotential=self.ddpotential,
        )
        viscosity = Viscosity(damping=self.damping, law=self.law, dlaw=self.dlaw)
        return _place(name, at, elasticity, viscosity)


@dataclass(frozen=True, eq=False)
class Field(Force):
    """Any potential V of points and directions of bodies.

    Parameters
    ----------
    points, directions : sequence of (body, vector)
        Material points and body-fixed directions, given in world axes at the start.
    potential : callable
        V(points, directions) [J] with arrays of shape (points, 3) and (directions, 3), world axes.
    gradient : callable
        (points, directions) -> the two arrays of derivatives; by finite differences if left out.
    """

    potential: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    points: Sequence[tuple[Body, ArrayLike]] = ()
    directions: Sequence[tuple[Body, ArrayLike]] = ()
    gradient: Callable[..., tuple[ArrayLike, ArrayLike]] | None = None

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential on the components of its points and directions."""
        at = [(body, np.asarray(w, dtype=float)) for body, w in self.points]
        along = [(body, np.asarray(w, dtype=float)) for body, w in self.directions]
        bodies = tuple(dict.fromkeys(body.index for body, _ in (*at, *along)))
        if not bodies:
            raise InputError(f"force '{name}': give at least one point or direction")
        vectors = [point(body.index, body.local_point(w)) for body, w in at]
        vectors += [direction(body.index, body.local_direction(w)) for body, w in along]
        forms = stack([localise(f, bodies) for v in vectors for f in components(v)], len(bodies))
        split = len(at)

        def V(a: Vector) -> float:
            rows = a.reshape(-1, 3)
            return float(self.potential(rows[:split], rows[split:]))

        def dV(a: Vector) -> Vector:
            if self.gradient is None:
                return gradient(V, a)
            rows = a.reshape(-1, 3)
            parts = self.gradient(rows[:split], rows[split:])
            return np.concatenate([np.asarray(part, dtype=float).reshape(-1) for part in parts])

        return [FieldPotential(name, bodies, forms, V, dV)], []


@dataclass(frozen=True, eq=False)
class Motion:
    """What a state-dependent load sees of its body, at the midpoint of a step, world axes.

    `position` [m] and `velocity` [m/s] of the loaded point, `rotation` R_WB (at a midpoint its
    columns are not quite unit vectors), `angular_velocity` [rad/s].
    """

    position: Vector
    rotation: NDArray[np.float64]
    velocity: Vector
    angular_velocity: Vector


#: (t [s], motion of the body) -> force [N] or torque [N m]; shape (3,).
Load: TypeAlias = Callable[[float, Motion], ArrayLike]


def _load(
    load: Load, body: Body, X: Vector, name: str
) -> Callable[[float, Vector, Vector], Vector]:
    """Return a load as a law of the body's coordinates."""
    weights = np.array([1.0, *X])
    spin = Torque((0,))

    def law(t: float, q: Vector, v: Vector) -> Vector:
        rotation = q[3:].reshape(3, 3).T @ body.principal.R_BP.T
        position, velocity = weights @ q.reshape(4, 3), weights @ v.reshape(4, 3)
        motion = Motion(position, rotation, velocity, spin.B(q).T @ v)
        return _three(load(t, motion), name, t)

    return law


def _three(value: ArrayLike, name: str, t: float) -> Vector:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise InputError(
            f"port '{name}': the load at t = {t:g} s is {value!r}, expected three finite numbers"
        )
    return vector


def _one_source(value: object, law: object, name: str) -> None:
    if value is not None and law is not None:
        raise InputError(f"port '{name}': give either a value or a law, not both")


class PortPlace(ABC):
    """Where a port acts."""

    @abstractmethod
    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""


def _axes(body: Body) -> tuple[tuple[float, float, float], ...]:
    """Return the body axes B in director axes, as rows of a matrix whose columns they are."""
    rows = body.principal.R_BP.T
    return tuple((float(r[0]), float(r[1]), float(r[2])) for r in rows)


@dataclass(frozen=True, eq=False)
class ForcePort(PortPlace):
    """A force [N] at a point of a body, in world or body axes; y is the point's velocity [m/s].

    `point` in world axes at the start, the centre of mass by default. `value` (constant or a
    function of time) or `law` (t, motion) -> force closes the port by an input.
    """

    body: Body
    point: ArrayLike | None = None
    axes: Literal["world", "body"] = "world"
    value: Signal | ArrayLike | None = None
    law: Load | None = None

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        world = self.body.position if self.point is None else np.asarray(self.point, dtype=float)
        X = self.body.local_point(world)
        bodies = (self.body.index,)
        line: Direction
        if _choice(self.axes, name) == "body":
            line = BodyForce(bodies, (X[0], X[1], X[2]), _axes(self.body))
        else:
            line = Along(bodies, stack(components(point(0, X)), 1))
        _one_source(self.value, self.law, name)
        signal = None if self.value is None else as_signal(self.value)
        law = None if self.law is None else _load(self.law, self.body, X, name)
        return Port(name, 3, "N", "m/s", signal=signal), Inlet(line, 3, law)


@dataclass(frozen=True, eq=False)
class TorquePort(PortPlace):
    """A torque [N m] on a body, in world or body axes; y is the angular velocity [rad/s].

    `value` (constant or a function of time) or `law` (t, motion) -> torque closes the port by an
    input. `published=True` uses the directors as [LKB26, eq. (32)] does instead of the reciprocal
    ones: it reproduces that paper's numbers, and puts in slightly less than the torque asked for.
    """

    body: Body
    axes: Literal["world", "body"] = "world"
    value: Signal | ArrayLike | None = None
    law: Load | None = None
    published: bool = False

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        bodies = (self.body.index,)
        line: Direction
        if _choice(self.axes, name) == "body":
            line = BodyTorque(bodies, _axes(self.body))
        else:
            line = Torque(bodies, reciprocal=not self.published)
        _one_source(self.value, self.law, name)
        signal = None if self.value is None else as_signal(self.value)
        law = None if self.law is None else _load(self.law, self.body, np.zeros(3), name)
        return Port(name, 3, "N m", "rad/s", signal=signal), Inlet(line, 3, law)


@dataclass(frozen=True, eq=False)
class JointPort(PortPlace):
    """A motor on a free direction of a joint: torque [N m] and rate [rad/s], or force and speed.

    `value` (constant or a function of time) or `law` (t, coordinate, rate) -> torque or force
    closes the port by an input.
    """

    joint: str
    freedom: str | None = None
    value: Signal | ArrayLike | None = None
    law: Callable[[float, float, float], float] | None = None

    def place(self, name: str, joints: Mapping[str, Joint]) -> tuple[Port, Inlet]:
        """Return the port and its direction."""
        at = of_joint(self.joint, joints, self.freedom, f"port '{name}'")
        units = ("N m", "rad/s") if at.unit == "rad" else ("N", "m/s")
        _one_source(self.value, self.law, name)
        signal = None if self.value is None else as_signal(self.value)
        given, direction_, law = self.law, at.direction(), None
        if given is not None:
            forms = stack(at.forms, len(at.bodies))

            def law(t: float, q: Vector, v: Vector) -> Vector:
                rate = float((direction_.B(q).T @ v)[0])
                return np.array([given(t, at.chart.value(forms(q)), rate)], dtype=float)

        return Port(name, 1, *units, signal=signal), Inlet(direction_, 1, law)


def _choice(axes: str, name: str) -> str:
    if axes not in ("world", "body"):
        raise InputError(f"port '{name}': axes is '{axes}', not 'world' or 'body'")
    return axes
