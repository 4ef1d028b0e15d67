"""Connections side by side: their table, and what kernels read of it."""

from typing import NamedTuple

from poinsot.frames.relative import COORDINATES
from poinsot.kernels.algebra import Array, Mat, Vec, add, combine, multiply, sub
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.lanes import (
    ABREAST,
    Lane,
    Places4,
    across,
    beside,
    matrix_of,
    places_of,
    vector_of,
)
from poinsot.kernels.relative import Blocks, Six
from poinsot.kernels.tables import (
    DIRECTORS,
    HALF,
    POSITION,
    Index2,
    Lanes2,
    NumberLanes2,
    V,
)
from poinsot.parts.connection_forces import (
    AXES_A,
    AXES_B,
    DAMPING,
    POINT_A,
    POINT_B,
    REST,
    STIFFNESS,
    Ends,
)

#: Columns of what is kept of a state: x, t, chi - rest, w; of the start of a step also the mean of
#: chi - rest over the last one.
X, TURN, STRAIN, COSINE, LAST = 0, 3, 6, 12, 13


class Connected(NamedTuple):
    """Connections; what is kept of the start of a step, and of its end.

    They fill up whole groups, with some between the ground and itself at the end. Numbers and what
    is kept are there `in_groups`, places have a row for each.
    """

    numbers: NumberLanes2
    places: Index2
    start: Lanes2
    end: Lanes2


@arithmetic
def rows_of(group: int) -> Places4:
    """Return the rows of a group."""
    k = ABREAST * group
    return k, k + 1, k + 2, k + 3


@arithmetic
def any_of(places: Array, rows: Places4, at: int) -> int:
    """Return of how many something is true."""
    a, b, c, d = places_of(places, rows, at)
    return a + b + c + d


@arithmetic
def motion_of(stage: Array, bodies: Places4) -> tuple[Vec, Mat, Vec, Vec]:
    """Return positions, directors, half turns and velocities of bodies."""
    columns = across(stage, bodies, 0, 5)
    position, half = vector_of(columns, POSITION), vector_of(columns, HALF)
    return position, matrix_of(columns, DIRECTORS), half, vector_of(columns, V)


@arithmetic
def stiffness_of(numbers: Array, group: int) -> Blocks:
    """Return S of a group."""
    return _blocks(beside(numbers, group, STIFFNESS, DAMPING - STIFFNESS))


@arithmetic
def damping_of(numbers: Array, group: int) -> Blocks:
    """Return D of a group."""
    return _blocks(beside(numbers, group, DAMPING, REST - DAMPING))


@arithmetic
def _blocks(columns: tuple[Lane, ...]) -> Blocks:
    return matrix_of(columns, 0), matrix_of(columns, 9), matrix_of(columns, 18)


@arithmetic
def start_of(kept: Array, group: int) -> tuple[Vec, Vec, Vec, Vec, Lane]:
    """Return x, t, both parts of chi - rest, and w."""
    columns = beside(kept, group, 0, LAST)
    u, v = vector_of(columns, STRAIN), vector_of(columns, STRAIN + 3)
    return vector_of(columns, X), vector_of(columns, TURN), u, v, columns[COSINE]


@arithmetic
def last_strain(kept: Array, group: int) -> Six:
    """Return the mean of chi - rest over the last step."""
    return six_of(kept, group, LAST)


@arithmetic
def six_of(table: Array, group: int, at: int) -> Six:
    """Return six columns of a table in groups."""
    columns = beside(table, group, at, COORDINATES)
    return vector_of(columns, 0), vector_of(columns, 3)


@arithmetic
def arms_of(stage: Array, at: int, bodies: Places4) -> Mat:
    """Return the directors that forces act on."""
    columns = across(stage, bodies, at, 2) + across(stage, bodies, at + 5, 1)
    last = columns[9], columns[10], columns[11]
    return vector_of(columns, 0), vector_of(columns, 3), last


@arithmetic
def ends_of(
    numbers: Array,
    group: int,
    motion_A: tuple[Vec, Mat, Vec, Vec],
    motion_B: tuple[Vec, Mat, Vec, Vec],
) -> Ends:
    """Return axes and lever arms of both ends, and what is between their points."""
    (r_A, D_A, _, _), (r_B, D_B, _, _) = motion_A, motion_B
    columns = beside(numbers, group, 0, STIFFNESS)
    A, B = (
        multiply(matrix_of(columns, AXES_A), D_A),
        multiply(matrix_of(columns, AXES_B), D_B),
    )
    rho_A = combine(vector_of(columns, POINT_A), D_A)
    rho_B = combine(vector_of(columns, POINT_B), D_B)
    return A, B, rho_A, rho_B, sub(add(r_B, rho_B), add(r_A, rho_A))
