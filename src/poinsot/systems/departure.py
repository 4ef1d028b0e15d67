"""Motions from rest in a singular position: forces must determine the branch."""

import numpy as np

from poinsot.errors import InconsistentStartError
from poinsot.frames.places import frame_vectors, local
from poinsot.frames.twists import block_diagonal, joint_matrix, twists_from
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Vector
from poinsot.systems.branches import Branching, acceleration
from poinsot.systems.mechanism import Mechanism

#: Part of the velocities and of the accelerations without joints that counts as none.
REST = 1e-9


def require_one_way(held: Mechanism, f: Vector, rates: Vector, t: float, u: Vector) -> None:
    """Refuse a start at rest in a singular position, if forces set the mechanism in motion.

    `f` and `rates` are those of frames, which `held` is on; u are inputs at time t [s]. At rest all
    branches meet, and only a motion out of rest would have to choose.
    """
    start = [loop for loop in held.singular if _close(local(f, loop.bodies), loop.q)]
    if not start or not held.holonomic:
        return
    twists = twists_from(f, rates)
    free, bound = _accelerations(held, f, rates, twists, t, u)
    for loop in start:
        speed, push = (
            _size(loop, motion) for motion in (twists, np.maximum(abs(free), abs(bound)))
        )
        moves, pushed = (np.max(abs(loop.own @ motion[loop.columns])) for motion in (twists, bound))
        if moves <= REST * speed and pushed > REST * push:
            raise InconsistentStartError(
                f"{loop.place}; it is at rest there and forces drive it out of this position in no "
                "unique direction; start a little away from it on one of the branches, or give "
                "velocities along one"
            )


def _size(loop: Branching, motion: Vector) -> float:
    """Return the size of what a motion of all bodies may leave of `own` by round-off."""
    translation, rotation = (abs(motion).reshape(-1, 2, 3)[:, k] for k in (0, 1))
    rows = abs(loop.own).reshape(len(loop.own), -1, 2, 3)
    parts = (np.max(rows[:, :, k]) * np.max(m) for k, m in enumerate((translation, rotation)))
    return float(sum(parts))


def _close(f: Vector, q: Vector) -> bool:
    return bool(np.max(abs(f - q)) <= REST * np.max(abs(q)))


def _accelerations(
    held: Mechanism, f: Vector, rates: Vector, twists: Vector, t: float, u: Vector
) -> tuple[Vector, Vector]:
    """Return the rates of the twists without joints, and with them."""
    d, omega = frame_vectors(f)[:, 1:], twists.reshape(-1, 2, 3)[:, 1]
    push = held.B(f) @ held.feedback(t, f, rates, u) - held.dV(f) - held.damping(f, rates)
    forces = frame_vectors(np.asarray(push))
    # Directors are rows of d: J = sum of J_i d_i d_i^T.
    spin = np.einsum("bi,bij,bj,bik->bk", held.moments, d, omega, d)
    torque = np.cross(d, forces[:, 1:]).sum(axis=1) - np.cross(omega, spin)
    blocks = np.zeros((len(d), 6, 6))
    blocks[:, :3, :3] = np.eye(3) * held.masses[:, None, None] ** -0.5
    blocks[:, 3:, 3:] = np.einsum("bi,bij,bik->bjk", held.moments**-0.5, d, d)
    root, J = block_diagonal(blocks), joint_matrix(held.constraints, f)
    free = root @ np.hstack([forces[:, 0], torque]).reshape(-1)
    gap = acceleration(held.constraints, f, twists)[0] + J @ (root @ free)
    bound = free - shortest_solution(J @ root, gap, width=6)
    return np.asarray(root @ free), np.asarray(root @ bound)
