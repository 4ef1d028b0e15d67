"""Sizes and speeds of a mechanism, by which its round-off is estimated.

All states at once, with the numbers of all frames f and of their rates v in each row.
"""

import numpy as np

from poinsot.frames.places import frame_vectors, of_frame
from poinsot.ph.matrices import Array, Vector
from poinsot.systems.mechanism import Mechanism


def size(mechanism: Mechanism, f: Vector) -> float:
    """Return the largest length of one state [m], wherever it is; 1 if there is none.

    Of arms of joints, radii of gyration and distances from the middle of all bodies.
    """
    places = frame_vectors(f)[:, 0]
    apart = np.linalg.norm(places - places.mean(axis=0), axis=1).max(initial=0.0)
    return float(max(apart, np.max(mechanism.lengths(f), initial=0.0))) or 1.0


def pace(mechanism: Mechanism, f: Array, v: Array) -> Array:
    """Return how fast the fastest body turns, or moves by the extent [1/s]; (states,)."""
    speeds, length = np.linalg.norm(frame_vectors(v), axis=3), mechanism.extent(f)
    moving = speeds[:, :, 0].max(axis=1, initial=0.0)
    turning = speeds[:, :, 1:].max(axis=(1, 2), initial=0.0)
    # Without any length there is a point mass at the origin, which nothing holds.
    return np.asarray(turning + np.divide(moving, length, out=moving, where=length > 0))


def sizes(mechanism: Mechanism, f: Array) -> Array:
    """Return the sizes of the terms of g, and of A for a pace of one; (states, m).

    Positions count as the extent: a joint at the origin is no smaller than others.
    """
    length = mechanism.extent(f)
    found = [mechanism.constraints.sizes(length)]
    for contact in mechanism.contacts:
        wrench = contact.wrench(of_frame(f, contact.bodies[0]))
        e, t = (np.linalg.norm(part, axis=2) for part in wrench)
        found.append(length[:, None] * e + t)
    return np.hstack(found)
