"""Bodies for systems that have none, so that they can be seen in space."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from poinsot.frames.forms import three
from poinsot.result import Array, BodyRecord, Piece, Result, Scene, Strut
from poinsot.result.scene import Vector3


def with_bodies(
    result: Result,
    poses: Mapping[str, tuple[ArrayLike, ArrayLike]],
    pieces: Sequence[Piece],
    struts: Sequence[Strut] = (),
) -> Result:
    """Return a result that shows bodies at positions [m] and rotations, each the same or (times,).

    `pieces` are on these bodies or on the "ground", and `struts` between them.
    """
    times = result.time.size

    def record(name: str, position: ArrayLike, rotation: ArrayLike) -> BodyRecord:
        return BodyRecord(
            name,
            np.broadcast_to(np.asarray(position, dtype=float), (times, 3)),
            np.broadcast_to(np.asarray(rotation, dtype=float), (times, 3, 3)),
            np.zeros((times, 3)),
            np.zeros((times, 3)),
        )

    bodies = {name: record(name, *pose) for name, pose in poses.items()}
    scene = Scene(pieces=tuple(pieces), struts=tuple(struts))
    return replace(result, observation=replace(result.observation, bodies=bodies, scene=scene))


def about(axis: int, angle: Array) -> Array:
    """Return rotations about the axis x, y or z, by its number; (..., 3, 3)."""
    angle = np.asarray(angle, dtype=float)
    R, (i, j) = np.zeros((*angle.shape, 3, 3)), ((1, 2), (2, 0), (0, 1))[axis]
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = np.cos(angle)
    R[..., j, i] = np.sin(angle)
    R[..., i, j] = -R[..., j, i]
    return R


def turned(axis: int, angle: float) -> tuple[Vector3, Vector3, Vector3]:
    """Return the same as rows of numbers, as a `Piece` has them."""
    first, second, third = map(three, about(axis, np.array(angle)))
    return first, second, third


def travelled(result: Result, port: str) -> Array:
    """Return the integral of the output of a port since the start; (times,)."""
    rate = result.port(port).y[:, 0]
    return np.concatenate([[0.0], np.cumsum(np.diff(result.time) * rate)])
