"""Ports on single bodies in the compiled engine: forces and torques in world or body axes."""

from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poinsot.frames.directions import (
    Along,
    BodyForce,
    BodyTorque,
    Charted,
    Direction,
    Generalised,
    Torque,
)
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    add_tile,
    apply,
    combine,
    cross,
    largest,
    matrix,
    minus,
    multiply,
    outer,
    plus,
    scale,
    size,
    skew,
    skew_times,
    times,
    transposed,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.laws import Called, KeepingSlopes, Law, call_law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, look_inside, measure, push
from poinsot.kernels.tables import DIRECTORS, KIND, Acts, frame, half_turn, twist
from poinsot.kernels.terms import NONE, UNIT, ZERO
from poinsot.kernels.turning import cosine, on_arms
from poinsot.parts.driven import DrivenDirection
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, rows
from poinsot.parts.feedback import BodyLaw, Inlet
from poinsot.parts.load_motion import (
    AXES,
    BODY,
    BODY_FORCE,
    BODY_TORQUE,
    FORCE,
    GENERALISED,
    INPUT,
    MOTION,
    OWN,
    POINT,
    PUBLISHED_TORQUE,
    TORQUE,
    block,
    look,
)
from poinsot.parts.loads_backward import loads_backward


@kernel
def loads_act(loads: Acts, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None; sets y, and u of laws."""
    for k in range(loads.places.shape[0]):
        if loads.places[k, KIND] == GENERALISED:
            _generalised(loads, k, step, tiles)
        else:
            _load(loads, k, step, tiles)


@kernel
def _load(loads: Acts, k: int, step: Step, tiles: Array) -> None:
    """Act by a force or a torque."""
    h, stage, u, y = step.h, step.stage, step.u, step.y
    at, law, mean = loads.places[k], loads.laws[k], step.arms_at == DIRECTORS
    kind, b, port, X = at[KIND], at[BODY], at[INPUT], vector(loads.numbers, k, POINT)
    (position, D), (v, w), a = frame(stage, b), twist(stage, b), half_turn(stage, b)
    rho = combine(X, D)
    axes = matrix(loads.numbers, k, AXES)
    if law != 0:
        look(step.t, stage, b, rho, transposed(axes), step.given)
        call_law(law, step.given, step.found, tiles is not None)
        u[port], u[port + 1], u[port + 2] = step.found[0], step.found[1], step.found[2]
    by_force, by_torque = directions_of(kind, axes, D, rho)
    given, turning = (u[port], u[port + 1], u[port + 2]), by_torque
    if not mean:
        turning = _turning(kind, by_force, by_torque, a, arm(step, b, X))
    if kind == PUBLISHED_TORQUE and step.quaternions:
        by_torque, turning = _on_quaternion(a, mean)
    force, torque = apply(by_force, given), apply(turning, given)
    push(step, b, scale(-h, force), scale(-h, torque))
    measure(step, abs(h) * size(force), abs(h) * size(torque))
    y[port], y[port + 1], y[port + 2] = add(combine(v, by_force), combine(w, by_torque))
    if tiles is not None:
        f, TT, TR, RT, RR = 0.5 * h * h, at[OWN], at[OWN + 1], at[OWN + 2], at[OWN + 3]
        if kind in (FORCE, BODY_FORCE):
            add_tile(tiles, RR, times(-f, skew_times(force, lever(a, rho))))
        if kind == BODY_FORCE:
            P = times(f, lever(a, force))
            add_tile(tiles, TR, P)
            add_tile(tiles, RR, skew_times(rho, P))
        if kind == BODY_TORQUE:
            add_tile(tiles, RR, times(f, lever(a, torque)))
        if kind == PUBLISHED_TORQUE:
            add_tile(tiles, RR, times(f, _published_change(step.quaternions, given, a, D)))
        if law != 0:
            by_v, by_w = _gains(h, a, rho, transposed(axes), D, step.found)
            inside = largest(by_v) * (size(position) + h * size(v))
            inside += largest(by_w) * (1.0 + h * size(w))
            flow = size((y[port], y[port + 1], y[port + 2]))
            look_inside(step, inside * largest(by_force), inside * largest(turning), inside * flow)
            add_tile(tiles, TT, times(-h, multiply(by_force, by_v)))
            add_tile(tiles, TR, times(-h, multiply(by_force, by_w)))
            add_tile(tiles, RT, times(-h, multiply(turning, by_v)))
            add_tile(tiles, RR, times(-h, multiply(turning, by_w)))


@inline
def directions_of(kind: int, axes: Mat, D: Mat, rho: Vec) -> tuple[Mat, Mat]:
    """Return force and torque of unit inputs, as columns."""
    if kind == FORCE:
        return UNIT, skew(rho)
    if kind == TORQUE:
        return ZERO, UNIT
    if kind == PUBLISHED_TORQUE:
        return ZERO, times(-0.5, _double_cross(D))
    turned = multiply(transposed(D), axes)
    if kind == BODY_FORCE:
        return turned, skew_times(rho, turned)
    return ZERO, turned


@inline
def _turning(kind: int, by_force: Mat, by_torque: Mat, a: Vec, across: Vec) -> Mat:
    """Return the torque of unit inputs on other directors than those of the output."""
    if kind in (FORCE, BODY_FORCE):
        return skew_times(across, by_force)
    return multiply(on_arms(a), by_torque)


@inline
def _on_quaternion(a: Vec, mean: bool) -> tuple[Mat, Mat]:
    """Return how torques 2 E(q_m)^T tau are met by w, and how they turn a body [KB24, eq. (128)].

    The output 2 E(q_m) v_m is c kappa w, the torque (1 + c)/2 tau.
    """
    c = cosine(a)
    met = 0.5 * (1.0 + c) if mean else c
    return times(met, UNIT), times(0.5 * (1.0 + c), UNIT)


@inline
def _published_change(quaternions: bool, given: Vec, a: Vec, D: Mat) -> Mat:
    """Return how such a torque changes, per h/2, with a turn the other way."""
    if quaternions:
        c = cosine(a)
        return times(0.5 * c * c * c, outer(given, a))
    return _double_cross_change(given, a, D)


@arithmetic
def _double_cross(D: Mat) -> Mat:
    """Return the sum of [d_i] [d_i]."""
    return reduce(plus, [skew_times(d, skew(d)) for d in D])


@arithmetic
def _double_cross_change(given: Vec, a: Vec, D: Mat) -> Mat:
    """Return how half of that sum times a vector changes, per h/2, with a turn."""
    changes = []
    for d in D:
        P = times(0.5, lever(a, d))
        changes.append(skew_times(d, skew_times(given, P)))
        changes.append(skew_times(cross(d, given), P))
    return reduce(plus, changes)


@inline
def _gains(h: float, a: Vec, rho: Vec, axes: Mat, D: Mat, found: Array) -> tuple[Mat, Mat]:
    """Return du/dv and du/dw of a law.

    It gives u and its slopes (3, 18) by what it sees. Vectors of a body change by -(h/2) P dw, and
    their rates by -P dw.
    """
    by_v = plus(times(0.5 * h, block(found, 0)), block(found, 4))
    by_w = minus(block(found, 5), multiply(by_v, lever(a, rho)))
    for i in range(3):
        turned = times(0.5 * h, lever(a, combine(axes[i], D)))
        by_w = minus(by_w, multiply(block(found, 1 + i), turned))
    return by_v, by_w


@kernel
def _generalised(loads: Acts, k: int, step: Step, tiles: Array) -> None:
    """Act by all twelve generalised forces of a body."""
    h, stage, u, y = step.h, step.stage, step.u, step.y
    b, port, RR = loads.places[k, BODY], loads.places[k, INPUT], loads.places[k, OWN + 3]
    (_, D), (v, w), a = frame(stage, b), twist(stage, b), half_turn(stage, b)
    force = scale(h, (u[port], u[port + 1], u[port + 2]))
    total, most = NONE, 0.0
    y[port], y[port + 1], y[port + 2] = v
    for i in range(3):
        d, j = D[i], port + 3 + 3 * i
        f = u[j], u[j + 1], u[j + 2]
        torque = scale(h, cross(d, f))
        total, most = add(total, torque), max(most, size(torque))
        y[j], y[j + 1], y[j + 2] = cross(w, d)
        if tiles is not None:
            add_tile(tiles, RR, times(-0.5 * h * h, skew_times(f, lever(a, d))))
    push(step, b, scale(-1.0, force), scale(-1.0, total))
    measure(step, size(force), most)


class Loads(Family):
    """Ports that act on single bodies."""

    Table: ClassVar = Acts
    kernels: ClassVar = Kernels(
        loads_act, loads_act, backward=loads_backward, backward_stabilised=loads_backward
    )

    def __init__(self, assembly: Assembly) -> None:
        along = Charted, DrivenDirection
        found = [(k, i) for k, i in assembly.ports if not isinstance(i.direction, along)]
        self.places = rows([[kind_of(i.direction), *i.direction.bodies, k] for k, i in found], 3)
        self.numbers = rows([numbers_of(i) for _, i in found], 12)
        self._laws = [_law(i.law) if isinstance(i.law, BodyLaw) else None for _, i in found]

    def __len__(self) -> int:
        """Return their number."""
        return len(self._laws)

    @property
    def laws(self) -> list[Called | None]:
        """Those that depend on the state."""
        return [*self._laws]

    @property
    def _body(self) -> Indices:
        return self.places[:, 1].astype(np.intp)

    @property
    def _moves(self) -> NDArray[np.bool_]:
        """Whether each couples translation and rotation; a law may depend on both."""
        by_law = np.array([law is not None for law in self._laws], dtype=bool)
        return np.asarray((self.places[:, 0] == BODY_FORCE) | by_law)

    @property
    def moved(self) -> Indices:
        """Bodies whose translation and rotation are coupled."""
        return self._body[self._moves]

    def meet(self, graph: Graph) -> None:
        """Join translation and rotation where they are coupled."""
        graph.meet(graph.of_bodies(self._body, moves=self._moves))

    def table(self, graph: Graph, tiles: Tiles) -> Acts:
        """Return points and axes; kinds, bodies, inputs and tiles."""
        own = tiles.table(graph.momentum(self._body), graph.motion(self._body))
        return Acts(self.numbers, index(self.places, own), addresses(self._laws))


def kind_of(direction: Direction) -> int:
    """Return the kind of a direction on one body."""
    match direction:
        case Along():
            return FORCE
        case BodyForce():
            return BODY_FORCE
        case BodyTorque():
            return BODY_TORQUE
        case Torque():
            return TORQUE if direction.reciprocal else PUBLISHED_TORQUE
        case Generalised():
            return GENERALISED
    raise TypeError(f"no kernel for {direction!r}")


def numbers_of(inlet: Inlet) -> list[float]:
    """Return the point X and the body axes, as columns, in director axes."""
    direction, law, X, axes = inlet.direction, inlet.law, np.zeros(3), np.eye(3)
    if isinstance(direction, Along):
        X = direction.material
    if isinstance(direction, BodyForce):
        X = np.array(direction.X)
    if isinstance(direction, BodyForce | BodyTorque):
        axes = np.array(direction.axes)
    elif isinstance(law, BodyLaw):
        axes = law.R_BP.T
    return [*X, *axes.reshape(-1)]


def _law(feedback: BodyLaw) -> Law:
    law = KeepingSlopes(
        lambda given: feedback.value(given[0], given[1:]),
        lambda given: feedback.value_and_slope(given[0], given[1:]),
        slopes=3 * MOTION,
    )
    return Law(law, 1 + MOTION, 3, law.slopes)
