"""Velocities at the start: what the user left out is completed, what contradicts is refused."""

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanics.bodies import Body
from poinsot.ph.matrices import Vector

#: Velocity [m/s or rad/s times a unit of length] that a joint's equation may be violated by.
TOLERANCE = 1e-8


def given_twists(bodies: list[Body]) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the twists that the user gave, zero where none, and which entries are given."""
    twists = np.zeros((len(bodies), 2, 3))
    given = np.zeros((len(bodies), 2, 3), dtype=bool)
    for k, body in enumerate(bodies):
        for j, value in enumerate((body.velocity, body.angular_velocity)):
            if value is not None:
                twists[k, j], given[k, j] = value, True
    return twists.reshape(-1), given.reshape(-1)


def complete(
    jacobian: NDArray[np.float64], bodies: list[Body], twists: Vector, given: NDArray[np.bool_]
) -> Vector:
    """Return the twists with the missing entries chosen to satisfy the joints, as slow as possible.

    Of all choices that solve J t = 0 in the least-squares sense, the one of least kinetic energy.
    """
    missing = ~given
    if not twists.any() or not missing.any():
        return twists
    root = _inverse_root_mass(bodies)[np.ix_(missing, missing)]
    right = -jacobian[:, given] @ twists[given]
    solution = np.linalg.lstsq(jacobian[:, missing] @ root, right, rcond=1e-11)[0]
    completed = twists.copy()
    completed[missing] = root @ solution
    return completed


def project(jacobian: NDArray[np.float64], bodies: list[Body], twists: Vector) -> Vector:
    """Return the twists nearest to the given ones, in kinetic energy, that satisfy the joints."""
    root = _inverse_root_mass(bodies)
    right = -jacobian @ twists
    return twists + root @ np.linalg.lstsq(jacobian @ root, right, rcond=1e-11)[0]


def _inverse_root_mass(bodies: list[Body]) -> NDArray[np.float64]:
    """Return M^-1/2 of all bodies in world axes; an axis without inertia counts as a light one."""
    total = np.zeros((6 * len(bodies), 6 * len(bodies)))
    for k, body in enumerate(bodies):
        inertia = np.maximum(
            body.principal.inertia, 1e-9 * max(body.principal.inertia.max(), 1e-300)
        )
        R = body.R_WP
        total[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / np.sqrt(body.mass)
        total[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = R @ np.diag(inertia**-0.5) @ R.T
    return total
