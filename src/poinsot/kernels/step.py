"""A time step in hand: what kernels of parts read, and where they add to."""

from typing import NamedTuple

from poinsot.kernels.algebra import Array, Vec, combine, gather, matrix
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.tables import (
    INSIDE_ENERGY,
    INSIDE_ROTATION,
    INSIDE_TRANSLATION,
    LASTING,
    OF_CLOSURE,
    OF_ROTATION,
    OF_TRANSLATION,
    Index2,
    R,
    Real1,
    Real2,
    T,
)


class Step(NamedTuple):
    """A time step in hand: what kernels of parts read, and where they add to.

    Of duration h [s], t [s] its middle; `length` [m] is the longest lever arm, and `speeds`
    (nodes, 3) make rates of constraints speeds; `drift` times the `gap` (nodes, 3) is taken back by
    constraints. Inputs u and outputs y of ports; the motion of all bodies at the start, `state`,
    and at the midpoint, `stage`; the `multiplier` (nodes, 3), times h. `bodies` are the places of
    bodies. Residuals go to x (nodes, 3), sizes of their terms to `sizes` (12,), see above. `given`
    and `found` are room for laws. Forces have the lever arms of the directors in column `arms_at`
    of the stage; `quaternions` tells whether bodies turn by quaternions.
    """

    t: float
    h: float
    length: float
    speeds: Real2
    drift: float
    arms_at: int
    quaternions: bool
    u: Real1
    y: Real1
    state: Real2
    stage: Real2
    multiplier: Real2
    bodies: Index2
    gap: Real2
    x: Real2
    sizes: Real1
    given: Real1
    found: Real1


@arithmetic
def push(step: Step, b: int, force: Vec, torque: Vec) -> None:
    """Add a force and a torque, times h and against the motion, to the residual of a body."""
    gather(step.x, step.bodies[b, T], 0, force)
    gather(step.x, step.bodies[b, R], 0, torque)


@arithmetic
def arm(step: Step, b: int, X: Vec) -> Vec:
    """Return the lever arm that forces have at the point X of a body, given in director axes."""
    return combine(X, matrix(step.stage, b, step.arms_at))


@arithmetic
def enlarge(sizes: Array, kind: int, size: float) -> None:
    """Take note of the size of terms of a kind."""
    sizes[kind] = max(sizes[kind], size)


@arithmetic
def measure(step: Step, force: float, torque: float) -> None:
    """Take note of the size of a force and a torque, times h."""
    enlarge(step.sizes, OF_TRANSLATION, force)
    enlarge(step.sizes, OF_ROTATION, torque)


@arithmetic
def measure_reaction(step: Step, force: float, torque: float) -> None:
    """Take note of the size of a constraint's force and torque, times h, until the next matrix."""
    measure(step, force, torque)
    enlarge(step.sizes, LASTING + OF_TRANSLATION, force)
    enlarge(step.sizes, LASTING + OF_ROTATION, torque)


@arithmetic
def measure_closure(step: Step, speed: float) -> None:
    """Take note of the size of speeds that constraints are made of, until the next matrix."""
    enlarge(step.sizes, OF_CLOSURE, speed)
    enlarge(step.sizes, LASTING + OF_CLOSURE, speed)


@arithmetic
def look_inside(step: Step, force: float, torque: float, energy: float) -> None:
    """Take note of what a force and a torque, times h, are before terms cancel, and its energy."""
    enlarge(step.sizes, INSIDE_TRANSLATION, force)
    enlarge(step.sizes, INSIDE_ROTATION, torque)
    enlarge(step.sizes, INSIDE_ENERGY, energy)
