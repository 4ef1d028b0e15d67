"""Drag on single bodies: forces against velocities of points, and torques against rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, astuple, dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, loaded_body, turned_body
from poinsot.errors import InputError
from poinsot.frames.directions import Along, Direction, Torque
from poinsot.frames.forms import components, point
from poinsot.frames.stacks import stack
from poinsot.inputs import vector3
from poinsot.kernels.algebra import (
    Array,
    add,
    add_tile,
    apply,
    combine,
    cross,
    dot,
    multiply,
    plus,
    scale,
    size,
    skew,
    skew_times,
    times,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, measure, push
from poinsot.kernels.tables import (
    DIRECTORS,
    KIND,
    LOST_POWER,
    Part,
    R,
    T,
    frame,
    half_turn,
    twist,
)
from poinsot.kernels.terms import NONE, UNIT
from poinsot.kernels.turning import on_arms
from poinsot.parts.constraints_backward import give
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, rows
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.resistance import (
    QUADRATIC,
    VISCOUS,
    Damper,
    Friction,
    drag,
    require_coefficients,
)


@dataclass(frozen=True, eq=False)
class Drag(Force):
    r"""Drag on a body in a medium at rest.

    .. math:: F = -(\text{viscous} + \text{quadratic}\, |v|)\, v, \qquad
              \tau = -(\text{angular\_viscous} + \text{angular\_quadratic}\, |\omega|)\, \omega

    F acts at a point of the body with velocity v; omega is the angular velocity of the body.

    Parameters
    ----------
    body : Body
        The body.
    point : (3,)
        Point of application at the start [m], world axes. Default: the centre of mass.
    viscous, quadratic : float
        Coefficients of the force [N s/m], [N s^2/m^2]. In a fluid, `quadratic` is density * c_d *
        area / 2.
    angular_viscous, angular_quadratic : float
        Coefficients of the torque [N m s/rad], [N m s^2/rad^2].
    """

    body: Body
    point: ArrayLike | None = None
    _: KW_ONLY
    viscous: float = 0.0
    quadratic: float = 0.0
    angular_viscous: float = 0.0
    angular_quadratic: float = 0.0

    def __post_init__(self) -> None:
        """Check the body and the coefficients."""
        loaded_body(self.body, "Drag: body")
        if self.point is not None:
            object.__setattr__(self, "point", vector3(self.point, "Drag: point"))
        require_coefficients(self, ("viscous", "quadratic", "angular_viscous", "angular_quadratic"))
        if self.angular_viscous or self.angular_quadratic:
            turned_body(self.body, "Drag: body")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The body."""
        return (self.body,)

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its dampers, one for the force and one for the torque."""
        world = self.body.position if self.point is None else np.asarray(self.point)
        bodies, at = (self.body.index,), components(point(0, self.body.local_point(world)))
        acting: list[tuple[Direction, float, float]] = [
            (Along(bodies, stack(at, 1)), self.viscous, self.quadratic),
            (Torque(bodies), self.angular_viscous, self.angular_quadratic),
        ]
        dampers = [
            Damper(name, direction, Friction(float(viscous), float(quadratic)))
            for direction, viscous, quadratic in acting
            if viscous or quadratic
        ]
        if not dampers:
            raise InputError(
                f"force '{name}': give viscous or quadratic drag, or angular_viscous or "
                "angular_quadratic"
            )
        return [], dampers


# -- in the compiled engine ------------------------------------------------------------------------

FORCE, TORQUE = 0, 1
#: Columns of numbers, after those of `resistance`: the point. Of places, after the kind: the body,
#: and tiles of (T, R) with each other.
POINT = 4
BODY, OWN = 1, 2


@kernel
def drags_act(drags: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; adds up the power lost."""
    for k in range(drags.places.shape[0]):
        if drags.places[k, KIND] == FORCE:
            _force(drags, k, step, tiles)
        else:
            _torque(drags, k, step, tiles)


