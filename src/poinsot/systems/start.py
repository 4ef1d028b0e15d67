"""Velocities at the start: what the user left out is completed, what contradicts is refused."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.frames.twists import block_diagonal
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector

#: Velocity [m/s or rad/s times a unit of length] that a joint's equation may be violated by.
TOLERANCE = 1e-8


def given_twists(bodies: Sequence[Body]) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the twists that the user gave, zero where none, and which entries are given."""
    twists = np.zeros((len(bodies), 2, 3))
    given = np.zeros((len(bodies), 2, 3), dtype=bool)
    for k, body in enumerate(bodies):
        for j, value in enumerate((body.velocity, body.angular_velocity)):
            if value is not None:
                twists[k, j], given[k, j] = value, True
    return twists.reshape(-1), given.reshape(-1)


def complete(
    jacobian: Matrix, bodies: Sequence[Body], twists: Vector, given: NDArray[np.bool_]
) -> Vector:
    """Return the twists with the missing entries chosen to satisfy the joints, as slow as possible.

    Of all choices that solve J t = 0 (or come nearest to it), the one of least kinetic energy.
    """
    if given.all():
        return twists
    return twists + _correction(jacobian, bodies, twists, ~given)


def project(jacobian: Matrix, bodies: Sequence[Body], twists: Vector) -> Vector:
    """Return the twists nearest to the given ones, in kinetic energy, that satisfy the joints."""
    return twists + _correction(jacobian, bodies, twists, np.ones(twists.size, dtype=bool))


def _correction(
    jacobian: Matrix, bodies: Sequence[Body], twists: Vector, free: NDArray[np.bool_]
) -> Vector:
    """Return the change of the free entries, least in kinetic energy, that satisfies the joints."""
    if not twists.any():
        return twists
    # A body's velocity is free, or its angular velocity, or both: M is not divided.
    root = sp.diags_array(free.astype(float)) @ _inverse_root_mass(bodies)
    return np.asarray(root @ shortest_solution(jacobian @ root, -(jacobian @ twists), width=6))


def _inverse_root_mass(bodies: Sequence[Body]) -> sp.csr_array:
    """Return M^-1/2 of all bodies in world axes; an axis without inertia counts as a light one."""
    inertia = np.array([body.principal.inertia for body in bodies])
    mass = np.array([[body.mass] for body in bodies])
    largest = inertia.max(axis=1, keepdims=True)
    inertia = np.maximum(inertia, 1e-9 * np.where(largest > 0, largest, mass))
    R = np.array([body.R_WP for body in bodies])
    blocks = np.zeros((len(bodies), 6, 6))
    blocks[:, :3, :3] = np.eye(3) * mass[:, None] ** -0.5
    blocks[:, 3:, 3:] = R * inertia[:, None] ** -0.5 @ np.swapaxes(R, 1, 2)
    return block_diagonal(blocks)
