"""Constraints that repeat others: a step leaves them out, as long as they are good combinations.

Of equations that repeat others the matrix is singular: forces that cancel are left open. As many
of them are left out as repeat others, their multipliers staying at zero; the rest determine the
motion, and what is left out holds by itself. Its gaps are those of the rest times the coefficients
by which it is a combination of them. Where these become large, as near a singular position, the
step is not solved, and others are to be chosen. The plain form sees that by gaps and residuals of
what is left out; the stabilised form, which closes gaps in every step, by the coefficients.
"""

from poinsot.engine.tiles import Refinement, Schedule, keep, reduce, refine, solve
from poinsot.kernels.algebra import Array, put_four, wide
from poinsot.kernels.kernel import kernel
from poinsot.kernels.tables import Repeated

#: An entry on the diagonal beside which all others vanish: the multiplier stays as it is.
HELD = 1e60
#: Largest coefficient of equations that are left out, all of them together.
COEFFICIENT = 16.0
#: What residuals count of equations that are left out.
WEIGHT = 0.25
#: Columns of places: a node, and its tile.
NODE, OWN = 0, 1


@kernel
def hold(repeated: Repeated, tiles: Array) -> None:
    """Keep the multipliers of equations that are left out: in tiles that are not yet factorised."""
    places, out = repeated.places, repeated.out
    for k in range(places.shape[0]):
        for slot in range(3):
            tiles[places[k, OWN], 5 * slot] += HELD * out[places[k, NODE], slot]


@kernel
def overlook_gaps(repeated: Repeated, gap: Array) -> bool:
    """Take nothing back of gaps that are left out, which follow from others; tell if one is large.

    That is so where coefficients have become large.
    """
    places, out, slack, large = repeated.places, repeated.out, repeated.slack[0], False
    for k in range(places.shape[0]):
        node = places[k, NODE]
        for slot in range(3):
            if out[node, slot] > 0.0:
                large = large or abs(gap[node, slot]) > slack * repeated.most[node, slot]
                gap[node, slot] = 0.0
    return large


@kernel
def look_away(repeated: Repeated, x: Array) -> None:
    """Count residuals of equations that are left out less: gaps of others come in with rates.

    Where they are given some slack, they do not count at all.
    """
    places, out = repeated.places, repeated.out
    less = 1.0 if repeated.slack[0] > 1.0 else 1.0 - WEIGHT
    for k in range(places.shape[0]):
        for slot in range(3):
            x[places[k, NODE], slot] *= 1.0 - less * out[places[k, NODE], slot]


@kernel
def combines(
    repeated: Repeated, schedule: Schedule, tiles: Array, room: Refinement, x: Array
) -> bool:
    """Tell whether equations that are left out are small combinations of the others.

    Forces of a unit along all that are left out, of either sign, are balanced by the others with
    just these coefficients. Room: x (nodes, 4).
    """
    places, out, sizes = repeated.places, repeated.out, repeated.sizes
    for node in range(x.shape[0]):
        put_four(x, node, 0, wide((0.0, 0.0, 0.0)))
    unit = HELD
    for k in range(places.shape[0]):
        node = places[k, NODE]
        for slot in range(3):
            if out[node, slot] > 0.0 and sizes[node, slot] > 0.0:
                x[node, slot] = unit / sizes[node, slot]
                unit = -unit
    keep(x, room.right)
    reduce(schedule, tiles, x)
    solve(schedule, tiles, x)
    refine(schedule, tiles, room, x)
    largest = 0.0
    for k in range(places.shape[0]):
        node = places[k, NODE]
        for slot in range(3):
            if out[node, slot] == 0.0:
                largest = max(largest, abs(x[node, slot]) * sizes[node, slot])
    return largest <= COEFFICIENT
