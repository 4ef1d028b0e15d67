"""Loads on single bodies over a step backwards, see `engine.backward`.

With mu the gradient by residuals, a load u adds -h u·o to mu times residuals, o being the output
that its port has along mu. A law finds u where the body is at the midpoint, and how fast.
"""

from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add,
    apply,
    axpy,
    combine,
    cross,
    dot,
    gather,
    matrix,
    outer,
    scale,
    transposed,
    vector,
)
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.laws import call_law
from poinsot.kernels.step import Step
from poinsot.kernels.tables import DIRECTORS, KIND, POSITION, Acts, R, T, frame, twist
from poinsot.kernels.terms import NONE
from poinsot.parts.constraints_backward import give
from poinsot.parts.load_motion import (
    AXES,
    BODY,
    BODY_FORCE,
    BODY_TORQUE,
    FORCE,
    GENERALISED,
    INPUT,
    POINT,
    PUBLISHED_TORQUE,
    block,
    look,
)


@kernel
def loads_backward(
    loads: Acts, by: Acts, step: Step, mu: Array, frames: Array, by_u: Array
) -> None:
    """Go through all loads."""
    for k in range(loads.places.shape[0]):
        if loads.places[k, KIND] == GENERALISED:
            _generalised(loads, k, step, mu, frames, by_u)
        else:
            _load(loads, by, k, step, mu, frames, by_u)


@kernel
def _load(loads: Acts, by: Acts, k: int, step: Step, mu: Array, frames: Array, by_u: Array) -> None:
    """Go through a force or a torque, f = u in world axes or in those of the body."""
    h, stage, bodies, numbers, at = step.h, step.stage, step.bodies, loads.numbers, loads.places[k]
    kind, b, port, X = at[KIND], at[BODY], at[INPUT], vector(numbers, k, POINT)
    (_, D), (_, w), axes = frame(stage, b), twist(stage, b), matrix(numbers, k, AXES)
    push, spin, rho = vector(mu, bodies[b, T], 0), vector(mu, bodies[b, R], 0), combine(X, D)
    if loads.laws[k] != 0:
        look(step.t, stage, b, rho, transposed(axes), step.given)
        call_law(loads.laws[k], step.given, step.found, True)
        u = step.found[0], step.found[1], step.found[2]
    else:
        u = step.u[port], step.u[port + 1], step.u[port + 2]
    met, by_rho = spin, NONE
    if kind in (FORCE, BODY_FORCE):
        met = add(push, cross(spin, rho))
    if kind == PUBLISHED_TORQUE:
        met = _published(frames, b, D, u, spin, h)
    out = met
    if kind in (BODY_FORCE, BODY_TORQUE):
        out = combine(apply(D, met), axes)
        by_f, f = scale(-h, met), apply(axes, u)
        _give_axes(frames, b, axes, D, outer(u, by_f), by.numbers, k)
        u = combine(f, D)
    if kind in (FORCE, BODY_FORCE):
        by_rho = scale(-h, cross(u, spin))
    if loads.laws[k] != 0:
        by_u_seen = scale(-h, out)
        by_point = combine(by_u_seen, block(step.found, 0))
        gather(frames, b, POSITION, by_point)
        by_rho = add(by_rho, add(by_point, cross(combine(by_u_seen, block(step.found, 4)), w)))
        by_axes = (
            combine(by_u_seen, block(step.found, 1)),
            combine(by_u_seen, block(step.found, 2)),
            combine(by_u_seen, block(step.found, 3)),
        )
        _give_axes(frames, b, axes, D, by_axes, by.numbers, k)
    elif by_u.size > 0:
        by_u[port] += h * out[0]
        by_u[port + 1] += h * out[1]
        by_u[port + 2] += h * out[2]
    give(frames, b, X, D, by_rho, by.numbers, k, POINT)


@arithmetic
def _give_axes(frames: Array, b: int, axes: Mat, D: Mat, slopes: Mat, by: Array, k: int) -> None:
    """Give the slopes of axes of a body, the columns of `axes`, to directors and to themselves."""
    for i in range(3):
        gather(frames, b, DIRECTORS + 3 * i, combine(axes[i], slopes))
        gather(by, k, AXES + 3 * i, scale(-1.0, apply(slopes, D[i])))


@inline
def _published(frames: Array, b: int, D: Mat, u: Vec, spin: Vec, h: float) -> Vec:
    """Return what such a torque is met by, half the sum of d x (mu x d); go through directors."""
    met = NONE
    for i in range(3):
        d = D[i]
        met = axpy(0.5, cross(d, cross(spin, d)), met)
        slope = add(scale(dot(d, spin), u), axpy(dot(u, d), spin, scale(-2.0 * dot(u, spin), d)))
        gather(frames, b, DIRECTORS + 3 * i, scale(0.5 * h, slope))
    return met


@kernel
def _generalised(loads: Acts, k: int, step: Step, mu: Array, frames: Array, by_u: Array) -> None:
    """Go through all twelve generalised forces of a body."""
    h, u, b, port = step.h, step.u, loads.places[k, BODY], loads.places[k, INPUT]
    (_, D), bodies = frame(step.stage, b), step.bodies
    push, spin = vector(mu, bodies[b, T], 0), vector(mu, bodies[b, R], 0)
    if by_u.size > 0:
        _add_at(by_u, port, scale(h, push))
    for i in range(3):
        j = port + 3 + 3 * i
        f = u[j], u[j + 1], u[j + 2]
        gather(frames, b, DIRECTORS + 3 * i, scale(-h, cross(f, spin)))
        if by_u.size > 0:
            _add_at(by_u, j, scale(h, cross(spin, D[i])))


@arithmetic
def _add_at(a: Array, at: int, b: Vec) -> None:
    a[at] += b[0]
    a[at + 1] += b[1]
    a[at + 2] += b[2]
