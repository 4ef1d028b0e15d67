"""Slender bodies without inertia about an axis, on which all of their mass lies.

The spin of such a body is a motion without mass. If joints allow no motion that consists of such
spins only, M is positive definite on all motions that they allow, and the motion is determined as
usual. A spin that is free has no inertia: nothing may act on it, and it has no influence either.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.directions import Direction
from poinsot.frames.places import frame_vectors, local
from poinsot.frames.twists import move, velocities
from poinsot.parts.potentials import Potential
from poinsot.ph.matrices import Matrix, Vector, dense
from poinsot.systems.branches import measured
from poinsot.systems.redundancy import DEPENDENT

Array = NDArray[np.float64]

#: What vanishing Euler values of a needle become, as a part of the largest one: so little that it
#: hardly matters, and so much that round-off does not turn it.
LIGHT = 1e-8
#: The same, for a moment of inertia, where a step keeps the spin but for its truncation error: of
#: free spins in body axes, and of all bodies in quaternions, where momenta are unknowns.
SPUN = 1e-5
#: The least Euler value in forms that divide by it, as a part of the largest one.
FLAT = 1e-12
#: Torque about the axis, as a part of forces times lengths, that is none.
NONE = 1e-10
#: How far bodies are turned to see what acts on them, since a spring may be at rest [rad], and how
#: often.
TURN, TRIALS = 0.1, 2


def axes(inertia: Array) -> NDArray[np.intp]:
    """Return the axis (0, 1, 2) of each needle, -1 of all others; inertia (bodies, 4)."""
    euler = inertia[:, 1:]
    slender = np.count_nonzero(euler, axis=1) == 1
    return np.where(slender, np.argmax(euler, axis=1), -1)


def free_spins(inertia: Array, J: Matrix, q: Vector) -> NDArray[np.bool_]:
    """Return which needles take part in a motion without mass that joints J t = 0 allow at q."""
    axis = axes(inertia)
    needles = np.flatnonzero(axis >= 0)
    free = np.zeros(axis.size, dtype=bool)
    if not needles.size:
        return free
    spins = frame_vectors(q)[needles, 1 + axis[needles]]
    rows = (6 * needles[:, None] + np.arange(3, 6)).reshape(-1)
    columns = np.repeat(np.arange(needles.size), 3)
    S = sp.csr_array((spins.reshape(-1), (rows, columns)), shape=(J.shape[1], needles.size))
    A = sp.csc_array(measured(J)[0] @ S)
    A.data[abs(A.data) <= DEPENDENT] = 0.0
    A.eliminate_zeros()
    _, group = scipy.sparse.csgraph.connected_components(A.T @ A, directed=False)
    for members in _groups(group.astype(np.intp)):
        block = dense(A[:, members].toarray())
        _, singular, Vt = np.linalg.svd(block[block.any(axis=1)])
        rank = int(np.count_nonzero(singular > DEPENDENT))
        free[needles[members]] = np.max(abs(Vt[rank:]), axis=0, initial=0.0) > DEPENDENT
    return free


def _groups(group: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def with_spins(inertia: Array) -> Array:
    """Return inertia (bodies, 4) with a little about the axis of needles, and no more across."""
    axis, total = axes(inertia), inertia.copy()
    for body in np.flatnonzero(axis >= 0):
        euler, k = total[body, 1:], axis[body]
        light = LIGHT * euler[k]
        euler[euler == 0] = light
        euler[k] -= light
    return total


def thickened(inertia: Array) -> Array:
    """Return inertia (bodies, 4) of bodies that turn without any Euler value that vanishes."""
    total = inertia.copy()
    total[:, 1:] = np.maximum(total[:, 1:], FLAT * np.max(total[:, 1:], axis=1, keepdims=True))
    return total


def require_thickness(names: Sequence[str], inertia: Array) -> None:
    """Refuse bodies for quaternions that have less inertia about their axis than `SPUN`.

    Needles have none, and may have any.
    """
    moments = inertia[:, 1:].sum(axis=1, keepdims=True) - inertia[:, 1:]
    least, largest = moments.min(axis=1), moments.max(axis=1)
    thin = np.flatnonzero((least < SPUN * largest) & (axes(inertia) < 0))
    if thin.size:
        name, part = names[thin[0]], least[thin[0]] / largest[thin[0]]
        raise InputError(
            f"body '{name}': its smallest moment of inertia is {part:.2g} of its largest, but "
            f"quaternions need at least {SPUN:g}; choose coordinates 'directors' or 'rotations', "
            "or use a ThinRod"
        )


def require_no_torque(
    names: Sequence[str],
    inertia: Array,
    free: NDArray[np.bool_],
    q: Vector,
    acting: Iterable[tuple[str, Potential | Direction]],
) -> None:
    """Refuse what turns a needle whose spin is free; `acting` are names and what they act by."""
    if not free.any():
        return
    axis, random = axes(inertia), np.random.default_rng(0)
    for name, part in acting:
        for k, body in enumerate(part.bodies):
            if free[body] and any(
                _turns(part, k, int(axis[body]), inertia[body], local(q, part.bodies), random)
                for _ in range(TRIALS)
            ):
                raise InputError(
                    f"{name} turns body '{names[body]}' about its axis, about which the body has "
                    "no inertia, and no joint locks this rotation: its acceleration would be "
                    "infinite; act on points of the axis, lock the rotation by a joint, or give "
                    "the body a thickness "
                    "(Cylinder, RigidBody)"
                )


def _turns(
    part: Potential | Direction,
    k: int,
    axis: int,
    inertia: Array,
    q: Vector,
    random: np.random.Generator,
) -> bool:
    """Return whether a part acts on the spin of its k-th body, at frames near those in q."""
    twists = np.zeros((q.size // 12, 2, 3))
    twists[:, 1] = TURN * random.standard_normal((len(twists), 3))
    q = move(q, twists.reshape(-1))
    try:
        pushes = part.gradient(q)[:, None] if isinstance(part, Potential) else part.B(q)
    except (ArithmeticError, ValueError):  # a law that is not defined there
        return False
    twists[:] = 0.0
    twists[k, 1] = frame_vectors(q)[k, 1 + axis]
    power = velocities(q, twists.reshape(-1)) @ pushes
    push = pushes.reshape(-1, 4, 3, pushes.shape[1])[k]
    radius = np.sqrt(np.max(inertia[1:]) / inertia[0])
    sizes = np.linalg.norm(push[1:], axis=(0, 1)) + radius * np.linalg.norm(push[0], axis=0)
    return bool(np.any(abs(power) > NONE * sizes))
