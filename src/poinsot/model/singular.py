"""Starts in singular positions, where velocities must be on one branch of the motion."""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.errors import InconsistentStartError
from poinsot.ph.matrices import Matrix, Vector
from poinsot.systems.branches import Branching
from poinsot.systems.start import allowed_rates, complete, kinetic_energy, sizes_of

#: How many branches, and bodies of each, a message lists at most.
LISTED = 6
#: Velocities that differ by less than this part of the largest are the same.
SAME = 1e-6


def on_one_branch(
    loops: Sequence[Branching],
    jacobian: Matrix,
    bodies: Sequence[Body],
    known: Vector,
    given: NDArray[np.bool_],
    rates: Vector,
) -> Vector:
    """Return the twists completed on the one branch of every loop that they suit.

    `rates` are those of every row of the Jacobian. Refuses twists that suit no branch, or several.
    """
    sizes = sizes_of(jacobian, bodies)
    for loop in loops:
        choices = loop.below(jacobian)
        found = [complete(J, bodies, known, given, _padded(rates, J)) for J in choices]
        suiting = [
            k for k, J in enumerate(choices) if _suits(J, sizes, found[k], _padded(rates, J))
        ]
        own = [found[k][loop.columns] for k in suiting]
        if loop.rows is None:
            own = [twists for twists in own if loop.leads_on(twists)]
        if not own:
            branches = [_like(loop, J, bodies, sizes, known, given) for J in choices]
            _refuse(loop, bodies, branches, "and the velocities given suit none of the branches")
        if any(_differ(t, own[0], sizes[loop.bodies]) for t in own):
            several = [found[k] for k in suiting]
            _refuse(loop, bodies, several, f"and the velocities given suit {len(own)} branches")
        jacobian = choices[suiting[0]]
    return complete(jacobian, bodies, known, given, _padded(rates, jacobian))


def _padded(rates: Vector, jacobian: Matrix) -> Vector:
    """Return the rates of rows, those that branches added being at rest."""
    return np.append(rates, np.zeros(jacobian.shape[0] - rates.size))


def on_nearest_branch(
    loops: Sequence[Branching],
    jacobian: Matrix,
    bodies: Sequence[Body],
    twists: Vector,
    rates: Vector,
) -> Vector:
    """Return the nearest twists, in kinetic energy, that lie on one branch of every loop."""
    free = np.zeros(twists.size, dtype=bool)
    for loop in loops:
        # Nothing is nearer on a branch than on all of them together, so energies tell the distance.
        choices = loop.below(jacobian)
        nearest = [complete(J, bodies, twists, free, _padded(rates, J)) for J in choices]
        jacobian = choices[int(np.argmax([kinetic_energy(bodies, t) for t in nearest]))]
    return complete(jacobian, bodies, twists, free, _padded(rates, jacobian))


def _like(
    loop: Branching,
    jacobian: Matrix,
    bodies: Sequence[Body],
    sizes: Vector,
    known: Vector,
    given: NDArray[np.bool_],
) -> Vector:
    """Return twists on a branch in which one body of the loop moves as it was given, if it can."""
    own = np.zeros((len(bodies), 6), dtype=bool)
    moving = [k for k in loop.bodies if known.reshape(-1, 6)[k].any()]
    own[moving[:1]] = given.reshape(-1, 6)[moving[:1]]
    twists = complete(jacobian, bodies, np.where(own.reshape(-1), known, 0.0), own.reshape(-1))
    if _suits(jacobian, sizes, twists) and twists[loop.columns].any():
        return twists
    wish = np.random.default_rng(0).standard_normal(known.size)
    twists = complete(jacobian, bodies, wish, np.zeros_like(given))
    largest = np.max(abs(twists[loop.columns]))
    return twists if largest == 0 else twists / largest


def _differ(one: Vector, other: Vector, sizes: Vector) -> bool:
    """Return whether bodies of these sizes [m] move differently."""
    scale = np.repeat(np.column_stack([np.ones_like(sizes), sizes]), 3)
    return bool(np.max(scale * abs(one - other)) > SAME * np.max(scale * abs(one)))


def _suits(jacobian: Matrix, sizes: Vector, twists: Vector, rates: Vector | float = 0.0) -> bool:
    """Return whether twists fulfil all rows, with the sizes of bodies [m]."""
    return bool(np.all(abs(jacobian @ twists - rates) <= allowed_rates(jacobian, sizes, twists)))


def _refuse(loop: Branching, bodies: Sequence[Body], branches: list[Vector], why: str) -> NoReturn:
    if loop.rows is None:
        raise InconsistentStartError(
            f"{loop.place} where too many branches meet to list them, and the given velocities are "
            "on none of them; "
            "give velocity and angular_velocity of all of its bodies, as they are in one motion "
            "that the joints allow, or start elsewhere"
        )
    moving = np.array(branches).reshape(len(branches), -1, 2, 3)[:, loop.bodies]
    size = np.max(abs(moving), axis=(0, 1, 3))
    differ = np.max(np.ptp(moving, axis=0), axis=2) > SAME * np.where(size > 0, size, 1.0)
    # Most bodies are told by their rotation; those that only translate by their velocity.
    part = 1 if differ[:, 1].any() or not differ.any() else 0
    what, unit = (("velocity", "m/s"), ("angular_velocity", "rad/s"))[part]
    own = [bodies[k] for k in loop.bodies]
    told = [body.name for body, there in zip(own, differ[:, part], strict=True) if there]
    listed = [
        ", ".join(
            f"{body.name} ({', '.join(f'{x:.4g}' for x in twist[part] + 0.0)})"
            for body, twist in list(zip(own, twists, strict=True))[:LISTED]
        )
        for twists in np.where(abs(moving) > 1e-9 * size[:, None], moving, 0.0)[:LISTED]
    ]
    choice = " or ".join(f"'{name}'" for name in told[:LISTED]) or "its bodies"
    raise InconsistentStartError(
        f"{loop.place}, {why}: {what} {'; or '.join(listed)} [{unit}]; give the {what} of {choice} "
        "as it is on one of these branches, or start elsewhere"
    )
