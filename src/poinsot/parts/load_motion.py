"""Loads on single bodies: their columns, and the motion that their laws see."""

from poinsot.kernels.algebra import Array, Mat, Vec, add, combine, cross
from poinsot.kernels.kernel import arithmetic, inline
from poinsot.kernels.tables import frame, twist

FORCE, BODY_FORCE, TORQUE, BODY_TORQUE, PUBLISHED_TORQUE, GENERALISED = range(6)
#: Columns of numbers: point and axes. Of places, after the kind: body, first input, tiles of (T, R)
#: with each other.
POINT, AXES = 0, 3
BODY, INPUT, OWN = 1, 2, 3
#: How many numbers of a motion a law sees; and where its slopes begin in what it finds, after u.
MOTION, BY_SEEN = 18, 3


@inline
def look(t: float, stage: Array, b: int, rho: Vec, axes: Mat, given: Array) -> None:
    """Write time, position, body axes, velocity of a point of a body, and its angular velocity."""
    (position, D), (v, w) = frame(stage, b), twist(stage, b)
    given[0] = t
    given[1], given[2], given[3] = add(position, rho)
    for i in range(3):
        j = 4 + 3 * i
        given[j], given[j + 1], given[j + 2] = combine(axes[i], D)
    given[13], given[14], given[15] = add(v, cross(w, rho))
    given[16], given[17], given[18] = w


@arithmetic
def block(found: Array, i: int) -> Mat:
    """Return columns 3 i to 3 i + 2 of the slopes, a matrix (3, 18)."""
    j = BY_SEEN + 3 * i
    k, l = j + MOTION, j + 2 * MOTION
    return (
        (found[j], found[j + 1], found[j + 2]),
        (found[k], found[k + 1], found[k + 2]),
        (found[l], found[l + 1], found[l + 2]),
    )
