"""The search for equilibria, by descent of the energy on the constraint manifold.

Steps are along the eigenvectors of the second variation: a motion with negative curvature is
followed away from its stationary point instead of towards it. Near the end, these steps are those
of Newton's method.
"""

import numpy as np

from poinsot.errors import NoEquilibriumError
from poinsot.ph.matrices import Vector
from poinsot.systems.statics.large import LargeRest
from poinsot.systems.statics.rest import FLAT, Place, Rest

#: A step that is as small as this, in sizes of motions, ends the search.
SMALL = 1e-10
#: Residual, as a part of the forces on a body, that an equilibrium may have.
TOLERANCE = 1e-8
#: First and smallest length of a step, and where a motion has no end.
FIRST, LEAST, FAR = 0.3, 1e-13, 1e7
#: Energy that was lost, as a multiple of what forces do in motions at the start, if it has no end.
ENDLESS = 1e12
ITERATIONS, KICKS, KICK, POLISH = 250, 12, 0.05, 4
#: So many motions are too many for a basis of the free ones.
LARGE = 240
#: How many names a message lists.
LISTED = 6


def find_rest(place: Place, *, stable: bool, what: str) -> Rest:
    """Return where a system rests, from a place on: a stable one, or the nearest stationary one.

    `what` is rest, for messages.
    """
    kind = LargeRest if len(place.names) > LARGE else Rest
    here, radius, kicks = kind(place), FIRST, 0
    lost, scale = 0.0, float(np.sum(here.balance[1]))
    for _ in range(ITERATIONS):
        w = here.step(radius, down=stable)
        length = float(np.max(abs(w), initial=0.0))
        if length <= SMALL:
            here = _polished(here)
            if here.residual > TOLERANCE:
                break
            kicked = _kicked(here) if stable and kicks < KICKS else None
            if kicked is None:
                return here
            here, radius, kicks = kicked, FIRST, kicks + 1
            continue
        there = here.after(w)
        if there is None or not here.accepts(there, w, down=stable):
            radius = length / 4
            if radius < LEAST:
                break
            continue
        lost -= here.place.work(there.place, here.place.sizes * w)
        here, radius = there, max(radius, 2 * length)
        if radius > FAR or lost > ENDLESS * scale:
            raise _failure(here, what, "forces lead down the energy without end")
    raise _failure(here, what, "forces stay unbalanced")


def _polished(here: Rest) -> Rest:
    """Return the same after Newton's last steps, as long as forces get smaller."""
    for _ in range(POLISH):
        there = here.after(here.step(FIRST, down=False))
        if there is None or not there.residual < here.residual / 2:
            break
        here = there
    return here


def _kicked(here: Rest) -> Rest | None:
    """Return a place beside a stationary point from which the energy goes down; None: none."""
    if not here.curvatures.size or here.curvatures[0] >= -FLAT:
        return None
    w = here.motions[:, 0] / np.max(abs(here.motions[:, 0])) * KICK
    lower = []
    for side in (w, -w):
        there = here.after(side)
        if there is not None:
            lower.append((here.place.work(there.place, here.place.sizes * side), there))
    energy, there = min(lower, key=lambda found: found[0], default=(0.0, here))
    return there if energy < 0 else None


def movers(place: Place, w: Vector, part: float = 0.1) -> tuple[str, ...]:
    """Return the names of what moves most in a motion, in its sizes, the largest first."""
    most: dict[str, float] = {}
    for name, size in zip(place.names, abs(w), strict=True):
        most[name] = max(most.get(name, 0.0), float(size))
    largest = max(most.values(), default=0.0)
    return tuple(
        name
        for name, size in sorted(most.items(), key=lambda item: -item[1])
        if size > part * largest
    )


def _failure(here: Rest, what: str, why: str) -> NoEquilibriumError:
    """Return what is said if no rest was found."""
    names = movers(here.place, here.balance[0])
    listed = ", ".join(f"'{name}'" for name in names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return NoEquilibriumError(
        f"no {what} found: {why}; the remaining force is {here.residual:.3g} of their size and "
        f"moves {listed or 'nothing'}{more}; hold it by a joint or a spring, give inputs that "
        "balance the forces, or start closer to the equilibrium",
        residual=here.residual,
        moving=names,
    )