@kernel
def _force(drags: Part, k: int, step: Step, tiles: Array) -> None:
    """Act against the velocity of a point, y = v + w x rho."""
    h, stage, at = step.h, step.stage, drags.places[k]
    b, X = at[BODY], vector(drags.numbers, k, POINT)
    (v, w), (_, D) = twist(stage, b), frame(stage, b)
    rho, across = combine(X, D), arm(step, b, X)
    y = add(v, cross(w, rho))
    force, slope = drag(drags.numbers, k, y)
    torque = cross(across, force)
    push(step, b, scale(h, force), scale(h, torque))
    measure(step, abs(h) * size(force), abs(h) * size(torque))
    step.sizes[LOST_POWER] += dot(force, y)
    if tiles is not None:
        # rho changes by -(h/2) C [rho] dw.
        turned = times(-0.5 * h, lever(half_turn(stage, b), rho))
        by_w = multiply(slope, plus(times(-1.0, skew(rho)), skew_times(w, turned)))
        TT, TR, RT, RR = at[OWN], at[OWN + 1], at[OWN + 2], at[OWN + 3]
        add_tile(tiles, TT, times(h, slope))
        add_tile(tiles, TR, times(h, by_w))
        add_tile(tiles, RT, times(h, skew_times(across, slope)))
        add_tile(tiles, RR, times(h, skew_times(across, by_w)))
        add_tile(tiles, RR, times(-h, skew_times(force, turned)))


@kernel
def _torque(drags: Part, k: int, step: Step, tiles: Array) -> None:
    """Act against the angular velocity."""
    h, stage, at = step.h, step.stage, drags.places[k]
    b = at[BODY]
    _, w = twist(stage, b)
    torque, slope = drag(drags.numbers, k, w)
    met = UNIT if step.arms_at == DIRECTORS else on_arms(half_turn(stage, b))
    turning = apply(met, torque)
    push(step, b, NONE, scale(h, turning))
    measure(step, 0.0, abs(h) * size(turning))
    step.sizes[LOST_POWER] += dot(torque, w)
    if tiles is not None:
        add_tile(tiles, at[OWN + 3], times(h, multiply(met, slope)))


@kernel
def drags_backward(
    drags: Part, by: Part, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through all drags: forces are met by p, how their points move along mu, torques by mu."""
    h, stage, numbers, bodies = step.h, step.stage, drags.numbers, step.bodies
    for k in range(numbers.shape[0]):
        b, X = drags.places[k, BODY], vector(numbers, k, POINT)
        (v, w), (_, D), spin = twist(stage, b), frame(stage, b), vector(mu, bodies[b, R], 0)
        rho, p, y = combine(X, D), spin, w
        if drags.places[k, KIND] == FORCE:
            p, y = add(vector(mu, bodies[b, T], 0), cross(spin, rho)), add(v, cross(w, rho))
            force, slope = drag(numbers, k, y)
            by_rho = scale(h, add(cross(apply(slope, p), w), cross(force, spin)))
            give(frames, b, X, D, by_rho, by.numbers, k, POINT)
        met = h * dot(y, p)
        by.numbers[k, VISCOUS] -= met
        by.numbers[k, QUADRATIC] -= met * sqrt(dot(y, y))


class Drags(Family):
    """Resistances against velocities of points and spins of bodies."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(
        drags_act, drags_act, backward=drags_backward, backward_stabilised=drags_backward
    )

    def __init__(self, assembly: Assembly) -> None:
        found = [d for d in assembly.dampers if isinstance(d.direction, Along | Torque)]
        self.numbers = rows([_numbers(d) for d in found], 7)
        self.body = np.array([d.direction.bodies[0] for d in found], dtype=np.intp)
        torque = [not isinstance(d.direction, Along) for d in found]
        self.kind = np.where(np.array(torque, dtype=bool), TORQUE, FORCE)

    def __len__(self) -> int:
        """Return their number."""
        return self.body.size

    @property
    def moved(self) -> Indices:
        """The bodies of forces."""
        return np.asarray(self.body[self.kind == FORCE])

    def meet(self, graph: Graph) -> None:
        """Join translation and rotation where a force acts."""
        graph.meet(graph.of_bodies(self.body, moves=self.kind == FORCE))

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return coefficients and points; kinds, bodies and tiles."""
        own = tiles.table(graph.momentum(self.body), graph.motion(self.body))
        return Part(self.numbers, index(self.kind, self.body, own))


def _numbers(d: Damper) -> tuple[float, ...]:
    assert isinstance(d.law, Friction)
    point = d.direction.material if isinstance(d.direction, Along) else np.zeros(3)
    return *astuple(d.law), *point
