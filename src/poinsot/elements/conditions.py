"""Conditions on the unknowns of a beam that exclude rigid motions from its deformation."""

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poinsot.elements.beams import COMPONENTS, BeamMatrices
from poinsot.errors import InputError, did_you_mean

#: A node, counted from 0 or, from the end, from -1, and a component of its unknowns.
Hold: TypeAlias = tuple[int, str]
#: A condition by name, or the unknowns that it holds.
Condition: TypeAlias = Literal["clamped-free", "simply supported"] | Iterable[Hold]

#: The conditions of [BAPM21, sec. 4.3], in space.
CONDITIONS: Final[dict[str, tuple[Hold, ...]]] = {
    "clamped-free": tuple((0, component) for component in COMPONENTS),
    "simply supported": (
        *((0, component) for component in ("u_x", "u_y", "u_z", "theta_x")),
        (-1, "u_y"),
        (-1, "u_z"),
    ),
}


def free_unknowns(
    beam: BeamMatrices, held: Condition, without: Iterable[str] = ()
) -> NDArray[np.intp]:
    """Return the numbers of the unknowns that are not held, in order.

    Nodes have no components `without`. The frame moves with what is held. If a rigid motion is left
    in the deformation, the mass matrix of frame and deformation is singular [BAPM21, rem. 6]:
    refused, with what must be held as well.
    """
    nodes = beam.line.nodes.size
    holds = (*_holds(held), *((node, name) for name in without for node in range(nodes)))
    numbers = []
    for node, component in holds:
        if component not in COMPONENTS:
            raise InputError(
                f"held: no unknown '{component}'; {did_you_mean(component, COMPONENTS)}"
            )
        if not -nodes <= node < nodes:
            raise InputError(f"held: no node {node}; the beam has nodes 0 to {nodes - 1}")
        numbers.append(6 * (node % nodes) + COMPONENTS.index(component))
    size = np.repeat([1.0, beam.length], 3)  # rotations times length compare with displacements
    R = np.tile(size, nodes)[:, None] * beam.rigid / size
    missing, rows = [], R[numbers]
    for k, component in enumerate(COMPONENTS):
        more = np.vstack([rows, R[k]])
        if np.linalg.matrix_rank(more) > np.linalg.matrix_rank(rows):
            rows = more
            missing.append(f"'{component}'")
    if missing:
        raise InputError(
            "held: the deformation still contains rigid motions, which belong to the frame; hold "
            f"{', '.join(missing)} at a node as well (node 0, for example)"
        )
    return np.setdiff1d(np.arange(beam.n), numbers)


def _holds(held: Any) -> tuple[Hold, ...]:
    """Return the unknowns that a condition holds."""
    if isinstance(held, str):
        if held not in CONDITIONS:
            raise InputError(f"held: no condition '{held}'; {did_you_mean(held, CONDITIONS)}")
        return CONDITIONS[held]
    try:
        holds = tuple((node, component) for node, component in held)
    except (TypeError, ValueError):
        holds = ((None, None),)
    if not all(isinstance(node, int) and isinstance(name, str) for node, name in holds):
        raise InputError(f"held: expected pairs such as (0, 'u_x'), got {held!r}")
    return holds
