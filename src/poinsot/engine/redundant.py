"""Constraints that repeat others: what makes their equations regular, and keeps their forces small.

Of equations that repeat others the matrix A is singular: forces that cancel are left open. It is
factorised with a shift S on the diagonal of these equations. Newton's method on the true equations
then converges as fast but for that idle part of the multipliers, which is taken away.
"""

from math import sqrt
from typing import TYPE_CHECKING

from poinsot.engine.tiles import reduce, solve
from poinsot.kernels.algebra import Array, dot, vector
from poinsot.kernels.kernel import arithmetic, inline, kernel
from poinsot.kernels.tables import Repeated

if TYPE_CHECKING:
    from poinsot.engine.job import Machine

#: What is added to equations that may repeat others, relative to their own entry of G M^-1 G^T.
SHIFT = 1e-7
#: So much larger than the others' may the square of idle multipliers be.
PRELOAD = 10.0
#: Columns of numbers: which equations may repeat others, and with which sign; then what the squares
#: of forces and torques on both bodies give of mobility, and what condensed translation leaves, of
#: the heaviest bodies of the loop and of its own. Of places: node, its tile, and those of
#: translation and rotation of both bodies with it.
OF_HEAVIEST, OF_OWN = 3, 8
NODE, OWN, COLUMN = 0, 1, 2


@kernel
def make_regular(repeated: Repeated, tiles: Array) -> None:
    """Add a shift to tiles, not yet factorised: a part of their own entries of G M^-1 G^T, about.

    Lever arms change as bodies move. Where a light body holds a heavy one, 1/m of the light one
    cancels in what both do together, and 1/m of the heavy one is left: the shift must be small
    beside that, for Newton's method to converge, and large beside the round-off of the other. It is
    measured by their geometric mean.
    """
    numbers, places = repeated.rows
    for k in range(numbers.shape[0]):
        for slot in range(3):
            own = _mobility(numbers, places, k, OF_OWN, tiles, slot)
            heaviest = _mobility(numbers, places, k, OF_HEAVIEST, tiles, slot)
            shift = SHIFT * numbers[k, slot] * sqrt(own * heaviest)
            repeated.shift[places[k, NODE], slot] = shift
            tiles[places[k, OWN], 5 * slot] += shift


@arithmetic
def _mobility(numbers: Array, places: Array, k: int, of: int, tiles: Array, slot: int) -> float:
    """Return how far a unit of a multiplier moves both bodies along its equation, about."""
    mobility: float = numbers[k, of + 4]
    for i in range(4):
        column = vector(tiles, places[k, COLUMN + i], 4 * slot)
        mobility += numbers[k, of + i] * dot(column, column)
    return mobility


@inline
def forget(stabilised: Array, repeated: Repeated, multiplier: Array) -> None:
    """Guess that nothing moves bodies onto redundant constraints: they are there already."""
    if stabilised is not None:
        numbers, places = repeated.rows
        for k in range(numbers.shape[0]):
            for slot in range(3):
                if numbers[k, slot] > 0.0:
                    multiplier[places[k, NODE], slot] = 0.0


@inline
def settle(shift: Array, multiplier: Array, x: Array) -> None:
    """Ask the first correction to take away what the constraints leave open of the multipliers.

    Equations that repeat others say nothing about some share of them; from guess to guess it would
    grow without end.
    """
    for node in range(shift.shape[0]):
        for slot in range(3):
            x[node, slot] += shift[node, slot] * multiplier[node, slot]


@kernel
def relax(machine: "Machine", multiplier: Array, tiles: Array, x: Array) -> bool:
    """Take away the idle part of the multipliers if it is large; tell whether it was.

    Where A + S are the factors and S the shift, (A + S)^-1 S lam is just the part with A lam = 0
    (inverse iteration): forces of redundant constraints that cancel. The first corrections of a
    poor guess leave a large one, of which others see no more than its round-off.
    """
    shift = machine.repeated.shift
    for node in range(shift.shape[0]):
        for slot in range(3):
            x[node, slot] = shift[node, slot] * multiplier[node, slot]
    reduce(machine.schedule, tiles, x)
    solve(machine.schedule, tiles, x)
    idle, rest = 0.0, 0.0
    for node in range(shift.shape[0]):
        for slot in range(3):
            S, lam = abs(shift[node, slot]), multiplier[node, slot]
            idle += S * x[node, slot] ** 2
            rest += S * (lam - x[node, slot]) ** 2
    large = idle > PRELOAD * rest
    if large:
        for node in range(shift.shape[0]):
            for slot in range(3):
                if shift[node, slot] != 0.0:
                    multiplier[node, slot] -= x[node, slot]
    return large
