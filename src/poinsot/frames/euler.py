r"""Euler angles :math:`R = R_z(\gamma) R_y(\beta) R_x(\alpha)` [BHRS25, sec. 5].

Angles are rad, in the order (alpha, beta, gamma), and work on the last axis: (..., 3). The first
director, (cos b cos g, cos b sin g, -sin b), determines beta and gamma; the vertical e_z in body
axes, (-sin b, cos b sin a, cos b cos a), determines beta and alpha. If the first director is
vertical, only the sum or the difference of alpha and gamma is determined: gimbal lock.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from poinsot.so3 import cayley

Array = NDArray[np.float64]

#: The first director must stay so far from the vertical [rad].
LOCK = 1e-3
#: Azimuths are followed in pieces of the turn so small [rad] that no piece passes the vertical on
#: the other side than its chord does: the sagitta of its arc is less than half of LOCK.
PIECE = 0.06


class GimbalLock(Exception):
    """The first director of a body comes too close to the vertical in a step.

    `body` is its place, `beta` the angle [rad] closest to it, `fraction` how much of the step it
    is away.
    """

    def __init__(self, body: int, beta: float, fraction: float) -> None:
        super().__init__(f"gimbal lock of body {body}")
        self.body, self.beta, self.fraction = body, beta, fraction


def lock_report(beta: float, when: str = "at the start") -> str:
    """Return what is the matter at an angle beta [rad], and what to do."""
    return (
        f"gimbal lock: beta = {beta:.6g} rad ({np.degrees(beta):.5g} degrees) {when}, within "
        f"{LOCK:g} rad of a right angle, where Euler angles are not unique; coordinates "
        "'rotations' and 'rotations-quaternion' have no such singularity"
    )


def matrix_of(columns: Array) -> Array:
    """Return R of its columns, one after the other; (..., 9) to (..., 3, 3)."""
    return np.swapaxes(columns.reshape(*columns.shape[:-1], 3, 3), -1, -2)


def _elementary(angle: Array, axis: int) -> Array:
    """Return the rotation about an axis, and its first two derivatives; (3, ..., 3, 3)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = np.cos(angle), np.sin(angle)
    E = np.zeros((3, *angle.shape, 3, 3))
    for order, (cosine, sine) in enumerate(((c, s), (-s, c), (-c, -s))):
        E[order, ..., i, i], E[order, ..., j, j] = cosine, cosine
        E[order, ..., i, j], E[order, ..., j, i] = -sine, sine
    E[0, ..., axis, axis] = 1.0
    return E


def _derivative(angles: Array, *by: int) -> Array:
    """Return the derivative of the directors by some of the angles; (..., 9)."""
    C, B, A = (_elementary(angles[..., k], k)[by.count(k)] for k in range(3))
    return np.asarray(np.swapaxes(A @ B @ C, -1, -2).reshape(*angles.shape[:-1], 9))


def directors(angles: Array) -> Array:
    """Return the columns of R, one after the other; (..., 9)."""
    return _derivative(angles)


def slopes(angles: Array) -> Array:
    """Return the derivative of the directors; (..., 9, 3)."""
    return np.stack([_derivative(angles, k) for k in range(3)], axis=-1)


def bends(angles: Array) -> Array:
    """Return the second derivative of the directors; (..., 9, 3, 3)."""
    result = np.empty((*angles.shape[:-1], 9, 3, 3))
    for j, k in product(range(3), range(3)):
        result[..., j, k] = _derivative(angles, j, k)
    return result


def Z(angles: Array) -> Array:
    """Return Z with (alpha, beta, gamma)' = Z Omega [BHRS25, eq. (18)]; (..., 3, 3)."""
    a, b = angles[..., 0], angles[..., 1]
    matrix = np.zeros((*a.shape, 3, 3))
    matrix[..., 0, 0] = 1.0
    matrix[..., 0, 1], matrix[..., 0, 2] = np.sin(a) * np.tan(b), np.cos(a) * np.tan(b)
    matrix[..., 1, 1], matrix[..., 1, 2] = np.cos(a), -np.sin(a)
    matrix[..., 2, 1], matrix[..., 2, 2] = np.sin(a) / np.cos(b), np.cos(a) / np.cos(b)
    return matrix


