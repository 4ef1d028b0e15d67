"""One row of a table at a time: what kernels do on a graphics processor instead of four.

There every thread has a run of its own, and no register holds four numbers. `lanes` and the fours
of `algebra` become what is here: of four rows the first, of three numbers and a zero the three.
"""

from collections.abc import Callable
from typing import Any

from poinsot.kernels import algebra, lanes
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add_tile,
    gather,
    put,
    put_tile,
    times,
)
from poinsot.kernels.kernel import arithmetic
from poinsot.kernels.lanes import Lane, Places4

# -- four rows -------------------------------------------------------------------------------------


@arithmetic
def across(a: Array, rows: Places4, at: int, count: int) -> tuple[Lane, ...]:
    """Return 4 `count` columns of a row, from column `at` on."""
    return tuple(a[rows[0], at + c] for c in range(4 * count))


@arithmetic
def beside(a: Array, group: int, at: int, count: int) -> tuple[Lane, ...]:
    """Return columns of a table."""
    return tuple(a[group, at + c] for c in range(count))


@arithmetic
def put_beside(a: Array, group: int, at: int, columns: tuple[Lane, ...]) -> None:
    """Store columns in a table."""
    for c, x in enumerate(columns):
        a[group, at + c] = x


@arithmetic
def put_across(a: Array, rows: Places4, at: int, columns: tuple[Lane, ...]) -> None:
    """Store columns in a row, from column `at` on."""
    for c, x in enumerate(columns):
        a[rows[0], at + c] = x


@arithmetic
def places_of(places: Array, rows: Places4, at: int) -> Places4:
    """Return a column of places."""
    place = places[rows[0], at]
    return place, place, place, place


@arithmetic
def gather_lanes(a: Array, rows: Places4, b: Vec) -> None:
    """Add a vector to a row."""
    gather(a, rows[0], 0, b)


@arithmetic
def put_lanes(a: Array, rows: Places4, b: Vec) -> None:
    """Store a vector in a row."""
    put(a, rows[0], 0, b)


@arithmetic
def put_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Store a matrix in a tile."""
    put_tile(tiles, places[0], B)


@arithmetic
def add_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Add a matrix to a tile."""
    add_tile(tiles, places[0], B)


@arithmetic
def subtract_tiles(tiles: Array, places: Places4, B: Mat) -> None:
    """Subtract a matrix from a tile."""
    add_tile(tiles, places[0], times(-1.0, B))


@arithmetic
def alone(a: Lane) -> Lane:
    """Return the only number."""
    return a


# -- three numbers and a zero ----------------------------------------------------------------------


@arithmetic
def same(a: Vec) -> Vec:
    """Return a."""
    return a


@arithmetic
def less(a: Vec, s: float, b: Vec) -> Vec:
    """Return a - s b."""
    return a[0] - s * b[0], a[1] - s * b[1], a[2] - s * b[2]


@arithmetic
def add_squares(a: Vec, b: Vec) -> Vec:
    """Return a plus the squares of b."""
    return a[0] + b[0] * b[0], a[1] + b[1] * b[1], a[2] + b[2] * b[2]


#: Functions, and those that are called instead of them.
INSTEAD: dict[Callable[..., Any], Callable[..., Any]] = {
    lanes.across: across,
    lanes.beside: beside,
    lanes.put_beside: put_beside,
    lanes.put_across: put_across,
    lanes.places_of: places_of,
    lanes.gather_lanes: gather_lanes,
    lanes.put_lanes: put_lanes,
    lanes.put_tiles: put_tiles,
    lanes.add_tiles: add_tiles,
    lanes.subtract_tiles: subtract_tiles,
    lanes.greatest: alone,
    lanes.total: alone,
    lanes.last_of: alone,
    algebra.wide: same,
    algebra.three: same,
    algebra.four: algebra.vector,
    algebra.put_four: algebra.put,
    algebra.add_four: algebra.add,
    algebra.sub_four: algebra.sub,
    algebra.scale_four: algebra.scale,
    algebra.axpy_four: algebra.axpy,
    algebra.less_four: less,
    algebra.times_four: algebra.each,
    algebra.add_squares: add_squares,
}
