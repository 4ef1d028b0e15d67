"""Constraints that repeat others: which of them a step leaves out, and that they hold all the same.

Of equations that repeat others the matrix is singular: forces that cancel are left open. As many
of them are left out as repeat others, their multipliers staying at zero; the rest determine the
motion. What is left out holds then by itself, unless others should have been chosen: so its
residuals count, too, and a step in which they do not vanish is not solved. Nor is one from a start
at which its gaps are large.
"""

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel
from poinsot.kernels.tables import Repeated

#: An entry on the diagonal beside which all others vanish: the multiplier stays as it is.
HELD = 1e60
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

    Where others would be the better choice, their gaps come in with large coefficients.
    """
    places, out, large = repeated.places, repeated.out, False
    for k in range(places.shape[0]):
        node = places[k, NODE]
        for slot in range(3):
            if out[node, slot] > 0.0:
                large = (
                    large or abs(gap[node, slot]) > repeated.slack[0] * repeated.most[node, slot]
                )
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
