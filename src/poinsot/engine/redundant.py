"""Constraints that repeat others: which of them a step leaves out, and that they hold all the same.

Of equations that repeat others the matrix is singular: forces that cancel are left open. As many
of them are left out as repeat others, their multipliers staying at zero; the rest determine the
motion. What is left out holds then by itself, unless others should have been chosen: so its
residuals count like all others, and a step in which they do not vanish is not solved.
"""

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.tables import Repeated

#: An entry on the diagonal beside which all others vanish: the multiplier stays as it is.
HELD = 1e60
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
def close_gaps_of_others(repeated: Repeated, gap: Array) -> None:
    """Take nothing back of what equations that are left out lack: that follows from the others."""
    places, out = repeated.places, repeated.out
    for k in range(places.shape[0]):
        for slot in range(3):
            gap[places[k, NODE], slot] *= 1.0 - out[places[k, NODE], slot]


@inline
def look_away(repeated: Repeated, x: Array) -> None:
    """Forget residuals of equations that are left out, unless they are watched."""
    if repeated.watched[0] == 0:
        places, out = repeated.places, repeated.out
        for k in range(places.shape[0]):
            for slot in range(3):
                x[places[k, NODE], slot] *= 1.0 - out[places[k, NODE], slot]