def dZ(angles: Array) -> Array:
    """Return the derivative of Z; (..., 3, 3, 3)."""
    a, b = angles[..., 0], angles[..., 1]
    sin, cos, tan, sec = np.sin(a), np.cos(a), np.tan(b), 1 / np.cos(b)
    slope = np.zeros((*a.shape, 3, 3, 3))
    slope[..., 0, 1, 0], slope[..., 0, 2, 0] = cos * tan, -sin * tan
    slope[..., 1, 1, 0], slope[..., 1, 2, 0] = -sin, -cos
    slope[..., 2, 1, 0], slope[..., 2, 2, 0] = cos * sec, -sin * sec
    slope[..., 0, 1, 1], slope[..., 0, 2, 1] = sin * sec**2, cos * sec**2
    slope[..., 2, 1, 1], slope[..., 2, 2, 1] = sin * sec * tan, cos * sec * tan
    return slope


def angles_of(R: Array) -> Array:
    """Return the angles of rotations, beta in [-pi/2, pi/2]; (..., 3, 3) to (..., 3)."""
    alpha = np.arctan2(R[..., 2, 1], R[..., 2, 2])
    beta = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0]))
    return np.stack([alpha, beta, np.arctan2(R[..., 1, 0], R[..., 0, 0])], axis=-1)


def follow(angles: Array, turn: Array) -> Array:
    """Return the angles after the Cayley map of turns in body axes, over turns; (bodies, 3).

    Refuse a turn that comes to gimbal lock.
    """
    R = matrix_of(directors(angles))
    gap, beta, fraction = closest(R, turn)
    k = int(np.argmin(gap))
    if gap[k] < LOCK:
        raise GimbalLock(k, float(beta[k]), float(fraction[k]))
    return near(angles_of(R @ cayley(turn)), angles + change(R, turn))


def near(principal: Array, about: Array) -> Array:
    """Return the angles that differ from the principal ones by full turns, and are about these."""
    return np.asarray(principal + 2 * np.pi * np.round((about - principal) / (2 * np.pi)))


def change(R: Array, turn: Array) -> Array:
    """Return by how much the angles of R (..., 3, 3) change over a turn (..., 3), continuously."""
    angle, axis = _axis(turn)
    pieces = max(1, int(np.ceil(angle.max(initial=0.0) / PIECE)))
    step = cayley(2 * np.tan(angle / pieces / 2)[..., None] * axis)
    total, before = np.zeros_like(turn), angles_of(R)
    for _ in range(pieces):
        R = R @ step
        after = angles_of(R)
        total += near(after - before, np.zeros_like(total))
        before = after
    return total


def _axis(turn: Array) -> tuple[Array, Array]:
    """Return the angle of the Cayley map of a turn [rad], and its axis."""
    length = np.linalg.norm(turn, axis=-1)
    unit = np.divide(turn, length[..., None], out=np.zeros_like(turn), where=length[..., None] > 0)
    return 2 * np.arctan(length / 2), unit


def closest(R: Array, turn: Array) -> tuple[Array, Array, Array]:
    """Return how close the first director comes to the vertical over a turn.

    The angle to the vertical [rad], beta there [rad], and the part of the turn done by then; (...).
    Seen from the body, the vertical r turns the other way: r(a) = f + (r - f) cos a + r x n sin a,
    f its part along the axis n.
    """
    angle, n = _axis(turn)
    r = R[..., 2, :]
    fixed, side = np.sum(n * r, axis=-1, keepdims=True) * n, np.cross(r, n)
    # Where the component along the first director is greatest or least.
    top = np.arctan2(side[..., 0], (r - fixed)[..., 0]) % np.pi
    where = np.stack([np.zeros_like(angle), angle, np.minimum(top, angle)])
    cosine, sine = np.cos(where)[..., None], np.sin(where)[..., None]
    seen = fixed + cosine * (r - fixed) + sine * side
    beta = np.arctan2(-seen[..., 0], np.hypot(seen[..., 1], seen[..., 2]))
    gap = np.pi / 2 - abs(beta)
    best = np.argmin(gap, axis=0)[None]
    part = where / np.where(angle > 0, angle, 1.0)
    found = (np.take_along_axis(of, best, axis=0)[0] for of in (gap, beta, part))
    closest_gap, closest_beta, fraction = found
    return closest_gap, closest_beta, fraction
